//! A pipe that is unplugged, as when a cable is pulled out: what is on the wire is lost, too.

use netloom_link::{
    Cause, DelayConfig, Distribution, DropLog, FlapConfig, FlapTime, OnTheWire, Pipe, PipeConfig, RateConfig,
    StateConfig,
};
use netloom_packet::Pool;
use netloom_testing::loads::{Load, number};
use netloom_units::{Duration, Instant, Rate, Seed};

/// Takes 12 ms at 1 Mbit/s, and arrives 100 ms later.
const LOAD: Load = Load::Plain(1_500);

fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// A pipe that got five packets at time zero. At 30 ms two are on the wire, one is being sent, and two wait.
fn busy(pool: &mut Pool, drop_log: &mut DropLog) -> Pipe {
    let delay =
        DelayConfig { distribution: Distribution::Constant(Duration::from_millis(100)), ..DelayConfig::default() };
    let rate = RateConfig::Constant(Rate::from_bits_per_second(1_000_000).expect("a rate"));
    let mut pipe = Pipe::new(&PipeConfig { rate, delay, ..PipeConfig::default() }, Duration::ZERO, Seed::new(1));
    for index in 0..5 {
        pipe.push(ms(0), LOAD.packet(pool, index), drop_log);
    }
    pipe
}

/// What still leaves: packet and instant.
fn departures(pipe: &mut Pipe, drop_log: &mut DropLog) -> Vec<(u32, Instant)> {
    let mut left = Vec::new();
    while let Some(wake) = pipe.next_wake() {
        while let Some(departure) = pipe.pop(wake, drop_log) {
            left.push((number(&departure.packet), departure.due));
        }
    }
    left
}

#[test]
fn all_that_is_in_the_pipe_is_lost() {
    let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
    let mut pipe = busy(&mut pool, &mut drop_log);
    pipe.unplug(ms(30), &mut drop_log);
    let mut lost: Vec<u32> = drop_log.iter().map(|dropped| number(&dropped.packet)).collect();
    lost.sort_unstable();
    assert_eq!(lost, [0, 1, 2, 3, 4]);
    assert!(drop_log.iter().all(|dropped| dropped.cause == Cause::Down && dropped.at == ms(30)));
    assert_eq!(pipe.counters().dropped.down.packets, 5);
    assert!(pipe.counters().balance());
    assert_eq!(departures(&mut pipe, &mut drop_log), []);
    // What comes while it is unplugged is dropped; what comes afterwards arrives.
    pipe.push(ms(40), LOAD.packet(&mut pool, 5), &mut drop_log);
    assert_eq!(pipe.counters().dropped.down.packets, 6);
    pipe.set_up(ms(50), true, &mut drop_log);
    pipe.push(ms(50), LOAD.packet(&mut pool, 6), &mut drop_log);
    assert_eq!(departures(&mut pipe, &mut drop_log), [(6, ms(162))]);
}

/// A cut alone loses nothing that has left the transmitter.
#[test]
fn a_cut_delivers_what_travels() {
    let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
    let mut pipe = busy(&mut pool, &mut drop_log);
    pipe.set_up(ms(30), false, &mut drop_log);
    assert_eq!(departures(&mut pipe, &mut drop_log), [(0, ms(112)), (1, ms(124))]);
    assert_eq!(pipe.counters().dropped.down.packets, 3);
}

/// A cut that is followed by an unplugged cable loses what is still on the wire then.
#[test]
fn a_pipe_that_is_cut_can_be_unplugged() {
    let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
    let mut pipe = busy(&mut pool, &mut drop_log);
    pipe.set_up(ms(30), false, &mut drop_log);
    pipe.unplug(ms(115), &mut drop_log);
    let left: Vec<u32> = departures(&mut pipe, &mut drop_log).into_iter().map(|(packet, _)| packet).collect();
    assert_eq!((left, pipe.counters().dropped.down.packets), (vec![0], 4));
    assert!(pipe.counters().balance());
}

/// A node that has stopped keeps the link cut, whoever else restores it, until all of its nodes run again.
#[test]
fn a_link_whose_nodes_have_stopped_comes_back_with_the_last_of_them() {
    let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
    let mut pipe = busy(&mut pool, &mut drop_log);
    pipe.hold(ms(30), true, OnTheWire::Lost, &mut drop_log);
    assert_eq!((pipe.counters().dropped.down.packets, departures(&mut pipe, &mut drop_log).len()), (5, 0));
    pipe.hold(ms(40), true, OnTheWire::Lost, &mut drop_log);
    pipe.set_up(ms(50), true, &mut drop_log);
    pipe.hold(ms(60), false, OnTheWire::Lost, &mut drop_log);
    pipe.push(ms(70), LOAD.packet(&mut pool, 5), &mut drop_log);
    assert_eq!(pipe.counters().dropped.down.packets, 6);
    pipe.hold(ms(80), false, OnTheWire::Lost, &mut drop_log);
    pipe.push(ms(80), LOAD.packet(&mut pool, 6), &mut drop_log);
    assert_eq!(departures(&mut pipe, &mut drop_log), [(6, ms(192))]);
    assert!(pipe.counters().balance());
    // What was cut by hand stays so when the node runs again.
    pipe.set_up(ms(200), false, &mut drop_log);
    pipe.hold(ms(210), true, OnTheWire::Lost, &mut drop_log);
    pipe.hold(ms(220), false, OnTheWire::Lost, &mut drop_log);
    pipe.push(ms(230), LOAD.packet(&mut pool, 7), &mut drop_log);
    assert_eq!(departures(&mut pipe, &mut drop_log), []);
}

/// Virtual time lets packets enter far ahead of whoever listens at the end, and the other way round.
#[test]
fn who_listens_hears_of_a_flap_when_it_happens() {
    let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
    let time = |ms| FlapTime::Constant(Duration::from_millis(ms));
    let flap = Some(FlapConfig { up: time(3), down: time(1), start: None });
    let state = StateConfig { flap, ..StateConfig::default() };
    let mut pipe = Pipe::new(&PipeConfig { state, ..PipeConfig::default() }, Duration::ZERO, Seed::new(1));
    pipe.push(ms(9), LOAD.packet(&mut pool, 0), &mut drop_log);
    let heard = [1, 2, 3, 4, 6, 7, 8].map(|at| {
        let carrier = pipe.carrier(ms(at));
        (carrier.is_up, carrier.cuts)
    });
    assert_eq!(heard, [(true, 0), (true, 0), (false, 1), (true, 1), (true, 1), (false, 2), (true, 2)]);
    pipe.set_up(ms(10), false, &mut drop_log);
    assert_eq!((pipe.carrier(ms(10)).is_up, pipe.carrier(ms(11)).cuts), (false, 3));
    pipe.set_up(ms(13), true, &mut drop_log);
    assert_eq!((pipe.carrier(ms(13)).is_up, pipe.carrier(ms(15)).cuts), (true, 4));
    // Nothing else has happened in it meanwhile.
    assert_eq!(departures(&mut pipe, &mut drop_log), [(0, ms(9))]);
}
