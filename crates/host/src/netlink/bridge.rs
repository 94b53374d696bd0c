use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    BridgePortState, BridgeStpState, InfoBridge, InfoBridgePort, InfoData, InfoKind, InfoPortData, LinkAttribute,
    LinkFlags, LinkInfo, LinkMessage,
};

use super::{Netlink, Request};
use crate::error::KernelError;

/// A bridge to be made. It has no spanning tree, and floods all groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bridge {
    /// The interface's name, at most 15 bytes.
    pub name: String,
    /// For how long it remembers an address of which it does not hear any more, in hundredths of a second.
    pub ageing: u32,
    /// How many addresses it learns at most. Kernels before Linux 6.7 know no bound.
    pub table: u32,
}

impl Netlink {
    /// Makes bridges in the socket's namespace and brings them up; their interface numbers.
    ///
    /// # Errors
    /// The kernel's first refusal; earlier ones then exist.
    pub(crate) fn create_bridges(&mut self, bridges: &[Bridge]) -> Result<Vec<u32>, KernelError> {
        let highest = self.links()?.iter().map(|link| link.index).max().unwrap_or(0);
        let indexes: Vec<u32> = (highest + 1..).take(bridges.len()).collect();
        self.transact(bridges.iter().zip(&indexes).map(|(bridge, index)| create(bridge, *index)))?;
        Ok(indexes)
    }

    /// How many ports of bridges in the socket's namespace pass frames on.
    pub(crate) fn forwarding_ports(&mut self) -> Result<usize, KernelError> {
        let mut count = 0;
        self.dump(RouteNetlinkMessage::GetLink(LinkMessage::default()), "list the ports of bridges", |entry| {
            if let RouteNetlinkMessage::NewLink(message) = entry {
                count += usize::from(is_forwarding(&message));
            }
        })?;
        Ok(count)
    }
}

fn is_forwarding(message: &LinkMessage) -> bool {
    let infos = message.attributes.iter().filter_map(|attribute| match attribute {
        LinkAttribute::LinkInfo(infos) => Some(infos),
        _ => None,
    });
    infos.flatten().any(|info| match info {
        LinkInfo::PortData(InfoPortData::BridgePort(port)) => {
            port.contains(&InfoBridgePort::State(BridgePortState::Forwarding))
        }
        _ => false,
    })
}

fn create(bridge: &Bridge, index: u32) -> Request {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message.header.flags = LinkFlags::Up;
    message.header.change_mask = LinkFlags::Up;
    message.attributes = vec![
        LinkAttribute::IfName(bridge.name.clone()),
        LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Bridge),
            LinkInfo::Data(InfoData::Bridge(vec![
                InfoBridge::StpState(BridgeStpState::Disabled),
                InfoBridge::MulticastSnooping(false),
                InfoBridge::AgeingTime(bridge.ageing),
                InfoBridge::FdbMaxLearned(bridge.table),
            ])),
        ]),
    ];
    Request {
        message: RouteNetlinkMessage::NewLink(message),
        flags: NLM_F_CREATE | NLM_F_EXCL,
        attempted: format!("create bridge {}", bridge.name),
    }
}

/// The request that makes the interface `name` a port of the bridge with this number, and brings it up.
pub(crate) fn join(name: &str, bridge: u32) -> Request {
    let mut message = LinkMessage::default();
    message.header.flags = LinkFlags::Up;
    message.header.change_mask = LinkFlags::Up;
    // With the number 0, the kernel looks for the name.
    message.attributes = vec![LinkAttribute::IfName(name.to_owned()), LinkAttribute::Controller(bridge)];
    let attempted = format!("make {name} a port of a bridge");
    Request { message: RouteNetlinkMessage::SetLink(message), flags: 0, attempted }
}
