//! The socket of a queue of netfilter.

use super::message::{self, MOST_BYTES, MOST_HEAD, Message, Verdict, messages};
use crate::sys::{check, set_option};
use rustix::net::sockopt::{
    set_socket_recv_buffer_size, set_socket_recv_buffer_size_force, set_socket_send_buffer_size,
    set_socket_send_buffer_size_force,
};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Messages that one call receives at most.
const BATCH: usize = 32;
/// The longest message: a packet of 64 KiB and its attributes.
const LONGEST: usize = MOST_BYTES as usize + MOST_HEAD;
/// Of packets that need not be altered, that much is read: the headers, IPv6 extensions included.
const HEADERS: u32 = 256;
/// Packets that the kernel holds for this queue at most: what a link of 10 Gbit/s carries in 100 ms.
const MOST_HELD: u32 = 100_000;
const RECEIVE_BUFFER: usize = 64 << 20;
const SEND_BUFFER: usize = 4 << 20;
// linux/netlink.h
const SOL_NETLINK: i32 = 270;
const NETLINK_NO_ENOBUFS: i32 = 5;
/// Where the kernel counts what its queues have lost.
const COUNTERS: &str = "/proc/thread-self/net/netfilter/nfnetlink_queue";
const DROPPED: usize = 5;

/// A queue of netfilter that belongs to this program, in the network namespace in which it was opened: it goes with its
/// socket, which child processes inherit.
#[derive(Debug)]
pub struct NetfilterQueue {
    socket: OwnedFd,
    number: u16,
    /// Opened in the same namespace; none where the kernel has no such file.
    counters: Option<File>,
}

impl NetfilterQueue {
    /// Takes the queue with this number.
    ///
    /// # Errors
    /// `EBUSY`: it belongs to another program. `EPERM`: no right to the network namespace. `EPROTONOSUPPORT`, `EINVAL`: the kernel
    /// has no such queues.
    pub fn open(number: u16) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(netlink::NETFILTER))?;
        // A packet that finds the buffer full is dropped and counted in any case.
        set_option(&socket, SOL_NETLINK, NETLINK_NO_ENOBUFS, &1_i32)?;
        // As long as there is a socket with this option, the kernel notes when it receives packets.
        set_option(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1_i32)?;
        // Beyond the system's maximum where the privileges allow it, else up to the maximum.
        set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER)
            .or_else(|_| set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER))?;
        set_socket_send_buffer_size_force(&socket, SEND_BUFFER)
            .or_else(|_| set_socket_send_buffer_size(&socket, SEND_BUFFER))?;
        let this = Self { socket, number, counters: File::open(COUNTERS).ok() };
        this.request(&message::bind(number, MOST_HELD))?;
        Ok(this)
    }

    /// Its number, which rules name.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// `whole`: whether super-packets stay whole, and of packets only the headers are read; `owners`: whether to tell who made them.
    pub(super) fn configure(&self, whole: bool, owners: bool) -> io::Result<()> {
        let most = if whole { HEADERS } else { MOST_BYTES };
        send(&self.socket, &message::configure(self.number, most, whole, owners), SendFlags::empty())?;
        Ok(())
    }

    /// Says something before there are packets, and waits for the answer, which the kernel gives within the call.
    fn request(&self, request: &[u8]) -> io::Result<()> {
        send(&self.socket, request, SendFlags::empty())?;
        let mut buffer = [0; MOST_HEAD];
        let (len, _) = recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT)?;
        let answer = messages(&buffer[..len]).find_map(|message| match message {
            Message::Answer(code) => Some(code),
            _ => None,
        });
        match answer {
            Some(0) => Ok(()),
            Some(code) => Err(io::Error::from_raw_os_error(code)),
            None => Err(io::Error::other("the kernel's answer cannot be read")),
        }
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Packets that the kernel dropped since the queue was opened, since that held as many as it may. Those for which the socket
    /// had no room are missing in the numbers of packets.
    pub(super) fn drops(&mut self) -> u64 {
        let mut text = String::new();
        let read = |file: &mut File| file.rewind().and_then(|()| file.read_to_string(&mut text)).is_ok();
        if self.counters.as_mut().is_some_and(read) { drops_of(&text, self.number) } else { 0 }
    }

    /// Sends what was written.
    pub(super) fn send(&self, written: &[u8]) -> io::Result<()> {
        loop {
            match send(&self.socket, written, SendFlags::empty()) {
                Ok(_) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn drops_of(text: &str, number: u16) -> u64 {
    let count = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let field = |place: usize| fields.get(place)?.parse::<u64>().ok();
        if field(0)? == u64::from(number) { field(DROPPED) } else { None }
    };
    text.lines().find_map(count).unwrap_or(0)
}

/// Room for the messages of a batch.
pub(super) struct Inbox {
    buffer: Vec<u8>,
    headers: [libc::mmsghdr; BATCH],
    parts: [libc::iovec; BATCH],
}

// SAFETY: the pointers inside are set anew for every batch, to `buffer` and `parts`, which live through the call.
unsafe impl Send for Inbox {}

impl Inbox {
    pub(super) fn new() -> Self {
        // SAFETY: all-zero bytes are valid for arrays of structures of integers and null pointers.
        let (headers, parts) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        Self { buffer: vec![0; BATCH * LONGEST], headers, parts }
    }

    /// Receives what there is, up to a batch: how many messages.
    pub(super) fn receive(&mut self, queue: &NetfilterQueue) -> io::Result<usize> {
        let Self { buffer, headers, parts } = self;
        for ((room, part), header) in buffer.chunks_exact_mut(LONGEST).zip(&mut *parts).zip(&mut *headers) {
            *part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
        }
        let count = u32::try_from(BATCH).expect("a batch is small");
        // SAFETY: every header has one part, which describes a room of its own in `buffer`; both live through the call, and no
        // names or control messages are asked for.
        let received = check(unsafe {
            libc::recvmmsg(queue.descriptor(), headers.as_mut_ptr(), count, libc::MSG_DONTWAIT, std::ptr::null_mut())
        })?;
        Ok(usize::try_from(received).expect("checked not to be negative"))
    }

    /// What the message of this number says.
    pub(super) fn messages(&self, number: usize) -> impl Iterator<Item = Message<'_>> {
        let len = usize::try_from(self.headers[number].msg_len).unwrap_or(0).min(LONGEST);
        messages(&self.buffer[number * LONGEST..][..len])
    }
}

/// Verdicts that are to be sent together.
pub(super) struct Verdicts {
    written: Vec<u8>,
    /// What goes on as it came, before anything else is written: all of it may be said in one message.
    accepted: Vec<u32>,
}

/// What was written is sent when it is that long. With one verdict more, of a packet with new bytes, it still fits into a socket's
/// buffer as the system gives it to everybody.
const FULL: usize = 64 << 10;
/// As many verdicts, of packets that go on as they came, are of that length.
const MOST_ACCEPTED: usize = 1_024;

impl Verdicts {
    pub(super) fn new() -> Self {
        Self { written: Vec::with_capacity(FULL + LONGEST), accepted: Vec::with_capacity(MOST_ACCEPTED) }
    }

    /// Adds one.
    pub(super) fn add(&mut self, queue: &NetfilterQueue, id: u32, verdict: Verdict, altered: &[&[u8]]) {
        let is_unaltered = verdict == Verdict::Accept && altered.is_empty();
        if is_unaltered && self.written.is_empty() && self.accepted.len() < MOST_ACCEPTED {
            self.accepted.push(id);
            return;
        }
        self.write_accepted(queue);
        message::verdict(&mut self.written, queue.number, id, verdict, altered);
        if self.written.len() >= FULL {
            self.flush(queue);
        }
    }

    /// Tells the kernel all that were added. `all`: of the packets that were read, the kernel holds no others.
    pub(super) fn send(&mut self, queue: &NetfilterQueue, all: bool) {
        match latest(&self.accepted).filter(|_| all && self.written.is_empty()) {
            Some(last) => {
                self.accepted.clear();
                message::verdict_on_all(&mut self.written, queue.number, last, Verdict::Accept);
            }
            None => self.write_accepted(queue),
        }
        self.flush(queue);
    }

    fn write_accepted(&mut self, queue: &NetfilterQueue) {
        for id in self.accepted.drain(..) {
            message::verdict(&mut self.written, queue.number, id, Verdict::Accept, &[]);
        }
    }

    fn flush(&mut self, queue: &NetfilterQueue) {
        if !self.written.is_empty() {
            // What the kernel cannot take it never will: the packets go when the queue does.
            let _ = queue.send(&self.written);
            self.written.clear();
        }
    }
}

/// The last of some numbers of packets that were held at the same time. The kernel counts through, and begins anew.
fn latest(ids: &[u32]) -> Option<u32> {
    let later = |one: u32, other: u32| if one.wrapping_sub(other).cast_signed() > 0 { one } else { other };
    ids.iter().copied().reduce(later)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_read_from_the_line_of_the_queue() {
        let text =
            "    7   1234     0 2 65531     3     4       12  1\n   70      9     1 2   256    50    60       12  1\n";
        assert_eq!([7, 70, 8].map(|number| drops_of(text, number)), [3, 50, 0]);
        assert_eq!(drops_of("7 1\nnonsense\n7 1 2 3 4 x y\n", 7), 0);
    }

    #[test]
    fn numbers_begin_anew_when_they_are_used_up() {
        assert_eq!(latest(&[]), None);
        assert_eq!(latest(&[7, 9, 8]), Some(9));
        assert_eq!(latest(&[u32::MAX - 1, 1, u32::MAX]), Some(1));
    }
}
