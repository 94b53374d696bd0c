//! Captures: the packets at both ends of links, in files that other programs read.
//!
//! Three parts: a tap that the driver shows all packets (`tap`), a thread that puts them in order and writes them
//! (`writer`), and between both a channel. In real time the tap never waits: what does not fit into the channel is
//! counted. In virtual time it waits, and nothing is lost.
//!
//! The tap learns from the fabric which packets are dropped or marked, and `fates` finds the records that wait to be
//! written. Filter expressions are translated by tcpdump and executed by `bpf`; a ring is a writer of its own
//! (`ring`).

mod air_log;
mod bpf;
mod dot11;
mod fates;
mod live;
mod order;
mod pcapng;
mod radiotap;
mod ring;
mod tap;
#[cfg(test)]
mod tests;
mod writer;

pub use air_log::{AirFrame, AirLog, AirSpan, AirUse, FrameKind};
pub use bpf::{FilterProgram, NoProgram};
pub use live::LiveCapture;

use crate::Folder;
use crate::WriteError;
use netloom_fabric::{Tap, Way};
use netloom_lab::{CaptureHeaders, CapturePlan, CapturePoint, EndPlan, Plan};
use netloom_link::Phy;
use netloom_units::Duration;
use netloom_units::Instant;
use pcapng::{Interface, InterfaceKind, Pcapng};
use radiotap::Radiotap;
use ring::{Out, Ring};
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use tap::{Followers, Recorder, Rule};
use writer::{Shared, Target, Writer};

/// The folder of the results.
const FOLDER: &str = "captures";
/// Batches that wait for the writer at most. In virtual time they are full, and 64 of them are 64 MB.
const BATCHES: usize = 4_096;
const FULL_BATCHES: usize = 64;
/// Lists of packets that wait for the driver to take their buffers back.
const SPENT: usize = 1_024;
const FILE_BUFFER: usize = 256 * 1_024;
/// How long a packet waits for earlier ones, and for what becomes of it, in lab time: in files, and before somebody's eyes.
const HOLD: Duration = Duration::from_secs(1);
const LIVE_HOLD: Duration = Duration::from_millis(100);

/// How the driver's time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// With ours, slowed or not: packets do not wait for a disk.
    Real,
    /// As fast as it can: packets wait, and nothing is lost.
    Virtual,
}

/// Captures that are being written.
pub struct Captures {
    paths: Vec<PathBuf>,
    shared: Arc<Shared>,
    writer: JoinHandle<Vec<Option<io::Error>>>,
}

impl Captures {
    /// Starts what the plan wants to be captured, if it wants anything; the tap is for the driver. `filters`: of each capture, what its
    /// expression was translated to.
    pub fn start(
        plan: &Plan,
        filters: &[Option<FilterProgram>],
        folder: &Folder,
        pace: Pace,
    ) -> Result<Option<(Self, DriverTap)>, WriteError> {
        if plan.capture.is_empty() {
            return Ok(None);
        }
        folder.make_folder(FOLDER)?;
        let mut outs: Vec<(Box<dyn Out + Send>, Option<FilterProgram>)> = Vec::new();
        let mut paths = Vec::new();
        for (place, capture) in plan.capture.iter().enumerate() {
            let name = format!("{FOLDER}/{}", capture.file);
            let path = folder.path().join(&name);
            let out: Box<dyn Out + Send> = match capture.ring {
                Some(size) => Box::new(Ring::create(&path, size.get()).map_err(WriteError::file(&path))?),
                None => Box::new(BufWriter::with_capacity(FILE_BUFFER, folder.file(&name)?)),
            };
            outs.push((out, filters.get(place).cloned().flatten()));
            paths.push(path);
        }
        let first = paths[0].clone();
        let (shared, writer, tap) = begin(plan, &plan.capture, outs, (pace, HOLD)).map_err(WriteError::file(&first))?;
        Ok(Some((Self { paths, shared, writer }, tap)))
    }

    /// Time zero: packets are captured from here on.
    pub fn begin(&self, zero: Instant) {
        self.shared.begin(zero);
    }

    /// The end of the run: no later packet is captured.
    pub fn end(&self, at: Instant) {
        self.shared.end(at);
    }

    /// Waits until all is written, after the tap has gone; what is missing, in words.
    pub fn finish(self) -> Result<Option<String>, WriteError> {
        let outcomes = self.writer.join().map_err(|_| WriteError::Panicked("the writer of captures stopped"))?;
        for (path, outcome) in self.paths.iter().zip(outcomes) {
            outcome.map_or(Ok(()), Err).map_err(WriteError::file(path))?;
        }
        let lost = self.shared.lost.load(Ordering::Relaxed);
        let text =
            format!("the captures lack {lost} packets: the disk or a processor was too slow; the links were not");
        Ok((lost > 0).then_some(text))
    }
}

/// What a driver calls.
type DriverTap = Box<dyn Tap + Send>;
type Started = (Arc<Shared>, JoinHandle<Vec<Option<io::Error>>>, DriverTap);

/// Starts the thread that writes these captures, each to its own place, and of it what its program wants.
fn begin<W>(
    plan: &Plan,
    captures: &[CapturePlan],
    outs: Vec<(W, Option<FilterProgram>)>,
    (pace, hold): (Pace, Duration),
) -> io::Result<Started>
where
    W: Out + Send + 'static,
{
    let shared = Arc::new(Shared::new());
    let mut targets = Vec::new();
    for (capture, (out, filter)) in captures.iter().zip(outs) {
        let snaplen = capture.snaplen.map(|size| u32::try_from(size.get()).unwrap_or(u32::MAX));
        let file = Pcapng::begin(out, &comment(plan, capture), &interfaces(plan, capture), snaplen)?;
        let radiotap = on_air(plan, capture).map(|phy| Radiotap::new(phy, capture.filter.is_none()));
        targets.push(Target { file, filter, radiotap, failed: None });
    }
    let room = if pace == Pace::Real { BATCHES } else { FULL_BATCHES };
    let ((batch_sender, batches), (spent_sender, spent)) = (sync_channel(room), sync_channel(SPENT));
    let writer = Writer::new((pace, hold), Arc::clone(&shared), batches, spent_sender, targets);
    let thread = std::thread::Builder::new().name("netloom-capture".into()).spawn(move || writer.run())?;
    let wanted = (rules(plan, captures), followers(plan, captures));
    let tap = Recorder::new(wanted, macs(plan), pace, Arc::clone(&shared), batch_sender, spent);
    Ok((shared, thread, Box::new(tap)))
}

/// The comment on the file as a whole. It follows from the lab alone.
fn comment(plan: &Plan, capture: &CapturePlan) -> String {
    let node = capture.node.map(|node| format!(", node {}", plan.nodes[node].name)).unwrap_or_default();
    let link = capture.link.map(|link| format!(", link {}", plan.links[link].name)).unwrap_or_default();
    format!(
        "lab {}{node}{link}: times are lab time since time zero; packets that leave show when they were due",
        plan.name
    )
}

/// The physical layer of the radio medium of which a capture writes what is on the air; none if it does not.
fn on_air<'a>(plan: &'a Plan, capture: &CapturePlan) -> Option<&'a Phy> {
    let link = capture.link.filter(|_| capture.headers == CaptureHeaders::Radiotap)?;
    plan.links[link].pipes.iter().find_map(|pipe| pipe.air.as_ref()?.medium.wifi()).map(|medium| &medium.phy)
}

/// The ends at which a capture is.
fn interfaces(plan: &Plan, capture: &CapturePlan) -> Vec<Interface> {
    let end = |end: &EndPlan| {
        let node = &plan.nodes[end.node];
        let interface = &node.interfaces[end.interface];
        let kind = InterfaceKind::Ethernet(interface.mac);
        Interface { name: format!("{}:{}", node.name, interface.name), kind }
    };
    if let (Some(_), Some(link)) = (on_air(plan, capture), capture.link) {
        return vec![Interface { name: plan.links[link].name.clone(), kind: InterfaceKind::Radiotap }];
    }
    capture.ends(plan).map(end).collect()
}

/// By pipe: the captures of packets that enter or leave it.
fn followers(plan: &Plan, captures: &[CapturePlan]) -> Vec<Followers> {
    let of_link = |link: usize| {
        let is_of = |capture: &CapturePlan| capture.ends(plan).any(|end| end.end.link() == link);
        let all = captures.iter().enumerate().filter(|(_, capture)| is_of(capture));
        let (on_air, others): (Vec<_>, Vec<_>) = all.partition(|(_, capture)| on_air(plan, capture).is_some());
        let others = others.into_iter().map(|(number, _)| number).collect();
        (others, on_air.into_iter().map(|(number, capture)| (number, capture.filter.clone())).collect())
    };
    let number = |link: usize| u32::try_from(link).expect("fewer than 2^32 links");
    let of_pipe = |link: usize| {
        let (others, on_air) = of_link(link);
        Followers { link: number(link), captures: others, on_air }
    };
    plan.pipes().map(|pipe| of_pipe(pipe.link)).collect()
}

/// The hardware addresses at each port and at the other end of its link.
fn macs(plan: &Plan) -> Vec<[[u8; 6]; 2]> {
    let mac = |end: &EndPlan| plan.nodes[end.node].interfaces[end.interface].mac;
    // On a shared medium everybody writes the addresses of whom he means into his frames.
    let other = |end: &EndPlan| plan.links[end.end.link()].beyond(end.end).next().map_or([0; 6], mac);
    plan.ends().map(|end| [mac(end), other(end)]).collect()
}

/// What is to be captured at each port.
fn rules(plan: &Plan, captures: &[CapturePlan]) -> Vec<Vec<Rule>> {
    let mut rules = vec![Vec::new(); plan.ends().count()];
    for (number, capture) in captures.iter().enumerate().filter(|(_, capture)| on_air(plan, capture).is_none()) {
        let (way, only_end) = match capture.at {
            None => (None, None),
            Some(CapturePoint::Sent) => (Some(Way::FromNode), None),
            Some(CapturePoint::Delivered) => (Some(Way::ToNode), None),
            Some(CapturePoint::End(end)) => (None, Some(end)),
        };
        for (end, interface) in capture.ends(plan).zip(0..) {
            let CapturePlan { direction, filter, .. } = capture.clone();
            let (is_first, link) =
                (end.end.place() == 0, u32::try_from(end.end.link()).expect("fewer than 2^32 links"));
            let rule = Rule { capture: number, interface, is_first, link, direction, way, filter };
            if only_end.is_none_or(|only| only == end.end.place()) {
                rules[end.end.index()].push(rule);
            }
        }
    }
    rules
}
