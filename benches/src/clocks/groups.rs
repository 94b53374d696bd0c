//! Figure 5: 60 flows in three groups of round-trip times share a bottleneck.

use super::play::{self, Clock};
use super::statistics::Spread;
use crate::picture::{self, Panel, Series, Stroke};
use crate::row::Row;
use crate::settings::Settings;
use plotters::prelude::SeriesLabelPosition;

/// The commands, one per group, and their round-trip times.
const GROUPS: [(&str, u32); 3] = [("near", 20), ("middle", 40), ("far", 60)];
const CLOCKS: [Clock; 3] = [Clock::Dilated(1), Clock::Dilated(10), Clock::Virtual];
const RATES: [u32; 6] = [10, 50, 100, 200, 400, 600];
/// The text of the lab file that is varied.
const RATE: &str = "values: [10 Mbit/s, 50 Mbit/s, 100 Mbit/s, 200 Mbit/s, 400 Mbit/s, 600 Mbit/s]";

/// What was measured at one rate under one clock, per group.
struct Point {
    clock: Clock,
    rate: u32,
    groups: [Spread; 3],
}

pub(super) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let rates = if settings.quick { &RATES[1..2] } else { &RATES[..] };
    let (mut points, mut rows) = (Vec::new(), Vec::new());
    for clock in CLOCKS {
        let (mut wall, mut wrong) = (0.0, Vec::new());
        for rate in rates {
            let mut changes = vec![(RATE, format!("values: [{rate} Mbit/s]"))];
            if settings.quick {
                changes.push(("-t 10", "-t 2".to_owned()));
            }
            let changes: Vec<(&str, &str)> = changes.iter().map(|(old, new)| (*old, new.as_str())).collect();
            let played = play::play(settings, &play::example(settings, "groups", &changes)?, clock, 1)?;
            let mut groups = [Spread::default(); 3];
            for (spread, (command, _)) in groups.iter_mut().zip(GROUPS) {
                *spread = Spread::of(&played.flows(command)?);
            }
            points.push(Point { clock, rate: *rate, groups });
            wall += played.wall_seconds();
            if !played.as_described() {
                wrong.push(rate.to_string());
            }
        }
        let remark =
            if wrong.is_empty() { String::new() } else { format!(", not as described at {}", wrong.join(", ")) };
        rows.push(Row::told(
            format!("{}, {} rates", clock.name(), rates.len()),
            "none",
            format!("{wall:.0} s of wall time in all{remark}"),
            None,
        ));
    }
    for rate in rates {
        rows.extend(compare(&points, *rate));
    }
    if rates.len() > 1 {
        settings.draw("groups", &panels(&points))?;
    }
    Ok(rows)
}

/// The paper's criterion: the means agree "within measured variability". Each clock beside dilation 1.
fn compare(points: &[Point], rate: u32) -> Vec<Row> {
    let at = |clock| points.iter().find(|point| point.clock == clock && point.rate == rate);
    let Some(base) = at(CLOCKS[0]) else { return Vec::new() };
    let mut rows = Vec::new();
    for point in CLOCKS[1..].iter().filter_map(|clock| at(*clock)) {
        let pairs = || base.groups.iter().zip(&point.groups);
        let agrees = pairs().all(|(one, other)| (one.mean - other.mean).abs() <= one.deviation.max(other.deviation));
        let texts: Vec<String> = pairs()
            .zip(GROUPS)
            .map(|((one, other), (_, rtt))| {
                let (a, b) = (one.mean, one.deviation);
                format!("{rtt} ms: {:.2} ± {:.2} for {a:.2} ± {b:.2}", other.mean, other.deviation)
            })
            .collect();
        rows.push(Row::told(
            format!("{rate} Mbit/s, {}", point.clock.name()),
            "within one standard deviation of dilation 1",
            format!("Mbit/s per flow at {}", texts.join("; ")),
            Some(agrees),
        ));
    }
    rows
}

fn panels(points: &[Point]) -> Vec<Panel> {
    let panel = |(group, (_, rtt)): (usize, (&str, u32))| Panel {
        title: format!("20 flows with a round-trip time of {rtt} ms"),
        x: "bottleneck (Mbit/s)",
        y: "throughput per flow (Mbit/s)",
        ticks: (0..=6).map(|n| f64::from(n) * 100.0).collect(),
        by_ratio: false,
        top: None,
        bottom: 0.0,
        series: CLOCKS.iter().map(|clock| series(points, group, *clock)).collect(),
        names: SeriesLabelPosition::UpperLeft,
    };
    GROUPS.into_iter().enumerate().map(panel).collect()
}

fn series(points: &[Point], group: usize, clock: Clock) -> Series {
    // As in the paper, the bars are set apart a little, so that all can be seen.
    let (colour, aside) = match clock {
        Clock::Virtual => (picture::BLUE, 6.0),
        Clock::Dilated(1) => (picture::GREY, -6.0),
        _ => (picture::ORANGE, 0.0),
    };
    let of_clock = points.iter().filter(|point| point.clock == clock);
    let drawn = of_clock.map(|point| {
        let Spread { mean, deviation } = point.groups[group];
        (f64::from(point.rate) + aside, mean, deviation)
    });
    Series { name: clock.name(), colour, stroke: Stroke::Bars, points: drawn.collect() }
}
