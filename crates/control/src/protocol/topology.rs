//! The network of a lab that is up, as it is now.

use super::node_state::NodeState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Everything that is connected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// The nodes, in the order of the lab file.
    pub nodes: Vec<Node>,
    /// The links, in the order of the lab file.
    pub links: Vec<Link>,
    /// The ports of this machine's loopback that lead into nodes.
    pub exposed: Vec<ExposedPort>,
    /// The services, in the order of the lab file.
    pub services: Vec<ServiceInfo>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// `host`, `router`, `transit`, `switch` or `hub`.
    pub kind: String,
    /// Whose network stack it has.
    pub stack: String,
    /// Whether it runs.
    #[serde(default)]
    pub state: NodeState,
    /// The kinds of faults that nodes have, as entries of the timeline, each with the reason why this node cannot have it; null: it can.
    #[serde(default)]
    pub faults: BTreeMap<String, Option<String>>,
    /// Its interfaces, in the order of the links.
    pub interfaces: Vec<Interface>,
}

/// An interface of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    /// Its name inside the node.
    pub name: String,
    /// The link that it is an end of.
    pub link: String,
    /// Its hardware address.
    pub mac: String,
    /// The largest IP packet that it sends.
    pub mtu_bytes: u32,
    /// The addresses that the lab gave it, each with the length of its subnet's prefix.
    pub addresses: Vec<String>,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// Its ends; forward is from the first to the second.
    pub ends: Vec<End>,
    /// The largest IP packet on it.
    pub mtu_bytes: u32,
    /// Whether it is joined in the kernel (`bypass`), past the engine.
    pub joined_in_kernel: bool,
    /// Its pipes: forward, backward, then the further ones.
    pub pipes: Vec<Pipe>,
}

/// An end of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// The node.
    pub node: String,
    /// Its interface.
    pub interface: String,
}

/// A direction of a link, or a further pipe of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pipe {
    /// The direction of the pipe: `forward` or `backward`; `shared` for a shared medium.
    pub direction: String,
    /// The name of a further pipe; null for the direction's own.
    pub pipe: Option<String>,
    /// Whether nobody has cut the pipe.
    pub up: bool,
    /// The settings in force, with the keys and values of a lab file.
    pub settings: Map<String, Value>,
}

/// A port of this machine that leads into a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExposedPort {
    /// The port on this machine's loopback.
    pub port: u16,
    /// Whether it is one of UDP.
    #[serde(default)]
    pub udp: bool,
    /// The node.
    pub node: String,
    /// The port in the node.
    pub to: u16,
}

/// A service of a running lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceInfo {
    /// Its name.
    pub name: String,
    /// The node it runs on.
    pub node: String,
    /// How it is.
    pub state: ServiceState,
    /// Its exit code, if it has ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that has ended it.
    pub signal: Option<i32>,
    /// How long ago it ended, in lab time.
    pub ended_since_ns: Option<u64>,
}

/// How a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServiceState {
    /// It has not been started.
    Waiting,
    /// It runs, and is not ready for others.
    Starting,
    /// It runs, and others can use it.
    Ready,
    /// It has ended with 0, as it may.
    Done,
    /// It was stopped, as is due.
    Stopped,
    /// It has ended before it should.
    Dead,
}
