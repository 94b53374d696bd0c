//! Events for pages: what is true first, and then what changes. Nothing is queued: a page that is slow is told the difference between what it knows and what is true
//! by then.

use crate::answer::{Answer, apart};
use crate::app::App;
use crate::folder::{Folder, Listed};
use crate::jobs::Heard;
use crate::socket::{Close, Gone, Outbox, converse};
use crate::world::Now;
use axum::extract::{State, WebSocketUpgrade};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// `GET /api/events`
pub(crate) async fn events(State(app): State<Arc<App>>, upgrade: WebSocketUpgrade) -> Answer {
    let server = Arc::clone(&app);
    converse(&app, upgrade, move |outbox, mut inbox| async move {
        tokio::select! {
            () = tell(&server, &outbox) => {}
            () = inbox.ignore() => {}
        }
        Close::done("")
    })
}

/// Tells until the page has gone.
async fn tell(app: &App, outbox: &Outbox) {
    let (mut world, mut jobs) = (app.world.watch(), app.jobs.watch());
    let mut told = Told::default();
    let mut heard = Heard::default();
    loop {
        let now = world.borrow_and_update().clone();
        jobs.borrow_and_update();
        let sent = async {
            told.tell(now, app.folder.as_ref(), outbox).await?;
            for event in app.jobs.news(&mut heard) {
                outbox.json(&event).await?;
            }
            Ok::<(), Gone>(())
        };
        if sent.await.is_err() {
            return;
        }
        tokio::select! {
            changed = world.changed() => if changed.is_err() { return },
            changed = jobs.changed() => if changed.is_err() { return },
        }
    }
}

/// What a page knows.
#[derive(Default)]
struct Told {
    now: Option<Now>,
}

impl Told {
    async fn tell(&mut self, now: Now, folder: Option<&Arc<Folder>>, outbox: &Outbox) -> Result<(), Gone> {
        let before = self.now.replace(now.clone());
        if before.as_ref().is_none_or(|before| before.labs != now.labs) {
            outbox.json(&json!({ "event": "labs", "labs": *now.labs })).await?;
        }
        let Some(before) = before else { return Ok(()) };
        if before.results != now.results {
            outbox.json(&json!({ "event": "results" })).await?;
        }
        if Arc::ptr_eq(&before.files, &now.files) {
            return Ok(());
        }
        let [old, new] = [&before.files, &now.files].map(|files| by_path(files));
        for (path, _) in old.iter().filter(|(path, _)| !new.contains_key(*path)) {
            outbox.json(&json!({ "event": "file", "path": path, "etag": null })).await?;
        }
        for (path, _) in new.iter().filter(|(path, file)| old.get(*path).is_some_and(|known| known != *file)) {
            let etag = etag(folder, path).await;
            outbox.json(&json!({ "event": "file", "path": path, "etag": etag })).await?;
        }
        if !old.keys().eq(new.keys()) {
            outbox.json(&json!({ "event": "files" })).await?;
        }
        Ok(())
    }
}

async fn etag(folder: Option<&Arc<Folder>>, path: &str) -> Option<String> {
    let (folder, path) = (Arc::clone(folder?), path.to_owned());
    apart(move || folder.read(&path)).await.ok()?.ok().map(|text| text.etag)
}

fn by_path(files: &[Listed]) -> BTreeMap<&str, &Listed> {
    files.iter().map(|file| (file.path.as_str(), file)).collect()
}
