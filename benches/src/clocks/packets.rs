//! Figures 2, 3 and 4 and table 3: when the packets of one TCP connection leave.

use super::play::{self, Clock, Played};
use super::statistics::{Spread, gaps, off};
use crate::lab::output;
use crate::picture::{self, Panel, Series, Stroke, thinned};
use crate::row::{Goal, Row};
use crate::settings::Settings;
use plotters::prelude::{BLACK, RGBColor, SeriesLabelPosition};
use serde_json::Value;
use std::process::Command;

const SECOND_NS: f64 = 1e9;
/// When the lab file's second connection, the one with losses, begins.
const LOSSES_FROM_NS: u64 = 2_000_000_000;
/// The goals: how far mean, variation and curve may be off those in virtual time.
const MEAN_PERCENT: f64 = 2.0;
const VARIATION_PERCENT: f64 = 10.0;
const CURVE_MS: f64 = 1.0;
/// The dilation whose curve has a goal.
const EXACT_FROM: u32 = 100;
const MOST_POINTS: usize = 400;

/// How many courses virtual time is asked for: the connections begin within this many parts of a millisecond, in which TCP
/// counts its timers. With losses, the course depends on that.
const COURSES: u64 = 16;
const JIFFY_NS: u64 = 1_000_000;
/// The text of the lab file that is varied for that: when the connections begin.
const BEGINS: [&str; 2] = ["at: 100 ms, on: sender", "at: 2 s, on: sender"];
const BEGINS_NS: [u64; 2] = [100_000_000, LOSSES_FROM_NS];

/// Which connection: without loss, or with every 100th packet lost.
const CONNECTIONS: [&str; 2] = ["no loss", "1 % loss"];
/// Where packets were seen.
const PLACES: [(&str, &str); 2] = [("sent", "sender:eth0"), ("received", "receiver:eth0")];

/// Packet times in milliseconds after the SYN, during the first second: of each connection, at each place.
type Times = [[Vec<f64>; 2]; 2];

/// All runs under one clock.
struct Runs {
    clock: Clock,
    times: Vec<Times>,
}

pub(super) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let clocks: &[(Clock, u64)] = if settings.quick {
        &[(Clock::Virtual, 2), (Clock::Dilated(10), 1)]
    } else {
        &[
            (Clock::Virtual, COURSES),
            (Clock::Dilated(100), 1),
            (Clock::Dilated(10), 3),
            (Clock::Dilated(1), 10),
            (Clock::Real, 10),
        ]
    };
    let (mut runs, mut rows) = (Vec::new(), Vec::new());
    for (clock, count) in clocks {
        let (mut times, mut wall, mut remark, mut again) = (Vec::new(), 0.0, "", 0);
        for seed in 1..=*count {
            let shift = if *clock == Clock::Virtual { (seed - 1) * JIFFY_NS / count } else { 0 };
            let file = play::example(settings, "packets", &shifted(shift))?;
            let mut played = play::play(settings, &file, *clock, seed)?;
            if matches!(clock, Clock::Dilated(2..)) && !played.as_described() {
                // Something else ran on this machine. A user would repeat the run, too.
                again += 1;
                played = play::play(settings, &file, *clock, seed)?;
            }
            times.push(packet_times(settings, &played)?);
            wall += played.wall_seconds();
            if !played.as_described() {
                remark = played.remark();
            }
        }
        rows.push(Row::told(
            format!("{}, runs", clock.name()),
            "none",
            format!("{count}, {:.1} s of wall time each, {again} repeated{remark}", wall / *count as f64),
            None,
        ));
        runs.push(Runs { clock: *clock, times });
    }
    for connection in 0..CONNECTIONS.len() {
        for place in 0..PLACES.len() {
            rows.extend(compare(&runs, connection, place)?);
        }
    }
    figures(settings, &runs)?;
    Ok(rows)
}

/// The lab file's changes for connections that begin so many nanoseconds later.
fn shifted(ns: u64) -> [(&'static str, String); 2] {
    let begin = |place: usize| (BEGINS[place], format!("at: {} ns, on: sender", BEGINS_NS[place] + ns));
    [begin(0), begin(1)]
}

/// The packet times of both connections at both places.
fn packet_times(settings: &Settings, played: &Played) -> Result<Times, String> {
    let file = played.folder.join("captures/path.pcapng");
    let json = output(Command::new(&settings.netloom).arg("packets").arg(&file).arg("--json"))?;
    let flows: Vec<Value> = serde_json::from_str(&json).map_err(|error| format!("netloom packets: {error}"))?;
    let mut times = Times::default();
    for (connection, of_connection) in times.iter_mut().enumerate() {
        for (seen, (_, at)) in of_connection.iter_mut().zip(PLACES) {
            let is_wanted = |flow: &&Value| {
                flow["at"] == at
                    && flow["syn_ns"].as_u64().is_some_and(|syn| usize::from(syn >= LOSSES_FROM_NS) == connection)
            };
            // iperf3's control connection is there, too: the data are in the one with the most packets.
            let most = flows.iter().filter(is_wanted).max_by_key(|flow| flow["data_packets"].as_u64());
            let flow = most.ok_or_else(|| format!("{}: no connection at {at}", file.display()))?;
            let all = flow["times_ns"].as_array().into_iter().flatten().filter_map(Value::as_f64);
            *seen = all.filter(|ns| *ns <= SECOND_NS).map(|ns| ns / 1e6).collect();
        }
    }
    Ok(times)
}

/// What each clock's runs show beside the nearest of the courses in virtual time.
fn compare(runs: &[Runs], connection: usize, place: usize) -> Result<Vec<Row>, String> {
    let of = |clock: &Runs| -> Vec<Vec<f64>> { clock.times.iter().map(|run| run[connection][place].clone()).collect() };
    let exact = of(runs.iter().find(|runs| runs.clock == Clock::Virtual).ok_or("nothing ran in virtual time")?);
    let mut rows = Vec::new();
    for clock in runs {
        let each: Vec<Beside> = of(clock).iter().map(|times| Beside::nearest(times, &exact)).collect();
        let average = |figure: fn(&Beside) -> f64| each.iter().map(figure).sum::<f64>() / each.len() as f64;
        let what = format!("{}, {}, {}", CONNECTIONS[connection], PLACES[place].0, clock.clock.name());
        let figures = format!("mean {:.4} ms, CoV {:.3}", average(|run| run.mean), average(|run| run.variation));
        let (mean_off, variation_off) = (average(|run| run.mean_off), average(|run| run.variation_off));
        let offs = format!("{figures}: {mean_off:+.2} %, {variation_off:+.1} %");
        let distance = average(|run| run.apart);
        let Clock::Dilated(dilation) = clock.clock else {
            let measured = if clock.clock == Clock::Virtual {
                let least = each.iter().map(|run| run.variation).fold(f64::INFINITY, f64::min);
                let greatest = each.iter().map(|run| run.variation).fold(0.0, f64::max);
                format!("{figures}; {least:.3} to {greatest:.3} in {} courses", each.len())
            } else {
                format!("{offs}, curve off by {distance:.2} ms")
            };
            rows.push(Row::told(what, "none", measured, None));
            continue;
        };
        rows.push(Row::told(
            what.clone(),
            format!("mean within {MEAN_PERCENT} %, CoV within {VARIATION_PERCENT} % of virtual"),
            offs,
            Some(mean_off.abs() <= MEAN_PERCENT && variation_off.abs() <= VARIATION_PERCENT),
        ));
        let has_goal = dilation >= EXACT_FROM;
        let curve = Row::number(format!("{what}, curve"), "ms from virtual", vec![distance])?;
        rows.push(if has_goal { curve.goal(Goal::AtMost(CURVE_MS)) } else { curve });
    }
    Ok(rows)
}

/// One run beside the nearest course in virtual time. Gaps in milliseconds, differences in percent.
struct Beside {
    mean: f64,
    variation: f64,
    mean_off: f64,
    variation_off: f64,
    /// How far the curves are apart on average, in milliseconds.
    apart: f64,
}

impl Beside {
    fn nearest(times: &[f64], courses: &[Vec<f64>]) -> Self {
        let distances = courses.iter().map(|course| (apart(times, course), course));
        let nearest = distances.min_by(|(one, _), (other, _)| one.total_cmp(other));
        let (apart, course) = nearest.map_or((f64::NAN, times), |(apart, course)| (apart, course.as_slice()));
        let (spread, reference) = (Spread::of(&gaps(times)), Spread::of(&gaps(course)));
        Self {
            mean: spread.mean,
            variation: spread.variation(),
            mean_off: off(spread.mean, reference.mean),
            variation_off: off(spread.variation(), reference.variation()),
            apart,
        }
    }
}

/// How far the times of packets of one number are apart, on average.
fn apart(one: &[f64], other: &[f64]) -> f64 {
    let both: Vec<f64> = one.iter().zip(other).map(|(one, other)| (one - other).abs()).collect();
    Spread::of(&both).mean
}

fn figures(settings: &Settings, runs: &[Runs]) -> Result<(), String> {
    let curves: Vec<Panel> = (0..2).map(|connection| curve_panel(runs, connection)).collect();
    settings.draw("packet-times", &curves)?;
    let gaps: Vec<Panel> = (0..2).map(|connection| gap_panel(runs, connection)).collect();
    settings.draw("packet-gaps", &gaps)
}

fn curve_panel(runs: &[Runs], connection: usize) -> Panel {
    let series = drawn_last_exact(runs).map(|runs| {
        let times = &runs.times[0][connection][0];
        let points = times.iter().enumerate().map(|(count, ms)| (ms / 1e3, (count + 1) as f64, 0.0)).collect();
        line(runs.clock, thinned(points, MOST_POINTS))
    });
    Panel {
        title: format!("Data packets sent, {}", CONNECTIONS[connection]),
        x: "time since the SYN (s)",
        y: "packets",
        ticks: vec![0.0, 0.2, 0.4, 0.6, 0.8, 1.0],
        by_ratio: false,
        top: None,
        bottom: 0.0,
        series: series.collect(),
        names: SeriesLabelPosition::UpperLeft,
    }
}

/// The share of gaps up to a length, over all runs of a clock.
fn gap_panel(runs: &[Runs], connection: usize) -> Panel {
    let right = if connection == 0 { 0.2 } else { 2.0 };
    let series = drawn_last_exact(runs).map(|runs| {
        let mut all: Vec<f64> = runs.times.iter().flat_map(|times| gaps(&times[connection][1])).collect();
        all.sort_by(f64::total_cmp);
        let count = all.len() as f64;
        let steps = all.iter().enumerate().map(|(n, gap)| (*gap, (n + 1) as f64 / count * 100.0, 0.0));
        let mut points = thinned(steps.take_while(|(gap, ..)| *gap <= right).collect(), MOST_POINTS);
        // The curve goes on to the right end of the axis.
        points.extend(points.last().map(|(_, share, _)| (right, *share, 0.0)));
        points.insert(0, (points.first().map_or(0.0, |first| first.0), 0.0, 0.0));
        line(runs.clock, points)
    });
    Panel {
        title: format!("Gaps between data packets received, {}", CONNECTIONS[connection]),
        x: "gap (ms)",
        y: "share of gaps up to this long (%)",
        ticks: (0..=5).map(|n| f64::from(n) * right / 5.0).collect(),
        by_ratio: false,
        top: Some(104.0),
        bottom: 0.0,
        series: series.collect(),
        names: SeriesLabelPosition::LowerRight,
    }
}

/// The runs, those nearest to the exact course last, so that nothing hides them.
fn drawn_last_exact(runs: &[Runs]) -> impl Iterator<Item = &Runs> {
    runs.iter().rev()
}

fn line(clock: Clock, points: Vec<(f64, f64, f64)>) -> Series {
    // Wide lines first, thin ones on top: where all agree, all can be seen.
    let (colour, width): (RGBColor, u32) = match clock {
        Clock::Real => (picture::GREY, 2),
        Clock::Dilated(1) => (picture::YELLOW, 9),
        Clock::Dilated(10) => (picture::GREEN, 7),
        Clock::Dilated(_) => (picture::ORANGE, 4),
        Clock::Virtual => (BLACK, 1),
    };
    Series { name: clock.name(), colour, stroke: Stroke::Line(width), points }
}
