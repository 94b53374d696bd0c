//! Nodes that move from link to link.

use crate::fixture::{Fixture, User};
use std::fs;

/// A node between two others, of which it reaches one at a time. The second is at a LAN.
fn moves(fixture: &Fixture, clock: &str, carrier: bool) {
    let lab = format!(
        "name: moves\nclock: {clock}\n\
         bounds: {{lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}}\n\
         nodes: {{m: {{}}, a: {{}}, b: {{}}, c: {{}}}}\n\
         links:\n  one: {{ends: [m, a], delay: 1 ms}}\n  lan: {{ends: [m, b, c], delay: 1 ms}}\n\
         timeline:\n\
         \x20 - {{at: 100 ms, on: m, run: ping -4 -c 1 -W 5 a, as: a1}}\n\
         \x20 - {{at: 100 ms, on: m, run: ping -4 -c 1 -W 1 b, as: b1, may_fail: true}}\n\
         \x20 - {{at: 5 s, move: m, from: one, to: lan, carrier: {carrier}}}\n\
         \x20 - {{at: 6 s, on: m, run: ip -br link, as: links}}\n\
         \x20 - {{at: 6 s, on: m, run: ping -4 -c 1 -W 1 a, as: a2, may_fail: true}}\n\
         \x20 - {{at: 6 s, on: m, run: ping -4 -c 1 -W 5 b, as: b2}}\n\
         \x20 - {{at: 6 s, on: c, run: ping -4 -c 1 -W 5 b, as: stayed}}\n\
         expect:\n  - a1.exit == 0\n  - b1.exit >= 1\n  - a2.exit >= 1\n  - b2.exit == 0\n  - stayed.exit == 0\n"
    );
    fixture.write("moves.yaml", &lab);
    fixture.netloom(&["run", "moves.yaml"]).expect_code(0);
    let links = fs::read_to_string(fixture.latest("moves").join("logs/03-m-links.stdout")).unwrap();
    let of = |name: &str| links.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert_eq!((of("eth0").contains("NO-CARRIER"), of("eth1").contains("NO-CARRIER")), (carrier, false), "{links}");
    fixture.assert_nothing_is_left("moves");
}

#[test]
fn a_node_that_moves_reaches_those_at_its_new_link_alone() {
    for user in User::some() {
        moves(&Fixture::new(user), "real", user == User::Nobody);
    }
    moves(&Fixture::with_kernel(User::all()[0]), "virtual", false);
}

#[test]
fn a_mobile_node_stays_reachable_at_its_home_address() {
    let runs = [(); 2].map(|()| {
        let fixture = Fixture::with_kernel(User::all()[0]);
        fixture.write("mobile.yaml", include_str!("../../examples/papers/gine/mobile-ipv6.yaml"));
        fixture.netloom(&["run", "mobile.yaml"]).expect_code(0);
        let log = fs::read_to_string(fixture.latest("mobile-ipv6").join("logs/03-peer-probe.stdout")).unwrap();
        (fixture.json("mobile-ipv6", "pipes.json"), log)
    });
    assert_eq!(runs[0], runs[1]);
}
