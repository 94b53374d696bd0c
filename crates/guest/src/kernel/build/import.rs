//! Takes a kernel into the cache that was built elsewhere, by this very way of building.

use super::error::Attempt;
use super::interrupt::Interrupt;
use super::options::{self, Mark};
use super::runner::Runner;
use super::{BuildError, KERNEL, Listener, Progress, Work, config_hash, describe, install, lock, size, trial};
use crate::kernel::facts;
use crate::kernel::options::options_of;
use crate::kernel::{Cache, Facts, OwnBuild, Record, Version, check_time_surface};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What our configuration adds to a version.
const SUFFIX: &str = "-netloom";

/// Copies the kernel at `path` into `cache`, in the place of one of the same version, after it has shown that
/// `netloom kernel build` made it with the present configuration, and that it boots here with `init` as its first process.
///
/// # Errors
/// See [`BuildError`].
pub fn import(path: &Path, init: &Path, cache: &Cache, report: Listener<'_>) -> Result<OwnBuild, BuildError> {
    if !cfg!(target_arch = "x86_64") {
        return Err(BuildError::Processor);
    }
    let wrong = |why: String| BuildError::Import { path: path.to_owned(), why };
    let found = fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
    if !found.is_file() {
        return Err(wrong("it is not a file: name the file `linux` of a kernel".to_owned()));
    }
    let _lock = lock(cache)?;
    let work = Work::new(cache)?;
    let interrupt = Interrupt::catch();
    let mut runner = Runner::new(cache.log(), &interrupt)?;
    let folder = work.0.join("kernel");
    fs::create_dir(&folder).attempted(|| format!("make {}", folder.display()))?;
    // Whatever becomes of the original, the copy is what was looked at.
    let copy = folder.join(KERNEL);
    fs::copy(path, &copy).attempted(|| format!("copy {}", path.display()))?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))
        .attempted(|| format!("make {} run", copy.display()))?;
    check_time_surface(&copy).map_err(|error| wrong(error.to_string()))?;
    let facts = Facts::read(&copy).map_err(wrong)?;
    let config = facts::config(&copy).map_err(wrong)?;
    let mark = judge(&config).map_err(wrong)?;
    for warning in options::check(&config)? {
        report(Progress::Warning(&warning));
    }
    let version: Version = facts.version.trim_end_matches(SUFFIX).parse().map_err(|()| wrong(facts.version.clone()))?;
    report(Progress::Step("booting the kernel"));
    trial::boot(&copy, init, &work.0, &mut runner)?;
    let record = Record {
        facts,
        source_version: version.to_string(),
        source: format!("imported from {}", path.display()),
        config_hash: mark.config_hash.clone(),
        compiler: options::compiler(&config),
        built: format!("{}T00:00:00Z", mark.day),
        build_seconds: 0,
        size_bytes: size(&copy)?,
    };
    describe(&folder, &config, &record)?;
    install(&folder, &cache.place(&version, &mark.config_hash), cache)
}

/// The mark of a configuration that is the present one.
fn judge(config: &str) -> Result<Mark, String> {
    let mark = Mark::of(&options_of(config)).ok_or(
        "it does not say that `netloom kernel build` made it; to run labs on it all the same, name it with --kernel or in \
         NETLOOM_KERNEL",
    )?;
    let present = config_hash();
    if mark.config_hash == present {
        return Ok(mark);
    }
    Err(format!(
        "another version of netloom built it, with the configuration {}, and this one has {present}: build it anew, or \
         name it with --kernel or in NETLOOM_KERNEL",
        mark.config_hash
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &Path) -> String {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("kernels"));
        let error = import(path, Path::new("/bin/true"), &cache, &mut |_| ()).unwrap_err();
        assert_eq!(cache.builds(), []);
        assert!(!cache.work().exists(), "work is left behind");
        error.to_string()
    }

    #[test]
    fn what_is_no_kernel_of_ours_is_refused_and_not_kept() {
        assert!(refused(Path::new("/nowhere/linux")).contains("No such file"));
        assert!(refused(Path::new("/tmp")).contains("it is not a file"));
        let script = tempfile::NamedTempFile::new().unwrap();
        fs::write(script.path(), "#!/bin/sh\necho 7.3.4-netloom\n").unwrap();
        let text = refused(script.path());
        assert!(text.contains(&script.path().display().to_string()) && text.contains("cannot be imported"), "{text}");
    }

    #[test]
    fn a_kernel_is_judged_by_what_it_says_of_its_configuration() {
        let present = Mark::of_today();
        assert_eq!(judge(&present.line()).unwrap(), present);
        let unmarked = judge("CONFIG_UML=y\n").unwrap_err();
        assert!(unmarked.contains("does not say that `netloom kernel build` made it"), "{unmarked}");
        let other = Mark { config_hash: "0123456789abcdef".to_owned(), ..present };
        let text = judge(&other.line()).unwrap_err();
        assert!(text.contains("0123456789abcdef") && text.contains(&config_hash()), "{text}");
    }
}
