//! The socket of a tunnel: many datagrams by one system call, of equal size as one (UDP segmentation offload, udp(7)).

use super::SEGMENTS;
use crate::clock::{Clock, TimeOfDay};
use crate::sys::{check, set_option};
use netloom_units::Dilation;
use rustix::net::sockopt::{
    set_socket_recv_buffer_size, set_socket_recv_buffer_size_force, set_socket_send_buffer_size,
    set_socket_send_buffer_size_force,
};
use std::io;
use std::net::UdpSocket;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Datagrams, or trains of them, that are read at once.
const MESSAGES: usize = 16;
/// The longest of them.
const ROOM: usize = 1 << 16;
/// Room for what the kernel tells beside one: its instant and the size of its parts.
const BESIDE: usize = 128;
/// A train that is sent: less than what fits into a datagram of IPv4.
const LONGEST_TRAIN: usize = 60_000;
const BUFFER: usize = 8 << 20;
// linux/udp.h
const UDP_SEGMENT: i32 = 103;
const UDP_GRO: i32 = 104;

/// See the module.
pub(super) struct Socket {
    socket: UdpSocket,
    clock: Clock,
    day: TimeOfDay,
    outgoing: Vec<u8>,
    trains: Vec<Train>,
    /// Whether the kernel cuts trains on this path.
    cuts: bool,
    /// Whether the kernel has learned that the path carries less.
    pub(super) is_narrower: bool,
    /// Datagrams that the kernel refused, and why the latest of them.
    pub(super) refused: u64,
    pub(super) last_error: Option<io::Error>,
}

/// Datagrams of one size that follow one another in the buffer; the last may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Train {
    begin: usize,
    end: usize,
    size: usize,
    /// Whether nothing more may join it.
    is_closed: bool,
}

impl Train {
    fn count(self) -> usize {
        (self.end - self.begin).div_ceil(self.size.max(1))
    }
}

struct Buffers {
    /// A room for each message.
    bytes: Vec<u8>,
    beside: [[u64; BESIDE / 8]; MESSAGES],
}

/// Datagrams that have come.
pub(super) struct Inbox {
    buffers: Box<Buffers>,
    /// Of each: its buffer, where it lies there, and when it came in nanoseconds of `CLOCK_MONOTONIC`.
    found: Vec<(usize, Range<usize>, u64)>,
}

impl Socket {
    /// Prepares a socket that is connected to the far end.
    pub(super) fn new(socket: UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let _ = set_socket_recv_buffer_size_force(&socket, BUFFER)
            .or_else(|_| set_socket_recv_buffer_size(&socket, BUFFER));
        let _ = set_socket_send_buffer_size_force(&socket, BUFFER)
            .or_else(|_| set_socket_send_buffer_size(&socket, BUFFER));
        set_option(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1_i32)?;
        // Old kernels have neither; then datagrams come and go one by one.
        let _ = set_option(&socket, libc::SOL_UDP, UDP_GRO, &1_i32);
        let clock = Clock::start(None, Dilation::ONE);
        let (outgoing, trains) = (Vec::with_capacity(1 << 20), Vec::new());
        let day = TimeOfDay::new(clock);
        Ok(Self { socket, clock, day, outgoing, trains, cuts: true, is_narrower: false, refused: 0, last_error: None })
    }

    /// The present, in nanoseconds of `CLOCK_MONOTONIC`.
    pub(super) fn now(&self) -> u64 {
        self.clock.monotonic_at(self.clock.now())
    }

    pub(super) fn is_v6(&self) -> bool {
        self.socket.local_addr().is_ok_and(|own| own.is_ipv6())
    }

    /// The longest packet of IP that the path carries, as far as the kernel knows.
    pub(super) fn path_mtu(&self) -> Option<u32> {
        let (level, name) =
            if self.is_v6() { (libc::IPPROTO_IPV6, libc::IPV6_MTU) } else { (libc::IPPROTO_IP, libc::IP_MTU) };
        let (mut mtu, mut len) = (0_i32, libc::socklen_t::try_from(size_of::<i32>()).expect("four"));
        // SAFETY: the pointers and the length describe one number each, which live through the call.
        let result =
            unsafe { libc::getsockopt(self.socket.as_raw_fd(), level, name, (&raw mut mtu).cast(), &raw mut len) };
        check(result).ok().and(u32::try_from(mtu).ok())
    }

    /// Takes what `write` adds to the buffer as one datagram, which leaves with [`Socket::flush`].
    pub(super) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.outgoing.len();
        write(&mut self.outgoing);
        let (end, size) = (self.outgoing.len(), self.outgoing.len() - begin);
        if size == 0 {
            return;
        }
        if let Some(train) = self.trains.last_mut().filter(|train| {
            !train.is_closed && size <= train.size && train.count() < SEGMENTS && end - train.begin <= LONGEST_TRAIN
        }) {
            train.end = end;
            train.is_closed = size < train.size;
            return;
        }
        self.trains.push(Train { begin, end, size, is_closed: !self.cuts });
    }

    /// Bytes that wait for [`Socket::flush`].
    pub(super) fn waiting(&self) -> usize {
        self.outgoing.len()
    }

    /// Everything that was pushed leaves, or is counted as refused.
    pub(super) fn flush(&mut self) {
        let mut sent = 0;
        // The error of an earlier datagram is returned once, instead of sending this one: that nobody listened there, or that the path
        // carries less.
        let mut has_told = false;
        while sent < self.trains.len() {
            match self.send(&self.trains[sent..]) {
                Ok(count) => (sent, has_told) = (sent + count, false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error)
                    if matches!(error.raw_os_error(), Some(libc::ECONNREFUSED | libc::EMSGSIZE)) && !has_told =>
                {
                    self.is_narrower |= error.raw_os_error() == Some(libc::EMSGSIZE);
                    has_told = true;
                }
                Err(error) if self.cuts && is_about_cutting(&error) && self.trains[sent].count() > 1 => {
                    self.cuts = false;
                    self.cut(sent);
                }
                Err(error) => {
                    self.refused += self.trains[sent].count() as u64;
                    self.last_error = Some(error);
                    sent += 1;
                }
            }
        }
        self.outgoing.clear();
        self.trains.clear();
    }

    /// Makes trains of one datagram each of those that are left.
    fn cut(&mut self, first: usize) {
        let whole = self.trains.split_off(first);
        for Train { begin, end, size, .. } in whole {
            let single = |at: usize| Train { begin: at, end: end.min(at + size), size, is_closed: true };
            self.trains.extend((begin..end).step_by(size.max(1)).map(single));
        }
    }

    /// Sends the first of these trains; returns how many.
    fn send(&self, trains: &[Train]) -> io::Result<usize> {
        let trains = &trains[..trains.len().min(MESSAGES)];
        let mut parts = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; MESSAGES];
        let mut beside = [[0_u64; BESIDE / 8]; MESSAGES];
        // SAFETY: all-zero bytes are a valid `mmsghdr`: null pointers and zero lengths.
        let mut messages: [libc::mmsghdr; MESSAGES] = unsafe { std::mem::zeroed() };
        for (index, train) in trains.iter().enumerate() {
            let bytes = &self.outgoing[train.begin..train.end];
            parts[index] = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
            let header = &mut messages[index].msg_hdr;
            (header.msg_iov, header.msg_iovlen) = (&raw mut parts[index], 1);
            if train.count() > 1 {
                add_segment_size(header, &mut beside[index], train.size);
            }
        }
        let count = libc::c_uint::try_from(trains.len()).expect("a few");
        // SAFETY: every message points to one part and its own room beside it, which live through the call, as the bytes do.
        let sent = unsafe {
            libc::sendmmsg(
                self.socket.as_raw_fd(),
                messages.as_mut_ptr(),
                count,
                libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
            )
        };
        Ok(usize::try_from(check(sent)?).expect("not negative"))
    }
}

impl Inbox {
    pub(super) fn new() -> Self {
        let buffers = Buffers { bytes: vec![0; ROOM * MESSAGES], beside: [[0; BESIDE / 8]; MESSAGES] };
        Self { buffers: Box::new(buffers), found: Vec::new() }
    }

    /// Returns what was found, by its place: the bytes, which may be changed, and the instant in nanoseconds of `CLOCK_MONOTONIC`.
    pub(super) fn datagram(&mut self, place: usize) -> (&mut [u8], u64) {
        let (buffer, range, came) = &self.found[place];
        (&mut self.buffers.bytes[buffer * ROOM..][range.clone()], *came)
    }

    /// Reads what has come; returns how many datagrams, zero if that is none. Errors that the kernel tells of what was sent
    /// before are none.
    pub(super) fn fill(&mut self, from: &mut Socket) -> usize {
        let Self { buffers, found } = self;
        found.clear();
        let mut parts = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; MESSAGES];
        // SAFETY: all-zero bytes are a valid `mmsghdr`: null pointers and zero lengths.
        let mut messages: [libc::mmsghdr; MESSAGES] = unsafe { std::mem::zeroed() };
        let rooms = buffers.bytes.chunks_exact_mut(ROOM).zip(&mut buffers.beside);
        for ((index, message), (bytes, beside)) in messages.iter_mut().enumerate().zip(rooms) {
            parts[index] = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: ROOM };
            let header = &mut message.msg_hdr;
            (header.msg_iov, header.msg_iovlen) = (&raw mut parts[index], 1);
            (header.msg_control, header.msg_controllen) = (beside.as_mut_ptr().cast(), BESIDE);
        }
        let (fd, most) = (from.socket.as_raw_fd(), libc::c_uint::try_from(MESSAGES).expect("a few"));
        // SAFETY: every message points to buffers of the lengths that it tells, which live through the call.
        let got = unsafe { libc::recvmmsg(fd, messages.as_mut_ptr(), most, libc::MSG_DONTWAIT, std::ptr::null_mut()) };
        let got = usize::try_from(got).unwrap_or(0);
        if got > 0 {
            from.day.follow();
        }
        for (index, message) in messages[..got].iter().enumerate() {
            let len = usize::try_from(message.msg_len).unwrap_or(0).min(ROOM);
            let (size, stamp) = told_beside(&message.msg_hdr);
            let now = from.clock.now();
            let came = stamp.map_or(now, |(seconds, ns)| from.day.lab_time(seconds, ns)).min(now);
            let size = size.unwrap_or(len).max(1);
            let range = |at: usize| (index, at..len.min(at + size), from.clock.monotonic_at(came));
            found.extend((0..len).step_by(size).map(range));
        }
        found.len()
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// An interface or a kernel that cannot cut trains refuses them so.
fn is_about_cutting(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EIO | libc::EINVAL | libc::EOPNOTSUPP | libc::ENOPROTOOPT))
}

/// Has the kernel cut a message into datagrams of this size.
fn add_segment_size(header: &mut libc::msghdr, beside: &mut [u64; BESIDE / 8], size: usize) {
    let size = u16::try_from(size).expect("a datagram is shorter than 64 KiB");
    let len = u32::try_from(size_of::<u16>()).expect("two");
    // SAFETY: `CMSG_SPACE` and `CMSG_LEN` only compute; the room is aligned for a header and longer than one with two bytes.
    unsafe {
        header.msg_control = beside.as_mut_ptr().cast();
        header.msg_controllen = libc::CMSG_SPACE(len) as usize;
        let told = libc::CMSG_FIRSTHDR(header);
        (*told).cmsg_level = libc::SOL_UDP;
        (*told).cmsg_type = UDP_SEGMENT;
        (*told).cmsg_len = libc::CMSG_LEN(len) as usize;
        libc::CMSG_DATA(told).cast::<u16>().write_unaligned(size);
    }
}

/// The size of the datagrams in a train, and when the first came by the time of day: seconds and nanoseconds.
fn told_beside(header: &libc::msghdr) -> (Option<usize>, Option<(u32, u32)>) {
    let (mut size, mut stamp) = (None, None);
    // SAFETY: the kernel filled the room beside the message, whose length it returned; the macros stay within it.
    let mut told = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !told.is_null() {
        // SAFETY: `told` points to a header within the room, with data of its type behind it.
        unsafe {
            let data = libc::CMSG_DATA(told);
            match ((*told).cmsg_level, (*told).cmsg_type) {
                (libc::SOL_UDP, UDP_GRO) => size = usize::try_from(data.cast::<i32>().read_unaligned()).ok(),
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let time = data.cast::<libc::timespec>().read_unaligned();
                    stamp = u32::try_from(time.tv_sec).ok().zip(u32::try_from(time.tv_nsec).ok());
                }
                _ => {}
            }
            told = libc::CMSG_NXTHDR(header, told);
        }
    }
    (size.filter(|size| *size > 0), stamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Socket, Socket) {
        let [one, two] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        one.connect(two.local_addr().unwrap()).unwrap();
        two.connect(one.local_addr().unwrap()).unwrap();
        (Socket::new(one).unwrap(), Socket::new(two).unwrap())
    }

    fn all(socket: &mut Socket, count: usize) -> Vec<(Vec<u8>, u64)> {
        let (mut inbox, mut got) = (Inbox::new(), Vec::new());
        while got.len() < count {
            for place in 0..inbox.fill(socket) {
                let (bytes, came) = inbox.datagram(place);
                got.push((bytes.to_vec(), came));
            }
        }
        got
    }

    #[test]
    fn trains_come_as_the_datagrams_that_were_sent() {
        let (mut one, mut two) = pair();
        let sizes = [1_400, 1_400, 1_400, 900, 900, 100, 60, 1_400, 1_400];
        for can_cut in [true, false] {
            one.cuts = can_cut;
            let before = one.now();
            for (size, number) in sizes.into_iter().zip(0_u8..) {
                one.push(|out| out.resize(out.len() + size, number));
            }
            one.flush();
            let got = all(&mut two, sizes.len());
            let after = two.now();
            let seen: Vec<_> = got.iter().map(|(bytes, _)| (bytes.len(), bytes[0])).collect();
            assert_eq!(seen, sizes.into_iter().zip(0_u8..).collect::<Vec<_>>());
            // Two readings of clocks that may be slewed lie between.
            assert!(got.iter().all(|(_, came)| (before - 1_000_000..=after).contains(came)));
        }
        assert_eq!((one.refused, one.waiting()), (0, 0));
    }

    #[test]
    fn a_far_end_that_nobody_has_is_no_error_of_ours() {
        let (mut one, two) = pair();
        drop(two);
        for _ in 0..3 {
            one.push(|out| out.push(1));
            one.flush();
        }
        assert_eq!(one.refused, 0, "{:?}", one.last_error);
    }
}
