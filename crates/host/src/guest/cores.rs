//! Core dumps of a kernel node's programs: the kernel writes them to a folder of their own, which leaves the node in the end.
//!
//! The kernel cuts a dump off where its room ends. What is missing then would be missing without a word in a debugger, so such a dump is recognized by its
//! headers, which come first and say how long the whole is (elf(5)).
//!
//! A kernel in user mode has the extended registers of its programs as the machine's kernel puts them into signal frames, and dumps them so. A debugger wants them as
//! a machine's kernel dumps them, which differs in one word ([`mend`]), and refuses the dump otherwise.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

use nix::mount::{MsFlags, mount};
use nix::sys::resource::{Resource, setrlimit};

use crate::error::{Attempted, KernelError};

/// The folder with the dumps, in the node's file system.
pub(crate) const FOLDER: &str = "/netloom-cores";

/// The kernel's setting that says where dumps go (core(5)).
const PATTERN: &str = "/proc/sys/kernel/core_pattern";

/// The start of an ELF file of 64 bits, least significant byte first, in the one version that there is.
const MAGIC: [u8; 7] = [0x7f, b'E', b'L', b'F', 2, 1, 1];
/// The length of the header of an ELF file of 64 bits, in bytes.
const HEADER: usize = 64;
/// The length of a program header, in bytes.
const PROGRAM_HEADER: u16 = 56;
/// The type of a core dump.
const ET_CORE: u16 = 4;
/// As a number of program headers: there are more than 16 bits can say, and the first section has their number.
const PN_XNUM: u16 = 0xffff;

/// The type of the part with the notes.
const PT_NOTE: u64 = 4;
/// The type of a note with the extended registers of a thread.
const NT_X86_XSTATE: u64 = 0x202;
/// Where software's own bytes are in these registers. In a signal frame: a magic number, a length, the set of registers (`struct _fpx_sw_bytes`). In a dump: the
/// set (`XCR0`).
const SOFTWARE: u64 = 464;
/// The magic number of a signal frame (`FP_XSTATE_MAGIC1`).
const FRAME: u64 = 0x4650_5853;
/// As many notes are looked at: a thread has half a dozen.
const MOST_NOTES: usize = 1_000_000;

/// Lets dumps of this process's children, and of theirs, go to the folder, which has room for so many bytes.
pub(super) fn take(room: u64) -> Result<(), KernelError> {
    fs::create_dir_all(FOLDER).attempted(|| format!("make {FOLDER}"))?;
    let (flags, options) = (MsFlags::MS_NOSUID | MsFlags::MS_NODEV, format!("mode=1777,size={room}"));
    mount(Some("tmpfs"), FOLDER, Some("tmpfs"), flags, Some(options.as_str()))
        .attempted(|| format!("mount a file system for core dumps at {FOLDER}"))?;
    // The program and its number tell dumps apart, and are the same in every run in virtual time.
    fs::write(PATTERN, format!("{FOLDER}/%e-%p")).attempted(|| format!("write {PATTERN}"))?;
    setrlimit(Resource::RLIMIT_CORE, room, room).attempted(|| "limit core dumps".to_owned())
}

/// Says why a file is no complete core dump; nothing if it is one.
pub(crate) fn why_incomplete(file: &File) -> io::Result<Option<String>> {
    let length = file.metadata()?.len();
    Ok(match length_of_whole(file, length) {
        Ok(Some(whole)) if whole <= length => None,
        Ok(Some(whole)) => {
            Some(format!("its room ended after {length} of {whole} bytes: write more as `cores` of the node"))
        }
        Ok(None) => Some("it is no core dump of a program of 64 bits".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Some(format!("its room ended after {length} bytes, in its headers: write more as `cores` of the node"))
        }
        Err(error) => return Err(error),
    })
}

/// Makes the extended registers in a complete dump such as debuggers read.
pub(crate) fn mend(file: &File) -> io::Result<()> {
    let length = file.metadata()?.len();
    for part in parts(file, length)?.into_iter().flatten().filter(|part| part.kind == PT_NOTE) {
        let (mut place, end) = (part.start, part.end());
        for _ in 0..MOST_NOTES {
            let mut header = [0; 12];
            if end.saturating_sub(place) < 12 {
                break;
            }
            file.read_exact_at(&mut header, place)?;
            let [name, size, kind] = [0, 4, 8].map(|at| number(&header, at, 4));
            let registers = place + 12 + name.next_multiple_of(4);
            if kind == NT_X86_XSTATE && size >= SOFTWARE + 24 && registers.saturating_add(size) <= end {
                mend_registers(file, registers + SOFTWARE)?;
            }
            place = registers + size.next_multiple_of(4);
        }
    }
    Ok(())
}

fn mend_registers(file: &File, place: u64) -> io::Result<()> {
    let mut words = [0; 24];
    file.read_exact_at(&mut words, place)?;
    if number(&words, 0, 4) == FRAME {
        let set = number(&words, 8, 8);
        words = [0; 24];
        words[..8].copy_from_slice(&set.to_le_bytes());
        file.write_all_at(&words, place)?;
    }
    Ok(())
}

/// A part of a dump, as a program header describes it.
struct Part {
    kind: u64,
    start: u64,
    length: u64,
}

impl Part {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }
}

/// The length of a dump by its headers, in bytes; none if this is no dump.
fn length_of_whole(file: &File, length: u64) -> io::Result<Option<u64>> {
    let parts = parts(file, length)?;
    Ok(parts.map(|parts| parts.iter().map(Part::end).max().unwrap_or(0)))
}

/// The parts of a dump; none if this is no dump.
fn parts(file: &File, length: u64) -> io::Result<Option<Vec<Part>>> {
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, 0)?;
    let (kind, size) = (number(&header, 16, 2), number(&header, 54, 2));
    if !header.starts_with(&MAGIC) || kind != u64::from(ET_CORE) || size != u64::from(PROGRAM_HEADER) {
        return Ok(None);
    }
    let (start, few) = (number(&header, 32, 8), number(&header, 56, 2));
    let count = if few == u64::from(PN_XNUM) {
        let mut section = [0; 64];
        let place = number(&header, 40, 8);
        if place.checked_add(64).is_none_or(|end| end > length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        file.read_exact_at(&mut section, place)?;
        number(&section, 44, 4)
    } else {
        few
    };
    let end = start.checked_add(count * u64::from(PROGRAM_HEADER));
    if end.is_none_or(|end| end > length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let one = |place: u64| {
        let mut one = [0; PROGRAM_HEADER as usize];
        file.read_exact_at(&mut one, start + place * u64::from(PROGRAM_HEADER))?;
        Ok(Part { kind: number(&one, 0, 4), start: number(&one, 8, 8), length: number(&one, 32, 8) })
    };
    (0..count).map(one).collect::<io::Result<_>>().map(Some)
}

/// A number of so many bytes at this place, which is there.
fn number(bytes: &[u8], place: usize, length: usize) -> u64 {
    bytes[place..place + length].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A dump with one part, from `start` on and of this length.
    fn dump(start: u64, length: u64) -> Vec<u8> {
        let mut bytes = vec![0; HEADER + usize::from(PROGRAM_HEADER)];
        bytes[..7].copy_from_slice(&MAGIC);
        bytes[16..18].copy_from_slice(&ET_CORE.to_le_bytes());
        bytes[32..40].copy_from_slice(&64_u64.to_le_bytes());
        bytes[54..56].copy_from_slice(&PROGRAM_HEADER.to_le_bytes());
        bytes[56..58].copy_from_slice(&1_u16.to_le_bytes());
        bytes[64 + 8..64 + 16].copy_from_slice(&start.to_le_bytes());
        bytes[64 + 32..64 + 40].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    fn judged(bytes: &[u8]) -> Option<String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        why_incomplete(&file).unwrap()
    }

    #[test]
    fn a_dump_is_as_long_as_its_headers_say() {
        let mut whole = dump(120, 10);
        assert!(judged(&whole).unwrap().contains("after 120 of 130 bytes"));
        whole.extend([1; 9]);
        assert!(judged(&whole).unwrap().contains("after 129 of 130 bytes"));
        whole.push(1);
        assert_eq!(judged(&whole), None);
        assert!(judged(&whole[..100]).unwrap().contains("in its headers"));
        assert!(judged(&[]).unwrap().contains("after 0 bytes"));
        assert!(judged(&[b'x'; 200]).unwrap().contains("no core dump"));
    }

    #[test]
    fn registers_are_as_debuggers_read_them() {
        let mut bytes = dump(120, 20 + 1_000);
        bytes[64] = 4;
        // A note with registers; its name takes eight bytes.
        bytes.extend([6_u32, 1_000, 0x202].map(u32::to_le_bytes).concat());
        bytes.extend(*b"LINUX\0\0\0");
        let software = bytes.len() + 464;
        bytes.resize(bytes.len() + 1_000, 7);
        bytes[software..software + 4].copy_from_slice(&0x4650_5853_u32.to_le_bytes());
        bytes[software + 8..software + 16].copy_from_slice(&0xe7_u64.to_le_bytes());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        mend(&file).unwrap();
        let read = |place: usize| {
            let mut word = [0; 8];
            file.read_exact_at(&mut word, place as u64).unwrap();
            u64::from_le_bytes(word)
        };
        assert_eq!([0, 8, 16].map(|more| read(software + more)), [0xe7, 0, 0]);
        assert_eq!([read(software - 8), read(software + 24)], [0x0707_0707_0707_0707; 2]);
        // What is mended stays so.
        mend(&file).unwrap();
        assert_eq!(read(software), 0xe7);
    }

    #[test]
    fn strange_headers_end_nothing() {
        assert!(judged(&dump(u64::MAX, u64::MAX)).unwrap().contains("after 120 of"));
        for (start, count) in [(u64::MAX, 1_u16), (64, 0xfffe), (64, PN_XNUM)] {
            let mut bytes = dump(0, 0);
            bytes[32..40].copy_from_slice(&start.to_le_bytes());
            bytes[40..48].copy_from_slice(&u64::MAX.to_le_bytes());
            bytes[56..58].copy_from_slice(&count.to_le_bytes());
            assert!(judged(&bytes).is_some(), "{start} {count}");
        }
        let mut notes = dump(64, 56);
        notes[64] = 4;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&notes).unwrap();
        mend(&file).unwrap();
    }
}
