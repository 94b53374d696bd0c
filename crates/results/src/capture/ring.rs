//! A capture of which only the last part is kept: it is written into several files, of which the oldest goes when there are too many.
//!
//! Each part is a whole file of its own, with the same head. At the end they become one, so that nobody has to know of them; what
//! is left of a run that was killed are the parts.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A ring consists of so many parts: what it keeps is between 7/8 and all of its size.
const PARTS: u64 = 8;
const BUFFER: usize = 256 * 1_024;

/// Where a capture goes.
pub(super) trait Out: Write {
    /// A packet's block of so many bytes follows; `head` is what stands before the first.
    fn make_room(&mut self, block: u64, head: &[u8]) -> io::Result<()>;

    /// All is written; `head` as above.
    fn close(&mut self, head: &[u8]) -> io::Result<()>;
}

impl<W: Write> Out for BufWriter<W> {
    fn make_room(&mut self, _block: u64, _head: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self, _head: &[u8]) -> io::Result<()> {
        self.flush()
    }
}

impl Out for Box<dyn Out + Send> {
    fn make_room(&mut self, block: u64, head: &[u8]) -> io::Result<()> {
        (**self).make_room(block, head)
    }

    fn close(&mut self, head: &[u8]) -> io::Result<()> {
        (**self).close(head)
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Ring {
    /// The file that all parts become.
    path: PathBuf,
    part_bytes: u64,
    out: BufWriter<File>,
    /// How much the present part has.
    written: u64,
    /// The parts, the present one last.
    parts: VecDeque<PathBuf>,
    /// How many there have been.
    count: u64,
}

impl Ring {
    /// One that keeps at most `bytes` of `path`.
    pub(super) fn create(path: &Path, bytes: u64) -> io::Result<Self> {
        let first = part(path, 1);
        let out = BufWriter::with_capacity(BUFFER, create(&first)?);
        let parts = VecDeque::from([first]);
        Ok(Self { path: path.to_owned(), part_bytes: bytes / PARTS, out, written: 0, parts, count: 1 })
    }
}

impl Write for Ring {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Out for Ring {
    fn make_room(&mut self, block: u64, head: &[u8]) -> io::Result<()> {
        let is_empty = self.written <= head.len() as u64;
        if is_empty || self.written + block <= self.part_bytes {
            return Ok(());
        }
        self.out.flush()?;
        if self.parts.len() as u64 >= PARTS
            && let Some(oldest) = self.parts.pop_front()
        {
            fs::remove_file(oldest)?;
        }
        self.count += 1;
        let next = part(&self.path, self.count);
        self.out = BufWriter::with_capacity(BUFFER, create(&next)?);
        self.parts.push_back(next);
        self.written = 0;
        self.write_all(head)
    }

    /// The oldest part gets the others behind it, one by one, so that a disk has room for one more part and no more.
    fn close(&mut self, head: &[u8]) -> io::Result<()> {
        self.out.flush()?;
        let Some(first) = self.parts.pop_front() else { return Ok(()) };
        let mut whole = OpenOptions::new().append(true).open(&first)?;
        while let Some(next) = self.parts.pop_front() {
            let mut from = File::open(&next)?;
            from.seek(SeekFrom::Start(head.len() as u64))?;
            io::copy(&mut from, &mut whole)?;
            fs::remove_file(next)?;
        }
        fs::rename(first, &self.path)
    }
}

/// The name of a part: `x.00003.pcapng`.
fn part(path: &Path, number: u64) -> PathBuf {
    path.with_extension(format!("{number:05}.pcapng"))
}

/// What stands there already is never followed.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"head";

    fn write(ring: &mut Ring, blocks: std::ops::Range<u8>) {
        for block in blocks {
            ring.make_room(10, HEAD).unwrap();
            ring.write_all(&[block; 10]).unwrap();
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_last_parts_become_one_file() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.pcapng");
        // Parts of 34 bytes: a head and three blocks.
        let mut ring = Ring::create(&path, 8 * 34).unwrap();
        ring.write_all(HEAD).unwrap();
        write(&mut ring, 0..60);
        let expected: Vec<String> = (13..=20).map(|number| format!("x.{number:05}.pcapng")).collect();
        assert_eq!(names(root.path()), expected);
        ring.flush().unwrap();
        assert!(fs::read(root.path().join("x.00013.pcapng")).unwrap().starts_with(HEAD), "each is whole by itself");
        ring.close(HEAD).unwrap();
        assert_eq!(names(root.path()), ["x.pcapng"]);
        let whole = fs::read(&path).unwrap();
        let blocks: Vec<u8> = whole[HEAD.len()..].chunks(10).map(|block| block[0]).collect();
        assert!(whole.starts_with(HEAD) && whole.len() <= 8 * 34);
        assert_eq!(blocks, (36..60).collect::<Vec<u8>>());
    }

    #[test]
    fn what_fits_is_all_there_and_a_block_that_never_fits_is_written() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.pcapng");
        let mut ring = Ring::create(&path, 8 * 8).unwrap();
        ring.write_all(HEAD).unwrap();
        write(&mut ring, 0..2);
        ring.close(HEAD).unwrap();
        assert_eq!(fs::read(&path).unwrap().len(), HEAD.len() + 20);
        let mut empty = Ring::create(&root.path().join("y.pcapng"), 64).unwrap();
        empty.write_all(HEAD).unwrap();
        empty.close(HEAD).unwrap();
        assert_eq!(fs::read(root.path().join("y.pcapng")).unwrap(), HEAD);
    }
}
