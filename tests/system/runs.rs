//! Runs from a lab file to a judged result.

use crate::fixture::{Fixture, User};

const TRANSFER: &str = "
name: transfer
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {client: {}, router: {kind: router}, server: {env: {GREETING: hello}}}
links:
  access: {ends: [client, router]}
  bottleneck: {ends: [router, server], rate: 10 Mbit/s, delay: 10 ms}
timeline:
  - {on: server, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {on: client, run: iperf3 -c server -t 3 --json, as: transfer, save: transfer.json}
  - {on: client, run: [ping, -c, '5', -i, '0.2', server], as: ping}
  - {on: server, run: echo $GREETING from $(hostname), as: greeting}
  - {at: 500 ms, on: server, run: sleep 60, as: sleeper, for: 500 ms}
expect:
  - transfer.exit == 0
  - ping.exit == 0
  - greeting.stdout contains \"hello from server\"
  - transfer.json.end.sum_received.bits_per_second > 0
  - bottleneck.forward.packets > 100 packets
  - bottleneck.forward.delay >= 10 ms
  - access.drops == 0
";

/// How much a machine carries in real time is up to what else it does; in virtual time it is up to nothing.
const FIGURES: &str = "  - transfer.json.end.sum_received.bits_per_second between 8e6 and 1e7
  - bottleneck.forward.throughput within 1 % of 10 Mbit/s during 1 s..3 s
";

#[test]
fn a_transfer_is_run_judged_and_recorded() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("transfer.yaml", TRANSFER);
        let run = fixture.netloom(&["run", "transfer.yaml"]).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        assert!(run.stderr.contains("transfer started"), "{run:#?}");
        assert_eq!(fixture.json("transfer", "provenance.json")["seed"], 1);
        assert_eq!(fixture.json("transfer", "verdict.json")["as_described"], true);
        assert!(fixture.json("transfer", "transfer.json")["end"]["sum_received"].is_object());
        let commands = fixture.json("transfer", "commands.json");
        let sleeper = commands.as_array().unwrap().iter().find(|row| row["name"] == "sleeper").unwrap();
        assert_eq!((&sleeper["stopped"], &sleeper["failed"]), (&true.into(), &false.into()));
        assert_eq!(std::fs::read_to_string(fixture.latest("transfer").join("lab.yaml")).unwrap(), TRANSFER);
        let samples = std::fs::read_to_string(fixture.latest("transfer").join("samples.csv")).unwrap();
        assert!(samples.lines().filter(|line| line.contains(",bottleneck,forward,")).count() >= 3, "{samples}");
        fixture.assert_nothing_is_left("transfer");
    }
}

#[test]
fn a_transfer_has_the_rate_that_is_described() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("transfer.yaml", &format!("{TRANSFER}{FIGURES}"));
    fixture.netloom(&["run", "transfer.yaml", "--clock", "virtual", "-q"]).expect_code(0);
    let row = &fixture.json("transfer", "pipes.json")[2];
    assert_eq!((&row["link"], &row["rate_judged"]), (&"bottleneck".into(), &true.into()));
    let samples = std::fs::read_to_string(fixture.latest("transfer").join("samples.csv")).unwrap();
    assert!(samples.lines().filter(|line| line.contains(",bottleneck,forward,")).count() >= 25, "{samples}");
}

const LABORIOUS: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: [a, b]
links: {l: {ends: [a, b], delay: 20 ms}}
";

#[test]
fn links_change_while_the_run_goes_on() {
    let fixture = Fixture::with_kernel(User::Own);
    let timeline = "
name: changes
timeline:
  - {on: a, run: ping -c 30 -i 0.1 -W 1 b, as: ping, may_fail: true}
  - {at: 1 s, link: l, down: 500 ms}
  - {at: 2 s, link: l, direction: backward, set: {delay: 60 ms}}
expect:
  - l.forward.drops > 0
  - l.forward.drops == 0 during 0 s..900 ms
  - l.forward.drops == 0 during 1600 ms..2500 ms
  - l.backward.delay within 1 us of 20 ms during 100 ms..900 ms
  - l.backward.delay within 1 us of 60 ms during 2200 ms..2800 ms
";
    let lab = format!("{LABORIOUS}{timeline}");
    fixture.write("changes.yaml", &lab);
    fixture.netloom(&["run", "changes.yaml", "--clock", "virtual", "-q"]).expect_code(0);
    // In real time, which packets go when depends on what else the machine does.
    let (unexpecting, _) = lab.split_once("expect:").unwrap();
    for clock in ["virtual", "real"] {
        fixture.write("changes.yaml", unexpecting);
        fixture.netloom(&["run", "changes.yaml", "--clock", clock, "-q"]).expect_code(0);
        let events = std::fs::read_to_string(fixture.latest("changes").join("events.jsonl")).unwrap();
        for what in ["link down", "link up", "link changed"] {
            assert!(events.contains(what), "{clock}: {events}");
        }
    }
}

/// Sixty programs at the instant of a change, and a change soon after: the engine makes both, and nothing that is later than
/// allowed is passed over.
#[test]
fn changes_are_on_time_whatever_starts_then_or_the_verdict_says_so() {
    let fixture = Fixture::new(User::Own);
    let programs = "  - {at: 500 ms, on: a, run: [sleep, '0.2']}\n".repeat(60);
    let timeline = format!(
        "name: crowd
bounds: {{lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 1 ms, starts: 2 ms}}
nodes: [a, b]
links: {{l: {{ends: [a, b], delay: 20 ms}}}}
timeline:
{programs}  - {{at: 500 ms, link: l, set: {{delay: 30 ms}}}}
  - {{at: 501 ms, link: l, down: 10 ms}}
duration: 1 s
expect: [l.drops == 0 during 100 ms..501 ms]
"
    );
    fixture.write("crowd.yaml", &timeline);
    let run = fixture.netloom(&["run", "crowd.yaml"]);
    assert!(run.stdout.contains("timeline: 3 link changes at most "), "{run:#?}");
    let report = fixture.json("crowd", "report.json");
    let findings = report["verdict"]["findings"].to_string();
    for (kind, count, bound_ns, name) in
        [("link_changes", 3, 1_000_000, "changes of links"), ("program_starts", 60, 2_000_000, "starts of programs")]
    {
        let events = &report["events"][kind];
        assert_eq!(events["count"], count, "{report:#}");
        let is_late = events["worst_ns"].as_u64().unwrap() > bound_ns;
        assert_eq!(findings.contains(name), is_late, "{kind}: {report:#}");
    }
    // The windows and the run end when they are to, however late that was measured.
    assert_eq!(report["duration_ns"], 1_000_000_000, "{report:#}");
    let log = std::fs::read_to_string(fixture.latest("crowd").join("events.jsonl")).unwrap();
    let events: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let changed = events.iter().find(|event| event["event"] == "link changed").unwrap();
    let (planned, late) = (changed["planned_ns"].as_u64().unwrap(), changed["lateness_ns"].as_u64().unwrap());
    assert_eq!((planned, changed["time_ns"].as_u64().unwrap()), (500_000_000, planned + late));
}

#[test]
fn a_failed_command_and_an_unmet_expectation_are_one() {
    let fixture = Fixture::new(User::Own);
    fixture.write("failing.yaml", &format!("{LABORIOUS}timeline:\n  - {{on: a, run: exit 3, as: failing}}\n"));
    let failing = fixture.netloom(&["run", "failing.yaml", "-q"]).expect_code(1);
    assert!(failing.stdout.contains("failing on a: exit 3"), "{failing:#?}");
    fixture.write(
        "unmet.yaml",
        &format!("{LABORIOUS}expect: [l.forward.packets > 1000000, l.drops == 0 during 8 s..9 s]\n"),
    );
    let unmet = fixture.netloom(&["run", "unmet.yaml", "-q"]).expect_code(1);
    assert!(unmet.stdout.contains("not measured: the run ended before 8 s"), "{unmet:#?}");
    assert!(unmet.stdout.contains("NOT met  l.forward.packets > 1000000"), "{unmet:#?}");
}

#[test]
fn a_network_that_is_not_as_described_is_five() {
    let fixture = Fixture::new(User::Own);
    let strict = "
bounds: {lateness: 1 ns}
nodes: [a, b]
links: {l: {ends: [a, b], delay: 1 ms}}
timeline: [{on: a, run: ping -c 3 -i 0.1 b}]
";
    fixture.write("strict.yaml", strict);
    let run = fixture.netloom(&["run", "strict.yaml"]).expect_code(5);
    assert!(run.stdout.contains("NOT as described: l "), "{run:#?}");
    // By how much slower time would have to run depends on the machine; beyond a hundred times it is virtual time that is advised.
    assert!(run.stdout.contains("a dilation of ") || run.stdout.contains("--clock virtual"), "{run:#?}");
}

#[test]
fn a_service_that_does_not_become_ready_ends_the_run_and_is_quoted() {
    let fixture = Fixture::new(User::Own);
    let services =
        "timeline:\n  - {on: a, run: 'echo no luck >&2; sleep 60', as: deaf, ready: {tcp: 99, timeout: 300 ms}}\n";
    fixture.write("deaf.yaml", &format!("{LABORIOUS}{services}"));
    let run = fixture.netloom(&["run", "deaf.yaml"]).expect_code(1);
    assert!(run.stderr.contains("service `deaf` did not become ready in time: TCP port 99 is not open"), "{run:#?}");
    assert!(run.stderr.contains("| no luck"), "{run:#?}");
    fixture.assert_nothing_is_left("deaf");
}

#[test]
fn every_kind_of_readiness_is_waited_for() {
    let fixture = Fixture::new(User::Own);
    let timeline = "
timeline:
  - {on: a, run: 'sleep 0.2; touch made-late; sleep 60', as: by-file, ready: {file: made-late}}
  - {on: a, run: sleep 60, as: by-command, ready: {command: test -e made-late}}
  - {on: a, run: sleep 60, as: by-pause, ready: {pause: 300 ms}}
  - {on: b, run: test -e made-late}
";
    fixture.write("ready.yaml", &format!("{LABORIOUS}{timeline}"));
    fixture.netloom(&["run", "ready.yaml", "-q"]).expect_code(0);
}

#[test]
fn a_thousand_short_commands_are_all_accounted_for() {
    let fixture = Fixture::new(User::Own);
    fixture.write(
        "many.yaml",
        &format!("{LABORIOUS}timeline: [{{on: a, run: 'for i in $(seq 1000); do /bin/true; done'}}]\n"),
    );
    fixture.netloom(&["run", "many.yaml", "-q"]).expect_code(0);
}

#[test]
fn the_report_is_json_on_request_and_check_needs_no_lab() {
    let fixture = Fixture::new(User::Own);
    fixture.write("plain.yaml", LABORIOUS);
    let run = fixture.netloom(&["run", "plain.yaml", "--json"]).expect_code(0);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["lab"], "plain");
    let check = fixture.netloom(&["check", "plain.yaml", "--json"]).expect_code(0);
    assert!(serde_json::from_str::<serde_json::Value>(&check.stdout).unwrap().is_object());
    fixture.netloom(&["check", "plain.yaml"]).expect_code(0);
    let schema = fixture.netloom(&["schema"]).expect_code(0);
    assert!(serde_json::from_str::<serde_json::Value>(&schema.stdout).unwrap().is_object());
}
