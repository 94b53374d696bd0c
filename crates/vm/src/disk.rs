//! Disks of virtual machines, which are only ever read.

use crate::error::VmError;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

/// How a disk's bytes lie in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// QEMU's own format, with only what was written.
    Qcow2,
    /// As on the disk.
    Raw,
}

impl Format {
    /// As QEMU and lab files name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Qcow2 => "qcow2",
            Self::Raw => "raw",
        }
    }
}

/// A disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Its file, or a block device.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
}

/// How a file in QEMU's own format begins (docs/interop/qcow2.txt).
const QCOW2: [u8; 4] = *b"QFI\xfb";

impl Disk {
    /// Looks whether the file can be read and is of this format.
    ///
    /// # Errors
    /// In words that follow the name of the node's key.
    pub fn check(&self) -> Result<(), VmError> {
        let path = &self.path;
        let mut file = netloom_regular::open_disk(path).map_err(|error| match error.kind() {
            ErrorKind::IsADirectory => VmError::Wrong(format!("the disk {} is a folder", path.display())),
            _ => VmError::file("open the disk", path)(error),
        })?;
        let mut begin = [0; 4];
        let is_qcow2 = file.read_exact(&mut begin).is_ok() && begin == QCOW2;
        match (self.format, is_qcow2) {
            (Format::Qcow2, false) => Err(VmError::Wrong(format!(
                "the disk {} is not in the format qcow2: write `format: raw` if it is a disk byte by byte",
                path.display()
            ))),
            // A machine that takes it for raw would find no file system on it.
            (Format::Raw, true) => Err(VmError::Wrong(format!(
                "the disk {} is in the format qcow2: write `format: qcow2`, or leave it out",
                path.display()
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let disk = |name: &str, bytes: &[u8], format| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            Disk { path, format }.check().map_err(|error| error.to_string())
        };
        assert_eq!(disk("a", b"QFI\xfb\0\0\0\x03", Format::Qcow2), Ok(()));
        assert_eq!(disk("b", b"", Format::Raw), Ok(()));
        assert!(disk("c", b"QFI\xfb", Format::Raw).unwrap_err().ends_with("write `format: qcow2`, or leave it out"));
        assert!(disk("d", b"QFI", Format::Qcow2).unwrap_err().contains("is not in the format qcow2"));
        let absent = Disk { path: folder.path().join("absent"), format: Format::Raw }.check().unwrap_err();
        assert!(absent.to_string().ends_with("absent: No such file or directory (os error 2)"), "{absent}");
    }
}
