//! The frames of one category of a station, and the MPDUs that it makes of them.
//!
//! Frames to one destination are a *flow*. Those of them that were sent have sequence numbers and are in the window of the BlockAck:
//! as many MPDUs as the window has room for, counted from the first that is not acknowledged. An MPDU that was lost is sent again with
//! new ones behind it; what its receiver has behind the hole reaches the network when the hole is filled or given up.
//!
//! Frames of the network itself, such as beacons, are flows of their own, which go first: each alone in its PPDU, with their own header. They take
//! no room and are not counted as frames.

use crate::aired::OnAir;
use crate::config::{Discipline, MediumConfig, RetryLimits};
use crate::frame::{Cause, Destination, Frame};
use crate::phy::{Ppdu, Standard};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use netloom_units::{Bytes, Duration, Instant};

/// The header with a field for QoS, or without it, and the checksum.
const QOS_HEADER: u64 = 26 + 4;
const HEADER: u64 = 24 + 4;
/// The header of LLC and SNAP, which stands for the Ethernet type.
const LLC: u64 = 8;
/// The header of a frame in an A-MSDU.
const SUBFRAME: u64 = 14;
/// The bytes in front of an MPDU in an A-MPDU.
const DELIMITER: u64 = 4;
/// The largest MPDU in an A-MPDU of 802.11n.
const HT_MPDU: u64 = 4_095;
/// Nanoseconds that a flow gets on the air in a round at least; over many rounds it makes no difference.
const QUANTUM: i64 = 300_000;

/// The bounds of an MPDU and an A-MPDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    header: u64,
    amsdu: u64,
    ampdu: u64,
    window: usize,
}

impl Limits {
    pub(crate) fn new(config: &MediumConfig) -> Self {
        let aggregation = config.aggregation;
        let header = if config.phy.has_qos() { QOS_HEADER } else { HEADER };
        let ampdu = aggregation.ampdu.get();
        let is_ht = config.phy.standard() == Some(Standard::N);
        let largest = if is_ht && ampdu > 0 { HT_MPDU - header } else { u64::MAX };
        let window = if ampdu > 0 { aggregation.window as usize } else { 1 };
        Self { header, amsdu: aggregation.amsdu.get().min(largest), ampdu, window }
    }

    /// Whether MPDUs are put together at all.
    pub(crate) fn has_aggregates(&self) -> bool {
        self.window > 1
    }
}

/// The data of a PPDU.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    pub(crate) size: Bytes,
    pub(crate) mpdus: u32,
}

/// How an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Without RTS, or with an RTS that got no answer.
    Short,
    /// Behind a CTS.
    Long,
    /// With frames that are not repeated.
    Final,
    /// Behind a more urgent category of the same station. It is never the last one, so that frames are only given up when something
    /// ends on the air: until then it is known what will be delivered.
    Internal,
}

/// Where an MPDU of the window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// To be sent.
    Waiting,
    /// On the air, in vain as far as is known.
    OnAir,
    /// On the air, and to be decoded.
    Arriving,
    Received,
    GivenUp,
}

#[derive(Clone, Debug)]
struct Mpdu {
    /// So many frames, and so many bytes with all headers.
    frames: usize,
    bytes: u64,
    short: u32,
    long: u32,
    /// How often it was on the air before: more than an RTS for it.
    sent: u32,
    /// The sequence number (IEEE 802.11-2020, 10.3.2.14).
    sequence: u16,
    state: State,
}

/// Sequence numbers have 12 bits.
const SEQUENCES: u16 = 1 << 12;

impl Mpdu {
    /// Whether it is given up if it fails so now.
    fn is_last(&self, failure: Failure, limits: RetryLimits) -> bool {
        match failure {
            Failure::Short => self.short + 1 >= limits.short || self.long >= limits.long,
            Failure::Long => self.long + 1 >= limits.long || self.short >= limits.short,
            Failure::Internal => false,
            Failure::Final => true,
        }
    }
}

/// The most management frames that wait for one destination.
const MOST_MANAGEMENT: usize = 8;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A frame of the network itself (IEEE 802.11-2020, 9.3.3), whose size is that of its body.
    Management,
    /// A frame with a packet.
    Data,
}

/// When a frame came, and how many frames of all stations had come before.
pub(crate) type Arrival = (Instant, u64);

#[derive(Clone, Debug)]
struct Flow<P> {
    to: Destination,
    kind: Kind,
    /// With the instant and the number of their arrival, in this order.
    frames: VecDeque<(Arrival, Frame<P>)>,
    /// The MPDUs of the first frames.
    window: VecDeque<Mpdu>,
    /// So many frames are in the window.
    covered: usize,
    /// The sequence number of its next MPDU.
    sequence: u16,
    /// Nanoseconds on the air that it may still take in this round.
    deficit: i64,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(crate) struct Queue<P> {
    flows: Vec<Flow<P>>,
    /// The flows with frames, in the order of their turns.
    ring: VecDeque<usize>,
    discipline: Discipline,
    room: usize,
    /// The frames with packets, and those without.
    count: usize,
    managing: usize,
}

impl<P> Queue<P> {
    pub(crate) fn new(config: &MediumConfig) -> Self {
        let (discipline, room) = (config.discipline, config.queue as usize);
        Self { flows: Vec::new(), ring: VecDeque::new(), discipline, room, count: 0, managing: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count + self.managing == 0
    }

    /// How many frames with packets wait.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Adds a frame with a packet, or gives it back if there is no room.
    pub(crate) fn push(&mut self, arrival: Arrival, frame: Frame<P>) -> Result<(), Frame<P>> {
        if self.count >= self.room {
            return Err(frame);
        }
        self.add(arrival, frame, Kind::Data);
        self.count += 1;
        Ok(())
    }

    /// Adds a management frame, unless too many wait: one to everybody, whose successor says the same.
    pub(crate) fn push_management(&mut self, arrival: Arrival, frame: Frame<P>) {
        let most = if frame.to == Destination::Everybody { 1 } else { MOST_MANAGEMENT };
        let waiting = self.place(frame.to, Kind::Management).map_or(0, |place| self.flows[place].frames.len());
        if waiting < most {
            self.add(arrival, frame, Kind::Management);
            self.managing += 1;
        }
    }

    fn place(&self, to: Destination, kind: Kind) -> Option<usize> {
        self.flows.iter().position(|flow| flow.to == to && flow.kind == kind)
    }

    fn add(&mut self, arrival: Arrival, frame: Frame<P>, kind: Kind) {
        let place = self.place(frame.to, kind).unwrap_or_else(|| {
            self.flows.push(Flow::new(frame.to, kind));
            self.flows.len() - 1
        });
        if self.flows[place].frames.is_empty() {
            self.ring.push_back(place);
        }
        self.flows[place].frames.push_back((arrival, frame));
    }

    /// The arrival of the frame that waits longest.
    pub(crate) fn head(&self) -> Option<Arrival> {
        self.ring.iter().filter_map(|place| self.flows[*place].head()).min()
    }

    /// The flow whose turn it is, and its destination. Management frames go first.
    pub(crate) fn pick(&mut self) -> Option<(usize, Destination)> {
        let managing = self.ring.iter().copied().filter(|place| self.flows[*place].kind == Kind::Management);
        let place = match self.discipline {
            _ if self.managing > 0 => managing.min_by_key(|place| self.flows[*place].head())?,
            Discipline::Fifo => self.ring.iter().copied().min_by_key(|place| self.flows[*place].head())?,
            Discipline::AirtimeFq => self.pick_in_turn()?,
        };
        Some((place, self.flows[place].to))
    }

    /// The destination of a flow.
    pub(crate) fn destination(&self, flow: usize) -> Destination {
        self.flows[flow].to
    }

    /// Whether a flow is of management frames.
    pub(crate) fn is_management(&self, flow: usize) -> bool {
        self.flows[flow].kind == Kind::Management
    }

    /// Deficit round robin over time on the air.
    fn pick_in_turn(&mut self) -> Option<usize> {
        loop {
            let place = *self.ring.front()?;
            if self.flows[place].deficit > 0 {
                return Some(place);
            }
            self.flows[place].deficit += QUANTUM;
            self.ring.rotate_left(1);
        }
    }

    /// A flow was on the air for this long.
    pub(crate) fn charge(&mut self, flow: usize, airtime: Duration) {
        self.flows[flow].deficit -= i64::try_from(airtime.as_nanos()).unwrap_or(i64::MAX);
    }

    /// Puts MPDUs of a flow on the air: one, and more as far as the limits and the time for the PPDU allow.
    pub(crate) fn load(&mut self, flow: usize, limits: &Limits, ppdu: &Ppdu, time: Duration) -> Load {
        self.flows[flow].load(limits, ppdu, time)
    }

    /// Takes MPDUs off the air as if nothing had been tried.
    pub(crate) fn unload(&mut self, flow: usize) {
        self.flows[flow].replace(State::OnAir, State::Waiting);
    }

    /// The MPDUs on the air, whether they will be decoded or not.
    pub(crate) fn on_air(&self, flow: usize) -> impl Iterator<Item = OnAir<'_, P>> {
        let own = &self.flows[flow];
        let firsts = own.window.iter().scan(0, |next, mpdu| {
            let first = *next;
            *next += mpdu.frames;
            Some(first)
        });
        let all = own.window.iter().zip(firsts);
        all.filter(|(mpdu, _)| matches!(mpdu.state, State::OnAir | State::Arriving)).map(|(mpdu, first)| OnAir {
            sequence: mpdu.sequence,
            sent: mpdu.sent,
            is_decoded: mpdu.state == State::Arriving,
            frames: own.frames.range(first..first + mpdu.frames).map(|(_, frame)| frame).collect(),
        })
    }

    /// Notes that the data of what is on the air is sent.
    pub(crate) fn note_sent(&mut self, flow: usize) {
        let on_air = |mpdu: &&mut Mpdu| matches!(mpdu.state, State::OnAir | State::Arriving);
        self.flows[flow].window.iter_mut().filter(on_air).for_each(|mpdu| mpdu.sent += 1);
    }

    /// Lets `is_good` decide of each MPDU on the air whether it will be decoded, and returns of how many it says so.
    pub(crate) fn decide(&mut self, flow: usize, mut is_good: impl FnMut() -> bool) -> u32 {
        let mut good = 0;
        for mpdu in self.flows[flow].window.iter_mut().filter(|mpdu| mpdu.state == State::OnAir) {
            if is_good() {
                mpdu.state = State::Arriving;
                good += 1;
            }
        }
        good
    }

    /// Notes that the MPDUs that were to be decoded are.
    pub(crate) fn receive(&mut self, flow: usize) {
        self.flows[flow].replace(State::Arriving, State::Received);
    }

    /// Lets what is still on the air fail: it waits again, or is given up. Returns how many MPDUs failed and how many of them are
    /// given up.
    pub(crate) fn fail(&mut self, flow: usize, failure: Failure, limits: RetryLimits) -> (u32, u32) {
        let (mut failed, mut given_up) = (0, 0);
        for mpdu in self.flows[flow].window.iter_mut().filter(|mpdu| mpdu.state == State::OnAir) {
            let is_last = mpdu.is_last(failure, limits);
            match failure {
                Failure::Short => mpdu.short += 1,
                Failure::Long => mpdu.long += 1,
                Failure::Internal => mpdu.short = (mpdu.short + 1).min(limits.short - 1),
                Failure::Final => {}
            }
            mpdu.state = if is_last { State::GivenUp } else { State::Waiting };
            failed += 1;
            given_up += u32::from(is_last);
        }
        (failed, given_up)
    }

    /// Shows the frames that will be handed out as received when what is on the air is over, and whether only behind its answer: those are
    /// behind frames that will be given up then.
    pub(crate) fn foresee(
        &mut self,
        flow: usize,
        failure: Failure,
        limits: RetryLimits,
        sink: impl FnMut(bool, &mut Frame<P>),
    ) {
        self.flows[flow].foresee(failure, limits, sink);
    }

    /// Takes all frames out, whatever became of them, and shows those with packets.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Frame<P>> + '_ {
        (self.count, self.managing, self.ring) = (0, 0, VecDeque::new());
        let data = self.flows.drain(..).filter(|flow| flow.kind == Kind::Data);
        data.flat_map(|flow| flow.frames).map(|(_, frame)| frame)
    }

    /// Takes out all frames for a destination, of which none is on the air, and returns those with packets.
    pub(crate) fn remove(&mut self, to: Destination) -> Vec<Frame<P>> {
        self.managing -= self.remove_kind(to, Kind::Management).len();
        let data = self.remove_kind(to, Kind::Data);
        self.count -= data.len();
        data
    }

    fn remove_kind(&mut self, to: Destination, kind: Kind) -> Vec<Frame<P>> {
        let Some(place) = self.place(to, kind) else { return Vec::new() };
        let flow = &mut self.flows[place];
        (flow.window, flow.covered) = (VecDeque::new(), 0);
        self.ring.retain(|other| *other != place);
        flow.frames.drain(..).map(|(_, frame)| frame).collect()
    }

    /// Hands out the frames at the front of the window that were received or given up.
    pub(crate) fn release(&mut self, flow: usize, mut sink: impl FnMut(Frame<P>, Option<Cause>)) {
        let before = self.flows[flow].frames.len();
        self.flows[flow].release(&mut sink);
        let after = self.flows[flow].frames.len();
        match self.flows[flow].kind {
            Kind::Data => self.count -= before - after,
            Kind::Management => self.managing -= before - after,
        }
        if before > 0 && after == 0 {
            self.ring.retain(|place| *place != flow);
        }
    }
}

impl<P> Flow<P> {
    fn new(to: Destination, kind: Kind) -> Self {
        Self { to, kind, frames: VecDeque::new(), window: VecDeque::new(), covered: 0, sequence: 0, deficit: QUANTUM }
    }

    fn head(&self) -> Option<Arrival> {
        self.frames.front().map(|(arrival, _)| *arrival)
    }

    fn load(&mut self, limits: &Limits, ppdu: &Ppdu, time: Duration) -> Load {
        let is_alone = !limits.has_aggregates() || self.to == Destination::Everybody || self.kind == Kind::Management;
        let (mut load, mut aggregate, mut place) = (Load::default(), 0, 0);
        loop {
            place += self.window.iter().skip(place).take_while(|mpdu| mpdu.state != State::Waiting).count();
            let is_new = place == self.window.len();
            if is_new && (place >= limits.window || !self.form(limits)) {
                return load;
            }
            let bytes = self.window[place].bytes;
            let longer = aggregate + (DELIMITER + bytes).next_multiple_of(4);
            let has_room = || longer <= limits.ampdu && ppdu.duration(Bytes::new(longer)) <= time;
            if load.mpdus > 0 && !has_room() {
                if is_new {
                    self.covered -= self.window.pop_back().map_or(0, |mpdu| mpdu.frames);
                    self.sequence = (self.sequence + SEQUENCES - 1) % SEQUENCES;
                }
                return load;
            }
            self.window[place].state = State::OnAir;
            aggregate = longer;
            load.mpdus += 1;
            // A single MPDU goes without a delimiter.
            load.size = Bytes::new(if load.mpdus == 1 { bytes } else { aggregate });
            if is_alone {
                return load;
            }
        }
    }

    /// Makes an MPDU of the next frames, at the end of the window; false if there are none.
    fn form(&mut self, limits: &Limits) -> bool {
        let Some((_, first)) = self.frames.get(self.covered) else { return false };
        let is_data = self.kind == Kind::Data;
        let (header, llc) = if is_data { (limits.header, LLC) } else { (HEADER, 0) };
        let mut body = llc + first.size.get();
        let (mut frames, mut amsdu) = (1, SUBFRAME + body);
        if self.to != Destination::Everybody && is_data {
            while let Some((_, next)) = self.frames.get(self.covered + frames) {
                // All subframes but the last are filled up.
                let longer = amsdu.next_multiple_of(4) + SUBFRAME + LLC + next.size.get();
                if longer > limits.amsdu {
                    break;
                }
                amsdu = longer;
                body = amsdu;
                frames += 1;
            }
        }
        let bytes = header + body;
        let sequence = self.sequence;
        self.sequence = (sequence + 1) % SEQUENCES;
        let state = State::Waiting;
        self.window.push_back(Mpdu { frames, bytes, short: 0, long: 0, sent: 0, sequence, state });
        self.covered += frames;
        true
    }

    fn foresee(&mut self, failure: Failure, limits: RetryLimits, mut sink: impl FnMut(bool, &mut Frame<P>)) {
        let (mut is_late, mut from) = (false, 0);
        for mpdu in &self.window {
            let range = from..from + mpdu.frames;
            from = range.end;
            match mpdu.state {
                State::Arriving | State::Received => {
                    self.frames.range_mut(range).for_each(|(_, frame)| sink(is_late, frame));
                }
                State::GivenUp => {}
                State::OnAir if mpdu.is_last(failure, limits) => is_late = true,
                State::OnAir | State::Waiting => return,
            }
        }
    }

    fn replace(&mut self, from: State, to: State) {
        self.window.iter_mut().filter(|mpdu| mpdu.state == from).for_each(|mpdu| mpdu.state = to);
    }

    fn release(&mut self, sink: &mut impl FnMut(Frame<P>, Option<Cause>)) {
        while let Some(mpdu) = self.window.front() {
            let dropped = match (mpdu.state, self.to) {
                (State::Received, _) => None,
                (State::GivenUp, Destination::Everybody) => Some(Cause::Collision),
                (State::GivenUp, Destination::Station(_)) => Some(Cause::Retries),
                _ => return,
            };
            let frames = mpdu.frames;
            self.window.pop_front();
            self.covered -= frames;
            self.frames.drain(..frames).for_each(|(_, frame)| sink(frame, dropped));
        }
    }
}

#[cfg(test)]
mod tests;
