//! WebSockets with a bound in each direction: what a page does not take waits where it came from.

use crate::app::App;
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use std::future::{Future, pending};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

use crate::answer::Answer;
use crate::outbox::{Close, Outbox, Said};
use crate::token::Role;
use crate::visitors::Visitor;

/// Messages that wait for a page, beside what the kernel holds.
const WAITING: usize = 2;
/// The longest message of a page: as long as a request to a lab may be. Others write no lab files, and who looks on types nothing.
fn longest_message(role: Role) -> usize {
    match role {
        Role::Look => 64 << 10,
        Role::Use => 1 << 20,
        Role::Edit => 4 << 20,
    }
}

/// How often a page is asked whether it is there, and how long it may say nothing.
const PING_EVERY: Duration = Duration::from_secs(20);
const SILENT_FOR: Duration = Duration::from_secs(60);
/// Within which a page takes the last words.
const CLOSED_WITHIN: Duration = Duration::from_secs(2);

/// What the page says.
pub(crate) struct Inbox {
    /// Shared with what reads on when the last word was said.
    stream: Arc<tokio::sync::Mutex<SplitStream<WebSocket>>>,
    heard: Arc<Mutex<Instant>>,
}

impl Inbox {
    /// The next message; none when the page has gone.
    pub(crate) async fn next(&mut self) -> Option<Said> {
        loop {
            let message = self.stream.lock().await.next().await?.ok()?;
            *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            match message {
                Message::Text(text) => return Some(Said::Text(text.as_str().to_owned())),
                Message::Binary(bytes) => return Some(Said::Bytes(bytes)),
                Message::Ping(_) | Message::Pong(_) => {}
                Message::Close(_) => return None,
            }
        }
    }

    /// Takes what the page says and does nothing with it, until the page has gone.
    pub(crate) async fn ignore(&mut self) {
        while self.next().await.is_some() {}
    }
}

/// Who opens a WebSocket, from where, and what it shows, for whoever shares the page.
pub(crate) struct Opener {
    pub(crate) visitor: Arc<Visitor>,
    pub(crate) address: IpAddr,
    pub(crate) what: Value,
}

/// Makes a WebSocket of a request, on which `talk` speaks until it says why it ends.
pub(crate) fn converse<F, T>(app: &Arc<App>, opener: Opener, upgrade: WebSocketUpgrade, talk: F) -> Answer
where
    F: FnOnce(Outbox, Inbox) -> T + Send + 'static,
    T: Future<Output = Close> + Send + 'static,
{
    let Opener { visitor, address, what } = opener;
    let share = app.sockets.take(&visitor, address)?;
    let visitors = Arc::clone(&app.visitors);
    let mut ending = app.ending.clone();
    let longest = longest_message(visitor.role);
    let upgrade = upgrade.max_message_size(longest).max_frame_size(longest);
    let response: Response = upgrade.on_upgrade(async move |socket| {
        let _share = share;
        let _open = visitors.opened(&visitor, what);
        let (sink, stream) = socket.split();
        let (sender, waiting) = mpsc::channel(WAITING);
        let heard = Arc::new(Mutex::new(Instant::now()));
        let stream = Arc::new(tokio::sync::Mutex::new(stream));
        let inbox = Inbox { stream: Arc::clone(&stream), heard: Arc::clone(&heard) };
        let speak = async {
            let close = tokio::select! {
                close = talk(Outbox(sender.clone()), inbox) => close,
                _ = ending.wait_for(|is_ending| *is_ending) => Close::new(1001, "the server ends"),
                () = visitor.is_sent_away() => Close::new(4401, "the owner of this page has revoked your access"),
            };
            let frame = CloseFrame { code: close.code, reason: shortened(&close.reason).into() };
            let _ = sender.send(Message::Close(Some(frame))).await;
            // The last words are on their way when the writer ends.
            tokio::time::sleep(CLOSED_WITHIN).await;
        };
        tokio::select! {
            () = write(sink, waiting, heard) => {}
            () = speak => {}
        }
        // What the page still says is read: else the kernel would tell it of a broken connection, and it might lose the last words.
        let rest = async { while stream.lock().await.next().await.is_some_and(|message| message.is_ok()) {} };
        let _ = tokio::time::timeout(CLOSED_WITHIN, rest).await;
    });
    Ok(response)
}

/// Sends what there is, and asks now and then whether the page is still there, until the last word.
async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut waiting: mpsc::Receiver<Message>,
    heard: Arc<Mutex<Instant>>,
) {
    let mut pings = tokio::time::interval(PING_EVERY);
    loop {
        let message = tokio::select! {
            message = waiting.recv() => message,
            _ = pings.tick() => Some(Message::Ping(Bytes::new())),
        };
        let Some(message) = message else { return pending().await };
        if heard.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > SILENT_FOR {
            return;
        }
        let is_last = matches!(message, Message::Close(_));
        match tokio::time::timeout(SILENT_FOR, sink.send(message)).await {
            Ok(Ok(())) if !is_last => {}
            _ => return,
        }
    }
}

/// A reason has 123 bytes at most.
fn shortened(reason: &str) -> String {
    const LONGEST: usize = 123;
    let mut end = reason.len().min(LONGEST);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    reason[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_cut_between_letters() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"é".repeat(100)), "é".repeat(61));
    }
}
