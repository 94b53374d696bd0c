//! Machines that stand still for a while.

use super::{NIC, at, frame, pair, seen};
use crate::schedule::tests::script::{Act, Script, echo, silent};
use crate::schedule::{Machine, NextWake, Paced, Stop, TimedFrame};
use netloom_packet::Pool;
use netloom_units::{CpuCost, Duration, Instant};

/// 1,000 ns there, 1,000 ns back; the machine that answers stands still from 5,000 to 50,000 ns, and so do its timers.
#[test]
fn what_is_sent_meanwhile_waits_and_timers_fall_behind() {
    let sends = [(1_000, Act::Send(NIC, 1)), (4_500, Act::Send(NIC, 2)), (60_000, Act::Send(NIC, 3))];
    for longest in [Duration::MAX, Duration::from_nanos(1), Duration::from_nanos(700)] {
        for is_eager in [true, false] {
            let mut machines = [Script::new(0, silent, &sends), Script::new(1, echo, &[(7_000, Act::Send(NIC, 9))])];
            machines[1].is_eager = is_eager;
            let mut lab = pair(1_000, machines);
            lab.set_longest_window(longest);
            assert!(matches!(lab.run_until(at(5_000)), Ok(Stop::Limit)));
            lab.freeze(1, at(50_000));
            assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
            assert_eq!(seen(&mut lab, 1), [(2_000, 1), (50_000, 2), (61_000, 3)]);
            assert_eq!(seen(&mut lab, 0), [(3_000, 1), (51_000, 2), (53_000, 9), (62_000, 3)]);
            let stood = lab.machines().nth(1).map(|machine| machine.stood_still.clone());
            assert_eq!(stood, Some(vec![(at(5_000), Duration::from_nanos(45_000))]));
            assert_eq!(lab.unheard(), 0);
        }
    }
}

/// The ring of a device has 256 places.
#[test]
fn what_has_no_room_meanwhile_is_dropped() {
    let sends: Vec<_> = (0..300).map(|number| (5_001 + u64::from(number), Act::Send(NIC, number))).collect();
    let mut lab = pair(1_000, [Script::new(0, silent, &sends), Script::new(1, silent, &[])]);
    assert!(matches!(lab.run_until(at(5_000)), Ok(Stop::Limit)));
    lab.freeze(1, at(50_000));
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    assert_eq!(seen(&mut lab, 1), (0..256).map(|number| (50_000, number)).collect::<Vec<_>>());
    assert_eq!(lab.unheard(), 44);
}

/// A standstill that is made longer is one.
#[test]
fn standstills_that_overlap_add_up_to_their_end() {
    let plan = [(7_000, Act::Send(NIC, 9))];
    let mut lab = pair(1_000, [Script::new(0, silent, &[]), Script::new(1, silent, &plan)]);
    assert!(matches!(lab.run_until(at(5_000)), Ok(Stop::Limit)));
    lab.freeze(1, at(10_000));
    assert!(matches!(lab.run_until(at(6_000)), Ok(Stop::Limit)));
    lab.freeze(1, at(8_000));
    lab.freeze(1, at(12_000));
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    assert_eq!(seen(&mut lab, 0), [(15_000, 9)]);
}

/// Received at 40 ns, had the processor not stood still for 100 ns from 20 ns on; the answer takes 30 ns, too.
#[test]
fn a_processor_stands_still_with_its_kernel() {
    let cost = CpuCost { packet: Duration::from_nanos(30), ..CpuCost::default() };
    let mut machine = Paced::new(Script::new(0, echo, &[]), cost);
    let (mut pool, mut sent) = (Pool::default(), Vec::new());
    let mut frames = vec![TimedFrame { at: at(10), device: NIC, packet: frame(&mut pool, 1) }];
    machine.grant(at(20), &mut frames, &mut pool).expect("it runs");
    assert_eq!(machine.report(&mut sent, &mut pool), Ok(Some(NextWake::At(at(40)))));
    machine.stand_still(at(20), Duration::from_nanos(100));
    machine.grant(at(1_000), &mut Vec::new(), &mut pool).expect("it runs");
    assert_eq!(machine.report(&mut sent, &mut pool), Ok(Some(NextWake::Never)));
    assert_eq!(machine.machine().seen, [(at(140), NIC, 1)]);
    assert_eq!(sent.iter().map(|frame| frame.at.as_nanos()).collect::<Vec<_>>(), [170]);
}
