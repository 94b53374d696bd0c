//! A yardstick for packet engines in user space on this machine: a loop that joins interfaces and does nothing else.
//! `netloom-bench join A B ...` hands each frame that arrives at the first interface of a pair to the second, and the
//! other way round; a bench runs it in the middle of the path that it compares with ([`crate::plain`]).
//!
//! One thread, one packet socket for all interfaces, a few frames per system call. The kernel's own header goes with every
//! frame (`PACKET_VNET_HDR`), so that super-packets stay whole and no checksum is computed. No packet is looked at, none
//! has a time to wait for, nothing is counted. What an emulator does beside comes on top; 0.9 of this is what we ask for.
//!
//! With a first word `hold:THERE:BACK:MARGIN:PROCESSOR` it holds each frame so long ([`hold`]).

pub(crate) mod hold;

use crate::wait::raise_priority;
use crate::wake::{last_processor, run_on};
use hold::Hold;
use std::ffi::CString;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::ExitCode;

/// Its name on the command line.
pub(crate) const JOIN: &str = "join";

/// Frames that one system call takes or hands over at most: so few that their room stays in the processor's caches. With 64
/// the loop needs a third more time for a chain of eight routers, and with one, half as much again for a single link.
const BATCH: usize = 6;
/// The same as system calls want it.
const PACKET_FRAMES: libc::c_uint = BATCH as libc::c_uint;
/// A super-packet of 64 KiB with its headers.
const ROOM: usize = 66 << 10;
/// What may wait while the loop is not on a processor.
const BUFFER: libc::c_int = 64 << 20;
/// linux/if_packet.h; not in `libc`.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
/// The two bytes of the virtio-net header that are its flags and its kind of super-packet, and eight more.
const VNET_HEADER: usize = 10;

/// Runs the loop if the command line asks for it; it ends when it is killed, or with an error.
pub(crate) fn main(arguments: &[String]) -> Option<ExitCode> {
    let (command, names) = arguments.split_first()?;
    if command != JOIN {
        return None;
    }
    let error = match join(names) {
        Ok(never) => match never {},
        Err(error) => error,
    };
    eprintln!("{}: {error}", arguments.join(" "));
    Some(ExitCode::FAILURE)
}

fn join(words: &[String]) -> io::Result<std::convert::Infallible> {
    let hold = words.first().and_then(|word| Hold::parse(word));
    let names = &words[usize::from(hold.is_some())..];
    let indices = names.iter().map(|name| index(name)).collect::<io::Result<Vec<_>>>()?;
    if indices.is_empty() || indices.len() % 2 != 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "interfaces are joined in pairs"));
    }
    let last = indices.iter().copied().max().unwrap_or(0) as usize;
    let mut partners: Partners = vec![(0, 0); last + 1];
    for pair in indices.chunks(2) {
        partners[pair[0] as usize] = (pair[1], 0);
        partners[pair[1] as usize] = (pair[0], 1);
    }
    // As engines do: one that the kernel moves about had 9 Gbit/s of one stream in one run, and 27 in another.
    run_on(hold.map_or_else(last_processor, |hold| hold.processor));
    let (from, to) = (open(libc::ETH_P_ALL as u16)?, open(0)?);
    let on: libc::c_int = 1;
    set_option(&from, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, on)?;
    set_option(&to, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, on)?;
    for (socket, forced, asked) in
        [(&from, libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (&to, libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)]
    {
        // Without rights over the machine the kernel gives what it allows everybody.
        set_option(socket, libc::SOL_SOCKET, forced, BUFFER)
            .or_else(|_| set_option(socket, libc::SOL_SOCKET, asked, BUFFER))?;
    }
    let Some(hold) = hold else { return Batch::new().carry(&from, &to, &partners) };
    set_option(&from, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, on)?;
    raise_priority();
    hold::carry(hold, &from, &to, &partners)
}

/// By the number of an interface: the other one of its pair, and whether itself is the first or the second.
type Partners = Vec<(u32, usize)>;

/// Where a frame goes that came from `address`, and in which direction. Of no pair, as the loopback interface: nowhere,
/// which the kernel refuses.
fn destination(address: &libc::sockaddr_ll, partners: &Partners) -> (u32, usize) {
    let interface = usize::try_from(address.sll_ifindex).unwrap_or(0);
    partners.get(interface).copied().unwrap_or_default()
}

fn index(name: &str) -> io::Result<u32> {
    let text = CString::new(name)?;
    // SAFETY: the name ends with a zero.
    match unsafe { libc::if_nametoindex(text.as_ptr()) } {
        0 => Err(io::Error::other(format!("no interface {name}: {}", io::Error::last_os_error()))),
        index => Ok(index),
    }
}

/// A socket for all interfaces; with a protocol it also receives.
fn open(protocol: u16) -> io::Result<OwnedFd> {
    // SAFETY: socket takes no pointers.
    let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just opened it for us alone.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    set_option(&socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1)?;
    let address = address(0, protocol);
    // SAFETY: the address has the length that is given.
    let failed =
        unsafe { libc::bind(fd, (&raw const address).cast(), size_of::<libc::sockaddr_ll>() as libc::socklen_t) };
    if failed == 0 { Ok(socket) } else { Err(io::Error::last_os_error()) }
}

fn address(interface: u32, protocol: u16) -> libc::sockaddr_ll {
    // SAFETY: all fields of the structure may be zero.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as libc::c_ushort;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = interface as libc::c_int;
    address
}

fn set_option(socket: &OwnedFd, level: libc::c_int, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the value has the length that is given.
    let failed = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const value).cast(), length) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Room for the frames of one system call. The first is used most, and stays in the processor's caches.
struct Batch {
    room: Vec<u8>,
    addresses: Vec<libc::sockaddr_ll>,
    pieces: Vec<libc::iovec>,
    messages: Vec<libc::mmsghdr>,
}

impl Batch {
    fn new() -> Self {
        // Not zeros: those would be pages that the kernel makes when they are first written to.
        let mut room = vec![1; BATCH * ROOM];
        let mut addresses = vec![address(0, 0); BATCH];
        let mut pieces: Vec<libc::iovec> = room
            .chunks_mut(ROOM)
            .map(|part| libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: ROOM })
            .collect();
        let messages = pieces
            .iter_mut()
            .zip(&mut addresses)
            .map(|(piece, address)| {
                // SAFETY: all fields of the structure may be zero.
                let mut message: libc::mmsghdr = unsafe { zeroed() };
                message.msg_hdr.msg_name = std::ptr::from_mut(address).cast();
                message.msg_hdr.msg_iov = piece;
                message.msg_hdr.msg_iovlen = 1;
                message
            })
            .collect();
        Self { room, addresses, pieces, messages }
    }

    /// Takes what has come, waiting for the first, and hands it over, again and again.
    fn carry(&mut self, from: &OwnedFd, to: &OwnedFd, partners: &Partners) -> io::Result<std::convert::Infallible> {
        loop {
            let count = self.receive(from)?;
            for place in 0..count {
                self.addresses[place] = address(destination(&self.addresses[place], partners).0, 0);
                self.pieces[place].iov_len = (self.messages[place].msg_len as usize).max(VNET_HEADER);
            }
            send_all(to, &mut self.messages[..count]);
            for piece in &mut self.pieces[..count] {
                piece.iov_len = ROOM;
            }
        }
    }

    fn receive(&mut self, from: &OwnedFd) -> io::Result<usize> {
        debug_assert_eq!(self.room.len(), self.messages.len() * ROOM, "each message has its part of the room");
        let messages = self.messages.as_mut_ptr();
        for message in &mut self.messages {
            message.msg_hdr.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        }
        // SAFETY: the messages point to pieces and addresses of this batch, which outlive the call.
        let count = unsafe {
            libc::recvmmsg(from.as_raw_fd(), messages, PACKET_FRAMES, libc::MSG_WAITFORONE, std::ptr::null_mut())
        };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }
}

/// A frame that the kernel refuses is left out, as a network loses it: the node that it is for is gone, or slow.
fn send_all(to: &OwnedFd, messages: &mut [libc::mmsghdr]) {
    let mut sent = 0;
    while sent < messages.len() {
        let left = &mut messages[sent..];
        // SAFETY: the messages point to pieces and addresses of their owner, which outlive the call.
        let done = unsafe { libc::sendmmsg(to.as_raw_fd(), left.as_mut_ptr(), left.len() as u32, 0) };
        sent += usize::try_from(done).unwrap_or(0).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_come_in_pairs_and_must_exist() {
        let join = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            join(&names).map_err(|error| error.to_string()).err().unwrap_or_default()
        };
        assert!(join(&[]).contains("pairs"));
        assert!(join(&["lo"]).contains("pairs"));
        assert!(join(&["no-such-interface", "lo"]).contains("no interface no-such-interface"));
    }
}
