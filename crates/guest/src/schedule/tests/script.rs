//! Kernels that tests simulate from a script.

use crate::schedule::{Device, Machine, MachineError, NextWake, TimedFrame};
use netloom_fabric::ForwardingRule;
use netloom_packet::{Packet, Pool, VirtioHeader};
use netloom_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::time;

/// What a machine does at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Sends a frame with this number.
    Send(Device, u32),
    /// Has a timer, and does nothing.
    Tick,
    /// Powers itself off.
    PowerOff,
    /// Its process ends.
    Die,
    /// It answers no more.
    Stall,
    /// Sends a frame that claims to have left so much earlier.
    SendInThePast(Duration),
}

/// What a machine does with the frame of this number that comes by this device: after a while, an act.
pub(super) type Reaction = fn(u64, Device, u32) -> Vec<(Duration, Act)>;

/// Makes the frame of a number, from the machine with a seed.
pub(super) type Make = fn(&mut Pool, u64, u32) -> Packet;

/// A machine that follows a script, and records what it saw.
#[derive(Debug)]
pub(super) struct Script {
    /// Each machine's reactions may depend on this.
    pub(super) seed: u64,
    pub(super) reaction: Reaction,
    /// What it will do, in order; of acts at one instant the first planned comes first.
    pub(super) plan: BTreeMap<(Instant, u64), Act>,
    planned: u64,
    /// Whether it runs when it is granted; otherwise when it is asked to report.
    pub(super) is_eager: bool,
    /// Which frames came, when and where.
    pub(super) seen: Vec<(Instant, Device, u32)>,
    /// Which carriers came and went, and when.
    pub(super) carriers: Vec<(Instant, Device, bool)>,
    /// Those of which it has not heard.
    changing: Vec<(Instant, Device, bool)>,
    /// Every grant.
    pub(super) grants: Vec<Instant>,
    /// When it stood still, and for how long.
    pub(super) stood_still: Vec<(Instant, Duration)>,
    until: Instant,
    /// Whether it stops when it has sent something.
    is_alone: bool,
    /// What is passed on of that which it sends, by device.
    rules: BTreeMap<Device, ForwardingRule>,
    /// Whether it stops when it has sent something else, and where it did.
    is_heeding: bool,
    stopped: Option<Instant>,
    /// How often it was stopped so.
    pub(super) stops: u32,
    pub(super) make: Make,
    inbox: Vec<(Instant, Device, u32)>,
    sent: Vec<TimedFrame>,
    outcome: Result<bool, MachineError>,
    /// How many times it is still computing when it is asked to report within a limit.
    pub(super) delays: u32,
    /// If it is not zero, it is still computing a few times after each grant, which this says.
    pub(super) pace: u64,
    /// Whether it was granted something and has not reported.
    is_running: bool,
    /// How often it went to another processor.
    pub(super) moves: u32,
}

impl Script {
    pub(super) fn new(seed: u64, reaction: Reaction, plan: &[(u64, Act)]) -> Self {
        let mut this = Self {
            seed,
            reaction,
            plan: BTreeMap::new(),
            planned: 0,
            is_eager: true,
            seen: Vec::new(),
            carriers: Vec::new(),
            changing: Vec::new(),
            grants: Vec::new(),
            stood_still: Vec::new(),
            until: Instant::ZERO,
            is_alone: false,
            rules: BTreeMap::new(),
            is_heeding: false,
            stopped: None,
            stops: 0,
            make: |pool, _, number| frame(pool, number),
            inbox: Vec::new(),
            sent: Vec::new(),
            outcome: Ok(true),
            delays: 0,
            pace: 0,
            is_running: false,
            moves: 0,
        };
        plan.iter().for_each(|(at, act)| this.plan(Instant::from_nanos(*at), *act));
        this
    }

    fn plan(&mut self, at: Instant, act: Act) {
        self.planned += 1;
        self.plan.insert((at, self.planned), act);
    }

    /// Runs: at each instant, frames come before acts.
    fn run(&mut self, pool: &mut Pool) {
        let until = self.until;
        self.carriers.extend(self.changing.extract_if(.., |(at, ..)| *at < until));
        let mut inbox = std::mem::take(&mut self.inbox).into_iter().peekable();
        loop {
            let planned = self.plan.first_key_value().map(|((at, _), _)| *at);
            let frame = inbox.peek().map(|(at, ..)| *at);
            if let Some(first) = self.sent.first().filter(|_| self.is_alone) {
                self.until = self.until.min(first.at + Duration::from_nanos(1));
            }
            if let Some(stopped) = self.stopped {
                self.until = self.until.min(stopped);
            }
            let Some(now) = [planned, frame].into_iter().flatten().min().filter(|now| *now < self.until) else {
                return;
            };
            if !matches!(self.outcome, Ok(true)) {
                return;
            }
            if frame == Some(now) {
                let Some((_, device, number)) = inbox.next() else { return };
                self.seen.push((now, device, number));
                for (later, act) in (self.reaction)(self.seed, device, number) {
                    self.plan(now + later, act);
                }
            } else if let Some((_, act)) = self.plan.pop_first() {
                self.act(now, act, pool);
            }
        }
    }

    fn act(&mut self, at: Instant, act: Act, pool: &mut Pool) {
        match act {
            Act::Send(device, number) => {
                let packet = (self.make)(pool, self.seed, number);
                let is_answered = self.rules.get(&device).is_some_and(|rule| !rule.passes(&packet));
                if self.is_heeding && is_answered && self.stopped.is_none() {
                    self.stopped = Some(at + Duration::from_nanos(1));
                    self.stops += 1;
                }
                self.sent.push(TimedFrame { at, device, packet });
            }
            Act::SendInThePast(by) => {
                self.sent.push(TimedFrame { at: at - by, device: Device(1), packet: frame(pool, 0) });
            }
            Act::Tick => {}
            Act::PowerOff => self.outcome = Ok(false),
            Act::Die => self.outcome = Err(MachineError::Died(": Kernel panic".into())),
            Act::Stall => self.outcome = Err(MachineError::Stalled(String::new())),
        }
    }
}

impl Machine for Script {
    fn set_carrier(&mut self, at: Instant, device: Device, on: bool) {
        self.changing.push((at, device, on));
    }

    fn heed(&mut self, device: Device, rule: &ForwardingRule) -> bool {
        self.rules.insert(device, rule.clone());
        true
    }

    fn grant_heeding(
        &mut self,
        until: Instant,
        frames: &mut Vec<TimedFrame>,
        pool: &mut Pool,
    ) -> Result<(), MachineError> {
        self.is_heeding = true;
        self.grant(until, frames, pool)
    }

    fn stopped(&self) -> Option<Instant> {
        self.stopped
    }

    fn grant(&mut self, until: Instant, frames: &mut Vec<TimedFrame>, pool: &mut Pool) -> Result<(), MachineError> {
        self.stopped = None;
        self.is_running = true;
        let last = self.until.as_nanos().saturating_sub(1);
        self.until = until;
        self.grants.push(until);
        if self.pace > 0 {
            self.pace = self.pace.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.delays = (self.pace >> 33) as u32 % 6;
        }
        assert!(frames.is_sorted_by_key(|frame| frame.at), "in order");
        for TimedFrame { at, device, packet } in frames.drain(..) {
            assert!(at.as_nanos() >= last && at < until, "{at:?} after {last} and before {until:?}");
            self.inbox.push((at, device, number(&packet)));
            pool.recycle(packet);
        }
        if self.is_eager {
            self.run(pool);
        }
        Ok(())
    }

    fn stand_still(&mut self, now: Instant, span: Duration) {
        let plan = std::mem::take(&mut self.plan);
        self.plan = plan.into_iter().map(|((at, order), act)| ((at.max(now) + span, order), act)).collect();
        self.stood_still.push((now, span));
    }

    fn stops_after_sending(&self) -> bool {
        self.is_eager
    }

    fn grant_alone(
        &mut self,
        until: Instant,
        frames: &mut Vec<TimedFrame>,
        pool: &mut Pool,
    ) -> Result<(), MachineError> {
        assert!(frames.first().map(|frame| frame.at) == frames.last().map(|frame| frame.at));
        self.is_alone = true;
        self.grant(until, frames, pool)
    }

    /// Those with odd numbers compute longer.
    fn processor_time(&self) -> Option<time::Duration> {
        Some(time::Duration::from_millis(self.grants.len() as u64 * (1 + self.seed % 2 * 4)))
    }

    fn move_to(&mut self, _lane: usize) {
        assert!(!self.is_running, "only between rounds");
        self.moves += 1;
    }

    fn report(&mut self, sent: &mut Vec<TimedFrame>, pool: &mut Pool) -> Result<Option<NextWake>, MachineError> {
        if self.delays > 0 {
            self.delays -= 1;
            return Ok(None);
        }
        self.is_running = false;
        if !self.is_eager {
            self.run(pool);
        }
        sent.append(&mut self.sent);
        self.is_alone = false;
        self.is_heeding = false;
        let next = self.plan.first_key_value().map(|((at, _), _)| *at);
        match &self.outcome {
            Ok(true) => Ok(Some(next.map_or(NextWake::Never, NextWake::At))),
            Ok(false) => Ok(Some(NextWake::Off)),
            Err(error) => Err(error.clone()),
        }
    }
}

/// A frame of 100 to 1,123 bytes from the IP header on; its number says how many, and stands in it.
pub(super) fn frame(pool: &mut Pool, number: u32) -> Packet {
    let mut bytes = vec![0; 114 + number as usize % 1_024];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    pool.packet(VirtioHeader::COMPLETE, &bytes)
}

pub(super) fn number(packet: &Packet) -> u32 {
    let bytes = packet.bytes();
    let at = match bytes[12..14] {
        // Behind the headers of IPv4 and of UDP or ICMP.
        [8, 0] => 42,
        [0x88, 0xb5] => 14,
        _ => 0,
    };
    // The last fragment of a packet may be shorter.
    let mut number = [0; 4];
    let there = bytes.get(at..).unwrap_or_default();
    number.iter_mut().zip(there).for_each(|(to, from)| *to = *from);
    u32::from_be_bytes(number)
}

/// It only listens.
pub(super) fn silent(_: u64, _: Device, _: u32) -> Vec<(Duration, Act)> {
    Vec::new()
}

/// It sends every frame back at once.
pub(super) fn echo(_: u64, device: Device, number: u32) -> Vec<(Duration, Act)> {
    vec![(Duration::ZERO, Act::Send(device, number))]
}
