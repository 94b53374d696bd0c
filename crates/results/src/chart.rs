//! What all plots share: SVG, colours, axes.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// The first of the colours that people with any colour vision tell apart (Okabe and Ito 2008).
pub const FIRST: RGBColor = RGBColor(0, 114, 178);
/// The second of them.
pub const SECOND: RGBColor = RGBColor(213, 94, 0);
pub(crate) const THIRD: RGBColor = RGBColor(0, 158, 115);
pub(crate) const PURPLE: RGBColor = RGBColor(204, 121, 167);
pub(crate) const AMBER: RGBColor = RGBColor(230, 159, 0);
pub(crate) const BLACK_INK: RGBColor = RGBColor(0, 0, 0);
pub(crate) const GREY: RGBColor = RGBColor(90, 90, 90);
/// How much room is left above the highest point.
pub const HEADROOM: f64 = 1.08;

/// A chart with two linear axes.
pub type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
/// Whether something could be drawn.
pub type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A part of a picture.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// The picture that `draw` makes, as the text of an SVG file.
pub fn drawn(size: (u32, u32), draw: impl Fn(&Area<'_>) -> Drawn) -> String {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let outcome = area.fill(&WHITE).map_err(Into::into).and_then(|()| draw(&area));
        let finished = outcome.and_then(|()| area.present().map_err(Into::into));
        finished.expect("drawing to a string cannot fail, and no plot has an empty axis");
    }
    svg
}

/// Both axes begin at zero.
pub fn axes<'a, 'b>(
    area: &Area<'b>,
    title: &str,
    (right, top): (f64, f64),
) -> Result<Chart<'a, 'b>, Box<dyn std::error::Error>>
where
    'b: 'a,
{
    let mut builder = ChartBuilder::on(area);
    builder.margin(12).margin_right(24).x_label_area_size(36).y_label_area_size(100);
    if !title.is_empty() {
        builder.caption(title, ("sans-serif", 18));
    }
    Ok(builder.build_cartesian_2d(0.0..right, 0.0..top)?)
}

/// Names and numbers of both axes.
pub fn labels(chart: &mut Chart<'_, '_>, x: &str, y: &str, of_y: &dyn Fn(&f64) -> String) -> Drawn {
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(x).y_desc(y).x_labels(10).y_labels(6).light_line_style(TRANSPARENT).y_label_formatter(&of_y);
    let of_x = |at: &f64| tick(*at);
    mesh.x_label_formatter(&of_x);
    mesh.label_style(("sans-serif", 13)).axis_desc_style(("sans-serif", 14)).draw()?;
    Ok(())
}

/// One of several charts over the same time, below each other. Only the last has room for numbers at its time axis.
pub(crate) fn panel<'a, 'b: 'a>(
    area: &Area<'b>,
    (right, top): (f64, f64),
    time_axis: u32,
    of_y: &dyn Fn(&f64) -> String,
) -> Result<Chart<'a, 'b>, Box<dyn std::error::Error>> {
    let mut builder = ChartBuilder::on(area);
    builder.margin_left(12).margin_right(24).margin_top(2).margin_bottom(4);
    builder.x_label_area_size(time_axis).y_label_area_size(80);
    let mut chart = builder.build_cartesian_2d(0.0..right, 0.0..top)?;
    let mut mesh = chart.configure_mesh();
    mesh.x_labels(10).y_labels(if time_axis > 0 { 4 } else { 5 });
    mesh.light_line_style(TRANSPARENT).bold_line_style(BLACK.mix(0.12));
    let of_x = |at: &f64| tick(*at);
    mesh.x_label_formatter(&of_x).y_label_formatter(&of_y);
    if time_axis > 0 {
        mesh.x_desc("time in s");
    }
    mesh.label_style(("sans-serif", 13)).axis_desc_style(("sans-serif", 14)).draw()?;
    drop(mesh);
    Ok(chart)
}

/// A number at an axis with all the digits that tell it from its neighbours, and no others.
pub fn tick(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number of things at an axis; nothing between two of them.
pub fn count_tick(value: f64) -> String {
    if (value - value.round()).abs() < 1e-9 { format!("{value:.0}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_ticks_look_alike() {
        let ticks = |step: f64, show: fn(f64) -> String| (0..6).map(|n| show(f64::from(n) * step)).collect::<Vec<_>>();
        assert_eq!(ticks(0.2, tick), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(ticks(0.005, tick), ["0", "0.005", "0.01", "0.015", "0.02", "0.025"]);
        assert_eq!(ticks(20.0, tick), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(ticks(0.2, count_tick), ["0", "", "", "", "", "1"]);
    }
}
