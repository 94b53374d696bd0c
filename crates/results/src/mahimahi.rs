//! The log of a link as mahimahi's `mm-link` writes it, for the scripts that read such logs.
//!
//! Source: mm-link(1) of mahimahi, section "output": a header, then `TIME + SIZE` for a packet that arrives, `TIME # SIZE` for
//! an opportunity of the trace, `TIME - SIZE DELAY` for a packet that leaves, `TIME d PACKETS SIZE` for packets that were
//! dropped. Times are milliseconds, sizes have the 4 bytes of the TUN device that mahimahi counts.
//!
//! Differs from it in what is not seen here: a packet has been dropped when one behind it leaves, when its buffer holds another
//! one, or when the log ends. It is noted then, with the instant of its arrival.

use crate::WriteError;
use netloom_fabric::{PortId, Tap, Way};
use netloom_lab::Direction;
use netloom_link::DeliveryTraceConfig;
use netloom_packet::{Packet, Pool};
use netloom_units::{Duration, Instant};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{self, SystemTime, UNIX_EPOCH};

/// What each packet is charged beside its bytes.
pub(crate) const HEADER: u64 = DeliveryTraceConfig::HEADER.get();
/// How many batches may wait for a disk that cannot keep up.
const MOST_WAITING: usize = 4_096;
/// Of how many packets it is known when they arrived.
const MOST_INSIDE: usize = 1 << 20;
/// Lines are put in order over this time: packets are shown when the engine gets to them.
const ORDER_MS: u64 = 1_000;
/// How often lines are written when no packet passes.
const WRITTEN_WITHIN: time::Duration = time::Duration::from_millis(500);

/// The settings for the log of one direction of a link.
#[derive(Clone, Debug)]
pub struct MahimahiLog {
    /// The file to which the log is written.
    pub file: PathBuf,
    /// The direction of the link.
    pub direction: Direction,
    /// The name of the trace, as the user gave it.
    pub trace_name: String,
    /// The trace with the delivery opportunities.
    pub trace: DeliveryTraceConfig,
    /// Whether the trace is used only once, instead of again and again.
    pub once: bool,
    /// The command line.
    pub command_line: String,
    /// The queue, as mahimahi calls it: `droptail [packets=60]`.
    pub queue: String,
    /// The shells around the link, as their prompt names them; none if there are none.
    pub around: Option<String>,
}

/// The logs of a link that are being written.
#[derive(Debug)]
pub struct MahimahiLogs {
    writer: JoinHandle<Result<(), WriteError>>,
    ends: SyncSender<Vec<Seen>>,
    lost: Arc<AtomicU64>,
}

/// A packet passes the begin or end of a direction.
#[derive(Clone, Copy, Debug)]
struct Seen {
    direction: Direction,
    leaves: bool,
    at: Instant,
    /// The frame that it is or was cut from.
    frame: usize,
    segments: u32,
    size: u64,
    /// Of the first of its segments; only the last of a frame can be smaller.
    first_size: u64,
}

impl MahimahiLogs {
    /// Begins logs for an engine that starts now. Returns also the tap that is to be shown all packets of the link.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn start(logs: Vec<MahimahiLog>) -> Result<(Self, Box<dyn Tap + Send>), WriteError> {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let books = logs.into_iter().map(|log| Book::open(log, since_epoch.as_millis()));
        let books = books.collect::<Result<Vec<_>, _>>()?;
        let (sender, receiver) = sync_channel(MOST_WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let writer = std::thread::Builder::new().name("netloom-log".into()).spawn(move || write(books, &receiver));
        let writer = writer.map_err(WriteError::NoThread)?;
        let tap = Observer { sender: sender.clone(), seen: Vec::new(), lost: Arc::clone(&lost) };
        Ok((Self { writer, ends: sender, lost }, Box::new(tap)))
    }

    /// Writes the rest of the logs. The tap must have been dropped.
    ///
    /// # Errors
    /// What could not be written, and that packets are missing.
    pub fn finish(self) -> Result<(), WriteError> {
        drop(self.ends);
        let written = self.writer.join();
        written.map_err(|_| WriteError::Panicked("the thread that writes logs has panicked"))??;
        match self.lost.load(Ordering::Relaxed) {
            0 => Ok(()),
            lost => Err(WriteError::Lost(lost)),
        }
    }
}

/// See [`Tap`]. It never waits for the disk.
struct Observer {
    sender: SyncSender<Vec<Seen>>,
    seen: Vec<Seen>,
    lost: Arc<AtomicU64>,
}

impl Tap for Observer {
    fn packet(&mut self, port: PortId, way: Way, _: Instant, last: Instant, packet: &Packet) {
        // The first port is at the inner end of the link, from which forward leads away.
        let leaves = way == Way::ToNode;
        let direction = if (port.0 == 0) == leaves { Direction::Backward } else { Direction::Forward };
        self.seen.push(Seen {
            direction,
            leaves,
            at: last,
            frame: packet.bytes().as_ptr().addr(),
            segments: packet.segments(),
            size: packet.size().get(),
            first_size: packet.segment_size(0).get(),
        });
    }

    fn settle(&mut self, _: &mut Pool) {
        if !self.seen.is_empty() {
            let count = self.seen.len() as u64;
            if self.sender.try_send(std::mem::take(&mut self.seen)).is_err() {
                self.lost.fetch_add(count, Ordering::Relaxed);
            }
        }
    }
}

fn write(mut books: Vec<Book>, seen: &Receiver<Vec<Seen>>) -> Result<(), WriteError> {
    let begun = time::Instant::now();
    loop {
        let is_over = match seen.recv_timeout(WRITTEN_WITHIN) {
            Ok(batch) => {
                for one in batch {
                    books.iter_mut().filter(|book| book.log.direction == one.direction).for_each(|book| book.take(one));
                }
                false
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => true,
        };
        let now = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        for book in &mut books {
            let written = if is_over { book.end(now) } else { book.write_until(now.saturating_sub(ORDER_MS)) };
            written.map_err(WriteError::file(&book.log.file))?;
        }
        if is_over {
            return Ok(());
        }
    }
}

/// A packet, or a train of them, in the pipe; one that was dropped has no segments.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    frame: usize,
    at_ms: u64,
    segments: u32,
    size: u64,
}

/// A log, and what it has to know.
struct Book {
    log: MahimahiLog,
    out: BufWriter<File>,
    inside: VecDeque<Inside>,
    /// The number of the foremost of them: they are numbered as they arrive.
    first: u64,
    /// Their numbers by their frames.
    numbers: HashMap<usize, u64>,
    /// Lines that wait to be put in order: their instants, their place among those of the same instant, their text.
    lines: Vec<(u64, u8, String)>,
    opportunities: Opportunities,
}

// In the order of mahimahi's log: what arrives at an instant comes in front of what it could leave at.
pub(crate) const ARRIVAL: u8 = 0;
pub(crate) const OPPORTUNITY: u8 = 1;
pub(crate) const DEPARTURE: u8 = 2;

impl Book {
    fn open(log: MahimahiLog, epoch_ms: u128) -> Result<Self, WriteError> {
        let failed = |error: io::Error| WriteError::File { path: log.file.clone(), source: error };
        let mut out = BufWriter::new(File::create(&log.file).map_err(failed)?);
        let way = if log.direction == Direction::Forward { "Uplink" } else { "Downlink" };
        let mut header = vec![
            format!("# mahimahi mm-link ({way}) [{}] > {}", log.trace_name, log.file.display()),
            format!("# command line: {}", log.command_line),
            format!("# queue: {}", log.queue),
            format!("# init timestamp: {epoch_ms}"),
            "# base timestamp: 0".to_owned(),
        ];
        header.extend(log.around.as_ref().map(|around| format!("# mahimahi config: {around}")));
        writeln!(out, "{}", header.join("\n")).map_err(failed)?;
        let opportunities = Opportunities::of(&log);
        Ok(Self {
            log,
            out,
            inside: VecDeque::new(),
            first: 0,
            numbers: HashMap::new(),
            lines: Vec::new(),
            opportunities,
        })
    }

    fn take(&mut self, seen: Seen) {
        if seen.leaves { self.leave(seen) } else { self.arrive(seen) }
    }

    fn arrive(&mut self, seen: Seen) {
        let at_ms = milliseconds(seen.at);
        let number = self.first + self.inside.len() as u64;
        if let Some(before) = self.numbers.insert(seen.frame, number) {
            // The buffer is used anew.
            let place = before.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
            if let Some(gone) = place.and_then(|place| self.inside.get_mut(place)) {
                let dropped = std::mem::take(gone);
                self.drop_packets(dropped);
            }
        }
        for size in sizes(&seen) {
            self.lines.push((at_ms, ARRIVAL, format!("{at_ms} + {}", size + HEADER)));
        }
        self.inside.push_back(Inside { frame: seen.frame, at_ms, segments: seen.segments, size: seen.size });
        if self.inside.len() > MOST_INSIDE {
            self.pop();
        }
    }

    fn leave(&mut self, seen: Seen) {
        let at_ms = milliseconds(seen.at);
        let Some(number) = self.numbers.get(&seen.frame).copied() else { return };
        // Those in front of it have been dropped: mahimahi's queues keep the order.
        while self.first < number {
            self.pop();
        }
        let Some(front) = self.inside.front_mut() else { return };
        let delay = at_ms.saturating_sub(front.at_ms);
        front.segments = front.segments.saturating_sub(seen.segments);
        front.size = front.size.saturating_sub(seen.size);
        if front.segments == 0 {
            self.pop();
        }
        for size in sizes(&seen) {
            self.lines.push((at_ms, DEPARTURE, format!("{at_ms} - {} {delay}", size + HEADER)));
        }
    }

    /// The foremost has left, or was dropped.
    fn pop(&mut self) {
        let Some(front) = self.inside.pop_front() else { return };
        if self.numbers.get(&front.frame) == Some(&self.first) {
            self.numbers.remove(&front.frame);
        }
        self.first += 1;
        self.drop_packets(front);
    }

    fn drop_packets(&mut self, gone: Inside) {
        let Inside { at_ms, segments, size, .. } = gone;
        if segments == 0 {
            return;
        }
        let bytes = size + HEADER * u64::from(segments);
        self.lines.push((at_ms, ARRIVAL, format!("{at_ms} d {segments} {bytes}")));
    }

    /// Writes what happened up to this millisecond.
    fn write_until(&mut self, last_ms: u64) -> io::Result<()> {
        let size = self.log.trace.bytes.get();
        while let Some(at_ms) = self.opportunities.next_until(last_ms) {
            self.lines.push((at_ms, OPPORTUNITY, format!("{at_ms} # {size}")));
        }
        self.lines.sort_by_key(|(at_ms, kind, _)| (*at_ms, *kind));
        let count = self.lines.partition_point(|(at_ms, ..)| *at_ms <= last_ms);
        for (.., line) in self.lines.drain(..count) {
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    /// What has not left by now is in the link for ever, as in mahimahi's log.
    fn end(&mut self, now_ms: u64) -> io::Result<()> {
        let last_ms = self.lines.iter().map(|(at_ms, ..)| *at_ms).max().unwrap_or(0).max(now_ms);
        self.write_until(last_ms)?;
        self.out.flush()
    }
}

/// The sizes of its segments.
fn sizes(seen: &Seen) -> impl Iterator<Item = u64> + use<> {
    let (segments, first) = (u64::from(seen.segments), seen.first_size);
    let last = seen.size - first * (segments - 1);
    (1..=segments).map(move |number| if number == segments { last } else { first })
}

fn milliseconds(at: Instant) -> u64 {
    at.as_nanos() / 1_000_000
}

/// The opportunities of a trace, round by round.
struct Opportunities {
    times: Arc<[Duration]>,
    next: usize,
    round_ms: u64,
    once: bool,
}

impl Opportunities {
    fn of(log: &MahimahiLog) -> Self {
        Self { times: log.trace.times.times().into(), next: 0, round_ms: 0, once: log.once }
    }

    /// The next one, if it is not later.
    fn next_until(&mut self, last_ms: u64) -> Option<u64> {
        let at_ms = self.round_ms + self.times.get(self.next)?.as_nanos() / 1_000_000;
        if at_ms > last_ms {
            return None;
        }
        self.next += 1;
        if self.next == self.times.len() && !self.once {
            (self.next, self.round_ms) = (0, at_ms);
        }
        Some(at_ms)
    }
}

#[cfg(test)]
mod tests;
