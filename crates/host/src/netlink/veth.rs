use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage};
use nix::unistd::Pid;
use std::os::fd::RawFd;

use super::{Netlink, Request};
use crate::error::KernelError;

/// The lowest number given to an interface in the lab's own namespace.
///
/// A kernel compares the numbers of both ends of a veth pair, although they belong to different namespaces, and when
/// they are equal it announces the carrier up to a second late, which delays IPv6 (`linkwatch_urgent_event`). Nodes
/// number their interfaces from 1, so the lab starts far above. The same holds for a pair between two nodes, of which
/// the first end gets a number from here.
const FIRST_INDEX: u32 = 1 << 16;

/// A network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// That of a process.
    Process(Pid),
    /// The one that is open as this descriptor of the caller's.
    Descriptor(RawFd),
}

impl From<Pid> for Home {
    fn from(process: Pid) -> Self {
        Self::Process(process)
    }
}

/// One end of a veth pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VethEnd {
    /// The interface's name, at most 15 bytes.
    pub name: String,
    /// Its hardware address; the kernel draws one when there is none.
    pub mac: Option<[u8; 6]>,
    /// The network namespace where it belongs; the caller's own when there is none.
    pub namespace: Option<Home>,
    /// Whether it is brought up at once.
    pub up: bool,
}

/// A veth pair to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Veth {
    /// Both ends; the index of the first is what [`Netlink::create_veths`] returns.
    pub ends: [VethEnd; 2],
    /// Largest packet, in bytes, without the Ethernet header.
    pub mtu: u32,
}

impl Netlink {
    /// Makes all pairs, each interface right in its own namespace, and returns the interface number of the first end
    /// of each (in the namespace where that end is).
    ///
    /// # Errors
    /// The kernel's first refusal; earlier pairs then exist.
    pub fn create_veths(&mut self, pairs: &[Veth]) -> Result<Vec<u32>, KernelError> {
        let highest = self.links()?.iter().map(|link| link.index).max().unwrap_or(0);
        let indexes: Vec<u32> = (highest.max(FIRST_INDEX) + 1..).take(pairs.len()).collect();
        self.transact(pairs.iter().zip(&indexes).map(|(pair, index)| create(pair, *index)))?;
        Ok(indexes)
    }
}

fn create(pair: &Veth, index: u32) -> Request {
    let [first, second] = &pair.ends;
    let mut message = end(first, pair.mtu);
    message.header.index = index;
    message.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Veth),
        LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(end(second, pair.mtu)))),
    ]));
    Request {
        message: RouteNetlinkMessage::NewLink(message),
        flags: NLM_F_CREATE | NLM_F_EXCL,
        attempted: format!("create interfaces {} and {}", first.name, second.name),
    }
}

fn end(end: &VethEnd, mtu: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    if end.up {
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
    }
    // One queue each way: several would let packets of one flow pass each other on their way to the fabric.
    message.attributes = vec![
        LinkAttribute::IfName(end.name.clone()),
        LinkAttribute::Mtu(mtu),
        LinkAttribute::NumTxQueues(1),
        LinkAttribute::NumRxQueues(1),
    ];
    message.attributes.extend(end.mac.map(|mac| LinkAttribute::Address(mac.to_vec())));
    message.attributes.extend(end.namespace.map(|home| match home {
        Home::Process(pid) => LinkAttribute::NetNsPid(pid.as_raw().unsigned_abs()),
        Home::Descriptor(fd) => LinkAttribute::NetNsFd(fd),
    }));
    message
}
