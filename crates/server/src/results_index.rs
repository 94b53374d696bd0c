//! The folders with results.

use crate::answer::Refusal;
use netloom_results::{IndexError, Results, is_results, list_results};
use serde_json::{Value, json};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Component, Path as FilePath, PathBuf};

/// Results that are listed, the newest.
const MOST_LISTED: usize = 1_000;
/// Of each lab, so many of its newest are looked at for changes.
const NEWEST: usize = 3;
/// The name of the folder that the command line named, if it is none of those in the root.
const GIVEN: &str = "given";

/// The folders with results that are served.
#[derive(Debug)]
pub(crate) struct ResultsIndex {
    root: PathBuf,
    given: Option<PathBuf>,
}

impl ResultsIndex {
    pub(crate) fn new(root: &FilePath, given: Option<&FilePath>) -> Self {
        let whole = |path: &FilePath| {
            path.canonicalize().unwrap_or_else(|_| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
        };
        Self { root: whole(root), given: given.map(whole) }
    }

    /// The folder that holds the results of all labs.
    pub(crate) fn root(&self) -> &FilePath {
        &self.root
    }

    /// The ID of a results folder; none if it is not served.
    pub(crate) fn id(&self, folder: &FilePath) -> Option<String> {
        let folder = folder.canonicalize().ok()?;
        if let Ok(inside) = folder.strip_prefix(&self.root) {
            let parts: Vec<&str> = inside.components().map(|part| part.as_os_str().to_str()).collect::<Option<_>>()?;
            if let [lab, run] = parts[..] {
                return Some(format!("{lab}:{run}"));
            }
        }
        (self.given.as_ref() == Some(&folder)).then(|| GIVEN.to_owned())
    }

    /// The folder with this ID.
    pub(crate) fn folder(&self, id: &str) -> Result<PathBuf, Refusal> {
        let missing = || Refusal::missing(format!("there are no results `{}`", id.escape_debug()));
        if id == GIVEN {
            return self.given.clone().ok_or_else(missing);
        }
        let (lab, run) = id.split_once(':').ok_or_else(missing)?;
        let is_plain = |name: &str| {
            let mut parts = FilePath::new(name).components();
            matches!((parts.next(), parts.next()), (Some(Component::Normal(only)), None) if only == name)
                && !name.contains('\0')
        };
        if !is_plain(lab) || !is_plain(run) {
            return Err(missing());
        }
        let path = self.root.join(lab).join(run);
        // Links lead elsewhere, `latest` among them.
        let is_folder = |place: &FilePath| fs::symlink_metadata(place).is_ok_and(|about| about.is_dir());
        let is_there = is_folder(&self.root.join(lab)) && is_folder(&path) && is_results(lab, &path);
        if is_there { Ok(path) } else { Err(missing()) }
    }

    /// What there is, the newest first.
    pub(crate) fn list(&self) -> Result<Vec<Value>, IndexError> {
        let mut all = list_results(&self.root)?;
        all.sort_by(|one, other| other.began_utc.cmp(&one.began_utc));
        let mut shown: Vec<Value> = all.iter().take(MOST_LISTED).filter_map(|one| self.described(one)).collect();
        if let Some(given) = self.given.as_ref().filter(|given| self.id(given).as_deref() == Some(GIVEN)) {
            let name = given.file_name().unwrap_or_default().to_string_lossy();
            shown.insert(0, json!({ "id": GIVEN, "name": name, "has_journal": has_journal(given) }));
        }
        Ok(shown)
    }

    fn described(&self, results: &Results) -> Option<Value> {
        let mut value = json!(results);
        let members = value.as_object_mut()?;
        members.remove("folder");
        members.insert("id".into(), self.id(&results.folder)?.into());
        members.insert("name".into(), results.folder.file_name()?.to_str()?.into());
        members.insert("has_journal".into(), has_journal(&results.folder).into());
        Some(value)
    }

    /// Another number when results came, went or were completed.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for lab in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            let mut runs: Vec<PathBuf> =
                fs::read_dir(lab.path()).into_iter().flatten().flatten().map(|run| run.path()).collect();
            runs.sort();
            (lab.file_name(), runs.len()).hash(&mut hasher);
            for run in runs.iter().rev().take(NEWEST) {
                (run, run.join("report.json").exists()).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

fn has_journal(folder: &FilePath) -> bool {
    folder.join(netloom_results::journal::JOURNAL).is_file()
}
