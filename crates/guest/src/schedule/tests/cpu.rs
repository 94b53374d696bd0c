//! The processor that takes time.

use super::script::{Act, Script, echo, silent};
use super::{NIC, at, delay, spec};
use crate::schedule::{DevicePort, Machine, NextWake, Paced, Scheduler, Stop, TimedFrame};
use netloom_fabric::{Fabric, PortId};
use netloom_packet::Pool;
use netloom_units::{CpuCost, Duration, Instant, Seed, TimePerByte};

fn cost(packet: u64, byte: u64) -> CpuCost {
    CpuCost { packet: Duration::from_nanos(packet), byte: TimePerByte::from_picos(byte * 1_000), ..CpuCost::default() }
}

/// Sender without a cost, echo with one, 1,000 ns apart; what the sender sees again.
fn echoes(cost: CpuCost, plan: &[(u64, Act)], longest: Duration) -> Vec<(u64, u32)> {
    let specs = [spec("there", 0, 1, delay(1_000)), spec("back", 1, 0, delay(1_000))];
    let machines =
        vec![Paced::new(Script::new(0, silent, plan), CpuCost::default()), Paced::new(Script::new(1, echo, &[]), cost)];
    let device_port = |machine: u32| DevicePort { machine: machine as usize, device: NIC, port: PortId(machine) };
    let mut lab = Scheduler::new(Fabric::new(Seed::new(1), &specs), machines, &[device_port(0), device_port(1)]);
    lab.set_longest_window(longest);
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    let sender = lab.machines().next().expect("the sender").machine();
    sender.seen.iter().map(|(at, _, number)| (at.as_nanos(), *number)).collect()
}

/// Frames of 100 bytes and more: number n has 100 + n. 30 + 100 ns to receive the first, as much to send it.
#[test]
fn a_frame_costs_twice() {
    assert_eq!(echoes(cost(30, 1), &[(0, Act::Send(NIC, 0))], Duration::MAX), [(2_260, 0)]);
}

/// Two at once: received at 1,030 and 1,060; the first answer asks at 1,030, behind the second, and leaves at 1,090.
#[test]
fn the_processor_serves_in_order() {
    let plan = [(0, Act::Send(NIC, 0)), (0, Act::Send(NIC, 1)), (1_000, Act::Send(NIC, 2))];
    for longest in [Duration::MAX, Duration::from_nanos(1), Duration::from_nanos(7)] {
        assert_eq!(echoes(cost(30, 0), &plan, longest), [(2_090, 0), (2_120, 1), (3_060, 2)]);
    }
}

/// A frame that the kernel sends by itself before another arrives is served before that.
#[test]
fn what_asks_first_is_served_first() {
    let mut machine = Paced::new(Script::new(0, echo, &[(5, Act::Send(NIC, 9))]), cost(30, 0));
    let (mut pool, mut sent) = (Pool::default(), Vec::new());
    let mut frames = vec![TimedFrame { at: at(10), device: NIC, packet: super::frame(&mut pool, 1) }];
    machine.grant(at(1_000), &mut frames, &mut pool).expect("it runs");
    assert_eq!(machine.report(&mut sent, &mut pool), Ok(Some(NextWake::Never)));
    assert_eq!(machine.machine().seen, [(at(65), NIC, 1)]);
    assert_eq!(sent.iter().map(|frame| frame.at.as_nanos()).collect::<Vec<_>>(), [35, 95]);
}

/// What leaves after the window leaves in the next one, also from a machine that is off by then.
#[test]
fn the_last_frames_of_a_machine_leave() {
    let plan = [(5, Act::Send(NIC, 1)), (5, Act::Send(NIC, 2)), (6, Act::PowerOff)];
    let mut machine = Paced::new(Script::new(0, echo, &plan), cost(30, 0));
    let (mut pool, mut sent) = (Pool::default(), Vec::new());
    machine.grant(at(40), &mut Vec::new(), &mut pool).expect("it runs");
    assert_eq!(machine.report(&mut sent, &mut pool), Ok(Some(NextWake::At(at(65)))));
    machine.grant(at(100), &mut Vec::new(), &mut pool).expect("it runs");
    assert_eq!(machine.report(&mut sent, &mut pool), Ok(Some(NextWake::Off)));
    assert_eq!(sent.iter().map(|frame| frame.at.as_nanos()).collect::<Vec<_>>(), [35, 65]);
}
