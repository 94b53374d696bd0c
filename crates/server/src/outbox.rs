//! What goes over a WebSocket, in each direction, and how it ends.

use crate::answer::Refusal;
use axum::body::Bytes;
use axum::extract::ws::Message;
use serde_json::Value;
use tokio::sync::mpsc;

/// Why a connection is closed.
#[derive(Debug)]
pub(crate) struct Close {
    pub(crate) code: u16,
    pub(crate) reason: String,
}

impl Close {
    pub(crate) fn new(code: u16, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }

    /// It is over, as it should be.
    pub(crate) fn done(reason: &str) -> Self {
        Self::new(1000, reason)
    }
}

impl From<Refusal> for Close {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.close_code(), refusal.message())
    }
}

/// Where messages for the page go. Sending waits until the page has taken what came before.
#[derive(Clone)]
pub(crate) struct Outbox(pub(crate) mpsc::Sender<Message>);

/// The page has gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl Outbox {
    pub(crate) async fn text(&self, text: String) -> Result<(), Gone> {
        self.0.send(Message::Text(text.into())).await.map_err(|_| Gone)
    }

    pub(crate) async fn json(&self, value: &Value) -> Result<(), Gone> {
        self.text(value.to_string()).await
    }

    pub(crate) async fn bytes(&self, bytes: Vec<u8>) -> Result<(), Gone> {
        self.0.send(Message::Binary(bytes.into())).await.map_err(|_| Gone)
    }
}

/// A message of the page.
#[derive(Debug)]
pub(crate) enum Said {
    Text(String),
    Bytes(Bytes),
}
