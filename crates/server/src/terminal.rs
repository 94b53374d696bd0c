//! A program in a node at a terminal of its own, which the page shows.
//!
//! The server holds the terminal, and passes on what is typed and written. It sends no more than the page says it has shown and a window besides: a program that
//! writes faster waits, as at every terminal.

use crate::access::From;
use crate::answer::{Answer, Refusal, apart};
use crate::app::App;
use crate::reach::LabName;
use crate::socket::{Close, Gone, Inbox, Opener, Outbox, Said, converse};
use crate::visitors::Visitor;
use axum::Extension;
use axum::extract::{Path, RawQuery, State, WebSocketUpgrade};
use netloom_control::{Client, Exec, Reply};
use netloom_host::jsonl::Lines;
use netloom_host::terminal::{Pty, WindowSize, open_pty, set_window_size};
use netloom_judge::{ExitCode, RunError};
use serde_json::{Value, json};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};

/// How much the page may have got and not shown.
const WINDOW: usize = 256 << 10;
/// A message's length at most.
const PIECE: usize = 16 << 10;
/// How much may be typed and not read by the program: a terminal of the kernel holds 4 KiB.
const TYPED: usize = 1 << 20;
/// Characters in a line, and lines.
const LARGEST: u16 = 1_000;
/// How long the rest of what a program wrote may take to be shown after its end.
const SHOWN_WITHIN: Duration = Duration::from_secs(5);

/// What a page asks for.
struct Wanted {
    exec: Exec,
    size: WindowSize,
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
    let share = app.terminals.take(&visitor, address)?;
    let what = json!({ "kind": "terminal", "lab": lab.as_ref().map(LabName::get).ok(), "node": node });
    converse(&app, Opener { visitor, address, what }, upgrade, move |outbox, inbox| async move {
        let _share = share;
        let lab = match lab {
            Ok(lab) => lab,
            Err(refusal) => {
                let code = ExitCode::NoSuchLab.number();
                let said = json!({ "refused": { "code": code, "message": refusal.message() } });
                let _ = outbox.json(&said).await;
                return refusal.into();
            }
        };
        match start(&lab, wanted).await {
            Ok(running) => hold(running, &outbox, inbox).await,
            Err(Failure::Refused(error)) => {
                let code = error.exit_code().number();
                let _ = outbox.json(&json!({ "refused": { "code": code, "message": error.to_string() } })).await;
                Refusal::from(error).into()
            }
            Err(Failure::Other(refusal)) => refusal.into(),
        }
    })
}

fn wanted(node: &str, name: Option<&str>, query: &str) -> Result<Wanted, Refusal> {
    let mut size = WindowSize { rows: 24, columns: 80 };
    let (mut argv, mut user) = (Vec::new(), None);
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
    Ok(Wanted { exec, size })
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
    Refused(RunError),
    Other(Refusal),
}

async fn start(lab: &LabName, wanted: Wanted) -> Result<Running, Failure> {
    let broken = |error: io::Error| Failure::Other(Refusal::failed(format!("joining a terminal to the node: {error}")));
    let name = lab.clone();
    let started = apart(move || {
        let Wanted { exec, size } = wanted;
        let kernel = |error: netloom_host::KernelError| RunError::Machine(error.to_string());
        let Pty { master, slave } = open_pty().map_err(kernel)?;
        set_window_size(&master, size).map_err(kernel)?;
        let mut client = Client::connect(name.get())?;
        client.exec(exec, [slave.as_fd(); 3])?;
        Ok((master, client))
    });
    let (master, client) = started.await.map_err(Failure::Other)?.map_err(Failure::Refused)?;
    let joined = || {
        rustix::io::ioctl_fionbio(&master, true)?;
        // They are no pipes, and can be waited for like pipes.
        let output = Receiver::from_owned_fd_unchecked(master.try_clone()?)?;
        let input = Sender::from_owned_fd_unchecked(master.try_clone()?)?;
        Ok((output, input, Replies::of(client)?))
    };
    let (output, input, replies) = joined().map_err(broken)?;
    Ok(Running { master, output, input, lab: replies })
}

/// Passes on in both directions until the program ends or the page goes away. Then the terminal is closed, which tells the program, and so is the
/// connection to the lab.
async fn hold(running: Running, outbox: &Outbox, mut inbox: Inbox) -> Close {
    if outbox.json(&json!({ "started": true })).await.is_err() {
        return Close::done("");
    }
    let Running { master, mut output, mut input, mut lab } = running;
    let mut piece = vec![0; PIECE];
    let (mut typed, mut window, mut exited) = (Vec::new(), WINDOW, None);
    loop {
        tokio::select! {
            said = inbox.next(), if typed.len() < TYPED => match said {
                Some(Said::Bytes(bytes)) => typed.extend_from_slice(&bytes),
                Some(Said::Text(text)) => {
                    if let Err(message) = command(&text, &master, &mut window) {
                        return Close::new(1007, message);
                    }
                }
                None => return Close::done(""),
            },
            written = input.write(&typed), if !typed.is_empty() => match written {
                Ok(length) => drop(typed.drain(..length)),
                Err(_) => typed.clear(),
            },
            read = output.read(&mut piece[..window.min(PIECE)]), if window > 0 => match read {
                Ok(length) if length > 0 => {
                    window -= length;
                    if let Err(Gone) = outbox.bytes(piece[..length].to_vec()).await {
                        return Close::done("");
                    }
                }
                // All that had the terminal open have closed it.
                _ => return ended(&mut lab, outbox, exited).await,
            },
            code = lab.exit(), if exited.is_none() => match code {
                Ok(code) => exited = Some(code),
                Err(message) => return Close::done(&message),
            },
            () = tokio::time::sleep(SHOWN_WITHIN), if exited.is_some() => return ended(&mut lab, outbox, exited).await,
        }
    }
}

/// Tells how the program has ended.
async fn ended(lab: &mut Replies, outbox: &Outbox, known: Option<i32>) -> Close {
    let code = match known {
        Some(code) => Ok(code),
        None => {
            let code = tokio::time::timeout(SHOWN_WITHIN, lab.exit()).await;
            code.unwrap_or_else(|_| Err("the program has closed its terminal".to_owned()))
        }
    };
    match code {
        Ok(code) => {
            let _ = outbox.json(&json!({ "exited": code })).await;
            Close::done("the program has ended")
        }
        Err(message) => Close::done(&message),
    }
}

/// What the lab says of the program.
struct Replies {
    stream: UnixStream,
    lines: Lines,
}

impl Replies {
    fn of(client: Client) -> io::Result<Self> {
        let (stream, rest) = client.into_stream();
        stream.set_nonblocking(true)?;
        let mut lines = Lines::default();
        lines.feed(&rest);
        Ok(Self { stream: UnixStream::from_std(stream)?, lines })
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

/// Does what the page says of the terminal itself.
fn command(text: &str, master: &OwnedFd, window: &mut usize) -> Result<(), String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    if let Some(taken) = value["taken"].as_u64() {
        *window = window.saturating_add(usize::try_from(taken).unwrap_or(WINDOW)).min(WINDOW);
        return Ok(());
    }
    let side = |key: &str| value["resize"][key].as_u64().and_then(|size| size_of(&size.to_string()));
    let (Some(columns), Some(rows)) = (side("columns"), side("rows")) else {
        return Err("a terminal understands `resize` with `columns` and `rows`, and `taken`".into());
    };
    // A program that has just ended needs no size any more.
    let _ = set_window_size(master, WindowSize { rows, columns });
    Ok(())
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
        for wrong in ["columns=0", "rows=1001", "rows=x", "size=3", "command=%ff"] {
            assert!(wanted("h1", None, wrong).is_err(), "{wrong}");
        }
    }
}
