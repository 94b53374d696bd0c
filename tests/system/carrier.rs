//! Cuts that take the carrier off the interfaces.

use crate::fixture::{Fixture, User};
use std::fs;

/// Its events may be late, and its programs be starved: this is about what happens, not when.
const LAB: &str = "name: carrier
bypass: auto
nodes: {a: {}, b: {}, r: {kind: transit}}
links:
  direct: {ends: [a, b]}
  routed: {ends: [a, r]}
  far: {ends: [r, b]}
bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
timeline:
  - {on: a, run: 'for i in $(seq 350); do cat /sys/class/net/eth0/carrier /sys/class/net/eth1/carrier | tr \"\\n\" \" \"; echo; sleep 0.02; done', as: watch}
  - {on: b, run: ip monitor link, as: monitor, service: true, for: 6900 ms}
  - {on: a, run: 'ip -4 route; ip -6 route; ip neigh show nud permanent; ip -br addr', as: before}
  - {at: 2 s, link: direct, down: {carrier: true, for: 3 s}}
  - {at: 2100 ms, link: routed, down: {carrier: true}}
  - {at: 2500 ms, on: a, run: 'ip link show eth0; ping -4 -c 2 -i 0.1 -W 0.2 b; ping -6 -c 2 -i 0.1 -W 0.2 b', as: meanwhile, may_fail: true}
  - {at: 3500 ms, link: routed, up: true}
  - {at: 6500 ms, on: a, run: 'ping -4 -c 2 -i 0.1 b && ping -6 -c 2 -i 0.1 b', as: direct-again}
  - {at: 6500 ms, on: a, run: 'ip -4 route; ip -6 route; ip neigh show nud permanent; ip -br addr', as: after}
expect:
  - watch.exit == 0
  - direct-again.exit == 0
";

/// What the command of this name printed.
fn log(fixture: &Fixture, name: &str) -> String {
    let logs = fs::read_dir(fixture.latest("carrier").join("logs")).unwrap().flatten().map(|entry| entry.path());
    let mut of_name = logs.filter(|path| path.to_string_lossy().ends_with(&format!("-{name}.stdout")));
    fs::read_to_string(of_name.next().unwrap()).unwrap()
}

#[test]
fn programs_see_a_carrier_go_and_come_back() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("carrier.yaml", LAB);
        let finished = fixture.netloom(&["run", "carrier.yaml"]).expect_code(0);
        // Both interfaces of `a` lose it, also the one whose link leads to a transit router, and get it back.
        let mut seen: Vec<String> = log(&fixture, "watch").lines().map(|line| line.trim().to_owned()).collect();
        seen.dedup();
        assert_eq!((seen.first().map(String::as_str), seen.last().map(String::as_str)), (Some("1 1"), Some("1 1")));
        assert!(
            seen.iter().any(|both| both.starts_with('0')) && seen.iter().any(|both| both.ends_with('0')),
            "{seen:?}"
        );
        assert!(log(&fixture, "monitor").contains("NO-CARRIER"), "{}", log(&fixture, "monitor"));
        assert!(log(&fixture, "meanwhile").contains("NO-CARRIER"), "{}", log(&fixture, "meanwhile"));
        assert!(
            log(&fixture, "meanwhile").contains("2 packets transmitted, 0 received"),
            "{}",
            log(&fixture, "meanwhile")
        );
        assert_eq!(log(&fixture, "before"), log(&fixture, "after"));
        // What was sent without a carrier was dropped as described, and nobody is blamed for the changes.
        let verdict = fixture.json("carrier", "verdict.json");
        assert_eq!(verdict["findings"].as_array().map(Vec::len), Some(0), "{finished:#?}");
        assert!(!verdict["notes"].to_string().contains("did to its network"), "{verdict:#}");
        let events = fs::read_to_string(fixture.latest("carrier").join("events.jsonl")).unwrap();
        let count = |what: &str| events.lines().filter(|line| line.contains(what)).count();
        assert_eq!((count("\"carrier off\""), count("\"carrier on\"")), (2, 2), "{events}");
        fixture.assert_nothing_is_left("carrier");
    }
}

/// What a command in node `a` of the lab prints.
fn in_a(fixture: &Fixture, command: &str) -> String {
    fixture.netloom(&["exec", "hand", "a", "--", "sh", "-c", command]).stdout
}

#[test]
fn a_carrier_goes_and_comes_back_by_hand() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write(
            "hand.yaml",
            "name: hand\nnodes: {a: {}, b: {}}\nlinks: {l: {ends: [a, b]}}\n\
             bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}\n",
        );
        fixture.netloom(&["up", "hand.yaml", "-q"]).expect_code(0);
        let ping = "ping -q -c 1 -W 5 b";
        assert!(in_a(&fixture, ping).contains(" 1 received"));
        for (link, change, why) in
            [("l", "up=false", "write up=true"), ("l.forward", "down={carrier: true}", "one carrier for all")]
        {
            let refused = fixture.netloom(&["set", "hand", link, change]).expect_code(2);
            assert!(refused.stderr.contains(why), "{refused:#?}");
        }
        assert_eq!(in_a(&fixture, "cat /sys/class/net/eth0/carrier"), "1\n", "nothing was done");
        fixture.netloom(&["set", "hand", "l", "down={carrier: true}"]).expect_code(0);
        assert_eq!(in_a(&fixture, "cat /sys/class/net/eth0/carrier"), "0\n");
        // The node's kernel drops them, for want of a carrier.
        assert!(in_a(&fixture, "ping -q -c 3 -i 0.1 -W 0.2 b").contains(" 0 received"));
        fixture.netloom(&["set", "hand", "l", "up=true"]).expect_code(0);
        assert_eq!(in_a(&fixture, "cat /sys/class/net/eth0/carrier"), "1\n");
        // Until it has noticed, it goes on dropping.
        assert!(in_a(&fixture, &format!("until {ping}; do sleep 0.05; done")).contains(" 1 received"));
        // The lab ends this one: no command does.
        fixture.netloom(&["set", "hand", "l", "down={carrier: true, for: 300 ms}"]).expect_code(0);
        assert!(in_a(&fixture, &format!("until {ping}; do sleep 0.05; done")).contains(" 1 received"));
        fixture.netloom(&["down", "hand"]).expect_code(0);
        let verdict = fixture.json("hand", "verdict.json");
        assert_eq!(verdict["findings"].as_array().map(Vec::len), Some(0), "{verdict:#}");
        let events = fs::read_to_string(fixture.latest("hand").join("events.jsonl")).unwrap();
        let count = |what: &str| events.lines().filter(|line| line.contains(what)).count();
        assert_eq!((count("\"carrier off\""), count("\"carrier on\"")), (2, 2), "{events}");
        fixture.assert_nothing_is_left("hand");
    }
}

#[test]
fn a_kernel_of_a_nodes_own_keeps_its_carrier() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("hand.yaml", "name: hand\nnodes: {a: {stack: kernel}, b: {}}\nlinks: {l: {ends: [a, b]}}\n");
    fixture.netloom(&["up", "hand.yaml", "-q"]).expect_code(0);
    let refused = fixture.netloom(&["set", "hand", "l", "down={carrier: true}"]).expect_code(2);
    assert!(refused.stderr.contains("node `a` has a kernel of its own"), "{refused:#?}");
    fixture.netloom(&["set", "hand", "l", "down=true"]).expect_code(0);
    fixture.netloom(&["down", "hand"]);
    fixture.assert_nothing_is_left("hand");
}
