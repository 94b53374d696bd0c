//! Machines with a transit device between them: frames arrive when they have crossed both links, however long each is.

use super::script::{Act, Script, echo, silent};
use super::{NIC, delay, seen, spec};
use crate::schedule::{DevicePort, Scheduler, Stop};
use netloom_fabric::{DeviceSpec, Fabric, HubSpec, PortId};
use netloom_units::{Instant, Seed};

/// Machine 0 is at port 0 and machine 1 at port 3; their links lead to a hub, with these delays each way.
fn around_a_hub(delays: [u64; 2], machines: [Script; 2]) -> Scheduler<Script> {
    let pipes: Vec<_> = [(0, 1, 0), (1, 0, 0), (2, 3, 1), (3, 2, 1)]
        .into_iter()
        .map(|(from, to, link)| spec(&format!("{from}"), from, to, delay(delays[link])))
        .collect();
    let hub = DeviceSpec::Hub(HubSpec { ports: vec![PortId(1), PortId(2)] });
    let fabric = Fabric::new(Seed::new(1), &pipes).with_devices(&pipes, &[hub]);
    let device_port = |machine, port| DevicePort { machine, device: NIC, port: PortId(port) };
    Scheduler::new(fabric, machines.into(), &[device_port(0, 0), device_port(1, 3)])
}

#[test]
fn an_echo_over_a_device_takes_all_delays_twice() {
    let starts = [5, 1_000_005, 1_300_000, 40_000_000];
    let plan: Vec<_> = starts.into_iter().zip(1..).map(|(at, number)| (at, Act::Send(NIC, number))).collect();
    for delays in [[0, 1_000_000], [1_000_000, 0], [100_000, 1_000_000], [1_000_000, 100_000], [1_000, 1_000], [0, 0]] {
        let mut lab = around_a_hub(delays, [Script::new(0, silent, &plan), Script::new(1, echo, &[])]);
        assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
        let far = delays[0] + delays[1];
        let after =
            |crossings: u64| starts.into_iter().zip(1..).map(move |(at, number)| (at + crossings * far, number));
        assert_eq!(seen(&mut lab, 1), after(1).collect::<Vec<_>>(), "{delays:?}");
        assert_eq!(seen(&mut lab, 0), after(2).collect::<Vec<_>>(), "{delays:?}");
    }
}
