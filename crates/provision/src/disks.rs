//! The disks of a lab's kernel nodes and virtual machines: made and formatted before their kernels boot.

use crate::job::Job;
use crate::setup_error::SetupError;
use netloom_guest::disk::{self, Disk, DiskSpeed};
use netloom_lab::{DiskPlan, Filesystem, NodePlan};
use netloom_units::Bytes;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Empty file systems, by kind and size.
type Formatted = BTreeMap<(Filesystem, u64), File>;

/// The disks by the places of their nodes in the plan.
pub(crate) fn make(job: &Job) -> Result<BTreeMap<usize, Rc<Disk>>, SetupError> {
    let mut formatted = Formatted::new();
    // Nodes of other parts have theirs there.
    let is_here = |place: &usize| job.part.as_ref().is_none_or(|part| part.homes[*place] == part.here);
    let nodes = job.plan.nodes.iter().enumerate().filter(|(place, _)| is_here(place));
    let disks = nodes.filter_map(|(place, node)| Some((place, node, node.disk.as_ref()?)));
    let made = disks.map(|(place, node, plan)| {
        let made_one = make_one(job, node, plan, &mut formatted);
        made_one
            .map(|own| (place, Rc::new(own)))
            .map_err(|why| SetupError::Refused(format!("nodes.{}.disk: {why}", node.name)))
    });
    made.collect()
}

fn make_one(job: &Job, node: &NodePlan, plan: &DiskPlan, formatted: &mut Formatted) -> Result<Disk, String> {
    let speed = DiskSpeed { latency: plan.latency, rate: plan.rate, flush: plan.flush };
    let kept = plan.keep.then(|| file_of(&job.keep, &node.name));
    if let Some(path) = kept.as_ref().filter(|path| path.exists()) {
        let file = open(path, plan.size)?;
        let disk = Disk::on(file, plan.size, speed);
        return noted(plan, disk).map_err(|error| format!("{}: {error}", path.display()));
    }
    let empty = match formatted.entry((plan.filesystem, plan.size.get())) {
        Entry::Occupied(there) => there.into_mut(),
        Entry::Vacant(place) => place.insert(disk::format(kind(plan.filesystem), plan.size)?),
    };
    let disk = match &kept {
        Some(path) => create(path).and_then(|file| Disk::on(file, plan.size, speed)),
        None => Disk::in_memory(plan.size, speed),
    };
    let disk = noted(plan, disk).map_err(|error| format!("make it: {error}"))?;
    disk.fill(empty).map_err(|error| format!("copy an empty file system to it: {error}"))?;
    Ok(disk)
}

/// The same disk, with a journal if it is to have one.
fn noted(plan: &DiskPlan, disk: io::Result<Disk>) -> io::Result<Disk> {
    if plan.journal { disk?.with_journal() } else { disk }
}

fn kind(filesystem: Filesystem) -> disk::Filesystem {
    match filesystem {
        Filesystem::Ext4 => disk::Filesystem::Ext4,
        Filesystem::Xfs => disk::Filesystem::Xfs,
        Filesystem::F2fs => disk::Filesystem::F2fs,
    }
}

/// The file in which the disk of a node is kept.
fn file_of(keep: &Path, node: &str) -> PathBuf {
    keep.join(node).join("disk.img")
}

/// Opens a disk that an earlier run has left.
fn open(path: &Path, size: Bytes) -> Result<File, String> {
    let cannot = |error: io::Error| format!("open {}: {error}", path.display());
    let file = File::options().read(true).write(true).open(path).map_err(cannot)?;
    let length = file.metadata().map_err(cannot)?.len();
    if length != size.get() {
        return Err(format!(
            "{}, which an earlier run has left, has {} and not {size}: write that size, or remove the file",
            path.display(),
            Bytes::new(length)
        ));
    }
    lock(&file, path)?;
    Ok(file)
}

fn lock(file: &File, path: &Path) -> Result<(), String> {
    // As long as the file is open, be it in the process of a kernel.
    file.try_lock().map_err(|_| format!("another lab that is up uses {}: take it down first", path.display()))
}

fn create(path: &Path) -> io::Result<File> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let file = File::options().read(true).write(true).create_new(true).open(path)?;
    lock(&file, path).map_err(io::Error::other)?;
    Ok(file)
}
