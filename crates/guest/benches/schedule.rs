//! What a frame and a window cost in virtual time, without the kernels: `cargo bench -p netloom-guest --bench schedule`.
//!
//! Machines on a ring send frames of 1,500 bytes to their neighbour at a steady pace, and answer every second one with a
//! frame of 64 bytes, at once. They run in the scheduler's own thread and do nothing else, so what is left is the
//! scheduler and the fabric.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use netloom_fabric::{Fabric, PipeSpec, PortId};
use netloom_guest::schedule::{Device, DevicePort, Machine, MachineError, NextWake, Scheduler, Stop, TimedFrame};
use netloom_link::PipeConfig;
use netloom_packet::{Pool, VirtioHeader};
use netloom_units::{Duration, Instant, Seed};

const LARGE: [u8; 1_514] = [0; 1_514];
const SMALL: [u8; 78] = [0; 78];

/// Sends to the next on the ring by device 1; frames of the one before come by device 2, and so answers leave there.
struct Sender {
    pace: Duration,
    next: Instant,
    until: Instant,
    received: u64,
    answers: Vec<Instant>,
}

impl Machine for Sender {
    fn grant(&mut self, until: Instant, frames: &mut Vec<TimedFrame>, pool: &mut Pool) -> Result<(), MachineError> {
        self.until = until;
        for TimedFrame { at, device, packet } in frames.drain(..) {
            if device == Device(2) {
                self.received += 1;
                if self.received.is_multiple_of(2) {
                    self.answers.push(at);
                }
            }
            pool.recycle(packet);
        }
        Ok(())
    }

    fn stand_still(&mut self, now: Instant, span: Duration) {
        self.next = self.next.max(now) + span;
    }

    fn report(&mut self, sent: &mut Vec<TimedFrame>, pool: &mut Pool) -> Result<Option<NextWake>, MachineError> {
        let mut answers = self.answers.drain(..).peekable();
        loop {
            let answer = answers.peek().copied().filter(|at| *at <= self.next);
            let at = answer.unwrap_or(self.next);
            if at >= self.until {
                break;
            }
            let (device, bytes) = if answer.is_some() { (Device(2), &SMALL[..]) } else { (Device(1), &LARGE[..]) };
            sent.push(TimedFrame { at, device, packet: pool.packet(VirtioHeader::COMPLETE, bytes) });
            if answers.next_if(|_| answer.is_some()).is_none() {
                self.next = self.next + self.pace;
            }
        }
        Ok(Some(NextWake::At(self.next)))
    }
}

/// A ring whose links are of 10 Gbit/s and have this delay.
fn ring(nodes: u32, delay: Duration, pace: Duration) -> Scheduler<Sender> {
    let rate = "10 Gbit/s".parse().map(netloom_link::RateConfig::Constant).expect("a rate");
    let config = PipeConfig { rate, delay: delay.into(), ..PipeConfig::default() };
    let (mut specs, mut device_ports, mut machines) = (Vec::new(), Vec::new(), Vec::new());
    for node in 0..nodes {
        let (right, left) = (PortId(2 * node), PortId(2 * ((node + 1) % nodes) + 1));
        for (from, to) in [(right, left), (left, right)] {
            let name = format!("{from:?}");
            specs.push(PipeSpec {
                name,
                config: config.clone(),
                coalesce: Duration::ZERO,
                from,
                filter: None,
                medium: Vec::new(),
                to,
            });
        }
        let machine = node as usize;
        device_ports.push(DevicePort { machine, device: Device(1), port: right });
        device_ports.push(DevicePort { machine, device: Device(2), port: PortId(2 * node + 1) });
        // Not all at the same instants.
        let next = Instant::from_nanos(u64::from(node) * 37);
        machines.push(Sender { pace, next, until: Instant::ZERO, received: 0, answers: Vec::new() });
    }
    Scheduler::new(Fabric::new(Seed::new(1), &specs), machines, &device_ports)
}

fn main() {
    println!("{:<34} {:>9} {:>11} {:>11} {:>11}", "ring", "windows", "grants", "ns/window", "ns/packet");
    let (ms, us) = (Duration::from_millis, Duration::from_micros);
    let rows = [
        (2, ms(10), us(2), ms(500)),
        (2, us(100), us(2), ms(500)),
        (2, us(2), us(2), ms(200)),
        (2, Duration::ZERO, us(2), ms(200)),
        (20, ms(10), us(20), ms(500)),
        (20, us(100), us(20), ms(500)),
        (20, Duration::ZERO, us(20), ms(100)),
    ];
    for (nodes, delay, pace, time) in rows {
        let mut lab = ring(nodes, delay, pace);
        let start = std::time::Instant::now();
        assert!(matches!(lab.run_until(Instant::ZERO + time), Ok(Stop::Limit)));
        let wall = start.elapsed().as_nanos() as f64;
        let done = *lab.statistics();
        // Each packet was counted where it left and where it arrived.
        let (per_window, per_packet) = (wall / done.windows as f64, wall / (done.packets as f64 / 2.0));
        let what = format!("{nodes} nodes, {delay}, a frame per {pace}");
        println!("{what:<34} {:>9} {:>11} {per_window:>11.0} {per_packet:>11.0}", done.windows, done.grants);
    }
}
