//! Packs a stream with zstd.

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::{self, Write};

/// How much is packed into one frame, in bytes. The library packs a frame at once, and forgets all between frames; so memory is
/// bounded, and what follows a damaged frame could still be read.
const FRAME: usize = 1 << 20;

/// Writes what it gets as frames of zstd, one after the other.
pub(crate) struct Frames<W> {
    output: W,
    waiting: Vec<u8>,
}

impl<W: Write> Frames<W> {
    pub(crate) fn new(output: W) -> Self {
        Self { output, waiting: Vec::with_capacity(FRAME) }
    }

    /// Writes what waits, and gives the output back.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.pack()?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn pack(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let packed = compress_to_vec(&self.waiting[..], CompressionLevel::Fastest);
        self.waiting.clear();
        self.output.write_all(&packed)
    }
}

impl<W: Write> Write for Frames<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(FRAME - self.waiting.len());
        self.waiting.extend_from_slice(&bytes[..count]);
        if self.waiting.len() == FRAME {
            self.pack()?;
        }
        Ok(count)
    }

    /// A frame is written when it is full.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
