//! Random labs: windows as long as can be, one instant at a time, and a plain loop without a scheduler see the same.
//!
//! The cases are the same in every run; `PROPTEST_CASES=20000` tries more of them.

pub(super) mod sites;
pub(super) mod transit;

use super::script::{Act, Make, Reaction, Script, frame, number};
use super::{NIC, at};
use crate::schedule::{Device, DevicePort, Machine, NextWake, Paced, Scheduler, Stop, TimedFrame};
use netloom_fabric::{DeviceSpec, Fabric, PipeSpec, PortId, Tap, Way};
use netloom_link::{PipeConfig, PipeCounters};
use netloom_packet::{Packet, Pool};
use netloom_units::{CpuCost, Duration, Instant, Seed, TimePerByte};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::cell::RefCell;
use std::rc::Rc;

pub(super) const END: Instant = Instant::from_nanos(40_000_000);

/// Values of a direction, in the language of lab files.
const MODELS: &[(&str, &[&str])] = &[
    ("rate", &["unlimited", "1 Mbit/s", "100 Mbit/s", "10 Gbit/s"]),
    (
        "delay",
        &[
            "0",
            "1 ns",
            "20 us",
            "1 ms",
            "{kind: uniform, from: 10 us, to: 2 ms}",
            "{kind: normal, mean: 1 ms, deviation: 100 us, order: free}",
        ],
    ),
    (
        "queue",
        &[
            "3 packets",
            "{kind: codel, target: 100 us, interval: 1 ms, limit: 30 packets}",
            "{kind: pie, target: 1 ms, limit: 30 packets}",
            "{kind: red, min: 3 packets, max: 9 packets, limit: 30 packets}",
            "{kind: fq_codel, target: 100 us, interval: 1 ms}",
            "{kind: fifo, limit: 3 packets, drop: head}",
        ],
    ),
    ("loss", &["5 %"]),
    ("duplicate", &["10 %"]),
    ("reorder", &["20 %"]),
    ("state", &["{on_cut: lost, flap: {up: 3 ms, down: 1 ms}}"]),
    (
        "schedule",
        &[
            "{steps: [{at: 0, rate: 10 Mbit/s}, {at: 2 ms, rate: 100 Mbit/s, delay: 1 ms}, {at: 5 ms, delay: 0}], repeat: true}",
        ],
    ),
    ("cross", &["[{kind: constant, rate: 5 Mbit/s, size: 700 B}]"]),
];

#[derive(Clone, Debug)]
pub(super) struct Lab {
    specs: Vec<PipeSpec>,
    devices: Vec<DeviceSpec>,
    pub(super) device_ports: Vec<DevicePort>,
    costs: Vec<CpuCost>,
    /// What each machine does by itself.
    plans: Vec<Vec<(u64, Act)>>,
    reaction: Reaction,
    make: Make,
}

fn configs() -> impl Strategy<Value = PipeConfig> {
    let change = (0..MODELS.len(), any::<prop::sample::Index>()).prop_map(|(model, form)| {
        let (key, forms) = MODELS[model];
        let value = forms[form.index(forms.len())];
        netloom_lab::parse_change(key, value).unwrap_or_else(|error| panic!("{key}: {value}: {error}"))
    });
    vec(change, 0..4)
        .prop_map(|changes| changes.iter().fold(PipeConfig::default(), |config, one| one.applied_to(&config)))
}

/// Links between any two of up to five machines, each with a pipe either way.
pub(super) fn labs() -> impl Strategy<Value = Lab> {
    let link = (0..5_usize, 0..5_usize, configs(), configs(), prop_oneof![Just(0), 0..300_000_u64]);
    let act = (prop_oneof![0..20_u64, 0..3_000_000_u64], 1..5_u16, any::<u32>())
        .prop_map(|(at, device, number)| (at, Act::Send(Device(device), number)));
    let time = prop_oneof![3 => Just((0, 0)), 1 => (0..20_000_u64, 0..9_000_u64)];
    let node = (vec(act, 0..6), time);
    (vec(link, 1..7), vec(node, 5)).prop_map(|(links, machines)| joined(links, machines, forward))
}

/// A link between two machines: how it is either way, and how long it coalesces, in nanoseconds.
type Link = (usize, usize, PipeConfig, PipeConfig, u64);

/// The acts of a machine by itself, and what a packet and a byte cost it, in nanoseconds and picoseconds.
type Node = (Vec<(u64, Act)>, (u64, u64));

/// Machines with links between them.
fn joined(links: Vec<Link>, machines: Vec<Node>, reaction: Reaction) -> Lab {
    let (mut specs, mut device_ports, mut devices) = (Vec::new(), Vec::new(), vec![0_u16; machines.len()]);
    for (a, b, there, back, coalesce) in links {
        let ports = [a, b].map(|machine| {
            devices[machine] += 1;
            let port = PortId(u32::try_from(device_ports.len()).expect("few ports"));
            device_ports.push(DevicePort { machine, device: Device(devices[machine]), port });
            port
        });
        for (config, from, to) in [(there, ports[0], ports[1]), (back, ports[1], ports[0])] {
            let (name, coalesce) = (format!("pipe{}", specs.len()), Duration::from_nanos(coalesce));
            specs.push(PipeSpec { name, config, coalesce, from, filter: None, medium: Vec::new(), to });
        }
    }
    let (plans, costs): (Vec<_>, Vec<_>) = machines.into_iter().unzip();
    let cost = |(packet, byte)| CpuCost {
        packet: Duration::from_nanos(packet),
        byte: TimePerByte::from_picos(byte),
        ..CpuCost::default()
    };
    let costs = costs.into_iter().map(cost).collect();
    let make: Make = |pool, _, number| frame(pool, number);
    Lab { specs, devices: Vec::new(), device_ports, costs, plans, reaction, make }
}

/// Passes most frames on, at once or later, and sometimes two for one; numbers fall, so that all ends.
fn forward(seed: u64, device: Device, number: u32) -> Vec<(Duration, Act)> {
    let mut mixed = (u64::from(number) << 20 ^ u64::from(device.0) << 8 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut draw = |below: u64| {
        mixed = mixed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (mixed >> 33) % below
    };
    let copies = if number < 1_000 { 0 } else { draw(3) };
    let mut acts = Vec::new();
    for _ in 0..copies {
        let later = [0, 1, draw(1_000), draw(2_000_000)][draw(4) as usize];
        let out = Device(u16::try_from(1 + draw(4)).expect("small"));
        acts.push((Duration::from_nanos(later), Act::Send(out, number / 2 + draw(99) as u32)));
    }
    acts
}

impl Lab {
    pub(super) fn machines(&self, eager: impl Fn(usize) -> bool) -> Vec<Paced<Script>> {
        let machine = |(index, (plan, cost)): (usize, (&Vec<_>, &CpuCost))| {
            let mut script = Script::new(index as u64, self.reaction, plan);
            (script.is_eager, script.make) = (eager(index), self.make);
            Paced::new(script, *cost)
        };
        self.plans.iter().zip(&self.costs).enumerate().map(machine).collect()
    }

    pub(super) fn fabric(&self) -> Fabric {
        let fabric = Fabric::new(Seed::new(5), &self.specs);
        if self.devices.is_empty() { fabric } else { fabric.with_devices(&self.specs, &self.devices) }
    }

    /// What all machines saw, and what the pipes counted.
    fn play(&self, longest: Duration, eager: impl Fn(usize) -> bool, limits: &[u64]) -> Outcome {
        self.play_late(longest, eager, limits, [0; 5], &[]).0
    }

    /// The same with machines that are late so many times when they are asked to report, on these processors; and what a
    /// tap was shown.
    pub(super) fn play_late(
        &self,
        longest: Duration,
        eager: impl Fn(usize) -> bool,
        limits: &[u64],
        delays: [u32; 5],
        processors: &[usize],
    ) -> (Outcome, Vec<Shown>) {
        let mut lab = Scheduler::new(self.fabric(), self.machines(eager), &self.device_ports);
        lab.set_processors(processors);
        lab.machines().zip(delays).for_each(|(machine, delays)| machine.machine().delays = delays);
        let witness = Witness::default();
        lab.add_tap(Box::new(Witness(Rc::clone(&witness.0))));
        lab.set_longest_window(longest);
        for limit in limits.iter().map(|limit| at(*limit)).chain([END]) {
            let stop = lab.run_until(limit).expect("nobody fails");
            assert!(matches!(stop, Stop::Limit | Stop::Idle));
        }
        let counters = lab.counters().copied().collect();
        let seen = lab.machines().map(|machine| machine.machine().seen.clone()).collect();
        ((seen, counters), witness.0.take())
    }

    /// The same without a scheduler: at each instant the fabric delivers, machines run, and what they send enters.
    fn play_plainly(&self) -> Outcome {
        let (mut fabric, mut machines, mut pool) = (self.fabric(), self.machines(|_| true), Pool::default());
        let mut wakes = vec![Some(Instant::ZERO); machines.len()];
        loop {
            let next = wakes.iter().copied().chain([fabric.next_wake()]).flatten().min();
            let Some(now) = next.filter(|now| *now < END) else { break };
            let mut inboxes: Vec<Vec<TimedFrame>> = machines.iter().map(|_| Vec::new()).collect();
            fabric.advance(now, |delivery| {
                let device_port = self
                    .device_ports
                    .iter()
                    .find(|device_port| device_port.port == delivery.port)
                    .expect("a known port");
                let timed_frame = TimedFrame { at: now, device: device_port.device, packet: delivery.departure.packet };
                inboxes[device_port.machine].push(timed_frame);
            });
            for (index, (machine, inbox)) in machines.iter_mut().zip(&mut inboxes).enumerate() {
                if inbox.is_empty() && wakes[index] != Some(now) {
                    continue;
                }
                let mut sent = Vec::new();
                machine.grant(now + Duration::from_nanos(1), inbox, &mut pool).expect("it runs");
                let wake = machine.report(&mut sent, &mut pool).expect("it runs").expect("it waits");
                wakes[index] = if let NextWake::At(at) = wake { Some(at) } else { None };
                sent.sort_by_key(|timed_frame| timed_frame.device);
                for TimedFrame { device, packet, .. } in sent {
                    let is_it =
                        |device_port: &&DevicePort| device_port.machine == index && device_port.device == device;
                    if let Some(device_port) = self.device_ports.iter().find(is_it) {
                        fabric.inject(now, device_port.port, packet).expect("a known port");
                    }
                }
            }
        }
        fabric.settle(END - Duration::from_nanos(1));
        (
            machines.iter_mut().map(|machine| machine.machine().seen.clone()).collect(),
            fabric.counters().copied().collect(),
        )
    }
}

/// A packet that passes a port: where, which way, when first and last, and its number.
pub(super) type Shown = (PortId, Way, Instant, Instant, u32);

#[derive(Default)]
pub(super) struct Witness(pub(super) Rc<RefCell<Vec<Shown>>>);

impl Tap for Witness {
    fn packet(&mut self, port: PortId, way: Way, first: Instant, last: Instant, packet: &Packet) {
        self.0.borrow_mut().push((port, way, first, last, number(packet)));
    }

    fn settle(&mut self, _: &mut Pool) {}
}

/// What each machine saw; what each pipe counted.
pub(super) type Outcome = (Vec<Vec<(Instant, Device, u32)>>, Vec<PipeCounters>);

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn windows_change_nothing(lab in labs(), longest in 1..1_000_000_u64, limits in vec(0..30_000_000_u64, 0..5)) {
        windows_are_equal(&lab, longest, limits)?;
    }

    #[test]
    fn windows_change_nothing_between_routers(
        lab in transit::routed(),
        longest in 1..1_000_000_u64,
        limits in vec(0..30_000_000_u64, 0..5),
    ) {
        windows_are_equal(&lab, longest, limits)?;
    }

    #[test]
    fn windows_change_nothing_between_bridges(
        lab in transit::bridged(),
        longest in 1..1_000_000_u64,
        limits in vec(0..30_000_000_u64, 0..5),
    ) {
        windows_are_equal(&lab, longest, limits)?;
    }

    #[test]
    fn windows_change_nothing_at_media(
        lab in transit::shared(),
        longest in 1..1_000_000_u64,
        limits in vec(0..30_000_000_u64, 0..5),
    ) {
        windows_are_equal(&lab, longest, limits)?;
    }

    #[test]
    fn who_reports_first_changes_nothing(
        lab in prop_oneof![2 => labs(), 1 => transit::routed(), 1 => transit::bridged(), 1 => transit::shared()],
        limits in vec(0..30_000_000_u64, 0..3),
        delays in [0..40_u32, 0..40_u32, 0..40_u32, 0..40_u32, 0..40_u32],
        processors in [0..2_usize, 0..2_usize, 0..2_usize, 0..2_usize, 0..2_usize],
    ) {
        let mut limits = limits;
        limits.sort_unstable();
        let punctual = lab.play_late(Duration::MAX, |_| true, &limits, [0; 5], &[]);
        prop_assert_eq!(&lab.play_late(Duration::MAX, |_| true, &limits, delays, &[]), &punctual);
        prop_assert_eq!(&lab.play_late(Duration::MAX, |_| true, &limits, delays, &processors), &punctual);
        prop_assert_eq!(&lab.play_late(Duration::MAX, |_| true, &limits, delays, &[0; 5]), &punctual);
    }
}

/// In windows as long as can be, of an instant, and of other lengths, and without a scheduler, all see the same.
fn windows_are_equal(lab: &Lab, longest: u64, mut limits: Vec<u64>) -> Result<(), TestCaseError> {
    let wide = lab.play(Duration::MAX, |_| true, &[]);
    prop_assert_eq!(&lab.play_plainly(), &wide);
    prop_assert_eq!(&lab.play(Duration::from_nanos(1), |_| true, &[]), &wide);
    limits.sort_unstable();
    prop_assert_eq!(&lab.play(Duration::from_nanos(longest), |_| true, &limits), &wide);
    prop_assert_eq!(&lab.play(Duration::MAX, |index| index % 2 == 0, &limits), &wide);
    Ok(())
}

/// The cases above do something.
#[test]
fn frames_go_on() {
    let acts = forward(1, NIC, 1_000_000);
    assert!((0..100).map(|seed| forward(seed, NIC, 1_000_000).len()).sum::<usize>() > 80, "{acts:?}");
}
