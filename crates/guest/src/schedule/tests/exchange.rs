//! Machines that go, and others that take their places.

use super::script::{Act, Script, silent};
use super::{NIC, delay, seen, spec};
use crate::schedule::{DevicePort, Scheduler, Stop};
use netloom_fabric::{Fabric, PipeId, PortId};
use netloom_units::{Instant, Seed};

const MILLISECOND: u64 = 1_000_000;

#[test]
fn nothing_reaches_a_machine_that_has_gone_and_the_next_one_gets_what_comes() {
    let sends: Vec<_> = (0..6).map(|number| (u64::from(number) * MILLISECOND, Act::Send(NIC, number))).collect();
    let pipes = [spec("there", 0, 1, delay(MILLISECOND)), spec("back", 1, 0, delay(MILLISECOND))];
    let device_port = |machine, port| DevicePort { machine, device: NIC, port: PortId(port) };
    let machines = vec![Script::new(0, silent, &sends), Script::new(1, silent, &[])];
    let mut lab = Scheduler::new(Fabric::new(Seed::new(1), &pipes), machines, &[device_port(0, 0), device_port(1, 1)]);
    let at = |half: u64| Instant::from_nanos(half * MILLISECOND / 2);
    assert!(matches!(lab.run_until(at(3)), Ok(Stop::Limit)));
    lab.remove(1);
    assert!(lab.is_off(1));
    assert!(matches!(lab.run_until(at(7)), Ok(Stop::Limit)));
    let before = lab.replace(1, Script::new(2, silent, &[]));
    assert_eq!(before.seen.iter().map(|(_, _, number)| *number).collect::<Vec<_>>(), [0]);
    assert!(!lab.is_off(1));
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    assert_eq!(seen(&mut lab, 1), [(4 * MILLISECOND, 3), (5 * MILLISECOND, 4), (6 * MILLISECOND, 5)]);
    assert_eq!(lab.statistics().lost, 2);
}

/// Two neighbours lose their power at one instant: the second has just heard of its carrier.
#[test]
fn a_machine_that_hears_of_its_carrier_and_goes_at_once_does_nothing_more() {
    let pipes = [spec("there", 0, 1, delay(MILLISECOND)), spec("back", 1, 0, delay(MILLISECOND))];
    let device_port = |machine, port| DevicePort { machine, device: NIC, port: PortId(port) };
    let machines = vec![Script::new(0, silent, &[]), Script::new(1, silent, &[(MILLISECOND, Act::Send(NIC, 7))])];
    let mut lab = Scheduler::new(Fabric::new(Seed::new(1), &pipes), machines, &[device_port(0, 0), device_port(1, 1)]);
    assert!(matches!(lab.run_until(Instant::from_nanos(MILLISECOND)), Ok(Stop::Limit)));
    lab.set_carrier(PipeId(1), false);
    lab.remove(1);
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    assert_eq!(seen(&mut lab, 0), []);
}
