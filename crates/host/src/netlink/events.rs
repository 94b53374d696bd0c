//! What the kernel tells of changes to interfaces, addresses, queueing disciplines, filters and chains of nftables, as they happen.
//!
//! Messages wait in the socket until they are read: of each node there is one such socket, which costs nothing as long
//! as nothing happens, and no more than its buffer whatever happens.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use netlink_packet_core::NlasIterator;
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket};

use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};

use crate::error::{Attempted, KernelError};
use crate::fds::next_packet;

/// RTMGRP_LINK, RTMGRP_TC, RTMGRP_IPV4_IFADDR and RTMGRP_IPV6_IFADDR of linux/rtnetlink.h.
const GROUPS: u32 = 0x1 | 0x8 | 0x10 | 0x100;
/// Bytes of `nlmsghdr`, `ifinfomsg`, `tcmsg` and `ifaddrmsg` of linux/netlink.h, rtnetlink.h and if_addr.h.
const HEADER: usize = 16;
const LINK: usize = 16;
const TC: usize = 20;
const ADDRESS: usize = 8;
// Attributes of the same headers.
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_STATS64: u16 = 23;
const IFLA_XDP: u16 = 43;
const IFLA_XDP_ATTACHED: u16 = 2;
const TCA_KIND: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
/// IFF_LOWER_UP of linux/if.h.
const HAS_CARRIER: u32 = 1 << 16;
/// Where the packets that could not be sent are in `rtnl_link_stats64` of linux/if_link.h: those with errors, and those that were dropped.
const UNSENT: [usize; 2] = [40, 56];

/// Bytes of `nfgenmsg` (linux/netfilter/nfnetlink.h).
const NETFILTER: usize = 4;
/// NFNLGRP_NFTABLES of the same header, as a bit.
const NFTABLES: u32 = 1 << 6;
/// NFNL_SUBSYS_NFTABLES and NFT_MSG_NEWCHAIN (linux/netfilter/nf_tables.h).
const NEW_CHAIN: u16 = 10 << 8 | 3;
// Attributes of chains and their hooks, of the same header.
const NFTA_CHAIN_HOOK: u16 = 4;
const NFTA_HOOK_DEV: u16 = 3;
const NFTA_HOOK_DEVS: u16 = 4;
const NFTA_DEVICE_NAME: u16 = 1;
const NFTA_DEVICE_PREFIX: u16 = 2;
/// TCM_IFINDEX_MAGIC_BLOCK of linux/rtnetlink.h: filters that several interfaces share.
const SHARED: u32 = u32::MAX;
/// Bytes of events that may wait, where the kernel allows it.
const BUFFER: usize = 4 << 20;

/// See the module.
#[derive(Debug)]
pub(crate) struct Events {
    route: OwnedFd,
    /// None where the kernel has no nftables.
    netfilter: Option<OwnedFd>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Seen {
    /// An interface is now like this.
    Link { index: u32, name: String, mac: Vec<u8>, mtu: u32, up: bool, xdp: bool },
    /// An interface that is up has a carrier now, or none, and has failed to send so many packets.
    Carrier { index: u32, on: bool, unsent: u64 },
    /// An interface was removed, or moved to another namespace.
    LinkGone { index: u32 },
    /// An interface was given a queueing discipline.
    Discipline { index: u32, kind: String },
    /// An interface was given a filter of this kind; none: several that share one.
    Filter { index: Option<u32>, kind: String },
    /// A chain of nftables was put in front of an interface, or behind it: of all whose names begin so, if it is a prefix.
    Chain { interface: String, is_prefix: bool },
    /// An interface was given an address, or lost one (`is_new`), beyond its own link.
    Address { index: u32, address: IpAddr, is_new: bool },
    /// More happened than could be kept.
    Lost,
}

impl Events {
    /// From now on, in the current network namespace.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn listen() -> Result<Self, KernelError> {
        let route = open(SockProtocol::NetlinkRoute, GROUPS).attempted(|| "listen to changes of the network")?;
        Ok(Self { route, netfilter: open(SockProtocol::NetlinkNetFilter, NFTABLES).ok() })
    }

    /// Readable when something has happened.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(&self.route).chain(&self.netfilter).map(OwnedFd::as_fd)
    }

    /// What has happened since it was asked last.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn take(&mut self, mut each: impl FnMut(Seen)) -> Result<(), KernelError> {
        drain(&self.route, &mut |packet| read(packet, &mut each)).and_then(|lost| {
            let netfilter = self.netfilter.as_ref();
            let more =
                netfilter.map_or(Ok(false), |socket| drain(socket, &mut |packet| read_chains(packet, &mut each)))?;
            if lost || more {
                each(Seen::Lost);
            }
            Ok(())
        })
    }
}

fn open(protocol: SockProtocol, groups: u32) -> Result<OwnedFd, Errno> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, protocol)?;
    // As far as the rights of this process go.
    let _ =
        set_socket_recv_buffer_size_force(&socket, BUFFER).or_else(|_| set_socket_recv_buffer_size(&socket, BUFFER));
    bind(socket.as_raw_fd(), &NetlinkAddr::new(0, groups))?;
    Ok(socket)
}

/// Takes all datagrams that wait; whether some were lost.
fn drain(socket: &OwnedFd, each: &mut impl FnMut(&[u8])) -> Result<bool, KernelError> {
    let mut lost = false;
    loop {
        let receive = |length| {
            let mut buffer = vec![0; length];
            let received = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
            buffer.truncate(received);
            Ok(buffer)
        };
        match next_packet(socket).and_then(receive) {
            Ok(packet) => each(&packet),
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => return Ok(lost),
            Err(Errno::ENOBUFS) => lost = true,
            Err(error) => return Err(error).attempted(|| "read changes of the network"),
        }
    }
}

/// Calls `each` with kind and body of every message of a datagram.
fn messages(mut rest: &[u8], each: &mut impl FnMut(u16, &[u8])) {
    while rest.len() >= HEADER {
        let length = (number(rest, 0) as usize).clamp(HEADER, rest.len());
        let message = &rest[..length];
        each(u16::from_ne_bytes([message[4], message[5]]), &message[HEADER..]);
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
    }
}

/// Reads a datagram about interfaces and what belongs to them.
pub(super) fn read(datagram: &[u8], each: &mut impl FnMut(Seen)) {
    messages(datagram, &mut |kind, body| {
        message_of(kind, body).into_iter().for_each(&mut *each);
        if kind == libc::RTM_NEWLINK {
            carrier(body).into_iter().for_each(&mut *each);
        }
    });
}

/// Reads a datagram about nftables. Chains of other families than `netdev`, and of `inet` for all hooks but ingress, name no interface.
pub(super) fn read_chains(datagram: &[u8], each: &mut impl FnMut(Seen)) {
    messages(datagram, &mut |kind, body| {
        if kind == NEW_CHAIN {
            interfaces_of_chain(body.get(NETFILTER..).unwrap_or_default()).into_iter().for_each(&mut *each);
        }
    });
}

/// A chain of one interface names it twice.
fn interfaces_of_chain(body: &[u8]) -> BTreeSet<Seen> {
    let mut found = BTreeSet::new();
    let hooks = attributes(body).filter(|(kind, _)| *kind == NFTA_CHAIN_HOOK);
    for (kind, value) in hooks.flat_map(|(_, hook)| attributes(&hook).collect::<Vec<_>>()) {
        match kind {
            NFTA_HOOK_DEV => _ = found.insert(Seen::Chain { interface: text(&value), is_prefix: false }),
            NFTA_HOOK_DEVS => found.extend(attributes(&value).filter_map(|(how, name)| {
                let is_prefix = how == NFTA_DEVICE_PREFIX;
                (is_prefix || how == NFTA_DEVICE_NAME).then(|| Seen::Chain { interface: text(&name), is_prefix })
            })),
            _ => {}
        }
    }
    found
}

fn message_of(kind: u16, body: &[u8]) -> Option<Seen> {
    match kind {
        libc::RTM_NEWLINK | libc::RTM_DELLINK => link(kind == libc::RTM_NEWLINK, body),
        // What is removed is the default, or was reported when it came.
        libc::RTM_NEWQDISC => Some(Seen::Discipline { index: number(body, 4), kind: kind_of(body)? }),
        libc::RTM_NEWTFILTER => {
            let index = Some(number(body, 4)).filter(|index| *index != SHARED);
            Some(Seen::Filter { index, kind: kind_of(body)? })
        }
        libc::RTM_NEWADDR | libc::RTM_DELADDR => address(kind == libc::RTM_NEWADDR, body),
        _ => None,
    }
}

/// The kind of a queueing discipline or filter.
fn kind_of(body: &[u8]) -> Option<String> {
    attributes(body.get(TC..)?).find(|(attribute, _)| *attribute == TCA_KIND).map(|(_, name)| text(&name))
}

/// Bridges tell of their ports in messages of the same kind.
fn link(is_there: bool, body: &[u8]) -> Option<Seen> {
    let (header, index) = (body.get(..LINK)?, number(body, 4));
    if i32::from(header[0]) != libc::AF_UNSPEC {
        return None;
    }
    if !is_there {
        return Some(Seen::LinkGone { index });
    }
    let up = number(body, 8) & libc::IFF_UP.cast_unsigned() != 0;
    let (mut name, mut mac, mut mtu, mut xdp) = (String::new(), Vec::new(), 0, false);
    for (kind, value) in attributes(&body[LINK..]) {
        match kind {
            IFLA_IFNAME => name = text(&value),
            IFLA_ADDRESS => mac = value,
            IFLA_MTU if value.len() == 4 => mtu = number(&value, 0),
            IFLA_XDP => xdp = attributes(&value).any(|(what, how)| what == IFLA_XDP_ATTACHED && how.first() > Some(&0)),
            _ => {}
        }
    }
    Some(Seen::Link { index, name, mac, mtu, up, xdp })
}

fn carrier(body: &[u8]) -> Option<Seen> {
    let (header, index, flags) = (body.get(..LINK)?, number(body, 4), number(body, 8));
    if i32::from(header[0]) != libc::AF_UNSPEC || flags & libc::IFF_UP.cast_unsigned() == 0 {
        return None;
    }
    let (_, counted) = attributes(&body[LINK..]).find(|(kind, _)| *kind == IFLA_STATS64)?;
    let long = |at: usize| counted.get(at..at + 8).and_then(|eight| eight.try_into().ok()).map(u64::from_ne_bytes);
    let unsent = UNSENT.iter().map(|at| long(*at)).sum::<Option<u64>>()?;
    Some(Seen::Carrier { index, on: flags & HAS_CARRIER != 0, unsent })
}

fn address(is_new: bool, body: &[u8]) -> Option<Seen> {
    let (header, index) = (body.get(..ADDRESS)?, number(body, 4));
    if header[3] >= libc::RT_SCOPE_LINK {
        return None;
    }
    // Of an interface to a single peer, the first is the peer's.
    let found = |wanted| attributes(&body[ADDRESS..]).find(|(kind, _)| *kind == wanted).map(|(_, value)| value);
    let bytes = found(IFA_LOCAL).or_else(|| found(IFA_ADDRESS))?;
    let v4 = <[u8; 4]>::try_from(&bytes[..]).map(IpAddr::from);
    let address = v4.or_else(|_| <[u8; 16]>::try_from(&bytes[..]).map(IpAddr::from)).ok()?;
    Some(Seen::Address { index, address, is_new })
}

fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, Vec<u8>)> {
    NlasIterator::new(bytes).map_while(Result::ok).map(|attribute| (attribute.kind(), attribute.value().to_vec()))
}

/// The 32 bits at `place`, which is within `bytes` or counts as zero.
fn number(bytes: &[u8], place: usize) -> u32 {
    bytes.get(place..place + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()
}

#[cfg(test)]
mod tests;
