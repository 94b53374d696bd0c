//! Faults of nodes: programs that are held, killed or limited, clocks and disks, and nodes that stand still, reboot or crash.

use super::ground::{Fault, Ground, RECOVERY, Window, pick, steps};
use super::nodes::go_together;
use crate::choices::{Choices, Role};
use netloom_lab::{BadDisk, ClockFaults, FaultPlan, LimitFaults, NodeFault, NodeFaults};
use netloom_units::{Bytes, Drift, Duration, SignedDuration};

/// Steps of clocks, in milliseconds.
const STEPS: [u64; 10] = [1, 10, 50, 100, 500, 1_000, 2_000, 5_000, 10_000, 60_000];
/// Drifts of clocks, in parts per million.
const DRIFTS: [i64; 6] = [10, 50, 200, 1_000, 5_000, 20_000];
/// Numbers of processes and descriptors.
const THINGS: [u64; 9] = [3, 5, 8, 10, 16, 20, 32, 50, 100];
/// Sizes of memory, in megabytes.
const SIZES: [u64; 7] = [8, 16, 32, 64, 128, 256, 512];
const MILLISECOND: u64 = 1_000_000;
/// Parts per million in parts per trillion.
const PPM: i64 = 1_000_000;

/// A fault of nodes with all that was drawn of it but the nodes.
enum Treatment {
    /// An entry of its kind says all.
    Plain,
    Signal(&'static str),
    Clock(ClockError),
    /// A limit, and the key that it stands under.
    Limit(&'static str, String),
    Disk(BadDisk),
    Crash(&'static str),
}

/// An error of a clock.
#[derive(Clone, Copy)]
enum ClockError {
    Step(i64),
    /// As a step, but from time zero on.
    Skew(i64),
    /// In parts per trillion.
    Drift(i64),
}

/// Disturbs nodes; none if no further node may be faulty, or if none of those that were chosen can have this fault as well.
pub(super) fn disturb(
    ground: &Ground,
    choices: &mut Choices,
    window: Window,
    (kind, faults): (&FaultPlan, &NodeFaults),
    beside: &[Fault],
) -> Option<Fault> {
    let nodes = &faults.nodes;
    let most_at_once = faults.most.unwrap_or(usize::MAX).min(ground.most_faulty);
    let most = most_at_once.min(nodes.len()) as u64;
    // One node is the most frequent, and the simplest.
    let more = choices.choose(most, Role::Plain, |random| if random.below(2) == 0 { 0 } else { random.below(most) });
    let (wanted, _) = pick(choices, nodes, 1 + usize::try_from(more).unwrap_or(0));
    let treatment = treatment(choices, &faults.fault);
    let window = match treatment {
        Treatment::Clock(ClockError::Skew(_)) => Window { at: 0, length: window.at + window.length },
        _ => window,
    };
    let name = kind.name();
    let is_able = |node: &usize| is_free(ground, *node, (name, &faults.fault), window, beside);
    let able: Vec<usize> = wanted.into_iter().filter(is_able).collect();
    let mut disturbed = ground.tolerated(beside, window, &able, (name, most_at_once));
    if disturbed.is_empty() {
        return None;
    }
    disturbed.sort_unstable();
    let entries = entries(ground, window, (name, &treatment), &disturbed, beside.len());
    Some(Fault {
        kind: name.into(),
        rank: kind.place(),
        at_ns: window.at,
        for_ns: window.length,
        nodes: disturbed.iter().map(|node| ground.nodes[*node].clone()).collect(),
        entries,
    })
}

/// Whether a node can have a fault beside those that there are.
fn is_free(ground: &Ground, node: usize, (name, fault): (&str, &NodeFault), window: Window, beside: &[Fault]) -> bool {
    let (from, to) = (window.at, window.at + window.length);
    let own = &ground.nodes[node];
    // What ended a moment ago may not be over yet: a node starts its services, and what was removed is not flushed.
    let meets = |other: &&Fault| {
        let over = other.at_ns + other.for_ns;
        other.nodes.contains(own) && other.at_ns <= to + RECOVERY && over + RECOVERY >= from
    };
    beside.iter().filter(meets).all(|other| go_together(name, &other.kind))
        && ground.node_grounds[node].is_free(fault, [from, to])
}

/// Draws what becomes of the nodes.
fn treatment(choices: &mut Choices, fault: &NodeFault) -> Treatment {
    match fault {
        NodeFault::Pause | NodeFault::Freeze | NodeFault::Kill | NodeFault::Reboot => Treatment::Plain,
        NodeFault::Signal(signals) => Treatment::Signal(signals[choices.place(signals.len())].name()),
        NodeFault::Clock(errors) => Treatment::Clock(clock(choices, errors)),
        NodeFault::Limit(limits) => limit(choices, limits),
        NodeFault::Disk(ways) => Treatment::Disk(ways[choices.place(ways.len())]),
        NodeFault::Crash(rules) => Treatment::Crash(rules[choices.place(rules.len())].name()),
    }
}

fn clock(choices: &mut Choices, errors: &ClockFaults) -> ClockError {
    let times = |most: Duration| {
        steps(MILLISECOND.min(most.as_nanos()), most.as_nanos(), &STEPS.map(|step| step * MILLISECOND))
    };
    type Kind = (fn(i64) -> ClockError, Vec<i64>);
    let mut all: Vec<Kind> = Vec::new();
    let signed = |values: Vec<u64>| values.into_iter().filter_map(|value| i64::try_from(value).ok()).collect();
    all.extend(errors.step.map(|most| (ClockError::Step as fn(i64) -> ClockError, signed(times(most)))));
    all.extend(errors.skew.map(|most| (ClockError::Skew as fn(i64) -> ClockError, signed(times(most)))));
    all.extend(errors.drift.map(|most| {
        let table = DRIFTS.map(|drift| (drift * PPM).unsigned_abs());
        let most = most.as_ppt().unsigned_abs();
        (ClockError::Drift as fn(i64) -> ClockError, signed(steps(table[0].min(most), most, &table)))
    }));
    let (make, values) = &all[choices.place(all.len())];
    let value = values[choices.place(values.len())];
    make(if choices.place(2) == 0 { value } else { -value })
}

fn limit(choices: &mut Choices, limits: &LimitFaults) -> Treatment {
    let things = |[least, most]: [u64; 2]| steps(least, most, &THINGS).iter().map(u64::to_string).collect();
    let mut all: Vec<(&'static str, Vec<String>)> = Vec::new();
    all.extend(limits.fds.map(|range| ("fds", things(range))));
    all.extend(limits.pids.map(|range| ("pids", things(range))));
    all.extend(limits.memory.map(|[least, most]| {
        let sizes = steps(least.get(), most.get(), &SIZES.map(|size| size * 1_000_000));
        ("memory", sizes.into_iter().map(|size| Bytes::new(size).to_string()).collect())
    }));
    let (key, values) = &all[choices.place(all.len())];
    // The most is the simplest: it disturbs least.
    let value = &values[values.len() - 1 - choices.place(values.len())];
    Treatment::Limit(key, value.clone())
}

/// The entries of the timeline that are a fault; `number`: that of the fault in its run.
fn entries(
    ground: &Ground,
    window: Window,
    (kind, treatment): (&str, &Treatment),
    nodes: &[usize],
    number: usize,
) -> Vec<String> {
    let (at, length, to, names) = (window.at(), window.length(), window.to(), ground.names(nodes));
    match treatment {
        Treatment::Plain => vec![format!("{{at: {at}, {kind}: {names}, for: {length}}}")],
        Treatment::Signal(signal) => vec![format!("{{at: {at}, signal: {signal}, to: {names}}}")],
        Treatment::Crash(keep) => crashes(ground, window, keep, nodes),
        Treatment::Limit(key, value) => vec![
            format!("{{at: {at}, limit: {names}, {key}: {value}}}"),
            format!("{{at: {to}, limit: {names}, {key}: unlimited}}"),
        ],
        Treatment::Clock(error) => {
            let (begins, ends) = clock_changes(*error, window);
            vec![
                format!("{{at: {at}, on: {names}, clock: {{{begins}}}}}"),
                format!("{{at: {to}, on: {names}, clock: {{{ends}}}}}"),
            ]
        }
        Treatment::Disk(way) => nodes.iter().flat_map(|node| disk(ground, window, *way, *node, number)).collect(),
    }
}

/// The entries by which nodes crash. Those without a disk keep nothing, whatever was drawn.
fn crashes(ground: &Ground, window: Window, keep: &str, nodes: &[usize]) -> Vec<String> {
    let (with, without): (Vec<usize>, Vec<usize>) =
        nodes.iter().partition(|node| ground.node_grounds[**node].disk.is_some());
    let entry = |own: &[usize], rule: &str| {
        let (at, length, names) = (window.at(), window.length(), ground.names(own));
        (!own.is_empty()).then(|| format!("{{at: {at}, crash: {names}{rule}, for: {length}}}"))
    };
    let rule = format!(", keep: {keep}");
    [entry(&with, &rule), entry(&without, "")].into_iter().flatten().collect()
}

/// Returns the changes of a clock when it becomes wrong, and what sets it right.
fn clock_changes(error: ClockError, window: Window) -> (String, String) {
    let step = |ns: i64| format!("step: {}", SignedDuration::from_nanos(ns));
    match error {
        ClockError::Step(ns) | ClockError::Skew(ns) => (step(ns), step(-ns)),
        ClockError::Drift(ppt) => {
            let gone = i128::from(ppt) * i128::from(window.length) / 1_000_000_000_000;
            let drift = Drift::from_ppt(ppt).unwrap_or(Drift::ZERO);
            let back = step(-i64::try_from(gone).unwrap_or(0));
            (format!("drift: {drift}"), format!("drift: 0, {back}"))
        }
    }
}

/// The entries by which the disk of a node is bad for a while.
fn disk(ground: &Ground, window: Window, way: BadDisk, node: usize, number: usize) -> Vec<String> {
    let Some(folder) = &ground.node_grounds[node].disk else { return Vec::new() };
    match way {
        BadDisk::Full => {
            let run = |instant: Duration, script: &str, what: &str| {
                let (name, script) = (&ground.nodes[node], serde_json::Value::from(script));
                format!("{{at: {instant}, on: {name}, run: {script}, as: hunt-{what}-{number}-{node}, may_fail: true}}")
            };
            // What is left is taken in ever smaller parts, since one file of all of it does not fit exactly.
            let fill = format!(
                "n=0; for size in 1G 64M 4M 256K 16K 4K; do \
                 while [ $n -lt 2000 ] && fallocate -l $size {folder}/.netloom-full-$n 2>/dev/null; do n=$((n+1)); done; \
                 rm -f {folder}/.netloom-full-$n; done"
            );
            vec![
                run(window.at(), &fill, "fills"),
                run(window.to(), &format!("rm -f {folder}/.netloom-full-*; sync -f {folder}"), "frees"),
            ]
        }
    }
}
