//! Byte for byte.

use super::document;
use crate::ArchiveError;
use crate::manifest::ROOT;
use netloom_results::read_files;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// What a run says of when and where it was: not what its seed decides. The report is compared by its parts.
const OWN: [&str; 5] = ["provenance.json", "summary.txt", "report.html", "report.json", read_files::FILE];
/// The pictures, which are drawn from the other files whenever somebody asks for them, and the root, which only a bundle has.
const ASIDE: [&str; 2] = ["plots", ROOT];
/// The plan, which names files that nodes get by their paths on the machine.
const PLAN: &str = "plan.json";
/// The parts of `report.json` of which the same is true.
const OWN_PARTS: [&str; 4] = ["results", "effort", "attempts", "plots"];

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileDifference {
    /// The file's path in the results folder; in a sweep below the run's name.
    pub path: String,
    /// The difference in words: the file is only in the earlier or only in the new results, or it differs, perhaps at a
    /// key.
    pub what: String,
    /// The offset of the first byte that differs, from 0; none if there is only one of the files, or a key differs.
    pub byte: Option<u64>,
    /// The line of that byte, from 1.
    pub line: Option<u64>,
}

/// How many files of two results folders are the same, and which are not.
pub(super) fn compare(then: &Path, now: &Path, prefix: &str) -> Result<(usize, Vec<FileDifference>), ArchiveError> {
    let (before, after) = (files(then)?, files(now)?);
    let all: BTreeSet<&String> = before.iter().chain(&after).collect();
    let (mut same, mut different) = (0, Vec::new());
    for name in all {
        let differs = |what: &str, at: Option<(u64, u64)>| FileDifference {
            path: format!("{prefix}{name}"),
            what: what.to_owned(),
            byte: at.map(|at| at.0),
            line: at.map(|at| at.1),
        };
        match (before.contains(name), after.contains(name)) {
            (true, false) => different.push(differs("only then", None)),
            (false, true) => different.push(differs("only now", None)),
            _ => {
                let (one, other) = (then.join(name), now.join(name));
                match first_difference(&one, &other).map_err(ArchiveError::file(&other))? {
                    None => same += 1,
                    Some(_) if *name == PLAN && is_same_plan(&one, &other)? => same += 1,
                    at => different.push(differs("differs", at)),
                }
            }
        }
    }
    match report_difference(then, now)? {
        None => same += 1,
        Some(key) => different.push(FileDifference {
            path: format!("{prefix}report.json"),
            what: format!("differs at {key}"),
            byte: None,
            line: None,
        }),
    }
    Ok((same, different))
}

/// The files of a results folder that its seed decides.
fn files(folder: &Path) -> Result<BTreeSet<String>, ArchiveError> {
    let (mut found, mut waiting) = (BTreeSet::new(), vec![folder.to_owned()]);
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(&next).map_err(ArchiveError::file(&next))? {
            let entry = entry.map_err(ArchiveError::file(&next))?;
            let about = entry.file_type().map_err(ArchiveError::file(&entry.path()))?;
            let path = entry.path();
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            if about.is_dir() {
                waiting.push(path);
            } else if about.is_file()
                && !OWN.contains(&name.as_str())
                && !ASIDE.iter().any(|aside| Path::new(&name).starts_with(aside))
            {
                found.insert(name);
            }
        }
    }
    Ok(found)
}

/// The byte and the line from which two files differ.
fn first_difference(one: &Path, other: &Path) -> io::Result<Option<(u64, u64)>> {
    let [mut one, mut other] = [netloom_regular::open(one)?, netloom_regular::open(other)?]
        .map(|file| BufReader::with_capacity(1 << 16, file));
    let (mut byte, mut line) = (0, 1);
    let [mut a, mut b] = [vec![0; 1 << 15], vec![0; 1 << 15]];
    loop {
        let (count, others) = (fill(&mut one, &mut a)?, fill(&mut other, &mut b)?);
        let (a, b) = (&a[..count], &b[..others]);
        let alike = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let lines = a[..alike].iter().filter(|found| **found == b'\n').count() as u64;
        (byte, line) = (byte + alike as u64, line + lines);
        if alike < count.max(others) {
            return Ok(Some((byte, line)));
        }
        if count == 0 {
            return Ok(None);
        }
    }
}

fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Whether two plans differ in nothing but where on the machine nodes get files from, which a rerun puts elsewhere.
fn is_same_plan(one: &Path, other: &Path) -> Result<bool, ArchiveError> {
    let read = |path: &Path| -> Result<Value, ArchiveError> {
        let mut plan = document(path)?;
        let nodes = plan["nodes"].as_array_mut().into_iter().flatten();
        for file in nodes.filter_map(|node| node.get_mut("files")?.as_array_mut()).flatten() {
            if let Some(from) = file.pointer_mut("/contents/from") {
                *from = Value::Null;
            }
        }
        Ok(plan)
    };
    Ok(read(one)? == read(other)?)
}

/// Where two reports differ, but for what a run cost and where its results are.
fn report_difference(then: &Path, now: &Path) -> Result<Option<String>, ArchiveError> {
    let read = |folder: &Path| -> Result<Value, ArchiveError> {
        let mut report = document(&folder.join("report.json"))?;
        if let Some(all) = report.as_object_mut() {
            all.retain(|key, _| !OWN_PARTS.contains(&key.as_str()));
        }
        Ok(report)
    };
    Ok(differ(&read(then)?, &read(now)?, String::new()))
}

/// The first place where two values differ. Documents have at most 128 levels (serde_json).
pub(super) fn differ(one: &Value, other: &Value, place: String) -> Option<String> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            keys.into_iter().find_map(|key| {
                let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                differ(one.get(key).unwrap_or(&Value::Null), other.get(key).unwrap_or(&Value::Null), place)
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => one
            .iter()
            .zip(other)
            .enumerate()
            .find_map(|(number, (one, other))| differ(one, other, format!("{place}[{number}]"))),
        _ => (one != other).then_some(place),
    }
}

/// The results folders of the runs of two sweeps, by name: of then and of now, as far as they are there.
pub(super) fn runs(then: &Path, now: &Path) -> Result<BTreeMap<String, [Option<PathBuf>; 2]>, ArchiveError> {
    let mut all: BTreeMap<String, [Option<PathBuf>; 2]> = BTreeMap::new();
    for (place, sweep) in [then, now].into_iter().enumerate() {
        let runs = sweep.join("runs");
        for entry in fs::read_dir(&runs).map_err(ArchiveError::file(&runs))?.flatten() {
            let Ok(record) = document(&entry.path().join("run.json")) else { continue };
            let Some(results) = record["results"].as_str().filter(|path| crate::manifest::check_path(path).is_ok())
            else {
                continue;
            };
            let name = entry.file_name().to_string_lossy().into_owned();
            all.entry(name).or_default()[place] = Some(sweep.join(results));
        }
    }
    Ok(all)
}
