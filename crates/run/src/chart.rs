//! What all plots share: SVG, colours, axes.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// Blue and orange that people with any colour vision tell apart (Okabe and Ito 2008).
pub(crate) const FIRST: RGBColor = RGBColor(0, 114, 178);
pub(crate) const SECOND: RGBColor = RGBColor(213, 94, 0);
pub(crate) const GREY: RGBColor = RGBColor(90, 90, 90);
/// How much room is left above the highest point.
pub(crate) const HEADROOM: f64 = 1.08;

pub(crate) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
pub(crate) type Drawn = Result<(), Box<dyn std::error::Error>>;

pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// The picture that `draw` makes, as the text of an SVG file.
pub(crate) fn drawn(size: (u32, u32), draw: impl Fn(&Area<'_>) -> Drawn) -> String {
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
pub(crate) fn axes<'a, 'b>(
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
pub(crate) fn labels(chart: &mut Chart<'_, '_>, x: &str, y: &str, of_y: &dyn Fn(&f64) -> String) -> Drawn {
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(x).y_desc(y).x_labels(10).y_labels(6).light_line_style(TRANSPARENT).y_label_formatter(&of_y);
    let of_x = |at: &f64| if at.fract().abs() < 1e-9 { format!("{at:.0}") } else { format!("{at:.2}") };
    mesh.x_label_formatter(&of_x);
    mesh.label_style(("sans-serif", 13)).axis_desc_style(("sans-serif", 14)).draw()?;
    Ok(())
}
