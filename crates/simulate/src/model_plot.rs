//! The model plot of a pipe: what its models do to packets, as a picture and in a few figures.

use netloom_judge::quantity::{rate, span};
use netloom_link::PipeConfig;
use netloom_results::chart::{Area, Drawn, FIRST, HEADROOM, SECOND, axes, count_tick, drawn, labels, tick};
use netloom_sim::{MODEL_PLOT_GAP, MODEL_PLOT_PACKET, ModelPlot};
use netloom_units::{Duration, Seed, quantile};
use plotters::prelude::*;
use std::fmt::Write;

/// A request to draw the model plot of a pipe.
#[derive(Clone, Debug)]
pub struct ModelPlotRequest {
    /// The models of the pipe.
    pub config: PipeConfig,
    /// The title above the picture, line by line.
    pub title: Vec<String>,
    /// The seed of the random numbers.
    pub seed: Seed,
    /// How many packets are sent through delay and loss.
    pub packets: u32,
    /// The time that the plot of the rate spans.
    pub span: Duration,
}

/// The size of a row of charts in pixels; SVG scales it.
const ROW: (u32, u32) = (1_000, 300);
/// The height of a line of the title in pixels, and how many letters of it there is room for.
const LINE: u32 = 20;
const LETTERS: usize = 125;
/// Into how many bars a distribution is cut.
const BARS: usize = 80;
/// How much of a distribution is shown; a long tail would squeeze the rest.
const SHOWN: f64 = 0.999;
/// How many packets are shown one by one.
const ONE_BY_ONE: usize = 300;

/// Draws the picture as SVG. Returns it with its figures as lines of text; none if nothing varies.
pub fn model_plot(request: &ModelPlotRequest) -> Option<(String, String)> {
    let seen = netloom_sim::model_plot(&request.config, request.seed, request.packets, request.span);
    let rows: Vec<Row<'_>> = [
        (!seen.delays.is_empty()).then_some(Row::Delay(&seen)),
        seen.losses.contains(&true).then_some(Row::Loss(&seen)),
        (!seen.rates.is_empty()).then_some(Row::Rate(&seen)),
    ]
    .into_iter()
    .flatten()
    .collect();
    if rows.is_empty() {
        return None;
    }
    let heading = LINE * u32::try_from(request.title.len()).expect("a command line has few words") + 12;
    let height = ROW.1 * u32::try_from(rows.len()).expect("three rows at most") + heading;
    let svg = drawn((ROW.0, height), |whole| {
        let (above, below) = whole.split_vertically(heading);
        title(&above, &request.title)?;
        let parts = below.split_evenly((rows.len(), 1));
        rows.iter().zip(&parts).try_for_each(|(row, part)| row.draw(part))
    });
    Some((svg, figures(&seen)))
}

fn title(area: &Area<'_>, lines: &[String]) -> Drawn {
    for (line, top) in lines.iter().zip((8..).step_by(LINE as usize)) {
        let short: String = line.chars().take(LETTERS).collect();
        let more = if short.len() < line.len() { " …" } else { "" };
        area.draw(&Text::new(format!("{short}{more}"), (12, top), ("sans-serif", 14).into_font()))?;
    }
    Ok(())
}

enum Row<'a> {
    Delay(&'a ModelPlot),
    Loss(&'a ModelPlot),
    Rate(&'a ModelPlot),
}

impl Row<'_> {
    fn draw(&self, area: &Area<'_>) -> Drawn {
        let (left, right) = area.split_horizontally(ROW.0 / 2);
        match self {
            Self::Delay(seen) => {
                let ms: Vec<f64> = seen.delays.iter().map(|delay| delay.as_millis_f64()).collect();
                histogram(&left, &ms)?;
                one_by_one(&right, &ms)
            }
            Self::Loss(seen) => {
                bursts(&left, &burst_lengths(&seen.losses))?;
                losses(&right, &seen.losses)
            }
            Self::Rate(seen) => rates(area, &seen.rates),
        }
    }
}

/// How often which delay was given.
fn histogram(area: &Area<'_>, ms: &[f64]) -> Drawn {
    let mut sorted = ms.to_vec();
    sorted.sort_by(f64::total_cmp);
    let right = quantile::least(&sorted, SHOWN).unwrap_or_default().max(1e-6) * HEADROOM;
    let width = right / BARS as f64;
    let mut counts = vec![0_u32; BARS];
    for value in &sorted {
        if let Some(count) = counts.get_mut((value / width) as usize) {
            *count += 1;
        }
    }
    let share = |count: u32| f64::from(count) / ms.len() as f64;
    let top = counts.iter().copied().map(share).fold(0.0, f64::max) * HEADROOM;
    let mut chart = axes(area, "", (right, top))?;
    labels(&mut chart, "delay in ms", "share of packets", &|part| format!("{} %", tick(part * 100.0)))?;
    let bars = counts.iter().enumerate().map(|(place, count)| {
        let from = place as f64 * width;
        Rectangle::new([(from, 0.0), (from + width, share(*count))], FIRST.filled())
    });
    chart.draw_series(bars)?;
    Ok(())
}

/// The delays of the first packets, which show the correlation of neighbours.
fn one_by_one(area: &Area<'_>, ms: &[f64]) -> Drawn {
    let first = &ms[..ms.len().min(ONE_BY_ONE)];
    let top = first.iter().copied().fold(0.0, f64::max).max(1e-6) * HEADROOM;
    let mut chart = axes(area, "", (first.len() as f64, top))?;
    labels(&mut chart, "packet", "delay in ms", &|delay| tick(*delay))?;
    let points = first.iter().enumerate().map(|(number, delay)| (number as f64, *delay));
    chart.draw_series(points.map(|at| Circle::new(at, 2, SECOND.filled())))?;
    Ok(())
}

/// How many losses come in a row, and how often.
fn bursts(area: &Area<'_>, lengths: &[usize]) -> Drawn {
    let longest = lengths.iter().copied().max().unwrap_or(1);
    let mut counts = vec![0_u32; longest + 1];
    lengths.iter().for_each(|length| counts[*length] += 1);
    let share = |count: u32| f64::from(count) / lengths.len() as f64;
    let top = counts.iter().copied().map(share).fold(0.0, f64::max) * HEADROOM;
    let mut chart = axes(area, "", (longest as f64 + 1.0, top))?;
    labels(&mut chart, "losses in a row", "share of bursts", &|part| format!("{} %", tick(part * 100.0)))?;
    let bars = counts.iter().enumerate().skip(1).map(|(length, count)| {
        let at = length as f64;
        Rectangle::new([(at - 0.4, 0.0), (at + 0.4, share(*count))], FIRST.filled())
    });
    chart.draw_series(bars)?;
    Ok(())
}

/// How many packets have been lost until each of the first.
fn losses(area: &Area<'_>, losses: &[bool]) -> Drawn {
    let first = &losses[..losses.len().min(10 * ONE_BY_ONE)];
    let total = first.iter().filter(|lost| **lost).count() as f64;
    let mut chart = axes(area, "", (first.len() as f64, total.max(1.0) * HEADROOM))?;
    labels(&mut chart, "packet", "lost so far", &|count| count_tick(*count))?;
    let mut lost = 0.0;
    let steps = first.iter().enumerate().map(|(number, is_lost)| {
        lost += f64::from(u8::from(*is_lost));
        (number as f64, lost)
    });
    chart.draw_series(LineSeries::new(steps, SECOND.stroke_width(2)))?;
    Ok(())
}

/// What leaves if there is always something to send.
fn rates(area: &Area<'_>, rates: &[(f64, f64)]) -> Drawn {
    let top = rates.iter().map(|(_, bits)| *bits).fold(0.0, f64::max).max(1.0) * HEADROOM;
    let end = rates.last().map_or(1.0, |(seconds, _)| *seconds);
    let mut chart = axes(area, "", (end, top))?;
    labels(&mut chart, "time in s", "rate", &|bits| rate(*bits))?;
    chart.draw_series(LineSeries::new(rates.iter().copied(), FIRST.stroke_width(2)))?;
    Ok(())
}

fn burst_lengths(losses: &[bool]) -> Vec<usize> {
    losses.split(|lost| !lost).map(<[bool]>::len).filter(|length| *length > 0).collect()
}

fn figures(seen: &ModelPlot) -> String {
    let mut text = String::new();
    let mut line = |words: String| writeln!(text, "{words}").expect("strings take everything");
    if !seen.delays.is_empty() {
        let ns: Vec<f64> = seen.delays.iter().map(|delay| delay.as_nanos() as f64).collect();
        let mean = ns.iter().sum::<f64>() / ns.len() as f64;
        let deviation = (ns.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / ns.len() as f64).sqrt();
        let mut sorted = ns;
        sorted.sort_by(f64::total_cmp);
        let at = |share| span(quantile::least(&sorted, share).unwrap_or_default() as u64);
        line(format!(
            "delay of {} packets {} apart: mean {}, deviation {}, median {}, 99 % {}, longest {}",
            sorted.len(),
            MODEL_PLOT_GAP,
            span(mean as u64),
            span(deviation as u64),
            at(0.5),
            at(0.99),
            at(1.0)
        ));
    }
    if !seen.losses.is_empty() {
        let lost = seen.losses.iter().filter(|lost| **lost).count();
        let bursts = burst_lengths(&seen.losses);
        let mean = lost as f64 / bursts.len().max(1) as f64;
        let share = lost as f64 * 100.0 / seen.losses.len() as f64;
        let longest = bursts.iter().max().copied().unwrap_or(0);
        line(format!(
            "loss of {} packets of {MODEL_PLOT_PACKET} bytes: {share:.3} %, {mean:.2} in a row on average, {longest} at most",
            seen.losses.len()
        ));
    }
    if !seen.rates.is_empty() {
        let bits = || seen.rates.iter().map(|(_, bits)| *bits);
        let mean = bits().sum::<f64>() / seen.rates.len() as f64;
        let (least, most) = (bits().fold(f64::INFINITY, f64::min), bits().fold(0.0, f64::max));
        line(format!(
            "rate of a pipe that always has something to send: mean {}, least {}, most {}",
            rate(mean),
            rate(least),
            rate(most)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(changes: &[(&str, &str)]) -> ModelPlotRequest {
        let config = changes.iter().fold(PipeConfig::default(), |config, (key, value)| {
            netloom_lab::parse_change(key, value).expect("a value of the lab file").applied_to(&config)
        });
        let span = Duration::from_secs(2);
        ModelPlotRequest { config, title: vec!["test".into()], seed: Seed::new(7), packets: 20_000, span }
    }

    #[test]
    fn a_model_plot_shows_what_varies() {
        let changes = [("delay", "{kind: normal, mean: 20 ms, deviation: 3 ms, order: free}"), ("loss", "10 %")];
        let (svg, text) = model_plot(&request(&changes)).expect("two things vary");
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        // Within one standard error, 3 ms / sqrt(20,000), of what is described.
        assert!(text.contains("mean 20.02 ms, deviation 2.998 ms"), "{text}");
        assert!(text.contains("loss of 20000 packets of 1500 bytes: "), "{text}");
        assert_eq!(text.lines().count(), 2);
    }

    #[test]
    fn nothing_that_varies_is_no_model_plot() {
        assert!(model_plot(&request(&[("delay", "20 ms"), ("rate", "1 Mbit/s")])).is_none());
    }

    #[test]
    fn bursts_are_losses_in_a_row() {
        assert_eq!(burst_lengths(&[true, false, true, true, false, false, true]), [1, 2, 1]);
    }
}
