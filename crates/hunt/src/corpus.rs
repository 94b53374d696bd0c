//! A folder of findings for version control: each is the smallest lab that shows it, with the files that the lab names, and without results.

use crate::error::HuntError;
use crate::failure::Failure;
use crate::folder::HuntFolder;
use crate::record::FindingRecord;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The files of a finding that are about its runs: they are large, or mean something only together with the hunt.
const LEFT_OUT: [&str; 5] = ["minimal", "original", "original.yaml", "choices.json", "finding.json"];
/// The longest name of a finding's folder.
const LONGEST: usize = 60;

/// Copies findings into the folder `corpus`, which is made if it is missing. A failure that is there already stays as it is. Returns the folders
/// that are new.
///
/// # Errors
/// What the kernel says.
pub fn add_to_corpus(
    corpus: &Path,
    folder: &HuntFolder,
    findings: &[FindingRecord],
) -> Result<Vec<PathBuf>, HuntError> {
    fs::create_dir_all(corpus).map_err(HuntError::file(corpus))?;
    let mut added = Vec::new();
    for finding in findings {
        let place = corpus.join(name_of(&finding.failure));
        if place.exists() {
            continue;
        }
        // It appears in one go, so that a corpus has no half findings.
        let unfinished = corpus.join(format!(".{}", std::process::id()));
        match fs::remove_dir_all(&unfinished) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(HuntError::file(&unfinished)(error)),
            _ => {}
        }
        copy(&folder.finding(finding.finding), &unfinished, &LEFT_OUT)?;
        fs::rename(&unfinished, &place).map_err(HuntError::file(&place))?;
        added.push(place);
    }
    Ok(added)
}

/// The folder of a failure: the same in every hunt.
fn name_of(failure: &Failure) -> String {
    let line = failure.line();
    let mut name = String::new();
    for letter in line.chars() {
        match letter {
            _ if letter.is_ascii_alphanumeric() => name.push(letter.to_ascii_lowercase()),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
        if name.len() >= LONGEST {
            break;
        }
    }
    // FNV-1a: names that are cut, or differ in signs alone, are different ones.
    let hash = line.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{}-{hash:08x}", name.trim_end_matches('-'))
}

fn copy(from: &Path, to: &Path, left_out: &[&str]) -> Result<(), HuntError> {
    fs::create_dir_all(to).map_err(HuntError::file(to))?;
    for entry in fs::read_dir(from).map_err(HuntError::file(from))? {
        let entry = entry.map_err(HuntError::file(from))?;
        let (name, source) = (entry.file_name(), entry.path());
        if left_out.iter().any(|own| name == **own) {
            continue;
        }
        let place = to.join(&name);
        if entry.file_type().map_err(HuntError::file(&source))?.is_dir() {
            copy(&source, &place, &[])?;
        } else {
            fs::copy(&source, &place).map_err(HuntError::file(&source))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_the_same_name_everywhere() {
        let of = |property: &str, said: &str| name_of(&Failure::new(property, said));
        let name = of("always linearizable(h.jsonl)", "not linearizable");
        assert!(name.starts_with("always-linearizable-h-jsonl-not-linearizable-"), "{name}");
        assert_eq!(of("always x", "lost 3"), of("always x", "lost 4"));
        assert_ne!(of("always x == 1", ""), of("always x != 1", ""), "the letters are the same");
        assert!(of(&"long ".repeat(50), "").len() < 80);
    }

    #[test]
    fn a_copy_has_no_results() {
        let home = tempfile::tempdir().unwrap();
        let (from, to) = (home.path().join("0001"), home.path().join("kept"));
        for folder in ["minimal", "srv"] {
            fs::create_dir_all(from.join(folder)).unwrap();
            fs::write(from.join(folder).join("file"), "x").unwrap();
        }
        for file in ["minimal.yaml", "finding.txt", "choices.json"] {
            fs::write(from.join(file), "x").unwrap();
        }
        copy(&from, &to, &LEFT_OUT).unwrap();
        let there = |name: &str| to.join(name).exists();
        assert!(there("minimal.yaml") && there("finding.txt") && there("srv/file"));
        assert!(!there("minimal") && !there("choices.json"));
    }
}
