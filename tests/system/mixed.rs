//! Nodes of all kinds on one switch.

use crate::fixture::{Fixture, User};
use crate::vms::{BOUNDS, with_root};
use std::path::Path;
use std::process::Command;

/// In dilated and in real time; what the example expects of rates is left to machines that do nothing else.
#[test]
fn a_namespace_a_kernel_a_container_and_a_machine_share_a_lan() {
    let fixture = Fixture::with_kernel(User::all().pop().unwrap());
    with_root(&fixture);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/system/image.py");
    let mut image = Command::new("python3");
    image.arg(script).arg(fixture.work().join("image")).args([r#"{"Env": ["PATH=/bin"]}"#, "sh", "iperf3"]);
    assert!(image.status().unwrap().success());
    fixture.netloom(&["image", "import", "oci:image", "--name", "networkstatic/iperf3"]).expect_code(0);
    let example = include_str!("../../examples/mixed.yaml");
    fixture.write("mixed.yaml", &(example.replace("within 10 % of 47600000", "> 5000000") + BOUNDS));
    for clock in ["4", "real"] {
        let run = fixture.netloom(&["run", "mixed.yaml", "-q", "--clock", clock]).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        fixture.assert_nothing_is_left("mixed");
    }
}
