//! Plots as SVG: what each pipe carried and what waited in it, and how long the packets of each source took.

use super::SimReport;
use super::series::{Point, Series};
use crate::RunError;
use crate::chart::{Area, Drawn, FIRST, GREY, HEADROOM, SECOND, axes, count_tick, drawn, labels, tick};
use crate::render::{rate, span};
use crate::results::Folder;
use netloom_lab::Plan;
use netloom_sim::SourceOutcome;
use netloom_units::{Duration, Rate};
use plotters::prelude::*;

/// The size of a plot in pixels; SVG scales it.
const SIZE: (u32, u32) = (900, 520);
const SMALL: (u32, u32) = (900, 320);
/// A distribution is drawn at so many quantiles.
const QUANTILES: u32 = 500;

/// Draws `plots/`: one picture per pipe that carried something, and one per source that was heard.
pub(super) fn write(
    folder: &Folder,
    plan: &Plan,
    report: &SimReport,
    series: &Series,
    sources: &[SourceOutcome],
) -> Result<(), RunError> {
    folder.make_folder("plots")?;
    let each = report.pipes.iter().zip(plan.pipes()).enumerate();
    for (number, (row, described)) in each.filter(|(_, (row, _))| row.arrived_packets > 0) {
        let further = row.pipe.as_ref().map_or_else(String::new, |name| format!(" {name}"));
        let title = format!("{}{further} {} > {}", row.link, row.from, row.to);
        // A line at the described rate, if that never changed.
        let at_first = described.config.rate.nominal().map(Rate::as_bits_per_second);
        let limit = row.rate_bits_per_second.filter(|rate| at_first == Some(*rate));
        let svg = drawn(SIZE, |area| pipe(area, &title, limit, series.of(number)));
        let name = row.pipe.as_ref().map_or_else(String::new, |name| format!("-{name}"));
        folder.write(&format!("plots/{}-{}{name}.svg", row.link, row.direction), svg)?;
    }
    for source in sources.iter().filter(|source| source.delays.count() > 0) {
        let svg = drawn(SMALL, |area| delays(area, source));
        folder.write(&format!("plots/delay-{}.svg", source.name), svg)?;
    }
    Ok(())
}

/// Throughput above, queue below, over the same time.
fn pipe(area: &Area<'_>, title: &str, limit: Option<u64>, points: &[Point]) -> Drawn {
    let (upper, lower) = area.split_vertically(300);
    let end = points.last().map_or(1.0, |point| point.seconds);
    let highest = points.iter().map(|point| point.bits_per_second).fold(0.0, f64::max);
    let top = limit.map_or(highest, |bits| highest.max(bits as f64)).max(1.0) * HEADROOM;
    let mut chart = axes(&upper, title, (end, top))?;
    labels(&mut chart, "", "throughput", &|bits| rate(*bits))?;
    if let Some(bits) = limit {
        let line = [(0.0, bits as f64), (end, bits as f64)];
        chart.draw_series(LineSeries::new(line, GREY.stroke_width(1)))?;
    }
    let carried = points.iter().map(|point| (point.seconds, point.bits_per_second));
    chart.draw_series(LineSeries::new(carried, FIRST.stroke_width(2)))?;
    let longest = points.iter().map(|point| point.queued).max().unwrap_or(0);
    let mut below = axes(&lower, "", (end, (longest as f64).max(1.0) * HEADROOM))?;
    labels(&mut below, "time in s", "queue in packets", &|packets| count_tick(*packets))?;
    let waited = points.iter().map(|point| (point.seconds, point.queued as f64));
    below.draw_series(LineSeries::new(waited, SECOND.stroke_width(2)))?;
    Ok(())
}

/// The share of packets that took at most so long.
fn delays(area: &Area<'_>, source: &SourceOutcome) -> Drawn {
    let delays = &source.delays;
    let ms = |q: f64| delays.quantile(q).map_or(0.0, Duration::as_millis_f64);
    let most = delays.most().map_or(0.0, Duration::as_millis_f64);
    let title = format!("{}: one-way delay of {} packets", source.name, delays.count());
    let mut chart = axes(area, &title, ((most * HEADROOM).max(1e-6), 1.0))?;
    labels(&mut chart, "delay in ms", "share of packets", &|share| format!("{} %", tick(share * 100.0)))?;
    let quantiles = (0..=QUANTILES).map(|part| f64::from(part) / f64::from(QUANTILES));
    // From zero on, so that the rise to the first packet shows.
    let least = delays.least().map_or(0.0, Duration::as_millis_f64);
    let line = [(0.0, 0.0), (least, 0.0)].into_iter().chain(quantiles.map(|q| (ms(q), q))).chain([(most, 1.0)]);
    chart.draw_series(LineSeries::new(line, FIRST.stroke_width(2)))?;
    for (q, name) in [(0.5, "median"), (0.99, "99 %")] {
        let at = (ms(q), q);
        let text = format!("{name} {}", span(delays.quantile(q).map_or(0, Duration::as_nanos)));
        chart.draw_series([Circle::new(at, 4, SECOND.filled())])?;
        // Below the line, and to the side where there is room.
        let side = if at.0 > most * 0.7 { -130 } else { 8 };
        let style = ("sans-serif", 14).into_font().color(&SECOND);
        chart.draw_series([EmptyElement::at(at) + Text::new(text, (side, if q > 0.9 { 14 } else { 8 }), style)])?;
    }
    Ok(())
}
