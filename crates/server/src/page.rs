//! The page itself, as `make web` has made it of `web/ui`: it is a part of the program (`netloom_pages`).

use crate::answer::{Answer, Refusal};
use crate::ranges::kind;
use axum::body::Body;
use axum::extract::Path;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use flate2::read::GzDecoder;
use netloom_pages::{Part, UI};
use std::io::Read;

/// Scripts, styles and the rest come from here alone; a page of another site cannot show this one in a frame. Results are shown in frames, which have origins of
/// their own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
                      font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; frame-src 'self'; media-src 'self' blob:; \
                      manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /`, and every path that is the page's own affair.
pub(crate) async fn page(headers: HeaderMap) -> Answer {
    answer("index.html", &headers)
}

/// `GET /assets/NAME`
pub(crate) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Answer {
    answer(&format!("assets/{name}"), &headers)
}

fn answer(name: &str, headers: &HeaderMap) -> Answer {
    let found = UI.iter().find(|part| part.name == name);
    let Part { packed, digest, .. } =
        found.ok_or_else(|| Refusal::missing(format!("the page has no part {}", name.escape_debug())))?;
    let etag = format!("\"{digest}\"");
    let text =
        |header: &axum::http::HeaderName| headers.get(header).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut response = Response::new(Body::empty());
    if text(&IF_NONE_MATCH).split(',').any(|known| known.trim().trim_start_matches("W/") == etag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else if text(&ACCEPT_ENCODING).split(',').any(|way| way.trim().split(';').next() == Some("gzip")) {
        *response.body_mut() = Body::from(*packed);
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    } else {
        let mut plain = Vec::new();
        GzDecoder::new(*packed)
            .read_to_end(&mut plain)
            .map_err(|error| Refusal::failed(format!("unpacking the page: {error}")))?;
        *response.body_mut() = Body::from(plain);
    }
    let said = response.headers_mut();
    said.insert(CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    said.insert(VARY, HeaderValue::from_static("accept-encoding"));
    // Names stay from version to version: a browser may keep a part, and asks whether it is still the same.
    said.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    if let Ok(value) = HeaderValue::from_str(&etag) {
        said.insert(ETAG, value);
    }
    said.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    said.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_there_and_each_part_can_be_unpacked() {
        assert!(UI.iter().any(|part| part.name == "index.html"));
        for Part { name, packed, digest } in UI {
            let mut plain = Vec::new();
            GzDecoder::new(*packed).read_to_end(&mut plain).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(digest.len(), 32, "{name}");
            assert!(*name == "index.html" || name.starts_with("assets/"), "{name}");
        }
    }

    #[test]
    fn a_part_that_a_browser_has_is_not_sent_again() {
        let first = answer("index.html", &HeaderMap::new()).expect("the page is there");
        let said = |header: axum::http::HeaderName| first.headers().get(header).expect("the header is there").clone();
        assert_eq!(said(CACHE_CONTROL), "private, no-cache");
        let mut headers = HeaderMap::new();
        headers.insert(IF_NONE_MATCH, said(ETAG));
        assert_eq!(answer("index.html", &headers).expect("the page is there").status(), StatusCode::NOT_MODIFIED);
        headers.insert(IF_NONE_MATCH, HeaderValue::from_static("\"another\""));
        assert_eq!(answer("index.html", &headers).expect("the page is there").status(), StatusCode::OK);
    }
}
