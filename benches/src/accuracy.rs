//! GINE, table 2: "One-way constant delay emulation (ping -i 0.1 -c 200 -s 8 target)".
//!
//! One direction is given the delay, the other none. Today's ping needs 16 bytes of payload to tell a round-trip time,
//! and tells it to the microsecond only in its summary; so each packet is a ping of its own, and each is a round.
//!
//! A delay that is shorter than the machine's own time to wake a sleeping thread cannot be met by an engine that sleeps
//! (`balanced`): there the goal allows for that time, measured in the same run, divided by 0.9.

use crate::Settings;
use crate::lab::Lab;
use crate::picture::{BLUE, ORANGE, Panel, Series, Stroke};
use crate::plain;
use crate::row::{Goal, Row, ends, median};
use crate::wake;
use plotters::prelude::SeriesLabelPosition;

const DELAYS_US: [u32; 11] = [0, 5, 100, 500, 1_000, 5_000, 10_000, 50_000, 100_000, 500_000, 1_000_000];
const QUICK_US: [u32; 3] = [0, 1_000, 10_000];
/// The goals: median error over the direct path's round-trip time.
const PRECISIONS: [(&str, f64); 2] = [("balanced", 40.0), ("exact", 20.0)];
/// Between two pings.
const REST_US: u32 = 50_000;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let wakes = wake::latencies_us(count(settings))?;
    let wake_us = median(&wakes)?;
    let mut rows = vec![Row::number("waking a sleeping thread", "us", wakes)?.remark("bounds `balanced`")];
    let mut series = Vec::new();
    for ((precision, least_goal_us), colour) in PRECISIONS.into_iter().zip([ORANGE, BLUE]) {
        let yaml = format!("precision: {precision}\nnodes: [a, b]\nlinks:\n  line: {{ends: [a, b]}}\n");
        let lab = Lab::up(settings, precision, &yaml)?;
        lab.shell("a", "ping -q -c 5 -i 0.1 b")?;
        let mut points = Vec::new();
        for &delay in if settings.quick { &QUICK_US[..] } else { &DELAYS_US } {
            let (errors, direct) = errors_us(settings, &lab, delay)?;
            let sleeps_longer = precision == "balanced" && f64::from(delay) < wake_us;
            let goal_us = if sleeps_longer { least_goal_us.max(wake_us / 0.9) } else { least_goal_us };
            let (least, greatest) = ends(&errors);
            // The axis of ratios has no room for no delay at all.
            points.push((f64::from(delay.max(1)) / 1e3, median(&errors)?, (greatest - least) / 2.0));
            let row = Row::number(format!("{precision}, {} ms, error", f64::from(delay) / 1e3), "us", errors)?;
            rows.push(row.goal(Goal::Within(-goal_us, goal_us)).remark(format!("over {direct:.0} us of plain veth")));
        }
        series.push(Series { name: precision.to_owned(), colour, stroke: Stroke::Bars, points });
    }
    settings.draw("delay", &[panel(series)])?;
    Ok(rows)
}

/// How far round trips are off, and how long they take on the direct path at the median.
fn errors_us(settings: &Settings, lab: &Lab, delay: u32) -> Result<(Vec<f64>, f64), String> {
    let count = if delay < 500_000 { count(settings) } else { count(settings).min(5) };
    // The direct path rests between two pings for as long as the emulated one, and its caches cool down as much.
    let direct = plain::shell(settings, &pings(count, plain::SERVER, REST_US + delay))?;
    let direct = median(&round_trips(&direct))?;
    lab.set("line.forward", &format!("delay={delay} us"))?;
    let times = round_trips(&lab.shell("a", &pings(count, "b", REST_US))?);
    Ok((times.iter().map(|time| time - f64::from(delay) - direct).collect(), direct))
}

fn count(settings: &Settings) -> u32 {
    if settings.quick { 3 } else { 9 }
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

fn panel(series: Vec<Series>) -> Panel {
    Panel {
        title: "Round-trip time beyond plain veth and the delay".to_owned(),
        x: "one-way delay (ms; the leftmost is none)",
        y: "error (us; bars: half of the spread)",
        ticks: vec![0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0],
        by_ratio: true,
        top: Some(200.0),
        bottom: -50.0,
        series,
        names: SeriesLabelPosition::UpperRight,
    }
}
