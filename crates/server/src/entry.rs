//! How people come in: by an address with a token, which becomes a cookie; who comes by a link that others have, too, is asked for a name before.

use crate::app::App;
use crate::query::pairs;
use crate::visitors::{Bearer, Visitor};
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::Response;
use netloom_lab::markup::escaped;
use std::net::IpAddr;
use std::sync::Arc;

/// What the address of somebody says who comes in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) token: String,
    name: Option<String>,
}

/// The token in the query, and the name beside it. Ours are digits, of which none is encoded.
pub(crate) fn asked_for(uri: &Uri) -> Option<Asked> {
    let query = uri.query()?;
    let token = query.split('&').find_map(|pair| pair.strip_prefix("token=")).map(str::to_owned)?;
    let pairs = pairs(query).unwrap_or_default();
    let name = pairs.into_iter().find(|(key, _)| key == "name").map(|(_, name)| name);
    Some(Asked { token, name })
}

/// What somebody gets who comes by the link of a role.
pub(crate) fn by_link(
    app: &App,
    link: &Arc<Visitor>,
    uri: &Uri,
    asked: &Asked,
    kept: Option<String>,
    is_own: bool,
    address: IpAddr,
) -> Response {
    // Who has been here and comes by the link again is who they were.
    let known =
        kept.filter(|kept| matches!(app.visitors.of(kept), Some(Bearer::Known(known)) if known.role == link.role));
    if let (Some(token), None) = (known, &asked.name) {
        return welcome(app, uri, &token, is_own);
    }
    let Some(name) = &asked.name else { return ask(uri, &asked.token, "", StatusCode::OK) };
    match app.visitors.enter(link.role, name, address) {
        Ok(token) => welcome(app, uri, &token, is_own),
        Err(refusal) => ask(uri, &asked.token, refusal.message(), StatusCode::BAD_REQUEST),
    }
}

/// Gives the cookie, and leads to the same place without the token.
pub(crate) fn welcome(app: &App, uri: &Uri, token: &str, is_own: bool) -> Response {
    let place = place(uri);
    let secure = if app.names.scheme == "https" { "; Secure" } else { "" };
    let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict{secure}", app.names.cookie());
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        headers.insert(SET_COOKIE, value);
    }
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(value) = HeaderValue::from_str(&place).ok().filter(|_| is_own) {
        headers.insert(LOCATION, value);
        *response.status_mut() = StatusCode::SEE_OTHER;
        return response;
    }
    // Who comes from a link on another site would not bring a strict cookie along after a redirect: this page of our own leads on.
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'"));
    let place = escaped(&place);
    *response.body_mut() = Body::from(format!(
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={place}\"><title>netloom</title><a href=\"{place}\">netloom</a>\n"
    ));
    response
}

/// The same place of this server without the token and the name.
fn place(uri: &Uri) -> String {
    let left: Vec<&str> = uri
        .query()
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.starts_with("token=") && !pair.starts_with("name="))
        .collect();
    // Browsers read a backslash as a slash, and two slashes at the beginning as another machine.
    let path: String = uri.path().chars().map(kept).collect();
    let path = format!("/{}", path.trim_start_matches('/'));
    if left.is_empty() { path } else { format!("{path}?{}", left.join("&")) }
}

/// A letter of a path as it stands in an address.
fn kept(letter: char) -> String {
    let is_plain = letter.is_ascii_alphanumeric() || "/-._~!$&'()*+,;=:@%".contains(letter);
    if is_plain { letter.to_string() } else { crate::query::encoded(&letter.to_string()) }
}

/// A page that asks for a name.
fn ask(uri: &Uri, token: &str, wrong: &str, status: StatusCode) -> Response {
    let path = place(uri);
    let path = escaped(path.split('?').next().unwrap_or("/"));
    let (token, wrong) = (escaped(token), escaped(wrong));
    let wrong = if wrong.is_empty() { String::new() } else { format!("<p role=\"alert\">{wrong}</p>") };
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>netloom</title>\
         <style>body{{font:1.1rem/1.5 system-ui,sans-serif;max-width:24rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}}\
         input,button{{font:inherit;padding:.4rem .6rem;width:100%;box-sizing:border-box;margin-top:.5rem}}</style>\
         <h1>netloom</h1>{wrong}<form method=\"get\" action=\"{path}\"><label for=\"name\">Your name, for whoever shares this page</label>\
         <input id=\"name\" name=\"name\" maxlength=\"40\" required autofocus autocomplete=\"name\">\
         <input type=\"hidden\" name=\"token\" value=\"{token}\"><button>Come in</button></form></html>\n"
    );
    let mut response = Response::new(Body::from(page));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    let policy =
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_and_the_name_are_found_in_an_address() {
        let asked = |text: &str| asked_for(&text.parse().unwrap()).map(|asked| (asked.token, asked.name));
        assert_eq!(asked("/p?a=1&token=t"), Some(("t".into(), None)));
        assert_eq!(asked("/p?name=Ada+L%2e&token=t"), Some(("t".into(), Some("Ada L.".into()))));
        assert_eq!(asked("/p?atoken=t"), None);
    }

    #[test]
    fn no_address_leads_to_another_machine() {
        for (asked, expected) in [
            ("/replay?at=5&token=t&name=x", "/replay?at=5"),
            ("//evil.example/?token=t", "/evil.example/"),
            ("/\\evil.example/?token=t", "/%5Cevil.example/"),
            ("/a/%2F%2Fevil.example?token=t", "/a/%2F%2Fevil.example"),
            ("///\\/evil.example?token=t", "/%5C/evil.example"),
        ] {
            let uri: Uri = asked.parse().unwrap();
            assert_eq!(place(&uri), expected, "{asked}");
        }
        let page = ask(&"/'&x?token=t".parse().unwrap(), "t\"", "<b>", StatusCode::OK);
        let body = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(axum::body::to_bytes(page.into_body(), 1 << 16))
            .unwrap();
        let text = String::from_utf8_lossy(&body);
        assert!(text.contains("/'&amp;x") && !text.contains("<b>") && !text.contains("t\"\""), "{text}");
    }
}
