//! Several access points: ways follow stations, and what is on the way to a place that a station has left is lost there.

use netloom_lab::{Plan, RoamPlan};
use netloom_sim::{Outcome, SimError, simulate};
use netloom_units::Duration;

/// The lab of the gallery: three access points behind a switch, and a phone that walks past them.
fn gallery(traffic: &str) -> Plan {
    let text = include_str!("../../../../examples/roaming.yaml");
    let lab = format!("{text}\ntraffic:\n{traffic}");
    netloom_lab::parse(&lab, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan
}

fn run(plan: &Plan, seconds: u64) -> Outcome {
    let step = Duration::from_secs(seconds);
    let outcome = simulate(plan, step, step, None, &mut |_| ()).expect("it can be simulated");
    assert!(outcome.pipes.iter().all(|pipe| pipe.counters.balance()));
    outcome
}

/// When the phone is with which access point: (from, until, name), in nanoseconds.
fn visits(plan: &Plan, name: &str, end: u64) -> Vec<(u64, u64, String)> {
    let roams = plan.roams();
    let own: Vec<&RoamPlan> = roams.iter().filter(|roam| plan.nodes[roam.station.node].name == name).collect();
    let until = |place: usize| own.get(place + 1).map_or(end, |next| next.at.as_nanos());
    let visit = |(place, roam): (usize, &&RoamPlan)| {
        let point = roam.point?;
        Some((roam.at.as_nanos(), until(place), plan.nodes[point.node].name.clone()))
    };
    own.iter().enumerate().filter_map(visit).collect()
}

/// The packets that came out of the pipe from the core to an access point.
fn crossed(plan: &Plan, outcome: &Outcome, point: &str) -> u64 {
    let link = format!("wire-{point}");
    let pipe = plan.pipes().position(|pipe| pipe.link_name == link && plan.ends_of(pipe.link)[0] == "core");
    outcome.pipes[pipe.expect("it is there")].counters.departed.packets
}

#[test]
fn a_phone_goes_from_one_access_point_to_the_next() {
    let plan = gallery("  - {from: desk, to: server, kind: constant, rate: 1 Mbit/s, size: 1000 B}\n");
    let phone = visits(&plan, "phone", 30_000_000_000);
    assert_eq!(phone.iter().map(|(.., point)| point.as_str()).collect::<Vec<_>>(), ["west", "middle", "east"]);
    assert_eq!([phone[1].0 - phone[0].1, phone[2].0 - phone[1].1], [80_000_000; 2]);
    assert_eq!(visits(&plan, "desk", 1), [(0, 1, "west".to_owned())]);
}

/// A packet each 8 ms from the server: each goes to the access point at which the phone is known, and the ones of the gaps are lost at the one that it has left.
#[test]
fn ways_lead_to_where_a_station_is() {
    let plan = gallery("  - {from: server, to: phone, kind: constant, rate: 1 Mbit/s, size: 1000 B}\n");
    let outcome = run(&plan, 30);
    let phone = visits(&plan, "phone", 30_000_000_000);
    // 8.112 us at 1 Gbit/s until the core.
    let sent: Vec<u64> = (0..).map(|number| number * 8_000_000).take_while(|at| *at <= 30_000_000_000).collect();
    let among = |from: u64, until: u64| sent.iter().filter(|at| (from..until).contains(*at)).count() as u64;
    let away: u64 = phone.windows(2).map(|pair| among(pair[0].1, pair[1].0)).sum();
    assert_eq!(away, 20);
    let source = &outcome.sources[0];
    // What has been on the air for less than a packet takes may be lost, too.
    assert!((away..=away + 2).contains(&source.lost_packets()), "{source:?}");
    for (place, (from, _, point)) in phone.iter().enumerate() {
        let until = phone.get(place + 1).map_or(u64::MAX, |next| next.0);
        assert!(crossed(&plan, &outcome, point).abs_diff(among(*from, until)) <= 1, "{point}: {outcome:?}");
    }
    let air = outcome.pipes.iter().find(|pipe| !pipe.stations.is_empty()).expect("the medium");
    assert_eq!(air.counters.dropped.air.packets, source.lost_packets());
    assert_eq!(air.stations.iter().map(|station| station.handovers).collect::<Vec<_>>(), [0, 0, 0, 2, 0]);
}

/// Between two stations a packet crosses the air alone while both are with one access point, and the wires while they are not.
#[test]
fn stations_of_two_access_points_meet_in_the_network_behind() {
    let plan = gallery("  - {from: desk, to: phone, kind: constant, rate: 400 kbit/s, size: 1000 B}\n");
    let outcome = run(&plan, 30);
    let phone = visits(&plan, "phone", 30_000_000_000);
    let crossing: u64 = ["middle", "east"].map(|point| crossed(&plan, &outcome, point)).iter().sum();
    // A packet each 20 ms, the wires from the second access point on.
    assert!(crossing.abs_diff((30_000_000_000 - phone[1].0) / 20_000_000) <= 2, "{crossing}");
    assert_eq!(crossed(&plan, &outcome, "west"), 0);
    assert!(outcome.sources[0].lost_packets() <= 10, "{:?}", outcome.sources);
}

/// Acknowledgements and data find their ways, and what was lost in the gaps is sent again.
#[test]
fn a_window_sender_goes_on_behind_a_handover() {
    let traffic = "  - {from: phone, to: server, kind: window, window: 20 kB, amount: 60 MB, timeout: 200 ms}\n";
    let outcome = run(&gallery(traffic), 30);
    let source = &outcome.sources[0];
    assert!(source.resent_packets > 0 && source.useful_bytes > 30_000_000, "{source:?}");
    assert_eq!(outcome, run(&gallery(traffic), 30));
}

/// Whoever is out of reach sends in vain, until it comes near.
#[test]
fn a_station_begins_out_of_reach() {
    let text = "name: t\nnodes: {core: {kind: switch}, a: {kind: switch, position: [0 m, 0 m]}, b: {kind: switch, position: [40 m, 0 m]}, server: {}, \
                sta: {path: [{at: 0 s, position: [400 m, 0 m]}, {at: 10 s, position: [45 m, 0 m]}]}}\nlinks:\n  la: {ends: [core, a], rate: 1 Gbit/s}\n  \
                lb: {ends: [core, b], rate: 1 Gbit/s}\n  ls: {ends: [core, server], rate: 1 Gbit/s}\n  wifi: {ends: [a, b, sta], medium: {kind: wifi, \
                standard: a, access: radio, access_points: [a, b]}}\ntraffic:\n  - {from: sta, to: server, kind: constant, rate: 100 kbit/s, size: 500 B}\n  \
                - {from: server, to: sta, kind: constant, rate: 100 kbit/s, size: 500 B}\n";
    let plan = netloom_lab::parse(text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan;
    let outcome = run(&plan, 20);
    let arrives = plan.roams().iter().find_map(|roam| roam.point.map(|_| roam.at)).expect("it comes near");
    let before = arrives.as_nanos() / 40_000_000;
    for source in &outcome.sources {
        assert!(before > 100 && source.lost_packets().abs_diff(before) <= 2, "{before}: {source:?}");
    }
    // Access points that nothing joins are no network.
    let parted = text.replace("  lb: {ends: [core, b], rate: 1 Gbit/s}\n", "").replace("[400 m, 0 m]", "[41 m, 0 m]");
    let apart = netloom_lab::parse(&parted, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan;
    let step = Duration::from_secs(1);
    let refused = simulate(&apart, step, step, None, &mut |_| ()).expect_err("there is no way");
    assert!(matches!(&refused, SimError::Unreachable(why) if why.contains("wifi")), "{refused}");
}
