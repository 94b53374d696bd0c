//! Ports of kernels in the engine, with front-ends that this test plays. Nothing here needs a privilege.

mod fixture;

use fixture::frontend::{FROM_GUEST, TO_GUEST};
use fixture::{DELAY, boot, booted, engine, guest, snapshot_when, start, wait_for};
use netloom_dataplane::{Act, ExecutedEvent, IfLate, PortConfig, Sampling, ScheduledEvent, Task};
use netloom_fabric::{PipeId, PortId};
use netloom_units::Duration;

#[test]
fn frames_cross_after_the_described_delay_of_the_lab() {
    for dilation in [1, 10] {
        let (mut engine, paths) = engine(dilation);
        let [mut left, mut right] = booted(&paths);
        let place = right.make_room(2_000);
        let before = engine.now();
        left.transmit(&[0; 12], &[7; 100]);
        left.kick(FROM_GUEST);
        let used = wait_for("the frame", || right.take(TO_GUEST));
        assert!(engine.now().since(before) >= DELAY, "a dilation of {dilation}");
        assert_eq!(used, (0, 112));
        assert_eq!(right.read(place, 112)[12..], [7; 100]);
        assert_eq!(wait_for("the buffer", || left.take(FROM_GUEST)), (0, 0));
        let last = snapshot_when(&mut engine, "the record", |snapshot| snapshot.pipes[0].delay.count() == 1);
        assert!(last.pipes[0].delay.max().expect("a value") >= Duration::from_micros(4_950));
        assert_eq!((last.engine.lost_sending, last.engine.unheard), (0, 0));
        wait_for("the call", || (right.rung(TO_GUEST) > 0).then_some(()));
    }
}

/// The engine keeps them by itself, in order, and whatever it measures is of that instant however late it comes.
#[test]
fn scheduled_events_are_kept_at_their_instants() {
    let (mut engine, paths) = engine(1);
    let [mut left, _right] = booted(&paths);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let (at, next) = (engine.now() + Duration::from_millis(20), Duration::from_nanos(1));
    let cut = Task::Acts(vec![(PipeId(0), Act::SetUp(false))]);
    let scheduled_event = |number, when, task| ScheduledEvent { number, at: when, task };
    let past = scheduled_event(5, at - Duration::from_millis(270), Task::Begin);
    let coming = [
        scheduled_event(9, at + next, Task::Measure),
        scheduled_event(7, at, Task::Measure),
        scheduled_event(8, at, cut),
    ];
    engine.plan([coming.to_vec(), vec![past]].concat(), IfLate::Execute).expect("a running engine");
    let mut executed: Vec<ExecutedEvent> = Vec::new();
    wait_for("the last scheduled event", || {
        executed.extend(engine.executed());
        (executed.len() == 4).then_some(())
    });
    assert_eq!(executed.iter().map(|executed| executed.number).collect::<Vec<_>>(), [5, 7, 8, 9]);
    let instants: Vec<_> =
        executed.iter().map(|executed| executed.snapshot.as_ref().map(|snapshot| snapshot.at)).collect();
    assert_eq!(instants, [None, Some(at), None, Some(at + next)]);
    // By some 250 ms; the engine may have looked at its clock before it was told.
    assert!(executed[0].late >= Duration::from_millis(100), "{:?}", executed[0].late);
    left.transmit(&[0; 12], &[7; 100]);
    left.kick(FROM_GUEST);
    snapshot_when(&mut engine, "the drop", |snapshot| snapshot.pipes[0].counters.dropped.down.packets == 1);
}

/// Counting begins where it was to begin, or is planned anew: nothing of a plan that came too late is executed.
#[test]
fn a_plan_that_comes_too_late_is_forgotten() {
    let (mut engine, paths) = engine(1);
    let _guests = booted(&paths);
    std::thread::sleep(std::time::Duration::from_millis(50));
    let scheduled_event = |number, at, task| ScheduledEvent { number, at, task };
    let (now, minute) = (engine.now(), Duration::from_millis(60_000));
    let past = now - Duration::from_millis(40);
    let late = vec![scheduled_event(1, past, Task::Begin), scheduled_event(2, now + minute, Task::Measure)];
    assert!(!engine.plan(late, IfLate::Forget).expect("a running engine"));
    let sampling = Sampling { every: Duration::from_millis(1), delays: false };
    let again = engine.now() + minute;
    let ahead = vec![scheduled_event(3, again, Task::Begin), scheduled_event(4, again, Task::Sample(sampling))];
    assert!(engine.plan(ahead, IfLate::Forget).expect("a running engine"));
    engine.counters().expect("a running engine");
    assert!(engine.executed().is_empty() && engine.samples().is_empty());
    let soon = engine.now() + Duration::from_millis(200);
    assert!(engine.plan(vec![scheduled_event(5, soon, Task::Measure)], IfLate::Forget).expect("a running engine"));
    let mut executed: Vec<ExecutedEvent> = Vec::new();
    wait_for("the event", || {
        executed.extend(engine.executed());
        (!executed.is_empty()).then_some(())
    });
    assert_eq!((executed.len(), executed[0].number), (1, 5));
}

#[test]
fn frames_wait_for_a_guest_that_is_short_of_buffers() {
    let (mut engine, paths) = engine(1);
    let [mut left, mut right] = booted(&paths);
    right.make_room(2_000);
    for number in 0..10 {
        left.transmit(&[0; 12], &[number; 100]);
    }
    left.kick(FROM_GUEST);
    wait_for("the first frame", || right.take(TO_GUEST));
    // The guest is asked to ring when it has made room.
    wait_for("the guest to ask for kicks", || right.is_asked_to_kick(TO_GUEST).then_some(()));
    for number in 1..10 {
        let place = right.make_room(2_000);
        right.kick(TO_GUEST);
        wait_for("a frame that waited", || right.take(TO_GUEST));
        assert_eq!(right.read(place, 112)[12..], [number; 100]);
    }
    let last = snapshot_when(&mut engine, "the record", |snapshot| snapshot.pipes[0].delay.count() == 10);
    assert_eq!((last.engine.lost_sending, last.engine.unheard), (0, 0));
}

/// It is as slow as described, and the packets were there in time.
#[test]
fn frames_that_wait_for_a_guest_with_a_share_are_not_late() {
    for has_share in [false, true] {
        let (mut near, mut far) = (guest(0), guest(1));
        for port in [&mut near.0, &mut far.0] {
            if let PortConfig::Guest { has_share: own, .. } = port {
                *own = has_share;
            }
        }
        let mut engine = start(1, vec![near.0, far.0]).expect("no privilege is needed");
        let [mut left, mut right] = booted(&[near.1, far.1]);
        // The first frame finds a buffer, the second one waits for another.
        right.make_room(2_000);
        for number in 0..2 {
            left.transmit(&[0; 12], &[number; 100]);
        }
        left.kick(FROM_GUEST);
        wait_for("the first frame", || right.take(TO_GUEST));
        wait_for("the guest to ask for kicks", || right.is_asked_to_kick(TO_GUEST).then_some(()));
        std::thread::sleep(std::time::Duration::from_millis(30));
        right.make_room(2_000);
        right.kick(TO_GUEST);
        let last = snapshot_when(&mut engine, "the record", |snapshot| snapshot.pipes[0].lateness.count() == 2);
        let slow: Vec<_> = last.engine.slow_receivers.iter().map(|slow| (slow.port, slow.packets)).collect();
        assert_eq!(slow, if has_share { vec![(PortId(1), 1)] } else { Vec::new() });
        let latest = last.pipes[0].lateness.max().expect("two");
        let counted = if has_share { last.engine.slow_receivers[0].longest } else { latest };
        assert!(counted >= Duration::from_millis(30), "{counted:?}");
    }
}

#[test]
fn a_guest_that_is_not_there_hears_nothing_and_one_that_goes_is_told_of() {
    let (mut engine, paths) = engine(1);
    let mut left = boot(&paths[0]);
    left.transmit(&[0; 12], &[7; 100]);
    left.kick(FROM_GUEST);
    snapshot_when(&mut engine, "a frame for nobody", |snapshot| snapshot.engine.unheard == 1);
    drop(left);
    let last = snapshot_when(&mut engine, "the end", |snapshot| !snapshot.engine.ended_ports.is_empty());
    assert_eq!(last.engine.ended_ports, [(PortId(0), "its kernel closed the connection".to_owned())]);
    assert_eq!(last.engine.lost_sending, 0);
    // The other port goes on.
    boot(&paths[1]);
}

#[test]
fn what_a_guest_never_makes_room_for_is_counted_as_lost() {
    let (mut engine, paths) = engine(1);
    let [mut left, mut right] = booted(&paths);
    right.make_room(2_000);
    let frame = vec![1; 3_900];
    for number in 0..6_000_u32 {
        left.transmit(&[0; 12], &frame);
        left.kick(FROM_GUEST);
        // One less than the queue holds is on its way at most.
        if number % 8 == 7 {
            wait_for("the buffers", || {
                while left.take(FROM_GUEST).is_some() {}
                (left.taken[FROM_GUEST] == left.put[FROM_GUEST]).then_some(())
            });
        }
    }
    let last = snapshot_when(&mut engine, "losses", |snapshot| {
        snapshot.pipes[0].counters.departed.packets == 6_000 && snapshot.engine.lost_sending > 0
    });
    assert!(last.engine.lost_sending < 6_000);
}
