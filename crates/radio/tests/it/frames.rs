//! Counters of stations, and records of what was on the air.

use crate::common::{cases_of, frame, medium, phy, saturate, seconds};
use crate::conservation::{arrivals, media, play};
use netloom_radio::{
    Aired, Destination, MediumConfig, Metres, Mode, Position, RadioConfig, RadioMedium, RadioStation, RateControl,
    Standard, StationId,
};
use netloom_units::{Duration, Instant, Seed};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases_of(200))]

    #[test]
    fn airtimes_of_stations_and_collisions_add_up(mut medium in media(), arrivals in arrivals()) {
        play(&mut medium, &arrivals);
        let (totals, stations): (_, Vec<_>) = (medium.totals(), medium.counters().collect());
        let spent = stations.iter().fold(totals.collided, |sum, own| sum + own.airtime);
        prop_assert_eq!(spent, totals.busy);
        prop_assert_eq!(stations.iter().map(|own| own.attempts).sum::<u64>(), totals.attempts);
        prop_assert!(stations.iter().all(|own| own.lost <= own.dropped));
    }

    /// What was delivered was decoded once, and whatever is marked as a retry was on the air before with the same number.
    #[test]
    fn records_show_every_frame_that_was_sent(mut medium in media(), arrivals in arrivals()) {
        medium.record_frames(Some(|payload| *payload));
        let outcomes = play(&mut medium, &arrivals);
        let aired: Vec<Aired<u64>> = medium.frames().collect();
        prop_assert!(aired.is_sorted_by_key(|one| one.end));
        let mut decoded: Vec<u64> = Vec::new();
        let mut seen = std::collections::BTreeMap::new();
        for one in &aired {
            prop_assert!(one.data.0 < one.data.1 && one.data.1 <= one.end);
            let is_request = one.data == (one.start, one.start + one.control.rts) && one.answer.is_zero();
            prop_assert!(!one.mpdus.is_empty() || is_request, "only an RTS that nobody answers has no MPDU: {:?}", one);
            for mpdu in &one.mpdus {
                prop_assert!(mpdu.sequence < 4_096 && !mpdu.payloads.is_empty());
                let before = seen.insert(mpdu.payloads.clone(), mpdu.sequence);
                prop_assert_eq!(mpdu.sent > 0, before.is_some(), "{:?}", mpdu);
                prop_assert!(before.is_none_or(|earlier| earlier == mpdu.sequence));
                if mpdu.is_decoded {
                    decoded.extend(&mpdu.payloads);
                }
            }
        }
        let mut delivered: Vec<u64> =
            outcomes.iter().filter(|one| one.dropped.is_none()).map(|one| one.frame.payload).collect();
        delivered.sort_unstable();
        decoded.sort_unstable();
        prop_assert_eq!(decoded, delivered);
    }
}

/// One station of 802.11a with 54 Mbit/s: each exchange takes 248 us of data, a SIFS of 16 us and 28 us of acknowledgement.
#[test]
fn a_single_station_has_the_airtime_of_its_exchanges() {
    let fast = Mode::kilobits(54_000);
    let mut medium = medium(&MediumConfig::new(phy(Standard::A, 36)), &[fast, fast], 3);
    medium.record_frames(Some(|payload| *payload));
    saturate(&mut medium, 1, 1_500, 10, seconds(1.0), |_| ());
    let station = medium.counters().next().expect("there is a station");
    let exchange = Duration::from_micros(248 + 16 + 28);
    // The last one is under way.
    assert!(station.attempts > 2_000 && station.attempts - station.delivered <= 1, "{station:?}");
    assert_eq!(station.airtime, exchange * station.delivered);
    assert_eq!(station.rates, u128::from(station.attempts) * 54_000_000);
    let first = medium.frames().next().expect("a record");
    let (begin, end) = first.data;
    assert_eq!(first.end, end);
    assert_eq!((end.since(begin), first.answer), (Duration::from_micros(228), Duration::from_micros(16 + 28)));
    assert_eq!((first.from, first.to), (StationId(0), Destination::Station(StationId(1))));
}

/// Two stations on both sides of their access point, 40 m away, hear nothing of each other.
#[test]
fn records_of_signals_have_powers_and_collisions() {
    let station = |number: usize, x: f64| {
        let path = Position { x: Metres(x), y: Metres(0.0), z: Metres(1.5) }.into();
        let rate = RateControl::Fixed(Mode::kilobits(12_000));
        RadioStation {
            name: format!("station{number}"),
            path,
            power: netloom_radio::Decibels(16.0),
            pattern: netloom_radio::AntennaPattern::default(),
            rate,
        }
    };
    let stations = [station(0, 0.0), station(1, -40.0), station(2, 40.0)];
    let config = MediumConfig::new(phy(Standard::A, 36));
    let mut medium: RadioMedium<u64> =
        RadioMedium::new(&config, &RadioConfig::new(5_180_000_000), &stations, Seed::new(5)).expect("it is right");
    medium.record_frames(Some(|payload| *payload));
    for number in 0..200 {
        for from in [1, 2] {
            let at = Instant::from_nanos(number * 2_000_000 + u64::from(from) * 300_000);
            while let Some(wake) = medium.next_wake().filter(|wake| *wake <= at) {
                medium.advance(wake, |_| ());
            }
            medium.enqueue(at, StationId(from), frame(0, 1_400, number));
        }
    }
    while let Some(wake) = medium.next_wake() {
        medium.advance(wake, |_| ());
    }
    let aired: Vec<Aired<u64>> = medium.frames().collect();
    let lost = aired.iter().filter(|one| one.mpdus.iter().any(|mpdu| !mpdu.is_decoded)).count();
    assert!(lost > 50 && aired.len() > 400, "{lost} of {}", aired.len());
    // 16 dBm less 46.6777 dB and 30 times the decimal logarithm of 40.
    assert!(aired.iter().all(|one| one.signal.is_some_and(|power| (power - -78_740).abs() <= 1)), "{:?}", aired[0]);
    let counters: Vec<_> = medium.counters().collect();
    assert_eq!(counters[1].attempts + counters[2].attempts, aired.len() as u64);
    // Each exchange that succeeds takes 956 us of data, SIFS and acknowledgement of 32 us; others end with their data.
    let data = aired[0].end.since(aired[0].data.0) + Duration::from_micros(20);
    let least = data * aired.len() as u64;
    let spent = counters[1].airtime + counters[2].airtime;
    assert!(spent >= least && spent <= least + (Duration::from_micros(16 + 32) * aired.len() as u64), "{spent}");
}
