//! The messages of the streaming format of Arrow IPC.
//!
//! Source: Arrow Columnar Format 1.5, "Encapsulated message format" and "IPC Streaming Format". Journals are written by a library;
//! they are read by hand, since the library takes the lengths that a file claims for true.

use super::Wrong;
use arrow_ipc::root_as_message;
use std::io::{self, Read};

/// What each message begins with.
const CONTINUATION: u32 = u32::MAX;
/// A message's description is at most so long. That of the columns names all pipes.
const MOST_METADATA: usize = 16 << 20;
/// What belongs to it is. A batch of records takes less than 1 MB.
const MOST_BODY: usize = 16 << 20;

/// The messages of a stream, one after the other.
pub(super) struct Messages<R> {
    input: R,
    offset: u64,
}

/// A message: its description, and the bytes that belong to it.
pub(super) struct Message {
    metadata: Vec<u8>,
    pub(super) body: Vec<u8>,
}

/// Why there is no next message.
pub(super) enum Failure {
    Io(io::Error),
    /// The stream ends without its end mark.
    CutOff,
    Wrong(Wrong),
}

impl From<Wrong> for Failure {
    fn from(what: Wrong) -> Self {
        Self::Wrong(what)
    }
}

impl Message {
    /// Its description.
    pub(super) fn root(&self) -> Result<arrow_ipc::Message<'_>, Wrong> {
        root_as_message(&self.metadata).map_err(|_| "a message whose description makes no sense".into())
    }
}

impl<R: Read> Messages<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, offset: 0 }
    }

    /// Where the next message begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next message; none at the end mark.
    pub(super) fn next(&mut self) -> Result<Option<Message>, Failure> {
        let head = self.bytes(8)?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if word(0) != CONTINUATION {
            return Err(Failure::Wrong("no message of Arrow IPC begins there".into()));
        }
        if word(4) == 0 {
            self.offset += 8;
            return Ok(None);
        }
        let metadata = self.bytes(length(i64::from(word(4)), MOST_METADATA)?)?;
        let mut message = Message { metadata, body: Vec::new() };
        let body = length(message.root()?.bodyLength(), MOST_BODY)?;
        message.body = self.bytes(body)?;
        self.offset += (8 + message.metadata.len() + body) as u64;
        Ok(Some(message))
    }

    /// So many bytes. Memory grows with what is there, not with what is claimed.
    fn bytes(&mut self, count: usize) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        self.input.by_ref().take(count as u64).read_to_end(&mut bytes).map_err(Failure::Io)?;
        if bytes.len() == count { Ok(bytes) } else { Err(Failure::CutOff) }
    }
}

fn length(claimed: i64, most: usize) -> Result<usize, Wrong> {
    let length = usize::try_from(claimed).ok().filter(|length| *length <= most);
    length.ok_or_else(|| format!("a part that claims to be {claimed} bytes long"))
}
