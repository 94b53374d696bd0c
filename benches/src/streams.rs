//! TCP through links, beside a plain veth pair and the bare loop measured in turns with them.

use crate::Settings;
use crate::lab::Lab;
use crate::plain::{self, BARE, VETH};
use crate::row::{Goal, Row};
use crate::transfer::{self, TCP_SHARE};

/// Room for the bandwidth-delay product of 10 Gbit/s and 20 ms, several times.
pub(crate) const ROOMY: &str =
    "{sysctl: {net.ipv4.tcp_rmem: 4096 131072 134217728, net.ipv4.tcp_wmem: 4096 65536 134217728}}";

/// One shape of a link, and what is asked of a transfer over it.
struct Shape {
    what: &'static str,
    link: &'static str,
    /// Gbit/s; none: no limit.
    rate: Option<f64>,
    /// In Gbit/s, or of the rate that is left for payload.
    goal: Goal,
}

const SHAPES: [Shape; 3] = [
    Shape { what: "one stream, 10 ms each way", link: "delay: 10 ms", rate: None, goal: Goal::AtLeast(8.0) },
    Shape {
        what: "one stream, 1 Gbit/s, 10 ms",
        link: "rate: 1 Gbit/s, delay: 10 ms, queue: 4000 packets",
        rate: Some(1.0),
        goal: Goal::Within(0.995, 1.003),
    },
    Shape {
        what: "one stream, 10 Gbit/s, 1 ms",
        link: "rate: 10 Gbit/s, delay: 1 ms, queue: 10000 packets",
        rate: Some(10.0),
        goal: Goal::Within(0.95, 1.003),
    },
];

/// Of a plain veth pair: one stream and eight. Of the bare loop: one.
const ONE: f64 = 0.85;
const EIGHT: f64 = 0.4;
pub(crate) const OF_BARE: f64 = 0.9;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 1 } else { 3 };
    let mut rows = unlimited(settings, seconds)?;
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
    let (mut direct8, mut ours8) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        direct.push(gbit(&plain::shell(settings, &one(plain::SERVER))?)?);
        bare.push(gbit(&plain::joined(settings, 0, &one(plain::LAST))?)?);
        ours.push(gbit(&lab.shell("a", &one("b"))?)?);
        direct8.push(gbit(&plain::shell(settings, &eight(plain::SERVER))?)?);
        ours8.push(gbit(&lab.shell("a", &eight("b"))?)?);
    }
    let row = |what: &str, samples: Vec<f64>| Row::number(what, "Gbit/s", samples);
    Ok(vec![
        row("one stream, no limit", ours.clone())?.against(VETH, direct).goal(Goal::AtLeast(ONE)),
        row("one stream, no limit", ours)?.against(BARE, bare).goal(Goal::AtLeast(OF_BARE)),
        row("eight streams, no limit", ours8)?.against(VETH, direct8).goal(Goal::AtLeast(EIGHT)),
    ])
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
    let row = Row::number(shape.what, "Gbit/s", rates)?.goal(shape.goal);
    Ok(match shape.rate {
        Some(rate) => row.against("the rate's share", vec![rate * TCP_SHARE]),
        None => row,
    })
}
