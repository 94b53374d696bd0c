//! The folder of a hunt, which is all of its state.
//!
//! ```text
//! FOLDER/lab.yaml                 the lab file as it was given
//! FOLDER/origin.json              which hunt this is
//! FOLDER/runs.jsonl               a line for each run that has ended; of one that failed with its choices
//! FOLDER/findings/0001/           a finding, which appears in one go
//! FOLDER/hunt.json                what was found, written at the end
//! FOLDER/work/                    the runs in progress
//! ```

use crate::child::write_json;
use crate::error::HuntError;
use crate::failure::Failure;
use crate::judged::Judged;
use crate::record::{FindingRecord, KeptChoices};
use crate::target::Target;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Documents of a hunt's folder have at most so many bytes.
const LONGEST: u64 = 1 << 30;
/// How the folder of a finding is called that is not complete. Whoever looks for findings leaves out such names.
const UNFINISHED: &str = ".unfinished";
/// The names that a hunt writes into its folder. Links among these would lead elsewhere.
const OWN: [&str; 7] = ["lock", "lab.yaml", "origin.json", "runs.jsonl", "findings", "work", "hunt.json"];
/// How long labs of a hunt that was killed may still write into its folder.
const LONGEST_GOING: Duration = Duration::from_secs(60);
/// How long to wait before what they wrote is removed again.
const PAUSE: Duration = Duration::from_millis(50);

/// The folder of a hunt, which this process has locked.
#[derive(Debug)]
pub struct HuntFolder {
    path: PathBuf,
    runs: File,
    _lock: File,
}

/// The identity of a hunt.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    version: String,
    lab_file: PathBuf,
    seed: u64,
    #[serde(default)]
    is_systematic: bool,
    #[serde(default)]
    varies_seed: bool,
}

/// The way of a hunt, by which it differs from others of the same lab file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// The seed from which faults are drawn.
    pub seed: u64,
    /// Whether they are not drawn, but tried one by one.
    pub is_systematic: bool,
    /// Whether each run has another seed of the lab, too.
    pub varies_seed: bool,
}

/// A run that has ended, as `runs.jsonl` has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLine {
    /// The number of the run; 0 is the one without faults.
    pub run: u64,
    /// How many faults there were.
    pub faults: usize,
    /// The properties that failed in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// The properties that must hold sometimes, and did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<String>,
    /// The assertions of programs that must hold sometimes, and did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wanted: Vec<String>,
    /// The properties that the run does not decide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<String>,
    /// All that its logs show and those of no run before did, as numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behaviours: Vec<u64>,
    /// Why the run shows nothing; none if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The choices of a run that failed, by which it can be repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<u64>,
}

impl From<Judged> for RunLine {
    /// The line of a run that was judged so.
    fn from(judged: Judged) -> Self {
        let Judged { failures, reached, wanted, undecided, behaviours, error } = judged;
        Self { failures, reached, wanted, undecided, behaviours, error, ..Self::default() }
    }
}

impl HuntFolder {
    /// Makes the folder of a new hunt at `path`, or opens it to go on with the hunt in it.
    ///
    /// # Errors
    /// If another process uses it, if it is that of another hunt, or what the kernel says.
    pub fn open(path: &Path, target: &Target, search: Search, resume: bool) -> Result<Self, HuntError> {
        let has_origin = || path.join("origin.json").exists();
        let is_foreign = || fs::read_dir(path).is_ok_and(|mut all| all.any(|one| !is_of_hunt(one)));
        if !has_origin() && is_foreign() {
            let message = "is there already, and is no hunt: name another folder with -o";
            return Err(HuntError::Folder(format!("{} {message}", path.display())));
        }
        let own = OWN.map(|name| path.join(name));
        if let Some(link) = own.iter().find(|own| own.is_symlink()) {
            let message = "is a symbolic link, and a hunt writes into its own folder alone: remove it, or name another folder with -o";
            return Err(HuntError::Folder(format!("{} {message}", link.display())));
        }
        fs::create_dir_all(path.join("findings")).map_err(HuntError::file(path))?;
        let lock = lock(path)?;
        // Another hunt may have had the folder until now.
        let has_hunt = has_origin();
        if has_hunt && !resume {
            let message = "holds a hunt already: --resume goes on with it, and -o takes another folder";
            return Err(HuntError::Folder(format!("{} {message}", path.display())));
        }
        let path = path.canonicalize().map_err(HuntError::file(path))?;
        let origin = Origin {
            version: env!("CARGO_PKG_VERSION").into(),
            lab_file: target.lab_file.canonicalize().unwrap_or_else(|_| target.lab_file.clone()),
            seed: search.seed,
            is_systematic: search.is_systematic,
            varies_seed: search.varies_seed,
        };
        let (place, kept) = (path.join("origin.json"), path.join("lab.yaml"));
        if has_hunt {
            compare(&place, &kept, &origin, target)?;
        } else {
            let write = |file: &mut std::io::BufWriter<File>| file.write_all(target.text().as_bytes());
            netloom_regular::replace(&kept, write).map_err(HuntError::file(&kept))?;
            write_json(&place, &origin)?;
        }
        let lines = path.join("runs.jsonl");
        // A line that was cut off when the hunt was killed is that of a run that did not end.
        let whole = whole_lines(&lines)?;
        let runs = OpenOptions::new().create(true).append(true).open(&lines).map_err(HuntError::file(&lines))?;
        runs.set_len(whole).map_err(HuntError::file(&lines))?;
        clear(&path.join("work"))?;
        clear(&path.join("findings").join(UNFINISHED))?;
        // It tells of an earlier invocation, and whoever reads it would take it for what comes out now.
        match fs::remove_file(path.join("hunt.json")) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(HuntError::file(&path.join("hunt.json"))(error)),
            _ => Ok(Self { path, runs, _lock: lock }),
        }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the runs that have ended.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn runs(&self) -> Result<Vec<RunLine>, HuntError> {
        let path = self.path.join("runs.jsonl");
        let text = netloom_regular::read_text(&path, LONGEST).map_err(HuntError::file(&path))?;
        let read = |(place, line)| {
            let advice = format!("line {} is damaged; without it, its run is played again", place + 1);
            serde_json::from_str(line).map_err(|error| damaged(&path, &error, &advice))
        };
        text.lines().enumerate().map(read).collect()
    }

    /// Keeps that a run has ended.
    pub(crate) fn keep(&mut self, line: &RunLine) -> Result<(), HuntError> {
        let mut text = serde_json::to_vec(line).expect("a line has texts for keys");
        text.push(b'\n');
        self.runs.write_all(&text).map_err(HuntError::file(&self.path.join("runs.jsonl")))
    }

    /// Reads what was found, in the order of the numbers.
    ///
    /// # Errors
    /// If a finding cannot be read.
    pub fn findings(&self) -> Result<Vec<FindingRecord>, HuntError> {
        let mut found = Vec::new();
        for number in self.numbers()? {
            let path = self.finding(number).join("finding.json");
            if path.exists() {
                let record: FindingRecord = read_json(&path, &self.without(number))?;
                if record.finding != number {
                    let message =
                        format!("{} is about finding {}: {}", path.display(), record.finding, self.without(number));
                    return Err(HuntError::Folder(message));
                }
                found.push(record);
            }
        }
        Ok(found)
    }

    /// Reads the choices of a finding, if they are there.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn choices(&self, number: usize) -> Result<KeptChoices, HuntError> {
        let path = self.finding(number).join("choices.json");
        if path.exists() { read_json(&path, &self.without(number)) } else { Ok(KeptChoices::default()) }
    }

    /// The number of the next finding: no folder has it, nor a larger one.
    pub(crate) fn next_finding(&self) -> Result<usize, HuntError> {
        Ok(self.numbers()?.last().map_or(1, |last| last + 1))
    }

    /// The numbers of the folders of findings, in order.
    fn numbers(&self) -> Result<Vec<usize>, HuntError> {
        let folder = self.path.join("findings");
        let all = fs::read_dir(&folder).map_err(HuntError::file(&folder))?;
        let mut numbers = Vec::new();
        for entry in all {
            let name = entry.map_err(HuntError::file(&folder))?.file_name();
            let number = name.to_str().and_then(|name| name.parse().ok());
            numbers.extend(number.filter(|number| name == *name_of(*number)));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Says how to go on without a finding that is damaged.
    fn without(&self, number: usize) -> String {
        format!("remove {}, and --resume makes it again", self.finding(number).display())
    }

    /// The folder in which a finding is put together.
    pub(crate) fn unfinished(&self) -> Result<PathBuf, HuntError> {
        let path = self.path.join("findings").join(UNFINISHED);
        fs::create_dir_all(&path).map_err(HuntError::file(&path))?;
        Ok(path)
    }

    /// Gives a finding that is complete its place.
    pub(crate) fn publish(&self, number: usize) -> Result<PathBuf, HuntError> {
        let (from, to) = (self.path.join("findings").join(UNFINISHED), self.finding(number));
        fs::rename(&from, &to).map_err(HuntError::file(&to))?;
        Ok(to)
    }

    /// The folder of a finding.
    pub(crate) fn finding(&self, number: usize) -> PathBuf {
        self.path.join("findings").join(name_of(number))
    }

    /// Writes what was found.
    pub(crate) fn conclude(&self, summary: &impl Serialize) -> Result<(), HuntError> {
        write_json(&self.path.join("hunt.json"), summary)
    }
}

/// Whether a hunt that was killed before it began has left this.
fn is_of_hunt(entry: std::io::Result<fs::DirEntry>) -> bool {
    let is_known = |name: &str| ["findings", "lock", "lab.yaml"].contains(&name) || netloom_regular::is_left_over(name);
    entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(is_known))
}

/// The name of a finding's folder.
fn name_of(number: usize) -> String {
    format!("{number:04}")
}

/// Removes a folder, into which labs may still write for a moment whose hunt was killed.
fn clear(folder: &Path) -> Result<(), HuntError> {
    let begun = Instant::now();
    loop {
        match fs::remove_dir_all(folder) {
            Ok(()) => return Ok(()),
            Err(_) if !folder.is_symlink() && !folder.exists() => return Ok(()),
            Err(error) if begun.elapsed() > LONGEST_GOING => return Err(HuntError::file(folder)(error)),
            Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::NotFound) => sleep(PAUSE),
            Err(error) => return Err(HuntError::file(folder)(error)),
        }
    }
}

/// Reads a document of the hunt; if it is damaged, the error says what to do.
fn read_json<T: DeserializeOwned>(path: &Path, advice: &str) -> Result<T, HuntError> {
    let text = netloom_regular::read_text(path, LONGEST).map_err(HuntError::file(path))?;
    serde_json::from_str(&text).map_err(|error| damaged(path, &error, advice))
}

fn damaged(path: &Path, error: &serde_json::Error, advice: &str) -> HuntError {
    HuntError::Folder(format!("{}: {error}: {advice}", path.display()))
}

/// How many bytes of a file are whole lines; 0 if there is none.
fn whole_lines(path: &Path) -> Result<u64, HuntError> {
    match netloom_regular::read(path, LONGEST) {
        Ok(bytes) => Ok(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end as u64 + 1)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        Err(error) => Err(HuntError::file(path)(error)),
    }
}

fn lock(folder: &Path) -> Result<File, HuntError> {
    let path = folder.join("lock");
    // To open a pipe would wait for whoever reads it.
    if path.exists() && !path.is_file() {
        return Err(HuntError::Folder(format!("{} is no regular file: remove it", path.display())));
    }
    let file = File::options().create(true).append(true).open(&path).map_err(HuntError::file(&path))?;
    let is_ours = netloom_regular::lock_alone(&file).map_err(HuntError::file(&path))?;
    if is_ours { Ok(file) } else { Err(HuntError::Busy(folder.to_owned())) }
}

/// Checks that the hunt in this folder is the one that is asked for.
fn compare(place: &Path, kept: &Path, wanted: &Origin, target: &Target) -> Result<(), HuntError> {
    let read = |path: &Path| netloom_regular::read_text(path, LONGEST).map_err(HuntError::file(path));
    let found: Origin = read_json(place, "what the hunt was is lost: begin another one with -o")?;
    let mut differs = Vec::new();
    if found.seed != wanted.seed {
        differs.push(format!("the seed, which is {} there", found.seed));
    }
    let options = [
        ("--systematic", found.is_systematic, wanted.is_systematic),
        ("--vary-seed", found.varies_seed, wanted.varies_seed),
    ];
    for (option, was_given, is_given) in options {
        if was_given != is_given {
            differs.push(format!("{option}, which {} given there", if was_given { "was" } else { "was not" }));
        }
    }
    if read(kept)? != target.text() {
        differs.push("the lab file".into());
    }
    if found.version != wanted.version {
        differs.push(format!("the version of netloom, which is {} there", found.version));
    }
    if differs.is_empty() {
        return Ok(());
    }
    let folder = place.parent().unwrap_or(place).display();
    Err(HuntError::Folder(format!(
        "{folder} is of another hunt; what differs: {}: change it back, or begin another hunt with -o",
        differs.join(", ")
    )))
}

#[cfg(test)]
mod tests;
