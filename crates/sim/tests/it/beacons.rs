//! Beacons, and the frames with which stations come to access points: what they take of the air.

use crate::radio::{run, saturated, within};
use netloom_lab::Plan;
use netloom_link::StationCounters;
use netloom_sim::{Outcome, simulate};
use netloom_units::Duration;

fn parse(text: &str) -> Plan {
    netloom_lab::parse(text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan
}

fn simulated(plan: &Plan, seconds: u64) -> Outcome {
    let step = Duration::from_secs(seconds);
    let outcome = simulate(plan, step, step, None, &mut |_| ()).expect("it can be simulated");
    assert!(outcome.pipes.iter().all(|pipe| pipe.counters.balance()));
    outcome
}

/// An access point that has nothing else to send: a beacon has 12 bytes in front of its elements, of which the name takes 6, the rates 10 and the map of traffic 6, and 28 around
/// them. 22 bits and 496 at 6 Mbit/s are 22 symbols behind 20 us.
#[test]
fn beacons_take_their_airtime() {
    let lab = |beacons: &str| {
        parse(&format!(
            "nodes: [ap, sta]\nlinks: {{wifi: {{ends: [ap, sta], medium: {{kind: wifi, standard: a, access_point: ap{beacons}}}}}}}\n\
             traffic: [{{from: sta, to: ap, kind: constant, rate: 80 kbit/s, size: 1000 B}}]\n"
        ))
    };
    for (key, least) in [("102.4 ms", 97), ("20.48 ms", 488), ("1 s", 9)] {
        let outcome = simulated(&lab(&format!(", beacons: {key}")), 10);
        let [point, station] = &outcome.pipes[0].stations[..] else { panic!("two stations") };
        assert!((least..=least + 1).contains(&point.attempts), "{key}: {point:?}");
        assert_eq!(point.airtime, Duration::from_micros(108) * point.attempts, "{key}");
        assert_eq!((point.frames, point.delivered, point.failed_mpdus), (0, 0, 0));
        assert_eq!(point.rates, u128::from(point.attempts) * 6_000_000);
        assert_eq!(station.delivered, outcome.pipes[0].counters.departed.packets);
        let air = outcome.pipes[0].counters.air;
        assert_eq!((air.busy, air.attempts), (point.airtime + station.airtime, point.attempts + station.attempts));
    }
    // Without the key, and with none, there are none.
    for key in ["", ", beacons: none"] {
        let point = &simulated(&lab(key), 10).pipes[0].stations[0];
        assert_eq!(point, &StationCounters { clients: 1, ..StationCounters::default() });
    }
}

/// Saturated stations get what beacons leave; all times still add up.
#[test]
fn beacons_contend_with_saturated_stations() {
    let usual = run(&saturated("standard: a", 5, 30e6), 5);
    let often = run(&saturated("standard: a, beacons: 2.048 ms", 5, 30e6), 5);
    let (counters, all) = (&often.pipes[0].counters, &often.pipes[0].stations);
    let spent = all.iter().fold(counters.air.collided, |sum, own| sum + own.airtime);
    assert_eq!(spent, counters.air.busy);
    // One of 2,441 beacons is left out if the one before still waits; those that collide are lost.
    assert!((2_200..=2_442).contains(&all[0].attempts) && all[0].collisions > 0, "{:?}", all[0]);
    let share = |outcome: &Outcome| outcome.pipes[0].counters.departed.bytes as f64;
    // 108 us of each 2,048, and the spaces in front of them.
    let left = share(&often) / share(&usual);
    assert!((0.88..0.95).contains(&left), "{left}");
    // A beacon that is lost is no packet: those that the medium dropped are the stations' own, which failed seven times.
    let failed: u64 = all[1..].iter().map(|own| own.lost).sum();
    assert_eq!((all[0].lost, counters.dropped.air.packets), (0, failed));
}

/// ns-3's example has beacons each 102.4 ms, which the closed form leaves out.
#[test]
fn aggregates_with_beacons_have_the_throughput_of_reference() {
    for (index, expected) in [(0, 5.814), (1, 11.827), (3, 23.796), (5, 47.617), (7, 59.550)] {
        let mut lab = saturated(&format!("standard: n, rate: {{mcs: {index}}}, beacons: 102.4 ms"), 1, 65e6);
        for air in lab.links[0].pipes.iter_mut().flat_map(|pipe| &mut pipe.air) {
            let netloom_link::AirMedium::Wifi(medium) = &mut air.medium else { panic!("it is 802.11") };
            medium.queue = 200;
        }
        let outcome = run(&lab, 10);
        let found = outcome.pipes[0].counters.departed.bytes as f64 * 8.0 / 10.0 * 1_472.0 / 1_500.0 / 1e6;
        within(0.005, found, expected, &format!("MCS {index}"));
    }
}

/// The lab of the gallery: a phone that sends nothing of its own goes to two access points. It sends three frames to each, which answer; when it is where does not change.
#[test]
fn who_comes_to_an_access_point_exchanges_frames_with_it() {
    let text = include_str!("../../../../examples/roaming.yaml");
    let lab = |beacons: &str| {
        let with = text.replace("      access: radio\n", &format!("      access: radio\n{beacons}"));
        parse(&format!(
            "{with}\ntraffic:\n  - {{from: desk, to: server, kind: constant, rate: 10 kbit/s, size: 1000 B}}\n"
        ))
    };
    let (without, with) = (lab(""), lab("      beacons: 102.4 ms\n"));
    assert_eq!(without.roams(), with.roams());
    let counters = |plan: &Plan| {
        let outcome = simulated(plan, 30);
        outcome.pipes.iter().find(|pipe| !pipe.stations.is_empty()).expect("the medium").stations.clone()
    };
    let [west, middle, east, phone, table] = &counters(&with)[..] else { panic!("five stations") };
    assert_eq!((phone.attempts, phone.handovers, phone.frames), (6, 2, 0), "{phone:?}");
    // Each sends 292 or 293 beacons, and answers three times.
    assert!((292..=293).contains(&west.attempts), "{west:?}");
    assert!((295..=296).contains(&middle.attempts) && (295..=296).contains(&east.attempts), "{middle:?}, {east:?}");
    // A probe of 108 bytes, an authentication of 34 and a reassociation of 129, each with its acknowledgement, at 6 Mbit/s.
    let exchange = |bytes: u64| 20 + 4 * (22 + 8 * bytes).div_ceil(24) + 16 + 44;
    let expected: u64 = [108_u64, 34, 129].map(exchange).iter().sum::<u64>() * 2;
    let spent = phone.airtime.as_nanos() / 1_000;
    assert!(spent.abs_diff(expected) < 200, "{spent} us, {expected}");
    assert!(table.delivered > 30);
    // Without beacons it is silent.
    assert_eq!((counters(&without)[3].attempts, counters(&without)[1].attempts), (0, 0));
}
