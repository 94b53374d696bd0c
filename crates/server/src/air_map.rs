//! The map in metres of a run's radio media at a time: who is where, who is with which access point, and how far senders reach.

use crate::access::From;
use crate::answer::{Answer, Refusal, reply};
use crate::app::App;
use crate::query::pairs;
use crate::reach::ResultsId;
use crate::results::lab;
use crate::visitors::Visitor;
use axum::Extension;
use axum::extract::{RawQuery, State};
use netloom_results::graph;
use netloom_units::Duration;
use serde_json::{Value, json};
use std::sync::Arc;

/// The width of a picture in pixels, if nobody says another one.
const USUAL_WIDTH: u32 = 712;

/// `GET /api/results/ID/map`
pub(crate) async fn map(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    id: ResultsId,
    RawQuery(query): RawQuery,
) -> Answer {
    let (at, width) = asked(query.as_deref().unwrap_or_default())?;
    let folder = app.results_index.folder(id.get())?;
    let server = Arc::clone(&app);
    let found = app.turns.take(&visitor, address, move || {
        let known = server.air_maps.get(id.get(), || lab(&folder).map(|lab| lab.plan))?;
        graph::map_at(&known.plan, &known.roams, at, width)
    });
    let map = found.await?;
    let told = |one: &graph::Belonging| json!({ "link": one.link, "station": one.station, "to": one.to });
    let belongs: Vec<Value> = map.iter().flat_map(|map| &map.belongs).map(told).collect();
    reply(&json!({ "at_ns": at.as_nanos(), "svg": map.map(|map| map.svg), "belongs": belongs }))
}

/// The time, and the width of the picture in pixels.
fn asked(query: &str) -> Result<(Duration, u32), Refusal> {
    let (mut at, mut width) = (Duration::ZERO, USUAL_WIDTH);
    for (key, value) in pairs(query)? {
        match key.as_str() {
            "at_ns" => {
                let wrong = |_| Refusal::bad("`at_ns` is a whole number of nanoseconds").with("key", "at_ns");
                at = Duration::from_nanos(value.parse().map_err(wrong)?);
            }
            "width" => {
                let wrong = |_| Refusal::bad("`width` is a whole number of pixels").with("key", "width");
                width = value.parse().map_err(wrong)?;
            }
            other => return Err(Refusal::bad(format!("`{other}` is not known here: write `at_ns` or `width`"))),
        }
    }
    Ok((at, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_says_a_time() {
        assert_eq!(asked("").ok(), Some((Duration::ZERO, USUAL_WIDTH)));
        assert_eq!(asked("at_ns=1500&width=360").ok(), Some((Duration::from_nanos(1_500), 360)));
        for wrong in ["at_ns=-1", "at_ns=x", "when=1", "width=wide"] {
            assert!(asked(wrong).is_err(), "{wrong}");
        }
    }
}
