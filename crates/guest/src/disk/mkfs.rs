//! Empty file systems for disks of nodes, made by the machine's own programs, and always the same.

use netloom_units::Bytes;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};

/// Where such programs are, on machines on which ordinary users do not find them.
const FOLDERS: [&str; 3] = ["", "/usr/sbin/", "/sbin/"];

/// All that they would draw by chance or take from the clock: identifiers, the seed of hashes, and the time of day, 1 January 2026.
const IDENTIFIER: &str = "6e65746c-6f6f-6d00-8000-000000000001";
const TIME: u64 = 1_767_225_600;

/// The file of the disk: programs open it anew.
const DISK: &str = "/proc/self/fd/0";

/// A file system of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Filesystem {
    /// The usual one of Linux, with a journal.
    #[default]
    Ext4,
    /// One with a journal, for large files and many processors.
    Xfs,
    /// One that writes flash memory as a log.
    F2fs,
}

/// Makes an empty file system of this kind and size in memory.
///
/// # Errors
/// In words: this machine has no program that makes it, or that has failed.
pub fn format(filesystem: Filesystem, size: Bytes) -> Result<File, String> {
    let failed = |error: io::Error| format!("make an empty file system: {error}");
    let file = memfd_create("netloom-filesystem", MemfdFlags::CLOEXEC).map_err(|errno| failed(errno.into()))?;
    let file = File::from(file);
    file.set_len(size.get()).map_err(failed)?;
    let (program, package) = program(filesystem);
    for folder in FOLDERS {
        let mut command = Command::new(format!("{folder}{program}"));
        command.args(arguments(filesystem)).arg(DISK).env("E2FSPROGS_FAKE_TIME", TIME.to_string()).env("LC_ALL", "C");
        command.stdin(file.try_clone().map_err(failed)?).stdout(Stdio::null()).stderr(Stdio::piped());
        match command.output() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("start {program}: {error}")),
            Ok(output) if output.status.success() => {
                if filesystem == Filesystem::Xfs {
                    settle_xfs(&file).map_err(failed)?;
                }
                return Ok(file);
            }
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                return Err(format!("{program} failed ({}): {}", output.status, said.trim_end()));
            }
        }
    }
    Err(format!("this machine has no {program}, which formats disks of nodes: install the package {package}"))
}

/// The program that makes the file system, and the package that has it.
fn program(filesystem: Filesystem) -> (&'static str, &'static str) {
    match filesystem {
        Filesystem::Ext4 => ("mkfs.ext4", "e2fsprogs"),
        Filesystem::Xfs => ("mkfs.xfs", "xfsprogs"),
        Filesystem::F2fs => ("mkfs.f2fs", "f2fs-tools"),
    }
}

/// Its arguments: nothing of the file system is left for the node's kernel to make, and nothing is reserved for root.
fn arguments(filesystem: Filesystem) -> Vec<String> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    match filesystem {
        Filesystem::Ext4 => words(&format!(
            "-q -F -b 4096 -m 0 -U {IDENTIFIER} -E hash_seed={IDENTIFIER},lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0"
        )),
        Filesystem::Xfs => words(&format!("-q -f -K -m uuid={IDENTIFIER}")),
        Filesystem::F2fs => words(&format!("-q -f -t 0 -r -R 0:0 -U {IDENTIFIER} -T {TIME}")),
    }
}

/// Sets the times of the three inodes that mkfs.xfs makes, which it takes from the clock, whatever it is told. Places are those of
/// fs/xfs/libxfs/xfs_format.h; all numbers but the checksum have their largest byte first.
fn settle_xfs(disk: &File) -> io::Result<()> {
    const TIMES: [usize; 4] = [32, 40, 48, 144];
    const CHECKSUM: std::ops::Range<usize> = 100..104;
    /// A flag in byte 127: times are one number of nanoseconds since 1901.
    const BIGTIME: u8 = 1 << 3;
    const TO_1901: u64 = 1 << 31;
    let mut head = [0; 264];
    disk.read_exact_at(&mut head, 0)?;
    let word = |at: usize| u64::from_be_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let length = usize::from(u16::from_be_bytes([head[104], head[105]]));
    for number in [56, 64, 72].map(word) {
        // They are in the first allocation group, where numbers of inodes count places.
        let place = number * length as u64;
        let mut inode = vec![0; length];
        disk.read_exact_at(&mut inode, place)?;
        if !inode.starts_with(b"IN") {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "mkfs.xfs has made no inodes where they are looked for",
            ));
        }
        let time = if inode[127] & BIGTIME != 0 { (TIME + TO_1901) * 1_000_000_000 } else { TIME << 32 };
        for at in TIMES {
            inode[at..at + 8].copy_from_slice(&time.to_be_bytes());
        }
        inode[CHECKSUM].fill(0);
        let checksum = crc32c(&inode);
        inode[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        disk.write_all_at(&inode, place)?;
    }
    Ok(())
}

/// The checksum CRC-32C (RFC 3720, appendix B.4).
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc: u32, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3720, appendix B.4.
    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn a_file_system_is_the_same_whenever_it_is_made() {
        let mut missing = Vec::new();
        for (filesystem, size) in [(Filesystem::Ext4, 16), (Filesystem::Xfs, 320), (Filesystem::F2fs, 64)] {
            let make = || format(filesystem, Bytes::new(size * 1_000_000 / 4096 * 4096));
            let first = match make() {
                Err(why) if why.contains("install the package") => {
                    missing.push(why);
                    continue;
                }
                made => made.unwrap(),
            };
            std::thread::sleep(std::time::Duration::from_millis(1_100));
            assert!(same(&first, &make().unwrap()), "{filesystem:?}");
        }
        // The package e2fsprogs is on every machine that tests anything.
        assert!(missing.iter().all(|why| !why.contains("ext4")), "{missing:?}");
    }

    fn same(one: &File, other: &File) -> bool {
        let length = one.metadata().unwrap().len();
        let (mut left, mut right) = (vec![0; 1 << 20], vec![0; 1 << 20]);
        let mut at = 0;
        while at < length {
            let piece = usize::try_from((length - at).min(1 << 20)).unwrap();
            one.read_exact_at(&mut left[..piece], at).unwrap();
            other.read_exact_at(&mut right[..piece], at).unwrap();
            if left[..piece] != right[..piece] {
                return false;
            }
            at += piece as u64;
        }
        length == other.metadata().unwrap().len()
    }
}
