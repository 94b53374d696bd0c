//! Terms about stations of radio media: `wifi` has `client` and `server`; `field` has `server` and `phone`, with positions.

use super::{parsed, right};
use crate::expect::{Dimension, PipeMetric, Subject};

fn subject(text: &str) -> (usize, Option<usize>, PipeMetric) {
    match right(text).term.subject {
        Subject::Link { link, station, metric, direction: None, .. } => (link, station, metric),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_station_is_named_behind_its_medium_or_alone() {
    assert_eq!(subject("wifi.retries < 5"), (2, None, PipeMetric::Retries));
    assert_eq!(subject("wifi.server.retries < 5"), (2, Some(1), PipeMetric::Retries));
    assert_eq!(subject("field.phone.airtime < 50 %"), (3, Some(1), PipeMetric::Airtime));
    assert_eq!(subject("field.server.throughput > 5 Mbit/s"), (3, Some(0), PipeMetric::Throughput));
    // The client is at one medium.
    assert_eq!(subject("client.attempts > 3"), (2, Some(0), PipeMetric::Attempts));
    assert_eq!(subject("wifi.collision_airtime < 5 %"), (2, None, PipeMetric::CollisionAirtime));
    assert_eq!(subject("wifi.queue.max < 5 packets"), (2, None, PipeMetric::Queue));
    let term = right("wifi.client.air_rate > 0.5 * wifi.air_rate during 1 s..2 s").term;
    assert!(term.window.is_some() && term.dimension == Dimension::Rate, "{term:?}");
    assert_eq!(right("wifi.client.air_drops == 0 packets").term.dimension, Dimension::Packets);
}

#[test]
fn what_is_no_station_and_what_stations_do_not_have_is_refused() {
    for (text, why) in [
        ("wifi.phone.retries < 5", "`wifi` has no station `phone`: its stations are client, server"),
        ("wifi.client.delay < 5 ms", "station `client` of `wifi`: there is no metric `delay`"),
        ("wifi.client.collision_airtime < 5 %", "there is no metric `collision_airtime`"),
        ("wifi.client.retrie < 5", "did you mean `retries`? known here: throughput, packets, bytes, airtime"),
        ("backbone.airtime < 5 %", "`airtime` is of radio media, and `backbone` is none"),
        ("field.collision_airtime < 5 %", "write `field.collisions`"),
        (
            "server.retries < 5",
            "node `server` is at 2 radio media: write `wifi.server.retries` or `field.server.retries`",
        ),
        ("wifi.client.packets match (programs) > 5 packets", "is of all packets together: leave `match` out"),
        ("max(wifi.client.throughput) > 5 Mbit/s", "`wifi.client.throughput` is one value in a run"),
    ] {
        let message = parsed(text).expect_err(text);
        assert!(message.contains(why), "{text}: {message}");
    }
}
