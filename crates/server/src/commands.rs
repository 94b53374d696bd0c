//! Commands that pages give, and what became of them.

mod child;

use crate::access::From;
use crate::answer::{Answer, Refusal, read, reply, reply_with};
use crate::app::App;
use crate::check::parse_clock;
use crate::jobs::Asked;
use crate::visitors::Visitor;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use child::run;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    command: String,
    path: String,
    clock: Option<String>,
    seed: Option<u64>,
    name: Option<String>,
}

/// `POST /api/jobs`
pub(crate) async fn start(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    body: Bytes,
) -> Answer {
    let wanted: Wanted = read(&body)?;
    let command = ["up", "run", "sim"].into_iter().find(|known| *known == wanted.command);
    let command = command.ok_or_else(|| Refusal::bad("`command` is up, run or sim").with("key", "command"))?;
    if let Some(clock) = &wanted.clock {
        parse_clock(clock)?;
    }
    if let Some(name) = &wanted.name {
        netloom_lab::check_name(name).map_err(|reason| Refusal::bad(reason).with("key", "name"))?;
    }
    let labs = app.lab_files()?;
    let path = wanted.path.clone();
    let (home, lab) = app
        .turns
        .take(&visitor, address, move || {
            let text = labs.read(&path)?;
            let lab =
                netloom_lab::parse(&text.text, &labs.named(&path)?.to_string_lossy()).ok().map(|lab| lab.plan.name);
            Ok::<_, Refusal>((labs.path().to_owned(), lab))
        })
        .await??;
    let asked = Asked {
        command,
        path: wanted.path,
        clock: wanted.clock.filter(|_| command != "sim"),
        seed: wanted.seed,
        lab: wanted.name.clone().filter(|_| command != "sim").or(lab),
        name: wanted.name.filter(|_| command != "sim"),
        home,
    };
    let (id, stop) = app.jobs.begin(&asked)?;
    tokio::spawn(run(Arc::clone(&app), id, asked, stop));
    reply_with(StatusCode::CREATED, &app.jobs.described(id, |_, _| true)?)
}

/// `GET /api/jobs`
pub(crate) async fn list(State(app): State<Arc<App>>, Extension(visitor): Extension<Arc<Visitor>>) -> Answer {
    reply(&json!({ "jobs": app.jobs.list(|lab, path| app.scope.has_job(visitor.role, lab, path)) }))
}

/// `GET /api/jobs/ID`
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Path(id): Path<u64>,
) -> Answer {
    reply(&app.jobs.described(id, |lab, path| app.scope.has_job(visitor.role, lab, path))?)
}

/// `DELETE /api/jobs/ID`
pub(crate) async fn stop(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    app.jobs.stop(id)?;
    reply(&app.jobs.described(id, |_, _| true)?)
}
