use crate::bed::{ok, with_node};

pub(crate) fn a_kernel_becomes_a_node() {
    with_node(|node| {
        assert_eq!(ok(node, "hostname"), "a");
        assert_eq!(ok(node, "ls /sys/class/net"), "lo");
        println!("{}", ok(node, "uname -a; mount; ps ax; env; ls /; pwd; free; ls -l /dev"));
    });
}
