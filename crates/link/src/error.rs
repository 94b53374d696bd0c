//! Errors in the description of models.

use alloc::string::String;
use core::fmt;

/// An invalid description of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The parameter, as the lab file calls it; empty if it is about the whole model.
    pub key: &'static str,
    /// What is wrong with it and what would be right.
    pub message: String,
}

impl ConfigError {
    /// An error about the parameter `key`.
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
