//! Builds a kernel from source with our configuration, and puts it into the cache.
//!
//! Nothing is written but in the cache's folder: the source is unpacked or copied there, built there, and removed. The
//! finished kernel is renamed to its place as a whole, so that an interrupted build leaves none half done. The
//! distribution's source package is fetched with a package configuration of its own, beside the system's.

mod apt;
mod edits;
mod error;
mod import;
mod interrupt;
mod make;
mod options;
mod runner;
mod source;
mod tools;
mod trial;

use super::cache::{Cache, OwnBuild, Record};
use super::{Facts, check_time_surface};
use error::{Attempt, io_error};
pub use error::{BuildError, Tool};
pub use import::import;
use interrupt::Interrupt;
use nix::fcntl::Flock;
pub(super) use options::Mark;
pub use options::config_hash;
use runner::Runner;
use source::Source;
use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime};

/// Counts from when the way of building changes the kernel that comes out of the same source and configuration.
const BUILDER_VERSION: u32 = 1;

/// What the source, unpacked and built, and the package that it comes in take on disk at most. Measured with Linux 7.3:
/// 1.8 GB of source, 0.7 GB of objects, 0.17 GB each for the package and the archive in it.
const SPACE_BYTES: u64 = 3_500_000_000;

/// The kernel's name in its folder of the cache.
const KERNEL: &str = "linux";

/// The settings of a kernel build.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// A folder or an archive with a kernel's source; without it the newest package `linux-source-*` within reach.
    pub source: Option<PathBuf>,
    /// Build although the cache has that kernel.
    pub force: bool,
    /// How many compilers run at a time; default: one per processor.
    pub jobs: Option<NonZero<usize>>,
    /// The program that is the first process of kernel nodes, `netloom` itself: the kernel is booted with it once.
    pub init: PathBuf,
}

/// A report of a build while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// The step that the build takes now.
    Step(&'a str),
    /// Something to know about the kernel that comes out.
    Warning(&'a str),
    /// How many files are compiled, and of about how many.
    Compiled {
        /// Files so far.
        files: u32,
        /// About how many there are in all.
        about: u32,
    },
}

/// How a build ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Built {
    /// This kernel was built.
    Now(OwnBuild),
    /// This one was there before, and nothing was done.
    Before(OwnBuild),
}

/// Who listens to a build.
pub type Listener<'a> = &'a mut dyn FnMut(Progress<'_>);

/// Builds the kernel that `request` asks for, unless `cache` has it, or all users of this machine do.
///
/// It takes some minutes, some 3 GB of disk in the cache's folder while it lasts, and all processors. Signals that ask
/// the process to end (SIGINT, SIGTERM, SIGHUP) end the build, and what it made is removed.
///
/// # Errors
/// See [`BuildError`].
pub fn build(request: &Request, cache: &Cache, report: Listener<'_>) -> Result<Built, BuildError> {
    build_in(request, cache, SPACE_BYTES, report)
}

/// Builds where at least `space` bytes are free; see [`build`].
fn build_in(request: &Request, cache: &Cache, space: u64, report: Listener<'_>) -> Result<Built, BuildError> {
    if !cfg!(target_arch = "x86_64") {
        return Err(BuildError::Processor);
    }
    if let Some(there) = there_already(request, cache) {
        return Ok(Built::Before(there));
    }
    tools::check(request.source.is_none())?;
    let _lock = lock(cache)?;
    let start = Instant::now();
    let work = Work::new(cache)?;
    work.check_space(space)?;
    let interrupt = Interrupt::catch();
    let mut runner = Runner::new(cache.log(), &interrupt)?;
    let source = match &request.source {
        Some(path) => source::given(path, &mut runner)?,
        None => apt::newest(&work.0, &cache.download(), &mut runner, report)?,
    };
    // Another build may have ended while this one waited for its source.
    let place = cache.place(&source.version, &config_hash());
    if let Some(there) = cache.read(&place).filter(|_| !request.force) {
        return Ok(Built::Before(there));
    }
    let tree = work.0.join("tree");
    report(Progress::Step(&format!("unpacking {}", source.name)));
    source::unpack(&source, &tree, &mut runner)?;
    configure(&tree, &mut runner, report)?;
    report(Progress::Step(&format!("compiling Linux {}", source.version)));
    make::compile(&tree, request.jobs, &mut runner, report)?;
    let finished = finish(&tree, &work.0, &source, start, &mut runner)?;
    report(Progress::Step("booting the kernel"));
    trial::boot(&finished.join(KERNEL), &request.init, &work.0, &mut runner)?;
    let built = install(&finished, &place, cache)?;
    // What was downloaded has served; a failed build would have found it again.
    fs::remove_dir_all(cache.download()).ok();
    Ok(Built::Now(built))
}

/// Keeps other builds and imports away.
fn lock(cache: &Cache) -> Result<Flock<File>, BuildError> {
    let lock = cache.lock().attempted(|| format!("lock {}", cache.root().display()))?;
    lock.ok_or_else(|| BuildError::Busy { root: cache.root().to_owned() })
}

/// A kernel with the present configuration, when no particular source is asked for.
fn there_already(request: &Request, cache: &Cache) -> Option<OwnBuild> {
    if request.source.is_some() || request.force {
        return None;
    }
    let present = config_hash();
    cache.builds().into_iter().find(|build| build.record.config_hash == present)
}

/// The folder that a build works in, or an import. A process that has the cache's lock may remove what another left
/// behind.
struct Work(PathBuf);

impl Work {
    fn new(cache: &Cache) -> Result<Self, BuildError> {
        let path = cache.work();
        if path.exists() {
            fs::remove_dir_all(&path).attempted(|| format!("remove {}", path.display()))?;
        }
        fs::create_dir_all(&path).attempted(|| format!("make {}", path.display()))?;
        Ok(Self(path))
    }

    /// Whether this many bytes are free for a build.
    fn check_space(&self, needed: u64) -> Result<(), BuildError> {
        let path = &self.0;
        let space = nix::sys::statvfs::statvfs(path).map_err(std::io::Error::from);
        let space = space.attempted(|| format!("look for free space in {}", path.display()))?;
        let free = space.blocks_available() * space.fragment_size();
        if free < needed {
            return Err(BuildError::Space { path: path.clone(), free, needed });
        }
        Ok(())
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next build.
        fs::remove_dir_all(&self.0).ok();
    }
}

fn configure(tree: &Path, runner: &mut Runner<'_>, report: Listener<'_>) -> Result<(), BuildError> {
    let warnings = edits::make(tree)?;
    let fragment = tree.join("netloom.config");
    let options = format!("{}{}", options::FRAGMENT, Mark::of_today().line());
    fs::write(&fragment, options).attempted(|| format!("write {}", fragment.display()))?;
    let mut command = make::make(tree);
    command.env("KCONFIG_ALLCONFIG", &fragment).arg("allnoconfig");
    runner.run("configuring the kernel", command, &mut |_| ())?;
    let path = tree.join(".config");
    let config = fs::read_to_string(&path).attempted(|| format!("read {}", path.display()))?;
    for warning in options::check(&config)?.into_iter().chain(warnings) {
        report(Progress::Warning(&warning));
    }
    Ok(())
}

/// Puts the kernel, its configuration and its record into a folder of their own, and looks whether it can be used.
fn finish(
    tree: &Path,
    work: &Path,
    source: &Source,
    start: Instant,
    runner: &mut Runner<'_>,
) -> Result<PathBuf, BuildError> {
    let folder = work.join("kernel");
    fs::create_dir(&folder).attempted(|| format!("make {}", folder.display()))?;
    let path = folder.join(KERNEL);
    let mut strip = Command::new("strip");
    strip.arg("--strip-all").arg("-o").arg(&path).arg(tree.join("linux"));
    runner.run("stripping the kernel", strip, &mut |_| ())?;
    let config = tree.join(".config");
    let config = fs::read_to_string(&config).attempted(|| format!("read {}", config.display()))?;
    check_time_surface(&path).map_err(BuildError::Surface)?;
    let facts = Facts::read(&path).map_err(|why| BuildError::Unusable { why })?;
    let record = Record {
        facts,
        source_version: source.version.to_string(),
        source: source.name.clone(),
        config_hash: config_hash(),
        compiler: options::compiler(&config),
        built: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        build_seconds: start.elapsed().as_secs(),
        size_bytes: size(&path)?,
    };
    describe(&folder, &config, &record)?;
    Ok(folder)
}

/// Puts a kernel's configuration and its record beside it.
fn describe(folder: &Path, config: &str, record: &Record) -> Result<(), BuildError> {
    let json = serde_json::to_vec_pretty(record).expect("a record has string keys only");
    for (name, text) in [("config", config.as_bytes()), ("kernel.json", &json)] {
        let path = folder.join(name);
        fs::write(&path, text).attempted(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

fn size(path: &Path) -> Result<u64, BuildError> {
    Ok(fs::metadata(path).attempted(|| format!("look at {}", path.display()))?.len())
}

/// Moves the finished folder to its place, and an older one out of the way.
fn install(finished: &Path, place: &Path, cache: &Cache) -> Result<OwnBuild, BuildError> {
    if place.exists() {
        fs::rename(place, cache.work().join("replaced")).attempted(|| format!("replace {}", place.display()))?;
    }
    fs::rename(finished, place).attempted(|| format!("move the kernel to {}", place.display()))?;
    cache.read(place).ok_or_else(|| {
        let vanished = std::io::Error::other("it vanished while it was put there");
        io_error(format!("read {}", place.display()), vanished)
    })
}

#[cfg(test)]
mod tests;
