//! The files of a results folder, which may be a stranger's: a device or a pipe might never end, and a line or a document
//! might fill the memory.

use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

/// The longest document that is read at once: the plan of 10,000 links takes less than a tenth of it.
const LONGEST: u64 = 256 << 20;
/// The longest line of a table or a journal.
const LONGEST_LINE: u64 = 1 << 20;

pub(crate) use netloom_regular::open;

/// The bytes of a regular file of a results folder.
///
/// # Errors
/// The kernel's refusal, or that it is something else, or longer than any such file of ours.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    netloom_regular::read(path, LONGEST).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => too_long(&format!("more than {} MiB", LONGEST >> 20)),
        _ => error,
    })
}

/// Reads a line with its end into `line`, which is emptied before; nothing at the end of the file.
///
/// # Errors
/// The kernel's, or that the line is no UTF-8 or longer than any of ours.
pub(crate) fn read_line(reader: &mut impl BufRead, line: &mut String) -> io::Result<()> {
    line.clear();
    reader.by_ref().take(LONGEST_LINE).read_line(line)?;
    if line.len() as u64 == LONGEST_LINE && !line.ends_with('\n') {
        return Err(too_long(&format!("a line of more than {} MiB", LONGEST_LINE >> 20)));
    }
    Ok(())
}

fn too_long(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("{what}: Netloom writes none that long"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn what_may_never_end_is_not_read() {
        for path in ["/dev/zero", "/dev/full", "/"] {
            assert!(read(Path::new(path)).unwrap_err().to_string().contains("regular file"), "{path}");
        }
        assert_eq!(open(Path::new("/nowhere")).unwrap_err().kind(), ErrorKind::NotFound);
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(read(&pipe).unwrap_err().to_string().contains("not a regular file"));
    }

    #[test]
    fn neither_a_document_nor_a_line_without_an_end_fills_the_memory() {
        let hole = tempfile::NamedTempFile::new().unwrap();
        hole.as_file().set_len(1 << 40).unwrap();
        assert!(read(hole.path()).unwrap_err().to_string().contains("more than 256 MiB"));
        let mut line = String::new();
        let mut reader = BufReader::new(open(hole.path()).unwrap());
        assert!(read_line(&mut reader, &mut line).unwrap_err().to_string().contains("more than 1 MiB"));
    }

    #[test]
    fn lines_come_one_by_one_until_the_end() {
        let (mut reader, mut line) = (&b"a\nb"[..], String::new());
        for expected in ["a\n", "b", ""] {
            read_line(&mut reader, &mut line).unwrap();
            assert_eq!(line, expected);
        }
    }
}
