//! Translates strings for netem, dummynet and tbf, which people already have, into keys of a lab file.
//!
//! A translation says exactly where the meaning here differs. Nothing is left out in silence: what has no equivalent is
//! an error that says why.

mod dummynet;
mod netem;
mod number;
mod tbf;
mod words;

use crate::words::words;
use std::fmt;

words! {
    /// The language of a string, named after the tool that reads it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Dialect {
        /// `tc qdisc add … netem …` of iproute2.
        Netem = "netem",
        /// `ipfw pipe N config …` of FreeBSD.
        Dummynet = "dummynet",
        /// `tc qdisc add … tbf …` of iproute2.
        Tbf = "tbf",
    }
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 3] = [Self::Netem, Self::Dummynet, Self::Tbf];
}

/// A string of another dialect, translated into keys of a lab file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// Keys of a direction and their values, as a lab file would have them.
    pub keys: Vec<(&'static str, String)>,
    /// Notes on where the meaning differs, and why: one sentence or two each.
    pub notes: Vec<String>,
}

impl Translation {
    fn say(&mut self, key: &'static str, value: impl Into<String>) {
        self.keys.push((key, value.into()));
    }

    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// Why a string cannot be translated. The message names the word and says what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignError(String);

impl fmt::Display for ForeignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ForeignError {}

/// Translates `text` from this dialect into keys of a lab file.
///
/// # Errors
/// A word that is not of the dialect, a value that is not one of its kind, or something that has no equivalent.
///
/// ```
/// use netloom_lab::{Dialect, translate};
/// let netem = translate(Dialect::Netem, "delay 100ms loss 0.1%")?;
/// assert_eq!(netem.keys[0], ("delay", "100 ms".to_owned()));
/// # Ok::<(), netloom_lab::ForeignError>(())
/// ```
pub fn translate(dialect: Dialect, text: &str) -> Result<Translation, ForeignError> {
    let translation = match dialect {
        Dialect::Netem => netem::translate(text),
        Dialect::Dummynet => dummynet::translate(text),
        Dialect::Tbf => tbf::translate(text),
    }
    .map_err(|why| ForeignError(format!("{}: {why}", dialect.name())))?;
    if translation.keys.is_empty() {
        return Err(ForeignError(format!("{}: the string sets nothing on a link", dialect.name())));
    }
    Ok(translation)
}

#[cfg(test)]
mod tests;
