//! Which programs run in which nodes, and when they are to be stopped.

use netloom_host::node::ProcessId;
use netloom_units::{Duration, Instant};
use std::collections::BTreeMap;

/// A program of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProcessKey {
    /// The node's place in the plan.
    pub(crate) node: usize,
    /// The number that the node's agent gave it.
    pub(crate) process: ProcessId,
}

/// Why a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The command or service of this number.
    Command(usize),
    /// Asks whether the service of this number is ready.
    Probe(usize),
    /// Packs files of its node: the pack of this number.
    Pack(usize),
    /// Joins a connection from this machine to a port of its node.
    PortForward,
    /// A client of the control socket started it.
    Client(u64),
}

/// A running program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) purpose: Purpose,
    pub(crate) started: Instant,
    /// How long it has between being asked to end and being killed.
    grace: Duration,
    /// Whether the timeline holds it.
    held: bool,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It may run as long as it likes.
    Open,
    /// To be asked to end at this instant.
    AskAt(Instant),
    /// It was asked; to be killed at this instant.
    KillAt(Instant),
    /// It was killed, and its end is awaited.
    Killed,
}

/// A signal that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueSignal {
    pub(crate) key: ProcessKey,
    pub(crate) signal: i32,
    pub(crate) purpose: Purpose,
    /// Since when.
    pub(crate) at: Instant,
    /// Whether the program is held, and hears of no signal but SIGKILL before it goes on.
    pub(crate) held: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    running: BTreeMap<ProcessKey, Process>,
}

impl Processes {
    /// A program was started at `now`, and is to be asked to end after `lasting`, if that is given. Whenever it is asked, it
    /// has this `grace` before it is killed.
    pub(crate) fn add(
        &mut self,
        key: ProcessKey,
        purpose: Purpose,
        now: Instant,
        lasting: Option<Duration>,
        grace: Duration,
    ) {
        let end = lasting.map_or(End::Open, |span| End::AskAt(now + span));
        self.running.insert(key, Process { purpose, started: now, grace, held: false, end });
    }

    /// A program has ended; none if it is not known.
    pub(crate) fn remove(&mut self, key: ProcessKey) -> Option<Process> {
        self.running.remove(&key)
    }

    /// A node has died, and all its programs with it.
    pub(crate) fn remove_node(&mut self, node: usize) {
        self.running.retain(|key, _| key.node != node);
    }

    /// The programs of a node.
    pub(crate) fn keys_in(&self, node: usize) -> impl Iterator<Item = ProcessKey> + '_ {
        self.running.keys().copied().filter(move |key| key.node == node)
    }

    /// All nodes have gone.
    pub(crate) fn clear(&mut self) {
        self.running.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Whether a program runs for a purpose that `wanted` holds for.
    pub(crate) fn any(&self, wanted: impl Fn(Purpose) -> bool) -> bool {
        self.running.values().any(|process| wanted(process.purpose))
    }

    /// The program that runs for `purpose`.
    pub(crate) fn key_of(&self, purpose: Purpose) -> Option<ProcessKey> {
        self.running.iter().find(|(_, process)| process.purpose == purpose).map(|(key, _)| *key)
    }

    /// Has all programs that `wanted` holds for asked to end, now.
    pub(crate) fn stop(&mut self, now: Instant, wanted: impl Fn(Purpose) -> bool) {
        for process in self.running.values_mut().filter(|process| wanted(process.purpose)) {
            if matches!(process.end, End::Open | End::AskAt(_)) {
                process.end = End::AskAt(now);
            }
        }
    }

    /// All programs of a node were asked to end by whoever stops it; they are killed after their grace, or after `least` if that is longer.
    /// Returns the longest of these times.
    pub(crate) fn ask_node(&mut self, node: usize, now: Instant, least: Duration) -> Duration {
        let mut longest = least;
        for (_, process) in self.running.iter_mut().filter(|(key, _)| key.node == node) {
            let grace = process.grace.max(least);
            longest = longest.max(grace);
            process.held = false;
            if matches!(process.end, End::Open | End::AskAt(_)) {
                process.end = End::KillAt(now + grace);
            }
        }
        longest
    }

    /// All programs of a node were killed.
    pub(crate) fn kill_node(&mut self, node: usize) {
        let own = self.running.iter_mut().filter(|(key, _)| key.node == node);
        own.for_each(|(_, process)| process.end = End::Killed);
    }

    /// Whether a program runs in a node.
    pub(crate) fn any_in(&self, node: usize) -> bool {
        self.running.keys().any(|key| key.node == node)
    }

    /// All that run, each with how long it may take to end.
    pub(crate) fn graces(&self) -> impl Iterator<Item = (Purpose, Duration)> {
        self.running.values().map(|process| (process.purpose, process.grace))
    }

    /// Has the program that runs for `purpose` killed, as of `at`; none if there is none, or it was killed already.
    pub(crate) fn kill(&mut self, purpose: Purpose, at: Instant) -> Option<ProcessKey> {
        let (key, process) = self.running.iter_mut().find(|(_, process)| process.purpose == purpose)?;
        if process.end == End::Killed {
            return None;
        }
        process.end = End::KillAt(at);
        Some(*key)
    }

    /// A program was killed by the timeline, as one process of several.
    pub(crate) fn note_killed(&mut self, key: ProcessKey) {
        if let Some(process) = self.running.get_mut(&key) {
            process.end = End::Killed;
        }
    }

    /// The timeline holds a program, as one process of several, or lets it go on.
    pub(crate) fn note_held(&mut self, key: ProcessKey, held: bool) {
        if let Some(process) = self.running.get_mut(&key) {
            process.held = held;
        }
    }

    /// Notes whether the program that runs for `purpose` is held; none if there is none, or nothing changes.
    pub(crate) fn hold(&mut self, purpose: Purpose, held: bool) -> Option<ProcessKey> {
        let (key, process) = self.running.iter_mut().find(|(_, process)| process.purpose == purpose)?;
        let changes = process.held != held && process.end != End::Killed;
        process.held = held;
        changes.then_some(*key)
    }

    /// Has all programs killed, now.
    pub(crate) fn hurry(&mut self, now: Instant) {
        let waiting = self.running.values_mut().filter(|process| process.end != End::Killed);
        waiting.for_each(|process| process.end = End::KillAt(now));
    }

    /// The signals that are due at `now`; each is given once.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<DueSignal> {
        let signals = self.running.iter_mut().filter_map(|(key, process)| {
            let at = process.next()?;
            let signal = process.advance(now)?;
            Some(DueSignal { key: *key, signal, purpose: process.purpose, at, held: std::mem::take(&mut process.held) })
        });
        signals.collect()
    }

    /// When the next signal is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.running.values().filter_map(Process::next).min()
    }
}

impl Process {
    /// Whether netloom asked it to end.
    pub(crate) fn was_stopped(&self) -> bool {
        matches!(self.end, End::KillAt(_) | End::Killed)
    }

    fn next(&self) -> Option<Instant> {
        match self.end {
            End::AskAt(at) | End::KillAt(at) => Some(at),
            End::Open | End::Killed => None,
        }
    }

    fn advance(&mut self, now: Instant) -> Option<i32> {
        match self.end {
            End::AskAt(at) if at <= now => {
                self.end = End::KillAt(now + self.grace);
                Some(libc::SIGTERM)
            }
            End::KillAt(at) if at <= now => {
                self.end = End::Killed;
                Some(libc::SIGKILL)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only the host crate numbers processes; what travels between processes can be read here, too.
    fn key(process: u64) -> ProcessKey {
        ProcessKey { node: 3, process: serde_json::from_value(process.into()).unwrap() }
    }

    const GRACE: Duration = Duration::from_secs(1);

    fn second(value: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(value)
    }

    #[test]
    fn a_program_is_asked_then_killed() {
        let mut processes = Processes::default();
        let this = key(7);
        processes.add(this, Purpose::Command(0), second(1), Some(Duration::from_secs(4)), GRACE);
        assert_eq!(processes.next(), Some(second(5)));
        assert!(processes.due(second(4)).is_empty());
        let due =
            |signal, at| DueSignal { key: this, signal, purpose: Purpose::Command(0), at: second(at), held: false };
        assert_eq!(processes.due(second(5)), [due(libc::SIGTERM, 5)]);
        assert!(processes.due(second(5)).is_empty());
        assert_eq!(processes.due(second(7)), [due(libc::SIGKILL, 6)]);
        assert_eq!(processes.next(), None);
        assert!(processes.remove(this).unwrap().was_stopped());
        assert!(processes.is_empty());
    }

    #[test]
    fn stopping_chooses_by_purpose_and_only_once() {
        let mut processes = Processes::default();
        let (this, other) = (key(7), key(8));
        processes.add(this, Purpose::Command(0), second(1), None, GRACE);
        processes.add(other, Purpose::Client(1), second(1), None, GRACE);
        processes.stop(second(2), |purpose| purpose == Purpose::Command(0));
        assert_eq!(processes.due(second(2)).len(), 1);
        processes.stop(second(2), |purpose| purpose == Purpose::Command(0));
        assert!(processes.due(second(2)).is_empty());
        assert!(!processes.remove(other).unwrap().was_stopped());
    }

    #[test]
    fn the_programs_of_a_node_that_stops_are_killed_and_asked_by_others() {
        let mut processes = Processes::default();
        let other = ProcessKey { node: 4, ..key(9) };
        for (this, grace) in [(key(7), 2), (key(8), 5), (other, 9)] {
            processes.add(this, Purpose::Client(0), second(0), None, Duration::from_secs(grace));
        }
        assert_eq!(processes.ask_node(3, second(1), Duration::from_secs(3)), Duration::from_secs(5));
        assert!(processes.due(second(3)).is_empty());
        assert_eq!(
            processes.due(second(4)).iter().map(|due| (due.key, due.signal)).collect::<Vec<_>>(),
            [(key(7), libc::SIGKILL)]
        );
        processes.kill_node(3);
        assert_eq!((processes.next(), processes.any_in(3), processes.any_in(5)), (None, true, false));
    }

    #[test]
    fn a_program_has_its_own_grace_unless_there_is_a_hurry() {
        let mut processes = Processes::default();
        let (patient, hurried) = (key(7), key(8));
        for this in [patient, hurried] {
            processes.add(this, Purpose::Command(0), second(0), None, Duration::from_secs(10));
        }
        processes.stop(second(1), |_| true);
        assert_eq!(processes.due(second(1)).len(), 2);
        assert!(processes.due(second(10)).is_empty());
        processes.remove(patient).unwrap();
        processes.hurry(second(10));
        assert_eq!(processes.due(second(10)).iter().map(|due| due.signal).collect::<Vec<_>>(), [libc::SIGKILL]);
    }
}
