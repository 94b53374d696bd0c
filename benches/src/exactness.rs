//! Packets per second, and how exact the delay of each is: with a sender and a receiver of our own ([`crate::probe`]).

use crate::bare::hold::Hold;
use crate::lab::Lab;
use crate::picture::{BLUE, GREEN, GREY, ORANGE, Panel, Series, Stroke};
use crate::plain::{self, BARE, HOLDING, LAST, OTHER};
use crate::probe::{Arrivals, Load, RECEIVE};
use crate::quantile;
use crate::row::{Goal, Row, median};
use crate::settings::Settings;
use crate::wait::{Wait, lateness_us};
use plotters::prelude::SeriesLabelPosition;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

/// 22 bytes of payload make a frame of 64 bytes with its checksum.
pub(crate) const SMALL: usize = 22;
pub(crate) const DELAY_US: f64 = 10_000.0;
/// Packets per second that are offered: rungs of a ladder, each a tenth above the one below.
const LOWEST: f64 = 20e3;
const RUNG: f64 = 1.1;
const RUNGS: u32 = 60;
/// Where the first climb begins, at some 220,000, and how many rungs it takes at a time.
const START: u32 = 25;
const STRIDE: u32 = 4;
/// At least so many offered packets must arrive.
const ARRIVE: f64 = 0.999;
/// Who takes so much longer to send them has not offered them.
const IN_TIME: f64 = 1.02;
/// Of the rate that the bare loop carries. The engine looks at each packet, computes its way through a pipe, and measures.
const RATE_OF_BARE: f64 = 0.8;

/// How exact a delay is to be.
struct Exactness {
    precision: &'static str,
    rate: f64,
    burst: usize,
    /// The median, which is that of handing over, and the hundredths at the end.
    shares: &'static [(f64, &'static str)],
    /// How the engine waits, and so the bare loop and the bare thread.
    wait: Wait,
}

/// How much later than the bare loop that holds frames packets are at the median.
const OF_HOLDING: f64 = 1.5;
/// The hundredths at the end are those of the machine: of what a bare thread is late there, and of handing over.
const OF_THREAD: f64 = 1.25;
const THREAD: &str = "a bare thread that waits, and of the bare loop's handing over";

const EXACTNESS: [Exactness; 3] = [
    Exactness {
        precision: "balanced",
        rate: 1e3,
        burst: 1,
        shares: &[(0.5, "median"), (0.99, "99 %")],
        wait: Wait::SleepThenSpin,
    },
    Exactness {
        precision: "exact",
        rate: 1e3,
        burst: 1,
        shares: &[(0.5, "median"), (0.99, "99 %"), (0.999, "99.9 %")],
        wait: Wait::Spin,
    },
    Exactness {
        precision: "exact",
        rate: 100e3,
        burst: 10,
        shares: &[(0.5, "median"), (0.99, "99 %")],
        wait: Wait::Spin,
    },
];

/// The highest rate without loss, in turns with the bare loop's.
pub(crate) fn packets(settings: &Settings) -> Result<Vec<Row>, String> {
    let lab = Lab::up(settings, "packets", "nodes: [a, b]\nlinks:\n  line: {ends: [a, b]}\n")?;
    let seconds = if settings.quick { 0.3 } else { 1.0 };
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    let (mut points, mut bare_points) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        bare.push(highest(settings, &bare, &mut bare_points, |rate| {
            through_bare(settings, None, Load { rate, burst: 25, seconds, payload: SMALL, ports: 1 })
        })?);
        ours.push(highest(settings, &ours, &mut points, |rate| {
            through_lab(&lab, Load { rate, burst: 25, seconds, payload: SMALL, ports: 1 }, &[RECEIVE, "1"])
        })?);
    }
    settings.draw("packets-per-second", &[losses(points, bare_points)])?;
    let row = Row::number("64-byte packets, lost less than 0.1 %", "kpps", kpps(ours))?;
    Ok(vec![row.against(BARE, kpps(bare)).goal(Goal::AtLeast(RATE_OF_BARE))])
}

/// The rates of these rungs in thousands.
pub(crate) fn kpps(rungs: Vec<u32>) -> Vec<f64> {
    rungs.into_iter().map(|rung| rate_of(rung) / 1e3).collect()
}

fn rate_of(rung: u32) -> f64 {
    LOWEST * RUNG.powi(rung as i32)
}

/// The highest rung that is carried, looked for around that of the round before.
pub(crate) fn highest(
    settings: &Settings,
    before: &[u32],
    points: &mut Vec<(f64, f64)>,
    send: impl Fn(f64) -> Result<Sent, String>,
) -> Result<u32, String> {
    let mut is_carried = |rung: u32| {
        let rate = rate_of(rung);
        let sent = send(rate)?;
        let arrived = Arrivals::parse(&sent.told).map_or(0.0, |arrivals| arrivals.count as f64) / sent.load.packets();
        points.push((rate / 1e3, (1.0 - arrived).max(0.0) * 100.0));
        Ok::<bool, String>(arrived >= ARRIVE && sent.seconds <= sent.load.seconds * IN_TIME)
    };
    if settings.quick {
        return is_carried(START / 2).map(|carried| if carried { START / 2 } else { 0 });
    }
    let (start, stride) = before.last().map_or((START, STRIDE), |rung| (*rung, 1));
    climb(start, stride, &mut is_carried)
}

/// Up or down in strides until the border is passed, then between.
fn climb(start: u32, stride: u32, is_carried: &mut impl FnMut(u32) -> Result<bool, String>) -> Result<u32, String> {
    let (mut low, mut high) = (0, RUNGS);
    let mut at = start;
    loop {
        if is_carried(at)? {
            low = at;
            at += stride;
        } else {
            high = at;
            at = at.saturating_sub(stride);
        }
        if at <= low || at >= high {
            break;
        }
    }
    while high - low > 1 {
        let middle = u32::midpoint(low, high);
        if is_carried(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}

/// Of each measurement its rate and what was lost.
fn losses(ours: Vec<(f64, f64)>, bare: Vec<(f64, f64)>) -> Panel {
    let most = ours.iter().chain(&bare).map(|(_, lost)| *lost).fold(0.0, f64::max) * 1.1;
    let greatest = ours.iter().chain(&bare).map(|(rate, _)| *rate).fold(100.0, f64::max);
    let series = |name: &str, colour, points: Vec<(f64, f64)>| Series {
        name: name.to_owned(),
        colour,
        stroke: Stroke::Points,
        points: points.into_iter().map(|(rate, lost)| (rate, lost, 0.0)).collect(),
    };
    Panel {
        title: "64-byte packets through one link".to_owned(),
        x: "offered (kpps)",
        y: "lost (%)",
        ticks: (0..=(greatest / 100.0).ceil() as u32).map(|hundreds| f64::from(hundreds) * 100.0).collect(),
        by_ratio: false,
        top: Some(most.max(0.2)),
        bottom: 0.0,
        series: vec![series(BARE, GREY, bare), series("netloom", BLUE, ours)],
        names: SeriesLabelPosition::UpperLeft,
    }
}

/// How far delays are off.
pub(crate) fn delays(settings: &Settings) -> Result<Vec<Row>, String> {
    let (mut rows, mut series) = (Vec::new(), Vec::new());
    let shown = if settings.quick { 2 } else { EXACTNESS.len() };
    for (exactness, colour) in EXACTNESS.iter().zip([ORANGE, BLUE, GREEN]).take(shown) {
        let Exactness { precision, rate, .. } = exactness;
        let name = format!("{precision}, {:.0} kpps", rate / 1e3);
        let runs = Runs::measure(settings, exactness)?;
        for (share, quantile) in exactness.shares {
            let what = format!("{name}, {quantile}, over 10 ms");
            let row = Row::number(what, "us", errors_us(&runs.ours, *share))?;
            let holding = errors_us(&runs.bare, 0.5);
            rows.push(if *share > 0.5 {
                let handing_over = median(&holding)?;
                let bound = runs
                    .threads
                    .iter()
                    .map(|late| quantile::least(late, *share).unwrap_or_default() + handing_over)
                    .collect();
                row.against(THREAD, bound).goal(Goal::AtMost(OF_THREAD))
            } else {
                row.against(HOLDING, holding).goal(Goal::AtMost(OF_HOLDING))
            });
        }
        let at = |share: f64| median(&errors_us(&runs.ours, share));
        let points =
            SHARES.iter().map(|share| Ok((*share * 100.0, at(*share)?, 0.0))).collect::<Result<_, String>>()?;
        series.push(Series { name, colour, stroke: Stroke::Bars, points });
    }
    settings.draw("exactness", &[quantiles(series)])?;
    Ok(rows)
}

/// What was measured in turns.
struct Runs {
    ours: Vec<Arrivals>,
    bare: Vec<Arrivals>,
    /// How late a bare thread was, sorted, in microseconds.
    threads: Vec<Vec<f64>>,
}

impl Runs {
    fn measure(
        settings: &Settings,
        Exactness { precision, rate, burst, wait, .. }: &Exactness,
    ) -> Result<Self, String> {
        let seconds = if settings.quick { 0.3 } else { 1.5 };
        let load = Load { rate: *rate, burst: *burst, seconds, payload: SMALL, ports: 1 };
        let hold = Hold::there(Duration::from_secs_f64(DELAY_US / 1e6), *wait);
        let (mut bare, mut threads) = (Vec::new(), Vec::new());
        for _ in 0..settings.rounds(3) {
            bare.push(Arrivals::parse(&through_bare(settings, Some(hold), load)?.told)?);
            threads.push(lateness_us(*wait, BARE_PAUSE, Duration::from_secs_f64(seconds))?);
        }
        // A lab with an engine that spins would take a processor from both.
        let yaml = format!("precision: {precision}\nnodes: [a, b]\nlinks:\n  line: {{ends: [a, b], delay: 10 ms}}\n");
        let lab = Lab::up(settings, precision, &yaml)?;
        let ours = (0..settings.rounds(3)).map(|_| arrivals(&lab, load)).collect::<Result<_, _>>()?;
        Ok(Self { ours, bare, threads })
    }
}

/// Of each run how late this share of the packets was at most.
fn errors_us(runs: &[Arrivals], share: f64) -> Vec<f64> {
    runs.iter().map(|run| run.quantile_us(share) - DELAY_US).collect()
}

/// Between the instants that a bare thread waits for: in no simple ratio to the ticks of machine and host, at which
/// something else may run each time, or never.
const BARE_PAUSE: Duration = Duration::from_micros(1_037);

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
    through_lab(lab, load, receiver).map(|sent| sent.told)
}

/// What became of a load: what the receiver wrote, and how long the sender took.
pub(crate) struct Sent {
    pub(crate) load: Load,
    pub(crate) told: String,
    pub(crate) seconds: f64,
}

fn through_lab(lab: &Lab, load: Load, receiver: &[&str]) -> Result<Sent, String> {
    let program = plain::program()?;
    let words: Vec<&str> = std::iter::once(program.as_str()).chain(receiver.iter().copied()).collect();
    let running = lab.exec("b", &words).stdout(Stdio::piped()).spawn();
    let running = running.map_err(|error| format!("starting the receiver: {error}"))?;
    sleep(Duration::from_millis(400));
    let arguments = load.arguments("b");
    let sender: Vec<&str> = std::iter::once(program.as_str()).chain(arguments.iter().map(String::as_str)).collect();
    let seconds = seconds(&crate::lab::output(&mut lab.exec("a", &sender))?)?;
    let output = running.wait_with_output().map_err(|error| format!("waiting for the receiver: {error}"))?;
    Ok(Sent { load, told: String::from_utf8_lossy(&output.stdout).into_owned(), seconds })
}

/// The same between two nodes that the bare loop joins, which may hold the frames.
fn through_bare(settings: &Settings, hold: Option<Hold>, load: Load) -> Result<Sent, String> {
    let (program, words) = (plain::program()?, load.arguments(LAST).join(" "));
    let script =
        format!("{OTHER} {program} {RECEIVE} 1 > /run/told & sleep 0.4; {program} {words} && wait $! && cat /run/told");
    let text = match hold {
        Some(hold) => plain::held(settings, hold, &script),
        None => plain::joined(settings, 0, &script),
    }?;
    let (sender, told) = text.split_once('\n').ok_or("the sender told nothing")?;
    Ok(Sent { load, told: told.to_owned(), seconds: seconds(sender)? })
}

/// How long sending took, as the sender tells it.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("the sender told {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_rung_is_found_from_wherever_the_climb_begins() {
        for border in [0, 1, 24, 25, 26, 43, RUNGS - 1] {
            for (start, stride) in [(START, STRIDE), (1, 1), (border.max(1), 1)] {
                let found = climb(start, stride, &mut |rung| Ok(rung <= border));
                assert_eq!(found, Ok(border), "from {start} by {stride}");
            }
        }
        assert!(climb(START, STRIDE, &mut |_| Err("it broke".to_owned())).is_err());
    }
}
