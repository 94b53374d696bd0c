//! What follows from the figures: which precision to use, and this machine's capacity. Pure.

use super::checks::Found;
use super::trial::Outcome;
use netloom_judge::examination::{Capacity, Conclusion, Forwarding, Timing};
use netloom_judge::quantity::{grouped, rate, span};
use netloom_lab::{Precision, Shards};

/// The share of what was measured that a lab should ask for: packets come in bursts, and programs want processors, too.
const ROOM: f64 = 0.8;
/// The largest packet of a usual link, in bytes from the IP header on.
const PACKET_BYTES: f64 = 1_500.0;
/// What a node takes at least, in bytes, where it was too little to be seen.
const NODE_BYTES: u64 = 1 << 20;
/// Processes that a machine has and a node needs: its first one, and one program with a few children.
const PROCESSES_PER_NODE: u64 = 4;
/// Open files that a lab has whatever its size.
const FILES_OF_A_LAB: f64 = 200.0;
/// Above this the usual bound of a verdict cannot be met, in nanoseconds.
const USUAL_BOUND_NS: u64 = 1_000_000;
/// As good as a lab needs unless its author says otherwise, in nanoseconds.
const GOOD_NS: u64 = 100_000;

/// Draws it.
pub(super) fn draw(found: &Found<'_>) -> Conclusion {
    let (precision, because) = precision(found.timing, found.processors);
    let (labs, capacities) = match found.trial {
        Outcome::Carried(forwarding, _) => (true, capacities(found, forwarding)),
        Outcome::Refused { .. } => (false, Vec::new()),
    };
    Conclusion { labs, precision: precision.name().to_owned(), because, capacities }
}

/// The precision that serves most labs here, and why.
fn precision(timing: &Timing, processors: usize) -> (Precision, String) {
    let late = |precision: Precision| span(timing.of(precision).p99_ns);
    let (balanced, exact) = (timing.balanced.p99_ns, timing.exact.p99_ns);
    let best = balanced.min(exact);
    if best > USUAL_BOUND_NS {
        let why = format!(
            "1 % of its waits ended more than {} late here, more than the usual bound of 1 ms: this machine is busy, or its \
             host is. Slow time (`--clock 10`) until it is not",
            late(Precision::Balanced)
        );
        return (Precision::Balanced, why);
    }
    let within = |precision: Precision| format!("99 % of its waits ended within {} of the instant", late(precision));
    if processors > 2 && balanced > GOOD_NS && exact < balanced / 3 {
        let why = format!(
            "{}, those of balanced within {}, and {processors} processors can spare one",
            within(Precision::Exact),
            late(Precision::Balanced)
        );
        return (Precision::Exact, why);
    }
    let price = match processors {
        1 => format!("exact: {}, but it would take the only processor from all programs", late(Precision::Exact)),
        _ => format!("exact: {}, for one of {processors} processors", late(Precision::Exact)),
    };
    let why = format!(
        "{}, and an idle lab costs nothing ({price}; eco: {})",
        within(Precision::Balanced),
        late(Precision::Eco)
    );
    (Precision::Balanced, why)
}

fn capacities(found: &Found<'_>, forwarding: &Forwarding) -> Vec<Capacity> {
    let measured = if forwarding.lossless_packets_per_second > 0.0 {
        forwarding.lossless_packets_per_second
    } else {
        // Even the slowest pace lost something; half of what a flood leaves is a guess on the safe side.
        forwarding.flooded_packets_per_second / 2.0
    };
    let packets = rounded(measured * ROOM);
    let alone = packets * PACKET_BYTES * 8.0;
    let mut capacities = vec![
        Capacity {
            what: "packets, all links together".into(),
            value: packets,
            unit: "packets/s".into(),
            arithmetic: format!("{} x {ROOM}; over N links in a row: by N", grouped(measured)),
        },
        Capacity {
            what: "rate, packet by packet".into(),
            value: alone,
            unit: "bit/s".into(),
            arithmetic: format!("{} x {PACKET_BYTES} B x 8 bit; all links together", grouped(packets)),
        },
    ];
    let trains = rounded(forwarding.tcp_bits_per_second * ROOM);
    if trains > alone {
        capacities.push(Capacity {
            what: "rate, in super-packets".into(),
            value: trains,
            unit: "bit/s".into(),
            arithmetic: format!(
                "{} of one TCP stream x {ROOM}; unlimited or very fast links",
                rate(forwarding.tcp_bits_per_second)
            ),
        });
    }
    capacities.extend(in_shards(found.processors, packets));
    capacities.extend(nodes(found, forwarding));
    capacities
}

/// What several threads of the engine carry together. Nothing of it was measured: the trial is a single link, and so has a
/// single thread.
fn in_shards(processors: usize, packets: f64) -> Option<Capacity> {
    let threads = Shards::most_unasked(processors);
    (threads > 1).then(|| Capacity {
        what: "packets, over links that share no router".into(),
        value: rounded(packets * threads as f64),
        unit: "packets/s".into(),
        arithmetic: format!(
            "{} x {threads} shards on {processors} processors; by arithmetic, not measured",
            grouped(packets)
        ),
    })
}

/// How many nodes the machine has room for: the scarcest thing decides.
fn nodes(found: &Found<'_>, forwarding: &Forwarding) -> Option<Capacity> {
    let facts = found.facts;
    let per_node = forwarding.node_memory_bytes.unwrap_or(NODE_BYTES);
    let memory = facts.memory_available_bytes.map(|bytes| {
        let (half, each) = (bytes as f64 / 2.0, per_node as f64);
        (half / each, format!("half of {:.1} GB of free memory / {:.2} MB", bytes as f64 / 1e9, each / 1e6))
    });
    let files = facts.open_files.filter(|_| forwarding.files_per_node > 0.0).map(|limit| {
        let each = forwarding.files_per_node;
        let room = (limit as f64 - FILES_OF_A_LAB).max(0.0);
        (room / each, format!("({} open files - {FILES_OF_A_LAB}) / {each:.1}", grouped(limit as f64)))
    });
    // Every user namespace counts anew, and the kernel gives each the limit of the machine.
    let namespaces =
        facts.network_namespaces.map(|most| (most as f64, format!("{} network namespaces", grouped(most as f64))));
    // Root has no limit of processes but that of their numbers.
    let own = facts.processes.filter(|_| !found.rights.root);
    let processes = own.into_iter().chain(facts.highest_pid).min().map(|most| {
        let each = PROCESSES_PER_NODE as f64;
        (most as f64 / 2.0 / each, format!("half of {} processes / {each}", grouped(most as f64)))
    });
    let bounds = [memory, files, namespaces, processes];
    let (value, arithmetic) = bounds.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Capacity {
        what: "nodes with one interface".into(),
        value: rounded(value),
        unit: "nodes".into(),
        arithmetic: format!("{arithmetic} per node").replace("namespaces per node", "namespaces, the scarcest"),
    })
}

/// Two digits: no figure here is better than that.
fn rounded(value: f64) -> f64 {
    if value < 10.0 {
        return value.floor();
    }
    let scale = 10_f64.powf(value.log10().floor() - 1.0);
    (value / scale).floor() * scale
}

#[cfg(test)]
mod tests;
