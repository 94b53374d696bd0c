//! A finding: a failure, the run that showed it, and the few faults that are enough for it.

use crate::branches;
use crate::cause::{first_differences, lines_of};
use crate::child::write_json;
use crate::error::HuntError;
use crate::failure::Failure;
use crate::faults::Fault;
use crate::folder::HuntFolder;
use crate::histories::Explained;
use crate::record::{Cause, FindingRecord, KeptChoices};
use crate::target::Target;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

/// A run that was played to be kept.
#[derive(Clone, Debug)]
pub(crate) struct KeptRun {
    pub(crate) faults: Vec<Fault>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) results: Option<PathBuf>,
}

/// Writes a finding: labs and results of the original and the minimal run, and what each fault does. The runs without one of the faults are
/// `without`, in the order of the minimal faults.
pub(crate) fn write(
    folder: &HuntFolder,
    target: &Target,
    (mut record, choices): (FindingRecord, &KeptChoices),
    [original, minimal]: [&KeptRun; 2],
    without: &[KeptRun],
) -> Result<FindingRecord, HuntError> {
    let home = folder.unfinished()?;
    let with = minimal.results.as_deref().map(lines_of).unwrap_or_default();
    record.causes = minimal
        .faults
        .iter()
        .zip(without)
        .map(|(fault, run)| Cause {
            entries: fault.entries.clone(),
            fails_without: run.failures.contains(&record.failure),
            differences: first_differences(&with, &run.results.as_deref().map(lines_of).unwrap_or_default()),
        })
        .collect();
    record.is_repeated = [original, minimal].iter().all(|run| run.failures.contains(&record.failure));
    if let Some(own) = minimal.failures.iter().find(|own| **own == record.failure) {
        // In the words of the run that `minimal.yaml` repeats.
        record.failure = own.clone();
    }
    record.files_elsewhere = copy_files(target, &home)?;
    let explained = minimal.results.as_deref().and_then(|results| target.judge.explain(&record.failure, results));
    for (name, run) in [("original", original), ("minimal", minimal)] {
        let text = format!("{}{}", heading(&record, name), target.kept(&run.faults)?);
        write_text(&home.join(format!("{name}.yaml")), &text)?;
        if let Some(results) = &run.results {
            let place = home.join(name);
            fs::rename(results, &place).map_err(HuntError::file(&place))?;
        }
    }
    write_json(&home.join("choices.json"), choices)?;
    let mut text = described(&record);
    if let Some(Explained { text: contradiction, svg }) = explained {
        let _ = write!(text, "\n{contradiction}  drawn in contradiction.svg\n");
        write_text(&home.join("contradiction.svg"), &svg)?;
    }
    write_text(&home.join("finding.txt"), &text)?;
    if !record.branches.is_empty() {
        write_text(&home.join("cause.svg"), &branches::picture(&record.branches, &record.minimal))?;
    }
    // Last: a finding without it is not complete.
    write_json(&home.join("finding.json"), &record)?;
    folder.publish(record.finding)?;
    Ok(record)
}

/// Copies the files that the lab names to where its copies find them; returns those for which that is not possible.
fn copy_files(target: &Target, home: &Path) -> Result<Vec<PathBuf>, HuntError> {
    let from = target.lab_file.parent().unwrap_or(Path::new(""));
    let mut elsewhere = Vec::new();
    for name in target.lab.plan.files.iter().filter(|name| name.is_relative()) {
        if name.components().any(|part| part == Component::ParentDir) {
            elsewhere.push(name.clone());
            continue;
        }
        let place = home.join(name);
        let folder = place.parent().unwrap_or(home);
        fs::create_dir_all(folder).map_err(HuntError::file(folder))?;
        netloom_regular::copy(&from.join(name), &place).map_err(HuntError::file(&place))?;
    }
    Ok(elsewhere)
}

/// The comment with which a lab begins that is kept.
fn heading(record: &FindingRecord, name: &str) -> String {
    let count = if name == "minimal" { &record.minimal } else { &record.original }.len();
    format!(
        "# Found by `netloom hunt` in run {}, with {count} faults: {}\n# `netloom hunt` of this file plays it once and judges all properties; \
         `netloom run` judges those that are expectations.\n",
        record.run,
        record.failure.words()
    )
}

/// The finding in words.
fn described(record: &FindingRecord) -> String {
    let mut text = format!("finding {:04}: {}\n", record.finding, record.failure.words());
    let (before, after) = (record.original.len(), record.minimal.len());
    let _ = writeln!(
        text,
        "first in run {}; faults shrunk from {before} to {after} ({} runs)",
        record.run, record.shrink_runs
    );
    if !record.is_repeated {
        text.push_str(
            "WARNING: played again, a run did not fail in the same way: see virtual-time.md for what runs depend on\n",
        );
    }
    for name in &record.files_elsewhere {
        let _ = writeln!(text, "minimal.yaml needs a file that is not beside it: {}", name.display());
    }
    if record.minimal.is_empty() {
        text.push_str("it fails without any fault\n");
    }
    text.push_str(&branches::described(&record.branches));
    for cause in &record.causes {
        let fails = if cause.fails_without { "the run still fails" } else { "the run does not fail" };
        let _ = writeln!(text, "\n{}\n  without it {fails}", cause.entries.join("\n"));
        for difference in &cause.differences {
            let _ = writeln!(text, "  {}", difference.described());
        }
    }
    text
}

fn write_text(path: &Path, text: &str) -> Result<(), HuntError> {
    let write = |file: &mut std::io::BufWriter<fs::File>| file.write_all(text.as_bytes());
    netloom_regular::replace(path, write).map_err(HuntError::file(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::Difference;

    #[test]
    fn a_finding_is_told_in_words() {
        let fault = |entry: &str| Fault {
            kind: "cut".into(),
            rank: 1,
            at_ns: 1,
            for_ns: 1,
            nodes: Vec::new(),
            entries: vec![entry.into()],
        };
        let difference = Difference {
            command: "serve-n1".into(),
            node: "n1".into(),
            stream: "stdout".into(),
            line: 3,
            with: Some("lost".into()),
            without: None,
        };
        let entry = "{at: 1 s, link: l, down: 1 s}";
        let record = FindingRecord {
            finding: 1,
            failure: Failure::new("always x", "lost 3"),
            run: 7,
            original: vec![fault(entry), fault("{at: 2 s, link: l, down: 1 s}")],
            minimal: vec![fault(entry)],
            shrink_runs: 12,
            is_repeated: true,
            causes: vec![Cause { entries: vec![entry.into()], fails_without: false, differences: vec![difference] }],
            branches: Vec::new(),
            files_elsewhere: Vec::new(),
        };
        assert_eq!(
            described(&record),
            "finding 0001: always x: lost 3\nfirst in run 7; faults shrunk from 2 to 1 (12 runs)\n\n\
             {at: 1 s, link: l, down: 1 s}\n  without it the run does not fail\n  \
             serve-n1 on n1, line 3 of stdout: `lost`; without it: nothing\n"
        );
        assert!(heading(&record, "minimal").contains("in run 7, with 1 faults: always x: lost 3\n"));
    }
}
