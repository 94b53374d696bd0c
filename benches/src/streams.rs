//! TCP through links, beside a plain veth pair and the bare loop measured in turns with them.

use crate::bare::hold::Hold;
use crate::lab::Lab;
use crate::plain::{self, BARE, HOLDING, VETH};
use crate::row::{Goal, Row, median, number};
use crate::settings::Settings;
use crate::transfer::{self, TCP_SHARE};
use std::time::Duration;

/// Room for the bandwidth-delay product of 10 Gbit/s and 20 ms, several times.
pub(crate) const ROOMY: &str =
    "{sysctl: {net.ipv4.tcp_rmem: 4096 131072 134217728, net.ipv4.tcp_wmem: 4096 65536 134217728}}";

/// A link with a rate.
struct Shape {
    what: &'static str,
    link: &'static str,
    gbit: f64,
}

const SHAPES: [Shape; 2] = [
    Shape { what: "one stream, 1 Gbit/s, 10 ms", link: "rate: 1 Gbit/s, delay: 10 ms, queue: 4000 packets", gbit: 1.0 },
    Shape {
        what: "one stream, 10 Gbit/s, 1 ms",
        link: "rate: 10 Gbit/s, delay: 1 ms, queue: 10000 packets",
        gbit: 10.0,
    },
];
/// Of what the rate leaves for payload; what carries nothing new may be measured as well.
const OF_RATE: f64 = 0.995;
const MOST: f64 = 1.003;
/// From here on the machine may bound a transfer before the rate does, and the bare loop is asked, too.
const FAST_GBIT: f64 = 2.0;
const OF_BOTH: f64 = 0.8;
/// What is due within this span leaves a link together (`coalesce`), so that super-packets are cut into pieces as long.
const COALESCE_S: f64 = 20e-6;
const SEGMENT_BITS: f64 = 1_514.0 * 8.0;

/// Of the bare loop, which copies each packet twice, too: with two processors it also shares them with sender and receiver,
/// as the engine does. What a pair in the kernel carries, which copies nothing, stands beside.
pub(crate) const OF_BARE: f64 = 0.85;
/// Of the bare loop that holds frames: both need memory for all that is on its way.
const OF_HOLDING: f64 = 0.85;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 1 } else { 3 };
    let mut rows = unlimited(settings, seconds)?;
    rows.push(delayed(settings, if settings.quick { 1 } else { 5 })?);
    for shape in &SHAPES {
        rows.push(shaped(settings, shape, seconds)?);
    }
    Ok(rows)
}

fn unlimited(settings: &Settings, seconds: u32) -> Result<Vec<Row>, String> {
    let lab = Lab::up(settings, "unlimited", "nodes: [a, b]\nlinks:\n  line: {ends: [a, b]}\n")?;
    lab.shell("b", transfer::START_SERVER)?;
    // One stream is kept in place, see `pinned_tcp`; eight find places of their own.
    let one = |target: &str| transfer::pinned_tcp(target, seconds);
    let eight = |target: &str| transfer::several(target, seconds, 8);
    let (mut direct, mut bare, mut ours) = (Vec::new(), Vec::new(), Vec::new());
    let (mut direct8, mut bare8, mut ours8) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        direct.push(gbit(&plain::shell(settings, &one(plain::SERVER))?)?);
        bare.push(gbit(&plain::joined(settings, 0, &one(plain::LAST))?)?);
        ours.push(gbit(&lab.shell("a", &one("b"))?)?);
        bare8.push(gbit(&plain::joined(settings, 0, &eight(plain::LAST))?)?);
        direct8.push(gbit(&plain::shell(settings, &eight(plain::SERVER))?)?);
        ours8.push(gbit(&lab.shell("a", &eight("b"))?)?);
    }
    let row = |what: &str, of_ours: Vec<f64>, of_bare: Vec<f64>, of_veth: &[f64]| {
        let row = Row::number(format!("{what}, no limit"), "Gbit/s", of_ours)?.against(BARE, of_bare);
        Ok::<Row, String>(row.goal(Goal::AtLeast(OF_BARE)).remark(beside(of_veth)?))
    };
    Ok(vec![row("one stream", ours, bare, &direct)?, row("eight streams", ours8, bare8, &direct8)?])
}

/// What plain veth pairs carried.
pub(crate) fn beside(direct: &[f64]) -> Result<String, String> {
    Ok(format!("{VETH} {} Gbit/s", number(median(direct)?)))
}

/// Ten milliseconds each way, beside the bare loop that holds frames as long.
fn delayed(settings: &Settings, seconds: u32) -> Result<Row, String> {
    let yaml = format!("nodes:\n  a: {ROOMY}\n  b: {ROOMY}\nlinks:\n  line: {{ends: [a, b], delay: 10 ms}}\n");
    let lab = Lab::up(settings, "delayed", &yaml)?;
    lab.shell("b", transfer::START_SERVER)?;
    let hold = Hold::both_ways(Duration::from_millis(10));
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        let script = format!("{}; {}", plain::ROOMY, transfer::pinned_tcp(plain::LAST, seconds));
        bare.push(gbit(&plain::held(settings, hold, &script)?)?);
        ours.push(gbit(&lab.shell("a", &transfer::pinned_tcp("b", seconds))?)?);
    }
    let row = Row::number("one stream, 10 ms each way", "Gbit/s", ours)?;
    Ok(row.against(HOLDING, bare).goal(Goal::AtLeast(OF_HOLDING)))
}

/// What iperf3 tells of a transfer, in Gbit/s.
pub(crate) fn gbit(json: &str) -> Result<f64, String> {
    Ok(transfer::received(json)? / 1e9)
}

fn shaped(settings: &Settings, shape: &Shape, seconds: u32) -> Result<Row, String> {
    let yaml = format!("nodes:\n  a: {ROOMY}\n  b: {ROOMY}\nlinks:\n  line: {{ends: [a, b], {}}}\n", shape.link);
    let lab = Lab::up(settings, "shaped", &yaml)?;
    lab.shell("b", transfer::START_SERVER)?;
    let mut rates = Vec::new();
    for _ in 0..settings.rounds(3) {
        // The first second of slow start is not what is asked for.
        rates.push(gbit(&lab.shell("a", &transfer::pinned_tcp("b", seconds + 2))?)?);
    }
    let (what, most, goal) = most(settings, shape.gbit, OF_RATE)?;
    Ok(Row::number(shape.what, "Gbit/s", rates)?.against(what, vec![most]).goal(goal))
}

/// What bounds a transfer over a link with this rate, how much that is in Gbit/s, and the goal; `share`: of the rate's.
pub(crate) fn most(settings: &Settings, rate_gbit: f64, share: f64) -> Result<(&'static str, f64, Goal), String> {
    let payload = rate_gbit * TCP_SHARE;
    if rate_gbit < FAST_GBIT {
        return Ok(("the rate's share", payload, Goal::Within(share, MOST)));
    }
    let both = bare_in_pieces(settings, rate_gbit)?.min(payload);
    Ok(("what the rate and the bare loop leave", both, Goal::AtLeast(OF_BOTH)))
}

/// What the bare loop carries of super-packets that are as short as a link of this rate makes them, in Gbit/s.
fn bare_in_pieces(settings: &Settings, rate_gbit: f64) -> Result<f64, String> {
    let segments = (rate_gbit * 1e9 * COALESCE_S / SEGMENT_BITS).max(1.0) as u32;
    let seconds = if settings.quick { 1 } else { 3 };
    let transfer = transfer::pinned_tcp(plain::LAST, seconds);
    let script = format!("ip link set dev right gso_max_segs {segments}; {transfer}");
    let carried = (0..settings.rounds(3)).map(|_| gbit(&plain::joined(settings, 0, &script)?));
    median(&carried.collect::<Result<Vec<_>, _>>()?)
}
