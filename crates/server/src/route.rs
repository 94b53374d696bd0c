//! Which request is answered where, and by whom it may be asked.

use crate::access::guard;
use crate::answer::Refusal;
use crate::app::App;
use crate::token::Role;
use crate::visitors::Visitor;
use crate::{
    air_frames, air_map, captures, check, commands, control, events, files, generate, journal, labs, lessons, page,
    people, results, state, terminal,
};
use axum::Router;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post, put};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// The longest body of a request of the role `edit`, and of the others, who send no texts.
const LONGEST_BODY: usize = 8 << 20;
const LONGEST_OF_OTHERS: usize = 64 << 10;
/// How long others wait until they are answered.
const TURN_WITHIN: Duration = Duration::from_secs(20);
/// Within which a body must have come.
const BODY_WITHIN: Duration = Duration::from_secs(30);

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
        look("GET", "/api/results/{id}/map", get(air_map::map)),
        look("GET", "/api/results/{id}/air", get(air_frames::air)),
        look("GET", "/api/results/{id}/journal", get(journal::overview)),
        look("GET", "/api/results/{id}/journal/packets", get(journal::packets)),
        work("GET", "/api/labs/{lab}/nodes/{node}/terminal", get(terminal::terminal)),
        work("GET", "/api/labs/{lab}/terminals", get(terminal::list)),
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
        edit("GET", "/api/visitors", get(people::list)),
        edit("DELETE", "/api/visitors/{id}", delete(people::send_away)),
        edit("POST", "/api/links/{role}", post(people::renew)),
    ]
}

/// See the module.
pub(crate) fn router(app: Arc<App>) -> Router {
    let served = routes().into_iter().fold(Router::new(), |router, Route { least, path, handler, .. }| {
        let app = Arc::clone(&app);
        let needed = middleware::from_fn(move |request, next| need(Arc::clone(&app), least, request, next));
        router.route(path, handler.route_layer(needed))
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
    Refusal::missing("there is no such path: docs/ui-protocol.md lists them")
}

/// Lets those through who have at least this role, with the whole body of their request. A body that does not come is not waited for long.
async fn need(app: Arc<App>, least: Role, request: Request, next: Next) -> Response {
    let role = request.extensions().get::<Arc<Visitor>>().map(|visitor| visitor.role);
    let Some(role) = role.filter(|role| *role >= least) else {
        return Refusal::forbidden(format!("this needs the role `{}`: ask the owner of this page", least.name()))
            .into_response();
    };
    let answered = async {
        let request = whole(role, request, BODY_WITHIN).await?;
        let _turn = turn(&app, role).await?;
        Ok::<_, Refusal>(next.run(request).await)
    };
    answered.await.unwrap_or_else(|refusal| {
        let mut response = refusal.into_response();
        // What of the body is still to come is not read.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        response
    })
}

/// Waits until there is room to answer somebody of this role. There always is for whoever shares the page.
async fn turn(app: &App, role: Role) -> Result<Option<OwnedSemaphorePermit>, Refusal> {
    if role == Role::Edit {
        return Ok(None);
    }
    let turn = tokio::time::timeout(TURN_WITHIN, Arc::clone(&app.others).acquire_owned()).await;
    let busy = || Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is busy: try again");
    turn.map_err(|_| busy())?.map(Some).map_err(|_| busy())
}

/// A request whose body has come. Others than these have none that anybody reads.
async fn whole(role: Role, request: Request, within: Duration) -> Result<Request, Refusal> {
    if !matches!(*request.method(), Method::POST | Method::PUT) {
        return Ok(request);
    }
    let most = if role == Role::Edit { LONGEST_BODY } else { LONGEST_OF_OTHERS };
    let (head, body) = request.into_parts();
    let too_long = || {
        let message = format!("the body of this request is longer than {} KiB", most >> 10);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    };
    if body.size_hint().lower() > most as u64 {
        return Err(too_long());
    }
    let late = || Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body of this request did not come in time");
    let body = tokio::time::timeout(within, to_bytes(body, most)).await.map_err(|_| late())?;
    let body = body.map_err(|error| {
        let said = error.to_string();
        if said.contains("length limit") {
            too_long()
        } else {
            Refusal::bad(format!("reading the body of this request: {said}"))
        }
    })?;
    Ok(Request::from_parts(head, Body::from(body)))
}

#[cfg(test)]
mod tests;
