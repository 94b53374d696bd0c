//! What `netloom hunt` searches, and what it judges.

use super::hunt_faults::{FAULTS, MOST_NODES, NODES, among, faults};
use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::{AboveZero, Command, Filled, OrZero, Placed, Whole, forms};
use crate::keyed::sections;
use crate::plan::{Argv, Modality, Tolerance};
use crate::scalar::{filled, integer, word};
use crate::section::{Form, Kind, Section, keys};
use crate::spec::{Among, FaultSpec, TestSpec};
use crate::words::{Words, words};
use crate::yaml::{Content, Node};
use netloom_units::Duration;

/// More runs than these nobody waits for.
const MOST_RUNS: u64 = 10_000_000;
const PROPERTIES: Kind = Kind::list(&Kind::OneOf(&[Filled::KIND, Kind::Section(&CHECKER)]), 0);

words!(Tolerance { "minority" = Self::Minority, "all" = Self::All });

forms! {
    /// The nodes that faults are about; none: the usual ones.
    pub(crate) struct UnderTest = Among, NODES, noting |node: &Node, errors: &mut Errors| Some(among(Some(node), "a node", errors));
    /// The kinds of faults that are drawn.
    pub(crate) struct Faults = Vec<FaultSpec>, Kind::OneOf(&[Kind::Word(&["none"]), Kind::Section(&FAULTS)]),
        noting |node: &Node, errors: &mut Errors| Some(faults(node, errors));
    /// The number of nodes that are faulty at once, at most.
    pub(crate) struct Tolerated = Tolerance, Kind::OneOf(&[Kind::Word(Tolerance::NAMES), Kind::Integer { least: 1, most: MOST_NODES }]), tolerance;
    /// Properties, as far as they can be read.
    pub(crate) struct Properties = Vec<TestSpec>, PROPERTIES, noting |node: &Node, errors: &mut Errors| {
        Some(list(node, errors).iter().filter_map(|item| test(item, errors)).collect())
    };
}

/// The key of the lab file.
pub(crate) const HUNTED: Section = keys! {
    /// What `netloom hunt` searches: faults with which something that must hold does not. A run ignores it.
    hunt = HuntSpec::KIND, "{runs: 200, faults: {partition: [halves]}, quiet: 2 s}";
};

sections! {
    /// A search for faults with which something that must hold does not hold.
    #[derive(Debug)]
    pub(crate) struct HuntSpec = "hunt" {
        at place;
        /// How many runs are played. Default: 200, or as many as there is time for with `for`.
        runs: Whole<u64, 1, MOST_RUNS>, "2000";
        /// For how long runs are played, in wall time. Default: until all runs have been played.
        r#for: AboveZero<Duration>, "30 min";
        /// The nodes of the system under test, which faults are about. Default: those with services, or all that run programs.
        nodes: UnderTest, "[client, server]" else None;
        /// The kinds of faults that are drawn; none: no faults. Default: those that every system has to survive.
        faults: Faults, "{partition: [isolate, halves], kill: on}";
        /// How many nodes are faulty at once, at most: minority, fewer than half of them; all; or a number. Default: minority.
        tolerate: Tolerated, "minority" else Tolerance::default();
        /// The time at the end of a run in which there are no faults, and after which `eventually` is asked. Default: 5 s.
        quiet: Placed<OrZero<Duration>>, "20 s";
        /// What must hold in every run: expectations, lines of logs, exit codes, and commands that look at the results.
        always: Properties, "[no log server matches \"panic\"]" else Vec::new();
        /// What must hold in every run after the time without faults.
        eventually: Properties, "[log server matches \"converged\"]" else Vec::new();
        /// What must hold in at least one of all runs.
        sometimes: Properties, "[log server matches \"became leader\" >= 2]" else Vec::new();
        /// What must hold in no run.
        never: Properties, "[log server matches \"lost\"]" else Vec::new();
        /// The name of the file in which programs note their assertions by an SDK of Antithesis, and which their nodes collect.
        assertions: Placed<Filled>, "sdk.jsonl";
    }

    /// A command that judges the results of a run.
    pub(crate) const CHECKER = "hunt_checker" {
        /// The command. It runs on this machine, in the folder in which netloom was started, finds the results at $NETLOOM_RESULTS, and
        /// exits with 0 if the property holds.
        command: Command, required "./check $NETLOOM_RESULTS";
    }
}

impl HuntSpec {
    /// Returns all properties, each with the runs in which it has to hold.
    pub(crate) fn properties(&self) -> impl Iterator<Item = (Modality, &TestSpec)> {
        let all = [
            (Modality::Always, &self.always),
            (Modality::Eventually, &self.eventually),
            (Modality::Sometimes, &self.sometimes),
            (Modality::Never, &self.never),
        ];
        all.into_iter().flat_map(|(modality, tests)| tests.iter().map(move |test| (modality, test)))
    }
}

/// Reads a property.
fn test(node: &Node, errors: &mut Errors) -> Option<TestSpec> {
    if matches!(node.content, Content::Map(_)) {
        let fields = Fields::open(node, &CHECKER, errors)?;
        let command: Argv = fields.form::<Command>("command", errors)?;
        let text = format!("command: {command}");
        return Some(TestSpec::Command(command, node.spanned(text)));
    }
    let text = keep(filled(node), errors)?;
    Some(TestSpec::Text(node.spanned(text)))
}

fn tolerance(node: &Node) -> Result<Tolerance, Diagnostic> {
    if node.plain().is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit())) {
        return integer(node, 1, MOST_NODES).map(Tolerance::Count);
    }
    word(node, Tolerance::WORDS)
}
