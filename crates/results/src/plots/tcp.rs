//! The pictures of TCP connections: congestion window, round-trip time and rate over the same time.

mod rows;

use super::events::Log;
use super::picture::{LEFT, TIMES, TITLE, WIDTH, legend, lines, mark_list, mark_numbers, marks_height, shades};
use crate::chart::{Area, Chart, Drawn, FIRST, GREY, HEADROOM, SECOND, THIRD, count_tick, drawn, panel};
use crate::{ReadError, WriteError};
use netloom_judge::quantity::{rate, span};
use plotters::prelude::*;
use rows::Point;
pub(crate) use rows::{Curve, Name, busiest};
use std::fs;
use std::path::Path;

/// The folder of these pictures, in that of all pictures.
pub(super) const FOLDER: &str = "tcp";
/// How many are drawn: those of the connections that sent most.
const MOST: usize = 8;

const NUMBERS: u32 = 16;
const HEADING: u32 = 20;
const HEIGHT: u32 = 150;

/// Draws what `tcp.csv` has in a results folder, if there is one.
pub(super) fn draw_all(folder: &Path, log: &Log) -> Result<(), ReadError> {
    let table = folder.join(crate::tcp::FILE);
    if !table.exists() {
        return Ok(());
    }
    let curves = busiest(&table, MOST, log.end)?;
    if curves.is_empty() {
        return Ok(());
    }
    let pictures = folder.join(super::FOLDER).join(FOLDER);
    fs::create_dir_all(&pictures).map_err(WriteError::file(&pictures))?;
    for (name, curve) in &curves {
        let path = pictures.join(format!("{}-{}.svg", name.node, name.connection));
        fs::write(&path, draw(name, curve, log)).map_err(WriteError::file(&path))?;
    }
    Ok(())
}

/// A line of a part: its colour, what it is, and its value at a point.
type Line = (RGBColor, &'static str, fn(&Point) -> Option<f64>);

/// A part of the picture.
struct Part {
    lines: Vec<Line>,
    of_y: fn(f64) -> String,
}

fn parts() -> [Part; 3] {
    [
        Part {
            lines: vec![
                (GREY, "slow-start threshold in packets", |point| point.threshold),
                (FIRST, "congestion window in packets", |point| point.window),
            ],
            of_y: count_tick,
        },
        Part {
            lines: vec![
                (GREY, "least round-trip time", |point| point.least_rtt),
                (SECOND, "smoothed round-trip time", |point| point.rtt),
            ],
            of_y: |us| span((us * 1e3) as u64),
        },
        Part { lines: vec![(THIRD, "delivery rate", |point| point.rate)], of_y: rate },
    ]
}

fn draw(name: &Name, curve: &Curve, log: &Log) -> String {
    let marks = log.marks_of_all();
    let end = log.end.unwrap_or(0.0).max(curve.points.last().map_or(0.0, |point| point.time)).max(1e-6);
    let parts: Vec<Part> = parts().into_iter().filter(|part| part.highest(curve).is_some()).collect();
    let plots = (HEADING + HEIGHT) * u32::try_from(parts.len()).unwrap_or(0);
    let height = TITLE + NUMBERS + plots + TIMES + marks_height(&marks) + 6;
    drawn((WIDTH, height), |whole| {
        let (top, rest) = whole.split_vertically(TITLE);
        top.draw(&Text::new(name.title(curve), (LEFT, 10), ("sans-serif", 19)))?;
        let (numbers, mut rest) = rest.split_vertically(NUMBERS);
        for (place, part) in parts.iter().enumerate() {
            let times = if place + 1 == parts.len() { TIMES } else { 0 };
            let area;
            (area, rest) = rest.split_vertically(HEADING + HEIGHT + times);
            let (head, plot) = area.split_vertically(HEADING);
            let known = part.lines.iter().filter(|(_, _, of)| curve.points.iter().any(|point| of(point).is_some()));
            legend(&head, &known.map(|(colour, text, _)| (*colour, (*text).to_owned())).collect())?;
            let corner = (end, part.highest(curve).unwrap_or(1.0).max(1.0) * HEADROOM);
            let mut chart = part.draw(&plot, curve, corner, times)?;
            shades(&mut chart, log.faults.iter().filter(|fault| fault.link.is_none()), corner)?;
            lines(&mut chart, &marks, corner.1)?;
            if place == 0 {
                mark_numbers(&numbers, &chart, &marks)?;
            }
        }
        mark_list(&rest, &marks)
    })
}

impl Name {
    fn title(&self, curve: &Curve) -> String {
        let Curve { local, remote, congestion, .. } = curve;
        format!("{}: {local} > {remote}, {congestion}", self.node)
    }
}

impl Part {
    /// A threshold far above the window, as it is at the beginning, would leave no room for the window: only the last line of a
    /// part says how high it is, and others are drawn as far as they are in sight.
    fn highest(&self, curve: &Curve) -> Option<f64> {
        let (_, _, of) = self.lines.last()?;
        curve.points.iter().filter_map(of).reduce(f64::max)
    }

    fn draw<'a, 'b: 'a>(
        &self,
        area: &Area<'b>,
        curve: &Curve,
        corner: (f64, f64),
        times: u32,
    ) -> Result<Chart<'a, 'b>, Box<dyn std::error::Error>> {
        let of_y = |value: &f64| (self.of_y)(*value);
        let mut chart = panel(area, corner, times, &of_y)?;
        for (colour, _, of) in &self.lines {
            draw_steps(&mut chart, *colour, curve, |point| of(point).filter(|value| *value <= corner.1))?;
        }
        Ok(chart)
    }
}

/// A value holds until the next one: a connection whose figures stay the same has no rows.
fn draw_steps(
    chart: &mut Chart<'_, '_>,
    colour: RGBColor,
    curve: &Curve,
    value: impl Fn(&Point) -> Option<f64>,
) -> Drawn {
    let mut line = Vec::new();
    for (place, point) in curve.points.iter().enumerate() {
        let until = curve.points.get(place + 1).map_or(point.time, |next| next.time);
        match value(point) {
            Some(at) => line.extend([(point.time, at), (until, at)]),
            None => {
                chart.draw_series(LineSeries::new(line.drain(..), colour.stroke_width(2)))?;
            }
        }
    }
    chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
    Ok(())
}
