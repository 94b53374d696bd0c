//! What lab process and agent say to each other.
//!
//! The agent speaks first: [`FromGuest::Up`]. The lab process then says what the node is to be ([`ToGuest::Become`]),
//! and from there on asks one thing after the other, each answered by one [`FromGuest::Reply`]. What programs read and
//! write, and how they end, comes in between at any time. A program's end comes behind all that it had written.
//!
//! Either side sends at most a window of bytes per stream that the other has not reported as taken.

use std::path::PathBuf;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::KernelError;
use crate::measure::{Measured, TcpState};
use crate::netlink::InterfaceCounters;
pub use crate::node::protocol::{CpuWait, ProcessId, Program, Transport};
use crate::node::{NetworkChange, NodeConfig};

/// How much of a program's output may be on its way, in bytes and per stream.
pub const OUTPUT_WINDOW: usize = 1 << 20;

/// How much of a program's input may be on its way, in bytes.
pub const INPUT_WINDOW: usize = 1 << 16;

/// How many bytes of a stream one message carries at most: then it fits one frame of an agent.
pub const LONGEST_CHUNK: usize = 1 << 15;

/// The identity of a node: its configuration, and what its programs inherit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The node. Its interface i is the kernel's network device i + 1. Its cgroup and its processors mean nothing inside.
    pub config: NodeConfig,
    /// The folder in which programs start that name none.
    pub cwd: PathBuf,
}

/// The guest's side of one of a program's standard streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standard {
    /// `/dev/null` of the guest.
    Null,
    /// Joined to the lab by messages.
    Joined,
    /// For standard error: the same file as standard output, so that both stay in order.
    Same,
}

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
    /// The first request: mounts, name and kernel parameters. Answered by [`Reply::Prepared`].
    Become(Box<Identity>),
    /// Give the interfaces names, addresses, neighbors and routes. Answered by [`Reply::Done`].
    Configure,
    /// Start a program; [`Program::tty`] asks for a terminal instead of its streams. Answered by [`Reply::Started`].
    Spawn {
        /// The program.
        program: Box<Program>,
        /// Standard input, output and error.
        streams: [Standard; 3],
        /// The rows and columns of its terminal.
        window: Option<(u16, u16)>,
    },
    /// Signal a program's process group. Answered by [`Reply::Done`].
    Signal {
        /// The program.
        process: ProcessId,
        /// The signal, as `libc` numbers it.
        signal: i32,
    },
    /// Signal all processes but the agent. Answered by [`Reply::Done`].
    SignalAll {
        /// The signal, as `libc` numbers it.
        signal: i32,
    },
    /// Does a program accept TCP connections at this port, or datagrams of UDP? Answered by [`Reply::Yes`].
    Listening {
        /// The transport protocol.
        transport: Transport,
        /// The port.
        port: u16,
    },
    /// Is there a file of this name? Answered by [`Reply::Yes`].
    Exists {
        /// An absolute path.
        path: PathBuf,
    },
    /// Which of these prefixes have no route? Answered by [`Reply::Lacking`].
    Lacking {
        /// The prefixes.
        prefixes: Vec<IpNet>,
    },
    /// The counters of the interfaces. Answered by [`Reply::Interfaces`].
    Interfaces,
    /// What programs did to the network. Answered by [`Reply::Changes`].
    Changes,
    /// How long programs ran and waited. Answered by [`Reply::CpuWait`].
    CpuWait,
    /// End what is measured, and send the last samples. Answered by [`Reply::Measured`].
    EndMeasure,
    /// Which TCP connections are there? Answered by [`FromGuest::Connections`], and not waited for.
    Connections,
    /// End all programs: SIGTERM, then SIGKILL. Answered by [`Reply::Done`].
    Stop {
        /// How long they may take to obey, in milliseconds.
        grace_ms: u64,
    },
    /// Is the agent the only process of the node? Answered by [`Reply::Yes`].
    Alone,
    /// Takes the network down: what it had goes. Answered by [`Reply::Done`].
    ShutDown,
    /// Makes the network again as it was configured. Answered by [`Reply::Done`].
    BringUp,
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

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The node is as it should be, but for what the notes say.
    Prepared {
        /// In words.
        notes: Vec<String>,
    },
    /// It is done.
    Done,
    /// The program runs.
    Started {
        /// Its number.
        process: ProcessId,
        /// Its session, as the node's kernel numbers them.
        session: u32,
    },
    /// There is no such program.
    NoProgram,
    /// There is no such working directory.
    NoFolder,
    /// There is no such user.
    NoUser,
    /// Yes or no.
    Yes(bool),
    /// The prefixes without a route.
    Lacking(Vec<IpNet>),
    /// Counters by interface.
    Interfaces(Vec<(String, InterfaceCounters)>),
    /// What programs did to the network.
    Changes(Vec<NetworkChange>),
    /// Times.
    CpuWait(CpuWait),
    /// Nothing more is measured.
    Measured(Measured),
    /// The guest's kernel said no.
    Refused(KernelError),
}

/// The first byte of a message that is JSON up to its end.
const PLAIN: u8 = 0;
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
        encode(self, if let Self::Input { bytes, .. } = self { Some(bytes) } else { None })
    }

    fn decode(message: &[u8]) -> Result<Self, String> {
        let (mut decoded, tail) = decode(message)?;
        if let Self::Input { bytes, .. } = &mut decoded {
            tail.clone_into(bytes);
        }
        Ok(decoded)
    }
}

impl Wire for FromGuest {
    fn encode(&self) -> Vec<u8> {
        encode(self, if let Self::Output { bytes, .. } | Self::Samples { bytes } = self { Some(bytes) } else { None })
    }

    fn decode(message: &[u8]) -> Result<Self, String> {
        let (mut decoded, tail) = decode(message)?;
        if let Self::Output { bytes, .. } | Self::Samples { bytes } = &mut decoded {
            tail.clone_into(bytes);
        }
        Ok(decoded)
    }
}

fn encode<T: Serialize>(message: &T, tail: Option<&Vec<u8>>) -> Vec<u8> {
    let json = serde_json::to_vec(message).expect("a message is plain data");
    match tail {
        None => [&[PLAIN], &json[..]].concat(),
        Some(tail) => {
            let length = u16::try_from(json.len()).expect("two numbers and three names are short");
            [&[WITH_BYTES], &length.to_le_bytes()[..], &json, tail].concat()
        }
    }
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
    Ok((serde_json::from_slice(json).map_err(|error| error.to_string())?, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back() {
        let process = ProcessId(3);
        let config = NodeConfig { name: "a".into(), ..NodeConfig::default() };
        let to = [
            ToGuest::Become(Box::new(Identity { config, cwd: "/tmp".into() })),
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
        for nonsense in [&[][..], &[9], &[1], &[1, 9, 9], b"\x00{}"] {
            assert!(FromGuest::decode(nonsense).is_err(), "{nonsense:?}");
        }
    }
}
