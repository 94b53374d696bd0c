use super::*;
use crate::checks::tests::{ROOT, carried, facts, late, timing, with};
use crate::tree::Facts;

#[test]
fn balanced_is_for_most_machines() {
    let (precision, why) = precision(&timing(), 2);
    assert_eq!(precision, Precision::Balanced);
    assert_eq!(
        why,
        "99 % of its waits ended within 40 us of the instant, and an idle lab costs nothing (exact: 12 us, for one of 2 \
         processors; eco: 120 us)"
    );
    assert!(super::precision(&timing(), 1).1.contains("the only processor"));
}

#[test]
fn exact_is_for_machines_that_wake_up_late_and_have_processors_to_spare() {
    let sleepy = Timing { balanced: late(400), ..timing() };
    assert_eq!(precision(&sleepy, 8).0, Precision::Exact);
    assert_eq!(precision(&sleepy, 2).0, Precision::Balanced);
    let busy = Timing { balanced: late(5_000), exact: late(4_000), ..timing() };
    let (chosen, why) = precision(&busy, 8);
    assert_eq!(chosen, Precision::Balanced);
    assert!(why.contains("--clock 10"), "{why}");
}

#[test]
fn capacities_show_their_arithmetic() {
    let (facts, timing, trial) = (facts(), timing(), carried());
    let conclusion = with((&facts, &ROOT, &timing, &trial), draw);
    assert!(conclusion.labs);
    let told: Vec<(f64, &str, &str)> =
        conclusion.capacities.iter().map(|c| (c.value, &*c.unit, &*c.arithmetic)).collect();
    assert_eq!(
        told,
        [
            (240_000.0, "packets/s", "312,400 x 0.8; over N links in a row: by N"),
            (2_880_000_000.0, "bit/s", "240,000 x 1500 B x 8 bit; all links together"),
            (11_000_000_000.0, "bit/s", "14.2 Gbit/s of one TCP stream x 0.8; unlimited or very fast links"),
            (2_000.0, "nodes", "half of 4.0 GB of free memory / 1.00 MB per node"),
        ]
    );
}

#[test]
fn several_threads_carry_more_by_arithmetic() {
    let shards = |processors| in_shards(processors, 240_000.0).map(|shared| (shared.value, shared.arithmetic));
    assert_eq!([1, 2, 3].map(shards), [None, None, None]);
    assert_eq!(shards(8), Some((960_000.0, "240,000 x 4 shards on 8 processors; by arithmetic, not measured".into())));
}

#[test]
fn the_scarcest_thing_bounds_the_nodes() {
    let (timing, trial) = (timing(), carried());
    let nodes = |facts: &Facts| {
        let conclusion = with((facts, &ROOT, &timing, &trial), draw);
        conclusion.capacities.last().map(|capacity| (capacity.value, capacity.arithmetic.clone())).unwrap()
    };
    let few_files = Facts { open_files: Some(1_024), ..facts() };
    assert_eq!(nodes(&few_files), (410.0, "(1,024 open files - 200) / 2.0 per node".into()));
    let few_namespaces = Facts { network_namespaces: Some(50), ..facts() };
    assert_eq!(nodes(&few_namespaces), (50.0, "50 network namespaces, the scarcest".into()));
}

#[test]
fn a_machine_without_namespaces_carries_nothing() {
    let refused = Outcome::Refused { what: "no".into(), advice: None, bare: None };
    let (facts, timing) = (facts(), timing());
    let conclusion = with((&facts, &ROOT, &timing, &refused), draw);
    assert!(!conclusion.labs && conclusion.capacities.is_empty());
    assert_eq!(conclusion.precision, "balanced");
}

#[test]
fn numbers_are_rounded_down() {
    assert_eq!([rounded(249_999.0), rounded(99.9), rounded(7.9), rounded(0.0)], [240_000.0, 99.0, 7.0, 0.0]);
}
