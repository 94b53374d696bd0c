//! `disks.csv`: the requests to disks of nodes that are noted, one row per request, in the order in which they came.

use crate::Folder;
use crate::WriteError;
use netloom_units::Duration;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

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

/// Returns the instants after time zero at which disks had made durable what they had been asked to, in nanoseconds, each with its node, as far as
/// the file can be read.
pub fn flushes(folder: &Path) -> Vec<(String, u64)> {
    let Ok(file) = File::open(folder.join(FILE)) else { return Vec::new() };
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    lines.filter_map(|line| flush(&line)).collect()
}

/// The node of a row that is about a flush, and its end.
fn flush(row: &str) -> Option<(String, u64)> {
    let [elapsed, node, call, _, _, took] = row.split(',').take(6).collect::<Vec<_>>().try_into().ok()?;
    let is_meant = matches!(call, "flush" | "durable");
    is_meant.then_some((node.to_owned(), nanoseconds(elapsed)?.checked_add(nanoseconds(took)?)?))
}

/// The nanoseconds of a time as [`seconds`] writes it.
fn nanoseconds(text: &str) -> Option<u64> {
    let (whole, rest) = text.split_once('.')?;
    let rest: u64 = if rest.len() == 9 { rest.parse().ok()? } else { return None };
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(rest)
}

/// All nanoseconds of a time, in seconds.
fn seconds(time: Duration) -> String {
    const SECOND: u64 = 1_000_000_000;
    format!("{}.{:09}", time.as_nanos() / SECOND, time.as_nanos() % SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushes_are_read_back_with_their_ends() {
        assert_eq!(flush("2.000091960,a,flush,0,0,0.005000192,"), Some(("a".to_owned(), 2_005_092_152)));
        assert_eq!(flush("0.000000001,b,durable,8,8,1.000000000,late"), Some(("b".to_owned(), 1_000_000_001)));
        for other in [
            "time_s,node,call,sector,sectors,took_s,faults",
            "0.000011320,a,write,120,8,0.000080128,",
            "1.5,a,flush",
            "",
        ] {
            assert_eq!(flush(other), None, "{other}");
        }
        assert!(flushes(Path::new("/nowhere")).is_empty());
    }
}
