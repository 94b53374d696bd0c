//! What a node's file system has of its own: from the plan to what the node is told.

use crate::job::Job;
use netloom_host::node::{Contents, FileConfig, FilesConfig};
use netloom_lab::{FileContents, FilePlan, NodePlan, Stack};
use std::path::{Path, PathBuf};

/// The files of a node.
pub(crate) fn of_node(job: &Job, node: &NodePlan) -> FilesConfig {
    // A kernel node's memory is its own.
    let needs_memory = node.overlay && node.stack == Stack::Namespace;
    let entry = |file: &FilePlan| FileConfig {
        target: file.target.clone(),
        contents: contents(job, node, file),
        mode: file.mode,
        owner: file.owner.clone(),
    };
    FilesConfig { memory: needs_memory.then(|| job.memory.clone()), entries: node.files.iter().map(entry).collect() }
}

fn contents(job: &Job, node: &NodePlan, file: &FilePlan) -> Contents {
    let kept = archive_of(&job.keep, &node.name, &file.target);
    match &file.contents {
        _ if file.keep && kept.exists() => Contents::Archive(kept),
        FileContents::Empty => Contents::Empty,
        FileContents::Text(text) => Contents::Text(text.clone()),
        FileContents::Copy(path) => Contents::Copy(job.cwd.join(path)),
    }
}

/// The archive in which a folder of a node is kept.
pub(crate) fn archive_of(keep: &Path, node: &str, target: &Path) -> PathBuf {
    let below = target.strip_prefix("/").unwrap_or(target);
    let mut name = keep.join(node).join(below).into_os_string();
    name.push(".tar");
    name.into()
}
