//! Which pictures of a run or a simulation there are.

use crate::quantity::counted;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Which pictures were drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plots {
    /// The folder with the pictures, in the results folder.
    pub folder: PathBuf,
    /// The pictures of pipes in it: those that carried most come first.
    pub pictures: Vec<String>,
    /// How many pipes carried or dropped something.
    pub busy: usize,
}

impl Plots {
    /// Whether all have a picture, in words.
    pub fn extent(&self) -> String {
        let drawn = self.pictures.len();
        match self.busy {
            busy if drawn < busy => format!("{drawn} of {busy} pipes, those that carried most"),
            busy => counted(busy, "pipe"),
        }
    }
}
