//! Events for pages: what is true first, and then what changes. Nothing is queued: a page that is slow gets the difference between what it knows and what is true
//! by then.

use crate::access::From;
use crate::answer::{Answer, apart};
use crate::app::App;
use crate::jobs::Heard;
use crate::lab_files::{LabFiles, Listed};
use crate::outbox::{Close, Gone, Outbox};
use crate::socket::{Opener, converse};
use crate::token::Role;
use crate::visitors::Visitor;
use crate::world::Now;
use axum::Extension;
use axum::extract::{State, WebSocketUpgrade};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// `GET /api/events`
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    upgrade: WebSocketUpgrade,
) -> Answer {
    let (server, role) = (Arc::clone(&app), visitor.role);
    let opener = Opener { visitor, address, what: json!({ "kind": "page" }) };
    converse(&app, opener, upgrade, move |outbox, mut inbox| async move {
        tokio::select! {
            () = report(&server, role, &outbox) => {}
            () = inbox.ignore() => {}
        }
        Close::done("")
    })
}

/// Tells until the page has gone.
async fn report(app: &App, role: Role, outbox: &Outbox) {
    let (mut world, mut jobs, mut visitors) = (app.world.watch(), app.jobs.watch(), app.visitors.watch());
    let mut told = Told::default();
    let mut heard = Heard::default();
    let mut known = Vec::new();
    loop {
        let now = world.borrow_and_update().clone();
        jobs.borrow_and_update();
        visitors.borrow_and_update();
        let sent = async {
            told.report(now.seen_by(role, app), app.labs.as_ref(), outbox).await?;
            for event in app.jobs.news(&mut heard, |lab, path| app.scope.has_job(role, lab, path)) {
                outbox.json(&event).await?;
            }
            if role == Role::Edit && app.names.is_shared {
                let here = app.people();
                if here != known {
                    outbox.json(&json!({ "event": "visitors", "visitors": here })).await?;
                    known = here;
                }
            }
            Ok::<(), Gone>(())
        };
        if sent.await.is_err() {
            return;
        }
        tokio::select! {
            changed = world.changed() => if changed.is_err() { return },
            changed = jobs.changed() => if changed.is_err() { return },
            changed = visitors.changed(), if role == Role::Edit => if changed.is_err() { return },
        }
    }
}

/// What a page knows.
#[derive(Default)]
struct Told {
    now: Option<Now>,
}

impl Told {
    async fn report(&mut self, now: Now, labs: Option<&Arc<LabFiles>>, outbox: &Outbox) -> Result<(), Gone> {
        let before = self.now.replace(now.clone());
        if before.as_ref().is_none_or(|before| before.labs != now.labs) {
            outbox.json(&json!({ "event": "labs", "labs": *now.labs })).await?;
        }
        let Some(before) = before else { return Ok(()) };
        if before.results != now.results {
            outbox.json(&json!({ "event": "results" })).await?;
        }
        if before.files == now.files {
            return Ok(());
        }
        let [old, new] = [&before.files, &now.files].map(|files| by_path(files));
        for (path, _) in old.iter().filter(|(path, _)| !new.contains_key(*path)) {
            outbox.json(&json!({ "event": "file", "path": path, "etag": null })).await?;
        }
        for (path, _) in new.iter().filter(|(path, file)| old.get(*path).is_some_and(|known| known != *file)) {
            let etag = etag(labs, path).await;
            outbox.json(&json!({ "event": "file", "path": path, "etag": etag })).await?;
        }
        if !old.keys().eq(new.keys()) {
            outbox.json(&json!({ "event": "files" })).await?;
        }
        Ok(())
    }
}

async fn etag(labs: Option<&Arc<LabFiles>>, path: &str) -> Option<String> {
    let (labs, path) = (Arc::clone(labs?), path.to_owned());
    apart(move || labs.read(&path)).await.ok()?.ok().map(|text| text.etag)
}

impl Now {
    /// What of it somebody of this role may see.
    fn seen_by(self, role: Role, app: &App) -> Self {
        if role == Role::Edit {
            return self;
        }
        let labs = self.labs.iter().filter(|lab| lab["shared"] == Value::Bool(true)).cloned().collect();
        let files = self.files.iter().filter(|file| app.scope.has_file(role, &file.path)).cloned().collect();
        Self { labs: Arc::new(labs), files: Arc::new(files), ..self }
    }
}

fn by_path(files: &[Listed]) -> BTreeMap<&str, &Listed> {
    files.iter().map(|file| (file.path.as_str(), file)).collect()
}
