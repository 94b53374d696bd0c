//! What happens to one lab: the lab file and everything that is done to it. A pure value, so that it can be kept and
//! run again.

use crate::topology::{self, Topology};
use netloom_testing::chance::Chance;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Script {
    /// Which of the labs that this seed makes.
    pub(crate) seed: u64,
    pub(crate) index: u64,
    /// Started by a user without privileges, if the soak test itself is run by root.
    pub(crate) as_nobody: bool,
    /// Whether it is brought up and taken down, rather than run.
    pub(crate) up: bool,
    /// Whether it has kernel nodes.
    pub(crate) kernels: bool,
    /// In a few words.
    pub(crate) summary: String,
    pub(crate) lab: String,
    pub(crate) actions: Vec<Timed>,
    /// How long it may take in all, in seconds, before it counts as hanging.
    pub(crate) patience_s: u64,
}

/// An action and its moment, in wall time since netloom was started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timed {
    pub(crate) at_ms: u64,
    #[serde(flatten)]
    pub(crate) action: Action,
}

/// What can be done to a lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Action {
    /// `netloom set`
    Set { link: String, change: String },
    /// `netloom exec`
    Exec { node: String, argv: Vec<String> },
    /// `netloom stats --once --json`
    Stats,
    /// `netloom ps --json`
    Ps,
    /// `netloom capture` into a file
    Capture { link: String },
    /// The lab process is stopped and continues.
    Pause { ms: u64 },
    /// One of its processes is killed.
    Kill { victim: Victim },
    /// Ctrl-C
    Interrupt,
    /// SIGTERM
    Terminate,
    /// `netloom down`
    Down,
}

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Victim {
    /// The process that the user started, or the one in the background after `netloom up`.
    Guard,
    /// The process in which the lab lives.
    Lab,
    /// Both in one blow.
    Both,
    /// The first process of a node, or its kernel.
    Node(usize),
    /// A program in a node.
    Program(usize),
}

impl Action {
    /// Whether the lab may end by it.
    pub(crate) fn may_end_the_lab(&self) -> bool {
        matches!(self, Self::Kill { .. } | Self::Interrupt | Self::Terminate | Self::Down)
    }
}

/// How long after the start the latest action comes.
const LONGEST_MS: u64 = 5_000;

impl Script {
    /// The lab of this number. `stock` is a folder with the files that models name; `kernels`: whether there is one for
    /// kernel nodes.
    pub(crate) fn draw(seed: u64, index: u64, stock: &Path, kernels: bool) -> Self {
        let mut chance = Chance::new(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95)).fork();
        let as_nobody = chance.percent(50);
        let topology = topology::draw(&mut chance.fork(), stock, kernels);
        // The time of a lab that is up in virtual time stands still.
        let up = chance.percent(35) && topology.clock != "virtual";
        let actions = actions(&mut chance, &topology, up);
        let patience_s = if topology.kernels { 240 } else { 90 };
        Self {
            seed,
            index,
            as_nobody,
            up,
            kernels: topology.kernels,
            summary: topology.summary(),
            lab: topology.text,
            actions,
            patience_s,
        }
    }
}

fn actions(chance: &mut Chance, topology: &Topology, up: bool) -> Vec<Timed> {
    let mut actions: Vec<Timed> = (0..chance.below(7))
        .map(|_| Timed { at_ms: chance.millis(100, LONGEST_MS), action: harmless(chance, topology) })
        .collect();
    if chance.percent(60) {
        // Setting up takes some tens of milliseconds and is as interesting as all the rest.
        let at_ms = if chance.percent(25) && !up { chance.millis(0, 120) } else { chance.millis(100, LONGEST_MS) };
        actions.push(Timed { at_ms, action: ending(chance) });
    }
    actions.sort_by_key(|timed| timed.at_ms);
    actions
}

fn harmless(chance: &mut Chance, topology: &Topology) -> Action {
    let link = topology.links[chance.below(topology.links.len())].clone();
    let [from, to] = [0, 1].map(|_| topology.nodes[chance.below(topology.nodes.len())].clone());
    match chance.below(10) {
        0..=3 => Action::Set { link, change: topology::change(chance) },
        4 => Action::Set { link, change: if chance.percent(50) { "state=down" } else { "state=up" }.into() },
        5 | 6 => {
            let argv = ["ping", "-c", "5", "-i", "0.05", "-W", "1", &to].map(str::to_owned);
            Action::Exec { node: from, argv: argv.into() }
        }
        7 => Action::Stats,
        8 if chance.percent(50) => Action::Ps,
        8 => Action::Pause { ms: chance.millis(1, 300) },
        _ => Action::Capture { link },
    }
}

fn ending(chance: &mut Chance) -> Action {
    let number = chance.below(16);
    match chance.below(9) {
        0 | 1 => Action::Interrupt,
        2 => Action::Terminate,
        3 => Action::Down,
        4 => Action::Kill { victim: Victim::Guard },
        5 => Action::Kill { victim: Victim::Lab },
        6 => Action::Kill { victim: Victim::Both },
        7 => Action::Kill { victim: Victim::Node(number) },
        _ => Action::Kill { victim: Victim::Program(number) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_number_say_everything() {
        let stock = tempfile::tempdir().expect("a folder");
        topology::fill_stock(stock.path()).expect("the repository's files");
        for index in 0..60 {
            let [one, other] = [0, 1].map(|_| Script::draw(7, index, stock.path(), true));
            let text = serde_json::to_string(&one).expect("plain data");
            assert_eq!(text, serde_json::to_string(&other).expect("plain data"));
            let again: Script = serde_json::from_str(&text).expect("what was written");
            assert_eq!(again.actions.len(), one.actions.len());
            assert!(netloom_lab::parse(&one.lab, &stock.path().join("soak.yaml").display().to_string()).is_ok());
        }
    }
}
