//! Delay from a table: the inverse of a distribution function, as netem and NIST Net read it.

use super::draws::Draws;
use super::lines::{records, wrong};
use super::nanoseconds;
use crate::ConfigError;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use netloom_units::Duration;

/// What stands for one deviation in a table: iproute2, `NETEM_DIST_SCALE`.
const SCALE: f64 = 8192.0;

/// The most values of a table: iproute2, `NETEM_DIST_MAX`.
const MOST: usize = 16_384;

/// The values of a table, at equal steps of probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Table(Arc<[i16]>);

impl Table {
    /// Reads a `.dist` file: whole numbers from -32768 to 32767 between blanks; `#` begins a comment.
    ///
    /// # Errors
    /// Something else between the blanks; no number, or more than 16,384.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let mut values: Vec<i16> = Vec::new();
        for (number, record) in records(text) {
            for word in record.split_whitespace() {
                if values.len() == MOST {
                    return Err(wrong(number, format!("the table goes on after {MOST} values, which netem allows")));
                }
                let value = word.parse();
                let why =
                    || format!("\"{word}\" is not a whole number from -32768 to 32767; 8192 is one standard deviation");
                values.push(value.map_err(|_| wrong(number, why()))?);
            }
        }
        if values.is_empty() {
            return Err(ConfigError::new("file", format!("it has no values: a table has 1 to {MOST}")));
        }
        Ok(Self(values.into()))
    }
}

/// A delay that a table describes.
///
/// mean + deviation table\[u\] / 8192, each value as likely as the others. Source: iproute2, `tc/q_netem.c` and
/// `netem/`; Linux, `net/sched/sch_netem.c`. Differs from Linux in that nothing is rounded before the whole nanosecond,
/// and in the meaning of the correlation, which Linux applies to u.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDelay {
    /// The delay where the table says 0.
    pub mean: Duration,
    /// How much more it is where the table says 8192.
    pub deviation: Duration,
    /// The table.
    pub table: Table,
    /// The file from which it came.
    pub file: String,
}

impl TableDelay {
    /// Every pair makes sense; a deviation of zero gives a constant delay.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    pub(super) fn mean(&self) -> f64 {
        let values = &self.table.0;
        let sum: f64 = values.iter().map(|value| f64::from(*value)).sum();
        self.delay(sum / values.len() as f64)
    }

    /// The bound below which nothing is drawn.
    pub(super) fn least(&self) -> f64 {
        self.delay(self.table.0.iter().min().copied().map_or(0.0, f64::from))
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> f64 {
        let values = &self.table.0;
        self.delay(f64::from(values[draws.index(values.len())]))
    }

    fn delay(&self, value: f64) -> f64 {
        nanoseconds(self.mean) + nanoseconds(self.deviation) * (value / SCALE)
    }
}
