use super::*;
use crate::instants::Instants;
use netloom_link::Spans;
use netloom_units::Seed;

/// Plays nothing: whether a run fails follows from its faults.
struct Predicate<F: Fn(&[Fault]) -> bool> {
    fails: F,
    runs: usize,
    width: usize,
}

fn failure() -> Failure {
    Failure::new("always no log n* matches \"lost\"", "lost 3")
}

fn another() -> Failure {
    Failure::new("command ask", "exit 1")
}

impl<F: Fn(&[Fault]) -> bool> Trials for Predicate<F> {
    fn play(&mut self, runs: &[Vec<Fault>]) -> Result<Vec<Vec<Failure>>, HuntError> {
        assert!(runs.len() <= self.width);
        self.runs += runs.len();
        let failures = |faults: &Vec<Fault>| {
            let mut found = if (self.fails)(faults) { vec![failure()] } else { Vec::new() };
            // Runs without any fault fail otherwise, which must not be mixed up.
            found.extend(faults.is_empty().then(another));
            found
        };
        Ok(runs.iter().map(failures).collect())
    }

    fn width(&self) -> usize {
        self.width
    }
}

fn ground() -> Ground {
    let text = "name: kv\nclock: virtual\nduration: 30 s\nnodes: [n1, n2, n3, n4, n5, client]\n\
                links: {lan: {ends: [n1, n2, n3, n4, n5, client], delay: 1 ms}}\n\
                timeline: [{on: n*, run: ./serve, as: serve, ready: {tcp: 80}}]\n\
                hunt: {faults: {partition: on, cut: on, packets: on, dns: on, pause: on, kill: on, reboot: on}}\n";
    Ground::of(&netloom_lab::parse(text, "kv.yaml").unwrap().plan).unwrap()
}

/// Draws runs until one fails.
fn failing(ground: &Ground, fails: impl Fn(&[Fault]) -> bool) -> Vec<u64> {
    let instants = Instants::default();
    for seed in 0..100_000 {
        let swarm = Swarm::draw(&mut Spans::new(Seed::new(seed)), ground.kinds().len(), &instants);
        let mut choices = Choices::drawn(Seed::new(seed));
        let faults = draw_faults(ground, &mut choices, &swarm);
        // Those with few faults are small already.
        if faults.len() > 3 && fails(&faults) {
            return choices.finish().values();
        }
    }
    panic!("no run fails");
}

fn shrunk(fails: impl Fn(&[Fault]) -> bool + Copy, width: usize) -> (Shrunk, usize) {
    let ground = ground();
    let values = failing(&ground, fails);
    let mut trials = Predicate { fails, runs: 0, width };
    let found = shrink(&ground, values, &failure(), 1_000, &mut trials).unwrap();
    assert!(fails(&found.faults), "it still fails");
    assert_eq!(found.runs, trials.runs);
    (found, trials.runs)
}

fn entries(found: &Shrunk) -> Vec<&str> {
    found.faults.iter().flat_map(|fault| &fault.entries).map(String::as_str).collect()
}

/// The entries behind their instants, which are full seconds.
fn without_instants(found: &Shrunk) -> Vec<&str> {
    entries(found)
        .into_iter()
        .map(|text| {
            let (at, rest) = text.split_at(text.find(',').expect("an instant, and what is done then"));
            assert!(at.ends_with(" s") || at.ends_with(" 0 ns"), "{at}");
            rest
        })
        .collect()
}

#[test]
fn a_failure_that_needs_one_fault_keeps_this_one() {
    for width in [1, 2, 7] {
        let (found, _) = shrunk(|faults| faults.iter().any(|fault| fault.kind == "kill"), width);
        assert_eq!(without_instants(&found), [", kill: n1, for: 1 ms}"], "{width}");
    }
}

#[test]
fn a_failure_that_needs_two_faults_keeps_both() {
    let needs = |faults: &[Fault]| {
        let cut = faults.iter().any(|fault| fault.kind == "cut");
        cut && faults.iter().any(|fault| fault.kind == "pause" && fault.nodes.contains(&"n3".into()))
    };
    let (found, _) = shrunk(needs, 2);
    let mut kept = without_instants(&found);
    kept.sort_unstable();
    assert_eq!(kept, [", link: lan-n1, down: 1 ms}", ", pause: n3, for: 1 ms}"]);
}

#[test]
fn what_a_failure_needs_of_a_fault_stays() {
    // A node that is away between 12 s and 15 s.
    let needs = |faults: &[Fault]| {
        let away = |fault: &Fault| fault.at_ns <= 12_000_000_000 && fault.at_ns + fault.for_ns >= 15_000_000_000;
        faults.iter().any(|fault| away(fault) && !fault.nodes.is_empty())
    };
    let (found, runs) = shrunk(needs, 2);
    assert_eq!(entries(&found), ["{at: 10 s, pause: n1, for: 5 s}"], "the simplest kind, as short as it can be");
    assert!(runs < 300, "{runs} runs");
}

#[test]
fn other_failures_are_found_beside_and_not_taken_for_it() {
    let (found, _) = shrunk(|faults| !faults.is_empty(), 1);
    assert_eq!(found.faults.len(), 1);
    assert_eq!(found.faults[0].kind, "packets");
    assert_eq!(found.others.len(), 1, "the run without faults");
    assert_eq!(found.others[0].0, another());
}

#[test]
fn a_name_server_that_fails_becomes_one_message_to_it() {
    let needs = |faults: &[Fault]| {
        faults.iter().any(|fault| fault.kind == "dns" && fault.entries.iter().any(|entry| !entry.contains("servfail")))
    };
    let (found, _) = shrunk(needs, 2);
    assert_eq!(without_instants(&found), [", link: lan-n1, packet: {count: 1}, do: {dns: nxdomain}, for: 1 ms}"]);
}

#[test]
fn shrinking_ends_when_its_runs_are_used_up() {
    let ground = ground();
    let fails = |faults: &[Fault]| faults.iter().any(|fault| fault.kind == "reboot");
    let mut trials = Predicate { fails, runs: 0, width: 4 };
    let found = shrink(&ground, failing(&ground, fails), &failure(), 5, &mut trials).unwrap();
    assert!(trials.runs <= 5 && fails(&found.faults));
}

#[test]
fn round_numbers_have_few_digits() {
    assert_eq!([0, 7, 1_500, 10_000_000_000, 1_234_567].map(digits), [0, 1, 2, 1, 7]);
}
