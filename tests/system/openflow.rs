//! OpenFlow switches.

use crate::fixture::{Fixture, User, is_root, ran};
use std::fs;
use std::path::Path;

/// Three hosts at a switch without a controller; no bound depends on the machine's load.
const ALONE: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {h1: , h2: , h3: , s1: {kind: openflow}}
links:
  a: {ends: [h1, s1], rate: 100 Mbit/s}
  b: {ends: [h2, s1], rate: 100 Mbit/s}
  c: {ends: [h3, s1], rate: 100 Mbit/s}
timeline:
  - {on: h2, run: iperf3 -s, as: server, ready: {tcp: 5201}}
  - {on: h1, run: ping -c 3 -i 0.2 -W 5 h3, as: ping}
  - {at: 1 s, on: h1, run: iperf3 -c h2 -n 3M, as: transfer}
";

#[test]
fn a_switch_alone_joins_hosts_and_leaves_nothing_behind() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("alone.yaml", ALONE);
        let run = ran(fixture.netloom(&["run", "alone.yaml"])).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        fixture.assert_nothing_is_left("alone");
    }
}

#[test]
fn a_switch_goes_with_a_guard_that_is_killed() {
    let fixture = Fixture::new(if is_root() { User::Nobody } else { User::Own });
    fixture.write("alone.yaml", ALONE);
    ran(fixture.netloom(&["up", "alone.yaml"])).expect_code(0);
    let shown = fixture.netloom(&["exec", "alone", "s1", "--", "ovs-vsctl", "list-ports", "br0"]).expect_code(0).stdout;
    assert_eq!(shown, "eth0\neth1\neth2\n");
    for pid in fixture.processes() {
        // Who dies with another one is gone already.
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
    }
    fixture.assert_nothing_is_left("alone");
}

#[test]
fn a_secure_switch_without_its_controller_forwards_nothing() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let text = "
clock: virtual
nodes: {h1: , h2: , s1: {kind: openflow, controller: 'tcp:c0', fail_mode: secure}, c0: }
links: {a: {ends: [h1, s1]}, b: {ends: [h2, s1]}, up: {ends: [s1, c0]}}
timeline:
  - {on: h1, run: ping -4 -c 3 -i 0.2 -W 1 h2, as: before, may_fail: true}
  - {at: 3 s, on: s1, run: ovs-ofctl add-flow br0 action=normal, as: told}
  - {at: 4 s, on: h1, run: ping -4 -c 3 -i 0.2 -W 1 h2, as: ping}
expect: [before.exit == 1, ping.exit == 0]
";
    fixture.write("secure.yaml", text);
    let run = ran(fixture.netloom(&["run", "secure.yaml", "--wall-limit", "200s"])).expect_code(0);
    assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
}

#[test]
fn the_example_learns_from_its_controller_and_prints_the_same_twice() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    fixture.write("openflow.yaml", &fs::read_to_string(examples.join("openflow.yaml")).unwrap());
    fs::create_dir(fixture.work().join("openflow")).unwrap();
    let app = fs::read_to_string(examples.join("openflow/learning_switch.py")).unwrap();
    fixture.write("openflow/learning_switch.py", &app);
    let runs = [(), ()].map(|()| {
        let arguments = ["run", "openflow.yaml", "--clock", "virtual", "--wall-limit", "200s"];
        let run = ran(fixture.netloom(&arguments)).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        let logs = fs::read_dir(fixture.latest("openflow").join("logs")).unwrap().flatten();
        let mut logs: Vec<_> = logs.map(|log| (log.file_name(), fs::read_to_string(log.path()).unwrap())).collect();
        logs.sort();
        logs
    });
    assert_eq!(runs[0], runs[1]);
    let ping = runs[0].iter().find(|(name, _)| name.to_string_lossy().ends_with("-ping.stdout")).unwrap();
    // Both switches ask on the way there, 10 ms each, and on the way back.
    assert!(ping.1.contains("icmp_seq=1 ttl=64 time=42.") && ping.1.contains("icmp_seq=5 ttl=64 time=2.0"), "{ping:?}");
    fixture.assert_nothing_is_left("openflow");
}
