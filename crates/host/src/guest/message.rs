//! How the lab process and the agent in a node's own kernel reach each other: messages, which travel as
//! [frames](crate::guest::frames).
//!
//! The agent speaks first: [`FromGuest::Up`]. The lab process then says what the node is to be ([`Request::Become`]),
//! and from there on asks one thing after the other, each answered by one [`FromGuest::Reply`]. What programs read and
//! write, and how they end, comes in between at any time. A program's end comes behind all that it had written.
//!
//! Either side sends at most a window of bytes per stream that the other has not reported as taken.

use serde::{Deserialize, Serialize};

use crate::KernelError;
use crate::measure::TcpState;
use crate::node::protocol::{ProcessId, Reply, Request};

/// How much of a program's output may be on its way, in bytes and per stream.
pub const OUTPUT_WINDOW: usize = 1 << 20;

/// How much of a program's input may be on its way, in bytes.
pub const INPUT_WINDOW: usize = 1 << 16;

/// How many bytes of a stream one message carries at most: then it fits one frame of an agent.
pub const LONGEST_CHUNK: usize = 1 << 15;

/// One of the streams that a program writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Stream {
    /// Standard output; all that a terminal shows.
    Output,
    /// Standard error.
    Error,
}

/// A message from the lab process to the agent of a guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToGuest {
    /// A request. It is JSON by itself, and has a first byte of its own.
    #[serde(skip)]
    Request(Request),
    /// Data for the standard input of a program. Not answered, and neither is what follows.
    Input {
        /// The program.
        process: ProcessId,
        /// The bytes that it reads.
        #[serde(skip)]
        bytes: Vec<u8>,
    },
    /// A program's standard input is at its end; a terminal hangs up.
    InputEnds {
        /// The program.
        process: ProcessId,
    },
    /// Output has arrived, and that much more may be sent.
    Taken {
        /// The program.
        process: ProcessId,
        /// The stream.
        stream: Stream,
        /// The number of bytes.
        bytes: usize,
    },
    /// A program's output is closed: writing to it fails from now on.
    Unwanted {
        /// The program.
        process: ProcessId,
        /// The stream.
        stream: Stream,
    },
    /// The size of a program's terminal has changed.
    Resize {
        /// The program.
        process: ProcessId,
        /// The rows and columns of the terminal.
        window: (u16, u16),
    },
    /// Power off.
    PowerOff,
}

/// A message from the agent of a guest to the lab process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromGuest {
    /// The agent takes requests.
    Up,
    /// The answer to the oldest request that has none yet.
    Reply(Reply),
    /// Bytes that a program wrote.
    Output {
        /// The program.
        process: ProcessId,
        /// The stream to which it wrote them.
        stream: Stream,
        /// The bytes.
        #[serde(skip)]
        bytes: Vec<u8>,
    },
    /// The samples that were measured so far: the next part of their stream.
    Samples {
        /// The bytes of that part.
        #[serde(skip)]
        bytes: Vec<u8>,
    },
    /// The TCP connections, or why the node's kernel does not report them.
    Connections(Result<TcpState, KernelError>),
    /// Neither the program nor a process that inherited the stream can write to it any more.
    OutputEnds {
        /// The program.
        process: ProcessId,
        /// The stream.
        stream: Stream,
    },
    /// A program has been given that much of its input, and as much more may be sent.
    InputTaken {
        /// The program.
        process: ProcessId,
        /// The number of bytes.
        bytes: usize,
    },
    /// A program's standard input has no reader any more.
    InputUnwanted {
        /// The program.
        process: ProcessId,
    },
    /// A program has ended; `status` is what wait(2) reports. Comes behind all that it wrote.
    Exited {
        /// The program.
        process: ProcessId,
        /// The status.
        status: i32,
        /// The CPU time of its first thread, in nanoseconds.
        cpu_ns: u64,
    },
}

/// The first byte of a message that is JSON up to its end.
const PLAIN: u8 = 0;
/// The first byte of a request, which is JSON up to its end.
const REQUEST: u8 = 2;
/// The first byte of a message with bytes of a stream: the length of the JSON follows (16 bits), the JSON, the bytes.
const WITH_BYTES: u8 = 1;

/// A message as bytes, and back.
pub trait Wire: Sized {
    /// As bytes.
    fn encode(&self) -> Vec<u8>;

    /// From bytes.
    ///
    /// # Errors
    /// When they are no message.
    fn decode(message: &[u8]) -> Result<Self, String>;
}

impl Wire for ToGuest {
    fn encode(&self) -> Vec<u8> {
        match self {
            Self::Request(request) => plain(REQUEST, request),
            Self::Input { bytes, .. } => with_bytes(self, bytes),
            _ => plain(PLAIN, self),
        }
    }

    fn decode(message: &[u8]) -> Result<Self, String> {
        if let [REQUEST, json @ ..] = message {
            return parsed(json).map(Self::Request);
        }
        let (mut decoded, tail) = decode(message)?;
        if let Self::Input { bytes, .. } = &mut decoded {
            tail.clone_into(bytes);
        }
        Ok(decoded)
    }
}

impl Wire for FromGuest {
    fn encode(&self) -> Vec<u8> {
        match self {
            Self::Output { bytes, .. } | Self::Samples { bytes } => with_bytes(self, bytes),
            _ => plain(PLAIN, self),
        }
    }

    fn decode(message: &[u8]) -> Result<Self, String> {
        let (mut decoded, tail) = decode(message)?;
        if let Self::Output { bytes, .. } | Self::Samples { bytes } = &mut decoded {
            tail.clone_into(bytes);
        }
        Ok(decoded)
    }
}

fn plain<T: Serialize>(kind: u8, message: &T) -> Vec<u8> {
    [&[kind], &json(message)[..]].concat()
}

fn with_bytes<T: Serialize>(message: &T, bytes: &[u8]) -> Vec<u8> {
    let json = json(message);
    let length = u16::try_from(json.len()).expect("two numbers and three names are short");
    [&[WITH_BYTES], &length.to_le_bytes()[..], &json, bytes].concat()
}

fn json<T: Serialize>(message: &T) -> Vec<u8> {
    serde_json::to_vec(message).expect("a message is plain data")
}

fn parsed<T: for<'de> Deserialize<'de>>(json: &[u8]) -> Result<T, String> {
    serde_json::from_slice(json).map_err(|error| error.to_string())
}

fn decode<T: for<'de> Deserialize<'de>>(message: &[u8]) -> Result<(T, &[u8]), String> {
    let (json, tail) = match message {
        [PLAIN, json @ ..] => (json, &[][..]),
        [WITH_BYTES, low, high, rest @ ..] => {
            let length = u16::from_le_bytes([*low, *high]);
            rest.split_at_checked(length.into()).ok_or("a message is cut short")?
        }
        _ => return Err("a message of no known kind".to_owned()),
    };
    Ok((parsed(json)?, tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::protocol::{Identity, Program, Standard};
    use crate::node::{NodeConfig, Transport};

    #[test]
    fn messages_come_back() {
        let process = ProcessId(3);
        let config = NodeConfig { name: "a".into(), ..NodeConfig::default() };
        let argv = vec!["sh".into()];
        let program = Program { argv, env: Vec::new(), clear_env: false, cwd: None, tty: true, user: None };
        let program = Box::new(program);
        let streams = Some([Standard::Joined, Standard::Joined, Standard::Same]);
        let to = [
            ToGuest::Request(Request::Become(Box::new(Identity { config, cwd: "/tmp".into() }))),
            ToGuest::Request(Request::Configure),
            ToGuest::Request(Request::Spawn { program, streams, window: Some((24, 80)) }),
            ToGuest::Request(Request::Listening { transport: Transport::Udp, port: 53 }),
            ToGuest::Resize { process, window: (24, 80) },
            ToGuest::Input { process, bytes: vec![0, 255, 10] },
            ToGuest::PowerOff,
        ];
        to.iter().for_each(|message| assert_eq!(ToGuest::decode(&message.encode()).as_ref(), Ok(message)));
        let from = [
            FromGuest::Up,
            FromGuest::Output { process, stream: Stream::Error, bytes: vec![7; 70_000] },
            FromGuest::Samples { bytes: vec![1, 0, 255] },
            FromGuest::Reply(Reply::Refused(KernelError::new("x", 1))),
        ];
        from.iter().for_each(|message| assert_eq!(FromGuest::decode(&message.encode()).as_ref(), Ok(message)));
    }

    #[test]
    fn nonsense_is_refused() {
        for nonsense in [&[][..], &[9], &[1], &[1, 9, 9], b"\x00{}", b"\x02{}", b"\x02\"PowerOff\""] {
            assert!(FromGuest::decode(nonsense).is_err(), "{nonsense:?}");
            assert!(ToGuest::decode(nonsense).is_err(), "{nonsense:?}");
        }
    }

    /// The length of a message decides how many frames it takes.
    #[test]
    fn a_request_is_one_byte_longer_than_its_json() {
        let request = Request::Stop { grace_ms: 5 };
        assert_eq!(ToGuest::Request(request).encode(), b"\x02{\"Stop\":{\"grace_ms\":5}}");
    }
}
