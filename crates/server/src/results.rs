//! Results folders: listed, read as the report has them, and their files.

use crate::access::From;
use crate::answer::{Answer, Refusal, apart, reply};
use crate::app::App;
use crate::folder::{Folder, Links};
use crate::ranges;
use crate::reach::ResultsId;
use crate::scene::scene;
use crate::visitors::Visitor;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use netloom_judge::RunError;
use netloom_lab::{Lab, Limits};
use netloom_results::page::RunData;
use netloom_results::{graph, read_document};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path as FilePath;
use std::sync::Arc;

/// `GET /api/results`
pub(crate) async fn list(State(app): State<Arc<App>>, Extension(visitor): Extension<Arc<Visitor>>) -> Answer {
    let server = Arc::clone(&app);
    let mut results = apart(move || server.results_index.list()).await??;
    results.retain(|one| app.scope.has_results(visitor.role, one["id"].as_str().unwrap_or_default()));
    reply(&json!({ "results": results }))
}

/// `GET /api/results/ID`
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    id: ResultsId,
) -> Answer {
    let folder = app.results_index.folder(id.get())?;
    let found = app.turns.take(&visitor, address, move || {
        let data = RunData::read(&folder, &format!("/api/results/{}/files/", crate::query::encoded(id.get())))?;
        Ok::<_, RunError>(json!({ "id": id.get(), "data": data, "scene": map(&folder) }))
    });
    reply(&found.await??)
}

/// The map of a run: as its lab file has it, else with the names of its plan alone.
fn map(folder: &FilePath) -> Value {
    if let Some(lab) = lab(folder) {
        return scene(&lab.plan);
    }
    let plan =
        read_document(&folder.join("plan.json")).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    plan.as_ref().and_then(planned).unwrap_or(Value::Null)
}

/// The lab file among results, which may be as large as those that pages edit.
pub(crate) fn lab(folder: &FilePath) -> Option<Lab> {
    let file = folder.join("lab.yaml");
    let text = read_document(&file).ok().and_then(|bytes| String::from_utf8(bytes).ok())?;
    netloom_lab::parse_within(&text, &file.to_string_lossy(), None, &Limits::SERVED).ok()
}

/// The map of a plan, whose places are not in it.
fn planned(plan: &Value) -> Option<Value> {
    /// More are on no map.
    const MOST: usize = 20_000;
    let nodes = plan["nodes"].as_array().filter(|nodes| nodes.len() <= MOST)?;
    let names: Vec<&str> = nodes.iter().map(|node| node["name"].as_str()).collect::<Option<_>>()?;
    let numbers: HashMap<&str, usize> = names.iter().copied().zip(0..).collect();
    let (mut links, mut pairs) = (Vec::new(), Vec::new());
    for link in plan["links"].as_array()?.iter().take(MOST) {
        let ends: Vec<&str> = link["ends"].as_array()?.iter().filter_map(|end| end["node"].as_str()).collect();
        let known: Vec<usize> = ends.iter().filter_map(|end| numbers.get(end).copied()).collect();
        pairs.extend(known.iter().skip(1).map(|other| (known[0], *other)).filter(|(one, other)| one != other));
        links.push(json!({ "name": link["name"], "ends": ends, "words": [] }));
    }
    let places = graph::places_of(&names, &pairs);
    let nodes = nodes
        .iter()
        .zip(places)
        .map(|(node, [x, y])| json!({ "name": node["name"], "kind": node["kind"], "x": x, "y": y, "placed": false }));
    Some(json!({ "nodes": nodes.collect::<Vec<_>>(), "links": links }))
}

/// `GET /api/results/ID/files/PATH`
pub(crate) async fn file(
    State(app): State<Arc<App>>,
    id: ResultsId,
    Path((_, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answer {
    let folder = app.results_index.folder(id.get())?;
    let name = path.clone();
    let file = apart(move || {
        let folder =
            Folder::open(&folder).map_err(|error| Refusal::failed(format!("opening {}: {error}", folder.display())))?;
        folder.file(&path, Links::Followed)
    });
    ranges::answer(file.await??, &name, &headers)
}
