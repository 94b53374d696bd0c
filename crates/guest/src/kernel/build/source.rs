//! A kernel's source that the user has: a folder or an archive. Neither is ever written to.

use super::BuildError;
use super::error::Attempt;
use super::make::make;
use super::runner::Runner;
use crate::kernel::Version;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kernel's source, before it is unpacked.
pub(super) struct Source {
    /// The folder or the archive.
    pub(super) path: PathBuf,
    /// What it is called in messages and in `kernel.json`.
    pub(super) name: String,
    /// The version that its `Makefile` says.
    pub(super) version: Version,
}

/// What `--source` names.
pub(super) fn given(path: &Path, runner: &mut Runner<'_>) -> Result<Source, BuildError> {
    let wrong = |why: String| BuildError::Source { path: path.to_owned(), why };
    let path = path.canonicalize().map_err(|error| wrong(error.to_string()))?;
    at(&path, path.display().to_string(), runner)
}

/// The source in a folder or an archive, looked at but not unpacked.
pub(super) fn at(path: &Path, name: String, runner: &mut Runner<'_>) -> Result<Source, BuildError> {
    let wrong = |why: &str| BuildError::Source { path: path.to_owned(), why: why.to_owned() };
    let makefile = if path.is_dir() {
        if !path.join("arch/um/Kconfig").is_file() {
            return Err(wrong("not a kernel's source (it has no arch/um/Kconfig in it)"));
        }
        let makefile = path.join("Makefile");
        fs::read_to_string(&makefile).attempted(|| format!("read {}", makefile.display()))?
    } else {
        makefile_in(path, runner)?.ok_or_else(|| wrong("not an archive of a kernel's source"))?
    };
    let version = Version::of_makefile(&makefile).ok_or_else(|| wrong("its Makefile is not that of a kernel"))?;
    Ok(Source { path: path.to_owned(), name, version })
}

/// The first `Makefile` of an archive that is just inside its one folder.
fn makefile_in(archive: &Path, runner: &mut Runner<'_>) -> Result<Option<String>, BuildError> {
    let mut command = Command::new("tar");
    command.args(["--extract", "--to-stdout", "--occurrence=1", "--wildcards", "--no-wildcards-match-slash"]);
    command.arg("--file").arg(archive).arg("*/Makefile");
    let mut text = String::new();
    let failed = runner.attempt("looking into the archive", command, &mut |line| {
        text.push_str(line);
        text.push('\n');
    })?;
    Ok(failed.is_none().then_some(text))
}

/// Makes `tree` a clean copy of the source.
pub(super) fn unpack(source: &Source, tree: &Path, runner: &mut Runner<'_>) -> Result<(), BuildError> {
    fs::create_dir(tree).attempted(|| format!("make {}", tree.display()))?;
    if source.path.is_dir() {
        return copy(&source.path, tree, runner);
    }
    let mut command = Command::new("tar");
    command.args(["--extract", "--strip-components=1", "--no-same-owner", "--directory"]).arg(tree);
    command.arg("--file").arg(&source.path);
    runner.run("unpacking the kernel's source", command, &mut |_| ())
}

/// Copies a folder of source without its history, and removes what was built in it.
fn copy(folder: &Path, tree: &Path, runner: &mut Runner<'_>) -> Result<(), BuildError> {
    let entries = fs::read_dir(folder).attempted(|| format!("list {}", folder.display()))?;
    let entries = entries.collect::<Result<Vec<_>, _>>().attempted(|| format!("list {}", folder.display()))?;
    let mut command = Command::new("cp");
    command.args(["--recursive", "--no-dereference", "--preserve=mode,timestamps,links", "--reflink=auto"]);
    command.arg("--target-directory").arg(tree).arg("--");
    command.args(entries.iter().filter(|entry| entry.file_name() != ".git").map(fs::DirEntry::path));
    runner.run("copying the kernel's source", command, &mut |_| ())?;
    let mut clean = make(tree);
    clean.arg("mrproper");
    runner.run("cleaning the copy", clean, &mut |_| ())
}
