//! Small read-only disks: ISO 9660 (ECMA-119) with one folder.
//!
//! Names are written as they are: Linux reads names of any length and letter without extensions of the format, and takes every file
//! for a program.

/// Bytes of a logical block.
const BLOCK: usize = 2048;
/// Blocks that the format leaves to others (ECMA-119, 6.2.1).
const SYSTEM_AREA: usize = 16;
/// Where the two tables of folders are, which is before the only folder.
const TABLES: [usize; 2] = [SYSTEM_AREA + 2, SYSTEM_AREA + 3];
const FOLDER: usize = SYSTEM_AREA + 4;
/// The root's own record, without a name (ECMA-119, 9.1).
const RECORD: usize = 34;

/// The bytes of a disk with this label, of at most 32 letters, and these files.
pub(crate) fn image(label: &str, files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut entries = entry(&[0], FOLDER, 0, true);
    entries.extend(entry(&[1], FOLDER, 0, true));
    let room: usize = files.iter().map(|(name, _)| record_length(name.len())).sum::<usize>() + entries.len();
    // A record does not cross a border of blocks, so each block may lose some room.
    let blocks = room.div_ceil(BLOCK - MOST_RECORD);
    let mut next = FOLDER + blocks;
    for (name, content) in files {
        let record = entry(name.as_bytes(), next, content.len(), false);
        if entries.len() % BLOCK + record.len() > BLOCK {
            entries.resize(entries.len().next_multiple_of(BLOCK), 0);
        }
        entries.extend(record);
        next += content.len().div_ceil(BLOCK);
    }
    entries.resize(blocks * BLOCK, 0);
    for own in [0, RECORD] {
        both_32(&mut entries[own + 10..], blocks * BLOCK);
    }
    let mut disk = vec![0; SYSTEM_AREA * BLOCK];
    disk.extend(volume(label, next, blocks * BLOCK));
    disk.extend(block(b"\xffCD001\x01"));
    let [first, second] = tables();
    disk.extend(block(&first));
    disk.extend(block(&second));
    disk.extend(entries);
    for (_, content) in files {
        disk.extend_from_slice(content);
        disk.resize(disk.len().next_multiple_of(BLOCK), 0);
    }
    disk
}

/// The longest record: its length is a byte.
const MOST_RECORD: usize = 254;

fn record_length(name: usize) -> usize {
    (33 + name).next_multiple_of(2)
}

/// What describes the whole (ECMA-119, 8.4).
fn volume(label: &str, blocks: usize, folder: usize) -> Vec<u8> {
    let mut bytes = block(b"\x01CD001\x01");
    // All texts are filled up with spaces.
    for place in [8..72, 190..813] {
        bytes[place].fill(b' ');
    }
    bytes[40..40 + label.len()].copy_from_slice(label.as_bytes());
    both_32(&mut bytes[80..], blocks);
    both_16(&mut bytes[120..], 1);
    both_16(&mut bytes[124..], 1);
    both_16(&mut bytes[128..], BLOCK);
    both_32(&mut bytes[132..], tables()[0].len());
    bytes[140..144].copy_from_slice(&word(TABLES[0]).to_le_bytes());
    bytes[148..152].copy_from_slice(&word(TABLES[1]).to_be_bytes());
    bytes[156..156 + RECORD].copy_from_slice(&entry(&[0], FOLDER, folder, true));
    // No instants: sixteen digits and a zone each.
    for instant in 0..4 {
        bytes[813 + 17 * instant..][..16].fill(b'0');
    }
    bytes[881] = 1;
    bytes
}

/// The tables of folders, of which the root is the only one: in one byte order, and in the other (ECMA-119, 9.4).
fn tables() -> [Vec<u8>; 2] {
    let folder = word(FOLDER);
    [[folder.to_le_bytes(), [1, 0, 0, 0]].concat(), [folder.to_be_bytes(), [0, 1, 0, 0]].concat()]
        .map(|rest| [&[1, 0][..], &rest].concat())
}

/// A record of a folder (ECMA-119, 9.1).
fn entry(name: &[u8], place: usize, size: usize, is_folder: bool) -> Vec<u8> {
    let mut bytes = vec![0; record_length(name.len())];
    bytes[0] = u8::try_from(bytes.len()).expect("names of files on a seed are short");
    both_32(&mut bytes[2..], place);
    both_32(&mut bytes[10..], size);
    // The first day of 1990: without one, a kernel has its own idea.
    bytes[18..21].copy_from_slice(&[90, 1, 1]);
    bytes[25] = if is_folder { 2 } else { 0 };
    both_16(&mut bytes[28..], 1);
    bytes[32] = u8::try_from(name.len()).expect("names of files on a seed are short");
    bytes[33..33 + name.len()].copy_from_slice(name);
    bytes
}

fn block(begin: &[u8]) -> Vec<u8> {
    let mut bytes = begin.to_vec();
    bytes.resize(BLOCK, 0);
    bytes
}

fn word(number: usize) -> u32 {
    u32::try_from(number).expect("a seed is shorter than 4 GiB")
}

/// A number in both byte orders (ECMA-119, 7.3.3).
fn both_32(bytes: &mut [u8], number: usize) {
    bytes[..4].copy_from_slice(&word(number).to_le_bytes());
    bytes[4..8].copy_from_slice(&word(number).to_be_bytes());
}

/// The same of half the length (ECMA-119, 7.2.3).
fn both_16(bytes: &mut [u8], number: usize) {
    let number = u16::try_from(number).expect("a small number");
    bytes[..2].copy_from_slice(&number.to_le_bytes());
    bytes[2..4].copy_from_slice(&number.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bytes: &[u8]) -> usize {
        u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize
    }

    /// Against the places of ECMA-119: what a reader follows from the volume to the bytes of each file.
    #[test]
    fn files_are_found_by_their_names() {
        let files: Vec<(String, Vec<u8>)> =
            (0..100).map(|size| (format!("a-file.with.a-long-name-{size}"), vec![b'x'; size * 50])).collect();
        let disk = image("cidata", &files);
        assert!(disk.len().is_multiple_of(BLOCK));
        let volume = &disk[16 * BLOCK..];
        assert_eq!((&volume[..7], &volume[40..48]), (&b"\x01CD001\x01"[..], &b"cidata  "[..]));
        assert_eq!(number(&volume[80..]) * BLOCK, disk.len());
        assert_eq!(u32::from_be_bytes(volume[84..88].try_into().unwrap()) as usize * BLOCK, disk.len());
        assert_eq!(&disk[17 * BLOCK..][..7], b"\xffCD001\x01");
        let (place, size) = (number(&volume[158..]) * BLOCK, number(&volume[166..]));
        let folder = &disk[place..place + size];
        let mut found = Vec::new();
        let mut at = 0;
        while at < folder.len() {
            let length = usize::from(folder[at]);
            if length == 0 {
                at = (at + 1).next_multiple_of(BLOCK);
                continue;
            }
            let record = &folder[at..at + length];
            assert!(at / BLOCK == (at + length - 1) / BLOCK, "a record crosses a border");
            let name = String::from_utf8_lossy(&record[33..33 + usize::from(record[32])]).into_owned();
            let begin = number(&record[2..]) * BLOCK;
            found.push((name, disk[begin..begin + number(&record[10..])].to_vec()));
            at += length;
        }
        assert_eq!(found[0].1.len(), size, "the folder itself");
        assert_eq!(found[2..], files);
    }
}
