//! Lab files, read and written by pages.

use crate::answer::{Answer, Refusal, apart, reply};
use crate::app::App;
use crate::lab_files::{Base, LONGEST_TEXT};
use crate::visitors::Visitor;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serde_json::json;
use std::sync::Arc;

/// `GET /api/files`
pub(crate) async fn list(State(app): State<Arc<App>>, Extension(visitor): Extension<Arc<Visitor>>) -> Answer {
    let Some(labs) = app.labs.clone() else { return reply(&json!({ "files": [], "left_out": 0 })) };
    let (mut files, left_out) = apart(move || labs.list()).await?;
    files.retain(|file| app.scope.has_file(visitor.role, &file.path));
    reply(&json!({ "files": files, "left_out": left_out }))
}

/// `GET /api/files/PATH`
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Path(path): Path<String>,
) -> Answer {
    let labs = app.lab_files()?;
    app.scope.check_file(visitor.role, &path)?;
    let text = apart(move || labs.read(&path)).await??;
    let mut response = Response::new(Body::from(text.text));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(value) = HeaderValue::from_str(&text.etag) {
        headers.insert(ETAG, value);
    }
    Ok(response)
}

/// `PUT /api/files/PATH`
pub(crate) async fn write(
    State(app): State<Arc<App>>,
    Path(path): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    let base = base(&headers)?;
    if body.len() as u64 > LONGEST_TEXT {
        return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "a lab file has at most 4 MiB"));
    }
    let text = String::from_utf8(body.into()).map_err(|_| Refusal::bad("a lab file is text in UTF-8"))?;
    let labs = app.lab_files()?;
    let etag = apart(move || labs.write(&path, &text, &base)).await??;
    reply(&json!({ "etag": etag }))
}

/// What the headers say the new text is based on.
fn base(headers: &HeaderMap) -> Result<Base, Refusal> {
    let text = |name: &HeaderName| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).map(str::trim);
    if text(&IF_NONE_MATCH) == Some("*") {
        return Ok(Base::New);
    }
    let Some(tag) = text(&IF_MATCH) else {
        let message = "the version that the text is based on is missing: send If-Match with the ETag that was read, or If-None-Match: * for a new file";
        return Err(Refusal::new(StatusCode::PRECONDITION_REQUIRED, message));
    };
    let digits = tag.trim_start_matches("W/").trim_matches('"');
    Ok(Base::On(format!("\"{digits}\"")))
}
