//! Kernels that run as processes (User-Mode Linux): found, built, and checked before they run.
//!
//! A lab needs one kernel for all its nodes. [`find`] chooses it: the one that the user named, else the newest own build
//! in the [`Cache`], else one that is there for all users, else the distribution's. [`build`](build::build) makes an own one. Whatever is chosen must pass
//! [`check_time_surface`]: a kernel whose clock the shim cannot slow completely is refused, not run.

pub mod build;
mod cache;
mod examined;
mod facts;
mod options;
mod shared;
mod surface;
mod version;

pub use cache::{Cache, OwnBuild, Record};
use examined::{Examined, Texts};
pub use facts::Facts;
use netloom_regular::Remembered;
use netloom_units::Date;
pub use shared::Untrusted;
use std::fmt;
use std::path::{Path, PathBuf};
pub use surface::{SurfaceError, Treatment, Uncovered, check_time_surface, covered_by_shim, treatment};
pub use version::Version;

/// The variable that names a kernel for all labs.
pub const VARIABLE: &str = "NETLOOM_KERNEL";

/// Where Debian's and Ubuntu's package user-mode-linux has its kernel.
const OF_DISTRIBUTION: &str = "/usr/bin/linux.uml";

/// The kind of time in which a lab needs its kernel to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Real or dilated time.
    Clock,
    /// Virtual time.
    VirtualTime,
}

/// A kernel that kernel nodes can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The binary.
    pub path: PathBuf,
    /// Its release, as `uname -r` says inside.
    pub version: String,
    /// Whether it can live in virtual time.
    pub time_travel: bool,
    /// Whether it knows `seccomp=on`.
    pub seccomp: bool,
    /// Jiffies per second.
    pub hz: u32,
    /// Whether `netloom kernel build` made it.
    pub own_build: bool,
    /// Stands for an own build's configuration; `None` for other kernels.
    pub config_hash: Option<String>,
    /// The modules that nodes need because this kernel does not have them built in; empty for own builds.
    pub modules_needed: Vec<String>,
    /// The day on which it was built, UTC; none if it does not say.
    pub day: Option<Date>,
    texts: Texts,
}

/// Why there is no kernel for a lab. The text says what to do.
#[derive(Debug)]
pub enum KernelMissing {
    /// No kernel for nodes exists for this machine's processor.
    Processor,
    /// There is none at all.
    None {
        /// What the lab needs.
        need: Need,
    },
    /// The only kernel cannot live in virtual time.
    NoVirtualTime {
        /// The kernel's binary.
        path: PathBuf,
        /// Its release.
        version: String,
    },
    /// The kernel that was chosen is none, or lacks something.
    Unusable {
        /// The file that was looked at.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The kernel's clock would not be slowed.
    Surface(SurfaceError),
}

/// The kernel for a lab: `given` (the option `--kernel`), else what `NETLOOM_KERNEL` names, else the newest own build
/// that serves, with the present configuration if there is one, else the distribution's. The user's builds come before those
/// of all users.
///
/// # Errors
/// When there is no such kernel, or when it cannot do what is needed; a kernel that the user named is never replaced by
/// another.
pub fn find(need: Need, given: Option<&Path>) -> Result<Kernel, KernelMissing> {
    if !cfg!(target_arch = "x86_64") {
        return Err(KernelMissing::Processor);
    }
    // An empty variable is as good as none.
    let variable = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let named = given.map(Path::to_owned).or_else(|| variable.map(PathBuf::from));
    // Without a place for a cache there are only the builds for all users.
    let cache = Cache::of_user().unwrap_or_else(|_| Cache::of_all_users());
    let chosen = choose(need, named, cache.builds(), Path::new(OF_DISTRIBUTION));
    match (chosen, cache.untrusted().into_iter().next()) {
        (Err(KernelMissing::None { .. }), Some(Untrusted { path, why })) => Err(KernelMissing::Unusable { path, why }),
        (found, _) => found,
    }
}

fn choose(
    need: Need,
    named: Option<PathBuf>,
    builds: Vec<OwnBuild>,
    of_distribution: &Path,
) -> Result<Kernel, KernelMissing> {
    let build = match &named {
        Some(path) => builds.into_iter().find(|build| build.path == *path),
        None => pick(builds, need),
    };
    let kernel = match (build, named) {
        (Some(build), _) => Kernel::own(build)?,
        (None, Some(path)) => Kernel::at(&path)?,
        (None, None) if of_distribution.exists() => Kernel::at(of_distribution)?,
        (None, None) => return Err(KernelMissing::None { need }),
    };
    if need == Need::VirtualTime && !kernel.time_travel {
        return Err(KernelMissing::NoVirtualTime { path: kernel.path, version: kernel.version });
    }
    Ok(kernel)
}

/// The first own build that serves; those with the present configuration come before others.
fn pick(mut builds: Vec<OwnBuild>, need: Need) -> Option<OwnBuild> {
    builds.retain(|build| need == Need::Clock || build.record.facts.time_travel);
    let present = build::config_hash();
    let at = builds.iter().position(|build| build.record.config_hash == present).unwrap_or(0);
    builds.into_iter().nth(at)
}

impl Kernel {
    /// A kernel from elsewhere, which is asked what it can do.
    fn at(path: &Path) -> Result<Self, KernelMissing> {
        let unusable = |why| KernelMissing::Unusable { path: path.to_owned(), why };
        let canonical = path
            .canonicalize()
            .map_err(|source| KernelMissing::Surface(SurfaceError::Unreadable { path: path.to_owned(), source }))?;
        // What cannot be preloaded need not be started to find out what it is.
        let examined = Examined::of(&canonical).map_err(KernelMissing::Surface)?;
        let facts = Remembered::named("kernels/facts").of(&canonical, || Facts::read(&canonical)).map_err(unusable)?;
        Ok(Self::with(canonical, facts, None, examined.texts))
    }

    fn own(build: OwnBuild) -> Result<Self, KernelMissing> {
        let examined = Examined::of(&build.path).map_err(KernelMissing::Surface)?;
        Ok(Self::with(build.path, build.record.facts, Some(build.record.config_hash), examined.texts))
    }

    /// Whether it can let time pass for what programs compute: whether it has the parameter that says how much.
    pub fn counts_branches(&self) -> bool {
        self.texts.branch
    }

    /// Whether it stops, in virtual time, to hear what node it is, shortly before its first process: whether it knows where to ask.
    pub fn has_checkpoint(&self) -> bool {
        self.texts.checkpoint
    }

    /// Whether it knows disks of nodes and their faults: whether it has the parameter that makes one. Kernels of before there were faults are
    /// told of disks in another way.
    pub fn has_disks(&self) -> bool {
        self.texts.disk
    }

    /// Whether it hands over the state of its TCP connections itself, in virtual time: whether it knows where to.
    pub fn takes_samples(&self) -> bool {
        self.texts.samples
    }

    fn with(path: PathBuf, facts: Facts, config_hash: Option<String>, texts: Texts) -> Self {
        let Facts { version, time_travel, seccomp, hz, modules_needed, day } = facts;
        let own_build = config_hash.is_some();
        Self { path, version, time_travel, seccomp, hz, own_build, config_hash, modules_needed, day, texts }
    }
}

impl fmt::Display for KernelMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processor => write!(
                f,
                "kernel nodes, and with them dilated and virtual time, exist on x86-64 only, and this is {}: here, labs run in real time \
                 on namespace nodes, and `netloom sim` computes what links do",
                std::env::consts::ARCH
            ),
            Self::None { need: Need::Clock } => write!(
                f,
                "there is no kernel for kernel nodes: run `netloom kernel build` (some minutes, once), or install the \
                 package user-mode-linux, which serves labs in real and dilated time"
            ),
            Self::None { need: Need::VirtualTime } => {
                write!(f, "there is no kernel for virtual time: run `netloom kernel build` (some minutes, once)")
            }
            Self::NoVirtualTime { path, version } => write!(
                f,
                "the kernel {} (Linux {version}) was built without virtual time: run `netloom kernel build` (some \
                 minutes, once)",
                path.display()
            ),
            Self::Unusable { path, why } => write!(f, "{} cannot run kernel nodes: {why}", path.display()),
            Self::Surface(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for KernelMissing {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Surface(error) => error.source(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
