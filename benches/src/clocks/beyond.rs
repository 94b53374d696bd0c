//! Figure 9: 50 flows of TCP (Reno) and of BIC over 80 ms and up to 100 Gbit/s.

use super::play::{self, Clock};
use super::statistics::Spread;
use crate::picture::{self, Panel, Series, Stroke};
use crate::row::Row;
use crate::settings::Settings;
use plotters::prelude::SeriesLabelPosition;

/// Gbit/s in virtual time, and those that are repeated under dilation.
const RATES: [u32; 7] = [1, 2, 5, 10, 20, 50, 100];
const DILATED_RATES: [u32; 3] = [1, 10, 100];
const DILATION: u32 = 100;
/// The commands of the lab file, one per congestion control.
const KINDS: [(&str, &str); 2] = [("fifty-tcp", "TCP (Reno)"), ("fifty-bic", "BIC")];
/// The text of the lab file that is varied.
const RATE: &str = "values: [1 Gbit/s, 2 Gbit/s, 5 Gbit/s, 10 Gbit/s, 20 Gbit/s, 50 Gbit/s, 100 Gbit/s]";
/// What 50 flows carry together, in Gbit/s, is 0.05 of the mean in Mbit/s.
const FLOWS: f64 = 50.0;

struct Point {
    clock: Clock,
    rate: u32,
    kinds: [Spread; 2],
}

pub(super) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let plan: &[(Clock, &[u32])] = if settings.quick {
        &[(Clock::Virtual, &RATES[..1])]
    } else {
        &[(Clock::Virtual, &RATES), (Clock::Dilated(DILATION), &DILATED_RATES)]
    };
    let (mut points, mut rows) = (Vec::new(), Vec::new());
    for (clock, rates) in plan {
        for rate in *rates {
            let change = format!("values: [{rate} Gbit/s]");
            let mut changes = vec![(RATE, change.as_str())];
            if settings.quick {
                changes.push(("-t 4", "-t 1"));
            }
            let played = play::play(settings, &play::example(settings, "beyond", &changes)?, *clock, 1)?;
            let mut kinds = [Spread::default(); 2];
            for (spread, (command, _)) in kinds.iter_mut().zip(KINDS) {
                *spread = Spread::of(&played.flows(command)?);
            }
            let text = |place: usize| {
                let Spread { mean, deviation } = kinds[place];
                format!("{} {mean:.0} ± {deviation:.0}", KINDS[place].1)
            };
            rows.push(Row::told(
                format!("{rate} Gbit/s, {}", clock.name()),
                "runs",
                format!(
                    "Mbit/s per flow: {}, {}; {:.0} s of wall time for {:.1} s{}",
                    text(0),
                    text(1),
                    played.wall_seconds(),
                    played.lab_seconds(),
                    played.remark()
                ),
                Some(kinds.iter().all(|spread| spread.mean > 0.0)),
            ));
            points.push(Point { clock: *clock, rate: *rate, kinds });
        }
    }
    rows.extend(compare(&points));
    if points.len() > 1 {
        settings.draw("beyond", &panels(&points))?;
    }
    Ok(rows)
}

/// Both clocks beside one another, where both ran.
fn compare(points: &[Point]) -> Vec<Row> {
    let mut rows = Vec::new();
    for dilated in points.iter().filter(|point| point.clock != Clock::Virtual) {
        let is_same = |point: &&Point| point.clock == Clock::Virtual && point.rate == dilated.rate;
        let Some(exact) = points.iter().find(is_same) else { continue };
        for ((one, other), (_, kind)) in exact.kinds.iter().zip(&dilated.kinds).zip(KINDS) {
            rows.push(Row::told(
                format!("{} Gbit/s, {kind}", dilated.rate),
                "both clocks within one standard deviation",
                format!(
                    "{:.0} ± {:.0} at dilation {DILATION}, {:.0} ± {:.0} in virtual time",
                    other.mean, other.deviation, one.mean, one.deviation
                ),
                Some((one.mean - other.mean).abs() <= one.deviation.max(other.deviation)),
            ));
        }
    }
    rows
}

fn panels(points: &[Point]) -> Vec<Panel> {
    let panel = |title: &str, share: bool| Panel {
        title: title.to_owned(),
        x: "rate of the path (Gbit/s)",
        y: if share { "share of the rate that all flows use (%)" } else { "throughput per flow (Mbit/s)" },
        ticks: RATES.map(f64::from).to_vec(),
        by_ratio: true,
        top: share.then_some(105.0),
        bottom: 0.0,
        series: series(points, share),
        names: if share { SeriesLabelPosition::LowerLeft } else { SeriesLabelPosition::UpperLeft },
    };
    vec![panel("50 flows, 80 ms, 4 s: throughput", false), panel("The same as a share of the path's rate", true)]
}

fn series(points: &[Point], share: bool) -> Vec<Series> {
    let mut all = Vec::new();
    for (place, (_, kind)) in KINDS.iter().enumerate() {
        for clock in [Clock::Virtual, Clock::Dilated(DILATION)] {
            let (colour, aside) = match (place, clock) {
                (0, Clock::Virtual) => (picture::BLUE, 0.98),
                (0, _) => (picture::GREEN, 0.94),
                (_, Clock::Virtual) => (picture::ORANGE, 1.02),
                (..) => (picture::YELLOW, 1.06),
            };
            let of_clock = points.iter().filter(|point| point.clock == clock);
            let drawn = of_clock.map(|point| {
                let Spread { mean, deviation } = point.kinds[place];
                let scale = if share { FLOWS / 1e3 / f64::from(point.rate) * 100.0 } else { 1.0 };
                // Of the share of all flows together, a deviation between flows would say nothing.
                let bar = if share { 0.0 } else { deviation };
                (f64::from(point.rate) * aside, mean * scale, bar)
            });
            let name = format!("{kind}, {}", clock.name());
            // Few rates ran under dilation: a line between them would lead past what lies in between.
            let stroke = if clock == Clock::Virtual { Stroke::Bars } else { Stroke::Points };
            all.push(Series { name, colour, stroke, points: drawn.collect() });
        }
    }
    all
}
