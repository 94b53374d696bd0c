//! Loss by a sequence that says for each packet whether it is lost: a pattern that was written by hand, or a recording.
//!
//! The sequence is a text of the characters `0` (this packet passes) and `1` (this packet is lost). Blanks and ends of
//! lines mean nothing, and neither does anything from `#` to the end of its line: both one long line and one packet per
//! line can be read. Behind its end it begins again, or all packets pass.

use crate::ConfigError;
use alloc::{format, string::String, sync::Arc, vec::Vec};

/// A sequence of losses: for each packet in turn, whether it is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceConfig {
    /// Whether each packet is lost, in the order in which packets come.
    pub lost: Arc<[bool]>,
    /// The behaviour after the end of the sequence.
    pub then: Then,
    /// The file that the sequence came from, as the lab file names it; none if the lab file has it itself.
    pub file: Option<String>,
}

/// The behaviour after the end of a sequence of losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    /// The sequence begins again.
    #[default]
    Repeat,
    /// Nothing is lost any more.
    Pass,
}

impl SequenceConfig {
    /// Reads what the module's documentation describes.
    ///
    /// # Errors
    /// The line and the character that mean nothing.
    pub fn parse(text: &str) -> Result<Arc<[bool]>, ConfigError> {
        let mut lost = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default();
            for character in content.chars().filter(|character| !character.is_whitespace()) {
                lost.push(match character {
                    '0' => false,
                    '1' => true,
                    other => {
                        let message = format!("line {}: {other:?} is neither 0 (passes) nor 1 (is lost)", index + 1);
                        return Err(ConfigError::new("", message));
                    }
                });
            }
        }
        Ok(lost.into())
    }

    /// Whether there is anything in the sequence.
    ///
    /// # Errors
    /// If there is nothing.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.lost.is_empty() {
            return Err(ConfigError::new("", "it has no packets: write 0 for one that passes, 1 for a lost one"));
        }
        Ok(())
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    lost: Arc<[bool]>,
    then: Then,
    at: usize,
}

impl Sequence {
    pub(crate) fn new(config: SequenceConfig) -> Self {
        Self { lost: config.lost, then: config.then, at: 0 }
    }

    pub(crate) fn takes(&mut self) -> bool {
        let lost = self.lost.get(self.at).copied().unwrap_or(false);
        self.at = (self.at + 1).min(self.lost.len());
        if self.at == self.lost.len() && self.then == Then::Repeat {
            self.at = 0;
        }
        lost
    }
}
