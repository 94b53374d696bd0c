//! Carriers that come and go.

use super::script::{Act, Script, silent};
use super::{NIC, at, delay, pair, seen, spec};
use crate::schedule::{DevicePort, Paced, Scheduler, Stop};
use netloom_fabric::{Fabric, PipeId, PortId};
use netloom_units::{CpuCost, Duration, Instant, Seed};

/// The second machine has nothing else to do, and the first has something at each instant about it.
#[test]
fn a_carrier_goes_at_its_instant_and_in_between_nothing_arrives() {
    let sends: Vec<(u64, Act)> = (0..40).map(|n| (n * 100, Act::Send(NIC, u32::try_from(n).unwrap()))).collect();
    let mut lab = pair(250, [Script::new(0, silent, &sends), Script::new(1, silent, &[])]);
    for (instant, on) in [(1_000, false), (2_050, true)] {
        assert!(matches!(lab.run_until(at(instant)), Ok(Stop::Limit)));
        for pipe in [0, 1].map(PipeId) {
            if on {
                lab.set_up(pipe, true);
            } else {
                lab.unplug(pipe);
            }
            lab.set_carrier(pipe, on);
        }
    }
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    // What was sent at 800 and 900 was on the wire; what was sent from 1,000 on to 2,000 met a link without a carrier.
    let numbers: Vec<u32> = seen(&mut lab, 1).into_iter().map(|(_, number)| number).collect();
    assert_eq!(numbers, (0..8).chain(21..40).collect::<Vec<u32>>());
    for script in lab.machines() {
        assert_eq!(script.carriers, [(at(1_000), NIC, false), (at(2_050), NIC, true)]);
    }
}

/// A processor that is busy with frames keeps nobody from hearing of a carrier, nor does one that has nothing to do.
#[test]
fn a_processor_that_takes_time_hears_of_a_carrier_at_its_instant() {
    let cost = CpuCost { packet: Duration::from_nanos(300), ..CpuCost::default() };
    for count in [0_u64, 8] {
        let sends: Vec<(u64, Act)> = (0..count).map(|n| (n * 100, Act::Send(NIC, u32::try_from(n).unwrap()))).collect();
        let specs = [spec("there", 0, 1, delay(250)), spec("back", 1, 0, delay(250))];
        let machines = [
            Paced::new(Script::new(0, silent, &sends), CpuCost::default()),
            Paced::new(Script::new(1, silent, &[]), cost),
        ];
        let device_port = |machine: u32| DevicePort { machine: machine as usize, device: NIC, port: PortId(machine) };
        let ports = [device_port(0), device_port(1)];
        let mut lab = Scheduler::new(Fabric::new(Seed::new(1), &specs), machines.into(), &ports);
        lab.run_until(at(1_000)).expect("nothing is wrong");
        lab.set_carrier(PipeId(1), false);
        assert!(matches!(lab.run_until(at(1_001)), Ok(Stop::Limit | Stop::Idle)));
        let heard = lab.machines().nth(1).map(|paced| paced.machine().carriers.clone());
        assert_eq!(heard, Some(vec![(at(1_000), NIC, false)]), "{count} frames");
    }
}
