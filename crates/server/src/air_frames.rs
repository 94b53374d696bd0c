//! What was on the air of a run's radio media, from its captures with headers of radiotap.

use crate::access::From;
use crate::air_logs::AirLogs;
use crate::answer::{Answer, Refusal, reply};
use crate::app::App;
use crate::folder::{Folder, Links};
use crate::query::pairs;
use crate::reach::ResultsId;
use crate::results::lab;
use crate::visitors::Visitor;
use axum::Extension;
use axum::extract::{RawQuery, State};
use netloom_lab::Plan;
use netloom_results::capture::AirLog;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// The parts of a span, if nothing is said, and at most.
const USUAL_PARTS: usize = 200;
const MOST_PARTS: usize = 2_000;
/// The frames of an answer at most; of more, only what they add up to is said.
const MOST_FRAMES: usize = 1_000;

/// The question of a page.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    link: Option<String>,
    from_ns: u64,
    to_ns: u64,
    parts: usize,
}

/// `GET /api/results/ID/air`
pub(crate) async fn air(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    id: ResultsId,
    RawQuery(query): RawQuery,
) -> Answer {
    let asked = asked(query.as_deref().unwrap_or_default())?;
    let folder = app.results_index.folder(id.get())?;
    let server = Arc::clone(&app);
    let found = app.turns.take(&visitor, address, move || {
        let known = server.air_maps.get(id.get(), || lab(&folder).map(|lab| lab.plan));
        known.map_or_else(|| Ok(nothing()), |known| look(&server.air_logs, &folder, &known.plan, &asked))
    });
    reply(&found.await??)
}

/// The answer for a lab without radio media.
fn nothing() -> Value {
    json!({ "media": [], "captured": [] })
}

fn look(logs: &AirLogs, folder: &Path, plan: &Plan, asked: &Asked) -> Result<Value, Refusal> {
    let is_radio = |link: &&netloom_lab::LinkPlan| {
        link.pipes.iter().any(|pipe| pipe.air.as_ref().is_some_and(|air| air.medium.wifi().is_some()))
    };
    let media: Vec<&str> = plan.links.iter().filter(is_radio).map(|link| link.name.as_str()).collect();
    let captures: Vec<_> = AirLog::captures(plan).collect();
    let captured: Vec<&str> = captures.iter().map(|(link, _)| *link).collect();
    let mut answer = json!({ "media": media, "captured": captured });
    let wanted = captures.iter().find(|(link, _)| asked.link.as_deref().is_none_or(|wanted| wanted == *link));
    let Some((link, capture)) = wanted else {
        return match &asked.link {
            None => Ok(answer),
            Some(link) => {
                Err(Refusal::missing(format!("these results have no capture of what was on the air of `{link}`")))
            }
        };
    };
    let file = Folder::open(folder)
        .map_err(|error| Refusal::failed(format!("opening {}: {error}", folder.display())))?
        .file(&format!("captures/{}", capture.file), Links::Followed)?;
    let log = logs.get(&folder.join("captures").join(&capture.file), file, |file| AirLog::read(plan, capture, file))?;
    answer["link"] = json!(link);
    answer["stations"] = json!(log.stations);
    answer["is_partial"] = json!(log.is_partial);
    answer["from_ns"] = json!(asked.from_ns);
    answer["to_ns"] = json!(asked.to_ns);
    answer["span"] = json!(log.span((asked.from_ns, asked.to_ns), asked.parts, MOST_FRAMES));
    Ok(answer)
}

fn asked(query: &str) -> Result<Asked, Refusal> {
    let mut asked = Asked { link: None, from_ns: 0, to_ns: 0, parts: USUAL_PARTS };
    for (key, value) in pairs(query)? {
        let wrong = |what: &str| Refusal::bad(format!("`{key}` is {what}")).with("key", key.as_str());
        let instant = || value.parse().map_err(|_| wrong("a whole number of nanoseconds"));
        match key.as_str() {
            "from_ns" => asked.from_ns = instant()?,
            "to_ns" => asked.to_ns = instant()?,
            "parts" => {
                let parts = value.parse().ok().filter(|parts| (1..=MOST_PARTS).contains(parts));
                asked.parts = parts.ok_or_else(|| wrong(&format!("a number from 1 to {MOST_PARTS}")))?;
            }
            "link" => asked.link = Some(value),
            _ => return Err(Refusal::bad(format!("the air has no `{key}`")).with("key", key)),
        }
    }
    if asked.to_ns < asked.from_ns {
        return Err(Refusal::bad("`to_ns` is before `from_ns`").with("key", "to_ns"));
    }
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_a_span_or_refused() {
        let found = asked("from_ns=5&to_ns=10&parts=7&link=wifi").ok();
        assert_eq!(found, Some(Asked { link: Some("wifi".into()), from_ns: 5, to_ns: 10, parts: 7 }));
        for wrong in ["from_ns=-1", "to_ns=x", "parts=0", "parts=2001", "from_ns=2&to_ns=1", "when=1"] {
            assert!(asked(wrong).is_err(), "{wrong}");
        }
    }

    /// Without a capture it is said which media there are; a capture that is not there is missing.
    #[test]
    fn media_are_named_without_captures() {
        let folder = tempfile::tempdir().unwrap();
        let plan = |capture: &str| {
            let text = format!(
                "nodes: [ap, a]\nlinks: {{wifi: {{ends: [ap, a], medium: {{kind: wifi, standard: a}}}}, \
                 wire: {{ends: [ap, a]}}}}\n{capture}"
            );
            netloom_lab::parse(&text, "x.yaml").unwrap().plan
        };
        let logs = AirLogs::default();
        let of = |known: &Plan, link: &str| look(&logs, folder.path(), known, &asked(link).ok().unwrap());
        let none = of(&plan(""), "").ok().unwrap();
        assert_eq!(none, json!({ "media": ["wifi"], "captured": [] }));
        assert!(of(&plan(""), "link=wifi").is_err());
        let captured = plan("capture: [{link: wifi, headers: radiotap, file: air.pcapng}]\n");
        assert!(of(&captured, "").is_err());
        std::fs::create_dir(folder.path().join("captures")).unwrap();
        std::fs::write(folder.path().join("captures/air.pcapng"), b"nothing").unwrap();
        let damaged = of(&captured, "to_ns=10").ok().unwrap();
        assert_eq!((&damaged["captured"], &damaged["is_partial"]), (&json!(["wifi"]), &json!(true)));
        assert_eq!((&damaged["stations"], &damaged["span"]["found"]), (&json!(["ap", "a"]), &json!(0)));
    }
}
