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
use axum::routing::{MethodRouter, delete, get, post, put};
use std::sync::Arc;

/// The longest body of a request.
const LONGEST_BODY: usize = 8 << 20;

/// What may be asked.
struct Route {
    /// The least role that may ask.
    least: Role,
    path: &'static str,
    handler: MethodRouter<Arc<App>>,
    /// The methods of the handler, for the tests.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with what each role may"))]
    method: &'static str,
}

/// All there is under `/api`, each with the role that it needs.
fn routes() -> Vec<Route> {
    let look = |method, path, handler| Route { least: Role::Look, path, handler, method };
    let work = |method, path, handler| Route { least: Role::Use, path, handler, method };
    let edit = |method, path, handler| Route { least: Role::Edit, path, handler, method };
    vec![
        look("GET", "/api/state", get(state::state)),
        look("GET", "/api/events", get(events::events)),
        look("GET", "/api/labs", get(labs::list)),
        look("GET", "/api/labs/{lab}/control", get(control::control)),
        look("GET", "/api/files", get(files::list)),
        look("GET", "/api/files/{*path}", get(files::read)),
        look("POST", "/api/check", post(check::check)),
        look("GET", "/api/schema", get(generate::schema)),
        look("GET", "/api/schema/protocol", get(generate::protocol)),
        look("GET", "/api/keys", get(generate::keys)),
        look("GET", "/api/lessons", get(lessons::lessons)),
        look("GET", "/api/formats", get(generate::formats)),
        look("GET", "/api/generators", get(generate::generators)),
        look("GET", "/api/jobs", get(commands::list)),
        look("GET", "/api/jobs/{id}", get(commands::one)),
        look("GET", "/api/results", get(results::list)),
        look("GET", "/api/results/{id}", get(results::one)),
        look("GET", "/api/results/{id}/files/{*path}", get(results::file)),
        look("GET", "/api/results/{id}/journal", get(journal::overview)),
        look("GET", "/api/results/{id}/journal/packets", get(journal::packets)),
        work("GET", "/api/labs/{lab}/nodes/{node}/terminal", get(terminal::terminal)),
        work("GET", "/api/labs/{lab}/captures/{link}", get(captures::capture)),
        work("GET", "/api/labs/{lab}/captures/{link}/command", get(captures::command)),
        edit("DELETE", "/api/labs/{lab}", delete(labs::down)),
        edit("PUT", "/api/files/{*path}", put(files::write)),
        edit("POST", "/api/convert", post(generate::convert)),
        edit("POST", "/api/export", post(generate::export)),
        edit("POST", "/api/format", post(generate::as_json)),
        edit("POST", "/api/generate", post(generate::generate)),
        edit("POST", "/api/jobs", post(commands::start)),
        edit("DELETE", "/api/jobs/{id}", delete(commands::stop)),
    ]
}

/// See the module.
pub(crate) fn router(app: Arc<App>) -> Router {
    let served = routes().into_iter().fold(Router::new(), |router, Route { least, path, handler, .. }| {
        router.route(path, handler.route_layer(middleware::from_fn(move |request, next| need(least, request, next))))
    });
    served
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

#[cfg(test)]
mod tests;
