//! The frames of one category of a station, and the MPDUs that it makes of them.
//!
//! Frames to one destination are a *flow*. Those of them that were sent have sequence numbers and are in the window of the BlockAck:
//! as many MPDUs as the window has room for, counted from the first that is not acknowledged. An MPDU that was lost is sent again with
//! new ones behind it; what its receiver has behind the hole reaches the network when the hole is filled or given up.

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
    /// Whether it was on the air before: more than an RTS for it.
    was_sent: bool,
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

/// When a frame came, and how many frames of all stations had come before.
pub(crate) type Arrival = (Instant, u64);

#[derive(Clone, Debug)]
struct Flow<P> {
    to: Destination,
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
    count: usize,
}

impl<P> Queue<P> {
    pub(crate) fn new(config: &MediumConfig) -> Self {
        let (discipline, room) = (config.discipline, config.queue as usize);
        Self { flows: Vec::new(), ring: VecDeque::new(), discipline, room, count: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Adds a frame, or gives it back if there is no room.
    pub(crate) fn push(&mut self, arrival: Arrival, frame: Frame<P>) -> Result<(), Frame<P>> {
        if self.count >= self.room {
            return Err(frame);
        }
        let found = self.flows.iter().position(|flow| flow.to == frame.to);
        let place = found.unwrap_or_else(|| {
            self.flows.push(Flow::new(frame.to));
            self.flows.len() - 1
        });
        if self.flows[place].frames.is_empty() {
            self.ring.push_back(place);
        }
        self.flows[place].frames.push_back((arrival, frame));
        self.count += 1;
        Ok(())
    }

    /// The arrival of the frame that waits longest.
    pub(crate) fn head(&self) -> Option<Arrival> {
        self.ring.iter().filter_map(|place| self.flows[*place].head()).min()
    }

    /// The flow whose turn it is, and its destination.
    pub(crate) fn pick(&mut self) -> Option<(usize, Destination)> {
        let place = match self.discipline {
            Discipline::Fifo => self.ring.iter().copied().min_by_key(|place| self.flows[*place].head())?,
            Discipline::AirtimeFq => self.pick_in_turn()?,
        };
        Some((place, self.flows[place].to))
    }

    /// The destination of a flow.
    pub(crate) fn destination(&self, flow: usize) -> Destination {
        self.flows[flow].to
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
            is_retry: mpdu.was_sent,
            is_decoded: mpdu.state == State::Arriving,
            frames: own.frames.range(first..first + mpdu.frames).map(|(_, frame)| frame).collect(),
        })
    }

    /// Notes that the data of what is on the air is sent.
    pub(crate) fn note_sent(&mut self, flow: usize) {
        let on_air = |mpdu: &&mut Mpdu| matches!(mpdu.state, State::OnAir | State::Arriving);
        self.flows[flow].window.iter_mut().filter(on_air).for_each(|mpdu| mpdu.was_sent = true);
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

    /// Takes all frames out, whatever became of them.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Frame<P>> + '_ {
        (self.count, self.ring) = (0, VecDeque::new());
        self.flows.drain(..).flat_map(|flow| flow.frames).map(|(_, frame)| frame)
    }

    /// Takes out all frames for a destination, of which none is on the air.
    pub(crate) fn remove(&mut self, to: Destination) -> Vec<Frame<P>> {
        let Some(place) = self.flows.iter().position(|flow| flow.to == to) else { return Vec::new() };
        let flow = &mut self.flows[place];
        self.count -= flow.frames.len();
        (flow.window, flow.covered) = (VecDeque::new(), 0);
        self.ring.retain(|other| *other != place);
        flow.frames.drain(..).map(|(_, frame)| frame).collect()
    }

    /// Hands out the frames at the front of the window that were received or given up.
    pub(crate) fn release(&mut self, flow: usize, mut sink: impl FnMut(Frame<P>, Option<Cause>)) {
        let before = self.flows[flow].frames.len();
        self.flows[flow].release(&mut sink);
        let after = self.flows[flow].frames.len();
        self.count -= before - after;
        if before > 0 && after == 0 {
            self.ring.retain(|place| *place != flow);
        }
    }
}

impl<P> Flow<P> {
    fn new(to: Destination) -> Self {
        Self { to, frames: VecDeque::new(), window: VecDeque::new(), covered: 0, sequence: 0, deficit: QUANTUM }
    }

    fn head(&self) -> Option<Arrival> {
        self.frames.front().map(|(arrival, _)| *arrival)
    }

    fn load(&mut self, limits: &Limits, ppdu: &Ppdu, time: Duration) -> Load {
        let is_alone = !limits.has_aggregates() || self.to == Destination::Everybody;
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
        let mut body = LLC + first.size.get();
        let (mut frames, mut amsdu) = (1, SUBFRAME + body);
        if self.to != Destination::Everybody {
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
        let bytes = limits.header + body;
        let sequence = self.sequence;
        self.sequence = (sequence + 1) % SEQUENCES;
        let state = State::Waiting;
        self.window.push_back(Mpdu { frames, bytes, short: 0, long: 0, was_sent: false, sequence, state });
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
