//! Packets of a link, as a download that grows.

use crate::access::{From, Token};
use crate::answer::{Answer, Refusal, apart, reply};
use crate::app::App;
use crate::query::{encoded, pairs};
use crate::reach::LabName;
use crate::visitors::Visitor;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, Response};
use axum::response::IntoResponse;
use futures_util::stream;
use netloom_control::{Capture, Client};
use serde_json::json;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, timeout_at};

/// What is read at once.
const PIECE: usize = 64 << 10;
/// No download is meant to be longer: a day.
const LONGEST_SECONDS: f64 = 86_400.0;

/// What a page asks for.
#[derive(Debug)]
struct Wanted {
    capture: Capture,
    seconds: Option<f64>,
}

fn wanted(link: String, query: &str) -> Result<Wanted, Refusal> {
    let capture = Capture { link, direction: None, at: None, snaplen_bytes: None, headers: None };
    let mut wanted = Wanted { capture, seconds: None };
    for (key, value) in pairs(query)? {
        let wrong = |what: &str| Refusal::bad(format!("`{key}` is {what}")).with("key", key.as_str());
        match key.as_str() {
            "direction" => wanted.capture.direction = Some(value),
            "at" => wanted.capture.at = Some(value),
            "headers" => wanted.capture.headers = Some(value),
            "snaplen_bytes" => {
                wanted.capture.snaplen_bytes = Some(value.parse().map_err(|_| wrong("a number of bytes"))?);
            }
            "seconds" => {
                let seconds = value.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= LONGEST_SECONDS);
                wanted.seconds = Some(seconds.ok_or_else(|| wrong("a number of seconds, at most a day"))?);
            }
            _ => return Err(Refusal::bad(format!("a capture has no `{key}`")).with("key", key)),
        }
    }
    Ok(wanted)
}

/// `GET /api/labs/LAB/captures/LINK`
pub(crate) async fn capture(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    lab: LabName,
    Path((_, link)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Answer {
    let Wanted { capture, seconds } = wanted(link.clone(), query.as_deref().unwrap_or_default())?;
    let share = app.captures.take(&visitor, address)?;
    let open = app.visitors.opened(&visitor, json!({ "kind": "capture", "lab": lab.get(), "link": link }));
    let name = format!("{}-{}.pcapng", plain(lab.get()), plain(&link));
    let (client, packets) = apart(move || begin(lab.get(), capture)).await??;
    let packets = Receiver::from_owned_fd(packets)
        .map_err(|error| Refusal::failed(format!("reading packets from the lab: {error}")))?;
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
    let body = Body::from_stream(stream::unfold(
        (packets, (client, visitor, share, open), app.ending.clone()),
        move |(mut packets, held, mut ending)| async move {
            let mut piece = vec![0; PIECE];
            let read = async {
                tokio::select! {
                    read = packets.read(&mut piece) => read.unwrap_or(0),
                    _ = ending.wait_for(|is_ending| *is_ending) => 0,
                    () = held.1.is_sent_away() => 0,
                }
            };
            let length = match end {
                Some(end) => timeout_at(end, read).await.unwrap_or(0),
                None => read.await,
            };
            piece.truncate(length);
            (length > 0).then_some((Ok::<_, std::io::Error>(piece), (packets, held, ending)))
        },
    ));
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-pcapng"));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    Ok(response.into_response())
}

/// Asks the lab for packets; they come through the pipe until the connection is closed.
fn begin(lab: &str, capture: Capture) -> Result<(Client, std::os::fd::OwnedFd), Refusal> {
    let (ours, theirs) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)
        .map_err(|errno| Refusal::failed(format!("open a pipe: {errno}")))?;
    let mut client = Client::connect(lab)?;
    client.capture(capture, theirs.as_fd())?;
    Ok((client, ours))
}

/// What a name of a file may have.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')).collect()
}

/// `GET /api/labs/LAB/captures/LINK/command`
pub(crate) async fn command(
    State(app): State<Arc<App>>,
    Extension(Token(token)): Extension<Token>,
    lab: LabName,
    Path((_, link)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Answer {
    let asked = wanted(link.clone(), query.as_deref().unwrap_or_default())?;
    if !app.names.is_shared {
        return reply(&json!({ "command": local(lab.get(), &link, &asked.capture) }));
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let query = query.filter(|query| !query.is_empty()).map_or_else(String::new, |query| format!("?{query}"));
    let address =
        format!("{}://{host}/api/labs/{}/captures/{}{query}", app.names.scheme, encoded(lab.get()), encoded(&link));
    // The page that asks has this token already, in its cookie; which is of use here alone.
    reply(&json!({ "command": remote(&address, &token, app.names.pin.as_deref()) }))
}

/// The command of somebody at another machine. The token is sent to this server and to nobody else: a certificate that nobody vouches for is known by its key.
fn remote(address: &str, token: &str, pin: Option<&str>) -> String {
    let trust = pin.map_or_else(String::new, |pin| format!(" -k --pinnedpubkey {}", quoted(&format!("sha256//{pin}"))));
    format!(
        "curl -sN{trust} -H {} {} | wireshark -k -i -",
        quoted(&format!("Authorization: Bearer {token}")),
        quoted(address)
    )
}

/// The command of somebody who sits at this machine.
fn local(lab: &str, link: &str, capture: &Capture) -> String {
    let place = capture.direction.as_ref().map_or_else(|| link.to_owned(), |direction| format!("{link}.{direction}"));
    let mut command = format!("netloom capture {} {}", quoted(lab), quoted(&place));
    if let Some(at) = &capture.at {
        command.push_str(&format!(" --at {}", quoted(at)));
    }
    if let Some(bytes) = capture.snaplen_bytes {
        command.push_str(&format!(" --snaplen {bytes}"));
    }
    if let Some(headers) = &capture.headers {
        command.push_str(&format!(" --headers {}", quoted(headers)));
    }
    command + " | wireshark -k -i -"
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | ':');
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_what_was_asked_for_and_nothing_else() {
        let asked = wanted("l1".into(), "direction=forward&at=sent&snaplen_bytes=96").unwrap();
        assert_eq!(
            local("star", "l1", &asked.capture),
            "netloom capture star l1.forward --at sent --snaplen 96 | wireshark -k -i -"
        );
        let on_air = wanted("wifi".into(), "headers=radiotap").unwrap();
        assert_eq!(
            local("star", "wifi", &on_air.capture),
            "netloom capture star wifi --headers radiotap | wireshark -k -i -"
        );
        let hostile = wanted("l1".into(), "at=x%27;reboot;%27").unwrap();
        assert_eq!(
            local("s", "l", &hostile.capture),
            r"netloom capture s l --at 'x'\'';reboot;'\''' | wireshark -k -i -"
        );
        for wrong in ["seconds=0", "seconds=NaN", "seconds=1e9", "snaplen_bytes=-1", "file=x"] {
            assert!(wanted("l1".into(), wrong).is_err(), "{wrong}");
        }
        // With a certificate that others vouch for, curl sees to it; else it gets the key, and refuses every other.
        let known = remote("https://lab.example:1/api", "t", None);
        assert_eq!(known, "curl -sN -H 'Authorization: Bearer t' https://lab.example:1/api | wireshark -k -i -");
        let made = remote("https://192.0.2.1:1/api", "t", Some("a+b/c="));
        assert!(made.starts_with("curl -sN -k --pinnedpubkey 'sha256//a+b/c=' -H "), "{made}");
        assert_eq!(encoded("a b/c"), "a%20b%2Fc");
        assert_eq!(plain("../a\"b"), "ab");
    }
}
