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
use serde_json::json;
use std::sync::Arc;

/// `GET /api/results/ID/map`
pub(crate) async fn map(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    id: ResultsId,
    RawQuery(query): RawQuery,
) -> Answer {
    let at = time(query.as_deref().unwrap_or_default())?;
    let folder = app.results_index.folder(id.get())?;
    let server = Arc::clone(&app);
    let found = app.turns.take(&visitor, address, move || {
        let known = server.air_maps.get(id.get(), || lab(&folder).map(|lab| lab.plan))?;
        graph::map_at(&known.plan, &known.roams, at)
    });
    reply(&json!({ "at_ns": at.as_nanos(), "svg": found.await? }))
}

fn time(query: &str) -> Result<Duration, Refusal> {
    let mut at = Duration::ZERO;
    for (key, value) in pairs(query)? {
        match key.as_str() {
            "at_ns" => {
                let wrong = |_| Refusal::bad("`at_ns` is a whole number of nanoseconds").with("key", "at_ns");
                at = Duration::from_nanos(value.parse().map_err(wrong)?);
            }
            other => return Err(Refusal::bad(format!("`{other}` is not known here: write `at_ns`"))),
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_says_a_time() {
        assert_eq!(time("").map(Duration::as_nanos).ok(), Some(0));
        assert_eq!(time("at_ns=1500").map(Duration::as_nanos).ok(), Some(1_500));
        assert!(time("at_ns=-1").is_err() && time("at_ns=x").is_err() && time("when=1").is_err());
    }
}
