//! Measured delays: drawn from a file, or replayed in its order.

use super::draws::Draws;
use super::lines::{records, wrong};
use super::nanoseconds;
use crate::ConfigError;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use netloom_units::{Duration, ParseError};

/// Delays as they were measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(Arc<[Duration]>);

impl Values {
    /// Reads one delay like `12.5 ms` per line; `#` begins a comment.
    ///
    /// # Errors
    /// A line that is not a delay; no delay at all.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let delay = |(number, record): (usize, &str)| record.parse().map_err(|why: ParseError| wrong(number, why));
        let values = records(text).map(delay).collect::<Result<Vec<Duration>, ConfigError>>()?;
        if values.is_empty() {
            return Err(ConfigError::new("file", "it has no delays: write one per line, for example 12.5 ms"));
        }
        Ok(Self(values.into()))
    }
}

/// Delays from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// The delays.
    pub values: Values,
    /// The file from which they came.
    pub file: String,
    /// Whether they come in the order of the file, again from its beginning after its end; otherwise each is drawn as
    /// often as the others, independently of those before.
    pub replay: bool,
}

impl Samples {
    /// Delays that could be read make sense.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    pub(super) fn mean(&self) -> f64 {
        let values = &self.values.0;
        values.iter().map(|value| nanoseconds(*value) / values.len() as f64).sum()
    }

    /// The bound below which nothing is drawn.
    pub(super) fn least(&self) -> f64 {
        self.values.0.iter().min().map_or(0.0, |least| nanoseconds(*least))
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> f64 {
        let values = &self.values.0;
        let count = values.len();
        nanoseconds(values[if self.replay { draws.next_place(count) } else { draws.index(count) }])
    }
}
