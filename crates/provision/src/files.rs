//! What a node's file system has of its own: from the plan to the settings that the node gets.

use crate::images;
use crate::job::Job;
use netloom_host::node::{Contents, FileConfig, FilesConfig};
use netloom_lab::{FileContents, FilePlan, NodePlan, Stack};
use std::path::{Path, PathBuf};

/// The files of a node.
pub(crate) fn of_node(job: &Job, place: usize) -> FilesConfig {
    let node = &job.plan.nodes[place];
    // A kernel node's memory is its own.
    let needs_memory = node.overlay && node.stack == Stack::Namespace;
    let entry = |file: &FilePlan| FileConfig {
        target: file.target.clone(),
        contents: contents(job, node, file),
        mode: file.mode,
        owner: file.owner.clone(),
    };
    let mut entries: Vec<FileConfig> = node.files.iter().map(entry).collect();
    entries.extend(groups(node));
    // A folder before what is inside it.
    entries.sort_by(|one, other| one.target.cmp(&other.target));
    let image = images::config(&job.images, place, node, &job.cwd);
    FilesConfig { memory: needs_memory.then(|| job.memory.clone()), image, entries }
}

/// The group whose members may talk to FRR's daemons: they do not start without it, and not as users who do not belong to it.
const FRR_GROUP: &str = "frrvty";
const GROUPS: &str = "/etc/group";

/// The groups of a node whose root runs FRR. Its daemons are root, not a user of their own whom an ordinary user's node would
/// not have.
fn groups(node: &NodePlan) -> Option<FileConfig> {
    let runs_frr = node.files.iter().any(|file| file.target == Path::new("/etc/frr/frr.conf"));
    let is_named = node.files.iter().any(|file| file.target == Path::new(GROUPS));
    let text = || with_root_in_group(&std::fs::read_to_string(GROUPS).unwrap_or_default());
    (runs_frr && !is_named).then(|| FileConfig {
        target: GROUPS.into(),
        contents: Contents::Text(text()),
        mode: None,
        owner: None,
    })
}

fn with_root_in_group(groups: &str) -> String {
    let is_other = |line: &&str| line.split(':').next() != Some(FRR_GROUP);
    let others: String = groups.lines().filter(is_other).map(|line| format!("{line}\n")).collect();
    format!("{others}{FRR_GROUP}:x:0:root\n")
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
pub fn archive_of(keep: &Path, node: &str, target: &Path) -> PathBuf {
    let below = target.strip_prefix("/").unwrap_or(target);
    let mut name = keep.join(node).join(below).into_os_string();
    name.push(".tar");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_of_the_group_that_talks_to_frr() {
        let groups = "root:x:0:\nfrrvty:x:109:frr\nfrr:x:110:\n";
        assert_eq!(with_root_in_group(groups), "root:x:0:\nfrr:x:110:\nfrrvty:x:0:root\n");
        assert_eq!(with_root_in_group(""), "frrvty:x:0:root\n");
    }
}
