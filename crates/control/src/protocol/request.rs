//! What clients ask.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// A request as it is sent: with an identifier that the client may choose, which replies and events that belong to it
/// repeat.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Message {
    /// The identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// The word of whoever keeps all parts of a lab over several machines, who asks the same of all of them at one instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_all: Option<String>,
    /// The request.
    #[serde(flatten)]
    pub request: Request,
}

/// A client's name for a request: a whole number, or a string of 128 bytes at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Id {
    /// A number.
    Number(i64),
    /// A string.
    Text(#[schemars(length(max = 128))] String),
}

/// A request of a client to a running lab.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Says which version of the protocol the client speaks, and asks what the lab offers. A client that does not say so is
    /// served as one of version 1.
    Hello(Hello),
    /// Asks who the lab is: its nodes, services, folder, state.
    Info,
    /// Asks how nodes and links are connected, and what is in force on the links.
    Topology,
    /// Asks what time it is in the lab.
    Now,
    /// Lets lab time go on by a span, and pauses it there. The reply comes at that instant. In virtual time.
    Advance(Advance),
    /// Pauses lab time where it is. In virtual time.
    Pause,
    /// Lets lab time go on. In virtual time.
    Resume,
    /// Asks what every pipe has counted.
    Stats,
    /// Asks what speaks against the run so far, and how late packets are.
    Verdict,
    /// Asks a command, or the programs of a node, to end, and starts them again when they have.
    Restart(Restart),
    /// Stops a node: its links are cut, its programs end, and its network goes. The reply comes when that is done.
    Stop(NodeName),
    /// Starts a node that has stopped, as at the beginning of the lab. The reply comes when its setup has run and its services are ready.
    Start(NodeName),
    /// Asks which tasks of the lab's exercise are met.
    Exercise,
    /// Runs a program in a node. Its standard input, output and error come along as three file descriptors.
    Exec(Exec),
    /// Captures the packets of a link. The file that takes them comes along as a file descriptor.
    Capture(Capture),
    /// Sends a signal to the program that this connection has started.
    Signal(SignalProgram),
    /// Changes a link while it runs.
    Set(Set),
    /// Parts nodes from now on.
    Partition(Partition),
    /// Ends all partitions that clients asked for.
    Heal,
    /// Disturbs programs or nodes now.
    Fault(Fault),
    /// Opens a socket inside a node, whose descriptor comes along with the reply.
    Socket(OpenSocket),
    /// Opens the serial console of a virtual machine. The file descriptor that takes what is typed comes along with the reply.
    Console(OpenConsole),
    /// Subscribes to a topic: from now on, its events come on this connection.
    Subscribe(Subscribe),
    /// Ends a subscription of this connection.
    Unsubscribe(Unsubscribe),
    /// Stops the lab.
    Down,
}

/// Which version of the protocol a client speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// The major version.
    pub version: u32,
}

/// A step of lab time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Advance {
    /// Its length.
    pub by_ns: u64,
    /// Whether it ends at the instant at which the program of this connection has ended, if that is earlier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_exit: bool,
}

/// The command, service or node whose programs are to start again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Restart {
    /// The name of a command or service of the timeline, or of a node, whose services are meant.
    pub name: String,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeName {
    /// Its name.
    pub node: String,
}

/// A signal for a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignalProgram {
    /// The signal's number.
    pub signal: i32,
}

/// A program to run in a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exec {
    /// The node's name.
    pub node: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Added to the environment of the lab.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// Where it starts; the root folder if nothing else is said.
    #[serde(default = "root")]
    pub cwd: String,
    /// Whether standard input is a terminal that the program shall control.
    #[serde(default)]
    pub terminal: bool,
    /// The user that it runs as, by name or number; none: the node's root.
    pub user: Option<String>,
}

/// A capture of a link that lasts until the connection ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capture {
    /// The link's name.
    pub link: String,
    /// `forward` or `backward`; none: both.
    pub direction: Option<String>,
    /// `sent`, `delivered`, or a node at an end of the link; none: both ends.
    #[serde(default)]
    pub at: Option<String>,
    /// So much of each packet is wanted, from the Ethernet header on; none: all.
    pub snaplen_bytes: Option<u64>,
    /// `ethernet`, or of a radio medium `radiotap`: what is on the air, with headers of 802.11; none: `ethernet`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<String>,
}

/// A change of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Set {
    /// The link's name.
    pub link: String,
    /// `forward` or `backward`; none: both.
    pub direction: Option<String>,
    /// The name of a further pipe; none: the link's own, or all of them if it is about the state.
    pub pipe: Option<String>,
    /// Keys and values as in a lab file; `state` may also be `up` or `down`, and `down` and `up` are as on the timeline.
    pub changes: Vec<(String, String)>,
}

/// A disturbance of programs or nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// An entry of the timeline as a lab file has it, without the keys that say when: `{on: n1, clock: {step: 3 s}}`, or one of `freeze`,
    /// `limit`, `kill`, `pause`, `continue`, `signal`, `fail`, `starve`, `schedule` and `oom`.
    pub entry: String,
}

/// Nodes that are to be parted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Partition {
    /// An entry of the timeline as a lab file has it, without the keys that say when: `{partition: [[a], [b]], slow: 200 ms}`.
    pub entry: String,
}

/// The console of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenConsole {
    /// The node's name.
    pub node: String,
}

/// A socket to be opened inside a node: whatever is done with it happens in the node's network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenSocket {
    /// The node's name.
    pub node: String,
    /// The family; IPv4 if nothing is said.
    #[serde(default)]
    pub family: Family,
    /// The type.
    #[serde(rename = "type")]
    pub kind: SocketType,
    /// The number of the protocol, such as 1 for ICMP; 0: the usual one of family and type.
    #[serde(default)]
    pub protocol: i32,
    /// Its own address and port, for example `0.0.0.0:80` or `[::]:80`; none: it is not bound.
    #[schemars(with = "Option<String>")]
    pub bind: Option<SocketAddr>,
    /// The address and port that it is connected to; none: it is not.
    #[schemars(with = "Option<String>")]
    pub connect: Option<SocketAddr>,
    /// How many connections may wait until they are accepted; none: it does not listen.
    pub listen: Option<u16>,
}

/// A family of sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// IPv4.
    #[default]
    Inet,
    /// IPv6.
    Inet6,
}

/// A type of socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SocketType {
    /// A stream of bytes: TCP.
    Stream,
    /// Datagrams: UDP.
    Dgram,
    /// Messages over a connection, for protocols that have them: SCTP.
    Seqpacket,
    /// Packets of an IP protocol.
    Raw,
}

/// A topic of events that a client can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// Events in the lab: entries of the timeline, changes of links, services that start and end.
    Lab,
    /// The counters of every pipe, and of every port of a switch, at a chosen interval of lab time.
    Stats,
    /// The TCP connections of nodes, at a chosen interval of lab time.
    Tcp,
    /// Records of some packets of each pipe, at a chosen interval of lab time.
    Packets,
    /// The lines that commands and services write.
    Output,
}

impl Topic {
    /// Returns the name of the topic in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lab => "lab",
            Self::Stats => "stats",
            Self::Tcp => "tcp",
            Self::Packets => "packets",
            Self::Output => "output",
        }
    }
}

/// To which of its outputs a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A subscription; a connection has one of each topic at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subscribe {
    /// The topic of the subscription.
    pub events: Topic,
    /// The lab time between two samples, in nanoseconds. Required for `stats`, `tcp` and `packets`; other topics do not take it.
    pub every_ns: Option<u64>,
    /// The names of the commands and services whose output is wanted; null for all of them. Only for `output`.
    pub commands: Option<Vec<String>>,
    /// The names of the nodes whose connections are wanted; null for all that run programs. Only for `tcp`.
    pub nodes: Option<Vec<String>>,
    /// The output stream that is wanted; null for both. Only for `output`.
    pub stream: Option<Stream>,
    /// Whether to begin with what happened or was written before the subscription. Only for `lab` and `output`.
    #[serde(default)]
    pub from_start: bool,
}

impl Subscribe {
    /// The first key that this topic lacks or has no use for, and what is wrong with it.
    pub(crate) fn wrong_key(&self) -> Option<(&'static str, String)> {
        let topic = self.events;
        let sampled = &[Topic::Stats, Topic::Tcp, Topic::Packets][..];
        if sampled.contains(&topic) && self.every_ns.is_none() {
            return Some(("every_ns", format!("a subscription to `{}` needs the key `every_ns`", topic.name())));
        }
        let given = [
            ("every_ns", self.every_ns.is_some(), sampled),
            ("nodes", self.nodes.is_some(), &[Topic::Tcp]),
            ("commands", self.commands.is_some(), &[Topic::Output]),
            ("stream", self.stream.is_some(), &[Topic::Output]),
            ("from_start", self.from_start, &[Topic::Lab, Topic::Output]),
        ];
        let (key, ..) = given.into_iter().find(|(_, is_given, of)| *is_given && !of.contains(&topic))?;
        Some((key, format!("a subscription to `{}` takes no key `{key}`", topic.name())))
    }
}

/// The end of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unsubscribe {
    /// Which one.
    pub events: Topic,
}

fn root() -> String {
    "/".into()
}
