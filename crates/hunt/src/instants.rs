//! Instants that matter: those of a run without faults at which something happened.
//!
//! Most of a run's time is the same as any other: a heartbeat more or less. What is rare is where failures are, so that instants are drawn
//! by what happened there: each kind of event with the same probability, however often it happened, and a little before or after.

use crate::templates::log_lines;
use netloom_link::Spans;
use netloom_results::journal::{JOURNAL, JournalReader, Record};
use netloom_results::{LoggedEvent, flushes};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// So many instants are kept of a kind of event, at most: the first ones.
const MOST_OF_A_KIND: usize = 1_000;
/// So many packets are read.
const MOST_PACKETS: usize = 1_000_000;
/// One instant of so many is drawn from all of the time.
const UNIFORM: u64 = 4;
/// How far from an event an instant is: from nothing to beyond what retransmissions wait for, in nanoseconds.
const OFFSETS: [u64; 8] = [0, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 300_000_000];
/// The distance of instants that are tried systematically from their events: nearer than anything else, in nanoseconds.
const BESIDE: u64 = 1_000;
/// Ports from here on are the kernel's choice (`net.ipv4.ip_local_port_range`), and tell nothing.
const EPHEMERAL: u16 = 32_768;

/// The instants of a run at which something happened, by kinds of events.
#[derive(Clone, Debug, Default)]
pub struct Instants {
    kinds: Vec<Vec<u64>>,
}

impl Instants {
    /// Reads the instants from the results of a run.
    pub fn of_results(folder: &Path) -> Self {
        let mut kinds: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let mut add = |kind: String, at: u64| {
            let all = kinds.entry(kind).or_default();
            if all.len() < MOST_OF_A_KIND {
                all.push(at);
            }
        };
        for event in events(folder) {
            let command = event.details.get("command").and_then(|name| name.as_str()).unwrap_or_default();
            if let Some(at) = event.time_ns {
                add(format!("{} {command}", event.event), at);
            }
        }
        // What a crash leaves on a disk changes there.
        flushes(folder).into_iter().for_each(|(node, at)| add(format!("flush of {node}"), at));
        packets(folder, &mut add);
        log_lines(folder, &mut add);
        Self { kinds: kinds.into_values().collect() }
    }

    /// Creates them of events of known kinds.
    #[cfg(test)]
    pub(crate) fn of_kinds(kinds: Vec<Vec<u64>>) -> Self {
        Self { kinds }
    }

    /// Returns how many kinds of events there are.
    pub fn kinds(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the instants below `end` that are tried one by one, in order: shortly before and after the first event of each kind, the last one
    /// and the one in the middle.
    pub(crate) fn candidates(&self, end: u64) -> Vec<u64> {
        let mut all = BTreeSet::new();
        for kind in &self.kinds {
            let own = [kind.first(), kind.get(kind.len() / 2), kind.last()];
            for at in own.into_iter().flatten() {
                all.extend([at.saturating_sub(BESIDE), at + BESIDE].into_iter().filter(|at| *at < end));
            }
        }
        all.into_iter().collect()
    }

    /// Draws an instant below `end`.
    pub(crate) fn draw(&self, random: &mut Spans, end: u64) -> u64 {
        if self.kinds.is_empty() || random.below(UNIFORM) == 0 {
            return random.below(end);
        }
        let kind = &self.kinds[place(random, self.kinds.len())];
        let at = kind[place(random, kind.len())];
        let reach = OFFSETS[place(random, OFFSETS.len())];
        let offset = random.below(2 * reach + 1);
        let drawn = (at + offset).saturating_sub(reach);
        // What happened in the quiet time is of no use.
        if drawn < end { drawn } else { random.below(end) }
    }
}

/// The place of one of so many.
pub(crate) fn place(random: &mut Spans, count: usize) -> usize {
    usize::try_from(random.below(count as u64)).unwrap_or(0)
}

/// Reads the log of events, as far as it can be read.
fn events(folder: &Path) -> Vec<LoggedEvent> {
    let Ok(file) = File::open(folder.join("events.jsonl")) else { return Vec::new() };
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    lines.filter_map(|line| serde_json::from_str(&line).ok()).collect()
}

/// Reads the journal, as far as it can be read: when packets came to a link, by what they are.
fn packets(folder: &Path, add: &mut impl FnMut(String, u64)) {
    let Ok(reader) = JournalReader::open(&folder.join(JOURNAL)) else { return };
    let mut flows = BTreeSet::new();
    for record in reader.map_while(Result::ok).take(MOST_PACKETS) {
        let Ok(at) = u64::try_from(record.arrived_ns) else { continue };
        if let Some(flow) = &record.flow {
            let ends = format!("{} {} {}", flow.source, flow.destination, flow.protocol);
            let name = format!("{ends} {} {}", flow.source_port, flow.destination_port);
            if flows.insert(name) {
                add(format!("first of {ends}"), at);
            }
        }
        add(kind(&record), at);
    }
}

/// Names what packets of the same kind have in common: the pipe, the protocol, the port of the service, and about the size.
fn kind(record: &Record) -> String {
    let port = |port: u16| if port < EPHEMERAL { port } else { 0 };
    let size = record.size_bytes.max(1).ilog2();
    let flow = record.flow.as_ref().map_or_else(String::new, |flow| {
        format!("{} {} {}", flow.protocol, port(flow.source_port), port(flow.destination_port))
    });
    format!("{} {flow} {size}", record.pipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_units::Seed;

    #[test]
    fn rare_events_are_drawn_as_often_as_frequent_ones() {
        let folder = tempfile::tempdir().unwrap();
        let line = |ns: u64, what: &str| format!("{{\"time_ns\":{ns},\"since_start_ns\":0,\"event\":\"{what}\"}}\n");
        let frequent: String = (0..500).map(|number| line(1_000_000_000 + number, "tick")).collect();
        std::fs::write(folder.path().join("events.jsonl"), frequent + &line(7_000_000_000, "election")).unwrap();
        let instants = Instants::of_results(folder.path());
        assert_eq!(instants.kinds(), 2);
        std::fs::write(folder.path().join("disks.csv"), "3.000000000,n1,flush,0,0,0.005000000,\n").unwrap();
        let with_disk = Instants::of_results(folder.path());
        assert!([3_004_999_000, 3_005_001_000].iter().all(|at| with_disk.candidates(u64::MAX).contains(at)));
        let mut random = Spans::new(Seed::new(1));
        let drawn: Vec<u64> = (0..2_000).map(|_| instants.draw(&mut random, 10_000_000_000)).collect();
        let near = |at: u64| drawn.iter().filter(|one| one.abs_diff(at) <= 300_000_000).count();
        // Three quarters are near events, and half of these near each.
        assert!(
            near(1_000_000_000) > 650 && near(7_000_000_000) > 650,
            "{} {}",
            near(1_000_000_000),
            near(7_000_000_000)
        );
        assert!(drawn.iter().any(|at| (2_000_000_000..6_000_000_000).contains(at)));
        assert!(drawn.iter().all(|at| *at < 10_000_000_000));
    }

    #[test]
    fn without_results_every_instant_is_as_good_as_another() {
        let instants = Instants::of_results(Path::new("/nowhere"));
        let mut random = Spans::new(Seed::new(1));
        assert!((0..100).all(|_| instants.draw(&mut random, 1_000) < 1_000));
    }
}
