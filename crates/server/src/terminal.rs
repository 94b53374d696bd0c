//! A program in a node at a terminal of its own, which the page shows.
//!
//! The server holds the terminal, and passes on what is typed and written. It sends no more than the page says it has shown and a window besides: a program that
//! writes faster waits, as at every terminal. A page that asks for it finds its program again after its connection was lost.

mod life;

use crate::access::From;
use crate::answer::{Answer, Refusal, apart, reply};
use crate::app::App;
use crate::outbox::{Close, Outbox};
use crate::reach::LabName;
use crate::shares::Share;
use crate::shells::{Page, Shells};
use crate::socket::{Inbox, Opener, converse};
use crate::visitors::Visitor;
use axum::Extension;
use axum::extract::{Path, RawQuery, State, WebSocketUpgrade};
use netloom_control::{Client, ControlError, Exec, Reply};
use netloom_host::jsonl::Lines;
use netloom_host::terminal::{Pty, WindowSize, open_pty, set_window_size};
use netloom_judge::ExitCode;
use serde_json::json;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Characters in a line, and lines.
const LARGEST: u16 = 1_000;
/// Messages of a page that its program has not taken: more wait where they came from.
const WAITING: usize = 2;

/// How long a connection whose terminal has ended may take to say why it ends, if there is another reason.
const SAID_WITHIN: Duration = Duration::from_millis(500);

/// What a page asks for.
struct Wanted {
    exec: Exec,
    size: WindowSize,
    /// Whether the program waits for the page when its connection is lost.
    stays: bool,
    /// A terminal of before, in the place of a new program.
    shell: Option<String>,
}

/// Where a page sits down.
enum Place {
    /// At a terminal of before.
    Old(String),
    /// At a new one, which takes this share of all.
    New(Share),
}

/// `GET /api/labs/LAB/nodes/NODE/terminal`
pub(crate) async fn terminal(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    lab: Result<LabName, Refusal>,
    Path((_, node)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    upgrade: WebSocketUpgrade,
) -> Answer {
    let wanted = wanted(&node, visitor.name.as_deref(), query.as_deref().unwrap_or_default())?;
    let what = json!({ "kind": "terminal", "lab": lab.as_ref().map(LabName::get).ok(), "node": node });
    let place = match &wanted.shell {
        Some(id) => Place::Old(id.clone()),
        None => Place::New(app.shells.share(&app.terminals, &visitor, address).await?),
    };
    let (shared, size) = (Arc::clone(&app), wanted.size);
    let opener = Opener { visitor: Arc::clone(&visitor), address, what };
    converse(&app, opener, upgrade, move |outbox, inbox| async move {
        let missing = |refusal| (ExitCode::NoSuchLab.number(), refusal);
        let found = match (lab, place) {
            (Err(refusal), _) => Err(missing(refusal)),
            (Ok(lab), Place::Old(id)) => shared.shells.find(&id, &visitor, lab.get(), &node).map_err(missing),
            (Ok(lab), Place::New(share)) => begin(&shared, visitor, &lab, &node, wanted, share).await,
        };
        match found {
            Ok(pages) => match sit(&pages, size, outbox.clone(), inbox).await {
                Some(close) => close,
                None => refuse(&outbox, missing(Shells::ended())).await,
            },
            Err(refused) => refuse(&outbox, refused).await,
        }
    })
}

/// `GET /api/labs/LAB/terminals`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    lab: LabName,
) -> Answer {
    reply(&json!({ "terminals": app.shells.of(&visitor, lab.get()) }))
}

/// Starts a program, and says where its pages come; or why it does not, with a code.
async fn begin(
    app: &Arc<App>,
    visitor: Arc<Visitor>,
    lab: &LabName,
    node: &str,
    wanted: Wanted,
    share: Share,
) -> Result<mpsc::Sender<Page>, (u8, Refusal)> {
    let failed = |refusal| (ExitCode::Machine.number(), refusal);
    let stays = wanted.stays;
    let running = start(lab, wanted).await.map_err(|failure| match failure {
        Failure::Refused(error) => (error.exit_code().number(), Refusal::from(error)),
        Failure::Other(refusal) => failed(refusal),
    })?;
    let (listed, coming) = app.shells.add(&visitor, lab.get(), node, stays).map_err(failed)?;
    let pages = listed.shell.pages();
    tokio::spawn(life::live(running, listed, coming, visitor, app.ending.clone(), share));
    Ok(pages)
}

/// Tells a page why it cannot sit at the terminal that it wants.
async fn refuse(outbox: &Outbox, (code, refusal): (u8, Refusal)) -> Close {
    let said = json!({ "refused": { "code": code, "message": refusal.message() } });
    let _ = outbox.json(&said).await;
    refusal.into()
}

/// Passes on what the page says, until it goes or learns why its connection ends; none if the terminal ended as the page came.
async fn sit(pages: &mpsc::Sender<Page>, size: WindowSize, outbox: Outbox, mut inbox: Inbox) -> Option<Close> {
    let (sender, said) = mpsc::channel(WAITING);
    let (closer, mut closed) = oneshot::channel();
    if pages.send(Page { outbox, said, size, close: closer }).await.is_err() {
        return None;
    }
    loop {
        tokio::select! {
            told = &mut closed => match told {
                Ok(close) => return Some(close),
                // Each connection says by itself that the server ends, or that the visitor is sent away.
                Err(_) => return timeout(SAID_WITHIN, inbox.ignore()).await.is_ok().then(|| Close::done("")),
            },
            message = inbox.next() => match message {
                // Who takes nothing any more says why.
                Some(message) => {
                    let _ = sender.send(message).await;
                }
                None => return Some(Close::done("")),
            },
        }
    }
}

fn wanted(node: &str, name: Option<&str>, query: &str) -> Result<Wanted, Refusal> {
    let mut size = WindowSize { rows: 24, columns: 80 };
    let (mut argv, mut user, mut stays, mut shell) = (Vec::new(), None, false, None);
    for (key, value) in crate::query::pairs(query)? {
        let number = || {
            size_of(&value).ok_or_else(|| {
                Refusal::bad(format!("`{key}` is a number from 1 to {LARGEST}")).with("key", key.as_str())
            })
        };
        match key.as_str() {
            "columns" => size.columns = number()?,
            "rows" => size.rows = number()?,
            "command" => argv.push(value),
            "user" => user = Some(value),
            "stay" if value == "true" => stays = true,
            "stay" => return Err(Refusal::bad("`stay` is `true`, or is left out").with("key", key)),
            "shell" => shell = Some(value),
            _ => return Err(Refusal::bad(format!("a terminal has no `{key}`")).with("key", key)),
        }
    }
    let mut environment: Vec<(String, String)> =
        vec![("TERM".into(), "xterm-256color".into()), ("COLORTERM".into(), "truecolor".into())];
    environment
        .extend(["LANG", "LC_ALL"].into_iter().filter_map(|key| Some((key.to_owned(), std::env::var(key).ok()?))));
    environment.extend(name.map(|name| ("NETLOOM_VISITOR".to_owned(), name.to_owned())));
    let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/')).unwrap_or_else(|| "/".into());
    let mut exec = netloom_control::shell(node, home, true, environment);
    if !argv.is_empty() {
        exec.argv = argv;
    }
    exec.user = user;
    Ok(Wanted { exec, size, stays, shell })
}

fn size_of(text: &str) -> Option<u16> {
    text.parse().ok().filter(|size| (1..=LARGEST).contains(size))
}

/// A program at its terminal.
struct Running {
    /// For the size.
    master: OwnedFd,
    output: Receiver,
    input: Sender,
    lab: Replies,
}

enum Failure {
    Refused(ControlError),
    Other(Refusal),
}

async fn start(lab: &LabName, wanted: Wanted) -> Result<Running, Failure> {
    let broken = |error: io::Error| Failure::Other(Refusal::failed(format!("joining a terminal to the node: {error}")));
    let name = lab.clone();
    let started = apart(move || {
        let Wanted { exec, size, .. } = wanted;
        let Pty { master, slave } = open_pty().map_err(ControlError::Terminal)?;
        set_window_size(&master, size).map_err(ControlError::Terminal)?;
        let mut client = Client::connect(name.get())?;
        client.exec(exec, [slave.as_fd(); 3])?;
        Ok((master, client))
    });
    let (master, client) = started.await.map_err(Failure::Other)?.map_err(Failure::Refused)?;
    let (stream, rest) = client.into_stream();
    Replies::of(stream, &rest).and_then(|replies| Running::new(master, replies)).map_err(broken)
}

impl Running {
    fn new(master: OwnedFd, lab: Replies) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&master, true)?;
        // They are no pipes, and can be waited for like pipes.
        let output = Receiver::from_owned_fd_unchecked(master.try_clone()?)?;
        let input = Sender::from_owned_fd_unchecked(master.try_clone()?)?;
        Ok(Self { master, output, input, lab })
    }
}

/// What the lab says of the program.
struct Replies {
    stream: UnixStream,
    lines: Lines,
}

impl Replies {
    /// Of a connection of which this much was read already.
    fn of(stream: std::os::unix::net::UnixStream, rest: &[u8]) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let mut lines = Lines::default();
        lines.feed(rest);
        Ok(Self { stream: UnixStream::from_std(stream)?, lines })
    }

    /// Returns when the lab has gone. What it says before is not read any more.
    async fn gone(&mut self) {
        let mut buffer = [0; 4_096];
        while self.stream.read(&mut buffer).await.is_ok_and(|length| length > 0) {}
    }

    /// The exit code of the program, when it has ended. It may be asked again: nothing is lost.
    async fn exit(&mut self) -> Result<i32, String> {
        loop {
            while let Some(line) = self.lines.pop() {
                if let Ok(Reply::Exited { code }) = line {
                    return Ok(code);
                }
            }
            let mut buffer = [0; 4_096];
            match self.stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return Err("the lab has ended".to_owned()),
                Ok(length) => self.lines.feed(&buffer[..length]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_says_what_runs_and_how_large_it_is_shown() {
        let asked = wanted("h1", Some("Ada L."), "columns=100&rows=30&command=ping&command=-c%201&user=nobody")
            .unwrap_or_else(|_| panic!("it is right"));
        assert_eq!((asked.size.columns, asked.size.rows), (100, 30));
        assert_eq!(asked.exec.argv, ["ping", "-c 1"]);
        assert_eq!(asked.exec.user.as_deref(), Some("nobody"));
        assert!(asked.exec.env.contains(&("NETLOOM_VISITOR".into(), "Ada L.".into())));
        assert!(asked.exec.terminal && asked.exec.env.contains(&("TERM".into(), "xterm-256color".into())));
        assert!(!asked.stays && asked.shell.is_none());
        let again = wanted("h1", None, "shell=0a1b&stay=true").unwrap_or_else(|_| panic!("it is right"));
        assert!(again.stays && again.shell.as_deref() == Some("0a1b"));
        for wrong in ["columns=0", "rows=1001", "rows=x", "size=3", "command=%ff", "stay=yes"] {
            assert!(wanted("h1", None, wrong).is_err(), "{wrong}");
        }
    }
}
