//! A journal as a file that grows: records come in, batches go out.

use super::columns::{Batch, schema};
use super::record::{JournalPipe, Record};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::ArrowError;
use netloom_units::Bytes;
use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

/// So many records are written at once: what a kill of the writer can cost, and what a reader has to hold.
pub(super) const BATCH_RECORDS: usize = 8_192;

/// A journal that is being written; see the module. A file that was cut off anywhere can be read up to there.
pub struct JournalWriter<W> {
    out: W,
    /// Makes the bytes, which are taken out of it batch by batch.
    stream: StreamWriter<Vec<u8>>,
    batch: Batch,
    limit: Option<Bytes>,
    written: Written,
    /// The attempts among the records that were not written yet.
    new_attempts: u64,
}

/// The size of a journal, and how many records it has and lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The number of records in the journal, attempts on the air included.
    pub records: u64,
    /// The number of attempts on the air in the journal.
    pub attempts: u64,
    /// The size of the journal.
    pub bytes: u64,
    /// The number of records for which the journal had no room any more.
    pub left_out: u64,
}

impl<W: Write> JournalWriter<W> {
    /// Begins a journal of these pipes, which grows to at most `limit`.
    ///
    /// # Errors
    /// When its beginning cannot be written.
    pub fn begin(out: W, lab: &str, pipes: &[JournalPipe], limit: Option<Bytes>) -> io::Result<Self> {
        Self::begin_with(out, lab, pipes, (limit, false))
    }

    /// Begins a journal as [`JournalWriter::begin`] does, if `has_attempts` with columns for attempts on the air.
    ///
    /// # Errors
    /// When its beginning cannot be written.
    pub fn begin_with(
        out: W,
        lab: &str,
        pipes: &[JournalPipe],
        (limit, has_attempts): (Option<Bytes>, bool),
    ) -> io::Result<Self> {
        let schema = Arc::new(schema(lab, pipes, has_attempts));
        let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME));
        let options = options.map_err(failed)?;
        let stream = StreamWriter::try_new_with_options(Vec::new(), &schema, options).map_err(failed)?;
        let batch = Batch::new(schema, pipes, has_attempts);
        let mut this = Self { out, stream, batch, limit, written: Written::default(), new_attempts: 0 };
        this.put()?;
        this.out.flush()?;
        Ok(this)
    }

    /// Adds a record to the journal.
    ///
    /// # Errors
    /// When what has come so far cannot be written.
    pub fn push(&mut self, record: &Record) -> io::Result<()> {
        if self.is_full() {
            self.written.left_out += 1;
            return Ok(());
        }
        self.batch.push(record);
        self.new_attempts += u64::from(record.attempt.is_some());
        if self.batch.rows() < BATCH_RECORDS { Ok(()) } else { self.write_batch() }
    }

    /// Writes the records that have come so far.
    ///
    /// # Errors
    /// When that fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_batch()?;
        self.out.flush()
    }

    /// Writes the remaining records and the end of the journal.
    ///
    /// # Errors
    /// When that fails.
    pub fn finish(mut self) -> io::Result<Written> {
        self.write_batch()?;
        self.stream.finish().map_err(failed)?;
        self.put()?;
        self.out.flush()?;
        Ok(self.written)
    }

    /// Returns how many records the journal has and lacks so far, and its size.
    pub fn written(&self) -> Written {
        self.written
    }

    /// Whether a batch had no room; then nothing follows it, so that what is there has no gap.
    fn is_full(&self) -> bool {
        self.written.left_out > 0
    }

    fn write_batch(&mut self) -> io::Result<()> {
        /// Of the mark at its end.
        const END: u64 = 8;
        let rows = self.batch.rows() as u64;
        if rows == 0 {
            return Ok(());
        }
        let batch = self.batch.finish().map_err(failed)?;
        self.stream.write(&batch).map_err(failed)?;
        let size = self.written.bytes + self.stream.get_ref().len() as u64 + END;
        if self.limit.is_some_and(|limit| size > limit.get()) {
            self.stream.get_mut().clear();
            self.written.left_out += rows;
            return Ok(());
        }
        self.put()?;
        self.written.records += rows;
        self.written.attempts += mem::take(&mut self.new_attempts);
        Ok(())
    }

    /// Brings what the stream has made to the file.
    fn put(&mut self) -> io::Result<()> {
        let made = self.stream.get_mut();
        self.out.write_all(made)?;
        self.written.bytes += made.len() as u64;
        made.clear();
        Ok(())
    }
}

fn failed(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}
