//! Packets per second, and how exact the delay of each is: with a sender and a receiver of our own ([`crate::probe`]).

use crate::Settings;
use crate::lab::Lab;
use crate::probe::{Arrivals, Load, RECEIVE};
use crate::row::{Row, median, range};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

/// 22 bytes of payload make a frame of 64 bytes with its checksum.
const SMALL: usize = 22;
const DELAY_US: f64 = 10_000.0;
/// Packets per second that are offered, from few to many.
const RATES: [f64; 7] = [100e3, 200e3, 300e3, 350e3, 400e3, 450e3, 500e3];
const RATE_GOAL: f64 = 400e3;

/// How exact a delay is to be: medians over the runs of a median and of quantiles, in microseconds.
struct Exactness {
    precision: &'static str,
    rate: f64,
    burst: usize,
    goals: &'static [(f64, &'static str, f64)],
}

const EXACTNESS: [Exactness; 3] = [
    Exactness { precision: "balanced", rate: 1e3, burst: 1, goals: &[(0.5, "median", 6.0), (0.99, "99 %", 60.0)] },
    Exactness {
        precision: "exact",
        rate: 1e3,
        burst: 1,
        goals: &[(0.5, "median", 5.0), (0.99, "99 %", 20.0), (0.999, "99.9 %", 50.0)],
    },
    Exactness { precision: "exact", rate: 100e3, burst: 10, goals: &[(0.5, "median", 25.0), (0.99, "99 %", 80.0)] },
];

/// The highest rate without loss.
pub(crate) fn packets(settings: &Settings) -> Result<Vec<Row>, String> {
    let lab = Lab::up(settings, "packets", "nodes: [a, b]\nlinks:\n  line: {ends: [a, b]}\n")?;
    let rounds = if settings.quick { 1 } else { 3 };
    let mut best = Vec::new();
    for _ in 0..rounds {
        let mut highest = 0.0;
        for rate in RATES {
            let load = Load { rate, burst: 25, seconds: 1.5, payload: SMALL, ports: 1 };
            let offered = (rate * load.seconds / 25.0).round() * 25.0;
            let arrived = arrivals(&lab, load)?.count as f64;
            if arrived < offered * 0.999 {
                break;
            }
            highest = rate;
        }
        best.push(highest);
    }
    let spread = range(&best, 1e3);
    let highest = median(best)?;
    Ok(vec![Row {
        what: "64-byte packets, lost less than 0.1 %".to_owned(),
        goal: format!("at least {:.0} kpps", RATE_GOAL / 1e3),
        measured: format!("{:.0} kpps, {spread}", highest / 1e3),
        met: Some(highest >= RATE_GOAL),
    }])
}

/// How far delays are off.
pub(crate) fn delays(settings: &Settings) -> Result<Vec<Row>, String> {
    let (rounds, seconds) = if settings.quick { (1, 1.0) } else { (5, 4.0) };
    let mut rows = Vec::new();
    for Exactness { precision, rate, burst, goals } in &EXACTNESS {
        let yaml = format!("precision: {precision}\nnodes: [a, b]\nlinks:\n  line: {{ends: [a, b], delay: 10 ms}}\n");
        let lab = Lab::up(settings, precision, &yaml)?;
        let mut runs = Vec::new();
        for _ in 0..rounds {
            runs.push(arrivals(&lab, Load { rate: *rate, burst: *burst, seconds, payload: SMALL, ports: 1 })?);
        }
        for (share, name, goal) in *goals {
            let errors: Vec<f64> = runs.iter().map(|run| run.quantile_us(*share) - DELAY_US).collect();
            let spread = range(&errors, 1.0);
            let error = median(errors)?;
            rows.push(Row {
                what: format!("{precision}, {:.0} kpps, {name}", rate / 1e3),
                goal: format!("at most {goal:.0} us over 10 ms"),
                measured: format!("{error:.1} us, {spread}"),
                met: Some(error <= *goal),
            });
        }
    }
    Ok(rows)
}

/// Sends from node a to node b.
fn arrivals(lab: &Lab, load: Load) -> Result<Arrivals, String> {
    let program = std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    let program = program.to_string_lossy();
    let receiver = lab.exec("b", &[&program, RECEIVE, "1"]).stdout(Stdio::piped()).spawn();
    let receiver = receiver.map_err(|error| format!("starting the receiver: {error}"))?;
    sleep(Duration::from_millis(400));
    let arguments = load.arguments("b");
    let words: Vec<&str> = std::iter::once(&*program).chain(arguments.iter().map(String::as_str)).collect();
    crate::lab::output(&mut lab.exec("a", &words))?;
    let output = receiver.wait_with_output().map_err(|error| format!("waiting for the receiver: {error}"))?;
    Arrivals::parse(&String::from_utf8_lossy(&output.stdout))
}
