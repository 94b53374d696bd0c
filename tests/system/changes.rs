//! What programs do to the network of their node, and what the verdict says of it.

use crate::fixture::{Finished, Fixture, User};

/// A lab in which `node` does this to its network, and nothing else; `rest`: further keys.
fn run(fixture: &Fixture, clock: &str, act: &str, rest: &str) -> Finished {
    let lab = format!(
        "name: changes\nclock: {clock}\nnodes: {{a: {{memory: 64 MB}}, b: {{memory: 64 MB}}}}\n\
         links: {{l: {{ends: [a, b], delay: 1 ms}}}}\ntimeline:\n  - {{on: a, run: '{act}', as: act}}\n{rest}"
    );
    // Nodes without a kernel of their own have no memory of their own.
    let lab = if clock == "real" { lab.replace(": {memory: 64 MB}", ": {}") } else { lab };
    fixture.write("changes.yaml", &lab);
    fixture.netloom(&["run", "changes.yaml"])
}

fn findings(fixture: &Fixture) -> String {
    fixture.json("changes", "verdict.json")["findings"].to_string()
}

fn notes(fixture: &Fixture) -> String {
    fixture.json("changes", "verdict.json")["notes"].to_string()
}

/// Nothing but the verdict on changes is of interest, and no packet is sent.
const LAX: &str =
    "bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}\n";
const LAX_WITH_CHANGES: &str = "bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s, changes: true}\n";

#[test]
fn a_queue_an_mtu_and_a_link_that_was_down_are_found() {
    let cases = [
        ("tc qdisc add dev eth0 root tbf rate 1mbit burst 10kb latency 50ms", "the queueing discipline tbf"),
        // Changed back before anybody looks.
        ("ip link set eth0 mtu 1400; ip link set eth0 mtu 1500", "eth0 had an MTU of 1400 instead of 1500 bytes"),
        ("ip link set eth0 down; ip link set eth0 up", "eth0 was down"),
        ("ip link del eth0", "eth0 was removed or moved away"),
        (
            "tc qdisc add dev eth0 clsact; tc filter add dev eth0 ingress protocol all u32 match u32 0 0 flowid 1:1",
            "eth0 was given the filter u32",
        ),
        (
            "nft add table netdev t; nft add chain netdev t c \"{ type filter hook ingress device eth0 priority 0; }\"",
            "eth0 was given a chain of nftables",
        ),
    ];
    for user in User::some() {
        let fixture = Fixture::new(user);
        for (act, told) in cases {
            let finished = run(&fixture, "real", act, LAX).expect_code(5);
            assert!(findings(&fixture).contains(told), "{act}: {finished:#?}");
            assert!(findings(&fixture).contains("node a"), "{act}: {finished:#?}");
        }
    }
}

#[test]
fn a_lab_may_allow_queues_of_nodes() {
    let fixture = Fixture::new(User::Own);
    run(&fixture, "real", "tc qdisc add dev eth0 root pfifo", LAX_WITH_CHANGES).expect_code(0);
    assert!(notes(&fixture).contains("eth0 was given the queueing discipline pfifo"), "{}", notes(&fixture));
}

#[test]
fn addresses_routes_and_interfaces_are_the_nodes_own_business() {
    let fixture = Fixture::new(User::Own);
    let act = "ip addr add 10.9.9.9/24 dev eth0; ip route add 10.8.0.0/16 dev eth0; \
               ip link add v0 type veth peer name v1; ip link set v0 up";
    run(&fixture, "real", act, LAX).expect_code(0);
    let notes = notes(&fixture);
    for told in ["what the programs of node a did to its network", "eth0 was given the address 10.9.9.9", "v0 is new"] {
        assert!(notes.contains(told), "{notes}");
    }
    assert!(!notes.contains("v1"), "it is down: {notes}");
}

#[test]
fn what_a_tunnel_without_a_far_end_drops_is_lost_to_no_link() {
    let fixture = Fixture::new(User::Own);
    let act = "ip link add vx10 type vxlan id 10 dstport 4789 nolearning dev eth0; ip addr add 10.99.0.1/24 dev vx10; \
               ip link set vx10 up; ping -c 1 -W 1 10.99.0.2; true";
    run(&fixture, "real", act, LAX).expect_code(0);
    assert!(notes(&fixture).contains("belong to no described link: vx10: "), "{}", notes(&fixture));
}

#[test]
fn a_lab_whose_programs_change_nothing_has_no_notes() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        run(&fixture, "real", "ping -c 3 -i 0.2 b", LAX).expect_code(0);
        assert_eq!(notes(&fixture).matches("did to its network").count(), 0, "{}", notes(&fixture));
    }
}

#[test]
fn kernel_nodes_tell_of_changes_too() {
    let fixture = Fixture::with_kernel(User::Own);
    run(&fixture, "virtual", "ping -c 3 -i 0.2 b", "").expect_code(0);
    assert_eq!(notes(&fixture), "[]");
    let act = "tc qdisc add dev eth0 root tbf rate 1mbit burst 10kb latency 50ms; ip link set eth0 mtu 1400";
    let finished = run(&fixture, "virtual", act, "").expect_code(5);
    for told in ["the queueing discipline tbf", "eth0 had an MTU of 1400 instead of 1500 bytes"] {
        assert!(findings(&fixture).contains(told), "{finished:#?}");
    }
    let ingress = "ip link add ifb9 type ifb; ip link set ifb9 up; tc qdisc add dev ifb9 root netem delay 50ms; tc qdisc add dev eth0 clsact; \
               tc filter add dev eth0 ingress matchall action mirred egress redirect dev ifb9; \
               nft add table netdev t; nft add chain netdev t c \"{ type filter hook ingress device eth0 priority 0; }\"";
    let shaped = run(&fixture, "virtual", ingress, "").expect_code(5);
    for told in ["eth0 was given the filter matchall", "eth0 was given a chain of nftables"] {
        assert!(findings(&fixture).contains(told), "{shaped:#?}");
    }
}
