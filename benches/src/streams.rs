//! TCP through links, beside a plain veth pair measured in turns with them.

use crate::Settings;
use crate::lab::Lab;
use crate::plain;
use crate::row::{Row, median, range};
use crate::transfer;

/// A TCP segment of 1,448 bytes with timestamps is 1,500 bytes of IP.
const TCP_SHARE: f64 = 1_448.0 / 1_500.0;

/// Room for the bandwidth-delay product of 10 Gbit/s and 20 ms, several times.
const ROOMY: &str = "{sysctl: {net.ipv4.tcp_rmem: 4096 131072 134217728, net.ipv4.tcp_wmem: 4096 65536 134217728}}";

/// One shape of a link, and what is asked of a transfer over it.
struct Shape {
    what: &'static str,
    link: &'static str,
    /// bits/s; none: no limit.
    rate: Option<f64>,
    goal: Goal,
}

#[derive(Clone, Copy)]
enum Goal {
    /// At least so many bits/s.
    AtLeast(f64),
    /// At least this share of the rate that is left for payload.
    Share(f64),
}

const SHAPES: [Shape; 3] = [
    Shape { what: "one stream, 10 ms each way", link: "delay: 10 ms", rate: None, goal: Goal::AtLeast(8e9) },
    Shape {
        what: "one stream, 1 Gbit/s, 10 ms",
        link: "rate: 1 Gbit/s, delay: 10 ms, queue: 4000 packets",
        rate: Some(1e9),
        goal: Goal::Share(0.995),
    },
    Shape {
        what: "one stream, 10 Gbit/s, 1 ms",
        link: "rate: 10 Gbit/s, delay: 1 ms, queue: 10000 packets",
        rate: Some(10e9),
        goal: Goal::Share(0.95),
    },
];

/// Without any limit: one stream and eight.
const UNLIMITED: [(&str, u32, f64); 2] = [("one stream", 1, 0.85), ("eight streams", 8, 0.4)];

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let (rounds, seconds) = if settings.quick { (1, 3) } else { (5, 4) };
    let mut rows = unlimited(settings, rounds, seconds)?;
    for shape in &SHAPES {
        rows.push(shaped(settings, shape, rounds.min(3), seconds)?);
    }
    Ok(rows)
}

fn unlimited(settings: &Settings, rounds: u32, seconds: u32) -> Result<Vec<Row>, String> {
    let lab = Lab::up(settings, "unlimited", "nodes: [a, b]\nlinks:\n  line: {ends: [a, b]}\n")?;
    lab.shell("b", transfer::START_SERVER)?;
    let mut rows = Vec::new();
    for (what, streams, goal) in UNLIMITED {
        let command = |target: &str| {
            // One stream is kept in place, see `pinned_tcp`; eight find places of their own.
            if streams == 1 {
                transfer::pinned_tcp(target, seconds)
            } else {
                transfer::several(target, seconds, streams)
            }
        };
        let (mut direct, mut emulated) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            direct.push(transfer::received(&plain::shell(settings, &command(plain::SERVER))?)?);
            emulated.push(transfer::received(&lab.shell("a", &command("b"))?)?);
        }
        let spread = range(&emulated, 1e9);
        let (direct, emulated) = (median(direct)?, median(emulated)?);
        rows.push(Row {
            what: format!("{what}, no limit"),
            goal: format!("at least {goal} of plain veth"),
            measured: format!(
                "{:.2}: {:.1} of {:.1} Gbit/s, {spread}",
                emulated / direct,
                emulated / 1e9,
                direct / 1e9
            ),
            met: Some(emulated / direct >= goal),
        });
    }
    Ok(rows)
}

fn shaped(settings: &Settings, shape: &Shape, rounds: u32, seconds: u32) -> Result<Row, String> {
    let yaml = format!("nodes:\n  a: {ROOMY}\n  b: {ROOMY}\nlinks:\n  line: {{ends: [a, b], {}}}\n", shape.link);
    let lab = Lab::up(settings, "shaped", &yaml)?;
    lab.shell("b", transfer::START_SERVER)?;
    let mut rates = Vec::new();
    for _ in 0..rounds {
        // The first second of slow start is not what is asked for.
        rates.push(transfer::received(&lab.shell("a", &transfer::pinned_tcp("b", seconds + 2))?)?);
    }
    let spread = range(&rates, 1e9);
    let rate = median(rates)?;
    let (goal, measured, met) = match (shape.goal, shape.rate) {
        (Goal::Share(least), Some(limit)) => {
            let share = rate / (limit * TCP_SHARE);
            (
                format!("{} to 100 % of the payload share", least * 100.0),
                format!("{:.2} %: {:.3} Gbit/s, {spread}", share * 100.0, rate / 1e9),
                (least..=1.003).contains(&share),
            )
        }
        (Goal::AtLeast(least) | Goal::Share(least), _) => (
            format!("at least {:.0} Gbit/s", least / 1e9),
            format!("{:.1} Gbit/s, {spread}", rate / 1e9),
            rate >= least,
        ),
    };
    Ok(Row { what: shape.what.to_owned(), goal, measured, met: Some(met) })
}
