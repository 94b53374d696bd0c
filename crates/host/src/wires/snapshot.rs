//! All of an interface that the kernel forgets when it moves to another network namespace, so that it can be as it was.

mod written;

use std::fs;
use std::io;
use std::path::PathBuf;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::neighbour::{NeighbourMessage, NeighbourState};
use netlink_packet_route::route::{RouteAttribute, RouteFlags, RouteMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use serde::{Deserialize, Serialize};

use crate::error::KernelError;
use crate::netlink::{Netlink, Request, set_up};

/// Queues that the kernel gives an interface by itself.
const USUAL_QUEUES: [&str; 6] = ["noqueue", "mq", "pfifo_fast", "fq_codel", "fq", "noop"];

/// An interface as it was in its own network namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Snapshot {
    pub(super) name: String,
    is_up: bool,
    /// Whether there was somebody at the other end of the wire.
    pub(super) is_running: bool,
    #[serde(with = "written")]
    addresses: Vec<AddressMessage>,
    #[serde(with = "written")]
    routes: Vec<RouteMessage>,
    #[serde(with = "written")]
    neighbors: Vec<NeighbourMessage>,
    /// The interface's own files below `/proc/sys/net`, and what is in them.
    settings: Vec<(PathBuf, String)>,
}

impl Snapshot {
    /// The interface of this name in the current network namespace.
    ///
    /// # Errors
    /// What the kernel refused; or that the interface has what could not be given back.
    pub(super) fn take(name: &str) -> Result<Self, KernelError> {
        let mut netlink = Netlink::open()?;
        let link = link(&mut netlink, name)?.ok_or_else(|| KernelError::new(find(name), libc::ENODEV))?;
        let queue = link.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::Qdisc(kind) => Some(kind.as_str()),
            _ => None,
        });
        if let Some(own) = queue.filter(|kind| !USUAL_QUEUES.contains(kind)) {
            let error = KernelError::new(format!("move {name} to another network namespace"), libc::EBUSY);
            return Err(error.with_detail(format!(
                "it has a queue of its own, `{own}`, which would not come back: take it off (tc qdisc del dev {name} root), or \
                 share the interface"
            )));
        }
        let index = link.header.index;
        Ok(Self {
            name: name.to_owned(),
            is_up: link.header.flags.contains(LinkFlags::Up),
            is_running: link.header.flags.contains(LinkFlags::Running),
            addresses: addresses(&mut netlink, index)?,
            routes: routes(&mut netlink, index)?,
            neighbors: neighbors(&mut netlink, index)?,
            settings: settings(name),
        })
    }

    /// Makes the interface of this name in the current network namespace what it was. What is as it was already stays so.
    ///
    /// # Errors
    /// What the kernel refused first. All else is as it was.
    pub(super) fn give_back(&self) -> Result<(), KernelError> {
        let mut netlink = Netlink::open()?;
        let link = link(&mut netlink, &self.name)?.ok_or_else(|| KernelError::new(find(&self.name), libc::ENODEV))?;
        let index = link.header.index;
        self.write_settings();
        let mut outcome = Ok(());
        if self.is_up {
            outcome = netlink.transact(vec![set_up(index, &self.name)]);
        }
        // Those that an interface has as soon as it is up are not set a second time.
        let requests = self.addresses(index).chain(self.routes(index)).chain(self.neighbors(index));
        for request in requests {
            let done = match netlink.transact(vec![request]) {
                Err(error) if error.errno() == libc::EEXIST => Ok(()),
                other => other,
            };
            outcome = outcome.and(done);
        }
        // Some of them follow from addresses.
        self.write_settings();
        outcome
    }

    fn addresses(&self, index: u32) -> impl Iterator<Item = Request> {
        self.addresses.iter().cloned().map(move |mut message| {
            message.header.index = index;
            self.request(RouteNetlinkMessage::NewAddress(message), "an address")
        })
    }

    /// Those to neighbours come before those over them.
    fn routes(&self, index: u32) -> impl Iterator<Item = Request> {
        let leads_on = |route: &&RouteMessage| {
            let over = |one: &RouteAttribute| matches!(one, RouteAttribute::Gateway(_) | RouteAttribute::Via(_));
            route.attributes.iter().any(over)
        };
        let near = self.routes.iter().filter(move |route| !leads_on(route));
        near.chain(self.routes.iter().filter(leads_on)).cloned().map(move |mut message| {
            for attribute in &mut message.attributes {
                if let RouteAttribute::Oif(own) = attribute {
                    *own = index;
                }
            }
            self.request(RouteNetlinkMessage::NewRoute(message), "a route")
        })
    }

    fn neighbors(&self, index: u32) -> impl Iterator<Item = Request> {
        self.neighbors.iter().cloned().map(move |mut message| {
            message.header.ifindex = index;
            self.request(RouteNetlinkMessage::NewNeighbour(message), "a neighbour")
        })
    }

    fn request(&self, message: RouteNetlinkMessage, what: &str) -> Request {
        Request { message, flags: NLM_F_CREATE | NLM_F_EXCL, attempted: format!("give {} {what} back", self.name) }
    }

    /// Those that differ. Some can be read and not written.
    fn write_settings(&self) {
        for (path, value) in &self.settings {
            if fs::read_to_string(path).is_ok_and(|now| now != *value) {
                let _ = fs::write(path, value);
            }
        }
    }
}

fn find(name: &str) -> String {
    format!("find interface {name}")
}

/// The interface of this name, if it is in the current network namespace.
pub(super) fn link(netlink: &mut Netlink, name: &str) -> Result<Option<LinkMessage>, KernelError> {
    let mut found = None;
    netlink.dump(RouteNetlinkMessage::GetLink(LinkMessage::default()), "list the interfaces", |entry| {
        let RouteNetlinkMessage::NewLink(message) = entry else { return };
        let is_it = |attribute: &LinkAttribute| matches!(attribute, LinkAttribute::IfName(own) if own == name);
        if message.attributes.iter().any(is_it) {
            found = Some(message);
        }
    })?;
    Ok(found)
}

/// Its addresses, but those that its kernel makes for a while by itself.
fn addresses(netlink: &mut Netlink, index: u32) -> Result<Vec<AddressMessage>, KernelError> {
    let mut found = Vec::new();
    netlink.dump(RouteNetlinkMessage::GetAddress(AddressMessage::default()), "list the addresses", |entry| {
        let RouteNetlinkMessage::NewAddress(message) = entry else { return };
        let is_temporary = |attribute: &AddressAttribute| {
            // The same bit means a second address in IPv4.
            matches!(attribute, AddressAttribute::Flags(flags) if flags.contains(AddressFlags::Secondary))
        };
        let is_v6 = message.header.family == AddressFamily::Inet6;
        if message.header.index == index && !(is_v6 && message.attributes.iter().any(is_temporary)) {
            found.push(message);
        }
    })?;
    // Of several addresses of IPv6 the kernel lists the latest first, and prefers it.
    let (mut v6, mut found): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|message| message.header.family == AddressFamily::Inet6);
    v6.reverse();
    found.append(&mut v6);
    Ok(found)
}

/// Its routes in all tables but that of the machine's own addresses, which follows from these.
fn routes(netlink: &mut Netlink, index: u32) -> Result<Vec<RouteMessage>, KernelError> {
    let mut found = Vec::new();
    netlink.dump(RouteNetlinkMessage::GetRoute(RouteMessage::default()), "list the routes", |entry| {
        let RouteNetlinkMessage::NewRoute(mut message) = entry else { return };
        let is_its = |attribute: &RouteAttribute| matches!(attribute, RouteAttribute::Oif(own) if *own == index);
        if message.header.table == libc::RT_TABLE_LOCAL || !message.attributes.iter().any(is_its) {
            return;
        }
        // The others tell how it is, and are refused when it is made.
        message.header.flags &= RouteFlags::Onlink;
        message.attributes.retain(|attribute| !matches!(attribute, RouteAttribute::CacheInfo(_)));
        found.push(message);
    })?;
    Ok(found)
}

/// Its neighbours that were set for good.
fn neighbors(netlink: &mut Netlink, index: u32) -> Result<Vec<NeighbourMessage>, KernelError> {
    let mut found = Vec::new();
    netlink.dump(RouteNetlinkMessage::GetNeighbour(NeighbourMessage::default()), "list the neighbours", |entry| {
        let RouteNetlinkMessage::NewNeighbour(mut message) = entry else { return };
        if message.header.ifindex == index && message.header.state == NeighbourState::Permanent {
            use netlink_packet_route::neighbour::NeighbourAttribute::{Destination, LinkLayerAddress};
            message.attributes.retain(|attribute| matches!(attribute, Destination(_) | LinkLayerAddress(_)));
            found.push(message);
        }
    })?;
    Ok(found)
}

/// What its files below `/proc/sys/net` say. A kernel without a protocol has none of it.
fn settings(name: &str) -> Vec<(PathBuf, String)> {
    let folders = ["ipv4/conf", "ipv4/neigh", "ipv6/conf", "ipv6/neigh"];
    let files = folders.into_iter().flat_map(|folder| {
        fs::read_dir(PathBuf::from("/proc/sys/net").join(folder).join(name)).into_iter().flatten().flatten()
    });
    let read = |path: PathBuf| -> io::Result<(PathBuf, String)> { fs::read_to_string(&path).map(|text| (path, text)) };
    files.filter_map(|entry| read(entry.path()).ok()).collect()
}
