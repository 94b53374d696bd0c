//! Hunts: how many runs with drawn faults a minute has.

use crate::peers::scenarios::ETCD;
use crate::row::{Goal, Row};
use crate::settings::Settings;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs per minute, on two processors.
const OF_RAFT: f64 = 200.0;
const OF_ETCD: f64 = 60.0;
/// So many runs a hunt has: those of the small Raft are short.
const RUNS: [u32; 2] = [200, 60];
/// What becomes of the lab file of three members on disks, so that it lasts ten seconds of lab time.
const TEN_SECONDS: [(&str, &str); 3] =
    [("duration: 15 s", "duration: 10 s"), ("register 9 ", "register 6 "), ("quiet: 5 s", "quiet: 3 s")];

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let examples = settings.hunts.as_path();
    let raft = settings.output.join("hunts").join("raft");
    let raft = minutes(settings, &examples.join("raft.yaml"), &raft, RUNS[0])?;
    let raft = Row::number("the small Raft, three members, 6 s of lab time", "runs per minute", raft)?;
    let what = "three members of etcd and a client, 10 s of lab time";
    let etcd = if Path::new(ETCD).exists() {
        let lab = ten_seconds(settings, examples)?;
        let rate = minutes(settings, &lab, &settings.output.join("hunts").join("etcd"), RUNS[1])?;
        Row::number(what, "runs per minute", rate)?.goal(Goal::AtLeast(OF_ETCD))
    } else {
        Row::absent(what, "etcd: not installed")
    };
    Ok(vec![raft.goal(Goal::AtLeast(OF_RAFT)), etcd])
}

/// A lab file with three members of etcd that lasts ten seconds.
fn ten_seconds(settings: &Settings, examples: &Path) -> Result<PathBuf, String> {
    let source = examples.join("etcd-disks.yaml");
    let mut text = std::fs::read_to_string(&source).map_err(|error| format!("{}: {error}", source.display()))?;
    for (from, to) in TEN_SECONDS {
        if !text.contains(from) {
            return Err(format!("{} has no {from:?}", source.display()));
        }
        text = text.replace(from, to);
    }
    let client = examples.join("etcd/clients.py");
    let text = text.replace("etcd/clients.py", &client.display().to_string());
    let lab = settings.output.join("hunts").join("etcd.yaml");
    let written = lab.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&lab, text));
    written.map_err(|error| format!("writing {}: {error}", lab.display()))?;
    Ok(lab)
}

/// How many runs of a lab a hunt plays in a minute, the run without faults counted as time alone: once for each seed.
fn minutes(settings: &Settings, lab: &Path, out: &Path, runs: u32) -> Result<Vec<f64>, String> {
    let runs = if settings.quick { runs / 10 } else { runs };
    (1..=settings.rounds(3)).map(|seed| per_minute(settings, lab, out, (runs, seed))).collect()
}

fn per_minute(settings: &Settings, lab: &Path, out: &Path, (runs, seed): (u32, u32)) -> Result<f64, String> {
    // What an earlier measurement left, if there was one.
    let _ = std::fs::remove_dir_all(out);
    let mut command = Command::new(&settings.netloom);
    command.arg("hunt").arg(lab).arg("-o").arg(out).args(["--json", "--jobs", "2", "--vary-seed", "--moment", "0s"]);
    command.arg("--runs").arg(runs.to_string()).arg("--seed").arg(seed.to_string());
    // A short hunt ends with 1: it does not reach all that must hold sometimes.
    let ended = command.env("ETCD", ETCD).env("RAFT_BUG", "").output();
    let ended = ended.map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    let summary: serde_json::Value =
        serde_json::from_slice(&ended.stdout).map_err(|error| format!("{command:?}: {error}: {said}"))?;
    let found = summary["findings"].as_array().map_or(0, Vec::len);
    match summary["runs_per_minute"].as_f64() {
        Some(rate) if found == 0 => Ok(rate),
        _ => Err(format!("{} with seed {seed} had findings: {}", lab.display(), summary["findings"])),
    }
}
