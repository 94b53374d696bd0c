//! `nodes.csv`: what nodes use, one row per node and sample.

use crate::Folder;
use crate::WriteError;
use netloom_judge::NodeSampleReport;
use netloom_units::Duration;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// The file's name.
pub(crate) const FILE: &str = "nodes.csv";

/// Writes the file, node by node.
#[derive(Debug)]
pub struct NodeTable {
    file: BufWriter<File>,
    path: PathBuf,
    report: NodeSampleReport,
}

impl NodeTable {
    /// Creates `nodes.csv`. `columns` are the names of those that a row has beside time and node, with commas between them.
    pub fn create(folder: &Folder, columns: &str) -> Result<Self, WriteError> {
        let path = folder.path().join(FILE);
        let mut file = BufWriter::new(folder.file(FILE)?);
        writeln!(file, "time_s,node,{columns}").map_err(WriteError::file(&path))?;
        Ok(Self { file, path, report: NodeSampleReport { file: FILE.to_owned(), ..NodeSampleReport::default() } })
    }

    /// Writes what was sampled of a node so long after time zero.
    pub fn add(&mut self, elapsed: Duration, node: &str, values: &str) -> Result<(), WriteError> {
        writeln!(self.file, "{:.6},{node},{values}", elapsed.as_secs_f64()).map_err(WriteError::file(&self.path))?;
        self.report.rows += 1;
        Ok(())
    }

    /// A node has as many rows as it may have.
    pub fn is_full(&mut self, node: &str) {
        self.report.full.push(node.to_owned());
    }

    /// All rows are in the file.
    pub fn finish(mut self) -> Result<NodeSampleReport, WriteError> {
        self.file.flush().map_err(WriteError::file(&self.path))?;
        Ok(self.report)
    }
}
