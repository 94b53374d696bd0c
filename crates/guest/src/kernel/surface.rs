//! What a kernel asks of the C library about time.
//!
//! A User-Mode Linux kernel learns the time, and asks for it to pass, through the C library alone; the shim stands
//! between both. So the list of functions that its binary imports tells before it runs whether its clock would be slowed
//! completely: each must be one that the shim covers, or one that is known to have nothing to do with time.

mod table;
#[cfg(test)]
pub(super) mod tests;

use object::elf::{FileHeader64, PT_INTERP};
use object::read::NameOrOrdinal;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
pub use table::{Treatment, covered_by_shim, treatment};

/// How many functions a message names, and how many characters of each.
const MOST_NAMES: usize = 5;
const LONGEST_NAME: usize = 80;

/// Why a kernel is refused before it runs.
#[derive(Debug)]
pub enum SurfaceError {
    /// The file could not be read.
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file is not a program for this kind of processor.
    NoProgram {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The kernel contains its C library, so that nothing can be preloaded.
    Static {
        /// Which file.
        path: PathBuf,
    },
    /// The kernel imports functions whose time would not be slowed, or that are unknown here.
    Uncovered {
        /// Which file.
        path: PathBuf,
        /// The names of the functions, in order.
        functions: Vec<Uncovered>,
    },
}

/// An import that the shim does not cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncovered {
    /// The function's name.
    pub function: String,
    /// Whether it is known to deal with time; otherwise the table has no entry for it.
    pub known: bool,
}

/// Whether the shim covers everything through which the kernel at `path` could see time.
///
/// # Errors
/// When the file is not a dynamically linked program, or imports a function that is forbidden or not in the table.
pub fn check_time_surface(path: &Path) -> Result<(), SurfaceError> {
    check_imports(&imports(&read(path)?, path)?, path)
}

/// Reads the file of a kernel.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, SurfaceError> {
    fs::read(path).map_err(|source| SurfaceError::Unreadable { path: path.to_owned(), source })
}

/// Whether the shim covers everything through which a kernel with these imports could see time.
pub(super) fn check_imports(imports: &[String], path: &Path) -> Result<(), SurfaceError> {
    let functions = uncovered(imports.iter().map(String::as_str));
    if functions.is_empty() { Ok(()) } else { Err(SurfaceError::Uncovered { path: path.to_owned(), functions }) }
}

/// The names of all functions and objects that a program takes from shared libraries, in order.
pub(super) fn imports(data: &[u8], path: &Path) -> Result<Vec<String>, SurfaceError> {
    let wrong = |why: String| SurfaceError::NoProgram { path: path.to_owned(), why };
    let file = ElfFile64::<Endianness>::parse(data).map_err(|error| wrong(format!("no 64-bit ELF file ({error})")))?;
    if !is_dynamic(&file).map_err(|error| wrong(error.to_string()))? {
        return Err(SurfaceError::Static { path: path.to_owned() });
    }
    let found = file.imports().map_err(|error| wrong(error.to_string()))?;
    let mut names = Vec::new();
    for import in found {
        // An import by number is a thing of other systems' files.
        if let NameOrOrdinal::Name(name) = import.map_err(|error| wrong(error.to_string()))?.name() {
            names.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// Whether a program names an interpreter, the dynamic linker. Only that one honours LD_PRELOAD.
fn is_dynamic(file: &ElfFile64<'_, Endianness>) -> object::read::Result<bool> {
    let header: &FileHeader64<Endianness> = file.elf_header();
    let segments = header.program_headers(file.endian(), file.data())?;
    Ok(segments.iter().any(|segment| segment.p_type(file.endian()) == PT_INTERP))
}

/// Those imports that the shim does not cover and that are not harmless, in the order given.
fn uncovered<'a>(imports: impl Iterator<Item = &'a str>) -> Vec<Uncovered> {
    let judged = imports.filter_map(|function| match treatment(function) {
        Some(Treatment::Scaled | Treatment::Harmless(_)) => None,
        Some(Treatment::Forbidden) => Some((function, true)),
        None => Some((function, false)),
    });
    judged.map(|(function, known)| Uncovered { function: function.to_owned(), known }).collect()
}

impl fmt::Display for SurfaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, source } => write!(f, "reading the kernel {}: {source}", path.display()),
            Self::NoProgram { path, why } => {
                write!(f, "{} is not a kernel that runs as a process: {why}", path.display())
            }
            Self::Static { path } => write!(
                f,
                "the kernel {} is linked statically, so its clock cannot be slowed from outside: build it without \
                 CONFIG_STATIC_LINK, or with `netloom kernel build`",
                path.display()
            ),
            Self::Uncovered { path, functions } => {
                let names: Vec<String> = functions.iter().take(MOST_NAMES).map(ToString::to_string).collect();
                let (path, names) = (path.display(), names.join(", "));
                write!(f, "the kernel {path} calls {names}")?;
                match functions.len().saturating_sub(MOST_NAMES) {
                    0 => write!(f, ": its clock would not be slowed"),
                    // A kernel that is newer than this program calls a few.
                    more => write!(
                        f,
                        " and {more} more like these: it is hardly a kernel, and its clock would not be slowed"
                    ),
                }
            }
        }
    }
}

impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = if self.known { "which deals with time" } else { "which netloom does not know" };
        // The file's author chooses how long names are.
        write!(f, "`{:.LONGEST_NAME$}` ({why})", self.function)
    }
}

impl std::error::Error for SurfaceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } => Some(source),
            _ => None,
        }
    }
}
