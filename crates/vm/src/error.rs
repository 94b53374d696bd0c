use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a virtual machine cannot be had. The texts follow the node's name where it is known.
#[derive(Debug)]
pub enum VmError {
    /// There is no program of this name, which is QEMU, in PATH.
    NoQemu(&'static str),
    /// QEMU is older than what this program uses of it.
    Old {
        /// Where it is.
        program: PathBuf,
        /// Its version.
        version: String,
        /// Major and minor number of the oldest that will do.
        least: (u32, u32),
    },
    /// Something that is not as it should be, in words.
    Wrong(String),
    /// A file could not be read or written: what was attempted, and the system's answer.
    File(String, io::Error),
}

impl VmError {
    pub(crate) fn file(attempted: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let attempted = format!("{attempted} {}", path.display());
        |error| Self::File(attempted, error)
    }
}

impl fmt::Display for VmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoQemu(program) => write!(
                f,
                "{program} is not in PATH, which virtual machines need: install it (Debian, Ubuntu: \
                 apt-get install --no-install-recommends qemu-system-x86)"
            ),
            Self::Old { program, version, least: (major, minor) } => {
                write!(
                    f,
                    "{} is version {version}, and virtual machines need {major}.{minor} or newer: install a newer one (the package \
                     qemu-system-x86 of Debian 12 and Ubuntu 22.04 will do), or put its folder first in PATH",
                    program.display()
                )
            }
            Self::Wrong(what) => f.write_str(what),
            Self::File(attempted, error) => write!(f, "{attempted}: {error}"),
        }
    }
}

impl std::error::Error for VmError {}
