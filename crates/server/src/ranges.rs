//! Files as answers, also in parts (RFC 9110, section 14).

use crate::answer::{Answer, Refusal};
use axum::body::Body;
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, RANGE,
};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use futures_util::stream;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// What is read at once.
const PIECE: u64 = 256 << 10;
/// Markup gets an origin of its own, whose programs cannot ask this server for anything.
const APART: &str = "sandbox allow-scripts allow-downloads";

/// The file, or the part of it that is asked for.
pub(crate) fn answer(file: File, name: &str, headers: &HeaderMap) -> Answer {
    let length = file.metadata().map_err(|error| Refusal::failed(format!("reading {name}: {error}")))?.len();
    let asked = headers.get(RANGE).and_then(|value| value.to_str().ok());
    let part = match asked.map(|asked| part(asked, length)) {
        None | Some(Part::Whole) => None,
        Some(Part::Of(part)) => Some(part),
        Some(Part::Nothing) => {
            let refusal = Refusal::new(StatusCode::RANGE_NOT_SATISFIABLE, format!("{name} has {length} bytes"));
            return Err(refusal.with("size_bytes", length));
        }
    };
    let range = part.clone().unwrap_or(0..length);
    let mut response = Response::new(body(file, range.clone()));
    let said = response.headers_mut();
    said.insert(CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    said.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    said.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    said.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(APART));
    said.insert(CONTENT_LENGTH, (range.end - range.start).into());
    if part.is_some() {
        let text = format!("bytes {}-{}/{length}", range.start, range.end - 1);
        said.insert(CONTENT_RANGE, HeaderValue::from_str(&text).map_err(|error| Refusal::failed(error.to_string()))?);
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

/// The bytes of this part. A file that is shorter by now ends the connection.
fn body(file: File, range: Range<u64>) -> Body {
    let file = Arc::new(file);
    Body::from_stream(stream::unfold((file, range), |(file, range)| async move {
        if range.is_empty() {
            return None;
        }
        let size = usize::try_from(PIECE.min(range.end - range.start)).ok()?;
        let source = Arc::clone(&file);
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; size];
            source.read_exact_at(&mut piece, range.start).map(|()| piece)
        });
        let piece = read.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        let left = if piece.is_ok() { range.start + size as u64..range.end } else { 0..0 };
        Some((piece, (file, left)))
    }))
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// The header is one that is not understood, and ignored.
    Whole,
    Of(Range<u64>),
    /// It asks for what the file does not have.
    Nothing,
}

/// The part that a header asks for, of a file of this length. Of several, all is given.
fn part(asked: &str, length: u64) -> Part {
    let Some((from, to)) = asked.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Part::Whole;
    };
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let range = match (from.trim(), to.trim()) {
        ("", count) => match number(count) {
            Some(count) => length.saturating_sub(count)..length,
            None => return Part::Whole,
        },
        (from, "") => match number(from) {
            Some(from) => from..length,
            None => return Part::Whole,
        },
        (from, to) => match (number(from), number(to)) {
            (Some(from), Some(to)) if from <= to => from..to.saturating_add(1).min(length),
            _ => return Part::Whole,
        },
    };
    if range.is_empty() { Part::Nothing } else { Part::Of(range) }
}

/// The type of a file, by the ending of its name.
pub(crate) fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("wasm") => "application/wasm",
        Some("pcapng") => "application/x-pcapng",
        Some("txt" | "csv" | "jsonl" | "yaml" | "yml" | "stdout" | "stderr" | "log" | "md") => {
            "text/plain; charset=utf-8"
        }
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_the_standard() {
        for (asked, expected) in [
            ("bytes=0-0", Part::Of(0..1)),
            ("bytes=10-", Part::Of(10..100)),
            ("bytes=-10", Part::Of(90..100)),
            ("bytes=-1000", Part::Of(0..100)),
            ("bytes=90-1000", Part::Of(90..100)),
            ("bytes=100-", Part::Nothing),
            ("bytes=-0", Part::Nothing),
            ("bytes=5-4", Part::Whole),
            ("bytes=0-1,5-6", Part::Whole),
            ("lines=0-1", Part::Whole),
            ("bytes=x-", Part::Whole),
            ("bytes=0-18446744073709551615", Part::Of(0..100)),
        ] {
            assert_eq!(part(asked, 100), expected, "{asked}");
        }
        assert_eq!(part("bytes=0-", 0), Part::Nothing);
    }
}
