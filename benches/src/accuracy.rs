//! GINE, table 2: "One-way constant delay emulation (ping -i 0.1 -c 200 -s 8 target)".
//!
//! One direction is given the delay, the other none. Today's ping needs 16 bytes of payload to tell a round-trip time,
//! and tells it to the microsecond only in its summary; so each packet is a ping of its own, 0.1 s apart.
//!
//! A delay that is shorter than the machine's own time to wake a sleeping thread cannot be met by an engine that sleeps
//! (`balanced`): there the goal allows for that time, measured in the same run, divided by 0.9.

use crate::Settings;
use crate::lab::Lab;
use crate::plain;
use crate::row::{Row, median};
use crate::wake;

const DELAYS_US: [u32; 11] = [0, 5, 100, 500, 1_000, 5_000, 10_000, 50_000, 100_000, 500_000, 1_000_000];
/// The goals: median error over the direct path's round-trip time.
const PRECISIONS: [(&str, f64); 2] = [("balanced", 40.0), ("exact", 20.0)];

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let wake_us = wake::latency_us(count(settings))?;
    let mut rows = vec![Row {
        what: "waking a sleeping thread".to_owned(),
        goal: "none: it bounds what follows".to_owned(),
        measured: format!("{wake_us:.0} us"),
        met: None,
    }];
    for (precision, least_goal_us) in PRECISIONS {
        let yaml = format!("precision: {precision}\nnodes: [a, b]\nlinks:\n  line: {{ends: [a, b]}}\n");
        let lab = Lab::up(settings, precision, &yaml)?;
        lab.shell("a", "ping -q -c 5 -i 0.1 b")?;
        for delay in DELAYS_US {
            // The direct path rests between two pings for as long as the emulated one, and its caches cool down as much.
            let rest_us = 100_000 + delay;
            let direct = pings(count_at(settings, delay), plain::SERVER, rest_us);
            let direct = median(round_trips(&plain::shell(settings, &direct)?))?;
            lab.set("line.forward", &format!("delay={delay} us"))?;
            let times = round_trips(&lab.shell("a", &pings(count_at(settings, delay), "b", 100_000))?);
            let error = median(times)? - f64::from(delay) - direct;
            let sleeps_longer = precision == "balanced" && f64::from(delay) < wake_us;
            let goal_us = if sleeps_longer { least_goal_us.max(wake_us / 0.9) } else { least_goal_us };
            rows.push(Row {
                what: format!("{precision}, {} ms", f64::from(delay) / 1e3),
                goal: format!("error < {goal_us:.0} us"),
                measured: format!("{error:+.0} us over the direct path's {direct:.0} us"),
                met: Some(error.abs() < goal_us),
            });
        }
    }
    Ok(rows)
}

fn count(settings: &Settings) -> u32 {
    if settings.quick { 5 } else { 25 }
}

/// Fewer pings where each takes long.
fn count_at(settings: &Settings, delay_us: u32) -> u32 {
    if delay_us < 500_000 { count(settings) } else { count(settings).min(11) }
}

fn pings(count: u32, target: &str, rest_us: u32) -> String {
    let rest = f64::from(rest_us) / 1e6;
    format!("i=0; while [ $i -lt {count} ]; do ping -4 -q -c 1 -s 16 {target}; i=$((i+1)); sleep {rest}; done")
}

/// The round-trip times in ping's summaries, in microseconds.
fn round_trips(text: &str) -> Vec<f64> {
    let summaries = text.lines().filter_map(|line| line.strip_prefix("rtt min/avg/max/mdev = "));
    let first = |summary: &str| summary.split('/').next().and_then(|ms| ms.parse::<f64>().ok());
    summaries.filter_map(first).map(|ms| ms * 1e3).collect()
}
