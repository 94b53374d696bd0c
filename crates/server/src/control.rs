//! The control socket of a lab, over a WebSocket: the same lines in both directions.
//!
//! Lines of the page are read as JSON and written anew, so that what is judged here is what the lab gets: a line of its own could hide in one that is
//! only passed on.

use crate::access::From;
use crate::answer::{Answer, Refusal, apart};
use crate::app::App;
use crate::outbox::{Close, Gone, Outbox, Said};
use crate::reach::LabName;
use crate::socket::{Inbox, Opener, converse};
use crate::token::Role;
use crate::visitors::Visitor;
use axum::Extension;
use axum::extract::{State, WebSocketUpgrade};
use netloom_control::find;
use netloom_host::runtime::{control_socket, is_ending};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// No answer of a lab is longer: the counters of 10,000 links are a tenth of it.
const LONGEST_LINE: u64 = 64 << 20;
/// A stopped lab accepts no connection.
const PATIENCE: Duration = Duration::from_secs(3);

/// `GET /api/labs/LAB/control`
pub(crate) async fn control(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    lab: Result<LabName, Refusal>,
    upgrade: WebSocketUpgrade,
) -> Answer {
    let what = json!({ "kind": "lab", "lab": lab.as_ref().map(LabName::get).ok() });
    let role = visitor.role;
    converse(&app, Opener { visitor, address, what }, upgrade, move |outbox, inbox| async move {
        let lab = match lab {
            Ok(lab) => lab,
            Err(refusal) => return refusal.into(),
        };
        match connect(lab).await {
            Ok(stream) => relay(stream, role, &outbox, inbox).await,
            Err(refusal) => refusal.into(),
        }
    })
}

async fn connect(lab: LabName) -> Result<UnixStream, Refusal> {
    let found = lab.clone();
    let folder: PathBuf = apart(move || find(found.get())).await??.path;
    let starting = |why: &str| Refusal::new(axum::http::StatusCode::CONFLICT, format!("lab `{}` {why}", lab.get()));
    match tokio::time::timeout(PATIENCE, UnixStream::connect(control_socket(&folder))).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(_)) if is_ending(&folder) => Err(starting("is ending")),
        Ok(Err(_)) => Err(starting("is still starting: try again")),
        Err(_) => Err(starting("does not answer: try again")),
    }
}

async fn relay(stream: UnixStream, role: Role, outbox: &Outbox, inbox: Inbox) -> Close {
    let (from_lab, to_lab) = stream.into_split();
    tokio::select! {
        close = bring(from_lab, outbox) => close,
        close = take(inbox, to_lab, role, outbox) => close,
    }
}

/// What the lab says, line by line, no faster than the page takes it.
async fn bring(from_lab: OwnedReadHalf, outbox: &Outbox) -> Close {
    let mut lines = BufReader::new(from_lab);
    loop {
        let mut line = Vec::new();
        match (&mut lines).take(LONGEST_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return Close::done("the lab has ended"),
            Ok(_) if line.last() == Some(&b'\n') => {
                line.pop();
            }
            Ok(_) => return Close::done("the lab has ended in the middle of a line"),
        }
        let Ok(text) = String::from_utf8(line) else {
            return Close::new(1011, "the lab said something that is not text");
        };
        if outbox.text(text).await.is_err() {
            return Close::done("");
        }
    }
}

/// What the page says, as far as it may.
async fn take(mut inbox: Inbox, mut to_lab: OwnedWriteHalf, role: Role, outbox: &Outbox) -> Close {
    while let Some(said) = inbox.next().await {
        let sent = match judge(&said, role) {
            Ok(mut line) => {
                line.push('\n');
                match to_lab.write_all(line.as_bytes()).await {
                    Ok(()) => Ok(()),
                    // The lab ends; what it still says comes before the end.
                    Err(_) => return std::future::pending().await,
                }
            }
            Err(refused) => outbox.json(&refused).await,
        };
        if let Err(Gone) = sent {
            break;
        }
    }
    Close::done("")
}

/// The line for the lab, or a reply that refuses it.
fn judge(said: &Said, role: Role) -> Result<String, Value> {
    let Said::Text(text) = said else { return Err(refused(&Value::Null, "a request is text, not bytes")) };
    let request: Value = serde_json::from_str(text)
        .map_err(|error| refused(&Value::Null, &format!("this is not a JSON object on one line: {error}")))?;
    let word = request["request"].as_str().unwrap_or_default().to_owned();
    let least = match word.as_str() {
        "hello" | "info" | "topology" | "now" | "stats" | "exercise" | "verdict" | "subscribe" | "unsubscribe" => {
            Role::Look
        }
        "set" | "partition" | "heal" | "fault" | "signal" | "restart" | "stop" | "start" | "advance" | "pause"
        | "resume" => Role::Use,
        "exec" | "socket" | "console" => {
            return Err(refused(
                &request["id"],
                &format!("`{word}` needs file descriptors, which a page does not have: open a terminal"),
            ));
        }
        "capture" => {
            return Err(refused(
                &request["id"],
                "`capture` needs a file descriptor, which a page does not have: open /api/labs/LAB/captures/LINK",
            ));
        }
        // `down`, and what is not known here: the lab says what is wrong with it.
        _ => Role::Edit,
    };
    if role < least {
        return Err(refused(
            &request["id"],
            &format!("`{word}` needs the role `{}`, and this page has the role `{}`", least.name(), role.name()),
        ));
    }
    Ok(request.to_string())
}

fn refused(id: &Value, message: &str) -> Value {
    let mut reply = json!({ "reply": "refused", "code": netloom_judge::ExitCode::Usage.number(), "message": message });
    if !id.is_null() {
        reply["id"] = id.clone();
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str, role: Role) -> Result<String, Value> {
        judge(&Said::Text(text.into()), role)
    }

    /// The decisions: which role a request needs at least; none: no page may ask it.
    const LEAST: &[(&str, Option<Role>)] = &[
        ("advance", Some(Role::Use)),
        ("capture", None),
        ("console", None),
        ("down", Some(Role::Edit)),
        ("exec", None),
        ("exercise", Some(Role::Look)),
        ("fault", Some(Role::Use)),
        ("heal", Some(Role::Use)),
        ("hello", Some(Role::Look)),
        ("info", Some(Role::Look)),
        ("now", Some(Role::Look)),
        ("partition", Some(Role::Use)),
        ("pause", Some(Role::Use)),
        ("restart", Some(Role::Use)),
        ("resume", Some(Role::Use)),
        ("set", Some(Role::Use)),
        ("signal", Some(Role::Use)),
        ("socket", None),
        ("start", Some(Role::Use)),
        ("stats", Some(Role::Look)),
        ("stop", Some(Role::Use)),
        ("subscribe", Some(Role::Look)),
        ("topology", Some(Role::Look)),
        ("unsubscribe", Some(Role::Look)),
        ("verdict", Some(Role::Look)),
    ];

    #[test]
    fn each_role_may_ask_its_own_and_no_more() {
        for (word, least) in LEAST {
            for role in Role::ALL {
                let text = format!(r#"{{"request":"{word}","id":7}}"#);
                let may = least.is_some_and(|least| role >= least);
                match judged(&text, role) {
                    Ok(line) => assert!(may && line.contains(word), "{word} {role:?}"),
                    Err(reply) => assert!(!may && reply["id"] == 7 && reply["reply"] == "refused", "{word} {role:?}"),
                }
            }
        }
    }

    /// A request that comes to the protocol is decided upon here, too.
    #[test]
    fn it_is_decided_who_may_ask_each_request() {
        let schema = netloom_control::schema();
        let all = schema["$defs"]["Request"]["oneOf"].as_array().unwrap();
        let mut words: Vec<&str> =
            all.iter().filter_map(|request| request["properties"]["request"]["const"].as_str()).collect();
        words.sort_unstable();
        let decided: Vec<&str> = LEAST.iter().map(|(word, _)| *word).collect();
        assert_eq!(words, decided);
    }

    #[test]
    fn no_request_hides_behind_another() {
        assert!(judged("{\"request\":\"info\"}\n{\"request\":\"down\"}", Role::Look).is_err());
        let line = judged("{\"request\":\n\"info\"}", Role::Look).unwrap();
        assert!(!line.contains('\n'), "{line}");
        // Of a key that is given twice, the lab gets what was judged.
        assert!(judged(r#"{"request":"info","request":"down"}"#, Role::Look).is_err());
        assert_eq!(judged(r#"{"request":"down","request":"info"}"#, Role::Look).unwrap(), r#"{"request":"info"}"#);
        assert!(judge(&Said::Bytes(axum::body::Bytes::new()), Role::Edit).is_err());
    }
}
