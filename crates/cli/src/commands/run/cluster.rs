//! Runs over the machines of a cluster of Ray: Python divides the lab by `netloom split`, has Ray start a part on each machine and joins what they found
//! out; then it calls this program again, which shows it.

use crate::args::RunArgs;
use crate::commands::cluster::{Spread, without_cluster};
use crate::commands::{Failure, lab_file, python};
use netloom_judge::{ExitCode, Report};
use netloom_results::{Folder, graph, joined, page, render};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::Path;

/// The file with the report, in a results folder.
const REPORT: &str = "report.json";
/// The file with what is printed.
const SUMMARY: &str = "summary.txt";
/// The lab file of the whole, and where results come from.
const LAB: &str = "lab.yaml";
const PROVENANCE: &str = "provenance.json";
/// The longest report that is read, in bytes.
const LONGEST: u64 = 1 << 30;

/// Becomes Python, which runs the lab on the cluster at `on`; comes back only if that fails.
pub(super) fn play(args: &RunArgs, on: &str) -> Failure {
    let spread = Spread {
        file: &args.file,
        overrides: &args.overrides,
        division: &args.machines.division,
        results: &args.results,
        wall_limit: args.wall_limit,
        on,
        quiet: args.quiet || args.json,
    };
    let mut order = match spread.order() {
        Ok(order) => order,
        Err(failure) => return failure,
    };
    order.insert("then".into(), json!(then(std::env::args().skip(1))));
    python::become_module("netloom._served", &[json!(order).to_string().into()], "runs on Ray need")
}

/// The arguments of the command that shows the report: those of this one, but for what says where and how parts are played.
fn then(words: impl Iterator<Item = String>) -> Vec<String> {
    const WITH_VALUE: [&str; 4] = ["--machines", "--path", "--port", "--on-loss"];
    let mut words = without_cluster(words).into_iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word.split_once('=').map_or(word.as_str(), |(name, _)| name) {
            "--plain" => {}
            name if WITH_VALUE.contains(&name) => {
                if name == word {
                    words.next();
                }
            }
            _ => kept.push(word),
        }
    }
    kept
}

/// Reads the report in the results folder of a run that was played elsewhere: as a report, or as the document that also says which machine
/// each row is of.
pub(super) fn read<T: DeserializeOwned>(folder: &Path) -> Result<T, Failure> {
    let path = folder.join(REPORT);
    let wrong = |why: String| Failure::new(ExitCode::Results, format!("reading {}: {why}", path.display()));
    let file = File::open(&path).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_reader(BufReader::new(file).take(LONGEST)).map_err(|error| wrong(error.to_string()))
}

/// Returns the report in the results folder of a run that was played elsewhere, and completes the folder: with what all parts have recorded, what
/// the whole lab is, what is printed, and the page.
pub(super) fn played(folder: &Path, args: &RunArgs) -> Result<Report, Failure> {
    let journal = joined::join(folder)?;
    write_origin(folder, args)?;
    let mut document: Value = read(folder)?;
    if let Some(journal) = journal {
        document["journal"] = json!(journal);
    }
    if !args.no_report {
        document["page"] = json!(page::FILE);
    }
    put(&folder.join(REPORT), format!("{document:#}\n"))?;
    let report: Report = read(folder)?;
    put(&folder.join(SUMMARY), anstream::adapter::strip_str(&render::report(&report)).to_string())?;
    if !args.no_report {
        page::write(folder)?;
    }
    Failure::unless_good(report)
}

/// Writes the plan of the whole lab, its picture, and where the results come from: as the first part says it of its machine.
fn write_origin(folder: &Path, args: &RunArgs) -> Result<(), Failure> {
    let text = netloom_lab::read(&folder.join(LAB)).map_err(|error| Failure::new(ExitCode::Results, error))?;
    let name = args.file.to_string_lossy();
    let lab = match args.overrides.clock {
        Some(clock) => netloom_lab::parse_with_clock(&text, &name, clock),
        None => netloom_lab::parse(&text, &name),
    };
    let lab = lab.map_err(|found| lab_file::refused(&found))?;
    let plan = lab.plan;
    let results = Folder::existing(folder.to_owned())?;
    results.write_json("plan.json", &plan.description())?;
    graph::write_picture(&results, &plan)?;
    let part = |place: &Path| fs::read(place.join(PROVENANCE)).ok();
    let parts = fs::read_dir(folder.join("parts")).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut parts: Vec<_> = parts.collect();
    parts.sort();
    let first = parts.iter().find_map(|place| serde_json::from_slice::<Value>(&part(place)?).ok());
    if let Some(mut provenance) = first {
        provenance["lab"] = json!(plan.name);
        provenance["lab_file"] = json!(std::path::absolute(&args.file).unwrap_or_else(|_| args.file.clone()));
        provenance["command_line"] = json!(std::env::args().collect::<Vec<_>>());
        put(&folder.join(PROVENANCE), format!("{provenance:#}\n"))?;
    }
    Ok(())
}

fn put(path: &Path, text: String) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|error| Failure::new(ExitCode::Results, format!("writing {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_shown_by_a_command_that_plays_nothing() {
        let made = |words: &str| then(words.split(' ').map(str::to_owned)).join(" ");
        assert_eq!(made("run a.yaml --on ray --machines 3 --plain --json"), "run a.yaml --json");
        assert_eq!(made("run --on=ray://h:1 --on-loss=continue --path 2ms a.yaml -q"), "run a.yaml -q");
    }
}
