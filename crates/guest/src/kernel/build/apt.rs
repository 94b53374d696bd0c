//! The newest source package of a kernel that the distribution offers, fetched beside the system's own package lists.
//!
//! `apt-get` gets a configuration of its own: its lists, cache and sources are folders of the build, its mirror is the
//! one that the system uses, and the system's keys sign what it reads. It needs no root, and the system's sources,
//! lists and packages stay as they are. Kernels newer than the release's own are in backports and in the development
//! branch, whose packages of source, being mere archives, suit every release.

mod release;

use super::error::Attempt;
use super::runner::Runner;
use super::source::{self, Source};
use super::{BuildError, Listener, Progress};
use crate::kernel::Version;
use release::Release;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package `linux-source-*` in one of its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Package {
    name: String,
    version: String,
    /// The kernel's version in it.
    upstream: Version,
}

/// Fetches the newest `linux-source-*` to `download` and takes its archive out, into `work`.
pub(super) fn newest(
    work: &Path,
    download: &Path,
    runner: &mut Runner<'_>,
    report: Listener<'_>,
) -> Result<Source, BuildError> {
    let release = Release::of_system()?;
    let apt = Apt::new(&work.join("apt"))?;
    apt.write_sources(&release.sources(&mirrors(runner)?))?;
    report(Progress::Step("looking for the newest kernel source in the package archive"));
    // A branch that a mirror lacks, or whose keys are not there, is ignored as long as another has kernels.
    let said = runner.attempt("reading the package lists", apt.command("apt-get", &["-q", "update"]), &mut |_| ())?;
    let found = apt.packages(runner)?;
    let package = found.into_iter().reduce(newer).ok_or_else(|| BuildError::Packages {
        why: match said.and_then(|lines| lines.into_iter().rev().find(|line| line.starts_with("E: "))) {
            Some(error) => format!("no package linux-source-* is within reach ({error})"),
            None => "no package linux-source-* is within reach".to_owned(),
        },
    })?;
    let name = format!("{} {}", package.name, package.version);
    report(Progress::Step(&format!("fetching {name} (some 170 MB)")));
    let deb = apt.fetch(&package, download, runner)?;
    let archive = take_out(&deb, &work.join("package"), runner)?;
    source::at(&archive, name, runner)
}

/// The newer of two, and the first of two that are alike.
fn newer(one: Package, other: Package) -> Package {
    if other.upstream > one.upstream { other } else { one }
}

/// The addresses of all archives that the system is configured for.
fn mirrors(runner: &mut Runner<'_>) -> Result<Vec<String>, BuildError> {
    let mut command = Command::new("apt-get");
    command.args(["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]);
    let mut addresses = Vec::new();
    runner.attempt("asking which mirrors the system uses", command, &mut |line| addresses.push(line.to_owned()))?;
    Ok(addresses)
}

/// A package manager of our own.
struct Apt {
    folder: PathBuf,
}

impl Apt {
    fn new(folder: &Path) -> Result<Self, BuildError> {
        for part in ["state/lists/partial", "cache/archives/partial"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).attempted(|| format!("make {}", part.display()))?;
        }
        let path = folder.join("apt.conf");
        fs::write(&path, configuration(folder)).attempted(|| format!("write {}", path.display()))?;
        Ok(Self { folder: folder.to_owned() })
    }

    fn write_sources(&self, sources: &str) -> Result<(), BuildError> {
        let path = self.folder.join("sources.list");
        fs::write(&path, sources).attempted(|| format!("write {}", path.display()))
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.arg("-c").arg(self.folder.join("apt.conf")).args(arguments);
        command
    }

    fn packages(&self, runner: &mut Runner<'_>) -> Result<Vec<Package>, BuildError> {
        let mut names = Vec::new();
        let list = self.command("apt-cache", &["pkgnames", "linux-source-"]);
        runner.attempt("listing kernel sources", list, &mut |line| names.push(line.trim().to_owned()))?;
        names.retain(|name| is_source(name));
        names.sort();
        let mut versions = self.command("apt-cache", &["madison"]);
        versions.args(&names);
        let mut packages = Vec::new();
        if !names.is_empty() {
            runner.attempt("listing their versions", versions, &mut |line| packages.extend(package_in(line)))?;
        }
        Ok(packages)
    }

    /// The package's file; what an earlier build fetched and still fits is not fetched again.
    fn fetch(&self, package: &Package, download: &Path, runner: &mut Runner<'_>) -> Result<PathBuf, BuildError> {
        fs::create_dir_all(download).attempted(|| format!("make {}", download.display()))?;
        let mut command = self.command("apt-get", &["-q", "download"]);
        command.arg(format!("{}={}", package.name, package.version)).current_dir(download);
        runner.run("fetching the kernel's source", command, &mut |_| ())?;
        let start = format!("{}_", package.name);
        let entries = fs::read_dir(download).attempted(|| format!("list {}", download.display()))?.flatten();
        let mut files: Vec<PathBuf> = Vec::new();
        for entry in entries {
            if entry.file_name().to_string_lossy().starts_with(&start) && is_version(&entry.path(), &package.version) {
                files.push(entry.path());
            } else {
                // An older download that no build was finished with.
                fs::remove_file(entry.path()).ok();
            }
        }
        let lost = || BuildError::Packages { why: format!("apt-get fetched {} to nowhere", package.name) };
        files.pop().ok_or_else(lost)
    }
}

/// Whether the file of a package is that of a version: "name_version_all.deb", in which apt writes ':' as "%3a".
fn is_version(file: &Path, version: &str) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split('_').nth(1).is_some_and(|part| part.replace("%3a", ":") == version)
}

/// Hooks that the system runs after its own updates are not for ours; downloads into a private folder cannot be made
/// by the user `_apt`.
fn configuration(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "#clear APT::Update::Pre-Invoke;\n\
         #clear APT::Update::Post-Invoke;\n\
         #clear APT::Update::Post-Invoke-Success;\n\
         #clear DPkg::Post-Invoke;\n\
         Dir::State \"{folder}/state\";\n\
         Dir::State::status \"/var/lib/dpkg/status\";\n\
         Dir::Cache \"{folder}/cache\";\n\
         Dir::Etc::sourcelist \"{folder}/sources.list\";\n\
         Dir::Etc::sourceparts \"-\";\n\
         APT::Sandbox::User \"root\";\n"
    )
}

/// Whether a package's name is that of a kernel's source: "linux-source-7.3", not "linux-source-wsl".
fn is_source(name: &str) -> bool {
    let version = name.strip_prefix("linux-source-").unwrap_or("");
    !version.is_empty() && version.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// What a line of `apt-cache madison` says: "linux-source-7.3 | 7.3.4-1~bpo13+1 | http://... Packages".
fn package_in(line: &str) -> Option<Package> {
    let mut fields = line.split('|').map(str::trim);
    let (name, version) = (fields.next()?, fields.next()?);
    let without_epoch = version.split_once(':').map_or(version, |(_, rest)| rest);
    let upstream = without_epoch.split(['-', '~', '+']).next()?.parse().ok()?;
    is_source(name).then(|| Package { name: name.to_owned(), version: version.to_owned(), upstream })
}

/// Takes the archive of the source out of a package.
fn take_out(deb: &Path, folder: &Path, runner: &mut Runner<'_>) -> Result<PathBuf, BuildError> {
    let mut command = Command::new("dpkg-deb");
    command.arg("--extract").arg(deb).arg(folder);
    runner.run("opening the package", command, &mut |_| ())?;
    archive_in(&folder.join("usr/src")).ok_or_else(|| BuildError::Source {
        path: deb.to_owned(),
        why: "this package has no archive of a kernel".to_owned(),
    })
}

/// The archive `linux-source-*.tar.*` in a folder or in one of its folders: Ubuntu has one more than Debian.
fn archive_in(folder: &Path) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_archive =
        |path: &Path| name(path).starts_with("linux-source-") && name(path).contains(".tar.") && path.is_file();
    let here = entries.iter().find(|path| is_archive(path)).cloned();
    here.or_else(|| entries.iter().filter(|path| path.is_dir() && !path.is_symlink()).find_map(|path| archive_in(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_kernel_is_chosen_by_its_number() {
        let lines = "\
linux-source-7.2 |   7.2.13-1 | http://deb.debian.org/debian sid/main amd64 Packages
linux-source-7.3 | 7.3.4-1~bpo13+1 | http://deb.debian.org/debian trixie-backports/main amd64 Packages
linux-source-6.12 | 6.12.107-1 | http://deb.debian.org/debian trixie/main amd64 Packages
linux-source-wsl | 9.9.9-1 | http://example.org/ubuntu noble/main amd64 Packages
N: Unable to locate package linux-source-8";
        let packages: Vec<Package> = lines.lines().filter_map(package_in).collect();
        assert_eq!(packages.len(), 3);
        let newest = packages.into_iter().reduce(newer).unwrap();
        assert_eq!((newest.name.as_str(), newest.version.as_str()), ("linux-source-7.3", "7.3.4-1~bpo13+1"));
    }

    #[test]
    fn a_downloaded_package_is_known_by_its_version() {
        let file = |name: &str| PathBuf::from("/cache").join(name);
        assert!(is_version(&file("linux-source-7.3_7.3.4-1~bpo13+1_all.deb"), "7.3.4-1~bpo13+1"));
        assert!(is_version(&file("linux-source-7.3_1%3a7.3.4-1_all.deb"), "1:7.3.4-1"));
        assert!(!is_version(&file("linux-source-7.3_7.3.3-1_all.deb"), "7.3.4-1"));
    }

    #[test]
    fn the_archive_is_found_where_either_distribution_puts_it() {
        for place in ["linux-source-7.3.tar.xz", "linux-source-6.8.0/linux-source-6.8.0.tar.bz2"] {
            let folder = tempfile::tempdir().unwrap();
            let archive = folder.path().join(place);
            fs::create_dir_all(archive.parent().unwrap()).unwrap();
            fs::write(&archive, "").unwrap();
            fs::write(folder.path().join("linux-patch-7.3-rt.patch.xz"), "").unwrap();
            assert_eq!(archive_in(folder.path()), Some(archive));
        }
    }
}
