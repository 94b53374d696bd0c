//! The loop: from one event to the next.

use crate::SimError;
use crate::flow::{Flow, FlowSpec, Hop, Next};
use crate::meter::Meter;
use crate::outcome::{Outcome, PipeOutcome, Sample, SourceOutcome};
use crate::receiver::{Acknowledgement, Arrival};
use crate::roaming::Roaming;
use crate::tag::{self, MOST_FLOWS, Tag};
use crate::timeline::{Change, Event};
use netloom_fabric::{Delivery, Fabric, PipeId, PipeSpec, PortId, TraceObserver, Wakes};
use netloom_link::{AirCounters, CorruptConfig, OnTheWire, PipeConfig, PipeCounters, PipeSample, StationCounters};
use netloom_packet::{Packet, Pool};
use netloom_units::{Bytes, Duration, Instant, Seed};
use std::collections::VecDeque;

/// When sources have stopped and nothing has come out of a pipe for so long, beside the time that pipes take, what is under way
/// is given up.
const PATIENCE: Duration = Duration::from_secs(10);
/// So often it is asked at most whether something is still under way.
const ASKED_EVERY: Duration = Duration::from_millis(1);
/// More packets than these do not come out of pipes at one instant, unless time stands still.
const MOST_AT_ONCE: u64 = 1_000_000;

/// Pipes and flows in virtual time.
pub struct Network {
    fabric: Fabric,
    pool: Pool,
    flows: Vec<Flow>,
    /// When which flow wakes.
    wakes: Wakes,
    events: VecDeque<Event>,
    configs: Vec<PipeConfig>,
    meters: Vec<Meter>,
    /// Which pipes are shared media, where everybody hears every packet.
    is_medium: Vec<bool>,
    /// Whether any is a radio medium, where packets are sent to one of its ports.
    has_radio: bool,
    /// Which access points have stations, if a medium has several ones.
    roaming: Option<Roaming>,
    /// Why the simulation cannot go on.
    failed: Option<SimError>,
    handed: Vec<Delivery>,
    handed_out: u64,
    /// Packets of sources and sinks.
    sent: u64,
    trace_observer: Option<Box<dyn TraceObserver>>,
    /// Whether a pipe flips bits of packets, or did: else nobody has to look for flipped ones.
    flips: bool,
    /// Sources have stopped; what arrives counts for them, but not for the pipes.
    is_over: bool,
}

impl Network {
    /// A network of these pipes, which these flows cross.
    ///
    /// # Errors
    /// If there is no flow, or if there are too many.
    ///
    /// # Panics
    /// As [`Fabric::new`] does.
    pub fn new(seed: Seed, pipes: &[PipeSpec], flows: Vec<FlowSpec>) -> Result<Self, SimError> {
        if flows.is_empty() {
            return Err(SimError::NoTraffic);
        }
        if flows.len() > MOST_FLOWS {
            return Err(SimError::TooManySources);
        }
        let count = flows.len();
        let mut this = Self {
            fabric: Fabric::new(seed, pipes),
            pool: Pool::default(),
            flows: flows.into_iter().map(|spec| Flow::new(spec, seed)).collect(),
            wakes: Wakes::new(count),
            events: VecDeque::new(),
            configs: pipes.iter().map(|spec| spec.config.clone()).collect(),
            meters: vec![Meter::default(); pipes.len()],
            is_medium: pipes.iter().map(|spec| !spec.medium.is_empty()).collect(),
            has_radio: pipes.iter().any(|spec| spec.config.air.is_some()),
            roaming: None,
            failed: None,
            handed: Vec::new(),
            handed_out: 0,
            sent: 0,
            trace_observer: None,
            flips: pipes.iter().any(|spec| spec.config.corrupt != CorruptConfig::default()),
            is_over: false,
        };
        // The run begins with the simulation.
        this.fabric.begin_counting(Instant::ZERO);
        (0..count).for_each(|flow| this.reschedule(flow));
        Ok(this)
    }

    /// The same with samples that tell how long packets take through pipes.
    #[must_use]
    pub fn with_delays(mut self) -> Self {
        self.fabric.measure_delays(true);
        self
    }

    /// The same; ways follow stations between these access points.
    pub(crate) fn with_roaming(mut self, roaming: Option<Roaming>) -> Self {
        self.roaming = roaming;
        self
    }

    pub(crate) fn with_events(mut self, events: Vec<Event>) -> Self {
        self.events = events.into();
        self
    }

    /// The same; this trace observer takes the notes of what happens in the pipes.
    #[must_use]
    pub fn with_trace_observer(mut self, trace_observer: Option<Box<dyn TraceObserver>>) -> Self {
        if let Some(trace_observer) = &trace_observer {
            self.fabric.take_notes(|pipe| trace_observer.wants(pipe));
            self.fabric.record_attempts(trace_observer.wants_attempts());
            // Journals note the begin, too.
            self.fabric.begin_counting(Instant::ZERO);
        }
        self.trace_observer = trace_observer;
        self
    }

    /// Lets sources send for `duration`, and then what is under way arrive. `watch` sees the pipes every `interval`,
    /// at the beginning and at the end of `duration`.
    ///
    /// # Errors
    /// If time stands still.
    pub fn run(
        mut self,
        duration: Duration,
        interval: Duration,
        watch: &mut dyn FnMut(&Sample<'_>),
    ) -> Result<Outcome, SimError> {
        let end = Instant::ZERO + duration;
        let mut pipes: Vec<PipeSample> = Vec::new();
        let mut sample_at = Instant::ZERO;
        loop {
            // What happens at the instant of a sample, happens before it.
            self.run_until(sample_at)?;
            pipes.clear();
            pipes.extend(self.fabric.sample(sample_at));
            watch(&Sample { at: sample_at, pipes: &pipes });
            if sample_at >= end {
                break;
            }
            sample_at = (sample_at + interval).min(end);
        }
        let on_air: Vec<OnAir> = self.fabric.on_air().collect();
        self.is_over = true;
        // What happens at the end belongs to the run.
        if let Some(mut trace_observer) = self.trace_observer.take() {
            trace_observer.end(&mut self.fabric, end + Duration::from_nanos(1));
            self.fabric.take_notes(|_| false);
        }
        self.drain(end)?;
        Ok(self.outcome(duration, &pipes, on_air))
    }

    /// Everything until `end`, and at it.
    fn run_until(&mut self, end: Instant) -> Result<(), SimError> {
        let (mut latest, mut at_once) = (Instant::ZERO, 0);
        while let Some(now) = self.next().filter(|now| *now <= end) {
            if now > latest {
                (latest, at_once) = (now, 0);
            }
            at_once += self.step(now);
            if at_once > MOST_AT_ONCE {
                return Err(SimError::StandsStill(now));
            }
            if let Some(why) = self.failed.take() {
                return Err(why);
            }
        }
        Ok(())
    }

    fn next(&self) -> Option<Instant> {
        let source = self.wakes.first().map(|(at, _)| at).filter(|_| !self.is_over);
        let event = self.events.front().map(|event| event.at).filter(|_| !self.is_over);
        [self.fabric.next_wake(), source, event].into_iter().flatten().min()
    }

    /// Everything that happens at `now`, but what follows from it at the same instant; says how many packets came out.
    fn step(&mut self, now: Instant) -> u64 {
        while !self.is_over && self.events.front().is_some_and(|event| event.at <= now) {
            self.happen(now);
        }
        let count = self.hand_out(now);
        while let Some((_, number)) = self.wakes.first().filter(|(at, _)| *at <= now && !self.is_over) {
            let flow = number as usize;
            self.flows[flow].wake(now);
            if let Some(word) = self.flows[flow].receiver.wake(now) {
                self.answer(now, flow, word);
            }
            self.send(now, flow);
        }
        if let Some(trace_observer) = &mut self.trace_observer {
            trace_observer.take(&mut self.fabric, now);
        }
        self.fabric.recycle(&mut self.pool);
        count
    }

    fn happen(&mut self, now: Instant) {
        let Some(event) = self.events.pop_front() else { return };
        match event.change {
            Change::Set(change) => {
                self.flips |= change.corrupt.is_some() || !change.faults.is_empty();
                self.fabric.change(now, event.pipe, &change);
                let config = &mut self.configs[event.pipe.0 as usize];
                *config = change.applied_to(config);
            }
            Change::SetUp(up) => self.fabric.set_up(now, event.pipe, up),
            Change::Unplug => self.fabric.unplug(now, event.pipe),
            Change::Hold(stopped) => self.fabric.hold(now, event.pipe, stopped, OnTheWire::Lost),
        }
    }

    fn hand_out(&mut self, now: Instant) -> u64 {
        let mut handed = std::mem::take(&mut self.handed);
        self.fabric.advance(now, |delivery| handed.push(delivery));
        let count = handed.len() as u64;
        self.handed_out += count;
        for delivery in handed.drain(..) {
            if !self.is_over {
                self.meters[delivery.pipe.0 as usize].record(&delivery.departure);
            }
            let packet = delivery.departure.packet;
            if self.roaming.is_some() && tag::is_update(&packet) {
                self.follow(PortId(packet.origin()), delivery.port);
                self.pool.recycle(packet);
                continue;
            }
            let entry = self.is_medium[delivery.pipe.0 as usize].then(|| PortId(packet.origin()));
            self.arrive(now, entry, delivery.port, packet);
        }
        self.handed = handed;
        count
    }

    /// A station has arrived at an access point: flows have other ways from now on. What has none any more keeps the one that it had, on which it is lost.
    fn follow(&mut self, station: PortId, point: PortId) {
        let Some(roaming) = self.roaming.as_mut() else { return };
        if !roaming.join(station, point) {
            return;
        }
        for (number, flow) in self.flows.iter_mut().enumerate() {
            match roaming.flow(number) {
                Ok(spec) => flow.redirect(spec),
                Err(SimError::Unreachable(_)) => {}
                Err(why) => self.failed = Some(why),
            }
        }
    }

    /// A packet comes out of a pipe; of a shared medium at each of its ports, and so where others listen as well. `entry`: where it
    /// entered that.
    fn arrive(&mut self, now: Instant, entry: Option<PortId>, port: PortId, packet: Packet) {
        let tag = Tag::read(&packet);
        let (flow, is_back) = match tag {
            Tag::Data { flow, .. } => (flow, false),
            Tag::Acknowledgement { flow, .. } => (flow, true),
        };
        match self.flows[flow].next(entry, port, is_back) {
            Some(Next::Pipe(hop)) => self.inject(now, hop, packet),
            Some(Next::End) => {
                self.deliver(now, tag, &packet);
                self.pool.recycle(packet);
            }
            None => {
                assert!(entry.is_some(), "only at shared media somebody hears what is for others");
                self.pool.recycle(packet);
            }
        }
    }

    fn deliver(&mut self, now: Instant, tag: Tag, packet: &Packet) {
        let is_intact = !self.flips || tag::is_intact(packet, tag);
        match tag {
            Tag::Data { flow, .. } if !is_intact => self.flows[flow].receiver.discard(),
            Tag::Data { flow, number, is_again, sent } => {
                let arrival = Arrival { number, size: packet.size(), delay: tag::age(sent, now), is_again, sent };
                let word = self.flows[flow].receiver.take(now, arrival);
                if let Some(word) = word {
                    self.answer(now, flow, word);
                }
                // A sink that acknowledges nothing owes nothing.
                if self.flows[flow].receiver.acknowledges() {
                    self.reschedule(flow);
                }
            }
            Tag::Acknowledgement { flow, below, latest } if is_intact => {
                self.flows[flow].acknowledge(Acknowledgement { below, latest });
                self.send(now, flow);
            }
            Tag::Acknowledgement { .. } => {}
        }
    }

    /// All that a source may send at `now`.
    fn send(&mut self, now: Instant, flow: usize) {
        while let Some(segment) = (!self.is_over).then(|| self.flows[flow].send(now)).flatten() {
            let spec = &self.flows[flow].spec;
            let ([from, to], hop) = (spec.addresses, spec.path[0]);
            let tag = Tag::data(flow, segment.number, segment.is_again, now);
            let packet = tag::build(&mut self.pool, tag, segment.size, from, to);
            self.sent += 1;
            self.inject(now, hop, packet);
        }
        self.reschedule(flow);
    }

    /// The sink's word to its source.
    fn answer(&mut self, now: Instant, flow: usize, word: Acknowledgement) {
        let Acknowledgement { below, latest } = word;
        let size = self.flows[flow].headers();
        let spec = &self.flows[flow].spec;
        let ([from, to], hop) = (spec.addresses, spec.back[0]);
        let packet = tag::build(&mut self.pool, Tag::Acknowledgement { flow, below, latest }, size, to, from);
        self.sent += 1;
        self.inject(now, hop, packet);
    }

    fn inject(&mut self, now: Instant, hop: Hop, packet: Packet) {
        // The Ethernet addresses of simulated packets are tags.
        let (packet, spent) = if self.has_radio { packet.aim(Some(hop.exit.0)) } else { (packet, None) };
        spent.into_iter().for_each(|spent| self.pool.recycle(spent));
        self.fabric.inject(now, hop.entry, packet).expect("ways lead over pipes that exist");
    }

    fn reschedule(&mut self, flow: usize) {
        let number = u32::try_from(flow).expect("at most MOST_FLOWS");
        self.wakes.set(number, self.flows[flow].next_wake());
    }

    /// Lets arrive what is under way when sources have stopped at `end`, as long as anything moves: what a source lost is known
    /// only then.
    fn drain(&mut self, end: Instant) -> Result<(), SimError> {
        let pipes = (0..).take(self.configs.len()).map(PipeId);
        let longest = pipes.map(|pipe| self.fabric.lookahead(pipe)).max().unwrap_or(Duration::ZERO);
        let patience = PATIENCE + longest + longest;
        let (mut until, mut moved, mut moved_at) = (end, self.moved(), end);
        while self.fabric.counters().any(is_busy) && until < moved_at + patience {
            let next = self.next().unwrap_or(Instant::MAX).min(moved_at + patience);
            until = next.max(until + ASKED_EVERY);
            self.run_until(until)?;
            let now = self.moved();
            if now != moved {
                (moved, moved_at) = (now, until);
            }
        }
        Ok(())
    }

    /// How many packets of flows have left pipes, by any way.
    fn moved(&self) -> u64 {
        self.fabric.counters().map(|counters| counters.departed.packets + counters.dropped.packets()).sum()
    }

    fn outcome(mut self, duration: Duration, samples: &[PipeSample], on_air: Vec<OnAir>) -> Outcome {
        let pipe = |(((config, sample), own), meter): (((PipeConfig, &PipeSample), OnAir), Meter)| {
            // The stations and their medium are counted to the same instant.
            let (air, stations) = own.unwrap_or((sample.counters.air, Vec::new()));
            PipeOutcome { config, counters: PipeCounters { air, ..sample.counters }, stations, meter }
        };
        let pipes = self.configs.into_iter().zip(samples).zip(on_air).zip(self.meters);
        Outcome {
            duration,
            pipes: pipes.map(pipe).collect(),
            sources: self.flows.iter().map(source_outcome).collect(),
            skipped: Vec::new(),
            handed_out: self.handed_out,
            sent: self.sent,
            firings: self.fabric.take_firings(),
        }
    }
}

/// Whether packets of the flows are inside.
fn is_busy(counters: &PipeCounters) -> bool {
    counters.queued.packets + counters.travelling.packets > 0
}

/// The counters of the air of a pipe and of its stations; none if it is no radio medium.
type OnAir = Option<(AirCounters, Vec<StationCounters>)>;

fn source_outcome(flow: &Flow) -> SourceOutcome {
    let counted = flow.receiver.counted();
    let (sent_packets, resent_packets) = flow.sent();
    let start = Instant::ZERO + flow.start();
    let headers: Bytes = flow.headers();
    SourceOutcome {
        name: flow.spec.name.clone(),
        sent_packets,
        sent_bytes: flow.sent_bytes,
        resent_packets,
        arrived_packets: counted.transmissions,
        received_packets: counted.packets,
        received_bytes: counted.bytes,
        duplicate_packets: counted.duplicates,
        corrupted_packets: counted.corrupted,
        reordered_packets: counted.reordered,
        useful_bytes: counted.bytes - counted.packets * headers.get(),
        active: counted.last_at.map(|last| last.since(start)),
        delays: counted.delays.clone(),
    }
}
