//! What is found out by reading the file of a kernel, which is large: once for each file.

use super::surface::{self, SurfaceError};
use memchr::memmem;
use netloom_regular::Remembered;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The findings in a kernel's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Examined {
    /// The names of all functions and objects that it takes from shared libraries. Whether the shim covers them depends on the shim.
    imports: Vec<String>,
    pub(super) texts: Texts,
}

impl Examined {
    /// Examines the kernel at `path`, or remembers what was found in its file.
    ///
    /// # Errors
    /// When the file is not a dynamically linked program, or imports what the shim does not cover.
    pub(super) fn of(path: &Path) -> Result<Self, SurfaceError> {
        let examined: Self = Remembered::named("kernels/examined").of(path, || {
            let bytes = surface::read(path)?;
            Ok::<_, SurfaceError>(Self { imports: surface::imports(&bytes, path)?, texts: Texts::of(&bytes) })
        })?;
        surface::check_imports(&examined.imports, path)?;
        Ok(examined)
    }
}

/// Which texts stand in a kernel's file, each between two zeros: what it knows beyond any other kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Texts {
    pub(super) branch: bool,
    pub(super) checkpoint: bool,
    pub(super) disk: bool,
    pub(super) samples: bool,
}

impl Texts {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let has = |text: &[u8]| memmem::find(bytes, text).is_some();
        Self {
            branch: has(b"\0netloom.branch\0"),
            checkpoint: has(b"\0/netloom/checkpoint\0"),
            disk: has(b"\0netloom.disk_fault\0"),
            samples: has(b"\0/netloom/samples\0"),
        }
    }
}
