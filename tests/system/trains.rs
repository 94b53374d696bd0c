//! Trains between real kernels: cut, lost in part, and right to the last byte of what arrives.

use crate::fixture::{Fixture, User, not_run};
use serde_json::Value;
use std::process::Command;

/// What sends and looks at what arrives.
const PROGRAM: &str = include_str!("trains.py");
/// How many datagrams it sends, in 30 trains.
const SENT: u64 = 1_200;
const LENIENT: &str =
    "bounds: {lateness: 10 s, rate: 90 %, delay: 90 %, starvation: 100 %, events: 10 s, starts: 60 s}";

/// Runs `timeline` over a link that cuts every train, and gives what the command `seen` printed and the report.
fn run(fixture: &Fixture, timeline: &str) -> (Value, Value) {
    let program = fixture.write("trains.py", PROGRAM).display().to_string();
    let lab = format!(
        "name: trains
{LENIENT}
nodes: [a, b]
links: {{l: {{ends: [a, b], forward: {{rate: 10 Mbit/s, loss: 5 %, queue: 2000 packets}}}}}}
timeline:
{timeline}"
    );
    fixture.write("trains.yaml", &lab.replace("TRAINS", &format!("python3 {program}")));
    let done = fixture.netloom(&["run", "trains.yaml", "--json", "-q"]).expect_code(0);
    (fixture.json("trains", "seen.json"), serde_json::from_str(&done.stdout).unwrap())
}

/// Every datagram that the link did not lose arrives as it was sent.
fn assert_all_arrived(seen: &Value, report: &Value) {
    let count = |value: &Value| value.as_u64().unwrap();
    let forward = &report["pipes"][0];
    let (received, lost) = (count(&seen["received"]), count(&forward["dropped_loss_packets"]));
    assert_eq!(seen["wrong"], 0, "{seen}");
    assert!((10..200).contains(&lost), "each segment has its own fate: {lost}");
    assert!(received <= SENT && received + lost >= SENT, "{received} arrived, {lost} lost");
    // The nodes' kernels have a few packets of their own to send.
    assert!((SENT..SENT + 20).contains(&count(&forward["arrived_packets"])), "{forward:#}");
    assert_eq!(report["losses"], serde_json::json!([]));
}

#[test]
fn datagrams_that_are_sent_as_trains_arrive_one_by_one() {
    for (user, address) in User::all().into_iter().zip(["10.0.0.2", "fd00:6e6c::2"]) {
        let fixture = Fixture::new(user);
        let (seen, report) = run(
            &fixture,
            &format!(
                "  - {{on: b, run: TRAINS receive 5, as: seen, save: seen.json}}
  - {{at: 1 s, on: a, run: TRAINS send {address}}}
"
            ),
        );
        assert_all_arrived(&seen, &report);
        assert_eq!(seen["checksum_errors"], 0, "{seen}");
    }
}

#[test]
fn trains_with_vlan_tags_keep_them() {
    for (count, tags) in [(1, "[[[33024,42]]]"), (2, "[[[34984,7],[33024,42]]]")] {
        let fixture = Fixture::new(User::Own);
        let (seen, report) = run(
            &fixture,
            &format!(
                "  - {{on: b, run: TRAINS watch eth0 5, as: seen, save: seen.json}}
  - {{at: 1 s, on: a, run: TRAINS tagged eth0 {count}}}
"
            ),
        );
        assert_all_arrived(&seen, &report);
        assert_eq!(seen["tags"].to_string(), tags);
    }
}

/// Whether this machine's kernel has tunnels of this kind.
fn has_vxlan() -> bool {
    let arguments = ["-Urn", "ip", "link", "add", "t", "type", "vxlan", "id", "1", "dstport", "4789"];
    Command::new("unshare").args(arguments).output().unwrap().status.success()
}

/// No packet socket can be told of trains in tunnels: the sender's kernel cuts them.
#[test]
fn a_tunnel_carries_trains_of_tcp() {
    if !has_vxlan() {
        not_run("trains in tunnels: this machine's kernel has no VXLAN");
        return;
    }
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write(
            "tunnel.sh",
            "ip link add t type vxlan id 5 remote $1 dstport 4789 dev eth0 && ip addr add $2/24 dev t && ip link set t up\n",
        );
        let (seen, report) = run(
            &fixture,
            "  - {on: b, run: sh tunnel.sh 10.0.0.1 192.168.7.2 && exec TRAINS serve 3000000, ready: {tcp: 7000}}
  - {on: a, run: sh tunnel.sh 10.0.0.2 192.168.7.1 && TRAINS fetch 192.168.7.2 3000000, as: seen, save: seen.json}
",
        );
        assert_eq!(seen, serde_json::json!({"bytes": 3_000_000, "right": true}));
        assert_eq!(report["losses"], serde_json::json!([]));
        for pipe in report["pipes"].as_array().unwrap() {
            let [bytes, packets] = ["arrived_bytes", "arrived_packets"].map(|key| pipe[key].as_u64().unwrap());
            assert!(bytes / packets <= 1_500, "{pipe:#}");
        }
        let backward = report["pipes"][1]["arrived_packets"].as_u64().unwrap();
        assert!(backward > 3_000_000 / 1_500, "{report:#}");
    }
}
