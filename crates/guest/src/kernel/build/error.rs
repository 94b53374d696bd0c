//! Why there is no new kernel.

use crate::kernel::SurfaceError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The reason why a build failed. Nothing of it is left but the log and a download that was complete.
#[derive(Debug)]
pub enum BuildError {
    /// User-Mode Linux does not exist for this kind of processor.
    Processor,
    /// Programs or headers are missing; the build did not start.
    Tools(Vec<Tool>),
    /// Another build is running.
    Busy {
        /// The folder of the cache.
        root: PathBuf,
    },
    /// The disk is too full.
    Space {
        /// Where the build works.
        path: PathBuf,
        /// Bytes that are free there.
        free: u64,
        /// Bytes that it takes.
        needed: u64,
    },
    /// What `--source` names is not a kernel's source.
    Source {
        /// What was named.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// No source package is within reach.
    Packages {
        /// Why.
        why: String,
    },
    /// The configuration lacks options without which no kernel node works.
    Options {
        /// Their names.
        missing: Vec<String>,
    },
    /// A program that the build called failed.
    Step {
        /// What it was to do.
        what: String,
        /// The lines of its output that say most.
        said: Vec<String>,
        /// Where all of it is.
        log: PathBuf,
    },
    /// The file to import is not a kernel that `netloom kernel build` made.
    Import {
        /// What was named.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The kernel did not boot.
    Trial {
        /// Why.
        why: String,
    },
    /// The kernel was built, but is none that can run nodes.
    Unusable {
        /// Why.
        why: String,
    },
    /// The kernel was built, but its clock would not be slowed.
    Surface(SurfaceError),
    /// A signal asked for the end.
    Interrupted,
    /// The operating system refused something.
    System {
        /// What was attempted.
        attempted: String,
        /// What it said.
        source: io::Error,
    },
}

/// A program, or something like it, and the package of Debian and Ubuntu that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The name of the program.
    pub name: &'static str,
    /// The package that has it.
    pub package: &'static str,
}

pub(super) trait Attempt<T> {
    /// Says what was attempted when the operating system refuses.
    fn attempted(self, what: impl FnOnce() -> String) -> Result<T, BuildError>;
}

impl<T> Attempt<T> for io::Result<T> {
    fn attempted(self, what: impl FnOnce() -> String) -> Result<T, BuildError> {
        self.map_err(|source| io_error(what(), source))
    }
}

pub(super) fn io_error(attempted: String, source: io::Error) -> BuildError {
    BuildError::System { attempted, source }
}

/// Where to get a kernel's source, and how to give it.
pub(super) const FROM_KERNEL_ORG: &str = "download the newest kernel from https://www.kernel.org (such as \
    https://cdn.kernel.org/pub/linux/kernel/v7.x/linux-7.3.4.tar.xz) and run `netloom kernel build --source \
    linux-7.3.4.tar.xz`";

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processor => write!(f, "kernels that run as processes (User-Mode Linux) exist for x86-64 only"),
            Self::Tools(tools) => write_tools(f, tools),
            Self::Busy { root } => {
                write!(f, "another build is running in {}: wait for it, or stop it", root.display())
            }
            Self::Space { path, free, needed } => write!(
                f,
                "a build takes {:.1} GB in {}, where {:.1} GB are free: make room, or set XDG_CACHE_HOME to a folder on \
                 a larger disk",
                *needed as f64 / 1e9,
                path.display(),
                *free as f64 / 1e9
            ),
            Self::Source { path, why } => write!(
                f,
                "{}: {why}; --source takes the folder of a Linux kernel's source, or an archive of it (.tar.xz, .tar.gz)",
                path.display()
            ),
            Self::Packages { why } => write!(f, "{why}: {FROM_KERNEL_ORG}"),
            Self::Options { missing } => write!(
                f,
                "this source cannot make a kernel for kernel nodes: it does not give CONFIG_{}; take a newer one",
                missing.join(", CONFIG_")
            ),
            Self::Step { what, said, log } => {
                writeln!(f, "{what} failed:")?;
                for line in said {
                    writeln!(f, "  {line}")?;
                }
                write!(f, "the whole log: {}", log.display())
            }
            Self::Import { path, why } => write!(f, "{} cannot be imported: {why}", path.display()),
            Self::Trial { why } => write!(f, "the kernel does not boot: {why}"),
            Self::Unusable { why } => write!(f, "the kernel was built, but cannot run kernel nodes: {why}"),
            Self::Surface(error) => error.fmt(f),
            Self::Interrupted => write!(f, "stopped; the cache is as it was"),
            Self::System { attempted, source } => write!(f, "could not {attempted}: {source}"),
        }
    }
}

fn write_tools(f: &mut fmt::Formatter<'_>, tools: &[Tool]) -> fmt::Result {
    let mut packages: Vec<&str> = tools.iter().map(|tool| tool.package).collect();
    packages.sort_unstable();
    packages.dedup();
    for tool in tools {
        writeln!(f, "{} is missing (package: {})", tool.name, tool.package)?;
    }
    write!(f, "to build a kernel, install them first; on Debian and Ubuntu: apt-get install {}", packages.join(" "))
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            Self::Surface(error) => error.source(),
            _ => None,
        }
    }
}
