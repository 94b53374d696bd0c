//! A file of lines that grows, read a piece at a time: whoever reads it slowly misses nothing and keeps nothing in memory but
//! where it is.

use crate::regular;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// No line of ours is longer.
const LONGEST: usize = 64 << 20;

/// A reader of a file of lines that grows; see the module.
#[derive(Debug)]
pub struct Follow {
    path: PathBuf,
    /// Where the next piece begins.
    at: u64,
    /// How long the file was when it held no whole line behind that.
    looked_at: u64,
}

/// The treatment of a line whose end is not written yet, or lies beyond the piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// The reader waits for the end, however long the line is: the writer writes whole lines at once.
    Awaited,
    /// The reader waits for the end until the line is as long as a piece, and then passes it on in parts.
    Cut,
    /// The rest of the file is a line: nobody writes any more.
    Last,
}

/// A part of a file that is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The bytes of the piece, with the ends of lines.
    pub bytes: Vec<u8>,
    /// Whether the last line of the piece goes on in the next one.
    pub is_cut: bool,
}

impl Follow {
    /// Follows a file from the byte `position` on; 0 is its beginning. The file need not be there yet.
    pub fn beginning_at(path: PathBuf, position: u64) -> Self {
        Self { path, at: position, looked_at: position }
    }

    /// Follows a file from its present end on.
    ///
    /// # Errors
    /// The kernel's refusal to say how long it is.
    pub fn from_end(path: PathBuf) -> io::Result<Self> {
        let follow = Self::beginning_at(path, 0);
        let length = follow.length()?.unwrap_or(0);
        Ok(Self { at: length, looked_at: length, ..follow })
    }

    /// Returns the place in the file where the next piece begins, in bytes.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Returns the next whole lines, as many as fit into `most` bytes, which are more than 4; none if there are none.
    ///
    /// # Errors
    /// The kernel's refusal, or that this is no regular file.
    pub fn next(&mut self, most: usize, unfinished: Unfinished) -> io::Result<Option<Piece>> {
        let Some(length) = self.length()? else { return Ok(None) };
        if length < self.at {
            // Somebody has emptied it.
            (self.at, self.looked_at) = (0, 0);
        }
        if length == self.at || (length == self.looked_at && unfinished != Unfinished::Last) {
            return Ok(None);
        }
        let mut room = most;
        loop {
            let block = self.read(room)?;
            let is_full = block.len() == room;
            match block.iter().rposition(|byte| *byte == b'\n') {
                Some(last) => return Ok(self.take(block, last + 1, false)),
                None if is_full && unfinished == Unfinished::Awaited && room < LONGEST => room *= 2,
                None if is_full => {
                    let end = whole_characters(&block);
                    return Ok(self.take(block, end, true));
                }
                None if unfinished == Unfinished::Last => {
                    let end = block.len();
                    return Ok(self.take(block, end, false));
                }
                None => {
                    self.looked_at = length;
                    return Ok(None);
                }
            }
        }
    }

    /// How long the file is; none if there is none.
    fn length(&self) -> io::Result<Option<u64>> {
        match fs::metadata(&self.path) {
            Ok(file) => Ok(Some(file.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read(&self, room: usize) -> io::Result<Vec<u8>> {
        let mut file = regular::open(&self.path)?;
        file.seek(SeekFrom::Start(self.at))?;
        let mut block = Vec::new();
        file.take(room as u64).read_to_end(&mut block)?;
        Ok(block)
    }

    fn take(&mut self, mut block: Vec<u8>, length: usize, is_cut: bool) -> Option<Piece> {
        block.truncate(length);
        self.at += length as u64;
        self.looked_at = self.at;
        (length > 0).then_some(Piece { bytes: block, is_cut })
    }
}

/// The length of `block` without a character at its end that goes on behind it.
fn whole_characters(block: &[u8]) -> usize {
    let begin = (1..=3).map(|back| block.len().saturating_sub(back)).find(|place| block[*place] & 0xc0 != 0x80);
    match begin.map(|place| (place, std::str::from_utf8(&block[place..]))) {
        Some((place, Err(error))) if place > 0 && error.error_len().is_none() => place,
        // What is no text is cut anywhere.
        _ => block.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    fn file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        (folder, path)
    }

    fn append(path: &PathBuf, text: &[u8]) {
        File::options().create(true).append(true).open(path).unwrap().write_all(text).unwrap();
    }

    fn text(follow: &mut Follow, most: usize, unfinished: Unfinished) -> Option<(String, bool)> {
        let piece = follow.next(most, unfinished).unwrap()?;
        Some((String::from_utf8(piece.bytes).unwrap(), piece.is_cut))
    }

    fn whole(text: &str) -> Option<(String, bool)> {
        Some((text.to_owned(), false))
    }

    #[test]
    fn whole_lines_come_once_and_as_many_as_fit() {
        let (_folder, path) = file();
        let mut follow = Follow::beginning_at(path.clone(), 0);
        assert_eq!(text(&mut follow, 8, Unfinished::Cut), None, "it is not there");
        append(&path, b"one\ntwo\nthree\nfo");
        assert_eq!(text(&mut follow, 8, Unfinished::Cut), whole("one\ntwo\n"));
        assert_eq!(text(&mut follow, 8, Unfinished::Cut), whole("three\n"));
        assert_eq!(text(&mut follow, 8, Unfinished::Cut), None);
        append(&path, b"ur\n");
        assert_eq!(text(&mut follow, 8, Unfinished::Cut), whole("four\n"));
        assert_eq!(text(&mut follow, 8, Unfinished::Last), None);
        append(&path, b"five");
        assert_eq!(text(&mut follow, 8, Unfinished::Cut), None);
        assert_eq!(text(&mut follow, 8, Unfinished::Last), whole("five"));
        assert_eq!(follow.position(), 23);
    }

    #[test]
    fn a_long_line_is_cut_between_characters_or_awaited() {
        let (_folder, path) = file();
        append(&path, "abcdefü0123456789\nx\n".as_bytes());
        let mut follow = Follow::beginning_at(path.clone(), 0);
        assert_eq!(text(&mut follow, 7, Unfinished::Cut), Some(("abcdef".to_owned(), true)));
        assert_eq!(text(&mut follow, 7, Unfinished::Cut), Some(("ü01234".to_owned(), true)));
        assert_eq!(text(&mut follow, 7, Unfinished::Cut), whole("56789\n"));
        let mut patient = Follow::beginning_at(path.clone(), 0);
        assert_eq!(text(&mut patient, 7, Unfinished::Awaited), whole("abcdefü0123456789\nx\n"));
        append(&path, &[0x80; 9]);
        assert_eq!(patient.next(8, Unfinished::Cut).unwrap().unwrap().bytes, [0x80; 8], "no text at all");
    }

    #[test]
    fn the_end_is_where_others_have_not_written_yet() {
        let (_folder, path) = file();
        append(&path, b"old\n");
        let mut follow = Follow::from_end(path.clone()).unwrap();
        assert_eq!(text(&mut follow, 8, Unfinished::Cut), None);
        append(&path, b"new\n");
        assert_eq!(text(&mut follow, 8, Unfinished::Cut), whole("new\n"));
        fs::write(&path, "a\n").unwrap();
        assert_eq!(text(&mut follow, 8, Unfinished::Cut), whole("a\n"), "somebody has emptied it");
        fs::remove_file(&path).unwrap();
        assert_eq!(text(&mut follow, 8, Unfinished::Cut), None);
    }
}
