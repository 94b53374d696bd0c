//! `netloom mininet` and `netloom mn`: the Python package runs scripts that were written for Mininet.

use super::{Outcome, python};
use std::ffi::OsString;

/// Becomes Python with the package; comes back only if that fails.
pub(super) fn mininet(first: Option<&str>, words: &[OsString]) -> Outcome {
    let words: Vec<OsString> = first.map(OsString::from).into_iter().chain(words.iter().cloned()).collect();
    Err(python::become_module("netloom.mininet", &words, "scripts of Mininet need"))
}
