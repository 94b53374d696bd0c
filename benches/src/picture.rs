//! Figures as SVG, in the colours of the reports.

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;

type Drawn = Result<(), Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Colours that people with any colour vision tell apart (Okabe and Ito 2008).
pub(crate) const BLUE: RGBColor = RGBColor(0, 114, 178);
pub(crate) const ORANGE: RGBColor = RGBColor(213, 94, 0);
pub(crate) const GREEN: RGBColor = RGBColor(0, 158, 115);
pub(crate) const YELLOW: RGBColor = RGBColor(230, 159, 0);
pub(crate) const GREY: RGBColor = RGBColor(120, 120, 120);

const PANEL: (u32, u32) = (460, 380);
const FAINT: RGBColor = RGBColor(225, 225, 225);
const HEADROOM: f64 = 1.06;
/// Half the width of the ends of an error bar, as a share of the x axis.
const CAP: f64 = 0.008;

/// How a series is drawn.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Stroke {
    /// A line of this width.
    Line(u32),
    /// Points with bars of one standard deviation, joined by a thin line.
    Bars,
    /// The same without the line.
    Points,
}

/// A curve, or points with deviations.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) colour: RGBColor,
    pub(crate) stroke: Stroke,
    /// x, y, and the length of the bar above and below; without meaning for lines.
    pub(crate) points: Vec<(f64, f64, f64)>,
}

/// One plot of a figure.
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    /// Where the x axis is labelled, in rising order; its first and last are the axis's ends.
    pub(crate) ticks: Vec<f64>,
    /// Equal ratios, not equal differences, are equally far apart on the x axis.
    pub(crate) by_ratio: bool,
    /// The y axis ends here; none: above the highest point.
    pub(crate) top: Option<f64>,
    /// Where the y axis begins.
    pub(crate) bottom: f64,
    pub(crate) series: Vec<Series>,
    /// In this corner nothing is drawn that the names of the series could hide.
    pub(crate) names: SeriesLabelPosition,
}

/// The figure with these panels side by side, as SVG.
pub(crate) fn svg(panels: &[Panel]) -> Result<String, String> {
    let mut svg = String::new();
    draw(&mut svg, panels).map_err(|error| format!("drawing {}: {error}", panels[0].title))?;
    Ok(svg)
}

fn draw(svg: &mut String, panels: &[Panel]) -> Drawn {
    let count = u32::try_from(panels.len())?;
    let whole = SVGBackend::with_string(svg, (PANEL.0 * count, PANEL.1)).into_drawing_area();
    whole.fill(&WHITE)?;
    for (panel, area) in panels.iter().zip(whole.split_evenly((1, panels.len()))) {
        panel.draw(&area)?;
    }
    whole.present()?;
    Ok(())
}

impl Panel {
    fn place(&self, x: f64) -> f64 {
        if self.by_ratio { x.log10() } else { x }
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        let highest = self.series.iter().flat_map(|series| &series.points).map(|(_, y, bar)| y + bar);
        let top = self.top.unwrap_or_else(|| highest.fold(f64::MIN_POSITIVE, f64::max) * HEADROOM);
        let ticks: Vec<f64> = self.ticks.iter().map(|x| self.place(*x)).collect();
        let (left, right) = (*ticks.first().ok_or("no ticks")?, *ticks.last().ok_or("no ticks")?);
        // Points at the ends of the axis keep clear of its frame where they have bars.
        let room =
            if self.series.iter().any(|s| !matches!(s.stroke, Stroke::Line(_))) { (right - left) * 0.04 } else { 0.0 };
        let across = Across { from: left - room, to: right + room, ticks };
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(18)
            .caption(&self.title, ("sans-serif", 16))
            .x_label_area_size(38)
            .y_label_area_size(58)
            .build_cartesian_2d(across, self.bottom..top)?;
        let of_x = |at: &f64| number(if self.by_ratio { 10_f64.powf(*at) } else { *at });
        let of_y = |at: &f64| number(*at);
        chart
            .configure_mesh()
            .x_desc(self.x)
            .y_desc(self.y)
            .x_label_formatter(&of_x)
            .y_label_formatter(&of_y)
            .y_labels(6)
            .bold_line_style(FAINT)
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", 12))
            .axis_desc_style(("sans-serif", 13))
            .draw()?;
        let cap = (right - left) * CAP;
        for series in &self.series {
            let width = if let Stroke::Line(width) = series.stroke { width } else { 1 };
            let style = series.colour.stroke_width(width);
            let points: Vec<(f64, f64, f64)> =
                series.points.iter().map(|(x, y, bar)| (self.place(*x), *y, *bar)).collect();
            let joined = if series.stroke == Stroke::Points { &[] } else { &points[..] };
            let line = LineSeries::new(joined.iter().map(|(x, y, _)| (*x, *y)), style);
            let sample = series.colour.stroke_width(width.max(2));
            chart
                .draw_series(line)?
                .label(series.name.clone())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], sample));
            if !matches!(series.stroke, Stroke::Line(_)) {
                chart.draw_series(points.iter().flat_map(|point| bar(*point, self.bottom, cap, style)))?;
                chart.draw_series(points.iter().map(|(x, y, _)| Circle::new((*x, *y), 3, series.colour.filled())))?;
            }
        }
        chart
            .configure_series_labels()
            .position(self.names.clone())
            .background_style(WHITE.mix(0.85))
            .label_font(("sans-serif", 12))
            .draw()?;
        Ok(())
    }
}

/// An axis that is labelled where it is told to.
struct Across {
    from: f64,
    to: f64,
    ticks: Vec<f64>,
}

impl Ranged for Across {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (left, right): (i32, i32)) -> i32 {
        let share = (value - self.from) / (self.to - self.from);
        left + (share * f64::from(right - left)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.from..self.to
    }
}

/// One bar: up and down by a standard deviation, with caps.
fn bar((x, y, length): (f64, f64, f64), bottom: f64, cap: f64, style: ShapeStyle) -> [PathElement<(f64, f64)>; 3] {
    let (low, high) = ((y - length).max(bottom), y + length);
    [[(x, low), (x, high)], [(x - cap, low), (x + cap, low)], [(x - cap, high), (x + cap, high)]]
        .map(|line| PathElement::new(line, style))
}

/// Without a fraction that is not there.
fn number(value: f64) -> String {
    if (value - value.round()).abs() < 1e-9 {
        format!("{value:.0}")
    } else {
        format!("{value:.3}").trim_end_matches('0').to_owned()
    }
}

/// At most `most` of the points, evenly picked, the last among them: more cannot be told apart in a picture.
pub(crate) fn thinned(points: Vec<(f64, f64, f64)>, most: usize) -> Vec<(f64, f64, f64)> {
    let step = points.len().div_ceil(most).max(1);
    let last = points.len().saturating_sub(1);
    points.into_iter().enumerate().filter(|(n, _)| n % step == 0 || *n == last).map(|(_, point)| point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_needless_digits() {
        assert_eq!(["0", "0.001", "0.2", "0.25", "100"], [0.0, 0.001, 0.2, 0.25, 100.0].map(number));
    }

    #[test]
    fn a_thinned_curve_keeps_its_ends() {
        let points: Vec<(f64, f64, f64)> = (0..1000).map(|n| (f64::from(n), 0.0, 0.0)).collect();
        let few = thinned(points, 100);
        assert!(few.len() <= 101, "{}", few.len());
        assert_eq!((few[0].0, few[few.len() - 1].0), (0.0, 999.0));
    }

    #[test]
    fn a_figure_has_a_panel_for_each_plot_and_names_its_series() {
        let series = |name: &str, stroke| Series {
            name: name.to_owned(),
            colour: BLUE,
            stroke,
            points: vec![(1.0, 2.0, 0.5), (10.0, 3.0, 0.5)],
        };
        let panel = |by_ratio| Panel {
            title: "a plot".to_owned(),
            x: "x",
            y: "y",
            ticks: vec![1.0, 10.0],
            by_ratio,
            top: None,
            bottom: 0.0,
            series: vec![series("first", Stroke::Line(2)), series("second", Stroke::Bars)],
            names: SeriesLabelPosition::UpperLeft,
        };
        let mut svg = String::new();
        draw(&mut svg, &[panel(false), panel(true)]).unwrap();
        assert_eq!(svg.matches("a plot").count(), 2);
        assert_eq!(svg.matches("second").count(), 2);
    }
}
