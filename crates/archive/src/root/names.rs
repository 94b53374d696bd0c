//! The names that a root is made of: those that one run wrote down, or the runs of a sweep together.

use crate::ArchiveError;
use crate::compare::{document, has_failed};
use netloom_results::host_name;
use netloom_results::read_files::Record;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The names of all files that runs read.
#[derive(Debug)]
pub(super) struct Names {
    /// The folder in which all of their programs started.
    pub(super) start_folder: PathBuf,
    /// Nodes whose programs are in an image.
    pub(super) images: BTreeSet<String>,
    /// Names for which the lab has files and folders of its own.
    pub(super) provided: BTreeSet<PathBuf>,
    /// The files that were looked at. Of each, the end of the first run that did, in nanoseconds of Unix time: it must not have changed since.
    looked_at: BTreeMap<PathBuf, u64>,
    /// The folders that were listed, with the same.
    pub(super) listed: BTreeMap<PathBuf, u64>,
    /// The end of the first run.
    first_end_ns: u64,
}

impl Names {
    /// Reads the records of runs, by the folders of their results. Runs of a sweep that failed may have none.
    ///
    /// # Errors
    /// If a record is missing or lacks names, is of another machine, or does not go with the others.
    pub(super) fn of(runs: &[PathBuf]) -> Result<Self, ArchiveError> {
        let mut names: Option<Self> = None;
        for results in runs {
            let Some(record) = record(results)? else { continue };
            let names = names.get_or_insert_with(|| Self::beginning_with(&record));
            if names.start_folder != record.start_folder {
                let why = format!(
                    "its programs started in {}, and those of an earlier run in {}: a root has one such folder",
                    record.start_folder.display(),
                    names.start_folder.display()
                );
                return Err(unsuitable(results, &why));
            }
            names.add(record);
        }
        names.ok_or_else(|| ArchiveError::Unsuitable("--with-root: none of its runs has come to its end".into()))
    }

    fn beginning_with(record: &Record) -> Self {
        Self {
            start_folder: record.start_folder.clone(),
            images: BTreeSet::new(),
            provided: BTreeSet::new(),
            looked_at: BTreeMap::new(),
            listed: BTreeMap::new(),
            first_end_ns: record.ended_unix_ns,
        }
    }

    fn add(&mut self, record: Record) {
        let ended_ns = record.ended_unix_ns;
        let add = |all: &mut BTreeMap<PathBuf, u64>, names: Vec<String>| {
            for path in names.into_iter().map(PathBuf::from).filter(|path| path.is_absolute()) {
                all.entry(path).and_modify(|first| *first = ended_ns.min(*first)).or_insert(ended_ns);
            }
        };
        add(&mut self.looked_at, record.looked_at);
        add(&mut self.listed, record.listed);
        self.images.extend(record.images);
        self.provided.extend(record.provided);
        self.first_end_ns = self.first_end_ns.min(ended_ns);
    }

    /// Lists all names, each with the end of the first run that read it.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Path, u64)> {
        let start = (self.start_folder.as_path(), self.first_end_ns);
        let named = self.looked_at.iter().chain(&self.listed).map(|(path, ended_ns)| (path.as_path(), *ended_ns));
        named.chain([start])
    }
}

/// Reads the record of a run, if that has all names; none of one that failed before it wrote them down.
pub(super) fn record(results: &Path) -> Result<Option<Record>, ArchiveError> {
    let Some(record) = Record::of(results).map_err(ArchiveError::file(results))? else {
        if has_failed(results) {
            return Ok(None);
        }
        return Err(unsuitable(
            results,
            "nothing says which files were read, since none of its nodes is a kernel node, or an older netloom ran it: take \
             `--clock virtual` or `stack: kernel`, and run it again",
        ));
    };
    let provenance = document(&results.join("provenance.json"))?;
    let (there, here) = (provenance["host_name"].as_str().unwrap_or_default(), host_name());
    if there != here {
        return Err(unsuitable(
            results,
            &format!("it ran on the machine {there:?}, whose files are not those of {here:?}: make the bundle there"),
        ));
    }
    if let Some(node) = record.others.first() {
        return Err(unsuitable(
            results,
            &format!(
                "node {node} is no kernel node, and which files its programs read is not known: give it `stack: kernel`, or take \
                 `--clock virtual`"
            ),
        ));
    }
    if record.another_root {
        return Err(unsuitable(results, "it ran with another root, not with the files of this machine"));
    }
    if !record.is_complete {
        return Err(unsuitable(results, "its programs looked at more files than a run writes down"));
    }
    Ok(Some(record))
}

fn unsuitable(results: &Path, why: &str) -> ArchiveError {
    ArchiveError::Unsuitable(format!("{}: --with-root: {why}", results.display()))
}
