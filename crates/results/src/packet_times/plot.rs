//! Packet times as a picture.

use super::FlowTimes;
use crate::chart::{
    AMBER, Area, BLACK_INK, Drawn, FIRST, HEADROOM, PURPLE, SECOND, THIRD, axes, count_tick, drawn, labels,
};
use plotters::prelude::*;

const SIZE: (u32, u32) = (900, 520);
const COLOURS: [RGBColor; 7] = [FIRST, SECOND, THIRD, PURPLE, AMBER, RGBColor(86, 180, 233), BLACK_INK];
/// More names than these hide the curves.
const MOST_NAMES: usize = 14;

/// The number of data packets of each flow over the time since its SYN, as SVG.
pub fn plot(flows: &[FlowTimes]) -> String {
    let right = flows.iter().filter_map(|flow| flow.times_ns.last()).max().map_or(1.0, |last| seconds(*last));
    let top = flows.iter().map(|flow| flow.data_packets).max().unwrap_or(1) as f64;
    // A single packet at once is a plot, too.
    let corner = (right.max(1e-9) * HEADROOM, top.max(1.0) * HEADROOM);
    drawn(SIZE, |area| curves(area, flows, corner))
}

fn curves(area: &Area<'_>, flows: &[FlowTimes], corner: (f64, f64)) -> Drawn {
    let mut chart = axes(area, "", corner)?;
    labels(&mut chart, "time since the SYN (s)", "data packets", &|count| count_tick(*count))?;
    for (number, flow) in flows.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let points = flow.times_ns.iter().enumerate().map(|(index, at)| (seconds(*at), (index + 1) as f64));
        let series = chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
        if number < MOST_NAMES {
            let name = format!("{} > {} at {}", flow.from, flow.to, flow.at);
            series.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
    }
    let place = SeriesLabelPosition::UpperLeft;
    chart
        .configure_series_labels()
        .position(place)
        .background_style(WHITE.mix(0.8))
        .label_font(("sans-serif", 13))
        .draw()?;
    Ok(())
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
