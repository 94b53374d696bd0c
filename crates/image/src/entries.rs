//! The entries of a layer or another archive, one after the other, from a stream of the tar format: POSIX's (pax) and GNU's extensions.
//!
//! The library reads the fields of a header. The stream is read here, since nothing in it may take more memory than is bounded.

use crate::ImageError;
use crate::limits::LONGEST_HEADER;
use std::io::{self, Read};
use tar::{EntryType, Header};

/// The size of a header, and what data is filled up to a multiple of.
const BLOCK: u64 = 512;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file with contents.
    File,
    /// Another name of a file.
    HardLink,
    /// A symbolic link.
    Symlink,
    /// A folder.
    Folder,
    /// A named pipe.
    Fifo,
    /// A device.
    Device,
}

/// An entry of a layer, as it is written there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, which may have any bytes.
    pub path: Vec<u8>,
    /// The kind of the entry.
    pub kind: Kind,
    /// The target of a link.
    pub link: Vec<u8>,
    /// The bytes that follow.
    pub size: u64,
    /// Its permissions.
    pub mode: u32,
    /// The number of its owner.
    pub owner: u64,
    /// The number of its group.
    pub group: u64,
    /// Seconds since 1970, and nanoseconds.
    pub modified: (i64, u32),
    /// Extended attributes by name.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Reads entries. After [`Entries::next`] it reads as the contents of that entry.
pub struct Entries<R> {
    what: String,
    input: R,
    /// What is left of the contents, and of what fills their last block.
    left: u64,
    filling: u64,
    seen: u64,
    /// What a pax header says of all entries behind it.
    global: Extension,
}

/// What headers before that of an entry say of it.
#[derive(Clone, Debug, Default)]
struct Extension {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    owner: Option<u64>,
    group: Option<u64>,
    modified: Option<(i64, u32)>,
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    is_sparse: bool,
}

impl<R: Read> Entries<R> {
    /// `what` names the archive in errors.
    pub fn new(input: R, what: &str) -> Self {
        Self { what: what.to_owned(), input, left: 0, filling: 0, seen: 0, global: Extension::default() }
    }

    /// The next entry; what was not read of the last one is passed. None at the end of the archive.
    ///
    /// # Errors
    /// If the archive is damaged, or has what no layer has.
    #[allow(clippy::should_implement_trait, reason = "it lends itself to be read")]
    pub fn next(&mut self) -> Result<Option<Entry>, ImageError> {
        self.pass()?;
        let mut extension = self.global.clone();
        loop {
            let Some(header) = self.header()? else { return Ok(None) };
            let size = header.entry_size().map_err(|error| self.broken(&error.to_string()))?;
            match header.entry_type() {
                EntryType::XHeader => extension.read_pax(&self.extra(size)?).map_err(|why| self.broken(&why))?,
                EntryType::XGlobalHeader => {
                    let text = self.extra(size)?;
                    self.global.read_pax(&text).map_err(|why| self.broken(&why))?;
                    extension.read_pax(&text).map_err(|why| self.broken(&why))?;
                }
                EntryType::GNULongName => extension.path = Some(until_nul(self.extra(size)?)),
                EntryType::GNULongLink => extension.link = Some(until_nul(self.extra(size)?)),
                kind => return self.entry(&header, kind, extension.size.unwrap_or(size), extension).map(Some),
            }
        }
    }

    /// What it reads from.
    pub(crate) fn input(&self) -> &R {
        &self.input
    }

    /// The input behind the last entry that was read.
    pub(crate) fn rest(mut self) -> Result<R, ImageError> {
        self.pass()?;
        Ok(self.input)
    }

    /// How many headers there were.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    fn entry(
        &mut self,
        header: &Header,
        kind: EntryType,
        size: u64,
        extension: Extension,
    ) -> Result<Entry, ImageError> {
        let path = extension.path.unwrap_or_else(|| header.path_bytes().into_owned());
        let sparse = "it is a sparse file, which layers do not have: pack it without the option --sparse of tar";
        if extension.is_sparse || kind == EntryType::GNUSparse {
            return Err(ImageError::refused(&path, sparse));
        }
        let kind = match kind {
            // As tar wrote it before 1988.
            EntryType::Regular if path.ends_with(b"/") => Kind::Folder,
            EntryType::Regular | EntryType::Continuous => Kind::File,
            EntryType::Link => Kind::HardLink,
            EntryType::Symlink => Kind::Symlink,
            EntryType::Directory => Kind::Folder,
            EntryType::Fifo => Kind::Fifo,
            EntryType::Char | EntryType::Block => Kind::Device,
            other => {
                let why = format!("it is of the unknown type {:?}", char::from(other.as_byte()));
                return Err(ImageError::refused(&path, why));
            }
        };
        // Only files have contents; some programs write a size for others, and nothing behind it.
        let size = if kind == Kind::File { size } else { 0 };
        (self.left, self.filling) = (size, filling(size));
        let field = |value: io::Result<u64>, said: Option<u64>| said.map_or(value, Ok);
        let number = |value: io::Result<u64>| value.map_err(|error| ImageError::refused(&path, error.to_string()));
        let seconds = header.mtime().ok().and_then(|seconds| i64::try_from(seconds).ok());
        Ok(Entry {
            kind,
            link: extension.link.unwrap_or_else(|| header.link_name_bytes().unwrap_or_default().into_owned()),
            size,
            mode: header.mode().map_err(|error| ImageError::refused(&path, error.to_string()))? & 0o7777,
            owner: number(field(header.uid(), extension.owner))?,
            group: number(field(header.gid(), extension.group))?,
            modified: extension.modified.unwrap_or((seconds.unwrap_or(0), 0)),
            attributes: extension.attributes,
            path,
        })
    }

    /// The next header that is not empty; none at the end.
    fn header(&mut self) -> Result<Option<Header>, ImageError> {
        let mut header = Header::new_old();
        let bytes = header.as_mut_bytes();
        match self.fill(bytes)? {
            // Some programs leave the two empty blocks at the end out.
            0 => return Ok(None),
            512 => {}
            _ => return Err(self.broken("it ends within a header")),
        }
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        self.seen += 1;
        let sum = |range: &[u8]| range.iter().map(|byte| u32::from(*byte)).sum::<u32>();
        let found = sum(&bytes[..148]) + 8 * u32::from(b' ') + sum(&bytes[156..]);
        if header.cksum().ok() != Some(found) {
            return Err(self.broken("the sum of a header is wrong"));
        }
        Ok(Some(header))
    }

    /// Reads until the buffer is full or the input ends; how many bytes that were.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, ImageError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.input.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(&error.to_string())),
            }
        }
        Ok(filled)
    }

    /// What stands behind a header that says something of the next.
    fn extra(&mut self, size: u64) -> Result<Vec<u8>, ImageError> {
        if size > LONGEST_HEADER {
            return Err(self.broken(&format!("a header has {size} bytes, and {LONGEST_HEADER} are possible")));
        }
        (self.left, self.filling) = (size, filling(size));
        let mut text = Vec::new();
        self.read_to_end(&mut text).map_err(|error| self.broken(&error.to_string()))?;
        self.pass()?;
        Ok(text)
    }

    /// Passes what is left of an entry.
    fn pass(&mut self) -> Result<(), ImageError> {
        let rest = self.left.checked_add(self.filling).ok_or_else(|| self.broken("an entry has an impossible size"))?;
        (self.left, self.filling) = (0, 0);
        let passed = io::copy(&mut Read::take(&mut self.input, rest), &mut io::sink());
        match passed {
            Ok(passed) if passed == rest => Ok(()),
            Ok(_) => Err(self.broken("it ends within an entry")),
            Err(error) => Err(self.broken(&error.to_string())),
        }
    }

    fn broken(&self, why: &str) -> ImageError {
        ImageError::damaged(format!("{} (at its header {})", self.what, self.seen), why)
    }
}

impl<R: Read> Read for Entries<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 {
            return Ok(0);
        }
        let count = self.input.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends within a file"));
        }
        self.left -= count as u64;
        Ok(count)
    }
}

impl Extension {
    /// Records of the form `LENGTH KEY=VALUE\n` (POSIX.1-2024, pax, "pax Extended Header").
    fn read_pax(&mut self, mut text: &[u8]) -> Result<(), String> {
        while !text.is_empty() {
            let wrong = || "an extended header is not of the form of pax".to_owned();
            let blank = text.iter().take(8).position(|byte| *byte == b' ').ok_or_else(wrong)?;
            let length: usize =
                std::str::from_utf8(&text[..blank]).ok().and_then(|digits| digits.parse().ok()).ok_or_else(wrong)?;
            let record = text.get(blank + 1..length).and_then(|record| record.strip_suffix(b"\n")).ok_or_else(wrong)?;
            let equals = record.iter().position(|byte| *byte == b'=').ok_or_else(wrong)?;
            self.record(&record[..equals], &record[equals + 1..])?;
            text = &text[length..];
        }
        Ok(())
    }

    fn record(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let number = || {
            let digits = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
            digits.ok_or_else(|| format!("{} of an extended header is no number", String::from_utf8_lossy(key)))
        };
        match key {
            b"path" => self.path = Some(value.to_vec()),
            b"linkpath" => self.link = Some(value.to_vec()),
            b"size" => self.size = Some(number()?),
            b"uid" => self.owner = Some(number()?),
            b"gid" => self.group = Some(number()?),
            b"mtime" => self.modified = time(value),
            _ if key.starts_with(b"GNU.sparse.") => self.is_sparse = true,
            _ => {
                if let Some(name) = key.strip_prefix(b"SCHILY.xattr.") {
                    self.attributes.retain(|(other, _)| other != name);
                    self.attributes.push((name.to_vec(), value.to_vec()));
                }
            }
        }
        Ok(())
    }
}

/// Seconds with a fraction; what cannot be read is left to the header.
fn time(value: &[u8]) -> Option<(i64, u32)> {
    let text = std::str::from_utf8(value).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = whole.parse().ok().filter(|seconds| *seconds >= 0)?;
    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    Some((seconds, digits.parse().ok()?))
}

/// How many bytes fill the last block of contents of this size.
fn filling(size: u64) -> u64 {
    (BLOCK - size % BLOCK) % BLOCK
}

fn until_nul(mut text: Vec<u8>) -> Vec<u8> {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    text.truncate(end);
    text
}

#[cfg(test)]
mod tests;
