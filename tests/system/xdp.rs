//! Programs that read raw frames and send them on: of XDP and AF_XDP, and controllers of OpenFlow switches.

use crate::fixture::{Fixture, User, is_root};

/// No bound depends on the machine's load.
const LAX: &str =
    "{lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s, changes: true}";

/// Two hosts with a program between them, which is to be ready when the file of its name is there; `bounds` are as given.
fn between(name: &str, bounds: &str, program: &str) -> String {
    format!(
        "
name: {name}
bounds: {bounds}
addresses: none
routes: none
nodes:
  a: {{setup: [ip addr add 10.0.0.1/24 dev eth0]}}
  x: {{offload: false, root: overlay, files: {{/srv/{name}.py: {name}.py}}}}
  b: {{setup: [ip addr add 10.0.0.2/24 dev eth0]}}
links:
  left: {{ends: [a, x], delay: 1 ms}}
  right: {{ends: [x, b], delay: 1 ms}}
timeline:
  - {{on: x, run: exec python3 /srv/{name}.py {program}, as: between, ready: {{file: /run/{name}.ready}}}}
  - {{on: b, run: iperf3 -s, as: server, ready: {{tcp: 5201}}}}
  - {{on: a, run: ping -n -c 3 -i 0.2 -W 5 10.0.0.2, as: ping}}
  - {{at: 1 s, on: a, run: iperf3 -c 10.0.0.2 -n 1M, as: transfer}}
"
    )
}

#[test]
fn frames_that_xdp_redirects_reach_the_links_and_the_program_is_named() {
    // Only root may attach programs of XDP.
    let fixture = Fixture::new(User::Own);
    fixture.write("redirect.py", include_str!("redirect.py"));
    fixture.write("lab.yaml", &between("redirect", LAX, "eth0 eth1"));
    let run = fixture.netloom(&["run", "lab.yaml"]);
    if !is_root() {
        assert!(run.stderr.contains("not permitted"), "{run:#?}");
        return;
    }
    let run = run.expect_code(0);
    let notes = fixture.json("redirect", "verdict.json")["notes"].to_string();
    assert!(notes.contains("eth0 was given a program of XDP") && !notes.contains("wrong checksum"), "{run:#?}");
    // Links without a rate bring super-packets, and bursts.
    assert_eq!(fixture.json("redirect", "report.json")["losses"].to_string(), "[]", "{run:#?}");
    fixture.write("lab.yaml", &between("redirect", &LAX.replace(", changes: true", ""), "eth0 eth1"));
    fixture.netloom(&["run", "lab.yaml"]).expect_code(5);
}

#[test]
fn sockets_of_af_xdp_join_two_hosts() {
    let fixture = Fixture::new(User::Own);
    fixture.write("forwarder.py", include_str!("../../examples/af-xdp/forwarder.py"));
    fixture.write("lab.yaml", &between("forwarder", LAX, "eth0 eth1"));
    let run = fixture.netloom(&["run", "lab.yaml"]);
    if is_root() {
        let run = run.expect_code(0);
        assert_eq!(fixture.json("forwarder", "report.json")["losses"].to_string(), "[]", "{run:#?}");
    } else {
        assert!(run.stderr.contains("not permitted"), "{run:#?}");
    }
}

/// Hands its kernel 4,096 datagrams in 128 super-packets, as fast as that takes them.
const BURST: &str = "
import socket
burst = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
burst.setsockopt(17, 103, 1000)  # UDP_SEGMENT
for _ in range(128):
    burst.sendto(bytes(32000), ('b', 9))
";

#[test]
fn a_burst_of_whole_frames_loses_nothing_on_a_link_without_a_rate() {
    for user in User::all() {
        let fixture = Fixture::new(user);
        fixture.write("burst.py", BURST);
        let lab = format!(
            "
name: burst
bounds: {LAX}
nodes: {{a: {{}}, b: {{offload: false}}}}
links: {{l: {{ends: [a, b]}}}}
timeline:
  - {{on: a, run: python3 burst.py, as: burst}}
  - {{after: burst, on: b, run: 'until [ $(cat /sys/class/net/eth0/statistics/rx_packets) -ge 4096 ]; do sleep 0.05; done', as: all}}
  - {{after: all, on: b, run: 'test $(cat /sys/class/net/eth0/statistics/rx_bytes) -lt 5000000', as: no-more}}
"
        );
        fixture.write("lab.yaml", &lab);
        let run = fixture.netloom(&["run", "lab.yaml", "--wall-limit", "200s"]).expect_code(0);
        let report = fixture.json("burst", "report.json");
        assert_eq!(report["losses"].to_string(), "[]", "{run:#?}");
    }
}

#[test]
fn tcp_works_through_a_hub_whose_controller_sends_every_frame_back() {
    let fixture = Fixture::new(User::Own);
    fixture.write("hub.py", include_str!("hub.py"));
    let lab = format!(
        "
name: hub
bounds: {LAX}
nodes:
  h1: {{}}
  h2: {{}}
  s1: {{kind: openflow, controller: 'tcp:c0:6653', fail_mode: secure}}
  c0: {{root: overlay, files: {{/srv/hub.py: hub.py}}}}
links: {{one: {{ends: [h1, s1]}}, two: {{ends: [h2, s1]}}, control: {{ends: [s1, c0]}}}}
timeline:
  - {{on: c0, run: exec python3 /srv/hub.py, as: controller, ready: {{tcp: 6653}}}}
  - {{on: h2, run: iperf3 -s, as: server, ready: {{tcp: 5201}}}}
  - {{at: 3 s, on: h1, run: iperf3 -4 -c h2 -n 200K, as: transfer}}
"
    );
    fixture.write("lab.yaml", &lab);
    let run = fixture.netloom(&["run", "lab.yaml"]);
    assert!(!run.stderr.contains("not on this machine"), "`scripts/install-deps services` installs it: {run:#?}");
    let run = run.expect_code(0);
    assert!(!fixture.json("hub", "verdict.json")["notes"].to_string().contains("wrong checksum"), "{run:#?}");
    assert_eq!(fixture.json("hub", "report.json")["losses"].to_string(), "[]", "{run:#?}");
}
