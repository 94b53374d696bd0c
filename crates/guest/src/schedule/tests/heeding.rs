//! Kernels at routers without a delay in between, and everybody else far away.

use super::equality::transit::{datagram, router_of_two};
use super::script::{Act, Script, silent};
use super::{NIC, delay, seen, spec};
use crate::schedule::{DevicePort, Scheduler, Stop};
use netloom_fabric::{Fabric, PipeSpec, PortId};
use netloom_units::{Duration, Instant, Seed};

/// Machine 0 at port 0 and machine 1 at port 1, each with a link to a router of its own, and a link between these.
fn far_apart(access: u64, middle: u64, machines: [Script; 2]) -> Scheduler<Script> {
    let ends = [(0, 10, access), (10, 0, access), (20, 21, middle), (21, 20, middle), (11, 1, access), (1, 11, access)];
    let pipes: Vec<PipeSpec> =
        ends.into_iter().map(|(from, to, nanos)| spec(&format!("{from}"), from, to, delay(nanos))).collect();
    let routers = [0, 1].map(router_of_two);
    let fabric = Fabric::new(Seed::new(1), &pipes).with_devices(&pipes, &routers);
    let device_port = |machine: u32| DevicePort { machine: machine as usize, device: NIC, port: PortId(machine) };
    let machines = machines.map(|mut machine| {
        machine.make = datagram;
        machine
    });
    Scheduler::new(fabric, machines.into(), &[device_port(0), device_port(1)])
}

/// The number of a datagram of [`datagram`] to this place: to a machine, or from 8 on to the router of its own.
fn to(place: u32) -> u32 {
    84 * 8 * 100 + 7 * place
}

#[test]
fn windows_are_as_long_as_the_way_to_others() {
    let plan: Vec<_> = (0..1_000).map(|step| (step * 10_000, Act::Send(NIC, to(1)))).collect();
    let mut windows = Vec::new();
    for (access, middle) in [(5_000_000, 0), (0, 10_000_000)] {
        let mut lab = far_apart(access, middle, [Script::new(0, silent, &plan), Script::new(1, silent, &[])]);
        assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
        let got: Vec<u64> = seen(&mut lab, 1).iter().map(|(at, _)| *at).collect();
        assert_eq!(got, (0..1_000).map(|step| step * 10_000 + 10_000_000).collect::<Vec<u64>>());
        windows.push(lab.statistics().windows);
    }
    assert!(windows[1] <= 2 * windows[0] + 4, "{windows:?}");
}

/// What the router answers comes at the instant of the question, between what comes from far away.
#[test]
fn whoever_is_answered_at_once_stops_there() {
    let ask = |at: u64| (at, Act::Send(NIC, to(8)));
    let asks = [ask(5_000), ask(12_345_678)];
    let far: Vec<_> = (0..40).map(|step| (step * 100_000 + 5_000, Act::Send(NIC, to(0)))).collect();
    let mut lab = far_apart(0, 10_000_000, [Script::new(0, silent, &asks), Script::new(1, silent, &far)]);
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    let got: Vec<u64> = seen(&mut lab, 0).iter().map(|(at, _)| *at).collect();
    let mut expected: Vec<u64> = (0..40).map(|step| step * 100_000 + 10_005_000).collect();
    expected.extend([5_000, 12_345_678]);
    expected.sort_unstable();
    assert_eq!(got, expected);
    assert!(lab.machines().next().expect("two").stops >= 2);
    assert!(lab.statistics().windows < 20, "{:?}", lab.statistics());
}

/// The answer of the far kernel takes the way twice.
#[test]
fn what_the_other_end_answers_takes_the_way_twice() {
    let plan = [(7, Act::Send(NIC, to(1)))];
    let answer = |_, device, _| vec![(Duration::from_nanos(5), Act::Send(device, to(0)))];
    let mut lab = far_apart(0, 1_000_000, [Script::new(0, silent, &plan), Script::new(1, answer, &[])]);
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    assert_eq!(seen(&mut lab, 1).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1_000_007]);
    assert_eq!(seen(&mut lab, 0).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [2_000_012]);
}
