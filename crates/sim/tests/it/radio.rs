//! Radio media of lab files against published figures: what `netloom sim` finds is the model's.

use netloom_lab::Plan;
use netloom_sim::{Outcome, simulate};
use netloom_units::Duration;

fn plan(medium: &str, stations: u64, traffic: &str) -> Plan {
    let names: Vec<String> = (1..=stations).map(|number| format!("sta{number}")).collect();
    let all = names.join(", ");
    let text = format!(
        "name: t\nnodes: [ap, {all}]\nlinks:\n  wifi: {{ends: [ap, {all}], medium: {{kind: wifi, access_point: ap, limit: 20, {medium}}}}}\n\
         traffic:\n{traffic}"
    );
    netloom_lab::parse(&text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan
}

/// Every station sends to the access point more than its share of `capacity`, in bits per second.
pub(crate) fn saturated(medium: &str, stations: u64, capacity: f64) -> Plan {
    let rate = (2.0 * capacity / stations as f64) as u64;
    let one = |number| format!("  - {{from: sta{number}, to: ap, kind: constant, rate: {rate} bit/s, size: 1500 B}}\n");
    plan(medium, stations, &(1..=stations).map(one).collect::<String>())
}

pub(crate) fn run(plan: &Plan, seconds: u64) -> Outcome {
    let step = Duration::from_secs(seconds);
    let outcome = simulate(plan, step, step, None, &mut |_| ()).expect("it can be simulated");
    let counters = &outcome.pipes[0].counters;
    assert!(counters.balance() && counters.dropped.queue.packets > 0, "{counters:?}");
    outcome
}

/// Bits per second of IP packets.
fn throughput(outcome: &Outcome) -> f64 {
    outcome.pipes[0].counters.departed.bytes as f64 * 8.0 / outcome.duration.as_secs_f64()
}

pub(crate) fn within(share: f64, found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() <= share, "{what}: {found:.5} instead of {expected:.5}");
}

/// Bianchi (2000), equations 7, 9 and 13: the probability to send in a slot, by bisection, and the share of time in which payload passes.
/// `doublings`: how often the window doubles. Times are in microseconds: of a packet's payload, a slot, a success, a collision.
fn bianchi(stations: i32, window: f64, doublings: i32, [payload, slot, success, collision]: [f64; 4]) -> f64 {
    let excess = |tau: f64| {
        let p = 1.0 - (1.0 - tau).powi(stations - 1);
        let sum: f64 = (0..doublings).map(|i| (2.0 * p).powi(i)).sum();
        tau - 2.0 / (1.0 + window + p * window * sum)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if excess(middle) < 0.0 { low = middle } else { high = middle }
    }
    let tau: f64 = low;
    let some = 1.0 - (1.0 - tau).powi(stations);
    let one = f64::from(stations) * tau * (1.0 - tau).powi(stations - 1);
    one * payload / ((1.0 - some) * slot + one * success + (some - one) * collision)
}

/// 802.11b at 1 Mbit/s has the windows of the paper: W = 32, m = 5. A frame takes 192 us and 1,536 bytes, an acknowledgement 192 us and 14.
#[test]
fn saturated_stations_have_the_throughput_of_bianchi() {
    let (data, answer) = (192.0 + 1_536.0 * 8.0, 192.0 + 14.0 * 8.0);
    let (slot, sifs, difs) = (20.0, 10.0, 50.0);
    let times = [1_500.0 * 8.0, slot, data + sifs + answer + difs, data + difs];
    for stations in [2, 5, 10, 20] {
        let medium = "standard: b, rate: 1 Mbit/s, retries: 1000000, recovery: difs";
        let outcome = run(&saturated(medium, stations, 1e6), 600);
        let expected = bianchi(i32::try_from(stations).expect("few"), 32.0, 5, times) * 1e6;
        within(0.01, throughput(&outcome), expected, &format!("{stations} stations"));
        // Each attempt collides, or arrives and is counted once.
        let counters = &outcome.pipes[0].counters;
        let whole = counters.departed.packets + counters.air.collisions;
        assert!(whole.abs_diff(counters.air.attempts) <= 2 * stations, "{counters:?}");
        assert_eq!(counters.dropped.air.packets, 0);
    }
}

/// With RTS a collision costs the RTS alone: 192 us and 20 bytes; a CTS is as long as an acknowledgement.
#[test]
fn requests_to_send_make_collisions_cheap() {
    let (data, answer, request) = (192.0 + 1_536.0 * 8.0, 192.0 + 14.0 * 8.0, 192.0 + 20.0 * 8.0);
    let (slot, sifs, difs) = (20.0, 10.0, 50.0);
    let success = request + answer + data + answer + 3.0 * sifs + difs;
    for stations in [5, 20] {
        let medium =
            "standard: b, rate: 1 Mbit/s, retries: 1000000, long_retries: 1000000, recovery: difs, rts_above: 500 B";
        let outcome = run(&saturated(medium, stations, 1e6), 600);
        let times = [1_500.0 * 8.0, slot, success, request + difs];
        let expected = bianchi(i32::try_from(stations).expect("few"), 32.0, 5, times) * 1e6;
        within(0.01, throughput(&outcome), expected, &format!("{stations} stations"));
    }
}

/// DIFS, half of the window, the frame, SIFS, the acknowledgement: 34 + 67.5 + 248 + 16 + 28 us for 54 Mbit/s.
#[test]
fn a_single_station_has_the_closed_form() {
    let symbols = |bits: f64, rate: f64| 20.0 + 4.0 * ((22.0 + bits) / (4.0 * rate)).ceil();
    for (rate, answer) in [(6.0, 6.0), (24.0, 24.0), (54.0, 24.0)] {
        let around = 16.0 + 2.0 * 9.0 + 7.5 * 9.0 + 16.0 + symbols(14.0 * 8.0, answer);
        let expected = 1_500.0 * 8.0 / (around + symbols(1_536.0 * 8.0, rate)) * 1e6;
        let found = throughput(&run(&saturated(&format!("standard: a, rate: {rate} Mbit/s"), 1, rate * 1e6), 20));
        within(0.005, found, expected, &format!("{rate} Mbit/s"));
    }
}

/// The airtimes of all stations and of collisions are the medium's; of one station they follow from the closed form: 292 of 393.5 us.
#[test]
fn airtimes_of_stations_add_up_to_the_mediums() {
    let alone = run(&saturated("standard: a, rate: 54 Mbit/s", 1, 54e6), 20);
    let [point, station] = &alone.pipes[0].stations[..] else { panic!("two stations") };
    within(0.005, station.airtime.as_secs_f64() / 20.0, 292.0 / 393.5, "airtime");
    assert_eq!((point.attempts, station.rates), (0, u128::from(station.attempts) * 54_000_000));
    for (stations, medium) in
        [(5, "standard: a"), (10, "standard: n, rate: {mcs: 3}"), (5, "standard: g, rts_above: 500 B")]
    {
        let outcome = run(&saturated(medium, stations, 30e6), 10);
        let (counters, all) = (&outcome.pipes[0].counters, &outcome.pipes[0].stations);
        let spent = all.iter().fold(counters.air.collided, |sum, own| sum + own.airtime);
        assert_eq!(spent, counters.air.busy, "{medium}");
        let sum = |of: fn(&netloom_link::StationCounters) -> u64| all.iter().map(of).sum::<u64>();
        assert_eq!(sum(|own| own.attempts), counters.air.attempts);
        assert_eq!(sum(|own| own.collisions), counters.air.collisions);
        assert_eq!(sum(|own| own.failed_mpdus), counters.air.retries);
        assert_eq!(sum(|own| own.lost), counters.dropped.air.packets);
        assert_eq!(sum(|own| own.delivered), counters.departed.packets);
    }
}

/// ns-3's example of saturated 802.11n with A-MPDU, in megabits per second of 1,472 bytes in packets of 1,500.
#[test]
fn aggregates_have_the_throughput_of_reference() {
    for (index, expected) in [(0, 5.814), (3, 23.796), (7, 59.550)] {
        // A queue has to be longer than an aggregate.
        let mut lab = saturated(&format!("standard: n, rate: {{mcs: {index}}}"), 1, 65e6);
        for air in lab.links[0].pipes.iter_mut().flat_map(|pipe| &mut pipe.air) {
            let netloom_link::AirMedium::Wifi(medium) = &mut air.medium else { panic!("it is 802.11") };
            medium.queue = 200;
        }
        let found = throughput(&run(&lab, 10)) * 1_472.0 / 1_500.0 / 1e6;
        within(0.01, found, expected, &format!("MCS {index}"));
    }
}

/// Heusse and others (2003): a station at 1 Mbit/s among others at 11 pulls all of them below 1 Mbit/s, since all send equally often.
#[test]
fn a_slow_station_slows_all_others() {
    let medium = "standard: b, rate: 11 Mbit/s, stations: {sta1: {rate: 1 Mbit/s}}";
    let outcome = run(&saturated(medium, 3, 11e6), 60);
    let each: Vec<f64> = outcome.sources.iter().map(|source| source.received_bytes as f64 * 8.0 / 60.0).collect();
    assert!(each.iter().all(|rate| (5e5..1e6).contains(rate)), "{each:?}");
    let [least, most] = [f64::min, f64::max].map(|of| each.iter().copied().reduce(of).expect("three stations"));
    assert!(most / least < 1.1, "{each:?}");
}

#[test]
fn stations_are_served_alike() {
    let outcome = run(&saturated("standard: a", 10, 54e6), 20);
    let each: Vec<f64> = outcome.sources.iter().map(|source| source.received_packets as f64).collect();
    let (sum, squares) = (each.iter().sum::<f64>(), each.iter().map(|one| one * one).sum::<f64>());
    let jain = sum * sum / (10.0 * squares);
    assert!(jain > 0.998, "{jain}: {each:?}");
}

/// What one station sends to another is on the air twice, and the second time is the access point's.
#[test]
fn the_access_point_shares_the_air_with_its_stations() {
    let traffic = "  - {from: sta1, to: sta2, kind: constant, rate: 2 Mbit/s, size: 1500 B}\n";
    let [direct, repeated] = ["ap", "sta1"].map(|to| {
        let traffic = traffic.replace("to: sta2", &format!("to: {to}")).replace("from: sta1", "from: sta2");
        let step = Duration::from_secs(10);
        let outcome = simulate(&plan("standard: a", 2, &traffic), step, step, None, &mut |_| ()).expect("it runs");
        let counters = outcome.pipes[0].counters;
        assert_eq!(outcome.sources[0].lost_packets(), 0);
        (counters.departed.packets, counters.air.attempts, counters.air.busy)
    });
    assert_eq!(direct.0, repeated.0);
    assert!(repeated.1.abs_diff(2 * direct.1) <= 2 && repeated.2 > direct.2, "{direct:?} {repeated:?}");
}

/// Half of what cannot be decoded at the first attempt comes with the second, and the last retry decides: of 10 % errors, one in 100 is
/// lost with two attempts.
#[test]
fn frames_are_repeated_and_given_up() {
    let medium = "standard: a, retries: 2, stations: {sta1: {errors: 10 %}}";
    let traffic = "  - {from: sta1, to: ap, kind: constant, rate: 4 Mbit/s, size: 500 B}\n";
    let step = Duration::from_secs(100);
    let outcome = simulate(&plan(medium, 1, traffic), step, step, None, &mut |_| ()).expect("it runs");
    let counters = &outcome.pipes[0].counters;
    let share = |part: u64| part as f64 / counters.arrived.packets as f64;
    // Of 100,001 packets 1,000 are lost, with a standard deviation of 31.
    assert!((0.0085..0.0115).contains(&share(counters.dropped.air.packets)), "{counters:?}");
    assert!((0.1..0.12).contains(&share(counters.air.retries)), "{counters:?}");
    assert_eq!(outcome.sources[0].lost_packets(), counters.dropped.air.packets);
}

#[test]
fn the_same_seed_has_the_same_outcome() {
    let lab = saturated("standard: ax", 5, 100e6);
    assert_eq!(run(&lab, 1), run(&lab, 1));
    let other = Plan { seed: netloom_units::Seed::new(99), ..lab.clone() };
    assert_ne!(run(&lab, 1).pipes[0].counters, run(&other, 1).pipes[0].counters);
}

/// The lab of the gallery: hidden stations lose much without RTS, and next to nothing with it.
#[test]
fn requests_to_send_help_hidden_stations() {
    let text = include_str!("../../../../examples/wifi-hidden.yaml");
    let plan = netloom_lab::parse(text, "wifi-hidden.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan;
    let step = Duration::from_secs(6);
    let outcome = simulate(&plan, step, step, None, &mut |_| ()).expect("it can be simulated");
    let [open, asking] = [0, 1].map(|pipe| &outcome.pipes[pipe].counters);
    let lost = |own: &netloom_link::PipeCounters| own.dropped.air.packets as f64 / own.arrived.packets as f64;
    assert!(open.balance() && asking.balance());
    assert!(open.air.collisions > 3 * open.air.attempts / 10 && open.air.retries > 100, "{open:?}");
    assert!(lost(asking) < 0.01 && lost(open) > lost(asking), "{} and {}", lost(open), lost(asking));
}

/// Positions are those of nodes or of stations; what is too far away is not reached.
#[test]
fn stations_are_where_the_lab_file_says() {
    let lost = |x: &str, own: &str| {
        let text = format!(
            "name: t\nnodes: {{ap: {{position: [0 m, 0 m]}}, sta: {{position: [{x}, 0 m]}}}}\nlinks:\n  wifi: {{ends: [ap, sta], medium: \
             {{kind: wifi, standard: n, access: radio, access_point: ap{own}}}}}\n\
             traffic: [{{from: sta, to: ap, kind: constant, rate: 100 kbit/s, size: 500 B}}]"
        );
        let plan = netloom_lab::parse(&text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan;
        let step = Duration::from_secs(4);
        let outcome = simulate(&plan, step, step, None, &mut |_| ()).expect("it can be simulated");
        outcome.pipes[0].counters.dropped.air.packets
    };
    assert_eq!(lost("50 m", ""), 0);
    assert!(lost("60 m", "") > 50);
    assert_eq!(lost("60 m", ", power: 20 dBm"), 0);
    assert_eq!(lost("60 m", ", stations: {sta: {position: [0 m, 50 m]}}"), 0);
    assert_eq!(lost("300 m", ", loss: friis"), 0);
}

/// Bits per second that cross a medium of a lab in each second.
pub(crate) fn per_second(text: &str, seconds: u64) -> Vec<f64> {
    let plan = netloom_lab::parse(text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan;
    let mut bytes = Vec::new();
    let mut watch = |sample: &netloom_sim::Sample<'_>| bytes.push(sample.pipes[0].counters.departed.bytes);
    let (whole, step) = (Duration::from_secs(seconds), Duration::from_secs(1));
    simulate(&plan, whole, step, None, &mut watch).expect("it can be simulated");
    bytes.windows(2).take(seconds as usize).map(|pair| (pair[1] - pair[0]) as f64 * 8.0).collect()
}

/// A station walks from 2 m to 50 m and back: its rate falls and rises again. The order of nodes makes no difference.
#[test]
fn a_station_that_walks_away_sends_more_slowly() {
    let lab = |nodes: &str, rate: &str| {
        format!(
            "name: t\nnodes: {{{nodes}}}\nlinks:\n  wifi: {{ends: [ap, sta], medium: {{kind: wifi, standard: a, access: radio, access_point: ap, \
             noise_figure: 15 dB, limit: 20, rate: {rate}}}}}\ntraffic: [{{from: sta, to: ap, kind: constant, rate: 60 Mbit/s, size: 1500 B}}]"
        )
    };
    let ap = "ap: {position: [0 m, 0 m]}";
    let sta = "sta: {path: [{at: 0 s, position: [2 m, 0 m]}, {at: 10 s, position: [50 m, 0 m]}, {at: 20 s, position: [2 m, 0 m]}]}";
    for rate in ["ideal", "minstrel", "aarf"] {
        let found = per_second(&lab(&format!("{ap}, {sta}"), rate), 20);
        let far = found[9].max(found[10]);
        assert!(found[0] > 20e6 && found[19] > 20e6, "{rate}: {found:?}");
        assert!(found[9].min(found[10]) > 1e6 && far < 0.5 * found[0], "{rate}: {found:?}");
        for middle in [5, 14] {
            assert!(found[middle] > 1.15 * far && found[middle] < 0.95 * found[0], "{rate}: {found:?}");
        }
        assert_eq!(found, per_second(&lab(&format!("{sta}, {ap}"), rate), 20));
    }
}

/// The lab of the gallery: a bike leaves the range of its access point, and returns.
#[test]
fn a_bike_leaves_the_range_and_returns() {
    let found = per_second(include_str!("../../../../examples/walking.yaml"), 22);
    // 400, 100 and 100 kbit/s.
    for second in [0, 1, 2, 3, 4, 5, 17, 18, 19, 20, 21] {
        assert!((5.5e5..6.5e5).contains(&found[second]), "{found:?}");
    }
    for second in [9, 10, 11, 12] {
        assert!((1.5e5..2.5e5).contains(&found[second]), "{found:?}");
    }
}
