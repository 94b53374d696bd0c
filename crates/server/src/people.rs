//! Who is here, for whoever shares the page: listed, sent away one by one; and the links by which more come in.

use crate::answer::{Answer, reply};
use crate::app::App;
use crate::token::Role;
use crate::visitors::Visitor;
use axum::extract::{Path, State};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How long pages have to hear that their visitor was sent away, before their connections are closed.
const HEARD_WITHIN: Duration = Duration::from_secs(3);

/// `GET /api/visitors`
pub(crate) async fn list(State(app): State<Arc<App>>) -> Answer {
    let links: Vec<Value> = app.visitors.links().into_iter().map(|(role, token)| link(&app, role, &token)).collect();
    let mut visitors = app.people();
    for visitor in &mut visitors {
        visitor["connections"] = app.connections.of(visitor["id"].as_u64().unwrap_or_default()).into();
    }
    reply(&json!({ "visitors": visitors, "links": links }))
}

/// `DELETE /api/visitors/ID`
pub(crate) async fn send_away(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    let visitor = app.visitors.send_away(id)?;
    close(&app, &visitor);
    reply(&json!({ "id": id, "name": visitor.name }))
}

/// `POST /api/links/ROLE`
pub(crate) async fn renew(State(app): State<Arc<App>>, Path(role): Path<Role>) -> Answer {
    let (old, token) = app.visitors.renew(role)?;
    close(&app, &old);
    reply(&link(&app, role, &token))
}

/// A link as it is handed on.
fn link(app: &App, role: Role, token: &str) -> Value {
    json!({ "role": role, "address": app.names.address(token) })
}

fn close(app: &Arc<App>, visitor: &Visitor) {
    let (app, id) = (Arc::clone(app), visitor.id);
    tokio::spawn(async move {
        tokio::time::sleep(HEARD_WITHIN).await;
        app.connections.end_all(id);
    });
}
