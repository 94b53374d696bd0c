//! Which request is answered where, and by whom it may be asked.

use crate::access::guard;
use crate::answer::Refusal;
use crate::app::App;
use crate::token::Role;
use crate::{
    captures, check, commands, control, events, files, generate, journal, labs, lessons, page, results, state, terminal,
};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use std::sync::Arc;

/// The longest body of a request.
const LONGEST_BODY: usize = 8 << 20;

/// See the module.
pub(crate) fn router(app: Arc<App>) -> Router {
    let look = Router::new()
        .route("/api/state", get(state::state))
        .route("/api/events", get(events::events))
        .route("/api/labs", get(labs::list))
        .route("/api/labs/{lab}/control", get(control::control))
        .route("/api/files", get(files::list))
        .route("/api/files/{*path}", get(files::read))
        .route("/api/check", post(check::check))
        .route("/api/schema", get(generate::schema))
        .route("/api/schema/protocol", get(generate::protocol))
        .route("/api/keys", get(generate::keys))
        .route("/api/lessons", get(lessons::lessons))
        .route("/api/formats", get(generate::formats))
        .route("/api/generators", get(generate::generators))
        .route("/api/jobs", get(commands::list))
        .route("/api/jobs/{id}", get(commands::one))
        .route("/api/results", get(results::list))
        .route("/api/results/{id}", get(results::one))
        .route("/api/results/{id}/files/{*path}", get(results::file))
        .route("/api/results/{id}/journal", get(journal::overview))
        .route("/api/results/{id}/journal/packets", get(journal::packets));
    let work = Router::new()
        .route("/api/labs/{lab}/nodes/{node}/terminal", get(terminal::terminal))
        .route("/api/labs/{lab}/captures/{link}", get(captures::capture))
        .route("/api/labs/{lab}/captures/{link}/command", get(captures::command))
        .route_layer(middleware::from_fn(|request, next| need(Role::Use, request, next)));
    let edit = Router::new()
        .route("/api/labs/{lab}", delete(labs::down))
        .route("/api/files/{*path}", put(files::write))
        .route("/api/convert", post(generate::convert))
        .route("/api/export", post(generate::export))
        .route("/api/format", post(generate::as_json))
        .route("/api/generate", post(generate::generate))
        .route("/api/jobs", post(commands::start))
        .route("/api/jobs/{id}", delete(commands::stop))
        .route_layer(middleware::from_fn(|request, next| need(Role::Edit, request, next)));
    Router::new()
        .merge(look)
        .merge(work)
        .merge(edit)
        .route("/api/{*rest}", get(nothing).post(nothing).put(nothing).delete(nothing))
        .route("/assets/{*name}", get(page::asset))
        .fallback(page::page)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

async fn nothing() -> Refusal {
    Refusal::missing("this server has no such thing: docs/ui-protocol.md says what there is")
}

/// Lets those through who have at least this role.
async fn need(least: Role, request: Request, next: Next) -> Response {
    match request.extensions().get::<Role>() {
        Some(role) if *role >= least => next.run(request).await,
        _ => Refusal::forbidden(format!("this needs the role `{}`: ask who shares this page", least.name()))
            .into_response(),
    }
}
