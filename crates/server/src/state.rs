//! What the page shows first, and for whom.

use crate::answer::{Answer, apart, reply};
use crate::app::App;
use crate::options::Opened;
use crate::visitors::Visitor;
use axum::Extension;
use axum::extract::State;
use serde_json::{Value, json};
use std::sync::Arc;

/// `GET /api/state`
pub(crate) async fn state(State(app): State<Arc<App>>, Extension(visitor): Extension<Arc<Visitor>>) -> Answer {
    let server = Arc::clone(&app);
    let opened = apart(move || opened(&server)).await?;
    reply(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "role": visitor.role,
        "name": visitor.name,
        "shared": app.names.is_shared,
        "opened": opened,
        "folder": app.labs.as_ref().map(|labs| labs.path()),
        "results_folder": app.results_index.root(),
        "protocol": { "major": netloom_control::VERSION.0, "minor": netloom_control::VERSION.1 },
    }))
}

fn opened(app: &App) -> Value {
    let inside = |path: &std::path::Path| app.labs.as_ref().and_then(|labs| labs.inside(path));
    match &app.opened {
        None => Value::Null,
        Some(Opened::File(path)) => json!({ "kind": "file", "path": inside(path) }),
        Some(Opened::Lab(name)) => {
            let file = netloom_control::find(name).ok().and_then(|lab| lab.state).map(|state| state.lab_file);
            json!({ "kind": "lab", "name": name, "path": file.and_then(|file| inside(&file)) })
        }
        Some(Opened::Results(folder)) => json!({ "kind": "results", "id": app.results_index.id(folder) }),
    }
}
