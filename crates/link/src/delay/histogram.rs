//! Delay from a histogram: bins with weights, uniformly distributed within each bin.

use super::draws::Draws;
use super::lines::{records, wrong};
use super::nanoseconds;
use crate::ConfigError;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use netloom_units::{Duration, ParseError};

/// The bins of a histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Bins(Arc<[Edge]>);

/// Where a bin begins.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Edge {
    /// The shortest delay of the bin, in nanoseconds.
    from: f64,
    /// The weights of all bins before it.
    before: f64,
}

impl Bins {
    /// Reads lines like `10 ms, 3`: where a bin begins, and its weight. It ends where the next begins; the last line
    /// ends the last bin and has the weight 0. `#` begins a comment.
    ///
    /// # Errors
    /// A line of another form, a delay not longer than the one before, a weight below zero; no bin, a last weight that
    /// is not 0, weights that are all 0 or too large to be added.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let mut edges: Vec<Edge> = Vec::new();
        let (mut total, mut longest, mut last) = (0.0, None, None);
        for (number, record) in records(text) {
            let (from, weight) = bin(record).map_err(|why| wrong(number, why))?;
            if longest.is_some_and(|longest| from <= longest) {
                return Err(wrong(number, format!("{from} does not come after the delay of the line before")));
            }
            edges.push(Edge { from: nanoseconds(from), before: total });
            total += weight;
            (longest, last) = (Some(from), Some((number, weight)));
        }
        match last {
            Some((number, weight)) if weight > 0.0 => {
                Err(wrong(number, "the last line only says where the last bin ends: its weight is 0"))
            }
            _ if edges.len() < 2 => {
                Err(ConfigError::new("file", "it has no bins: write two or more lines like `10 ms, 3`"))
            }
            _ if total == 0.0 => Err(ConfigError::new("file", "all weights are zero: no delay is possible")),
            _ if !total.is_finite() => Err(ConfigError::new("file", "the sum of the weights is too large")),
            _ => Ok(Self(edges.into())),
        }
    }

    /// The bins with their bounds and weights.
    fn all(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        self.0.windows(2).map(|pair| (pair[0].from, pair[1].from, pair[1].before - pair[0].before))
    }

    fn total(&self) -> f64 {
        self.0.last().map_or(0.0, |end| end.before)
    }
}

/// `10 ms, 3`.
fn bin(record: &str) -> Result<(Duration, f64), String> {
    let form = || format!("\"{record}\" is not a delay and a weight like `10 ms, 3`");
    let (from, weight) = record.split_once(',').ok_or_else(form)?;
    let from = from.parse().map_err(|error: ParseError| error.to_string())?;
    let number = weight.trim().parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0);
    let why = || format!("\"{}\" is not a weight: write a number from 0", weight.trim());
    Ok((from, number.ok_or_else(why)?))
}

/// A delay that a histogram describes.
///
/// Drawn by the inverse of the distribution function, which is linear within each bin (GINE, section 4.2: table lookup
/// for a "measured distribution").
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The bins.
    pub bins: Bins,
    /// The file from which they came.
    pub file: String,
}

impl Histogram {
    /// Bins that could be read make sense.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    pub(super) fn mean(&self) -> f64 {
        let parts = self.bins.all().map(|(from, to, weight)| (from / 2.0 + to / 2.0) * (weight / self.bins.total()));
        parts.sum()
    }

    /// The bound below which nothing is drawn.
    pub(super) fn least(&self) -> f64 {
        self.bins.0.first().map_or(0.0, |edge| edge.from)
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> f64 {
        let edges = &self.bins.0;
        let place = draws.unit() * self.bins.total();
        // The last edge whose bin begins before the place; the place lies below the total, so it is never the end.
        let index = edges.partition_point(|edge| edge.before <= place) - 1;
        let (here, next) = (edges[index], edges[(index + 1).min(edges.len() - 1)]);
        let share = (place - here.before) / (next.before - here.before);
        here.from + (next.from - here.from) * share
    }
}
