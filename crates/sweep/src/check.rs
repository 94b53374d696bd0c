//! All points of a sweep, read and planned before the first run starts.

use crate::SweepError;
use netloom_lab::{Clock, OverRuns, Plan, Processors, Run, Sweep, SweepSettings};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A sweep whose points are all read and planned: what they need, and what distinguishes this sweep from others.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The processors that a run takes, point by point; 0: all of them.
    pub(crate) needs: Vec<u32>,
    /// Whether all points are in virtual time.
    pub(crate) clocks: Clocks,
    /// The lab's name.
    pub lab: String,
    /// What the files that the lab names contain, as SHA-256.
    pub(crate) files: BTreeMap<PathBuf, String>,
    /// The same of all points.
    pub(crate) points: String,
    /// The expectations of all runs together.
    pub expectations: Vec<OverRuns>,
}

/// Whose time the runs are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clocks {
    /// Some are in real or dilated time, where a run must not be disturbed.
    pub(crate) any_real: bool,
}

/// Reads and plans all points of the sweep in the lab file at `path`.
///
/// # Errors
/// What is wrong with the first point that is wrong.
pub fn check(sweep: &Sweep, path: &Path) -> Result<Checked, SweepError> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let lab = sweep.name().map_or(stem, str::to_owned);
    let (mut needs, mut clocks, mut files, mut hash) = (Vec::new(), Clocks::default(), BTreeMap::new(), Sha256::new());
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut expected: BTreeMap<usize, OverRuns> = BTreeMap::new();
    for point in 0..sweep.points() {
        let prepared = sweep.run(Run { point, repetition: 0 }, &lab)?;
        hash.update(prepared.text.as_bytes());
        let plan = &prepared.lab.plan;
        for own in &plan.over_runs {
            let known = expected.entry(own.item).or_insert_with(|| own.clone());
            if known.text != own.text {
                let what = "an expectation of all runs is the same at all points: write a condition, as in mean(goodput | cc=bbr)";
                return Err(SweepError::Expectation(format!("{}:{}: {}: {what}", path.display(), own.line, own.text)));
            }
        }
        needs.push(need(plan, sweep.settings()));
        clocks.any_real |= plan.clock != Clock::Virtual;
        for file in plan.files.iter().chain(sweep.tables()) {
            if !files.contains_key(file) {
                files.insert(file.clone(), digest_of(&folder.join(file))?);
            }
        }
    }
    if let Some((_, text)) = sweep.over_runs().into_iter().find(|(item, _)| !expected.contains_key(item)) {
        let what = "no point of this sweep has all that this names";
        return Err(SweepError::Expectation(format!("{}: expect: {text}: {what}", path.display())));
    }
    let expectations = expected.into_values().collect();
    Ok(Checked { needs, clocks, lab, files, points: hex(&hash.finalize()), expectations })
}

/// Whether none of the runs takes more than one processor.
pub fn needs_one_processor(checked: &Checked) -> bool {
    checked.needs.iter().all(|need| *need == 1)
}

/// The processors that a run takes; 0: all of them.
fn need(plan: &Plan, settings: SweepSettings) -> u32 {
    match settings.processors {
        Some(Processors::All) => 0,
        Some(Processors::Count(count)) => count,
        None if plan.clock == Clock::Virtual => 1,
        // What else the machine does makes packets late.
        None => 0,
    }
}

/// The longest file that a lab file may name.
const LONGEST_FILE: u64 = 256 << 20;

fn digest_of(path: &Path) -> Result<String, SweepError> {
    let bytes = netloom_regular::read(path, LONGEST_FILE).map_err(SweepError::file(path))?;
    Ok(hex(&Sha256::digest(&bytes)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
