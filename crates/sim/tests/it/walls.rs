//! Walls of radio media in lab files: what they take is what a greater distance takes.

use crate::radio::{per_second, within};
use netloom_lab::Plan;
use netloom_sim::{Outcome, simulate};
use netloom_units::Duration;

fn run(text: &str, seconds: u64) -> (Plan, Outcome) {
    let plan = netloom_lab::parse(text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan;
    let step = Duration::from_secs(seconds);
    let outcome = simulate(&plan, step, step, None, &mut |_| ()).expect("it can be simulated");
    assert!(outcome.pipes.iter().all(|pipe| pipe.counters.balance()));
    (plan, outcome)
}

/// A station that sends as much as it can for two seconds: bits per second, and the mean rate of its frames.
fn saturated(position: &str, walls: &str) -> (f64, f64) {
    let text = format!(
        "name: t\nnodes: {{ap: {{position: [0 m, 0 m, 3 m]}}, sta: {{position: {position}}}}}\nlinks:\n  wifi: {{ends: [ap, sta], medium: {{kind: wifi, \
         standard: n, access: radio, access_point: ap, noise_figure: 15 dB, limit: 100, walls: [{walls}]}}}}\n\
         traffic: [{{from: sta, to: ap, kind: constant, rate: 80 Mbit/s, size: 1500 B}}]"
    );
    let (_, outcome) = run(&text, 2);
    let own = &outcome.pipes[0].stations[1];
    let rate = own.rates as f64 / own.attempts.max(1) as f64;
    (outcome.pipes[0].counters.departed.bytes as f64 * 4.0, rate)
}

const FAR: &str = "{from: [900 m, 0 m], to: [901 m, 0 m], loss: 99 dB}";

/// With an exponent of 3, twice the distance is 30 log10(2), or 9.0309 dB: a wall of this loss has the same effect. Two walls lose both of their losses.
#[test]
fn a_wall_is_as_good_as_a_distance() {
    let far = saturated("[20 m, 0 m, 3 m]", FAR);
    let walled = saturated("[10 m, 0 m, 3 m]", "{from: [5 m, -3 m], to: [5 m, 3 m], loss: 9.0309 dB}");
    let both = "{from: [2 m, -3 m], to: [2 m, 3 m], loss: 4 dB}, {from: [9 m, -4 m], to: [6 m, 3 m], loss: 5.0309 dB}";
    let twice = saturated("[10 m, 0 m, 3 m]", both);
    let open = saturated("[10 m, 0 m, 3 m]", FAR);
    for (found, what) in [(walled, "one wall"), (twice, "two walls")] {
        within(0.005, found.0, far.0, what);
        within(0.005, found.1, far.1, what);
    }
    assert!(open.0 > 1.1 * walled.0 && open.1 > 1.1 * walled.1, "{open:?} and {walled:?}");
    // A wall beside the way, or one that is lower than it, takes nothing.
    let low = "{from: [5 m, -3 m], to: [5 m, 3 m], loss: 60 dB, height: 2.9 m}";
    let beside = "{from: [5 m, 1 m], to: [5 m, 9 m], loss: 60 dB}";
    assert_eq!([saturated("[10 m, 0 m, 3 m]", low), saturated("[10 m, 0 m, 3 m]", beside)], [open; 2]);
}

/// A wall between two stations hides them from each other, while the access point at its end hears both.
#[test]
fn walls_hide_stations_from_each_other() {
    let collisions = |walls: &str| {
        let text = format!(
            "name: t\nnodes: {{ap: {{position: [0 m, 10 m]}}, left: {{position: [-10 m, 0 m]}}, right: {{position: [10 m, 0 m]}}}}\nlinks:\n  \
             wifi: {{ends: [ap, left, right], medium: {{kind: wifi, standard: a, access: radio, access_point: ap, rate: 12 Mbit/s, limit: 20, \
             walls: [{walls}]}}}}\ntraffic:\n  - {{from: left, to: ap, kind: poisson, rate: 3 Mbit/s, size: 1500 B}}\n  \
             - {{from: right, to: ap, kind: poisson, rate: 3 Mbit/s, size: 1500 B}}\n"
        );
        let (_, outcome) = run(&text, 5);
        let air = &outcome.pipes[0].counters.air;
        air.collisions as f64 / air.attempts as f64
    };
    let (open, hidden) = (collisions(FAR), collisions("{from: [0 m, -9 m], to: [0 m, 9 m], loss: 60 dB}"));
    assert!(open < 0.1 && hidden > 0.3, "{open} and {hidden}");
}

/// Who walks through a door is behind the wall from one moment to the next.
#[test]
fn a_station_passes_a_wall_where_it_gets_there() {
    let lab = "name: t\nnodes: {ap: {position: [0 m, 0 m]}, sta: {path: [{at: 0 s, position: [4 m, 0 m]}, {at: 10 s, position: [6 m, 0 m]}]}}\nlinks:\n  \
               wifi: {ends: [ap, sta], medium: {kind: wifi, standard: a, access: radio, access_point: ap, limit: 20, \
               walls: [{from: [5 m, -3 m], to: [5 m, 3 m], loss: 25 dB}]}}\n\
               traffic: [{from: sta, to: ap, kind: constant, rate: 60 Mbit/s, size: 1500 B}]";
    let found = per_second(lab, 10);
    let (before, behind) = (&found[..5], &found[5..]);
    assert!(
        before.iter().all(|rate| *rate > 29e6) && behind.iter().all(|rate| *rate < 27e6 && *rate > 5e6),
        "{found:?}"
    );
}

/// The lab of the gallery: the shed is out of reach, and the phone sends more slowly in the garden.
#[test]
fn walls_of_the_gallery_are_where_they_are_drawn() {
    let text = include_str!("../../../../examples/wifi-walls.yaml");
    let (plan, outcome) = run(text, 10);
    let received: Vec<u64> = outcome.sources.iter().map(|source| source.received_bytes * 8 / 10).collect();
    let [sofa, study, balcony, shed, phone] = received[..] else { panic!("{received:?}") };
    for rate in [sofa, study, balcony] {
        assert!((480_000..=501_000).contains(&rate), "{received:?}");
    }
    assert!(shed == 0 && (950_000..=1_001_000).contains(&phone), "{received:?}");
    assert_eq!(plan.ends_of(0), ["ap", "sofa", "study", "balcony", "shed", "phone"]);
    let rates: Vec<f64> =
        outcome.pipes[0].stations.iter().map(|own| own.rates as f64 / own.attempts.max(1) as f64).collect();
    assert!(rates[1] >= rates[2] && rates[3] > 1.2 * rates[4], "{rates:?}");
    // Without walls, the shed is heard.
    let open = text.replace("loss: 12 dB", "loss: 0 dB").replace("loss: 3.4 dB", "loss: 0 dB");
    assert!(run(&open, 10).1.sources[3].received_bytes > 50_000);
}
