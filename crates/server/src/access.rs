//! Who may ask: a browser that brings the token or the cookie that was made of it, from this server's own page, by this server's own name.
//!
//! - The name in `Host` must be one of ours: else a stranger's name that leads to this address (DNS rebinding) would let a stranger's page read
//!   what is here. Addresses cannot be a stranger's names.
//! - `Origin` and `Sec-Fetch-Site` must say that our own page asks. Programs send neither, and browsers always one of them where it matters.
//! - The cookie is for this port alone by its name, since browsers send it to all ports of a name.

use crate::answer::Refusal;
use crate::app::App;
use crate::token::Role;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, LOCATION, ORIGIN, REFERRER_POLICY, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::IntoResponse;
use std::sync::Arc;

/// Lets a request through with its role, or refuses it.
pub(crate) async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> axum::response::Response {
    match judge(&app, request.method(), request.uri(), request.headers()) {
        Ok(Pass::As(role)) => {
            request.extensions_mut().insert(role);
            let mut response = next.run(request).await;
            // Nothing that this server says is for other sites, or to be guessed at.
            let headers = response.headers_mut();
            headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
            headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
            headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
            response
        }
        Ok(Pass::Welcome(response)) => response,
        Err(refusal) => refusal.into_response(),
    }
}

/// What becomes of a request that is not refused.
#[derive(Debug)]
enum Pass {
    As(Role),
    /// It brought the token, and is sent on with a cookie.
    Welcome(axum::response::Response),
}

fn judge(app: &App, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Pass, Refusal> {
    let names = &app.names;
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let host = text(HOST).unwrap_or_default();
    if headers.get_all(HOST).iter().count() != 1 || !names.is_own(host) {
        let message = "this server is not the host that was asked for: open the address that `netloom ui` has printed";
        return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, message));
    }
    let strange = || Refusal::forbidden("another site asks: this server answers its own page alone");
    if headers.contains_key(ORIGIN) && !text(ORIGIN).is_some_and(|origin| names.is_own_origin(origin, host)) {
        return Err(strange());
    }
    let site = headers.get("sec-fetch-site").map(|value| value.as_bytes().to_owned());
    let is_own = matches!(site.as_deref(), None | Some(b"same-origin" | b"none"));
    if let Some(token) = token_in(uri).filter(|_| *method == Method::GET) {
        app.tokens.role(&token).ok_or_else(unknown)?;
        return Ok(Pass::Welcome(welcome(app, uri, &token, is_own)));
    }
    // A link on another site may lead to the page, and to nothing else.
    let is_navigation = text_is(headers, "sec-fetch-mode", b"navigate") && !uri.path().starts_with("/api/");
    if !is_own && !is_navigation {
        return Err(strange());
    }
    let bearer = text(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    let token = bearer.or_else(|| cookie(headers, &names.cookie())).ok_or_else(unknown)?;
    app.tokens.role(&token).map(Pass::As).ok_or_else(unknown)
}

fn text_is(headers: &HeaderMap, name: &str, wanted: &[u8]) -> bool {
    headers.get(name).is_some_and(|value| value.as_bytes() == wanted)
}

fn unknown() -> Refusal {
    let message = "who asks is not known: open the address that `netloom ui` has printed, with its token";
    Refusal::new(StatusCode::UNAUTHORIZED, message)
}

/// The token in the query. Ours are digits, of which none is encoded.
fn token_in(uri: &Uri) -> Option<String> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token=")).map(str::to_owned)
}

fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';'));
    pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.to_owned())
}

/// Gives the cookie, and leads to the same place without the token.
fn welcome(app: &App, uri: &Uri, token: &str, is_own: bool) -> axum::response::Response {
    let left: Vec<&str> = uri
        .query()
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.starts_with("token="))
        .collect();
    // One slash: `//host` would lead to another machine.
    let path = format!("/{}", uri.path().trim_start_matches('/'));
    let place = if left.is_empty() { path } else { format!("{path}?{}", left.join("&")) };
    let secure = if app.names.scheme == "https" { "; Secure" } else { "" };
    let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict{secure}", app.names.cookie());
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        headers.insert(SET_COOKIE, value);
    }
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("cache-control", HeaderValue::from_static("no-store"));
    if let Some(value) = HeaderValue::from_str(&place).ok().filter(|_| is_own) {
        headers.insert(LOCATION, value);
        *response.status_mut() = StatusCode::SEE_OTHER;
        return response;
    }
    // Who comes from a link on another site would not bring a strict cookie along after a redirect: this page of our own leads on.
    headers.insert("content-type", HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert("content-security-policy", HeaderValue::from_static("default-src 'none'"));
    let place = place.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    *response.body_mut() = Body::from(format!(
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={place}\"><title>netloom</title><a href=\"{place}\">netloom</a>\n"
    ));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1; netloom-8000=x; netloom-80=y"));
        assert_eq!(cookie(&headers, "netloom-8000").as_deref(), Some("x"));
        assert_eq!(cookie(&headers, "netloom-8"), None);
        assert_eq!(token_in(&"/p?a=1&token=t".parse().unwrap()).as_deref(), Some("t"));
        assert_eq!(token_in(&"/p?atoken=t".parse().unwrap()), None);
    }
}
