//! What leaves nodes at the end: the files that are collected, and those that are kept for the next run.
//!
//! Once all programs have ended, each node packs them, by a program of Netloom's own whose standard output goes to a file: so
//! they leave a namespace and a kernel of its own in the same way.

use super::launch::{Launch, null};
use super::processes::Purpose;
use super::state::{End, Pack, Programs};
use crate::session::context::Context;
use netloom_commands::Ending;
use netloom_host::archive::unpack_plainly;
use netloom_judge::RunError;
use netloom_lab::{FilePlan, NodePlan};
use netloom_provision::files::archive_of;
use netloom_provision::job::Job;
use netloom_units::{Duration, Instant};
use serde_json::json;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// How long daemons may take to end that their programs have left behind.
const GRACE: Duration = Duration::from_secs(1);

/// How long packing may take, in lab time.
const LONGEST: Duration = Duration::from_secs(300);

/// How many notes about one node are passed on; its log has all of them.
const MOST_NOTES: usize = 5;

impl Programs {
    /// Begins to pack when all programs have ended; whether there is something to wait for. It is done once.
    pub(crate) fn begin_packing(&mut self, context: &mut Context<'_>) -> Result<bool, RunError> {
        if self.packs.is_some() {
            return Ok(false);
        }
        if self.boot_to_pack(context) {
            return Ok(true);
        }
        let (lost, others): (Vec<Pack>, Vec<Pack>) =
            all_packs(context.job).into_iter().partition(|pack| self.crashed.contains(&pack.node));
        for pack in &lost {
            let why = self.unbootable.get(&pack.node).cloned().unwrap_or_default();
            self.could_not(context, pack, &format!("it has crashed, and does not boot: {why}"))?;
        }
        let packs: Vec<Pack> = others.into_iter().filter(|pack| !self.gone.contains(&pack.node)).collect();
        self.packs = Some(packs.clone());
        let with_disks = self.with_kept_disks(context.job);
        if packs.is_empty() && with_disks.is_empty() {
            return Ok(false);
        }
        context.guard.step("collecting files of nodes");
        self.end_daemons(packs.iter().map(|pack| pack.node).chain(with_disks).collect());
        for (number, pack) in packs.iter().enumerate() {
            if let Err(why) = self.begin_pack(context, number, pack)? {
                self.could_not(context, pack, &why)?;
            }
        }
        Ok(!self.processes.is_empty())
    }

    /// Boots the nodes that have crashed and have something to pack, without their programs: what a crash left on a disk is seen by a
    /// kernel alone. Says whether one of them is not up yet.
    fn boot_to_pack(&mut self, context: &mut Context<'_>) -> bool {
        let all: BTreeSet<usize> = all_packs(context.job).iter().map(|pack| pack.node).collect();
        self.boot_to_pack = all.intersection(&self.crashed).copied().collect();
        for node in self.boot_to_pack.clone() {
            if self.unbootable.contains_key(&node) {
                continue;
            }
            let gone_on = if self.boots(node) {
                self.go_on_booting(node, context.links.now())
            } else {
                context.guard.step(format!("booting {} for its files", context.job.plan.nodes[node].name));
                self.begin_booting(context, node).map(drop)
            };
            let why = gone_on.err().map(|error| error.to_string());
            let stays_away = self.crashed.contains(&node) && !self.boots(node);
            if let Some(why) = why.or_else(|| stays_away.then(|| "it is about to stop".to_owned())) {
                self.unbootable.insert(node, why);
            }
        }
        // The lab is over for them: they get neither links nor programs.
        self.booted.clear();
        self.next_boot().is_some()
    }

    /// When to look next at the nodes that boot to pack.
    pub(crate) fn next_boot(&self) -> Option<Instant> {
        let is_meant = |node: &&usize| self.boots(**node) && !self.unbootable.contains_key(*node);
        let booting = self.boot_to_pack.iter().filter(is_meant);
        booting.filter_map(|node| self.changing.get(node)?.next_look).min()
    }

    /// The nodes whose disks are kept: they write all to them when their programs have ended.
    fn with_kept_disks(&self, job: &Job) -> Vec<usize> {
        let is_kept = |node: &usize| job.plan.nodes[*node].disk.as_ref().is_some_and(|disk| disk.keep);
        (0..self.nodes.len()).filter(|node| is_kept(node) && !self.gone.contains(node)).collect()
    }

    /// Ends what programs have left behind, which would go on writing to its files.
    fn end_daemons(&mut self, mut nodes: Vec<usize>) {
        nodes.sort_unstable();
        nodes.dedup();
        // A node that cannot be asked cannot pack either, which will be reported.
        nodes.retain(|node| self.nodes[*node].begin_stop(std::time::Duration::from_nanos(GRACE.as_nanos())).is_ok());
        for node in nodes {
            let _ = self.nodes[node].finish_stop();
        }
    }

    /// Starts the program of a pack; or why it could not be.
    fn begin_pack(
        &mut self,
        context: &Context<'_>,
        number: usize,
        pack: &Pack,
    ) -> Result<Result<(), String>, RunError> {
        if let Some(folder) = pack.archive.parent() {
            fs::create_dir_all(folder).map_err(RunError::results(folder))?;
        }
        let create = |path: &Path| File::create(path).map(OwnedFd::from).map_err(RunError::results(path));
        let stdio = [null()?, create(&pack.archive)?, create(&log_of(&pack.archive))?];
        // Whatever the node's file system has: the agent is this very program.
        let argv = ["/proc/self/exe".into(), "node-pack".into()].into_iter().chain(pack.words.clone()).collect();
        let launch =
            Launch { node: pack.node, argv, env: Vec::new(), cwd: "/".into(), stdio, terminal: false, user: None };
        match self.launch(context, launch) {
            Ok(key) => {
                self.processes.add(key, Purpose::Pack(number), context.links.now(), Some(LONGEST), GRACE);
                Ok(Ok(()))
            }
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// A node has packed.
    pub(crate) fn packed(&mut self, context: &mut Context<'_>, number: usize, ending: Ending) -> Result<(), RunError> {
        let Some(pack) = self.packs.as_ref().and_then(|packs| packs.get(number)).cloned() else { return Ok(()) };
        let words = fs::read(log_of(&pack.archive)).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        let outcome = match (ending.code, &pack.end) {
            (Some(0), End::Collected(folder)) => File::open(&pack.archive)
                .and_then(|file| unpack_plainly(file, folder))
                .map_err(|error| error.to_string()),
            (Some(0), End::Kept(file)) => {
                fs::rename(&pack.archive, file).map_err(|error| format!("renaming it to {}: {error}", file.display()))
            }
            _ => Err(format!("its program ended with code {}: {}", ending.shell_code(), words.trim_end())),
        };
        if let Err(why) = outcome {
            return self.could_not(context, &pack, &why);
        }
        if matches!(pack.end, End::Collected(_)) {
            // What it held is in the results now.
            let _ = fs::remove_file(&pack.archive);
        }
        self.pass_on(context, &pack, &words)
    }

    /// What was left out.
    fn pass_on(&mut self, context: &mut Context<'_>, pack: &Pack, words: &str) -> Result<(), RunError> {
        let notes: Vec<&str> = words.lines().collect();
        let name = context.job.plan.nodes[pack.node].name.clone();
        let what = match pack.end {
            End::Collected(_) => "collect",
            End::Kept(_) => "keep",
        };
        context.warnings.extend(notes.iter().take(MOST_NOTES).map(|note| format!("node {name}: {what}: {note}")));
        if notes.len() > MOST_NOTES {
            let more = notes.len() - MOST_NOTES;
            context
                .warnings
                .push(format!("node {name}: {what}: and {more} more, all in {}", log_of(&pack.archive).display()));
        } else {
            let _ = fs::remove_file(log_of(&pack.archive));
        }
        context.note("files packed", json!({ "node": name, "for": what, "notes": notes.len() }))
    }

    fn could_not(&mut self, context: &mut Context<'_>, pack: &Pack, why: &str) -> Result<(), RunError> {
        let name = context.job.plan.nodes[pack.node].name.clone();
        let what = match &pack.end {
            End::Collected(_) => "its files could not be collected".to_owned(),
            End::Kept(file) => format!("{} could not be replaced: it has the contents of the last run", file.display()),
        };
        let _ = fs::remove_file(&pack.archive);
        let _ = fs::remove_file(log_of(&pack.archive));
        context.warnings.push(format!("node {name}: {what}: {why}"));
        context.note("files not packed", json!({ "node": name, "because": why }))
    }
}

/// How long packing may take, at most; no time if there is nothing to pack.
pub(crate) fn longest(job: &Job) -> Duration {
    if all_packs(job).is_empty() { Duration::ZERO } else { LONGEST + GRACE }
}

fn all_packs(job: &Job) -> Vec<Pack> {
    let nodes = job.plan.nodes.iter().enumerate();
    let packs = nodes.flat_map(|(number, node)| {
        let kept = node.files.iter().filter(|file| file.keep).map(move |file| kept(job, number, node, file));
        kept.chain(collected(job, number, node)).chain(cores(job, number, node))
    });
    packs.collect()
}

fn collected(job: &Job, number: usize, node: &NodePlan) -> Option<Pack> {
    if node.collect.is_empty() {
        return None;
    }
    let folder = job.folder.path().join("nodes");
    let words = std::iter::once("collect".into()).chain(node.collect.iter().map(OsString::from)).collect();
    let archive = folder.join(format!("{}.tar", node.name));
    Some(Pack { node: number, words, archive, end: End::Collected(folder.join(&node.name)) })
}

fn cores(job: &Job, number: usize, node: &NodePlan) -> Option<Pack> {
    node.cores?;
    let (folder, name) = (job.folder.path(), &node.name);
    let (archive, end) = (folder.join(format!("cores-{name}.tar")), folder.join("cores").join(name));
    Some(Pack { node: number, words: vec!["cores".into()], archive, end: End::Collected(end) })
}

fn kept(job: &Job, number: usize, node: &NodePlan, file: &FilePlan) -> Pack {
    let end = archive_of(&job.keep, &node.name, &file.target);
    // What the lab file puts inside is there again anyway.
    let inside =
        node.files.iter().filter(|other| other.target != file.target && other.target.starts_with(&file.target));
    let words = ["keep".into(), file.target.clone().into_os_string()];
    let words = words.into_iter().chain(inside.map(|other| other.target.clone().into_os_string())).collect();
    Pack { node: number, words, archive: with(&end, ".new"), end: End::Kept(end) }
}

/// Where the program of a pack says what it leaves out.
fn log_of(archive: &Path) -> PathBuf {
    with(archive, ".notes")
}

fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_named_after_its_folder() {
        let archive = archive_of(Path::new("/r/lab/keep"), "db1", Path::new("/var/lib/etcd"));
        assert_eq!(archive, Path::new("/r/lab/keep/db1/var/lib/etcd.tar"));
        assert_eq!(log_of(&archive), Path::new("/r/lab/keep/db1/var/lib/etcd.tar.notes"));
    }
}
