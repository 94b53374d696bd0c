use super::*;
use crate::instants::Instants;
use netloom_lab::{HuntLab, HuntedRun, Lab};
use netloom_link::Spans;
use netloom_units::Seed;
use std::collections::BTreeSet;

fn lab(nodes: usize, hunt: &str) -> (HuntLab, Lab) {
    let names: Vec<String> = (1..=nodes).map(|number| format!("n{number}")).collect();
    let disks: String = names.iter().map(|name| format!("  {name}: {{disk: {{at: /srv}}}}\n")).collect();
    let names = names.join(", ");
    let text = format!(
        "name: kv\nclock: virtual\nduration: 30 s\nnodes:\n{disks}  client: {{}}\n\
         links: {{lan: {{ends: [{names}, client], delay: 1 ms}}, side: {{ends: [n1, client], delay: {{kind: uniform, from: 1 ms, to: 3 ms}}}}}}\n\
         timeline:\n  - {{on: n*, run: ./serve, as: serve, ready: {{tcp: 80}}}}\n  - {{on: client, run: ./ask, as: ask}}\nhunt: {hunt}\n"
    );
    HuntLab::read(&text, "kv.yaml").unwrap_or_else(|error| panic!("{error}"))
}

const ALL: &str = "{faults: {packet: on, packets: {match: {to_port: 80}, loss: on, delay: on, reorder: on, duplicate: on, corrupt: on}, \
                   dns: {question: [db.lab, api.lab]}, cut: on, reset: on, partition: on, pause: on, freeze: on, clock: {step: 1 s, skew: 1 s, drift: 1 %}, \
                   limit: {fds: on, pids: on, memory: [8 MB, 64 MB]}, disk: {full}, signal: {signals: [SIGHUP, SIGUSR1]}, \
                   kill: on, reboot: on, crash: {keep: [flushed, some, torn], at most: 1, for: [1 s, 3 s]}}}";

fn drawn(ground: &Ground, seed: u64) -> (Vec<u64>, Vec<Fault>) {
    let instants = Instants::default();
    let swarm = Swarm::draw(&mut Spans::new(Seed::new(seed)), ground.kinds.len(), &instants);
    let mut choices = Choices::drawn(Seed::new(seed));
    let faults = draw_faults(ground, &mut choices, &swarm);
    (choices.finish().values(), faults)
}

#[test]
fn every_fault_is_what_a_lab_file_may_have() {
    let (hunt, lab) = lab(5, ALL);
    let ground = Ground::of(&lab.plan).unwrap();
    assert_eq!(ground.kinds(), FaultPlan::NAMES);
    let mut kinds = BTreeSet::new();
    for seed in 0..400 {
        let (_, faults) = drawn(&ground, seed);
        let entries: Vec<String> = faults.iter().flat_map(|fault| fault.entries.clone()).collect();
        let run = HuntedRun { name: "kv-h00", entries: &entries, ..HuntedRun::default() };
        hunt.play(&run).unwrap_or_else(|error| panic!("{entries:?}\n{error}"));
        assert!(
            faults.iter().all(|fault| fault.at_ns + fault.for_ns <= 25_000_000_000),
            "the end is quiet: {faults:?}"
        );
        kinds.extend(faults.into_iter().map(|fault| fault.kind));
    }
    assert_eq!(kinds.len(), FaultPlan::NAMES.len(), "{kinds:?}");
}

#[test]
fn choices_make_the_same_faults_again() {
    let ground = Ground::of(&lab(5, ALL).1.plan).unwrap();
    for seed in 0..100 {
        let (values, faults) = drawn(&ground, seed);
        let mut replayed = Choices::replayed(values.clone());
        assert_eq!(draw_faults(&ground, &mut replayed, &Swarm::default()), faults);
        assert_eq!(replayed.finish().values(), values);
    }
}

#[test]
fn any_numbers_make_faults() {
    let ground = Ground::of(&lab(5, ALL).1.plan).unwrap();
    let mut random = Spans::new(Seed::new(3));
    for _ in 0..300 {
        let values = (0..random.below(60)).map(|_| random.below(1 << (1 + random.clone().below(40)))).collect();
        let mut choices = Choices::replayed(values);
        let faults = draw_faults(&ground, &mut choices, &Swarm::default());
        let canonical = choices.finish().values();
        let mut again = Choices::replayed(canonical);
        assert_eq!(draw_faults(&ground, &mut again, &Swarm::default()), faults);
    }
    assert!(draw_faults(&ground, &mut Choices::replayed(Vec::new()), &Swarm::default()).is_empty());
}

/// The largest number of nodes that are faulty at the beginning of a fault, of those that `counts`.
fn most_at_once(faults: &[Fault], counts: impl Fn(&Fault) -> bool) -> usize {
    let at = |instant: u64| {
        let is_faulty =
            |fault: &&Fault| counts(fault) && fault.at_ns <= instant && fault.at_ns + fault.for_ns > instant;
        faults.iter().filter(is_faulty).flat_map(|fault| &fault.nodes).collect::<BTreeSet<&String>>().len()
    };
    faults.iter().map(|fault| at(fault.at_ns)).max().unwrap_or(0)
}

#[test]
fn no_more_nodes_are_faulty_at_once_than_is_tolerated() {
    let faults = "{pause: on, freeze: on, clock: on, limit: on, disk: on, kill: on, reboot: on, crash: on}";
    for (tolerate, most) in [("minority", 2), ("1", 1), ("all", 5)] {
        let ground = Ground::of(&lab(5, &format!("{{tolerate: {tolerate}, faults: {faults}}}")).1.plan).unwrap();
        let largest = (0..500).map(|seed| most_at_once(&drawn(&ground, seed).1, |_| true)).max();
        assert_eq!(largest, Some(most), "{tolerate}");
    }
}

#[test]
fn a_kind_has_its_own_bounds() {
    let hunt = "{tolerate: all, faults: {pause: on, crash: {nodes: [n1, n2, n3], at most: 2, for: [2 s, 4 s]}}}";
    let ground = Ground::of(&lab(5, hunt).1.plan).unwrap();
    let is_crash = |fault: &Fault| fault.kind == "crash";
    let all: Vec<Vec<Fault>> = (0..400).map(|seed| drawn(&ground, seed).1).collect();
    assert_eq!(all.iter().map(|faults| most_at_once(faults, is_crash)).max(), Some(2));
    assert_eq!(all.iter().map(|faults| most_at_once(faults, |_| true)).max(), Some(5));
    for fault in all.iter().flatten().filter(|fault| is_crash(fault)) {
        assert!(fault.nodes.iter().all(|node| ["n1", "n2", "n3"].contains(&node.as_str())), "{fault:?}");
        let is_cut_short = fault.at_ns + fault.for_ns == ground.end;
        assert!(is_cut_short || (2_000_000_000..=4_000_000_000).contains(&fault.for_ns), "{fault:?}");
    }
}

#[test]
fn clocks_are_right_in_the_end() {
    let ground = Ground::of(&lab(3, "{faults: {clock: {nodes: n1, step: 2 s, drift: 1000 ppm}}}").1.plan).unwrap();
    // Another fault, its kind, instant, length, one node of one; a drift, its value, its sign.
    let drift =
        draw_faults(&ground, &mut Choices::replayed(vec![1, 0, 2_000_000_000, 12, 0, 0, 1, 3, 1]), &Swarm::default());
    let entries =
        ["{at: 2 s, on: n1, clock: {drift: -1000 ppm}}", "{at: 12 s, on: n1, clock: {drift: 0, step: 10 ms}}"];
    assert_eq!(drift[0].entries, entries);
    let step =
        draw_faults(&ground, &mut Choices::replayed(vec![1, 0, 2_000_000_000, 9, 0, 0, 0, 6, 0]), &Swarm::default());
    let stepped = ["{at: 2 s, on: n1, clock: {step: 2 s}}", "{at: 3 s, on: n1, clock: {step: -2 s}}"];
    assert_eq!(step[0].entries, stepped);
}

#[test]
fn what_the_lab_does_itself_is_left_alone() {
    let (_, plain) = lab(3, "{faults: {freeze: on, clock: on, limit: on}}");
    assert_eq!(Ground::of(&plain.plan).unwrap().kinds(), ["freeze", "clock", "limit"]);
    let own = |entry: &str| {
        let text = format!(
            "clock: virtual\nduration: 30 s\nnodes: [n1, n2, n3]\nlinks: {{lan: {{ends: [n1, n2, n3]}}}}\n\
             timeline: [{{on: n1, run: ./serve, as: serve, ready: {{tcp: 80}}}}, {entry}]\n\
             hunt: {{nodes: n1, tolerate: all, faults: {{freeze: on, clock: on, limit: on, crash: on}}}}\n"
        );
        HuntLab::read(&text, "kv.yaml").unwrap_or_else(|error| panic!("{error}"))
    };
    let (_, clocked) = own("{at: 5 s, on: n1, clock: {step: 1 s}}");
    assert_eq!(Ground::of(&clocked.plan).unwrap().kinds(), ["freeze", "limit", "crash"]);
    let (hunt, busy) = own("{at: 10 s, crash: n1, for: 2 s}");
    let ground = Ground::of(&busy.plan).unwrap();
    for seed in 0..300 {
        let (_, faults) = drawn(&ground, seed);
        assert!(
            faults.iter().all(|fault| fault.at_ns > 12_000_000_000 || fault.at_ns + fault.for_ns < 10_000_000_000),
            "{faults:?}"
        );
        let entries: Vec<String> = faults.iter().flat_map(|fault| fault.entries.clone()).collect();
        let run = HuntedRun { name: "kv-h00", entries: &entries, ..HuntedRun::default() };
        hunt.play(&run).unwrap_or_else(|error| panic!("{entries:?}\n{error}"));
    }
}

/// The rule that was drawn is for disks.
#[test]
fn nodes_without_a_disk_crash_without_a_rule() {
    let (hunt, lab) = lab(1, "{tolerate: all, faults: {crash: {nodes: [n1, client]}}}");
    let ground = Ground::of(&lab.plan).unwrap();
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        let (_, faults) = drawn(&ground, seed);
        let entries: Vec<String> = faults.into_iter().flat_map(|fault| fault.entries).collect();
        let run = HuntedRun { name: "kv-h00", entries: &entries, ..HuntedRun::default() };
        hunt.play(&run).unwrap_or_else(|error| panic!("{entries:?}\n{error}"));
        seen.extend(entries.iter().map(|entry| (entry.contains("crash: n1,"), entry.contains("keep:"))));
    }
    assert_eq!(seen, BTreeSet::from([(true, true), (false, false)]));
}

#[test]
fn a_node_alone_has_no_minority() {
    let ground = Ground::of(&lab(1, "{}").1.plan).unwrap();
    assert_eq!(ground.kinds(), ["packet", "packets", "cut"], "one node cannot be parted either");
    let all = Ground::of(&lab(1, "{tolerate: all}").1.plan).unwrap();
    assert_eq!(all.kinds(), ["packet", "packets", "cut", "pause", "freeze", "kill", "crash"]);
    let none = Ground::of(&lab(3, "{faults: none}").1.plan).unwrap();
    assert!(none.kinds().is_empty() && drawn(&none, 1).1.is_empty());
}

#[test]
fn what_packets_had_before_is_restored() {
    let ground = Ground::of(&lab(3, "{faults: {packets: {links: side, delay: [7 ms, 7 ms]}}}").1.plan).unwrap();
    // Another fault, its kind, instant, length, link, key, value, both directions.
    let mut choices = Choices::replayed(vec![1, 0, 2_000_000_000, 9, 0, 0, 0, 0]);
    let faults = draw_faults(&ground, &mut choices, &Swarm::default());
    let entries = &faults[0].entries;
    assert_eq!(entries.len(), 4, "{entries:?}");
    assert_eq!(entries[0], "{at: 2 s, link: side, set: {delay: 7 ms}, direction: forward}");
    assert!(entries[1].starts_with("{at: 3 s, link: side, set: {delay: {"), "{entries:?}");
    assert!(entries[1].contains("uniform") && entries[3].ends_with("direction: backward}"), "{entries:?}");
}

#[test]
fn the_simplest_failure_of_names_is_one_message() {
    let ground = Ground::of(
        &lab(3, "{faults: {dns: {links: side, question: [db.lab, api.lab], do: [servfail, stale]}}}").1.plan,
    )
    .unwrap();
    let entries =
        |values: Vec<u64>| draw_faults(&ground, &mut Choices::replayed(values), &Swarm::default())[0].entries.clone();
    // Another fault, its kind, instant, length, link, way, name, and how many messages.
    let simplest = entries(vec![1, 0, 2_000_000_000, 9, 0, 0, 0, 0]);
    assert_eq!(
        simplest,
        ["{at: 2 s, link: side, packet: {question: db.lab, count: 1}, do: {dns: servfail}, for: 1 s}"]
    );
    let other = entries(vec![1, 0, 2_000_000_000, 9, 0, 1, 1, 4]);
    assert_eq!(other, ["{at: 2 s, link: side, packet: {question: api.lab, count: all}, do: {dns: stale}, for: 1 s}"]);
    let any = Ground::of(&lab(3, "{faults: {dns: on}}").1.plan).unwrap();
    let fault = &draw_faults(&any, &mut Choices::replayed(vec![1, 0, 0, 0, 0, 2, 0]), &Swarm::default())[0];
    assert!(fault.entries[0].contains("packet: {count: 1}, do: {dns: refused}"), "{fault:?}");
    assert!(fault.nodes.is_empty(), "no node is faulty: a protocol has to be safe with any names");
}

#[test]
fn labs_that_cannot_be_hunted_are_refused() {
    let plan = |text: &str| netloom_lab::parse(text, "kv.yaml").unwrap().plan;
    let without = Ground::of(&plan("nodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n")).unwrap_err();
    assert!(without.to_string().contains("has no `hunt`"), "{without}");
    let endless = Ground::of(&plan("nodes: [a, b]\nlinks: {l: {ends: [a, b]}}\nhunt: {}\n")).unwrap_err();
    assert!(endless.to_string().contains("needs a `duration`"), "{endless}");
}
