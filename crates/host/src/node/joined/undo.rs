//! Parameters of the kernel that a container had otherwise.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};

use serde::{Deserialize, Serialize};

use crate::error::{Attempted, KernelError};
use crate::sysctl;

/// A parameter and the value that it had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Before {
    key: String,
    value: String,
}

/// What is to be put back. The agent reports each change to the keeper before it happens.
#[derive(Debug)]
pub(crate) struct Undo {
    changed: Vec<Before>,
    keeper: PipeWriter,
}

impl Undo {
    pub(super) fn new(keeper: PipeWriter) -> Self {
        Self { changed: Vec::new(), keeper }
    }

    /// To be called before the parameter is set; one that this kernel does not have needs nothing.
    pub(crate) fn note(&mut self, key: &str) -> Result<(), KernelError> {
        let Ok(value) = sysctl::get(key) else { return Ok(()) };
        let before = Before { key: key.to_owned(), value: value.trim_end().to_owned() };
        let mut line = serde_json::to_vec(&before).expect("it is plain data");
        line.push(b'\n');
        self.keeper.write_all(&line).attempted(|| format!("note what {key} was"))?;
        self.changed.push(before);
        Ok(())
    }

    /// Sets a parameter unless it has that value.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), KernelError> {
        match sysctl::get(key) {
            Ok(now) if now.trim_end() == value => Ok(()),
            // Kernels can be built without it.
            Err(error) if error.errno() == libc::ENOENT => Ok(()),
            _ => self.note(key).and_then(|()| sysctl::set(key, value)),
        }
    }

    /// Puts everything back, the last change first.
    pub(super) fn put_back(mut self) {
        restore(&self.changed);
        // Without a keeper there is nobody to tell.
        let _ = self.keeper.write_all(b"\n");
    }
}

fn restore(changed: &[Before]) {
    for Before { key, value } in changed.iter().rev() {
        // What the kernel refuses here, nobody can do better.
        let _ = sysctl::set(key, value);
    }
}

/// Waits until the other end is closed, and puts back what its process has not.
pub(super) fn await_and_restore(told: PipeReader) {
    let mut changed = Vec::new();
    for line in BufReader::new(told).lines() {
        let Ok(line) = line else { break };
        match serde_json::from_str(&line) {
            Ok(before) => changed.push(before),
            // An empty one: all was put back.
            Err(_) => changed.clear(),
        }
    }
    restore(&changed);
}
