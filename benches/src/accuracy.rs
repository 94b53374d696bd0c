//! GINE, table 2: "One-way constant delay emulation (ping -i 0.1 -c 200 -s 8 target)".
//!
//! One direction is given the delay, the other none. Today's ping needs 16 bytes of payload to tell a round-trip time,
//! and tells it to the microsecond only in its summary; so each packet is a ping of its own, and each is a round.
//!
//! Between two pings all is silent, and caches and processors cool down. So each row has its own plain pair, which is pinged
//! at the same pace. A packet that is delayed meets silence a second time, when it is due; that is no matter of the pair, but
//! of the bare loop that holds frames as long and waits in the same way: it bounds what can be had.

use crate::bare::hold::Hold;
use crate::lab::Lab;
use crate::picture::{BLUE, ORANGE, Panel, Series, Stroke};
use crate::plain::{self, HOLDING};
use crate::row::{Goal, Row, ends, median, number};
use crate::settings::Settings;
use crate::wait::Wait;
use plotters::prelude::SeriesLabelPosition;
use std::time::Duration;

const DELAYS_US: [u32; 11] = [0, 5, 100, 500, 1_000, 5_000, 10_000, 50_000, 100_000, 500_000, 1_000_000];
const QUICK_US: [u32; 2] = [0, 10_000];
const PRECISIONS: [(&str, Wait); 2] = [("balanced", Wait::SleepThenSpin), ("exact", Wait::Spin)];
/// Of what a round trip by the bare loop takes beyond the delay.
const OF_HOLDING: f64 = 1.4;
/// Between two pings.
const REST_US: u32 = 50_000;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let delays = if settings.quick { &QUICK_US[..] } else { &DELAYS_US };
    // The lab that is up meanwhile keeps the kernel's timestamps switched on for plain pairs, too.
    let present = up(settings, PRECISIONS[0].0)?;
    let plain = delays.iter().map(|delay| direct_us(settings, *delay)).collect::<Result<Vec<_>, _>>()?;
    drop(present);
    let (mut rows, mut series) = (Vec::new(), Vec::new());
    for ((precision, wait), colour) in PRECISIONS.into_iter().zip([ORANGE, BLUE]) {
        let held = delays.iter().map(|delay| holding_us(settings, *delay, wait)).collect::<Result<Vec<_>, _>>()?;
        // An engine that spins would take a processor from the others.
        let lab = up(settings, precision)?;
        let mut points = Vec::new();
        for ((&delay, bare), direct) in delays.iter().zip(held).zip(&plain) {
            let beyond = ours_us(settings, &lab, delay)?;
            let (typical, (least, greatest)) = (median(&beyond)?, ends(&beyond));
            // The axis of ratios has no room for no delay at all.
            points.push((f64::from(delay.max(1)) / 1e3, typical - direct, (greatest - least) / 2.0));
            let row =
                Row::number(format!("{precision}, {} ms, beyond the delay", f64::from(delay) / 1e3), "us", beyond)?;
            let beside = format!("{:+.0} us over plain veth at this pace, {}", typical - direct, number(*direct));
            rows.push(row.against(HOLDING, bare).goal(Goal::AtMost(OF_HOLDING)).remark(beside));
        }
        series.push(Series { name: precision.to_owned(), colour, stroke: Stroke::Bars, points });
    }
    settings.draw("delay", &[panel(series)])?;
    Ok(rows)
}

fn up(settings: &Settings, precision: &str) -> Result<Lab, String> {
    let yaml = format!("precision: {precision}\nnodes: [a, b]\nlinks:\n  line: {{ends: [a, b]}}\n");
    let lab = Lab::up(settings, precision, &yaml)?;
    lab.shell("a", "ping -q -c 5 -i 0.1 b")?;
    Ok(lab)
}

/// A round trip on the direct path, which rests between two pings for as long as the emulated one.
fn direct_us(settings: &Settings, delay: u32) -> Result<f64, String> {
    let script = pings(count(settings, delay), plain::SERVER, REST_US + delay);
    median(&round_trips(&plain::shell(settings, &script)?))
}

/// Round trips by the bare loop, beyond the delay.
fn holding_us(settings: &Settings, delay: u32, wait: Wait) -> Result<Vec<f64>, String> {
    let hold = Hold::there(Duration::from_micros(delay.into()), wait);
    let script = pings(count(settings, delay), plain::LAST, REST_US);
    Ok(beyond(&plain::held(settings, hold, &script)?, delay))
}

fn ours_us(settings: &Settings, lab: &Lab, delay: u32) -> Result<Vec<f64>, String> {
    lab.set("line.forward", &format!("delay={delay} us"))?;
    Ok(beyond(&lab.shell("a", &pings(count(settings, delay), "b", REST_US))?, delay))
}

fn beyond(text: &str, delay: u32) -> Vec<f64> {
    round_trips(text).iter().map(|time| time - f64::from(delay)).collect()
}

fn count(settings: &Settings, delay: u32) -> u32 {
    let most = if delay < 500_000 { 9 } else { 3 };
    if settings.quick { 3 } else { most }
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
