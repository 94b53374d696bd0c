//! Sends packets that this machine made once more, through raw sockets (raw(7)).

use crate::sys::{check, set_option};
use netloom_packet::{MAX_HEAD, Packet};
use rustix::net::sockopt::{set_socket_send_buffer_size, set_socket_send_buffer_size_force};
use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType, socket_with};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Packets that are sent at once at most.
const BATCH: usize = super::BATCH;
/// What stands before a packet here.
const ETHERNET: usize = super::ETHERNET;
/// New headers, and what is left of the frame.
const PARTS: usize = 2;
const SEND_BUFFER: usize = 64 << 20;
/// `IPPROTO_RAW`: what is sent begins with its IP header.
const RAW: u8 = 255;
/// The longest address: that of IPv6.
const ADDRESS: usize = size_of::<libc::sockaddr_in6>();

/// Sockets for packets of both families, in the network namespace in which they were opened. Child processes inherit them.
#[derive(Debug)]
pub struct RawSockets {
    /// IPv4 and IPv6; a kernel may be without the latter.
    sockets: [Option<OwnedFd>; 2],
}

impl RawSockets {
    /// Opens them. What is sent by them bears `mark`, by which rules tell that it was diverted before.
    ///
    /// # Errors
    /// `EPERM`: no right to the network namespace.
    pub fn open(mark: u32) -> io::Result<Self> {
        let open = |family| {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let protocol = Protocol::from_raw(rustix::net::RawProtocol::new(u32::from(RAW)).expect("not zero"));
            let socket = socket_with(family, SocketType::RAW, flags, Some(protocol))?;
            set_option(&socket, libc::SOL_SOCKET, libc::SO_MARK, &mark)?;
            set_socket_send_buffer_size_force(&socket, SEND_BUFFER)
                .or_else(|_| set_socket_send_buffer_size(&socket, SEND_BUFFER))?;
            Ok::<_, io::Error>(socket)
        };
        let v6 = match open(AddressFamily::INET6) {
            Ok(socket) => Some(socket),
            Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) => None,
            Err(error) => return Err(error),
        };
        Ok(Self { sockets: [Some(open(AddressFamily::INET)?), v6] })
    }

    /// The longest packet that the interface with this index takes; none if it is not known.
    fn mtu(&self, interface: u32) -> Option<usize> {
        let socket = self.sockets[0].as_ref()?;
        // SAFETY: all-zero bytes are a valid `ifreq`: integers and an empty name.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        request.ifr_ifru.ifru_ifindex = i32::try_from(interface).ok()?;
        // SAFETY: both requests read and write the `ifreq`, which lives through the calls; the second reads the name that the
        // first wrote, and writes an integer.
        let mtu = unsafe {
            check(libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFNAME, &raw mut request)).ok()?;
            check(libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU, &raw mut request)).ok()?;
            request.ifr_ifru.ifru_mtu
        };
        usize::try_from(mtu).ok()
    }
}

/// Sends batches.
pub(super) struct Reinjector {
    sockets: RawSockets,
    /// By index of interface: the longest packet it takes, as it was when it was asked for last.
    mtus: HashMap<u32, usize>,
    scratch: Box<Scratch>,
    /// Why the kernel refused the latest packet that it did.
    pub(super) last_error: Option<io::Error>,
}

/// What `sendmmsg` reads, made once and filled for every batch.
struct Scratch {
    heads: [[u8; MAX_HEAD]; BATCH],
    addresses: [[u8; ADDRESS]; BATCH],
    parts: [[libc::iovec; PARTS]; BATCH],
    messages: [libc::mmsghdr; BATCH],
}

// SAFETY: the pointers inside are set anew for every batch, from buffers that live through the call.
unsafe impl Send for Scratch {}

impl Reinjector {
    pub(super) fn new(sockets: RawSockets) -> Self {
        // SAFETY: all-zero bytes are valid for every field: arrays of integers, null pointers and zero lengths.
        let scratch = Box::new(unsafe { std::mem::zeroed() });
        Self { sockets, mtus: HashMap::new(), scratch, last_error: None }
    }

    /// Whether a packet of this length can be sent again on its way through that interface: whole, as these sockets do not cut.
    pub(super) fn takes(&mut self, is_v6: bool, len: usize, interface: u32) -> bool {
        if self.sockets.sockets[usize::from(is_v6)].is_none() {
            return false;
        }
        let Self { mtus, sockets, .. } = self;
        let mtu = mtus.entry(interface).or_insert_with(|| sockets.mtu(interface).unwrap_or(0));
        len <= *mtu
    }

    /// Forgets how long packets may be, which can change.
    pub(super) fn forget(&mut self) {
        self.mtus.clear();
    }

    /// Sends these packets, at most a batch, each a single one that is complete from its Ethernet header on; a bit for each that the
    /// kernel refused.
    pub(super) fn send<'a>(&mut self, packets: impl Iterator<Item = &'a Packet>) -> u64 {
        let mut families = [false; BATCH];
        let mut count = 0;
        for packet in packets.take(BATCH) {
            families[count] = self.prepare(count, packet);
            count += 1;
        }
        let (mut refused, mut sent) = (0, 0);
        while sent < count {
            let same = families[sent..count].iter().take_while(|family| **family == families[sent]).count();
            match self.send_from(families[sent], sent, same) {
                Ok(done) => sent += done,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A firewall of this machine dropped it: so it would have done anyway.
                Err(error) if error.raw_os_error() == Some(libc::EPERM) => sent += 1,
                Err(error) => {
                    refused |= 1 << sent;
                    self.last_error = Some(error);
                    sent += 1;
                }
            }
        }
        refused
    }

    /// Writes the message of this number; whether it is of IPv6.
    fn prepare(&mut self, index: usize, packet: &Packet) -> bool {
        let Scratch { heads, addresses, parts, messages } = &mut *self.scratch;
        let head = packet.write_head(&mut heads[index]);
        let bytes = &packet.bytes()[head.payload];
        let (first, rest) = match head.len {
            0 => (&[][..], bytes.get(ETHERNET..).unwrap_or_default()),
            len => (heads[index][..len].get(ETHERNET..).unwrap_or_default(), bytes),
        };
        parts[index] =
            [first, rest].map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
        // Neither marks nor what is flipped change an address.
        let ip = packet.bytes().get(ETHERNET..).unwrap_or_default();
        let is_v6 = ip.first().is_some_and(|byte| byte >> 4 == 6);
        let address = &mut addresses[index];
        *address = [0; ADDRESS];
        let family = if is_v6 { libc::AF_INET6 } else { libc::AF_INET };
        address[..2].copy_from_slice(&u16::try_from(family).expect("a small constant").to_ne_bytes());
        // `struct sockaddr_in6` and `sockaddr_in`: port, then flow label, then the address. A port means nothing here.
        let (from, at, len) = if is_v6 { (24, 8, 16) } else { (16, 4, 4) };
        if let Some(destination) = ip.get(from..from + len) {
            address[at..at + len].copy_from_slice(destination);
        }
        let message = &mut messages[index].msg_hdr;
        message.msg_name = address.as_mut_ptr().cast();
        let length = if is_v6 { ADDRESS } else { size_of::<libc::sockaddr_in>() };
        message.msg_namelen = libc::socklen_t::try_from(length).expect("a small structure");
        message.msg_iov = parts[index].as_mut_ptr();
        message.msg_iovlen = PARTS;
        is_v6
    }

    fn send_from(&mut self, is_v6: bool, first: usize, count: usize) -> io::Result<usize> {
        let Some(socket) = &self.sockets.sockets[usize::from(is_v6)] else {
            return Err(io::Error::from_raw_os_error(libc::EAFNOSUPPORT));
        };
        let messages = self.scratch.messages[first..].as_mut_ptr();
        let count = u32::try_from(count).expect("a batch is small");
        // SAFETY: `prepare` filled the messages from `first` on; all that they point to lives in `scratch` and in the
        // packets, which the caller of `send` lends for longer than this call.
        let sent = check(unsafe { libc::sendmmsg(socket.as_raw_fd(), messages, count, libc::MSG_DONTWAIT) })?;
        Ok(usize::try_from(sent).expect("checked not to be negative").max(1))
    }
}
