//! What becomes of entries that clients ask for.

use super::*;

const REAL: &str = "nodes: {n1: {stack: kernel}, n2: {stack: kernel}, plain: {}}\nlinks: {l: {ends: [n1, n2, plain]}}\n\
                    timeline: [{on: plain, run: sleep 9, as: nap}]\n";
const VIRTUAL: &str = "clock: virtual\nnodes: {a: {disk: {at: /srv}}, b: , s: {kind: switch}}\nlinks: {l: {ends: [a, s]}, m: {ends: [b, s]}}\n\
                       timeline: [{at: 1 s, link: m, reset: true}]\n";

fn faults_in(text: &str, entry: &str) -> Result<Vec<RequestedFault>, String> {
    let plan = crate::parse(text, "t.yaml").unwrap().plan;
    parse_fault(entry, &plan).map_err(|error| error.to_string())
}

fn faults(entry: &str) -> Result<Vec<RequestedFault>, String> {
    faults_in(REAL, entry)
}

fn disturbances(faults: &[RequestedFault]) -> Vec<(Disturbance, Whose, Option<Duration>)> {
    let each = faults.iter().filter_map(|fault| match fault {
        RequestedFault::Action(Action::Disturb { how, whose, duration, .. }) => Some((*how, *whose, *duration)),
        _ => None,
    });
    each.collect()
}

#[test]
fn names_and_patterns_become_nodes_and_commands() {
    let both = disturbances(&faults("{on: n*, clock: {step: -1 s}}").unwrap());
    assert_eq!(both.iter().map(|(_, whose, _)| *whose).collect::<Vec<_>>(), [Whose::Node(0), Whose::Node(1)]);
    let one = faults("{kill: nap, process: sleep 9}").unwrap();
    let RequestedFault::Action(Action::Disturb { how, whose, process, .. }) = &one[0] else { panic!("{one:?}") };
    assert_eq!((*how, process.as_deref()), (Disturbance::Kill, Some("sleep 9")));
    assert!(matches!(whose, Whose::Command(_)));
}

/// Whatever a timeline can have is an entry by hand, too.
#[test]
fn every_entry_that_disturbs_happens_by_hand() {
    let second = Some(Duration::from_secs(1));
    let made = |entry: &str| disturbances(&faults_in(VIRTUAL, entry).unwrap_or_else(|why| panic!("{entry}: {why}")));
    let crash = Disturbance::Crash(Keep::Torn);
    assert_eq!(made("{crash: a, keep: torn, for: 1 s}"), [(crash, Whose::Node(0), second)]);
    assert_eq!(made("{crash: b}"), [(Disturbance::Crash(Keep::Flushed), Whose::Node(1), None)]);
    assert_eq!(
        made("{stop: [a, s]}"),
        [(Disturbance::Stop, Whose::Node(0), None), (Disturbance::Stop, Whose::Node(2), None)]
    );
    assert_eq!(made("{freeze: b, for: 1 s}"), [(Disturbance::Freeze(Standstill::Pause), Whose::Node(1), second)]);
    assert_eq!(made("{kill: a, for: 1 s}"), [(Disturbance::Kill, Whose::Node(0), second)]);
    assert_eq!(made("{restart: a}"), [(Disturbance::Restart, Whose::Node(0), None)]);
    let nodes = |entry: &str| made(entry).iter().map(|(_, whose, _)| *whose).collect::<Vec<_>>();
    assert_eq!(nodes("{crash: '*'}"), [Whose::Node(0), Whose::Node(1)]);
    assert_eq!(nodes("{stop: [s, '*']}"), [Whose::Node(2), Whose::Node(0), Whose::Node(1)]);
    assert_eq!(nodes("{kill: '*'}"), [Whose::Node(0), Whose::Node(1)]);
    let all = |entry: &str| faults_in(VIRTUAL, entry).unwrap_or_else(|why| panic!("{entry}: {why}"));
    assert_eq!(all("{reboot: a}").len(), 2);
    assert_eq!(all("{flap: s, for: 1 s}").len(), 2);
    assert_eq!(all("{flap: 's*', for: 1 s}").len(), 2);
    assert_eq!(all("{start: a}"), [RequestedFault::Start(0)]);
    assert_eq!(all("{partition: [[a], [b]]}"), [RequestedFault::Partition]);
    assert_eq!(all("{heal: true}"), [RequestedFault::Heal]);
    let set = |entry: &str| match &all(entry)[..] {
        [RequestedFault::Action(Action::Set { link, change, .. })] => (*link, change.faults.len()),
        other => panic!("{entry}: {other:?}"),
    };
    assert_eq!(set("{link: l, packet: {nth: 3}, do: drop}"), (0, 1));
    assert_eq!(set("{link: m, reset: true}"), (1, 1));
    assert_eq!(set("{link: l, set: {loss: 1 %}}"), (0, 0));
    assert!(matches!(&all("{link: l, down: 1 s}")[..], [RequestedFault::Action(Action::Down { .. })]));
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let why = |entry: &str| faults(entry).unwrap_err();
    assert!(why("{on: plain, clock: {step: 1 s}}").contains("the clock of the whole machine"));
    assert!(why("{on: nap, clock: {step: 1 s}}").contains("name the node"));
    assert!(why("{on: x*, clock: {step: 1 s}}").contains("called like `x*`"));
    assert!(why("{at: 1 s, on: n1, clock: {step: 1 s}}").contains("leave this out"));
    assert!(why("{pause: nap, for: {mean: 1 s}}").contains("nothing is drawn by hand"));
    assert!(why("{kill: npa}").contains("did you mean `nap`?"));
    assert!(why("{freeze: n1, for: 1 s}").contains("`pause: n1`"));
    assert!(why("{crash: plain}").contains("it has the kernel of this machine"));
    assert!(why("{crash: n3}").contains("did you mean"));
    assert!(why("{limit: n1, memory: 64 MB}").contains("nobody counts"));
    assert!(why("{limit: nap, pids: 9}").contains("no control groups"));
    assert!(faults("{limit: nap, fds: 9}").is_ok());
    assert!(why("{run: x}").contains("netloom exec"));
    assert!(why("{nothing: x}").contains("write one of"));
    assert!(why("{on: n1, clock: {}}").contains("changes nothing"));
    let in_virtual = |entry: &str| faults_in(VIRTUAL, entry).unwrap_err();
    assert!(
        in_virtual("{crash: [a, b], keep: torn}")
            .contains("keep: this says what a crash leaves on a disk, and `b` has none")
    );
    assert!(in_virtual("{crash: x*}").contains("no node that can be stopped is called like `x*`: there are a, b"));
    assert!(in_virtual("{crash: s}").contains("which has no kernel"));
    assert!(in_virtual("{link: l, reset: true}").contains("`{at: 1 s, link: l, reset: true}`"));
    assert!(in_virtual("{link: l, packet: {}, do: reset}").contains("is not ready for resets"));
    assert!(in_virtual("{link: n, packet: {}, do: drop}").contains("no link is called `n`"));
}

#[test]
fn each_fault_of_a_node_is_possible_or_has_a_reason() {
    let possible = |text: &str, node: usize| {
        let plan = crate::parse(text, "t.yaml").unwrap().plan;
        refusals(&plan, node).filter(|(_, why)| why.is_none()).map(|(kind, _)| kind).collect::<Vec<_>>()
    };
    assert_eq!(possible(REAL, 0), ["stop", "crash", "clock"]);
    assert_eq!(possible(REAL, 2), ["stop"]);
    assert_eq!(possible(VIRTUAL, 0), ["stop", "crash", "freeze", "clock", "disk", "fail", "starve"]);
    assert_eq!(possible(VIRTUAL, 1), ["stop", "crash", "freeze", "clock", "fail", "starve"]);
    assert_eq!(possible(VIRTUAL, 2), ["stop"]);
}
