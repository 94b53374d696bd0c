//! Frames of the network itself: their times, their place among others, and that they are not counted as frames.

use crate::common::{frame, medium, phy};
use crate::positions::station;
use netloom_radio::{
    AccessCategory, Cause, Destination, Frame, Medium, MediumConfig, Mode, RadioConfig, RadioMedium, RateControl,
    Standard, StationId,
};
use netloom_units::{Bytes, Duration, Instant, Seed};

/// 60 bytes of body and 28 around them at 6 Mbit/s: 20 us, and 31 symbols of 4 us for 726 bits.
const BEACON: Duration = Duration::from_micros(20 + 31 * 4);
const FAST: Mode = Mode::kilobits(54_000);

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

fn management(to: Destination, payload: u64) -> Frame<u64> {
    Frame { to, size: Bytes::new(60), category: AccessCategory::Voice, payload }
}

fn beacon(payload: u64) -> Frame<u64> {
    management(Destination::Everybody, payload)
}

/// What comes out, with its instant and what dropped it.
fn play(medium: &mut Medium<u64>) -> Vec<(u64, Instant, Option<Cause>)> {
    let mut found = Vec::new();
    while let Some(wake) = medium.next_wake() {
        medium.advance(wake, |one| found.push((one.frame.payload, one.at, one.dropped)));
    }
    found
}

#[test]
fn a_beacon_takes_its_time_at_the_basic_rate() {
    for standard in [Standard::A, Standard::N, Standard::Ax] {
        let mode = if standard == Standard::A { FAST } else { Mode::mcs(7) };
        let mut air = medium(&MediumConfig::new(phy(standard, 36)), &[mode, mode], 3);
        air.enqueue_management(at(1_000), StationId(0), beacon(1));
        assert_eq!(play(&mut air), [(1, at(1_000) + BEACON, None)], "{standard:?}");
        let counters: Vec<_> = air.counters().collect();
        assert_eq!((counters[0].attempts, counters[0].airtime, counters[0].rates), (1, BEACON, 6_000_000));
        assert_eq!((counters[0].frames, counters[0].delivered, counters[0].delivered_bytes), (0, 0, 0));
        assert_eq!((air.totals().busy, air.waiting(StationId(0))), (BEACON, 0));
    }
}

/// A data frame is on the air while two more wait; the beacon that comes then goes in front of them, and another beacon that comes meanwhile says the same.
#[test]
fn a_beacon_goes_in_front_of_what_waits() {
    let mut air = medium(&MediumConfig::new(phy(Standard::A, 36)), &[FAST, FAST], 3);
    (0..3).for_each(|number| air.enqueue(at(1_000), StationId(0), frame(1, 1_000, number)));
    air.enqueue_management(at(1_010), StationId(0), beacon(10));
    air.enqueue_management(at(1_011), StationId(0), beacon(11));
    assert_eq!(air.waiting(StationId(0)), 3, "frames with packets");
    let order: Vec<u64> = play(&mut air).iter().map(|one| one.0).collect();
    assert_eq!(order, [0, 10, 1, 2]);
    let own = air.counters().next().expect("a station");
    assert_eq!((own.frames, own.delivered, own.dropped, own.attempts), (3, 3, 0, 4));
}

/// Aggregates have data alone, and a full queue has room for frames of the network.
#[test]
fn frames_of_the_network_are_not_put_together_and_take_no_room() {
    let config = MediumConfig { queue: 2, ..MediumConfig::new(phy(Standard::N, 36)) };
    let mut air = medium(&config, &[Mode::mcs(7), Mode::mcs(7)], 3);
    let voice = |number| Frame { category: AccessCategory::Voice, ..frame(1, 500, number) };
    (0..3).for_each(|number| air.enqueue(at(1_000), StationId(0), voice(number)));
    let to = Destination::Station(StationId(1));
    (10..12).for_each(|number| air.enqueue_management(at(1_000), StationId(0), management(to, number)));
    let found = play(&mut air);
    let full: Vec<u64> = found.iter().filter(|one| one.2 == Some(Cause::Full)).map(|one| one.0).collect();
    assert_eq!(full, [2]);
    let arrived: Vec<u64> = found.iter().filter(|one| one.2.is_none()).map(|one| one.0).collect();
    assert_eq!(arrived, [10, 11, 0, 1]);
    // Two alone, and an aggregate of two.
    assert_eq!(air.totals().attempts, 3);
}

/// Nobody is near: what is for one station is tried seven times and given up; what is for everybody is sent once. Neither counts as a lost frame.
#[test]
fn frames_of_the_network_are_repeated_and_given_up() {
    let config = MediumConfig::new(phy(Standard::A, 36));
    let stations = [(0, 0.0), (1, 900.0)].map(|(number, x)| station(number, (x, 0.0), RateControl::Ideal));
    let mut air = RadioMedium::new(&config, &RadioConfig::new(5_180_000_000), &stations, Seed::new(1)).expect("right");
    air.enqueue_management(at(1_000), StationId(0), management(Destination::Station(StationId(1)), 1));
    air.enqueue_management(at(1_000), StationId(0), beacon(2));
    let mut found = Vec::new();
    while let Some(wake) = air.next_wake() {
        air.advance(wake, |one| found.push((one.outcome.frame.payload, one.outcome.dropped, one.heard_by.len())));
    }
    assert_eq!(found, [(1, Some(Cause::Retries), 0), (2, Some(Cause::Collision), 0)]);
    let own = air.counters().next().expect("a station");
    assert_eq!((own.attempts, own.failed_mpdus, own.frames, own.dropped, own.lost), (8, 8, 0, 0, 0));
    // What the medium had to do for them.
    assert_eq!(air.totals().busy, BEACON * 8);
}
