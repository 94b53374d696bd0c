//! `tcp.csv`: the state of TCP connections inside nodes, one row per connection and sample.

use crate::Folder;
use crate::WriteError;
use netloom_judge::TcpReport;
use netloom_units::Duration;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// The file's name.
pub(crate) const FILE: &str = "tcp.csv";

/// Writes the file, node by node.
#[derive(Debug)]
pub struct TcpTable {
    file: BufWriter<File>,
    path: PathBuf,
    connections: BTreeSet<(String, u64)>,
    report: TcpReport,
}

impl TcpTable {
    /// Creates `tcp.csv`. `columns` are the names of those that a row has beside time and node, with commas between them.
    pub fn create(folder: &Folder, columns: &str) -> Result<Self, WriteError> {
        let path = folder.path().join(FILE);
        let mut file = BufWriter::new(folder.file(FILE)?);
        writeln!(file, "time_s,node,{columns}").map_err(WriteError::file(&path))?;
        let report = TcpReport { file: FILE.to_owned(), ..TcpReport::default() };
        Ok(Self { file, path, connections: BTreeSet::new(), report })
    }

    /// Writes what was sampled of a node's connection of this number so long after time zero.
    pub fn add(&mut self, elapsed: Duration, node: &str, connection: u64, values: &str) -> Result<(), WriteError> {
        writeln!(self.file, "{:.6},{node},{values}", elapsed.as_secs_f64()).map_err(WriteError::file(&self.path))?;
        self.connections.insert((node.to_owned(), connection));
        self.report.rows += 1;
        Ok(())
    }

    /// So many rows are missing.
    pub fn left_out(&mut self, rows: u64) {
        self.report.left_out += rows;
    }

    /// A node has as many rows as it may have.
    pub fn is_full(&mut self, node: &str) {
        if !self.report.full.iter().any(|known| known == node) {
            self.report.full.push(node.to_owned());
        }
    }

    /// All rows are in the file.
    pub fn finish(mut self) -> Result<TcpReport, WriteError> {
        self.file.flush().map_err(WriteError::file(&self.path))?;
        self.report.connections = self.connections.len() as u64;
        Ok(self.report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_their_header() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::existing(root.path().to_owned()).unwrap();
        let mut table = TcpTable::create(&folder, "connection,cwnd_packets").unwrap();
        table.add(Duration::from_millis(10), "a", 0, "0,10").unwrap();
        table.add(Duration::from_micros(20_001), "a", 0, "0,11").unwrap();
        table.left_out(3);
        table.is_full("a");
        table.is_full("a");
        let report = table.finish().unwrap();
        assert_eq!((report.connections, report.rows, report.left_out, report.full.len()), (1, 2, 3, 1));
        let text = std::fs::read_to_string(root.path().join(FILE)).unwrap();
        assert_eq!(text, "time_s,node,connection,cwnd_packets\n0.010000,a,0,10\n0.020001,a,0,11\n");
    }
}
