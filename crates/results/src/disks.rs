//! `disks.csv`: the requests to disks of nodes that are noted, one row per request, in the order in which they came.

use crate::Folder;
use crate::WriteError;
use netloom_units::Duration;
use std::io::{BufWriter, Write};

/// The file's name.
const FILE: &str = "disks.csv";

/// A request to a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskRow<'a> {
    /// How long after time zero it came.
    pub elapsed: Duration,
    /// The node.
    pub node: &'a str,
    /// The request: read, write, durable (a write that is made durable) or flush.
    pub call: &'static str,
    /// The first sector of 512 bytes.
    pub sector: u64,
    /// How many.
    pub sectors: u32,
    /// How long it took.
    pub took: Duration,
    /// The effects of faults on it, a word each with spaces between them.
    pub faults: String,
}

/// Writes `disks.csv`.
///
/// # Errors
/// When the file cannot be written.
pub fn write_disks<'a>(folder: &Folder, rows: impl Iterator<Item = DiskRow<'a>>) -> Result<(), WriteError> {
    let path = folder.path().join(FILE);
    let mut file = BufWriter::new(folder.file(FILE)?);
    writeln!(file, "time_s,node,call,sector,sectors,took_s,faults").map_err(WriteError::file(&path))?;
    for DiskRow { elapsed, node, call, sector, sectors, took, faults } in rows {
        let [elapsed, took] = [elapsed, took].map(seconds);
        writeln!(file, "{elapsed},{node},{call},{sector},{sectors},{took},{faults}")
            .map_err(WriteError::file(&path))?;
    }
    file.flush().map_err(WriteError::file(&path))
}

/// All nanoseconds of a time, in seconds.
fn seconds(time: Duration) -> String {
    const SECOND: u64 = 1_000_000_000;
    format!("{}.{:09}", time.as_nanos() / SECOND, time.as_nanos() % SECOND)
}
