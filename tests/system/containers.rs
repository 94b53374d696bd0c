//! Files of other tools whose nodes are containers, as they are.

use crate::bed::{Bed, User};
use std::fs;
use std::process::Command;

/// A lab of containerlab. The image's program is a shell, as that of many distributions.
const CONTAINERLAB: &str = r#"
name: containers
topology:
  defaults: {kind: linux, image: "${IMAGE:=tools:1.0}"}
  nodes:
    a:
      env: {B: file}
      binds: ["shared:/mnt/shared", "one:/etc/one:ro"]
      exec: ["ip addr add 192.168.7.1/24 dev eth1", "sh -c 'echo set up > /etc/own'"]
    b:
      cmd: sh -c "echo started > /data/started; exec sleep 1000"
      exec: ["ip addr add 192.168.7.2/24 dev eth1"]
  links:
    - endpoints: ["a:eth1", "b:eth1"]
"#;

const CONFIG: &str = r#"{"Env": ["A=image", "B=image", "PATH=/bin"], "Cmd": ["sh"], "WorkingDir": "/data"}"#;

fn prepare(bed: &Bed, name: &str) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/system/image.py");
    let layout = bed.work().join(name);
    let programs = ["sh", "cat", "id", "ls", "ping", "sleep"];
    assert!(Command::new("python3").arg(script).arg(layout).arg(CONFIG).args(programs).status().unwrap().success());
}

fn inside(bed: &Bed, lab: &str, node: &str, command: &str) -> String {
    bed.netloom(&["exec", lab, node, "--", "sh", "-c", command]).expect_code(0).stdout
}

#[test]
fn a_lab_of_containerlab_runs_its_images() {
    for user in User::all() {
        let bed = Bed::new(user);
        let file = "containers.clab.yml";
        bed.write(file, CONTAINERLAB);
        bed.write("one", "one\n");
        fs::create_dir(bed.work().join("shared")).unwrap();
        let without = bed.netloom(&["up", file, "-q"]).expect_code(4);
        let advice = "containers.clab.yml:4: key `image`: there is no image `tools:1.0` here: `netloom image pull tools:1.0` fetches it";
        assert!(without.stderr.contains(advice), "{without:#?}");
        prepare(&bed, "tools");
        bed.netloom(&["image", "import", "oci:tools"]).expect_code(0);
        bed.netloom(&["up", file, "-q"]).expect_code(0);
        assert_eq!(
            inside(&bed, "containers", "a", "cat /etc/os-release /etc/one /etc/own; echo $A $B; pwd"),
            "ID=image\none\nset up\nimage file\n/data\n"
        );
        assert_eq!(inside(&bed, "containers", "b", "cat /data/started"), "started\n");
        assert!(inside(&bed, "containers", "a", "ping -c 1 192.168.7.2").contains("1 received"));
        // The shell that is the image's program waits for what nobody says.
        let down = bed.netloom(&["down", "containers"]);
        assert!(!down.stderr.contains("image-a"), "{down:#?}");
        let report = bed.json("containers", "report.json");
        let failed: Vec<_> =
            report["commands"].as_array().unwrap().iter().filter(|row| row["failed"] == true).collect();
        assert!(failed.is_empty(), "{failed:#?}");
        bed.assert_nothing_is_left("containers");
        let converted = bed.netloom(&["convert", file, "--no-images"]).expect_code(0).stdout;
        assert!(converted.contains("images are not run") && !converted.contains("image: "), "{converted}");
    }
}

#[test]
fn a_lab_of_kathara_runs_its_images() {
    let bed = Bed::new(User::Own);
    prepare(&bed, "base");
    bed.netloom(&["image", "import", "oci:base", "--name", "kathara/base"]).expect_code(0);
    fs::create_dir_all(bed.work().join("lan/pc1/etc")).unwrap();
    bed.write("lan/lab.conf", "LAB_NAME=lan\npc1[0]=A\npc1[image]=kathara/base\npc1[env]=\"WHO=me\"\npc2[0]=A\npc2[image]='kathara/base'\npc2[args]=\"sleep 1000\"\n");
    bed.write("lan/pc1.startup", "ip addr add 10.0.0.1/24 dev eth0\ncat /etc/motd > /data/seen\n");
    bed.write("lan/pc2.startup", "ip addr add 10.0.0.2/24 dev eth0\n");
    bed.write("lan/pc1/etc/motd", "welcome\n");
    bed.netloom(&["up", "lan", "-q"]).expect_code(0);
    assert_eq!(inside(&bed, "lan", "pc1", "cat /etc/os-release /data/seen; echo $WHO"), "ID=image\nwelcome\nme\n");
    assert!(inside(&bed, "lan", "pc1", "ping -c 1 10.0.0.2").contains("1 received"));
    bed.netloom(&["down", "lan"]);
    bed.assert_nothing_is_left("lan");
}
