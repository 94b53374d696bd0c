//! Results that are to be repeated: what was run, and with which arguments it is run again.
//!
//! A lab file runs commands, and so does that of a bundle: whoever repeats a stranger's results runs a stranger's commands.
//!
//! The lab file is laid out with its files in a folder of its own and run by `netloom run` or `netloom sweep`, as
//! a user would. Then the files of both results folders are compared (`compare`).

use crate::compare::{Change, changes_beforehand, document};
use crate::gather::open;
use crate::manifest::check_path;
use crate::{ArchiveError, Kind, root, unpack};
use netloom_image::{Hashing, Image};
use netloom_results::NamedFile;
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use tempfile::TempDir;

/// How far files that a lab file names may lie above it.
const HIGHEST: usize = 20;

/// Results that are to be repeated.
#[derive(Debug)]
pub struct Then {
    /// Whose they are.
    pub kind: Kind,
    /// The folder with them.
    pub folder: PathBuf,
    /// The lab's name.
    pub lab: String,
    origin: Value,
    /// To which a bundle was unpacked.
    _unpacked: Option<TempDir>,
}

/// A lab file that is ready to be run again, with all that it names.
#[derive(Debug)]
pub struct Ready {
    lab_file: PathBuf,
    /// Files with absolute paths that are not what they were.
    pub changes: Vec<Change>,
    /// The root that the run or sweep had, and where programs start in it.
    root: Option<(Image, PathBuf)>,
    _home: TempDir,
}

impl Ready {
    /// Whether programs and their files come with the results.
    pub fn has_root(&self) -> bool {
        self.root.is_some()
    }

    /// The options of `netloom` that show the root to kernel nodes.
    fn root_options(&self) -> Vec<OsString> {
        let Some((image, start)) = &self.root else { return Vec::new() };
        vec!["--root".into(), image.folder.clone().into(), "--start-folder".into(), start.into()]
    }
}

impl Then {
    /// Opens results: the folder of a run or a sweep, or a bundle of them.
    ///
    /// # Errors
    /// If they cannot be read, or are those of a lab that was up, which nothing says how to repeat.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let about = fs::metadata(path).map_err(ArchiveError::file(path))?;
        let (place, unpacked) = if about.is_dir() {
            (path.to_owned(), None)
        } else {
            let temporary = temporary()?;
            let folder = temporary.path().join("results");
            unpack(path, &folder)?;
            (folder, Some(temporary))
        };
        let (manifest, folder, _lock) = open(&place)?;
        let unsuitable = |why: &str| ArchiveError::Unsuitable(format!("{} cannot be repeated: {why}", path.display()));
        if manifest.kind == Kind::Up {
            return Err(unsuitable("nothing says what was done to the lab while it was up"));
        }
        if !manifest.complete {
            return Err(unsuitable("it did not come to its end, so there is nothing to compare with"));
        }
        let name = if manifest.kind == Kind::Sweep { "origin.json" } else { "provenance.json" };
        let origin = document(&folder.join(name))?;
        Ok(Self { kind: manifest.kind, folder, lab: manifest.lab, origin, _unpacked: unpacked })
    }

    /// Whether they are the same twice, so that to repeat them once is enough.
    pub fn is_virtual(&self) -> bool {
        self.origin["clock"] == "virtual"
    }

    /// Puts the lab file into a folder of its own, with all files that it names.
    ///
    /// # Errors
    /// If one of them is not there.
    pub fn prepare(&self) -> Result<Ready, ArchiveError> {
        let home = temporary()?;
        let listed = &self.origin[if self.kind == Kind::Sweep { "copies" } else { "files" }];
        let files: Vec<NamedFile> = match listed {
            Value::Null => Vec::new(),
            listed => serde_json::from_value(listed.clone())
                .map_err(|error| ArchiveError::file(&self.folder)(error.into()))?,
        };
        let above = files.iter().map(|file| height(&file.name)).max().unwrap_or(0);
        if above > HIGHEST {
            let why = format!("the lab file names files {above} folders above it, and {HIGHEST} are possible");
            return Err(ArchiveError::Unsuitable(why));
        }
        let folder = (0..above).fold(home.path().join("lab"), |path, _| path.join("lab"));
        fs::create_dir_all(&folder).map_err(ArchiveError::file(&folder))?;
        let mut changes = Vec::new();
        for file in &files {
            changes.extend(self.place(file, &folder, home.path())?);
        }
        let lab_file = folder.join(self.lab_file_name());
        let text = self.folder.join("lab.yaml");
        netloom_regular::copy(&text, &lab_file).map_err(ArchiveError::file(&text))?;
        let root = match self.kind {
            Kind::Run | Kind::Sweep => root::open(&self.folder, home.path())?,
            Kind::Simulation | Kind::Up => None,
        };
        Ok(Ready { lab_file, changes, root, _home: home })
    }

    /// What the lab file was called, if that is the name of one: a lab without a name of its own has the file's.
    fn lab_file_name(&self) -> String {
        let name =
            self.origin["lab_file"].as_str().map(Path::new).and_then(Path::file_name).and_then(|name| name.to_str());
        let is_lab = |own: &&str| [".yaml", ".yml", ".json", ".toml"].iter().any(|end| own.ends_with(end));
        name.filter(is_lab).unwrap_or("lab.yaml").to_owned()
    }

    /// Puts the copy of a file to where the lab file names it, unless that is an absolute path: nothing is ever written there.
    /// Says if something else is there.
    fn place(&self, file: &NamedFile, folder: &Path, home: &Path) -> Result<Option<Change>, ArchiveError> {
        let copy = file.copy.to_str().filter(|path| check_path(path).is_ok());
        let copy = copy.map(|path| self.folder.join(path)).ok_or_else(|| {
            ArchiveError::Unsuitable(format!("{} says that a file is at {:?}", self.folder.display(), file.copy))
        })?;
        if file.name.is_absolute() {
            let missing = |error| {
                ArchiveError::Unsuitable(format!(
                    "the lab file names {}, which cannot be read ({error}): its copy is {} of the results",
                    file.name.display(),
                    file.copy.display()
                ))
            };
            let now = digest_of(&file.name).map_err(missing)?;
            let then = digest_of(&copy).map_err(ArchiveError::file(&copy))?;
            let [was, is] = [then, now].map(|digest| digest.to_string().into());
            let what = format!("file {}", file.name.display());
            return Ok((then != now).then_some(Change { what, then: was, now: is }));
        }
        let target = plain(&folder.join(&file.name));
        if !target.starts_with(home) {
            return Err(ArchiveError::Unsuitable(format!("the lab file names {}", file.name.display())));
        }
        let parent = target.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(ArchiveError::file(parent))?;
        netloom_regular::copy(&copy, &target).map(|()| None).map_err(ArchiveError::file(&copy))
    }

    /// The arguments of `netloom` that repeat it; a run leaves its results below the folder `out`, a sweep in it.
    ///
    /// # Errors
    /// If the provenance does not say how it was run.
    pub fn arguments(&self, ready: &Ready, out: &Path) -> Result<Vec<OsString>, ArchiveError> {
        let word = match self.kind {
            Kind::Sweep => "sweep",
            Kind::Simulation => "sim",
            Kind::Run | Kind::Up => "run",
        };
        let mut arguments: Vec<OsString> = vec![word.into(), ready.lab_file.clone().into(), "--json".into()];
        let mut add = |option: &str, value: OsString| arguments.extend([option.into(), value]);
        if self.kind == Kind::Sweep {
            add("--out", out.into());
            if self.origin["clock"] != "of the lab file" {
                add("--clock", self.clock_of_runs()?.into());
            }
            arguments.push("--yes".into());
            arguments.extend(ready.root_options());
            return Ok(arguments);
        }
        add("--results", out.into());
        let number = |key: &str| self.origin[key].as_u64().map(|number| number.to_string());
        let seed = number("seed").ok_or_else(|| self.unclear("seed"))?;
        add("--seed", seed.into());
        if self.kind == Kind::Simulation {
            for (option, value) in self.of_simulation() {
                add(option, value.into());
            }
            return Ok(arguments);
        }
        add("--name", self.lab.clone().into());
        add("--clock", clock(&self.origin).ok_or_else(|| self.unclear("clock"))?.into());
        if let Some(precision) = self.origin["precision"].as_str() {
            add("--precision", precision.into());
        }
        if let Some(shards) = number("shards") {
            add("--shards", shards.into());
        }
        arguments.extend(ready.root_options());
        Ok(arguments)
    }

    /// Compares what was around the run then with what would be around it now: programs, kernels, the machine. `now`: the provenance of a run
    /// that would begin now.
    pub fn changes(&self, now: &Value) -> Vec<Change> {
        changes_beforehand(&self.origin, now)
    }

    /// The options of a simulation that stand in no lab file.
    fn of_simulation(&self) -> Vec<(&'static str, String)> {
        let words: Vec<&str> =
            self.origin["command_line"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut found = Vec::new();
        for (place, word) in words.iter().enumerate() {
            for option in ["--for", "--traffic"] {
                let joined = word.strip_prefix(option).and_then(|rest| rest.strip_prefix('='));
                let apart = (*word == option).then(|| words.get(place + 1).copied()).flatten();
                found.extend(joined.or(apart).map(|value| (option, value.to_owned())));
            }
        }
        found
    }

    /// Of a sweep whose clock is not that of its lab file, all runs have the same.
    fn clock_of_runs(&self) -> Result<String, ArchiveError> {
        let runs = crate::compare::runs_of(&self.folder)?;
        let clocks = runs.iter().filter_map(|run| clock(&document(&run.join("provenance.json")).ok()?));
        clocks.take(1).next().ok_or_else(|| self.unclear("clock"))
    }

    fn unclear(&self, what: &str) -> ArchiveError {
        ArchiveError::Unsuitable(format!("{}: its provenance names no {what}", self.folder.display()))
    }
}

/// As the command line has it.
fn clock(provenance: &Value) -> Option<String> {
    match provenance["clock"].as_str()? {
        "dilated" => provenance["dilation"].as_f64().map(|factor| factor.to_string()),
        clock => Some(clock.to_owned()),
    }
}

fn temporary() -> Result<TempDir, ArchiveError> {
    tempfile::Builder::new().prefix("netloom-rerun-").tempdir().map_err(ArchiveError::file(&std::env::temp_dir()))
}

/// How many folders above its own a path leads at most.
fn height(path: &Path) -> usize {
    let (mut deepest, mut depth) = (0_usize, 0_isize);
    for part in path.components() {
        depth += match part {
            Component::ParentDir => -1,
            Component::Normal(_) => 1,
            _ => 0,
        };
        deepest = deepest.max(depth.min(0).unsigned_abs());
    }
    deepest
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

fn digest_of(path: &Path) -> io::Result<netloom_image::Digest> {
    let mut file = Hashing::new(netloom_regular::open(path)?);
    io::copy(&mut file, &mut io::sink())?;
    Ok(file.finish().0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_as_high_as_they_do() {
        for (path, high) in [("a/b", 0), ("../a", 1), ("a/../../b", 1), ("../../a/../b", 2), ("./a", 0)] {
            assert_eq!(height(Path::new(path)), high, "{path}");
        }
        assert_eq!(plain(Path::new("/a/b/../../c/./d")), Path::new("/c/d"));
    }

    fn results(provenance: &str, files: &[(&str, &str)]) -> (TempDir, Result<Then, ArchiveError>) {
        let root = tempfile::tempdir().unwrap();
        let all = [("provenance.json", provenance), ("report.json", "{}"), ("lab.yaml", "nodes: [a]\n")];
        for (name, text) in all.iter().chain(files) {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let then = Then::open(root.path());
        (root, then)
    }

    #[test]
    fn a_run_is_played_as_it_was() {
        let provenance = r#"{"mode": "run", "lab": "pair", "lab_file": "/x/my.yaml", "seed": 7, "clock": "dilated", "dilation": 2.5,
            "precision": "eco", "shards": 2, "files": [{"name": "../up.csv", "copy": "files/elsewhere/00-up.csv", "bytes": 2}]}"#;
        let (_root, then) = results(provenance, &[("files/elsewhere/00-up.csv", "1\n")]);
        let then = then.unwrap();
        let ready = then.prepare().unwrap();
        assert!(ready.lab_file.ends_with("lab/lab/my.yaml"));
        assert_eq!(fs::read_to_string(ready.lab_file.parent().unwrap().join("../up.csv")).unwrap(), "1\n");
        let words = then.arguments(&ready, Path::new("out")).unwrap();
        let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            words[2..],
            "--json --results out --seed 7 --name pair --clock 2.5 --precision eco --shards 2"
                .split(' ')
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_simulation_keeps_its_options() {
        let provenance = r#"{"mode": "sim", "lab": "pair", "seed": 7, "clock": "virtual",
            "command_line": ["netloom", "sim", "x.yaml", "--for=2 s", "--traffic", "from: a"]}"#;
        let (_root, then) = results(provenance, &[]);
        let then = then.unwrap();
        let words = then.arguments(&then.prepare().unwrap(), Path::new("out")).unwrap();
        assert_eq!(words[words.len() - 4..], ["--for", "2 s", "--traffic", "from: a"].map(OsString::from));
    }

    #[test]
    fn what_cannot_be_repeated_says_why() {
        let why = |provenance: &str, files: &[(&str, &str)]| {
            let (_root, then) = results(provenance, files);
            then.and_then(|then| then.prepare().map(drop)).unwrap_err().to_string()
        };
        assert!(why(r#"{"mode": "up", "lab": "pair"}"#, &[]).contains("while it was up"));
        let absolute =
            r#"{"mode": "run", "lab": "pair", "files": [{"name": "/nowhere/x", "copy": "files/x", "bytes": 1}]}"#;
        assert!(why(absolute, &[("files/x", "1")]).contains("/nowhere/x, which cannot be read"));
        let out = r#"{"mode": "run", "lab": "pair", "files": [{"name": "x", "copy": "../../etc/passwd", "bytes": 1}]}"#;
        assert!(why(out, &[]).contains("says that a file is at"));
        let high = format!(
            r#"{{"mode": "run", "lab": "pair", "files": [{{"name": "{}x", "copy": "x", "bytes": 1}}]}}"#,
            "../".repeat(99)
        );
        assert!(why(&high, &[]).contains("99 folders above"));
    }
}
