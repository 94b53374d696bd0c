//! Errors in the description of a medium.

use alloc::string::String;
use core::fmt;

/// An invalid description of a medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The name of the parameter in the lab file.
    pub key: &'static str,
    /// The text of the error: what is wrong with the parameter and what would be right.
    pub message: String,
}

impl ConfigError {
    /// Creates an error about the parameter `key`.
    pub fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl core::error::Error for ConfigError {}
