//! Journals of results, by spans of time.

use crate::answer::{Answer, Refusal, apart, reply};
use crate::app::App;
use crate::query::pairs;
use crate::reach::ResultsId;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response};
use netloom_results::journal::{Columns, Found, Happened, JOURNAL, NEVER, Span, Spool};
use std::sync::Arc;

/// Flows that an overview names.
const MOST_FLOWS: usize = 4_096;
/// Packets of an answer, if nothing is said, and at most.
const USUAL_LIMIT: usize = 20_000;
const MOST_LIMIT: usize = 200_000;
/// What an answer with packets begins with: "NLJ1".
const MAGIC: u32 = 0x314A_4C4E;
const HEAD: usize = 32;

fn spool(app: &App, id: &str) -> Result<Arc<Spool>, Refusal> {
    app.journals.get(&app.results_index.folder(id)?.join(JOURNAL))
}

/// `GET /api/results/ID/journal`
pub(crate) async fn overview(State(app): State<Arc<App>>, id: ResultsId) -> Answer {
    let overview = apart(move || Ok::<_, Refusal>(spool(&app, id.get())?.overview(MOST_FLOWS))).await??;
    reply(&overview)
}

/// `GET /api/results/ID/journal/packets`
pub(crate) async fn packets(State(app): State<Arc<App>>, id: ResultsId, RawQuery(query): RawQuery) -> Answer {
    let span = span(query.as_deref().unwrap_or_default())?;
    let found = apart(move || {
        let spool = spool(&app, id.get())?;
        spool.find(&span).map_err(|error| Refusal::failed(format!("reading the journal: {error}")))
    });
    let mut response = Response::new(Body::from(packed(&found.await??)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    Ok(response)
}

fn span(query: &str) -> Result<Span, Refusal> {
    let mut span = Span { limit: USUAL_LIMIT, ..Span::default() };
    let (mut from, mut to) = (None, None);
    for (key, value) in pairs(query)? {
        let wrong = |what: &str| Refusal::bad(format!("`{key}` is {what}")).with("key", key.as_str());
        match key.as_str() {
            "from_ns" => from = Some(value.parse().map_err(|_| wrong("a whole number of nanoseconds"))?),
            "to_ns" => to = Some(value.parse().map_err(|_| wrong("a whole number of nanoseconds"))?),
            "limit" => {
                let limit = value.parse().ok().filter(|limit| (1..=MOST_LIMIT).contains(limit));
                span.limit = limit.ok_or_else(|| wrong(&format!("a number from 1 to {MOST_LIMIT}")))?;
            }
            "pipe" => span.pipes.push(value.parse().map_err(|_| wrong("the number of a pipe"))?),
            "flow" => span.flows.push(value.parse().map_err(|_| wrong("the number of a flow"))?),
            "happened" => span.happened.push(match value.as_str() {
                "delivered" => Happened::Delivered,
                "dropped" => Happened::Dropped,
                "marked" => Happened::Marked,
                "inside" => Happened::Inside,
                _ => return Err(wrong("delivered, dropped, marked or inside")),
            }),
            "thin" => span.is_thinned = value == "true",
            _ => return Err(Refusal::bad(format!("packets have no `{key}`")).with("key", key)),
        }
    }
    let (Some(from), Some(to)) = (from, to) else {
        return Err(Refusal::bad("the span is missing: `from_ns` and `to_ns`"));
    };
    (span.from_ns, span.to_ns) = (from, to);
    Ok(span)
}

/// The packets as a page takes them: see the manual.
fn packed(found: &Found) -> Vec<u8> {
    let Columns { instants_ns, numbers, fates, flags } = &found.columns;
    let count = fates.len();
    let mut bytes = Vec::with_capacity(HEAD + count * 70);
    bytes.extend_from_slice(&MAGIC.to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(&(found.found as f64).to_le_bytes());
    bytes.extend_from_slice(&u32::from(found.is_partial).to_le_bytes());
    bytes.resize(HEAD, 0);
    for instant in instants_ns.iter().flatten() {
        let value = if *instant == NEVER { f64::NAN } else { *instant as f64 };
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    for number in numbers.iter().flatten() {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(fates);
    bytes.extend_from_slice(flags);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_a_span_or_refused() {
        let span_of = |query| span(query).map_err(|refusal| refusal.message().to_owned());
        let found = span_of("from_ns=-5&to_ns=10&flow=1&flow=2&happened=dropped&thin=true&limit=7").unwrap();
        assert_eq!((found.from_ns, found.to_ns, found.limit, found.is_thinned), (-5, 10, 7, true));
        assert_eq!((found.flows, found.happened), (vec![1, 2], vec![Happened::Dropped]));
        for wrong in [
            "",
            "from_ns=1",
            "from_ns=1&to_ns=x",
            "from_ns=1&to_ns=2&limit=0",
            "from_ns=1&to_ns=2&limit=200001",
            "from_ns=1&to_ns=2&x=1",
            "from_ns=1e3&to_ns=2",
        ] {
            assert!(span_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn columns_stand_where_the_manual_says() {
        let mut found = Found { found: 9, ..Found::default() };
        found.columns.instants_ns =
            [vec![1, 2], vec![3, NEVER], vec![5, 6], vec![7, 8], vec![9, 10], vec![NEVER, NEVER]];
        found.columns.numbers = [vec![11, 12], vec![13, 14], vec![15, 16], vec![17, 18], vec![19, 20]];
        (found.columns.fates, found.columns.flags) = (vec![0, 4], vec![1, 0]);
        let bytes = packed(&found);
        let (f64_at, u32_at) = (
            |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()),
            |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()),
        );
        assert_eq!((&bytes[..4], u32_at(4), f64_at(8)), (&b"NLJ1"[..], 2, 9.0));
        assert_eq!((f64_at(32), f64_at(32 + 8 * 2)), (1.0, 3.0));
        assert!(f64_at(32 + 8 * 3).is_nan());
        assert_eq!((u32_at(32 + 48 * 2), u32_at(32 + 64 * 2 + 4)), (11, 20));
        assert_eq!(bytes[32 + 68 * 2..], [0, 4, 1, 0]);
    }
}
