//! Packets per second, and how exact the delay of each is: with a sender and a receiver of our own ([`crate::probe`]).

use crate::Settings;
use crate::lab::Lab;
use crate::picture::{BLUE, GREEN, ORANGE, Panel, Series, Stroke};
use crate::probe::{Arrivals, Load, RECEIVE};
use crate::row::{Goal, Row, median};
use crate::wait::{Wait, lateness_us};
use plotters::prelude::SeriesLabelPosition;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

/// 22 bytes of payload make a frame of 64 bytes with its checksum.
pub(crate) const SMALL: usize = 22;
pub(crate) const DELAY_US: f64 = 10_000.0;
/// Packets per second that are offered, from few to many.
const RATES: [f64; 6] = [200e3, 300e3, 350e3, 400e3, 450e3, 500e3];
const RATE_GOAL: f64 = 400e3;
/// At least so many offered packets must arrive.
const ARRIVE: f64 = 0.999;

/// How exact a delay is to be: medians over the runs of a median and of quantiles, in microseconds.
struct Exactness {
    precision: &'static str,
    rate: f64,
    burst: usize,
    goals: &'static [(f64, &'static str, f64)],
    /// How a thread waits that does nothing else, and bounds what can be had.
    bare: Wait,
}

/// Of the hundredths at the end, what a bare thread reaches is to be reached by so much.
const OF_BARE: f64 = 0.9;
const BARE: &str = "a bare thread that waits, and of handing over";

const EXACTNESS: [Exactness; 3] = [
    Exactness {
        precision: "balanced",
        rate: 1e3,
        burst: 1,
        goals: &[(0.5, "median", 6.0), (0.99, "99 %", 60.0)],
        bare: Wait::SleepThenSpin,
    },
    Exactness {
        precision: "exact",
        rate: 1e3,
        burst: 1,
        goals: &[(0.5, "median", 5.0), (0.99, "99 %", 20.0), (0.999, "99.9 %", 50.0)],
        bare: Wait::Spin,
    },
    Exactness {
        precision: "exact",
        rate: 100e3,
        burst: 10,
        goals: &[(0.5, "median", 25.0), (0.99, "99 %", 80.0)],
        bare: Wait::Spin,
    },
];

/// The highest rate without loss.
pub(crate) fn packets(settings: &Settings) -> Result<Vec<Row>, String> {
    let lab = Lab::up(settings, "packets", "nodes: [a, b]\nlinks:\n  line: {ends: [a, b]}\n")?;
    let (rates, seconds) = if settings.quick { (&RATES[..1], 0.5) } else { (&RATES[..], 1.5) };
    let mut best = Vec::new();
    let mut points = Vec::new();
    for _ in 0..settings.rounds(3) {
        let mut highest = 0.0;
        for &rate in rates {
            let load = Load { rate, burst: 25, seconds, payload: SMALL, ports: 1 };
            let share = arrivals(&lab, load)?.count as f64 / load.packets();
            points.push((rate / 1e3, (1.0 - share).max(0.0) * 100.0));
            if share < ARRIVE {
                break;
            }
            highest = rate;
        }
        best.push(highest / 1e3);
    }
    settings.draw("packets-per-second", &[losses(&points)])?;
    let row = Row::number("64-byte packets, lost less than 0.1 %", "kpps", best)?;
    Ok(vec![row.goal(Goal::AtLeast(RATE_GOAL / 1e3))])
}

/// Of each measurement its rate and what was lost.
fn losses(points: &[(f64, f64)]) -> Panel {
    let most = points.iter().map(|(_, lost)| *lost).fold(0.0, f64::max) * 1.1;
    let points = points.iter().map(|(rate, lost)| (*rate, *lost, 0.0)).collect();
    Panel {
        title: "64-byte packets through one link".to_owned(),
        x: "offered (kpps)",
        y: "lost (%)",
        ticks: [0.0, 100.0].into_iter().chain(RATES[..].iter().map(|rate| rate / 1e3)).collect(),
        by_ratio: false,
        top: Some(most.max(0.2)),
        bottom: 0.0,
        series: vec![Series { name: "each round".to_owned(), colour: BLUE, stroke: Stroke::Points, points }],
        names: SeriesLabelPosition::UpperLeft,
    }
}

/// How far delays are off.
pub(crate) fn delays(settings: &Settings) -> Result<Vec<Row>, String> {
    let (rounds, seconds) = (settings.rounds(3), if settings.quick { 0.5 } else { 3.0 });
    let (mut rows, mut series) = (Vec::new(), Vec::new());
    for (Exactness { precision, rate, burst, goals, bare }, colour) in EXACTNESS.iter().zip([ORANGE, BLUE, GREEN]) {
        let yaml = format!("precision: {precision}\nnodes: [a, b]\nlinks:\n  line: {{ends: [a, b], delay: 10 ms}}\n");
        let lab = Lab::up(settings, precision, &yaml)?;
        let (mut runs, mut waits) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            runs.push(arrivals(&lab, Load { rate: *rate, burst: *burst, seconds, payload: SMALL, ports: 1 })?);
            waits.push(lateness_us(*bare, BARE_PAUSE, Duration::from_secs_f64(seconds))?);
        }
        let name = format!("{precision}, {:.0} kpps", rate / 1e3);
        let handing_over = median(&runs.iter().map(|run| run.quantile_us(0.5) - DELAY_US).collect::<Vec<_>>())?;
        for (share, quantile, goal) in *goals {
            let errors = runs.iter().map(|run| run.quantile_us(*share) - DELAY_US).collect();
            let row = Row::number(format!("{name}, {quantile}, over 10 ms"), "us", errors)?;
            let bound: Vec<f64> = waits.iter().map(|late| quantile_of(late, *share) + handing_over).collect();
            rows.push(if *share > 0.5 && median(&bound)? > goal * OF_BARE {
                // Nobody can do better here, and the goal is what a quieter machine is asked for.
                let beyond = format!("{goal:.0} us are beyond this machine now");
                row.against(BARE, bound).goal(Goal::AtMost(1.0 / OF_BARE)).remark(beyond)
            } else {
                row.goal(Goal::AtMost(*goal))
            });
        }
        let at = |share: f64| median(&runs.iter().map(|run| run.quantile_us(share) - DELAY_US).collect::<Vec<_>>());
        let points =
            SHARES.iter().map(|share| Ok((*share * 100.0, at(*share)?, 0.0))).collect::<Result<_, String>>()?;
        series.push(Series { name, colour, stroke: Stroke::Bars, points });
    }
    settings.draw("exactness", &[quantiles(series)])?;
    Ok(rows)
}

/// Between the instants that a bare thread waits for: in no simple ratio to the ticks of machine and host, at which
/// something else may run each time, or never.
const BARE_PAUSE: Duration = Duration::from_micros(1_037);

fn quantile_of(sorted: &[f64], share: f64) -> f64 {
    let place = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(place).copied().unwrap_or(0.0)
}

const SHARES: [f64; 11] = [0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99];

fn quantiles(series: Vec<Series>) -> Panel {
    Panel {
        title: "How far delays of 10 ms are off".to_owned(),
        x: "share of the packets that were at most so late (%)",
        y: "error (us)",
        ticks: vec![0.0, 20.0, 40.0, 60.0, 80.0, 100.0],
        by_ratio: false,
        top: Some(100.0),
        bottom: 0.0,
        series,
        names: SeriesLabelPosition::UpperLeft,
    }
}

/// Sends from node a to node b and takes how long each datagram was on its way.
pub(crate) fn arrivals(lab: &Lab, load: Load) -> Result<Arrivals, String> {
    Arrivals::parse(&received(lab, load, &[RECEIVE, "1"])?)
}

/// What the receiver with these arguments wrote.
pub(crate) fn received(lab: &Lab, load: Load, receiver: &[&str]) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    let program = program.to_string_lossy();
    let words: Vec<&str> = std::iter::once(&*program).chain(receiver.iter().copied()).collect();
    let running = lab.exec("b", &words).stdout(Stdio::piped()).spawn();
    let running = running.map_err(|error| format!("starting the receiver: {error}"))?;
    sleep(Duration::from_millis(400));
    let arguments = load.arguments("b");
    let sender: Vec<&str> = std::iter::once(&*program).chain(arguments.iter().map(String::as_str)).collect();
    crate::lab::output(&mut lab.exec("a", &sender))?;
    let output = running.wait_with_output().map_err(|error| format!("waiting for the receiver: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
