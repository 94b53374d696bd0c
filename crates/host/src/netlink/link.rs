use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage, LinkXdp, Stats64, XdpAttached};
use serde::{Deserialize, Serialize};

use super::{Netlink, Request};
use crate::error::KernelError;

/// A network interface as the kernel lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The kernel's number of the interface within its network namespace.
    pub index: u32,
    /// Its name, such as `eth0`.
    pub name: String,
    /// Whether a program of XDP is attached to it.
    pub xdp: bool,
    /// Whether it can send: it is up, so is what it is joined to, and the kernel has noticed both.
    pub running: bool,
    /// Whether what it is joined to is up, be it that the kernel has not noticed yet.
    pub has_carrier: bool,
    /// Its counters since it was made.
    pub counters: InterfaceCounters,
}

/// The counters of an interface since it was made. A packet is what the kernel handles as one: a train counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceCounters {
    /// Packets received.
    pub rx_packets: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Packets received and dropped, among them those of protocols that no program here uses.
    pub rx_dropped: u64,
    /// Packets received with errors.
    pub rx_errors: u64,
    /// Packets that came and were lost for another reason than that no protocol wants them: with errors, for want of room, or because
    /// a program of XDP redirected them to where they could not go. The last of these is known where a node is asked.
    #[serde(default)]
    pub rx_lost: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets dropped instead of being sent.
    pub tx_dropped: u64,
    /// Packets that could not be sent because of errors.
    pub tx_errors: u64,
    /// Packets, of these two, that could not be sent while the interface had no carrier. Known where a node is asked.
    #[serde(default)]
    pub tx_without_carrier: u64,
}

impl From<&Stats64> for InterfaceCounters {
    fn from(stats: &Stats64) -> Self {
        Self {
            rx_packets: stats.rx_packets,
            rx_bytes: stats.rx_bytes,
            rx_dropped: stats.rx_dropped,
            rx_errors: stats.rx_errors,
            rx_lost: stats.rx_errors + stats.rx_missed_errors,
            tx_packets: stats.tx_packets,
            tx_bytes: stats.tx_bytes,
            tx_dropped: stats.tx_dropped,
            tx_errors: stats.tx_errors,
            tx_without_carrier: 0,
        }
    }
}

impl Netlink {
    /// All interfaces of the namespace, in the kernel's order.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn links(&mut self) -> Result<Vec<Link>, KernelError> {
        let mut links = Vec::new();
        self.dump(RouteNetlinkMessage::GetLink(LinkMessage::default()), "list the interfaces", |entry| {
            if let RouteNetlinkMessage::NewLink(message) = entry {
                links.push(link(&message));
            }
        })?;
        Ok(links)
    }

    /// The number of the interface `name`.
    ///
    /// # Errors
    /// The kernel's refusal; `ENODEV` when there is no such interface.
    pub fn index_of(&mut self, name: &str) -> Result<u32, KernelError> {
        let links = self.links()?;
        let found = links.iter().find(|link| link.name == name);
        found.map(|link| link.index).ok_or_else(|| KernelError::new(format!("find interface {name}"), libc::ENODEV))
    }

    /// Brings the interface `index` up.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn set_up(&mut self, index: u32) -> Result<(), KernelError> {
        self.transact(vec![set_up(index, &format!("interface {index}"))])
    }

    /// Brings the interface `name` up or down. If it is the end of a veth pair, the other end gets its carrier with it, or
    /// loses it.
    ///
    /// # Errors
    /// The kernel's refusal; `ENODEV` when there is no such interface.
    pub fn switch(&mut self, name: &str, up: bool) -> Result<(), KernelError> {
        let mut message = LinkMessage::default();
        if up {
            message.header.flags = LinkFlags::Up;
        }
        message.header.change_mask = LinkFlags::Up;
        // With the number 0, the kernel looks for the name.
        message.attributes = vec![LinkAttribute::IfName(name.to_owned())];
        let attempted = format!("bring {} {name}", if up { "up" } else { "down" });
        self.transact(vec![Request { message: RouteNetlinkMessage::SetLink(message), flags: 0, attempted }])
    }
}

fn link(message: &LinkMessage) -> Link {
    let mut link = Link {
        index: message.header.index,
        name: String::new(),
        xdp: false,
        running: message.header.flags.contains(LinkFlags::Running),
        has_carrier: message.header.flags.contains(LinkFlags::LowerUp),
        counters: InterfaceCounters::default(),
    };
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => link.name.clone_from(name),
            LinkAttribute::Stats64(stats) => link.counters = stats.into(),
            LinkAttribute::Xdp(told) => link.xdp = told.iter().any(is_attached),
            _ => (),
        }
    }
    link
}

fn is_attached(told: &LinkXdp) -> bool {
    matches!(told, LinkXdp::Attached(how) if *how != XdpAttached::None)
}

/// The request that brings an interface up; `name` is for its error.
pub(crate) fn set_up(index: u32, name: &str) -> Request {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message.header.flags = LinkFlags::Up;
    message.header.change_mask = LinkFlags::Up;
    Request { message: RouteNetlinkMessage::SetLink(message), flags: 0, attempted: format!("bring up {name}") }
}
