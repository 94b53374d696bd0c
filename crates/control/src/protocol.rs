//! What is said over a lab's control socket: one JSON object per line, in both directions. A client sends requests, the lab
//! answers each with a reply, in their order. `docs/protocol.md` is the page for those who write clients.
//!
//! The socket lies in the lab's runtime folder, which only its user may enter.
//!
//! Each message has a type. The JSON schema is generated from these types with the attributes that serde reads, so it
//! cannot differ from the program. The schema of lab files comes from another table, which knows units and models. A
//! new request is a variant of `Request`, its type, a line in `read::decode`, an answer in the session of the crate
//! `run`, and a row on the page.

mod connections;
mod event;
mod node_state;
mod packets;
mod read;
mod reply;
mod request;
mod schema;
mod so_far;
mod topology;

pub use connections::{NodeConnections, TcpConnection, TcpSample};
pub(crate) use event::Notice;
pub use event::{Event, Happened, Output, Sample};
pub use node_state::NodeState;
pub use packets::{PacketDrop, PacketFlow, PacketRecord, PacketSample};
pub(crate) use read::read;
pub(crate) use reply::Answer;
pub use reply::{Greeting, LabInfo, LabStats, NodeInfo, Now, PipeStats, Refused, Reply};
pub use request::{
    Advance, Capture, Exec, Family, Fault, Hello, Id, Message, NodeName, OpenConsole, OpenSocket, Partition, Request,
    Restart, Set, SignalProgram, SocketType, Stream, Subscribe, Topic, Unsubscribe,
};
pub use schema::schema;
pub use so_far::{PipeLateness, SoFar};
pub use topology::{End, ExposedPort, Interface, Link, Node, Pipe, ServiceInfo, ServiceState, Topology};

/// The version of the protocol that this program speaks. The major number grows when clients have to change; it is what
/// [`Hello`] names.
pub(crate) const MAJOR: u32 = 1;
/// Grows with everything that is added: keys of replies, requests, events. A client ignores what it does not know.
pub(crate) const MINOR: u32 = 13;
/// The version, its major number first.
pub const VERSION: (u32, u32) = (MAJOR, MINOR);

/// The answer to a client that says which version it speaks: who the lab is, or that the two do not understand each other.
pub fn greet(hello: &Hello, lab: &str, capabilities: &[&str]) -> Result<Greeting, Refused> {
    if hello.version != MAJOR {
        let message = format!(
            "this lab speaks version {MAJOR} of the control protocol ({MAJOR}.{MINOR}, netloom {PROGRAM}), and the client \
             version {}: use a client and a netloom of the same major version",
            hello.version
        );
        return Err(Refused { key: Some("version".into()), ..Refused::usage(message) });
    }
    Ok(Greeting {
        version: MAJOR,
        minor: MINOR,
        program: PROGRAM.into(),
        lab: lab.into(),
        capabilities: capabilities.iter().map(|name| (*name).to_owned()).collect(),
    })
}

/// The version of the program.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

#[cfg(test)]
mod tests;
