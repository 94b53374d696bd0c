use crate::bed::{sh, with_node};

pub(crate) fn exit_codes_and_output_come_back() {
    with_node(|node| {
        assert_eq!(sh(node, "echo out; echo err >&2; exit 7"), (exit(7), "out\nerr".to_owned()));
    });
}

fn exit(code: i32) -> std::process::ExitStatus {
    std::os::unix::process::ExitStatusExt::from_raw(code << 8)
}
