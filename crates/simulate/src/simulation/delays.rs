//! How long the packets of each source took, as pictures: distributions that nothing else in the results has.

use netloom_judge::quantity::span;
use netloom_results::chart::{Area, Drawn, FIRST, HEADROOM, SECOND, axes, drawn, labels, tick};
use netloom_results::{Folder, WriteError};
use netloom_sim::SourceOutcome;
use netloom_units::Duration;
use plotters::prelude::*;

/// The size of a picture in pixels; SVG scales it.
const SIZE: (u32, u32) = (900, 320);
/// A distribution is drawn at so many quantiles.
const QUANTILES: u32 = 500;

/// One picture per source whose packets arrived, in `plots/`.
pub(super) fn draw(folder: &Folder, sources: &[SourceOutcome]) -> Result<(), WriteError> {
    folder.make_folder("plots")?;
    for source in sources.iter().filter(|source| source.delays.count() > 0) {
        let svg = drawn(SIZE, |area| delays(area, source));
        folder.write(&format!("plots/delay-{}.svg", source.name), svg)?;
    }
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
