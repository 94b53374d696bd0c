//! Writes operations as `netloom history check` reads them, one JSON object a line. It needs the crates `libc` and `serde_json`.

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// The operations of one process: one thread, one call at a time. Several may write to one file.
pub struct History {
    file: File,
    process: String,
}

impl History {
    /// Appends to a file, by default to `$NETLOOM_HISTORY`.
    pub fn open(path: Option<&str>, process: &str) -> io::Result<Self> {
        let named = std::env::var("NETLOOM_HISTORY").ok();
        let path = path.or(named.as_deref()).ok_or(io::ErrorKind::NotFound)?;
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(Self { file, process: process.to_owned() })
    }

    /// Appends an event: `invoke`, `ok`, `fail` (no effect, ever) or `info` (nobody knows).
    pub fn record(&mut self, kind: &str, f: &str, key: &Value, value: &Value) -> io::Result<()> {
        let event = json!({
            "process": self.process, "type": kind, "f": f, "key": key, "value": value, "time": now(),
        });
        self.file.write_all(format!("{event}\n").as_bytes())
    }
}

/// Returns the time since the kernel's start in nanoseconds.
fn now() -> i64 {
    let is_real = std::env::var("NETLOOM_HISTORY_CLOCK").is_ok_and(|clock| clock == "realtime");
    let clock = if is_real { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is that of a timespec of this function.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
