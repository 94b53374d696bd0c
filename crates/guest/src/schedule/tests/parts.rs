//! Labs in several parts, each a scheduler in a thread of its own: all see what a single scheduler sees.

use super::equality::sites::{MACHINES, sites};
use super::equality::{END, Lab, Outcome, Shown, Witness, labs, transit};
use super::script::{Act, Script, echo, silent};
use super::{NIC, at, delay, spec};
use crate::schedule::{
    Begun, Device, DevicePort, MachineError, NextWake, Parted, Reported, Scheduler, SchedulerError, Stop, TimedFrame,
    Told, Wire,
};
use netloom_fabric::{Fabric, PortId};
use netloom_packet::{Pool, VirtioHeader};
use netloom_units::{Duration, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::{self, Instant};

/// How long nobody says anything, though all of them compute,
const LONGEST_SILENCE: time::Duration = time::Duration::from_secs(20);

/// and how often somebody listens meanwhile, since the machine may be busy with something else.
const MOST_TURNS: u32 = 100_000;

/// A way to parts in other threads.
struct Channels {
    there: Vec<Sender<Vec<u8>>>,
    here: Vec<(usize, Receiver<Vec<u8>>)>,
    untold: Vec<Vec<u8>>,
    heard: Instant,
    /// How often nothing has come since then.
    turns: u32,
    /// The parts of which nothing more comes.
    ended: Vec<usize>,
}

impl Wire for Channels {
    fn tell(&mut self, told: &Told) -> Result<(), Parted> {
        let mut bytes = Vec::new();
        told.encode(&mut bytes);
        self.untold.push(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Parted> {
        for bytes in self.untold.drain(..) {
            // Who has come to the end needs to know nothing more.
            self.there.iter().for_each(|there| drop(there.send(bytes.clone())));
        }
        Ok(())
    }

    fn hear(&mut self, pool: &mut Pool) -> Result<Option<Told>, Parted> {
        for (part, here) in &self.here {
            match here.try_recv() {
                Ok(bytes) => {
                    (self.heard, self.turns) = (Instant::now(), 0);
                    return Ok(Some(Told::decode(&bytes, pool).expect("it is a message")));
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => self.ended.push(*part),
            }
        }
        self.turns += 1;
        if self.turns > MOST_TURNS && self.heard.elapsed() > LONGEST_SILENCE {
            return Err(Parted { part: 0, what: "all wait for each other".into() });
        }
        self.here.retain(|(part, _)| !self.ended.contains(part));
        thread::yield_now();
        Ok(None)
    }

    fn ended(&mut self, part: usize) -> Option<Parted> {
        self.ended.contains(&part).then(|| Parted { part, what: format!("part {part} has come to its end") })
    }
}

/// Ways between so many parts.
fn wires(parts: usize) -> Vec<Channels> {
    let mut all: Vec<_> = (0..parts)
        .map(|_| Channels {
            there: Vec::new(),
            here: Vec::new(),
            untold: Vec::new(),
            heard: Instant::now(),
            turns: 0,
            ended: Vec::new(),
        })
        .collect();
    for from in 0..parts {
        for to in (0..parts).filter(|to| *to != from) {
            let (send, receive) = channel();
            all[from].there.push(send);
            all[to].here.push((from, receive));
        }
    }
    all
}

impl Lab {
    /// What each part saw, or why it could not go on.
    fn play_in_parts(
        &self,
        parts: usize,
        homes: &[usize],
        limits: &[u64],
        pace: u64,
    ) -> Vec<Result<(Outcome, Vec<Shown>), String>> {
        thread::scope(|scope| {
            let play = |(here, wire)| scope.spawn(move || self.play_part(here, homes, wire, limits, pace));
            let all: Vec<_> = wires(parts).into_iter().enumerate().map(play).collect();
            all.into_iter().map(|part| part.join().expect("it comes to its end")).collect()
        })
    }

    fn play_part(
        &self,
        here: usize,
        homes: &[usize],
        wire: Channels,
        limits: &[u64],
        pace: u64,
    ) -> Result<(Outcome, Vec<Shown>), String> {
        let mut lab = Scheduler::new(self.fabric(), self.machines(|_| true), &self.device_ports);
        lab.divide(here, homes, Box::new(wire));
        for (machine, own) in lab.machines().zip(1..) {
            machine.machine().pace = pace * own * (1 + here as u64);
        }
        let witness = Witness::default();
        lab.add_tap(Box::new(Witness(Rc::clone(&witness.0))));
        for limit in limits.iter().map(|limit| at(*limit)).chain([END]) {
            lab.run_until(limit).map_err(|error| error.to_string())?;
        }
        let counters = lab.counters().copied().collect();
        // What machines elsewhere saw, they saw there.
        let seen = lab.machines().map(|machine| machine.machine().seen.clone()).collect();
        Ok(((seen, counters), witness.0.take()))
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn parts_see_what_the_whole_sees(
        lab in prop_oneof![2 => labs(), 1 => transit::routed(), 1 => transit::bridged(), 1 => transit::shared()],
        limits in vec(0..30_000_000_u64, 0..3),
        homes in [0..4_usize, 0..4_usize, 0..4_usize, 0..4_usize, 0..4_usize],
        pace in any::<u32>().prop_map(u64::from),
    ) {
        let mut limits = limits;
        limits.sort_unstable();
        let whole = lab.play_late(Duration::MAX, |_| true, &limits, [0; 5], &[]);
        for parts in [2, 4] {
            let homes: Vec<usize> = homes.iter().map(|home| home % parts).collect();
            parts_are_equal(&lab, parts, &homes, &limits, pace, &whole)?;
        }
    }

    #[test]
    fn parts_with_several_machines_see_what_the_whole_sees(
        lab in sites(),
        limits in vec(0..30_000_000_u64, 0..3),
        pace in any::<u32>().prop_map(u64::from),
    ) {
        let mut limits = limits;
        limits.sort_unstable();
        let whole = lab.play_late(Duration::MAX, |_| true, &limits, [0; 5], &[]);
        for parts in [2, 4] {
            let homes: Vec<usize> = (0..MACHINES).map(|machine| machine % parts).collect();
            parts_are_equal(&lab, parts, &homes, &limits, pace, &whole)?;
        }
    }
}

/// All parts see what the whole sees, or all say that links without lookahead lead from one to another.
fn parts_are_equal(
    lab: &Lab,
    parts: usize,
    homes: &[usize],
    limits: &[u64],
    pace: u64,
    ((seen, counters), shown): &(Outcome, Vec<Shown>),
) -> Result<(), TestCaseError> {
    let played = lab.play_in_parts(parts, homes, limits, pace);
    if played.iter().any(Result::is_err) {
        let is_expected = |part: &Result<_, String>| part.as_ref().is_err_and(|why| why.contains("no lookahead"));
        let said: Vec<_> = played.iter().map(|part| part.as_ref().err()).collect();
        prop_assert!(played.iter().all(is_expected), "{:?}", said);
        return Ok(());
    }
    for (part, outcome) in played.into_iter().enumerate() {
        let ((own, counted), own_shown) = outcome.expect("none has failed");
        prop_assert_eq!(&counted, counters);
        prop_assert_eq!(&own_shown, shown);
        for (machine, home) in homes.iter().enumerate() {
            let expected = if *home == part { &seen[machine][..] } else { &[] };
            prop_assert_eq!(&own[machine][..], expected);
        }
    }
    Ok(())
}

/// Two machines at a link, which are one part each.
fn halves(nanos: u64, machines: [Script; 2], here: usize, wire: Channels) -> Scheduler<Script> {
    let specs = [spec("there", 0, 1, delay(nanos)), spec("back", 1, 0, delay(nanos))];
    let device_port = |machine: u32| DevicePort { machine: machine as usize, device: NIC, port: PortId(machine) };
    let fabric = Fabric::new(Seed::new(1), &specs);
    let mut lab = Scheduler::new(fabric, machines.into(), &[device_port(0), device_port(1)]);
    lab.divide(here, &[0, 1], Box::new(wire));
    lab
}

#[test]
fn a_part_whose_peer_is_gone_says_which() {
    let mut both = wires(2);
    drop(both.pop());
    let sender = Script::new(0, silent, &[(5, Act::Send(NIC, 7))]);
    let wire = both.pop().expect("there are two");
    let mut lab = halves(1_000_000, [sender, Script::new(1, echo, &[])], 0, wire);
    let error = lab.run_until(at(10_000_000)).expect_err("nobody tells what the other one does");
    assert_eq!(
        error,
        SchedulerError { machine: 1, error: MachineError::Elsewhere("part 1 has come to its end".into()) }
    );
}

#[test]
fn others_hear_the_headers_of_frames_that_are_not_for_them() {
    let mut pool = Pool::default();
    let mut heard = |protocol: u8, port: u16, inner: &[Device]| {
        let mut bytes = vec![7; 1_000];
        (bytes[12], bytes[13], bytes[14], bytes[23]) = (8, 0, 0x45, protocol);
        bytes[16..18].copy_from_slice(&986_u16.to_be_bytes());
        bytes[20..22].fill(0);
        bytes[34..36].copy_from_slice(&port.to_be_bytes());
        bytes[46] = 0x50;
        let packet = pool.packet(VirtioHeader::COMPLETE, &bytes);
        let sent = vec![TimedFrame { at: at(1), device: NIC, packet }];
        let (until, next_wake) = (at(2), NextWake::Never);
        let told = Reported { machine: 0, until, next_wake, stopped: None, unheard: 0, sent, inner: inner.into() };
        let mut message = Vec::new();
        Told::Reported(told).encode(&mut message);
        let Some(Told::Reported(reported)) = Told::decode(&message, &mut pool) else { panic!("a report") };
        let there = reported.sent[0].packet.bytes().to_vec();
        assert!(there == bytes || there.len() == 1_000 && message.len() < 200, "{} bytes", message.len());
        (there == bytes, there.iter().rposition(|byte| *byte != 0).map(|last| last + 1))
    };
    const TCP: u8 = 6;
    const UDP: u8 = 17;
    assert_eq!(heard(TCP, 80, &[NIC]), (false, Some(54)));
    assert_eq!(heard(UDP, 80, &[NIC]), (false, Some(42)));
    assert_eq!(heard(UDP, 53, &[NIC]), (true, Some(1_000)), "faults answer what names are asked for");
    assert_eq!(heard(1, 80, &[NIC]), (true, Some(1_000)), "ICMP");
    assert_eq!(heard(TCP, 80, &[Device::AGENT]), (true, Some(1_000)));
    assert_eq!(heard(TCP, 80, &[]), (true, Some(1_000)));
}

#[test]
fn a_part_whose_peer_ends_inside_a_window_says_which() {
    let mut both = wires(2);
    let there = both.pop().expect("there are two");
    let begun = Begun {
        sync_round: 1,
        end: at(10_000_000),
        leader: 1,
        begin: at(0),
        until: at(1_000_000),
        is_alone: false,
        round: None,
        machines: vec![1],
    };
    let mut bytes = Vec::new();
    Told::Begun(begun).encode(&mut bytes);
    there.there[0].send(bytes).expect("the other one hears");
    drop(there);
    let wire = both.pop().expect("there are two");
    let mut lab = halves(1_000_000, [Script::new(0, silent, &[]), Script::new(1, echo, &[])], 0, wire);
    let error = lab.run_until(at(10_000_000)).expect_err("nobody tells what the other one has sent");
    let what = "part 1 has come to its end".to_owned();
    assert_eq!(error, SchedulerError { machine: 1, error: MachineError::Elsewhere(what) });
}

#[test]
fn parts_that_let_time_go_on_differently_are_told_so() {
    let play = |here, limit: u64, wire| {
        let ticks: Vec<_> = (0..100).map(|tick| (tick * 500_000, Act::Tick)).collect();
        let machines = [Script::new(0, silent, &ticks), Script::new(1, echo, &ticks)];
        let mut lab = halves(1_000_000, machines, here, wire);
        let first = lab.run_until(at(limit)).map(|stop| assert!(matches!(stop, Stop::Limit)));
        first.and_then(|()| lab.run_until(at(40_000_000)).map(drop))
    };
    let both = thread::scope(|scope| {
        let all = wires(2).into_iter().zip([(0, 5_000_000), (1, 6_000_000)]);
        let all: Vec<_> = all.map(|(wire, (here, limit))| scope.spawn(move || play(here, limit, wire))).collect();
        all.into_iter().map(|part| part.join().expect("it ends")).collect::<Vec<_>>()
    });
    let told = |result: &Result<(), SchedulerError>| {
        result.as_ref().is_err_and(|error| error.to_string().contains("diverged"))
    };
    assert!(both.iter().any(told), "{both:?}");
}
