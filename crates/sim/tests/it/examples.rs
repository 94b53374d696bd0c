//! The radio labs of the gallery, whose figures are the same to the last packet and nanosecond on every machine: `tests/golden/NAME.txt` has them.
//! `UPDATE_GOLDEN=1` writes these files.

use netloom_lab::Plan;
use netloom_sim::{Outcome, simulate};
use std::fmt::Write;
use std::path::Path;

fn figures(plan: &Plan, outcome: &Outcome) -> String {
    let mut text = String::new();
    for (place, pipe) in plan.pipes().zip(&outcome.pipes) {
        let own = &pipe.counters;
        let (air, dropped) = (&own.air, &own.dropped);
        let row = format!(
            "{place}: arrived {} ({} B), departed {} ({} B), dropped {} (queue {}, air {}), inside {}\n",
            own.arrived.packets,
            own.arrived.bytes,
            own.departed.packets,
            own.departed.bytes,
            dropped.packets(),
            dropped.queue.packets,
            dropped.air.packets,
            own.queued.packets + own.travelling.packets,
        );
        text.push_str(&row);
        if pipe.stations.is_empty() {
            continue;
        }
        let (busy, collided) = (air.busy.as_nanos(), air.collided.as_nanos());
        let _ = writeln!(
            text,
            "  attempts {}, collisions {}, retries {}, busy {busy} ns, collided {collided} ns",
            air.attempts, air.collisions, air.retries
        );
        for (end, station) in plan.ends_of(place.link).iter().zip(&pipe.stations) {
            let _ = writeln!(
                text,
                "  {end}: airtime {} ns, attempts {}, collisions {}, failed {}, lost {}, delivered {}, rates {}, handovers {}",
                station.airtime.as_nanos(),
                station.attempts,
                station.collisions,
                station.failed_mpdus,
                station.lost,
                station.delivered,
                station.rates,
                station.handovers,
            );
        }
    }
    for source in &outcome.sources {
        let active = source.active.map_or(0, netloom_units::Duration::as_nanos);
        let _ = writeln!(
            text,
            "{}: sent {}, received {} ({} B), lost {}, again {}, reordered {}, until {active} ns",
            source.name,
            source.sent_packets,
            source.received_packets,
            source.received_bytes,
            source.lost_packets(),
            source.duplicate_packets,
            source.reordered_packets,
        );
    }
    text
}

fn is_golden(name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lab = root.join("../../examples").join(format!("{name}.yaml"));
    let text = std::fs::read_to_string(&lab).expect("an example");
    let plan = netloom_lab::parse(&text, &format!("{name}.yaml")).unwrap_or_else(|errors| panic!("{errors}")).plan;
    let span = plan.duration.expect("a duration");
    let outcome = simulate(&plan, span, span, None, &mut |_| ()).expect("it can be simulated");
    let found = figures(&plan, &outcome);
    let path = root.join("tests/golden").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(root.join("tests/golden")).expect("a folder");
        std::fs::write(&path, &found).expect("a file");
    }
    let expected = std::fs::read_to_string(&path).expect("UPDATE_GOLDEN=1 writes it");
    assert_eq!(found, expected, "{name}: UPDATE_GOLDEN=1 writes {}", path.display());
}

#[test]
fn the_cell_is_the_same_everywhere() {
    is_golden("cell");
}

#[test]
fn handovers_are_the_same_everywhere() {
    is_golden("handover");
}

#[test]
fn wifi_is_the_same_everywhere() {
    ["wifi", "wifi-hidden", "wifi-walls", "walking"].into_iter().for_each(is_golden);
}
