//! A lab file that is hunted: its text, what faults are drawn from, and what judges its runs.

use crate::error::HuntError;
use crate::faults::{Fault, Ground};
use crate::judge::Judge;
use netloom_lab::{Clock, HuntLab, HuntedRun, Lab, Modality};
use netloom_units::Seed;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest name of a lab.
const LONGEST_NAME: usize = 32;
/// How many names the runs of hunts of one lab have: no more of them go on at once.
pub(crate) const NAMES: usize = 99;
/// The number in the name of labs that are kept: whoever plays one is in nobody's way.
const KEPT: usize = 99;

/// A lab file that is hunted.
#[derive(Debug)]
pub struct Target {
    /// The path of the lab file, from whose folder the names of files count.
    pub lab_file: PathBuf,
    /// The lab, without any fault.
    pub lab: Lab,
    /// The nodes, links and kinds that faults are drawn from.
    pub ground: Ground,
    pub(crate) judge: Judge,
    text: HuntLab,
}

/// For what a run is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To see whether it fails: nothing of it is kept.
    #[default]
    Search,
    /// To find the instants at which something happens.
    Baseline,
    /// To be looked at.
    Finding,
}

impl Target {
    /// Reads a lab file for a hunt.
    ///
    /// # Errors
    /// What is wrong with it, or why it cannot be hunted.
    pub fn read(lab_file: &Path) -> Result<Self, HuntError> {
        Self::read_from(lab_file, lab_file)
    }

    /// Reads a lab file for a hunt, whose text is that of another file.
    ///
    /// # Errors
    /// What is wrong with it, or why it cannot be hunted.
    pub fn read_from(lab_file: &Path, text: &Path) -> Result<Self, HuntError> {
        let text = netloom_lab::read(text).map_err(HuntError::Unfit)?;
        Self::of_text(lab_file, &text)
    }

    /// Returns the same lab with another seed.
    ///
    /// # Errors
    /// What is wrong with it then.
    pub(crate) fn seeded(&self, seed: Seed) -> Result<Self, HuntError> {
        Self::of_text(&self.lab_file, &self.text.seeded(seed))
    }

    fn of_text(lab_file: &Path, text: &str) -> Result<Self, HuntError> {
        let (text, lab) = HuntLab::read(text, &lab_file.to_string_lossy())?;
        if lab.plan.clock != Clock::Virtual {
            let message = format!(
                "a hunt needs `clock: virtual`, where a run can be repeated, and the clock of this lab is {}",
                lab.plan.clock.name()
            );
            return Err(HuntError::Unfit(message));
        }
        if text.varies() {
            let message = "a hunt varies faults, and not what `vary` and `repeat` say: leave these out";
            return Err(HuntError::Unfit(message.into()));
        }
        let ground = Ground::of(&lab.plan)?;
        // What a filter names is looked up where it stands in an entry.
        let entries = ground.filter_entries();
        text.play(&HuntedRun { name: "filters", entries: &entries, ..HuntedRun::default() })?;
        let judge = lab.plan.hunt.as_ref().map(Judge::new).transpose()?;
        let judge = judge.expect("a ground is that of a hunt");
        Ok(Self { lab_file: lab_file.to_owned(), lab, ground, judge, text })
    }

    /// Returns the text of the lab file.
    pub fn text(&self) -> &str {
        self.text.text()
    }

    /// Returns how many runs the lab file asks for.
    pub fn runs(&self) -> Option<u64> {
        self.lab.plan.hunt.as_ref().and_then(|hunt| hunt.runs)
    }

    /// Returns for how long the lab file wants runs to be played, in wall time.
    pub fn lasts(&self) -> Option<Duration> {
        let lasts = self.lab.plan.hunt.as_ref().and_then(|hunt| hunt.lasts);
        lasts.map(|lasts| Duration::from_nanos(lasts.as_nanos()))
    }

    /// Returns the texts of what must hold in at least one run.
    pub fn sometimes(&self) -> Vec<String> {
        let hunt = self.lab.plan.hunt.iter();
        hunt.flat_map(|hunt| hunt.asked(Modality::Sometimes)).map(|property| property.text.clone()).collect()
    }

    /// The name of the lab with this number. All names are as long as one another: they are in the environment of programs.
    fn name(&self, number: usize) -> String {
        let suffix = format!("-h{number:02}");
        let room = LONGEST_NAME - suffix.len();
        let name: String = own_name(&self.lab.plan.name).chars().take(room).collect();
        format!("{name}{suffix}")
    }

    /// The text of a run with these faults, whose lab has the name with this number.
    pub(crate) fn play(&self, number: usize, faults: &[Fault], purpose: Purpose) -> Result<String, HuntError> {
        let entries = entries_of(faults);
        let expect = self.judge.expectations(false);
        let name = self.name(number);
        let run = HuntedRun {
            name: &name,
            entries: &entries,
            expect: &expect,
            has_journal: purpose == Purpose::Baseline,
            is_bare: purpose != Purpose::Finding,
        };
        Ok(self.text.play(&run)?.1)
    }

    /// The text of a lab with these faults that is kept, and fails by itself where the properties are expectations.
    pub(crate) fn kept(&self, faults: &[Fault]) -> Result<String, HuntError> {
        let entries = entries_of(faults);
        let (name, expect) = (self.name(KEPT), self.judge.expectations(true));
        let run = HuntedRun { name: &name, entries: &entries, expect: &expect, ..HuntedRun::default() };
        Ok(self.text.play(&run)?.1)
    }
}

/// The entries of the timeline that faults are, in the order of their beginnings.
fn entries_of(faults: &[Fault]) -> Vec<String> {
    let mut faults: Vec<&Fault> = faults.iter().collect();
    faults.sort_by_key(|fault| fault.at_ns);
    faults.into_iter().flat_map(|fault| fault.entries.clone()).collect()
}

/// The name of a lab without what a hunt has put behind it: a finding is hunted under the same name.
fn own_name(name: &str) -> &str {
    let is_slot = |slot: &str| slot.len() == 2 && slot.bytes().all(|byte| byte.is_ascii_digit());
    name.rsplit_once("-h").filter(|(_, slot)| is_slot(slot)).map_or(name, |(own, _)| own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Target, HuntError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a-lab-with-a-name.yaml");
        std::fs::write(&path, text).unwrap();
        Target::read(&path)
    }

    const LAB: &str = "duration: 20 s\nnodes: [n1, n2, n3]\nlinks: {lan: {ends: [n1, n2, n3]}}\n\
                       timeline: [{on: n1, run: ./ask, as: ask}]\n";

    #[test]
    fn only_virtual_time_can_be_hunted() {
        let real = read(&format!("{LAB}hunt: {{}}\n")).unwrap_err();
        assert!(real.to_string().contains("needs `clock: virtual`") && real.to_string().contains("is real"), "{real}");
        let many = read(&format!("{LAB}clock: virtual\nrepeat: 3\nhunt: {{}}\n")).unwrap_err();
        assert!(many.to_string().contains("leave these out"), "{many}");
    }

    #[test]
    fn another_seed_is_all_that_changes() {
        let target = read(&format!("{LAB}seed: 3\nclock: virtual\nhunt: {{faults: none, runs: 4}}\n")).unwrap();
        let other = target.seeded(Seed::new(u64::MAX)).unwrap();
        assert_eq!((other.lab.plan.seed, other.runs()), (Seed::new(u64::MAX), Some(4)));
        let with_seed = |text: &str, seed: &str| text.replace(&format!("seed: {seed}\n"), "");
        assert_eq!(with_seed(other.text(), "18446744073709551615"), with_seed(&target.text.seeded(Seed::new(5)), "5"));
        assert!(other.play(0, &[], Purpose::Search).unwrap().contains("seed: 18446744073709551615"));
    }

    #[test]
    fn what_is_kept_is_a_lab_that_fails_by_itself() {
        let hunt = "hunt: {faults: {cut: on}, always: [ask.exit == 0], never: [ask.exit == 3], sometimes: ['log ask matches \"x\"']}";
        let target = read(&format!("{LAB}clock: virtual\n{hunt}\n")).unwrap();
        let fault = |at_ns: u64| Fault {
            kind: "cut".into(),
            rank: 1,
            at_ns,
            for_ns: 5,
            nodes: Vec::new(),
            entries: vec![format!("{{at: {at_ns} ns, link: lan-n1, down: 5 ns}}")],
        };
        let kept = target.kept(&[fault(7), fault(3)]).unwrap();
        let (again, lab) = HuntLab::read(&kept, "minimal.yaml").unwrap();
        assert_eq!(lab.plan.expect.len(), 1, "{kept}");
        assert!(kept.find("at: 3 ns").unwrap() < kept.find("at: 7 ns").unwrap(), "{kept}");
        assert!(lab.plan.hunt.unwrap().faults.is_empty());
        assert_eq!(lab.plan.name, "a-lab-with-a-name-h99");
        assert_eq!(again.text(), kept);
        assert_eq!(own_name("kv-h00"), "kv");
        assert_eq!(own_name("kv-host"), "kv-host");
        let played = target.play(3, &[fault(7)], Purpose::Search).unwrap();
        assert!(played.contains("a-lab-with-a-name-h03") && played.contains("ask.exit == 3"), "{played}");
        assert!(target.play(3, &[], Purpose::Baseline).unwrap().contains("journal: all"));
    }
}
