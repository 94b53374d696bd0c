//! What the lab process and a node's init say to each other: JSON in packets of a `SOCK_SEQPACKET` socket.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use ipnet::IpNet;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::config::NodeConfig;
use super::socket::SocketConfig;
use super::watch::NetworkChange;
use crate::error::KernelError;
use crate::fds::{next_packet, receive_with_fds, send_with_fds};
use crate::measure::{MeasureConfig, Measured, TcpState};
use crate::netlink::InterfaceCounters;

/// A program of a node, numbered from 1 in the order of their starts; never reused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessId(pub(crate) u64);

impl ProcessId {
    /// The bare number.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// How long processes of a node used and waited for a CPU. Of a process that has ended, only those whose end the
/// node's init saw count, and of these only the first thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuWait {
    /// Time on a CPU, in nanoseconds.
    pub ran_ns: u64,
    /// Time on a run queue, ready but without a CPU, in nanoseconds; CPU shares count here too.
    pub waited_ns: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// The first of a container's agent. May come with a file that is mounted nowhere: the names of the lab.
    Become(Box<NodeConfig>),
    Configure,
    /// Comes with three descriptors: the standard streams.
    Spawn(Program),
    Signal {
        process: ProcessId,
        signal: i32,
    },
    SignalAll {
        signal: i32,
    },
    Listening {
        transport: Transport,
        port: u16,
    },
    Exists {
        path: PathBuf,
    },
    /// Which of these prefixes have no route?
    Lacking {
        prefixes: Vec<IpNet>,
    },
    Interfaces,
    Running,
    Settle,
    Changes,
    CpuWait,
    Socket(SocketConfig),
    /// Comes with a descriptor: the file for the samples.
    Measure(MeasureConfig),
    EndMeasure,
    Connections,
    Stop {
        grace_ms: u64,
    },
    /// Is no other process in the node?
    Alone,
    ShutDown,
    BringUp,
}

/// Whose ports are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Transport {
    /// Those of TCP: somebody accepts connections there.
    Tcp,
    /// Those of UDP: a socket is bound there, and takes datagrams from anybody.
    Udp,
}

/// A program to be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The program, looked up in PATH unless it contains a slash, and its arguments; not empty.
    pub argv: Vec<OsString>,
    /// Variables set on top of the environment.
    pub env: Vec<(OsString, OsString)>,
    /// Whether the environment starts out empty.
    pub clear_env: bool,
    /// The working directory; default: that of the caller.
    pub cwd: Option<PathBuf>,
    /// Whether standard input is a terminal that the program is to control.
    pub tty: bool,
    /// The user that it runs as: a name, or a number; the node's root when there is none.
    pub user: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The namespaces are as they should be, but for what the notes say; interfaces may come.
    Prepared {
        notes: Vec<String>,
    },
    Done,
    Started(ProcessId),
    NoProgram,
    NoFolder,
    NoUser,
    Yes(bool),
    Lacking(Vec<IpNet>),
    Interfaces(Vec<(String, InterfaceCounters)>),
    Running(Vec<String>),
    Changes(Vec<NetworkChange>),
    CpuWait(CpuWait),
    /// Comes with a descriptor.
    Socket,
    Measured(Measured),
    Connections(TcpState),
    Refused(KernelError),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// `status` is what wait(2) tells.
    Exited { process: ProcessId, status: i32, cpu_ns: u64 },
}

/// Bytes in a packet at most. A socket buffer holds at least 200 kB.
const PACKET: usize = 64 * 1024;

/// The first byte of a packet: whether the message goes on in the next one.
const MORE: u8 = 1;
const LAST: u8 = 0;

/// Sends a message, of any length, and waits until it is on its way. Descriptors travel with its last packet.
pub(crate) fn send<T: Serialize>(socket: impl AsFd, message: &T, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    let mut chunks = bytes.chunks(PACKET - 1).peekable();
    while let Some(chunk) = chunks.next() {
        let last = chunks.peek().is_none();
        let packet = [&[if last { LAST } else { MORE }], chunk].concat();
        send_with_fds(socket.as_fd(), &packet, if last { fds } else { &[] })?;
    }
    Ok(())
}

/// Receives a message with its descriptors; `None` when the other side is gone.
pub(crate) fn receive<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut message = Vec::new();
    loop {
        let mut buffer = Vec::new();
        let length = next_packet(socket.as_fd()).map_err(io::Error::from);
        let received = length.and_then(|length| {
            buffer.resize(length, 0);
            receive_with_fds(socket.as_fd(), &mut buffer)
        });
        let received = match received {
            Ok(received) => received,
            // A peer that dies with unread messages resets the connection instead of closing it.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some((more, chunk)) = buffer[..received.length].split_first() else { return Ok(None) };
        message.extend_from_slice(chunk);
        if *more == LAST {
            return Ok(Some((serde_json::from_slice(&message)?, received.fds)));
        }
    }
}
