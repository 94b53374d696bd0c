//! The life of a terminal: with a page, without one, and its end.

use super::{Replies, Running, size_of};
use crate::outbox::{Close, Gone, Outbox, Said};
use crate::shares::Share;
use crate::shells::{KEPT_FOR, Listed, Page, Scrollback};
use crate::visitors::Visitor;
use netloom_host::terminal::{WindowSize, set_window_size};
use serde_json::{Value, json};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// How much the page may have got and not shown: a scrollback is shorter.
const WINDOW: usize = 256 << 10;
/// A message's length at most.
const PIECE: usize = 16 << 10;
/// How much may be typed and not read by the program: a terminal of the kernel holds 4 KiB.
const TYPED: usize = 1 << 20;
/// How long the rest of what a program wrote may take to be shown after its end.
const SHOWN_WITHIN: Duration = Duration::from_secs(5);
/// Between two reads of what a program writes while no page is there: 1 MB per second at most.
const PACE: Duration = Duration::from_millis(16);

/// Holds a program's terminal until the program ends, its page leaves it for good, or nobody comes back to it. Then the terminal is closed, which tells the
/// program, and so is the connection to the lab.
pub(super) async fn live(
    running: Running,
    listed: Listed,
    mut coming: mpsc::Receiver<Page>,
    visitor: Arc<Visitor>,
    mut ending: watch::Receiver<bool>,
    share: Share,
) {
    let Running { master, output, input, lab } = running;
    let program = Program { master, output, input, lab, typed: Vec::new(), exited: None };
    let mut life = Life { program, shown: Scrollback::default(), piece: vec![0; PIECE] };
    tokio::select! {
        () = life.go_on(&listed, &mut coming) => {}
        _ = ending.wait_for(|is_ending| *is_ending) => {}
        () = visitor.is_sent_away() => {}
        () = listed.shell.makes_room() => {}
    }
    drop(life);
    // Who waits for room waits for pages to be received no more.
    drop(share);
    drop(listed);
    drop(coming);
}

/// A program at its terminal.
struct Program {
    /// For the size.
    master: OwnedFd,
    output: Receiver,
    input: Sender,
    lab: Replies,
    typed: Vec<u8>,
    /// The code with which it has ended.
    exited: Option<i32>,
}

struct Life {
    program: Program,
    shown: Scrollback,
    piece: Vec<u8>,
}

/// Why a page is not served any more.
enum Left {
    /// It has gone.
    Gone,
    /// It understands something else than a terminal does.
    Wrong(String),
    /// It is to end for good.
    Ended,
    /// Another page has come.
    For(Page),
    /// The program has ended: with this code, or as far as is known.
    Over(Result<i32, String>),
}

impl Life {
    async fn go_on(&mut self, listed: &Listed, coming: &mut mpsc::Receiver<Page>) {
        // It comes at once, if its connection is not lost before.
        let mut next = timeout(SHOWN_WITHIN, coming.recv()).await.ok().flatten();
        if next.is_none() && !listed.shell.stays {
            return;
        }
        loop {
            let left = match next.take() {
                Some(mut page) => {
                    listed.shell.is_with_page(true);
                    let left = self.with(&mut page, listed, coming).await;
                    close(page, &left).await;
                    left
                }
                None => {
                    listed.shell.is_with_page(false);
                    self.alone(coming).await
                }
            };
            next = match left {
                Left::Gone | Left::Wrong(_) if listed.shell.stays => None,
                Left::For(page) => Some(page),
                Left::Gone | Left::Wrong(_) | Left::Ended | Left::Over(_) => return,
            };
        }
    }

    /// Passes on in both directions. A page that comes to a program that runs already is shown what was written last.
    async fn with(&mut self, page: &mut Page, listed: &Listed, coming: &mut mpsc::Receiver<Page>) -> Left {
        let Self { program, shown, piece } = self;
        // A program that has just ended needs no size any more.
        let _ = set_window_size(&program.master, page.size);
        let before = shown.whole();
        let id = listed.shell.stays.then_some(listed.id.as_str());
        // A page that takes nothing keeps no other one out.
        let greeted = tokio::select! {
            greeted = greet(&page.outbox, id, &before) => greeted,
            other = coming.recv() => return other.map_or(Left::Ended, Left::For),
        };
        if let Err(Gone) = greeted {
            return Left::Gone;
        }
        let mut window = WINDOW.saturating_sub(before.len());
        loop {
            let most = window.min(PIECE);
            tokio::select! {
                said = page.said.recv(), if program.typed.len() < TYPED => match said {
                    Some(Said::Bytes(bytes)) => program.typed.extend_from_slice(&bytes),
                    Some(Said::Text(text)) => match command(&text, &program.master) {
                        Ok(Word::Taken(taken)) => window = window.saturating_add(taken).min(WINDOW),
                        Ok(Word::Done) => {}
                        Ok(Word::End) => return Left::Ended,
                        Err(message) => return Left::Wrong(message),
                    },
                    None => return Left::Gone,
                },
                other = coming.recv() => return other.map_or(Left::Ended, Left::For),
                happened = program.next(&mut piece[..most]) => match happened {
                    Happened::Nothing => {}
                    Happened::Wrote(length) => {
                        window -= length;
                        shown.add(&piece[..length]);
                        // What another page takes over is remembered.
                        let sent = tokio::select! {
                            sent = page.outbox.bytes(piece[..length].to_vec()) => sent,
                            other = coming.recv() => return other.map_or(Left::Ended, Left::For),
                        };
                        if let Err(Gone) = sent {
                            return Left::Gone;
                        }
                    }
                    Happened::Ended(how) => return Left::Over(how),
                },
            }
        }
    }

    /// Reads on while no page is there, so that the program goes on, for so long; of one that has ended, a page that comes meanwhile hears of that, as long as its lab is up.
    async fn alone(&mut self, coming: &mut mpsc::Receiver<Page>) -> Left {
        let Self { program, shown, piece } = self;
        let end = Instant::now() + KEPT_FOR;
        let mut over = None;
        loop {
            tokio::select! {
                other = coming.recv() => {
                    let (Some(page), how) = (other, over) else { return Left::Ended };
                    let Some(how) = how else { return Left::For(page) };
                    report_end(page, &shown.whole(), how).await;
                    return Left::Ended;
                }
                happened = program.next_or_gone(&mut piece[..], over.is_some()) => match happened {
                    Happened::Nothing => {}
                    Happened::Wrote(length) => {
                        shown.add(&piece[..length]);
                        sleep(PACE).await;
                    }
                    Happened::Ended(Ok(code)) => over = Some(code),
                    // With its lab, which is not there any more for a page, either.
                    Happened::Ended(Err(_)) => return Left::Ended,
                },
                () = sleep_until(end) => return Left::Ended,
            }
        }
    }
}

/// Tells a page why its connection ends, which it may know.
async fn close(page: Page, left: &Left) {
    let close = match left {
        Left::Gone => return,
        Left::Wrong(message) => Close::new(1007, message.as_str()),
        Left::Ended => Close::done(""),
        Left::For(_) => Close::new(4409, "this terminal is shown by another page now"),
        Left::Over(Ok(code)) => {
            let _ = page.outbox.json(&json!({ "exited": code })).await;
            Close::done("the program has ended")
        }
        Left::Over(Err(message)) => Close::done(message),
    };
    let _ = page.close.send(close);
}

/// Tells a page the name of its shell, and shows it what was written before.
async fn greet(outbox: &Outbox, id: Option<&str>, before: &[u8]) -> Result<(), Gone> {
    outbox.json(&json!({ "started": true, "shell": id, "before": before.len() })).await?;
    for part in before.chunks(PIECE) {
        outbox.bytes(part.to_vec()).await?;
    }
    Ok(())
}

/// Shows a page that has come back what a program wrote before it ended, and with which code.
async fn report_end(page: Page, before: &[u8], code: i32) {
    if greet(&page.outbox, None, before).await.is_ok() {
        close(page, &Left::Over(Ok(code))).await;
    }
}

/// What happens at a terminal.
enum Happened {
    /// Something that is not reported.
    Nothing,
    /// So much was written.
    Wrote(usize),
    Ended(Result<i32, String>),
}

impl Program {
    /// The next thing that happens; of a program that has ended, only the end of its lab.
    async fn next_or_gone(&mut self, piece: &mut [u8], is_over: bool) -> Happened {
        if !is_over {
            return self.next(piece).await;
        }
        self.lab.gone().await;
        Happened::Ended(Err("the lab has ended".to_owned()))
    }

    /// The next thing that happens; nothing is read where there is no room.
    async fn next(&mut self, piece: &mut [u8]) -> Happened {
        let Self { output, input, lab, typed, exited, .. } = self;
        tokio::select! {
            written = input.write(typed), if !typed.is_empty() => {
                match written {
                    Ok(length) => drop(typed.drain(..length)),
                    Err(_) => typed.clear(),
                }
                Happened::Nothing
            }
            read = output.read(piece), if !piece.is_empty() => match read {
                Ok(length) if length > 0 => Happened::Wrote(length),
                // All that had the terminal open have closed it.
                _ => Happened::Ended(code(lab, *exited).await),
            },
            code = lab.exit(), if exited.is_none() => match code {
                Ok(code) => {
                    *exited = Some(code);
                    Happened::Nothing
                }
                Err(message) => Happened::Ended(Err(message)),
            },
            () = sleep(SHOWN_WITHIN), if exited.is_some() => Happened::Ended(code(lab, *exited).await),
        }
    }
}

/// How a program has ended whose terminal is closed.
async fn code(lab: &mut Replies, known: Option<i32>) -> Result<i32, String> {
    match known {
        Some(code) => Ok(code),
        None => {
            let code = timeout(SHOWN_WITHIN, lab.exit()).await;
            code.unwrap_or_else(|_| Err("the program has closed its terminal".to_owned()))
        }
    }
}

/// What a page says of the terminal itself.
#[derive(Debug, PartialEq, Eq)]
enum Word {
    /// So much was shown.
    Taken(usize),
    /// The program is to end, though it waits for pages that are lost.
    End,
    /// It is done.
    Done,
}

/// Does what the page says of the terminal itself.
fn command(text: &str, master: &OwnedFd) -> Result<Word, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    if let Some(taken) = value["taken"].as_u64() {
        return Ok(Word::Taken(usize::try_from(taken).unwrap_or(WINDOW)));
    }
    if value["end"] == true {
        return Ok(Word::End);
    }
    let side = |key: &str| value["resize"][key].as_u64().and_then(|size| size_of(&size.to_string()));
    let (Some(columns), Some(rows)) = (side("columns"), side("rows")) else {
        return Err("a terminal understands `resize` with `columns` and `rows`, `taken`, and `end`".into());
    };
    // A program that has just ended needs no size any more.
    let _ = set_window_size(master, WindowSize { rows, columns });
    Ok(Word::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shares::{Limits, Shares};
    use crate::shells::Shells;
    use crate::token::Role;
    use axum::extract::ws::Message;
    use netloom_host::terminal::{Pty, open_pty};
    use std::io::Write;
    use std::net::{IpAddr, Ipv4Addr};
    use std::os::unix::net::UnixStream;
    use tokio::sync::oneshot;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const SIZE: WindowSize = WindowSize { rows: 24, columns: 80 };

    /// A terminal whose program is this test, and the other end of its connection to the lab.
    struct Played {
        shells: Arc<Shells>,
        visitor: Arc<Visitor>,
        pages: mpsc::Sender<Page>,
        /// Holds the terminal open.
        program: std::fs::File,
        lab: UnixStream,
        _ending: watch::Sender<bool>,
    }

    fn played() -> Played {
        let Pty { master, slave } = open_pty().unwrap();
        let (lab, ours) = UnixStream::pair().unwrap();
        let running = Running::new(master, Replies::of(ours, b"").unwrap()).unwrap();
        let shells = Arc::new(Shells::default());
        let visitor = Arc::new(Visitor::new(7, Role::Edit, None, HERE));
        let few = Limits { all: 1, role: 1, address: 1, one: 1 };
        let share = Shares::new("terminals", few).take(&visitor, HERE).unwrap();
        let (listed, coming) = shells.add(&visitor, "star", "a", true).unwrap();
        let pages = listed.shell.pages();
        let ending = watch::Sender::new(false);
        tokio::spawn(live(running, listed, coming, Arc::clone(&visitor), ending.subscribe(), share));
        Played { shells, visitor, pages, program: slave.into(), lab, _ending: ending }
    }

    impl Played {
        /// A page that comes, with room for so many messages that it has not read.
        async fn page(&self, room: usize) -> (mpsc::Receiver<Message>, mpsc::Sender<Said>, oneshot::Receiver<Close>) {
            let (sender, shown) = mpsc::channel(room);
            let (says, said) = mpsc::channel(1);
            let (close, closed) = oneshot::channel();
            assert!(self.pages.send(Page { outbox: Outbox(sender), said, size: SIZE, close }).await.is_ok());
            (shown, says, closed)
        }

        async fn until(&self, attached: Option<bool>) {
            let is = || self.shells.of(&self.visitor, "star").first().map(|shell| shell["attached"] == true);
            while is() != attached {
                sleep(Duration::from_millis(2)).await;
            }
        }
    }

    #[tokio::test]
    async fn a_page_that_takes_nothing_keeps_no_other_one_out() {
        let played = played();
        let (first, says, _closed) = played.page(1).await;
        played.until(Some(true)).await;
        drop((first, says));
        played.until(Some(false)).await;
        // More than one message has room for, which is read while no page is there.
        let mut program = played.program.try_clone().unwrap();
        let written = tokio::task::spawn_blocking(move || program.write_all(&b"x\n".repeat(30_000)));
        written.await.unwrap().unwrap();
        let (stalled, _said, closed) = played.page(1).await;
        played.until(Some(true)).await;
        let (mut other, _says, _) = played.page(100).await;
        assert_eq!(closed.await.unwrap().code, 4409);
        let Some(Message::Text(started)) = other.recv().await else { panic!("it begins with what it is") };
        assert!(started.contains(r#""started":true"#), "{started}");
        drop(stalled);
    }

    #[tokio::test]
    async fn a_shell_that_has_ended_waits_only_as_long_as_its_lab_is_up() {
        let mut played = played();
        let (first, says, _closed) = played.page(1).await;
        played.until(Some(true)).await;
        drop((first, says));
        played.until(Some(false)).await;
        writeln!(played.lab, r#"{{"reply":"exited","code":3}}"#).unwrap();
        let Played { program, lab, shells, visitor, .. } = played;
        drop(program);
        sleep(Duration::from_millis(50)).await;
        assert_eq!(shells.of(&visitor, "star").len(), 1, "a page can still be told how it ended");
        drop(lab);
        while !shells.of(&visitor, "star").is_empty() {
            sleep(Duration::from_millis(2)).await;
        }
    }
}
