//! What kernel nodes read of this machine's files, and what they see in their place: a run writes down the names, so that a bundle can take
//! the files along, and a rerun shows them as the root of the machine's file system.

use crate::MachineRoot;
use crate::job::Job;
use crate::setup_error::SetupError;
use netloom_guest::read_files::{Names, ReadFiles};
use netloom_host::programs;
use netloom_host::sealed::{HOSTS, RESOLVER, provided_names};
use netloom_image::{Digest, Root};
use netloom_judge::RunError;
use netloom_lab::{FileContents, NodeKind, NodePlan, Plan, Stack};
use netloom_results::WriteError;
use netloom_results::read_files::{FILE, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The longest text that the shim takes of what is where, and the most names in it (`shim/names.c`).
const LONGEST: usize = 32_767;
const MOST_PLACES: usize = 48;

/// Folders that belong to a kernel's process, and never to the machine's files.
const WINDOWS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// How many links lead from one to the next (`MAXSYMLINKS` of Linux is 40).
const MOST_LINKS: usize = 40;

/// Begins a record for the kernel nodes of a plan; none if it has none.
///
/// # Errors
/// What the system says.
pub fn begin(plan: &Plan) -> Result<Option<Rc<ReadFiles>>, RunError> {
    let begun = plan.nodes.iter().any(|node| node.stack == Stack::Kernel).then(ReadFiles::begin).transpose();
    let failed = |error: io::Error| RunError::Machine(format!("making a file in memory for names of files: {error}"));
    begun.map(|record| record.map(Rc::new)).map_err(failed)
}

/// Refuses another root if it is no folder, or if a node would not see it.
///
/// # Errors
/// Which node that is, or what the system says of the folder.
pub fn check(plan: &Plan, root: Option<&MachineRoot>) -> Result<(), RunError> {
    let Some(root) = root else { return Ok(()) };
    Root::open(&root.folder).map_err(|error| RunError::Machine(format!("--root: {error}")))?;
    match plan.nodes.iter().find(|node| reads_otherwise(node)) {
        None => Ok(()),
        Some(node) => Err(RunError::Machine(format!(
            "--root: only kernel nodes see another root, and node {} is none: give it `stack: kernel`, or take `--clock virtual`",
            node.name
        ))),
    }
}

/// Whether it runs programs whose files nobody writes down.
fn reads_otherwise(node: &NodePlan) -> bool {
    node.stack != Stack::Kernel && node.kind != NodeKind::Transit
}

/// Writes the names into the results folder, if there are kernel nodes.
///
/// # Errors
/// When they cannot be written.
pub fn record(job: &Job) -> Result<(), WriteError> {
    let Some(read_files) = &job.read_files else { return Ok(()) };
    let names = read_files.names().map_err(WriteError::file(&job.folder.path().join(FILE)))?;
    let ended = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let Names { looked_at, listed, mut is_complete } = names;
    let apart = apart(job);
    let mut of_machine = |all: BTreeSet<PathBuf>, with_windows: bool| -> Vec<String> {
        let is_one = |path: &PathBuf| {
            let of_window = |window: &&str| path.starts_with(*window) && !(with_windows && path == Path::new(*window));
            !WINDOWS.iter().any(of_window) && !apart.iter().any(|folder| path.starts_with(folder))
        };
        // Kernels write several slashes where one would do.
        let once = |path: PathBuf| path.components().collect::<PathBuf>().into_os_string();
        let texts = all.into_iter().filter(is_one).map(|path| once(path).into_string());
        let texts: Vec<Result<String, OsString>> = texts.collect();
        is_complete &= texts.iter().all(Result::is_ok);
        texts.into_iter().flatten().collect()
    };
    let (looked_at, listed) = (of_machine(looked_at, true), of_machine(listed, false));
    let named = |is_one: fn(&NodePlan) -> bool| {
        job.plan.nodes.iter().filter(|node| is_one(node)).map(|node| node.name.clone()).collect()
    };
    let provided = provided_names().flat_map(|name| [PathBuf::from(name), real(Path::new(name))]);
    let record = Record {
        ended_unix_ns: u64::try_from(ended.as_nanos()).unwrap_or(u64::MAX),
        start_folder: job.start_folder().to_owned(),
        another_root: job.root.is_some(),
        is_complete,
        others: named(reads_otherwise),
        images: named(|node| node.image.is_some()),
        provided: provided.collect::<BTreeSet<_>>().into_iter().collect(),
        looked_at,
        listed,
    };
    job.folder.write_compact(FILE, &record)
}

/// Folders that belong to this run or to images: no files of the machine.
fn apart(job: &Job) -> BTreeSet<PathBuf> {
    own(job).chain([job.folder.path().to_owned()]).flat_map(|path| [real(&path), path]).collect()
}

/// The runtime folder, the roots of images, and their volumes.
fn own(job: &Job) -> impl Iterator<Item = PathBuf> {
    let runtime = job.control_socket.parent().map(Path::to_owned);
    let images = (0..job.plan.nodes.len()).filter_map(|place| job.images.of(place));
    let volumes = job.plan.nodes.iter().filter_map(|node| node.image.as_ref()).flat_map(|image| &image.volumes);
    let roots = images.map(|found| job.cwd.join(found.root_folder()));
    runtime.into_iter().chain(roots).chain(volumes.map(|volume| job.cwd.join(&volume.source)))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Tells kernels of another root where it is, and what is elsewhere all the same; none if there is no such root.
///
/// # Errors
/// If so much is elsewhere that a kernel does not take it.
pub(crate) fn places(job: &Job) -> Result<Option<OsString>, SetupError> {
    let Some(root) = &job.root else { return Ok(None) };
    let folder = real(&root.folder);
    let mut elsewhere = BTreeMap::from([(followed(&folder, HOSTS), job.hosts_file.clone())]);
    if fs::symlink_metadata(inside(&folder, Path::new(RESOLVER))).is_ok_and(|found| found.is_file()) {
        // As a lab's mounts show it, whether this machine has it or not.
        let place = if job.plan.internet.is_some() { real(Path::new(RESOLVER)) } else { "/dev/null".into() };
        elsewhere.insert(RESOLVER.into(), place);
    }
    let sources = job.plan.nodes.iter().flat_map(|node| &node.files).filter_map(|file| match &file.contents {
        FileContents::Copy(path) => Some(job.cwd.join(path)),
        FileContents::Empty | FileContents::Text(_) => None,
    });
    let kept = job.keep.exists().then(|| job.keep.clone());
    for path in sources.chain(kept).chain(own(job)) {
        elsewhere.extend(passed(&path).map(|through| (through.clone(), through)));
        elsewhere.extend([(plain(&path), path.clone()), (real(&path), path)]);
    }
    let mut text = folder.into_os_string();
    text.push("\n");
    let mut count = 0;
    let mut last: Option<&PathBuf> = None;
    for (name, place) in &elsewhere {
        // What is in a folder goes with that.
        if last.is_none_or(|last| !name.starts_with(last)) {
            for part in [name.as_os_str(), OsStr::new("\n"), place.as_os_str(), OsStr::new("\n")] {
                text.push(part);
            }
            (last, count) = (Some(name), count + 1);
        }
    }
    if text.as_bytes().len() > LONGEST || count > MOST_PLACES {
        return Err(SetupError::Refused(format!(
            "--root: nodes get {count} files and folders from elsewhere, and {MOST_PLACES} are possible: put them into one folder"
        )));
    }
    Ok(Some(text))
}

/// The program of this name, or at this path, that nodes find where `path` says: on this machine, or in another root.
pub(crate) fn program(root: Option<&MachineRoot>, name: &str, path: &OsStr) -> Option<PathBuf> {
    let Some(MachineRoot { folder, start }) = root else { return programs::find(name, path) };
    let found = Root::open(folder).ok()?.program(name, &path.to_string_lossy(), &start.to_string_lossy());
    found.map(PathBuf::from)
}

/// The digest of a program that nodes have found; none if it cannot be read.
pub(crate) fn digest(root: &MachineRoot, program: &Path) -> Option<String> {
    let bytes = Root::open(&root.folder).ok()?.read(program, u64::MAX).ok()??;
    Some(Digest::of(&bytes).to_string())
}

/// Returns the place of a path of another root on this machine, whose links are not followed.
fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The name to which links lead that a name is in another root.
fn followed(root: &Path, name: &str) -> PathBuf {
    let mut path = PathBuf::from(name);
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(inside(root, &path)) else { break };
        path = plain(&path.parent().unwrap_or(Path::new("/")).join(target));
    }
    path
}

/// The folders that a path leads into and out of again.
fn passed(path: &Path) -> impl Iterator<Item = PathBuf> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let turns = (0..parts.len()).filter(|part| parts[*part] == Component::ParentDir).collect::<Vec<_>>();
    let folders = turns.into_iter().map(move |turn| plain(&parts[..turn].iter().collect::<PathBuf>()));
    // Above the root there is nothing.
    folders.filter(|folder| folder.parent().is_some())
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
        plain
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_inside_the_root() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("etc/static")).unwrap();
        symlink("static/hosts", root.path().join("etc/hosts")).unwrap();
        symlink("/nix/../nix/./hosts", root.path().join("etc/static/hosts")).unwrap();
        assert_eq!(followed(root.path(), "/etc/hosts"), Path::new("/nix/hosts"));
        assert_eq!(
            passed(Path::new("/a/b/../c/d/../../e")).collect::<Vec<_>>(),
            ["/a/b", "/a/c/d", "/a/c"].map(PathBuf::from)
        );
        symlink("loop", root.path().join("etc/loop")).unwrap();
        assert_eq!(followed(root.path(), "/etc/loop"), Path::new("/etc/loop"));
    }
}
