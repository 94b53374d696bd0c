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
fn log(fixture: &Fixture, lab: &str, name: &str) -> String {
    let logs = fs::read_dir(fixture.latest(lab).join("logs")).unwrap().flatten().map(|entry| entry.path());
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
        let mut seen: Vec<String> =
            log(&fixture, "carrier", "watch").lines().map(|line| line.trim().to_owned()).collect();
        seen.dedup();
        assert_eq!((seen.first().map(String::as_str), seen.last().map(String::as_str)), (Some("1 1"), Some("1 1")));
        assert!(
            seen.iter().any(|both| both.starts_with('0')) && seen.iter().any(|both| both.ends_with('0')),
            "{seen:?}"
        );
        assert!(log(&fixture, "carrier", "monitor").contains("NO-CARRIER"), "{}", log(&fixture, "carrier", "monitor"));
        assert!(
            log(&fixture, "carrier", "meanwhile").contains("NO-CARRIER"),
            "{}",
            log(&fixture, "carrier", "meanwhile")
        );
        assert!(
            log(&fixture, "carrier", "meanwhile").contains("2 packets transmitted, 0 received"),
            "{}",
            log(&fixture, "carrier", "meanwhile")
        );
        assert_eq!(log(&fixture, "carrier", "before"), log(&fixture, "carrier", "after"));
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

/// Nodes with kernels of their own, with little to do, and at the instants of the cut nothing at all.
const KERNELS: &str = "name: kernels
CLOCK
nodes: {a: {}, b: {}, s: {kind: switch}}
links: {l: {ends: [a, b], delay: 1 ms}, m: {ends: [a, s]}, n: {ends: [s, b]}}
timeline:
  - {on: b, run: ip monitor link, as: monitor, service: true, for: 5900 ms}
  - {at: 1999 ms, on: a, run: 'cat /sys/class/net/*/carrier; ip -4 route; ip -br addr', as: before}
  - {at: 2 s, link: l, down: {carrier: true, for: 3 s}}
  - {at: 2001 ms, on: a, run: 'cat /sys/class/net/*/carrier; ip link show eth0', as: gone}
  - {at: 3 s, link: m, down: {carrier: true}}
  - {at: 3001 ms, on: a, run: 'cat /sys/class/net/*/carrier; ping -c 2 -i 0.1 -W 0.2 b', as: alone, may_fail: true}
  - {at: 4 s, link: m, up: true}
  - {at: 4001 ms, on: a, run: 'cat /sys/class/net/*/carrier', as: one}
  - {at: 5001 ms, on: a, run: 'cat /sys/class/net/*/carrier', as: both}
  - {at: 5500 ms, on: a, run: 'cat /sys/class/net/*/carrier; ip -4 route; ip -br addr', as: after}
  - {at: 5500 ms, on: a, run: ping -c 3 -i 0.1 b, as: again}
expect:
  - again.exit == 0
";

/// What a command printed, but for the first lines, which say whether the two interfaces and the loopback interface have a carrier.
fn carriers(fixture: &Fixture, name: &str) -> String {
    log(fixture, "kernels", name).lines().take(3).collect()
}

#[test]
fn kernel_nodes_lose_their_carrier_at_the_instant_of_the_cut() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("kernels.yaml", &KERNELS.replace("CLOCK", "clock: virtual"));
    let told = || {
        let finished = fixture.netloom(&["run", "kernels.yaml"]).expect_code(0);
        let seen = ["before", "gone", "alone", "one", "both", "after"].map(|name| carriers(&fixture, name));
        assert_eq!(seen, ["111", "011", "001", "011", "111", "111"]);
        assert!(log(&fixture, "kernels", "gone").contains("NO-CARRIER"), "{}", log(&fixture, "kernels", "gone"));
        assert!(log(&fixture, "kernels", "alone").contains("2 packets transmitted, 0 received"));
        assert_eq!(log(&fixture, "kernels", "before"), log(&fixture, "kernels", "after"));
        let verdict = fixture.json("kernels", "verdict.json");
        assert_eq!(verdict["findings"].as_array().map(Vec::len), Some(0), "{finished:#?}");
        assert!(!verdict["notes"].to_string().contains("did to its network"), "{verdict:#}");
        let events = fs::read_to_string(fixture.latest("kernels").join("events.jsonl")).unwrap();
        let carrier = events.lines().filter(|line| line.contains("\"carrier o"));
        let at = carrier.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["time_ns"].as_u64());
        let second = |n: u64| Some(n * 1_000_000_000);
        assert_eq!(at.collect::<Vec<_>>(), [second(2), second(3), second(4), second(5)], "{events}");
        log(&fixture, "kernels", "monitor")
    };
    let monitored = told();
    assert!(monitored.contains("NO-CARRIER"), "{monitored}");
    assert_eq!(monitored, told(), "every run is the same");
    fixture.assert_nothing_is_left("kernels");
}

/// The engine tells the kernels, in real time and in dilated time alike; what is late is this machine's.
#[test]
fn kernel_nodes_lose_their_carrier_in_real_time_and_by_hand() {
    for clock in ["", "clock: {dilation: 2}"] {
        let fixture = Fixture::with_kernel(User::Own);
        let nodes = if clock.is_empty() { "{a: {stack: kernel}, b: {}}" } else { "{a: {}, b: {}}" };
        fixture.write(
            "hand.yaml",
            &format!(
                "name: hand\n{clock}\nnodes: {nodes}\nlinks: {{l: {{ends: [a, b]}}}}\nbounds: {{lateness: 10 s, rate: 100 %, delay: 100 %, \
                 starvation: 100 %, events: 100 s, starts: 100 s}}\n"
            ),
        );
        fixture.netloom(&["up", "hand.yaml", "-q"]).expect_code(0);
        let until = |wanted: &str| {
            let look = format!("until [ $(cat /sys/class/net/eth0/carrier) = {wanted} ]; do sleep 0.01; done");
            fixture.netloom(&["exec", "hand", "a", "--", "sh", "-c", &look]).expect_code(0);
        };
        until("1");
        fixture.netloom(&["set", "hand", "l", "down={carrier: true}"]).expect_code(0);
        until("0");
        assert!(in_a(&fixture, "ping -q -c 3 -i 0.1 -W 0.2 b").contains(" 0 received"));
        fixture.netloom(&["set", "hand", "l", "up=true"]).expect_code(0);
        until("1");
        assert!(in_a(&fixture, "until ping -q -c 1 -W 5 b; do sleep 0.05; done").contains(" 1 received"));
        // The lab ends this one: no command does.
        fixture.netloom(&["set", "hand", "l", "down={carrier: true, for: 300 ms}"]).expect_code(0);
        assert!(in_a(&fixture, "until ping -q -c 1 -W 5 b; do sleep 0.05; done").contains(" 1 received"));
        fixture.netloom(&["down", "hand"]).expect_code(0);
        let verdict = fixture.json("hand", "verdict.json");
        assert_eq!(verdict["findings"].as_array().map(Vec::len), Some(0), "{verdict:#}");
        let events = fs::read_to_string(fixture.latest("hand").join("events.jsonl")).unwrap();
        let count = |what: &str| events.lines().filter(|line| line.contains(what)).count();
        assert_eq!((count("\"carrier off\""), count("\"carrier on\"")), (2, 2), "{events}");
        fixture.assert_nothing_is_left("hand");
    }
}

/// The bonds of the example find their ports' speed in the described rates, and fail over within two looks.
#[test]
fn a_bond_fails_over_when_a_cable_is_pulled() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("lacp-failover.yaml", include_str!("../../examples/lacp-failover.yaml"));
    let told = || {
        fixture.netloom(&["run", "lacp-failover.yaml"]).expect_code(0);
        ["before", "meanwhile", "after"].map(|name| log(&fixture, "lacp-failover", name))
    };
    assert_eq!(told(), told(), "every run is the same");
}
