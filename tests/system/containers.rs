//! Files of other tools whose nodes are containers, as they are.

use crate::fixture::{Fixture, User, is_root, not_run};
use crate::wait::wait_until;
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

fn prepare(fixture: &Fixture, name: &str) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/system/image.py");
    let layout = fixture.work().join(name);
    let programs = ["sh", "cat", "id", "ls", "ping", "sleep", "ip"];
    assert!(Command::new("python3").arg(script).arg(layout).arg(CONFIG).args(programs).status().unwrap().success());
}

fn inside(fixture: &Fixture, lab: &str, node: &str, command: &str) -> String {
    fixture.netloom(&["exec", lab, node, "--", "sh", "-c", command]).expect_code(0).stdout
}

#[test]
fn a_lab_of_containerlab_runs_its_images() {
    for user in User::all() {
        let fixture = Fixture::new(user).alone();
        let file = "containers.clab.yml";
        fixture.write(file, CONTAINERLAB);
        fixture.write("one", "one\n");
        fs::create_dir(fixture.work().join("shared")).unwrap();
        let without = fixture.netloom(&["up", file, "-q"]).expect_code(4);
        let advice = "containers.clab.yml:4: key `image`: there is no image `tools:1.0` here: `netloom image pull tools:1.0` fetches it";
        assert!(without.stderr.contains(advice), "{without:#?}");
        prepare(&fixture, "tools");
        fixture.netloom(&["image", "import", "oci:tools"]).expect_code(0);
        fixture.netloom(&["up", file, "-q"]).expect_code(0);
        assert_eq!(
            inside(&fixture, "containers", "a", "cat /etc/os-release /etc/one /etc/own; echo $A $B; pwd"),
            "ID=image\none\nset up\nimage file\n/data\n"
        );
        assert_eq!(inside(&fixture, "containers", "b", "cat /data/started"), "started\n");
        assert!(inside(&fixture, "containers", "a", "ping -c 1 192.168.7.2").contains("1 received"));
        // The shell that is the image's program waits for what nobody says.
        let down = fixture.netloom(&["down", "containers"]);
        assert!(!down.stderr.contains("image-a"), "{down:#?}");
        let report = fixture.json("containers", "report.json");
        let failed: Vec<_> =
            report["commands"].as_array().unwrap().iter().filter(|row| row["failed"] == true).collect();
        assert!(failed.is_empty(), "{failed:#?}");
        fixture.assert_nothing_is_left("containers");
        let converted = fixture.netloom(&["convert", file, "--no-images"]).expect_code(0).stdout;
        assert!(converted.contains("images are not run") && !converted.contains("image: "), "{converted}");
    }
}

/// As containerlab's example of FRR: files of the routers are bound into their image, which starts the daemons that these name.
const ROUTED: &str = r#"
name: routed
topology:
  groups:
    routers: {kind: linux, image: "frr:8"}
    hosts: {kind: linux, image: "tools:1.0"}
  nodes:
    r1: {group: routers, binds: [r1.daemons:/etc/frr/daemons, r1.conf:/etc/frr/frr.conf]}
    r2: {group: routers, binds: [r2.daemons:/etc/frr/daemons, r2.conf:/etc/frr/frr.conf]}
    h1:
      group: hosts
      exec: [ip link set eth1 up, ip addr add 10.1.0.2/24 dev eth1, ip route add 10.0.0.0/8 via 10.1.0.1 dev eth1]
    h2:
      group: hosts
      exec: [ip link set eth1 up, ip addr add 10.2.0.2/24 dev eth1, ip route add 10.0.0.0/8 via 10.2.0.1 dev eth1]
  links:
    - endpoints: ["r1:eth1", "r2:eth1"]
    - endpoints: ["r1:eth2", "h1:eth1"]
    - endpoints: ["r2:eth2", "h2:eth1"]
"#;

const FRR: &str = r#"{"Env": ["PATH=/bin:/usr/bin"], "Entrypoint": ["/bin/bash", "-c"], "Cmd": ["install -d -o frr -g frr /var/run/frr; install -d /var/tmp/frr; source /usr/lib/frr/frrcommon.sh; exec /usr/lib/frr/watchfrr $(daemon_list)"]}"#;

/// Not as an ordinary user: FRR's daemons give up root for a user of their own.
#[test]
fn routers_of_containerlab_run_the_daemons_of_their_image() {
    let fixture = Fixture::new(User::Own).among_others();
    if !is_root() {
        return not_run("FRR of an image in a namespace, which has a user of its own");
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/system/image.py");
    let programs = "package:frr package:libpam-modules bash sh cat sed grep sleep chown chmod ls id ps rm mkdir install date stat dirname basename readlink kill ip";
    let mut made = Command::new("python3");
    made.arg(script).arg(fixture.work().join("frr")).arg(FRR).args(programs.split(' '));
    assert!(made.status().unwrap().success(), "`scripts/install-deps services` installs FRR");
    prepare(&fixture, "tools");
    fixture.netloom(&["image", "import", "oci:frr", "--name", "frr:8"]).expect_code(0);
    fixture.netloom(&["image", "import", "oci:tools"]).expect_code(0);
    fixture.write("routed.clab.yml", ROUTED);
    for (router, number) in [("r1", 1), ("r2", 2)] {
        fixture.write(&format!("{router}.daemons"), "zebra=yes\nospfd=yes\nvtysh_enable=yes\nzebra_options=\"--daemon -A 127.0.0.1\"\nospfd_options=\"--daemon -A 127.0.0.1\"\n");
        let timers = " ip ospf hello-interval 1\n ip ospf dead-interval 4\n";
        fixture.write(
            &format!("{router}.conf"),
            &format!("hostname {router}\ninterface eth1\n ip address 10.0.0.{number}/24\n{timers}interface eth2\n ip address 10.{number}.0.1/24\n{timers}\
                      router ospf\n network 10.0.0.0/8 area 0\n"),
        );
    }
    fixture.netloom(&["up", "routed.clab.yml", "-q"]).expect_code(0);
    wait_until("a way by OSPF", || {
        fixture.netloom(&["exec", "routed", "h1", "--", "ping", "-c", "1", "-W", "1", "10.2.0.2"]).code == Some(0)
    });
    let daemons = inside(&fixture, "routed", "r1", "ps -e -o user,args");
    assert!(daemons.lines().any(|line| line.starts_with("frr ") && line.contains("/usr/lib/frr/ospfd ")), "{daemons}");
    fixture.netloom(&["down", "routed"]).expect_end();
    fixture.assert_nothing_is_left("routed");
}

#[test]
fn a_lab_of_kathara_runs_its_images() {
    let fixture = Fixture::new(User::Own).alone();
    prepare(&fixture, "base");
    fixture.netloom(&["image", "import", "oci:base", "--name", "kathara/base"]).expect_code(0);
    fs::create_dir_all(fixture.work().join("lan/pc1/etc")).unwrap();
    fixture.write("lan/lab.conf", "LAB_NAME=lan\npc1[0]=A\npc1[image]=kathara/base\npc1[env]=\"WHO=me\"\npc2[0]=A\npc2[image]='kathara/base'\npc2[args]=\"sleep 1000\"\n");
    fixture.write("lan/pc1.startup", "ip addr add 10.0.0.1/24 dev eth0\ncat /etc/motd > /data/seen\n");
    fixture.write("lan/pc2.startup", "ip addr add 10.0.0.2/24 dev eth0\n");
    fixture.write("lan/pc1/etc/motd", "welcome\n");
    fixture.netloom(&["up", "lan", "-q"]).expect_code(0);
    assert_eq!(inside(&fixture, "lan", "pc1", "cat /etc/os-release /data/seen; echo $WHO"), "ID=image\nwelcome\nme\n");
    assert!(inside(&fixture, "lan", "pc1", "ping -c 1 10.0.0.2").contains("1 received"));
    fixture.netloom(&["down", "lan"]).expect_end();
    fixture.assert_nothing_is_left("lan");
}
