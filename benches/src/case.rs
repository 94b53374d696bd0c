//! A case: something that can be measured by itself.

use crate::row::Row;
use crate::settings::Settings;

/// Something to measure.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// How long it takes, about, on a machine with two processors.
    pub(crate) seconds: u32,
    pub(crate) run: fn(&Settings) -> Result<Vec<Row>, String>,
}

/// A case that `run` measures.
pub(crate) const fn case(
    name: &'static str,
    title: &'static str,
    seconds: u32,
    run: fn(&Settings) -> Result<Vec<Row>, String>,
) -> Case {
    Case { name, title, seconds, run }
}
