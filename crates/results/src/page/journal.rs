//! What the journal of a run adds to its page: the delays of packets in every pipe, and TCP's sequence numbers over time.

use super::columns;
use crate::journal::{Fate, JOURNAL, JournalPipe, JournalReader, Record};
use netloom_packet::Flow;
use netloom_units::quantile;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::SocketAddr;
use std::path::Path;

/// How many records are read at most: more would make the end of a run wait.
const MOST_RECORDS: u64 = 600_000;
/// How many pipes and flows are kept while it is read, and how many flows are shown: those that sent most.
const MOST_PIPES: usize = 256;
const MOST_FLOWS: usize = 256;
const MOST_SHOWN: usize = 8;
/// How many values of a pipe and points of a flow are kept.
const MOST_VALUES: usize = 20_000;
const MOST_POINTS: usize = 3_000;
/// Into how many equal parts a distribution is cut.
const PARTS: usize = 200;
const TCP: u8 = 6;
/// Packets above this size carry data: an acknowledgement has at most the headers of IPv6 and TCP with all options, 40 + 60 bytes.
const MOST_OF_HEADERS: u32 = 100;
/// Records are in the order of their ends. So many are put into that of their arrivals, which is exact as long as no pipe has more inside.
const MOST_SORTED: usize = 65_536;

/// All of that.
#[derive(Debug, Default, Serialize)]
pub(super) struct FromJournal {
    /// The records that were read.
    records: u64,
    delays: Vec<Delays>,
    flows: Vec<Sequence>,
}

/// The delays of a pipe, from the end of the transmission to when the packet was due.
#[derive(Debug, Serialize)]
struct Delays {
    #[serde(flatten)]
    pipe: JournalPipe,
    packets: u64,
    measured_ns: Vec<u64>,
}

/// A flow of TCP, where it enters its first pipe: bytes since its first packet.
#[derive(Debug, Serialize)]
struct Sequence {
    name: String,
    pipe: String,
    packets: u64,
    bytes: u64,
    #[serde(serialize_with = "columns::full")]
    t: Vec<f64>,
    #[serde(serialize_with = "columns::full")]
    sequence: Vec<f64>,
    again: Vec<(f64, u64)>,
    dropped: Vec<(f64, u64)>,
}

/// At most so many of many, evenly: of more than there is room for, every second, fourth, eighth.
struct Thinned<T> {
    most: usize,
    every: u64,
    seen: u64,
    kept: Vec<T>,
}

impl<T> Thinned<T> {
    fn new(most: usize) -> Self {
        Self { most, every: 1, seen: 0, kept: Vec::new() }
    }

    fn add(&mut self, value: T) {
        if self.seen.is_multiple_of(self.every) {
            if self.kept.len() == self.most {
                let mut is_kept = false;
                self.kept.retain(|_| {
                    is_kept = !is_kept;
                    is_kept
                });
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.kept.push(value);
            }
        }
        self.seen += 1;
    }
}

/// A flow while it is read.
struct Track {
    /// The pipe that it enters first.
    pipe: u32,
    first: u32,
    /// Behind the furthest byte so far, since the first packet.
    end: u64,
    /// The same before the instant of the last packet: the segments of a super-packet arrive at once, in no order.
    earlier_end: u64,
    last_ns: i64,
    packets: u64,
    bytes: u64,
    points: Thinned<(i64, u64)>,
    again: Thinned<(i64, u64)>,
    dropped: Thinned<(i64, u64)>,
}

/// Reads the journal, if there is one, and says what could not be read.
pub(super) fn gather(folder: &Path, notes: &mut Vec<String>) -> Option<FromJournal> {
    let path = folder.join(JOURNAL);
    // A stranger's folder may have something else of that name, which never ends.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let reader = match JournalReader::open(&path) {
        Ok(reader) => reader,
        Err(error) => {
            notes.push(format!("{JOURNAL} could not be read: {error}"));
            return None;
        }
    };
    let pipes = reader.pipes().to_vec();
    let mut delays: BTreeMap<u32, Thinned<u64>> = BTreeMap::new();
    let mut sequences = Sequences::default();
    let mut records = 0;
    for record in reader {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                notes.push(format!("{JOURNAL} could not be read further: {error}"));
                break;
            }
        };
        records += 1;
        add_delay(&mut delays, &record);
        sequences.add(&record);
        if records == MOST_RECORDS {
            notes.push(format!("of {JOURNAL}, the page has the first {MOST_RECORDS} packets"));
            break;
        }
    }
    let mut chosen: Vec<(Ends, Track)> = sequences.finish().into_iter().filter(|(_, track)| track.bytes > 0).collect();
    chosen.sort_by_key(|(_, track)| Reverse(track.bytes));
    chosen.truncate(MOST_SHOWN);
    let name = |pipe: u32| pipes.get(pipe as usize).cloned();
    let of_pipe = |(pipe, values): (u32, Thinned<u64>)| distribution(name(pipe)?, values);
    Some(FromJournal {
        records,
        delays: delays.into_iter().filter_map(of_pipe).collect(),
        flows: chosen.into_iter().map(|(ends, track)| shown(ends, name(track.pipe), track)).collect(),
    })
}

fn add_delay(delays: &mut BTreeMap<u32, Thinned<u64>>, record: &Record) {
    let (Some(sent), Some(due)) = (record.sent_ns, record.due_ns) else { return };
    if delays.len() < MOST_PIPES || delays.contains_key(&record.pipe) {
        let values = delays.entry(record.pipe).or_insert_with(|| Thinned::new(MOST_VALUES));
        values.add(u64::try_from(due.saturating_sub(sent)).unwrap_or(0));
    }
}

fn distribution(pipe: JournalPipe, values: Thinned<u64>) -> Option<Delays> {
    let mut sorted = values.kept;
    sorted.sort_unstable();
    let measured_ns = quantile::cut(&sorted, PARTS);
    (!measured_ns.is_empty()).then_some(Delays { pipe, packets: values.seen, measured_ns })
}

/// Where a flow comes from and goes to.
type Ends = (SocketAddr, SocketAddr);

/// A packet with data, in the order of arrivals.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    at_ns: i64,
    /// Its place among the records.
    number: u64,
    pipe: u32,
    ends: Ends,
    sequence: u32,
    size_bytes: u32,
    dropped_ns: Option<i64>,
}

/// Flows of TCP while they are read.
#[derive(Default)]
struct Sequences {
    /// What may still be behind packets that are to come.
    waiting: BinaryHeap<Reverse<Arrival>>,
    count: u64,
    flows: BTreeMap<Ends, Track>,
}

impl Sequences {
    fn add(&mut self, record: &Record) {
        let (Some(flow), Some(sequence)) = (record.flow, record.sequence) else { return };
        if flow.protocol != TCP || record.size_bytes <= MOST_OF_HEADERS {
            return;
        }
        let dropped_ns = if let Fate::Dropped { at_ns, .. } = record.fate { Some(at_ns) } else { None };
        self.count += 1;
        self.waiting.push(Reverse(Arrival {
            at_ns: record.arrived_ns,
            number: self.count,
            pipe: record.pipe,
            ends: ends(&flow),
            sequence,
            size_bytes: record.size_bytes,
            dropped_ns,
        }));
        if self.waiting.len() > MOST_SORTED
            && let Some(Reverse(first)) = self.waiting.pop()
        {
            self.take(&first);
        }
    }

    fn finish(mut self) -> BTreeMap<Ends, Track> {
        while let Some(Reverse(next)) = self.waiting.pop() {
            self.take(&next);
        }
        self.flows
    }

    fn take(&mut self, packet: &Arrival) {
        if self.flows.len() >= MOST_FLOWS && !self.flows.contains_key(&packet.ends) {
            return;
        }
        let track = self.flows.entry(packet.ends).or_insert_with(|| Track::of(packet));
        let at = unwrapped(track.first, track.end, packet.sequence);
        if let Some(at_ns) = packet.dropped_ns {
            track.dropped.add((at_ns, at));
        }
        // Further on, the same packets come again.
        if packet.pipe != track.pipe {
            return;
        }
        track.packets += 1;
        track.bytes += u64::from(packet.size_bytes);
        track.points.add((packet.at_ns, at));
        if packet.at_ns > track.last_ns {
            (track.earlier_end, track.last_ns) = (track.end, packet.at_ns);
        }
        if at < track.earlier_end {
            track.again.add((packet.at_ns, at));
        }
        track.end = track.end.max(at + 1);
    }
}

impl Track {
    /// A flow whose first packet is this.
    fn of(packet: &Arrival) -> Self {
        Self {
            pipe: packet.pipe,
            first: packet.sequence,
            end: 0,
            earlier_end: 0,
            last_ns: packet.at_ns,
            packets: 0,
            bytes: 0,
            points: Thinned::new(MOST_POINTS),
            again: Thinned::new(MOST_POINTS / 4),
            dropped: Thinned::new(MOST_POINTS / 4),
        }
    }
}

fn ends(flow: &Flow) -> Ends {
    (SocketAddr::new(flow.source, flow.source_port), SocketAddr::new(flow.destination, flow.destination_port))
}

/// The place of a byte since the first packet, nearest to the furthest so far: sequence numbers begin anew behind 2^32.
fn unwrapped(first: u32, end: u64, sequence: u32) -> u64 {
    let here = sequence.wrapping_sub(first).wrapping_sub(end as u32).cast_signed();
    end.saturating_add_signed(i64::from(here))
}

fn shown((from, to): Ends, pipe: Option<JournalPipe>, track: Track) -> Sequence {
    let seconds = |ns: i64| columns::seconds(ns as f64 / 1e9);
    // Records are in the order in which packets left their pipes.
    let sorted = |mut points: Vec<(i64, u64)>| {
        points.sort_unstable();
        points
    };
    let pairs = |points: Vec<(i64, u64)>| sorted(points).into_iter().map(|(at, byte)| (seconds(at), byte)).collect();
    let points = sorted(track.points.kept);
    Sequence {
        name: format!("{from} → {to}"),
        pipe: pipe.map_or_else(String::new, |pipe| format!("{} {}", pipe.link, pipe.direction)),
        packets: track.packets,
        bytes: track.bytes,
        t: points.iter().map(|(at, _)| seconds(*at)).collect(),
        sequence: points.iter().map(|(_, byte)| *byte as f64).collect(),
        again: pairs(track.again.kept),
        dropped: pairs(track.dropped.kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::JournalWriter;
    use std::fs::File;

    #[test]
    fn many_are_thinned_evenly() {
        let mut thinned = Thinned::new(4);
        (0..20).for_each(|number| thinned.add(number));
        assert_eq!((thinned.seen, thinned.kept), (20, vec![0, 8, 16]));
    }

    #[test]
    fn sequence_numbers_begin_anew() {
        assert_eq!(unwrapped(100, 0, 100), 0);
        assert_eq!(unwrapped(u32::MAX - 10, 5, 20), 31);
        assert_eq!(unwrapped(0, (1 << 32) + 50, 40), (1 << 32) + 40);
        assert_eq!(unwrapped(100, 3, 90), 0, "before the first is the first");
    }

    fn record(pipe: u32, at: i64, sequence: u32, fate: Fate) -> Record {
        let flow = Flow {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            protocol: TCP,
            source_port: 4000,
            destination_port: 80,
            dscp: 0,
        };
        let sent = matches!(fate, Fate::Delivered { .. });
        Record {
            pipe,
            arrived_ns: at,
            started_ns: sent.then_some(at),
            sent_ns: sent.then_some(at + 1_000_000),
            due_ns: sent.then_some(at + 21_000_000),
            marked_ns: None,
            fate,
            size_bytes: 1_500,
            flow: Some(flow),
            sequence: Some(sequence),
            attempt: None,
        }
    }

    #[test]
    fn flows_and_delays_are_those_of_the_journal() {
        let root = tempfile::tempdir().unwrap();
        let pipe = |link: &str| JournalPipe { link: link.into(), direction: "forward".into(), pipe: None };
        let file = File::create(root.path().join(JOURNAL)).unwrap();
        let mut writer = JournalWriter::begin(file, "lab", &[pipe("a"), pipe("b")], None).unwrap();
        let delivered = |at_ns| Fate::Delivered { at_ns };
        writer.push(&record(0, 0, 1_000, delivered(21_000_000))).unwrap();
        writer.push(&record(1, 21_000_000, 1_000, delivered(42_000_000))).unwrap();
        writer.push(&record(0, 1_000_000, 2_448, delivered(22_000_000))).unwrap();
        writer
            .push(&record(1, 22_000_000, 2_448, Fate::Dropped { at_ns: 22_000_000, cause: netloom_link::Cause::Full }))
            .unwrap();
        // What is dropped at once is noted before what waits: it is no retransmission, nor are those before it.
        writer
            .push(&record(0, 60_000_000, 5_344, Fate::Dropped { at_ns: 60_000_000, cause: netloom_link::Cause::Full }))
            .unwrap();
        writer.push(&record(0, 60_000_000, 3_896, delivered(71_000_000))).unwrap();
        writer.push(&record(0, 90_000_000, 2_448, delivered(111_000_000))).unwrap();
        writer.finish().unwrap();
        let mut notes = Vec::new();
        let found = gather(root.path(), &mut notes).unwrap();
        assert_eq!((found.records, found.flows.len(), notes.len()), (7, 1, 0));
        let flow = &found.flows[0];
        assert_eq!((flow.packets, flow.pipe.as_str()), (5, "a forward"));
        assert_eq!(flow.sequence, [0.0, 1_448.0, 2_896.0, 4_344.0, 1_448.0]);
        assert_eq!(
            (flow.again.as_slice(), flow.dropped.as_slice()),
            (&[(0.09, 1_448)][..], &[(0.022, 1_448), (0.06, 4_344)][..])
        );
        assert_eq!((found.delays.len(), found.delays[0].packets, found.delays[0].measured_ns[100]), (2, 4, 20_000_000));
        // A journal that was cut off gives what is before that.
        let whole = std::fs::read(root.path().join(JOURNAL)).unwrap();
        std::fs::write(root.path().join(JOURNAL), &whole[..whole.len() / 2]).unwrap();
        let _ = gather(root.path(), &mut notes);
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(gather(&root.path().join("none"), &mut notes).is_none());
    }
}
