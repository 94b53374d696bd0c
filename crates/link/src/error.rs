//! Errors in the description of models.

use alloc::string::String;
use core::fmt;

/// An invalid description of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The name of the parameter in the lab file; empty if the error is about the whole model.
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
        match self.key {
            "" => f.write_str(&self.message),
            key => write!(f, "{key}: {}", self.message),
        }
    }
}

impl core::error::Error for ConfigError {}
