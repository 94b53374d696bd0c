//! Who may ask: a browser that brings a token or the cookie that was made of it, from this server's own page, by this server's own name.
//!
//! - The name in `Host`, and one in the target of the request, must be one of ours: else a stranger's name that leads to this address (DNS rebinding)
//!   would let a stranger's page read what is here. Addresses cannot be a stranger's names.
//! - `Origin` and `Sec-Fetch-Site` must say that our own page asks. Programs send neither, and browsers always one of them where it matters.
//! - The cookie is for this port alone by its name, since browsers send it to all ports of a name.

use crate::answer::Refusal;
use crate::app::App;
use crate::connections::Connection;
use crate::entry::{self, asked_for, welcome};
use crate::visitors::{Bearer, Visitor};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONNECTION, COOKIE, HOST, ORIGIN, REFERRER_POLICY};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::sync::Arc;

/// The token that a request has brought.
#[derive(Clone, Debug)]
pub(crate) struct Token(pub(crate) String);

/// From where a request comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct From(pub(crate) IpAddr);

/// Lets a request through with who asks, or refuses it.
pub(crate) async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let connection = request.extensions().get::<Arc<Connection>>().cloned();
    // Tests ask without one.
    let address = connection.as_ref().map_or(IpAddr::from([127, 0, 0, 1]), |connection| connection.address);
    let (visitor, token) = match judge(&app, request.method(), request.uri(), request.headers(), address) {
        Ok(Pass::As(visitor, token)) => (visitor, token),
        Ok(Pass::Welcome(response)) => return response,
        Err(refusal) => return refusal.into_response(),
    };
    if let Some(Err(refusal)) = connection.map(|connection| connection.belongs_to(&visitor)) {
        let mut response = refusal.into_response();
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        return response;
    }
    let extensions = request.extensions_mut();
    extensions.insert(visitor);
    extensions.insert(token);
    extensions.insert(From(address));
    let mut response = next.run(request).await;
    // Nothing that this server says is for other sites, or to be guessed at.
    let headers = response.headers_mut();
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// What becomes of a request that is not refused.
#[derive(Debug)]
enum Pass {
    As(Arc<Visitor>, Token),
    /// It brought a token in its address, and is answered with a cookie, or asked for a name.
    Welcome(Response),
}

fn judge(app: &App, method: &Method, uri: &Uri, headers: &HeaderMap, address: IpAddr) -> Result<Pass, Refusal> {
    let names = &app.names;
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let host = text(HOST).unwrap_or_default();
    // The target's own authority counts before `Host` (RFC 9112, section 3.2.2): both must be ours.
    let is_own_target = uri.authority().is_none_or(|target| names.is_own(target.as_str()));
    if headers.get_all(HOST).iter().count() != 1 || !names.is_own(host) || !is_own_target {
        let message = "this server does not go by that host name: open the address that `netloom ui` printed";
        return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, message));
    }
    let strange = || Refusal::forbidden("the request comes from another site: this server answers only its own page");
    if headers.contains_key(ORIGIN) && !text(ORIGIN).is_some_and(|origin| names.is_own_origin(origin, host)) {
        return Err(strange());
    }
    let site = headers.get("sec-fetch-site").map(|value| value.as_bytes().to_owned());
    let is_own = matches!(site.as_deref(), None | Some(b"same-origin" | b"none"));
    let kept = || cookie(headers, &names.cookie());
    if let Some(asked) = asked_for(uri).filter(|_| *method == Method::GET) {
        return match app.visitors.of(&asked.token).ok_or_else(unknown)? {
            Bearer::Known(_) => Ok(Pass::Welcome(welcome(app, uri, &asked.token, is_own))),
            Bearer::Link(link) => Ok(Pass::Welcome(entry::by_link(app, &link, uri, &asked, kept(), is_own, address))),
        };
    }
    // A link on another site may lead to the page, and to nothing else.
    let is_navigation = text_is(headers, "sec-fetch-mode", b"navigate") && !uri.path().starts_with("/api/");
    if !is_own && !is_navigation {
        return Err(strange());
    }
    let bearer = text(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    let token = bearer.or_else(kept).ok_or_else(unknown)?;
    match app.visitors.of(&token).ok_or_else(unknown)? {
        Bearer::Known(visitor) | Bearer::Link(visitor) => Ok(Pass::As(visitor, Token(token))),
    }
}

fn text_is(headers: &HeaderMap, name: &str, wanted: &[u8]) -> bool {
    headers.get(name).is_some_and(|value| value.as_bytes() == wanted)
}

fn unknown() -> Refusal {
    let message = "the request has no valid token: open the address that `netloom ui` printed, with its token";
    Refusal::new(StatusCode::UNAUTHORIZED, message)
}

fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';'));
    pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.to_owned())
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
    }
}
