use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::clock::ClockOrder;
use crate::files::FilesConfig;
use crate::measure::MeasureConfig;

/// The configuration of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeConfig {
    /// The lab's name; the node's programs see it as `NETLOOM_LAB`.
    pub lab: String,
    /// The node's name: its host name, and `NETLOOM_NODE` of its programs.
    pub name: String,
    /// Whether it forwards packets, IPv4 and IPv6.
    pub forwarding: bool,
    /// Kernel parameters beyond the usual ones, in order. Those of an interface are set when it is there, all others
    /// before.
    pub sysctls: Vec<(String, String)>,
    /// Its interfaces, which [`Netlink::create_veths`](crate::netlink::Netlink::create_veths) makes.
    pub interfaces: Vec<InterfaceConfig>,
    /// Its routes beyond the directly connected networks. Those with the same destination that follow one another are one route with
    /// several next hops.
    pub routes: Vec<RouteConfig>,
    /// Policy routes, in order: they come before [`NodeConfig::routes`].
    pub rules: Vec<RuleConfig>,
    /// The routes of the tables that these lead to.
    pub tables: Vec<TableRouteConfig>,
    /// Groups of multicast, each with the interface, as an index of [`NodeConfig::interfaces`], by which its programs send to it and
    /// receive from it.
    pub groups: Vec<(IpAddr, usize)>,
    /// If flows are spread among next hops by addresses, protocol and ports: the seed of that, where the kernel takes one.
    pub multipath: Option<NonZeroU32>,
    /// The cgroup that its processes belong to; the one of the lab process when there is none.
    pub cgroup: Option<PathBuf>,
    /// The capabilities by which the node's root may act on the whole machine, beside what it does in its namespaces: names of
    /// [`withheld`](crate::capabilities::withheld) capabilities.
    pub capabilities: Vec<String>,
    /// The processors that its processes run on; those of the lab process when there are none.
    pub processors: Vec<usize>,
    /// The node's `/etc/hosts`; the one that the lab sees when there is none.
    pub hosts: Option<Hosts>,
    /// The contents that the node's file system has of its own.
    pub files: FilesConfig,
    /// The disk of a node with a kernel of its own; none if it has none.
    pub disk: Option<DiskConfig>,
    /// The room for core dumps of the programs of a node with a kernel of its own, in bytes; none: there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u64>,
    /// The measurements that a node with a kernel of its own makes from its configuration on; other nodes are asked for them.
    pub measure: Option<MeasureConfig>,
    /// The order that sets the clock of the node's own kernel before any program starts; none: the clock is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockOrder>,
    /// Whether the memory and the processes of its programs are limited while they run, in a kernel of the node's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits: bool,
}

/// The disk of a node with a kernel of its own, which is there and formatted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskConfig {
    /// The folder at which its file system is mounted: an absolute path.
    pub at: PathBuf,
    /// The kind of its file system, as mount(8) calls it.
    pub filesystem: String,
    /// Whether what is on it is kept, so that all is to be written to it in the end.
    pub keep: bool,
}

/// The `/etc/hosts` of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hosts {
    /// This file, whatever is in it when it is read; for a node on this machine's kernel.
    File(PathBuf),
    /// This text; for a node with a kernel, and with it a file system, of its own.
    Text(String),
}

/// An interface of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceConfig {
    /// Its name, at most 15 bytes.
    pub name: String,
    /// Its hardware address.
    pub mac: [u8; 6],
    /// Largest packet, in bytes, without the Ethernet header.
    pub mtu: u32,
    /// Its addresses with the lengths of their prefixes.
    pub addresses: Vec<IpNet>,
    /// Subnets of which its programs may give it addresses, as a DHCP client does.
    pub leased: Vec<IpNet>,
    /// Neighbors known for good.
    pub neighbors: Vec<(IpAddr, [u8; 6])>,
    /// Whether a packet engine takes what it sends from a packet socket, which does not say which of its super-packets are in tunnels.
    pub engine: bool,
    /// The speed that it reports if it is that of a kernel of the node's own, in Mbit/s; none: that of a veth pair.
    pub speed_mbit: Option<u32>,
}

/// Which packets look into which table of routes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleConfig {
    /// Whether it is of IPv6.
    pub is_v6: bool,
    /// Their source.
    pub from: Option<IpNet>,
    /// Their destination.
    pub to: Option<IpNet>,
    /// The interface by which they come, as an index of [`NodeConfig::interfaces`].
    pub iif: Option<usize>,
    /// Their mark.
    pub mark: Option<u32>,
    /// The table's number.
    pub table: u32,
}

/// A route of another table than the main one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRouteConfig {
    /// The table's number.
    pub table: u32,
    /// Where to.
    pub destination: IpNet,
    /// The next router; none: it is a subnet of the interface.
    pub via: Option<IpAddr>,
    /// The interface, as an index of [`NodeConfig::interfaces`].
    pub interface: usize,
}

/// A route of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteConfig {
    /// Where to; `0.0.0.0/0` and `::/0` are the default routes.
    pub destination: IpNet,
    /// The next router.
    pub via: IpAddr,
    /// The interface towards it, as an index of [`NodeConfig::interfaces`].
    pub interface: usize,
}
