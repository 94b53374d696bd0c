//! What is mounted where.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Attempted, KernelError};

/// A mount that can be reached by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) point: PathBuf,
    pub(super) kind: String,
}

/// What is mounted in this namespace.
#[derive(Debug)]
pub(super) struct Mounts {
    /// What can be reached, those above before those below.
    pub(super) visible: Vec<Mount>,
    /// Where something is mounted, whether or not this user may look there.
    points: Vec<PathBuf>,
}

impl Mounts {
    /// Those that there are now.
    pub(super) fn read() -> Result<Self, KernelError> {
        let table = fs::read("/proc/self/mountinfo").attempted(|| "read the mounts of this process")?;
        let points = table.split(|byte| *byte == b'\n').filter_map(parse).map(|(_, mount)| mount.point).collect();
        Ok(Self { visible: visible(&table), points })
    }

    /// Whether something is mounted below this folder.
    pub(super) fn any_below(&self, folder: &Path) -> bool {
        self.points.iter().any(|point| point != folder && point.starts_with(folder))
    }
}

fn visible(table: &[u8]) -> Vec<Mount> {
    let lines = table.split(|byte| *byte == b'\n').filter_map(parse);
    // Of several mounts at one path, or below another that hides it, the one that the path leads to is meant.
    let mut seen: Vec<Mount> =
        lines.filter(|(id, mount)| mount_at(&mount.point) == Some(*id)).map(|(_, mount)| mount).collect();
    seen.sort_by(|one, other| one.point.cmp(&other.point));
    seen
}

/// The number of a mount, and the mount, from a line of mountinfo (proc_pid_mountinfo(5)).
fn parse(line: &[u8]) -> Option<(u64, Mount)> {
    let mut fields = line.split(|byte| *byte == b' ');
    let id = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let point = unescape(fields.nth(3)?);
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    Some((id, Mount { point, kind: String::from_utf8_lossy(kind).into_owned() }))
}

/// Blanks and some other characters are written as a backslash and three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        let octal = tail.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

/// Which mount this path leads to.
fn mount_at(path: &Path) -> Option<u64> {
    let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    info.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().parse().ok()
}

/// A path as an option of an overlay, in which three characters mean something else.
pub(super) fn escape(path: &Path) -> OsString {
    let mut bytes = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        if b"\\,:".contains(byte) {
            bytes.push(b'\\');
        }
        bytes.push(*byte);
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_mountinfo_are_understood() {
        let line =
            b"36 35 98:0 /mnt1 /mnt\\0402\\134x rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue";
        let mount = Mount { point: "/mnt 2\\x".into(), kind: "ext3".into() };
        assert_eq!(parse(line), Some((36, mount)));
        assert_eq!(parse(b""), None);
        assert_eq!(unescape(b"a\\04"), PathBuf::from("a\\04"));
        let root = Mounts::read().unwrap().visible;
        assert_eq!(root[0].point, Path::new("/"));
        assert!(root.iter().any(|other| other.point == Path::new("/proc") && other.kind == "proc"));
    }

    #[test]
    fn options_of_an_overlay_are_escaped() {
        assert_eq!(escape(Path::new("/a,b:c\\d")), "/a\\,b\\:c\\\\d");
    }
}
