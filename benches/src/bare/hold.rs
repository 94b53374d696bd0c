//! The bare loop that holds each frame for a while: the least that an engine in user space does which delays. It takes the
//! kernel's timestamp with every frame, keeps the frame until that instant and the delay have passed, and hands it over.
//! No queue is counted, no rate kept, no train cut.

use super::{BATCH, PACKET_FRAMES, Partners, ROOM, VNET_HEADER, address, destination};
use crate::wait::{MARGIN, Wait};
use crate::wake::last_processor;
use std::collections::VecDeque;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long, and how it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    /// What comes in at the first interface of a pair, and what comes in at the second.
    pub(crate) spans: [Duration; 2],
    /// How long before a frame is due it begins to spin; [`ALWAYS`]: it never sleeps.
    pub(crate) margin: Duration,
    /// The processor that it stays on.
    pub(crate) processor: usize,
}

/// Longer than any delay.
const ALWAYS: Duration = Duration::from_secs(3_600);

/// Begins the word on the command line.
const WORD: &str = "hold:";

impl Hold {
    /// Holds what goes there, and waits in this way.
    pub(crate) fn there(span: Duration, wait: Wait) -> Self {
        let margin = if wait == Wait::Spin { ALWAYS } else { MARGIN };
        Self { spans: [span, Duration::ZERO], margin, processor: last_processor() }
    }

    /// Holds what goes either way, and never spins: where packets come all the time, a loop that spins would take the
    /// receiver's processor, and a late one hands over more at once.
    pub(crate) fn both_ways(span: Duration) -> Self {
        Self { spans: [span; 2], margin: Duration::ZERO, processor: last_processor() }
    }

    pub(crate) fn spins(&self) -> bool {
        self.margin == ALWAYS
    }

    pub(crate) fn word(&self) -> String {
        let [there, back, margin] = [self.spans[0], self.spans[1], self.margin].map(|span| span.as_micros());
        format!("{WORD}{there}:{back}:{margin}:{}", self.processor)
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        let mut parts = word.strip_prefix(WORD)?.split(':');
        let mut span = || parts.next()?.parse().ok().map(Duration::from_micros);
        let (spans, margin) = ([span()?, span()?], span()?);
        Some(Self { spans, margin, processor: parts.next()?.parse().ok()? })
    }
}

/// A frame with its header, until it is due: when that is since 1970, and where it goes.
struct Held {
    due: Duration,
    to: u32,
    len: usize,
    room: Box<[u8]>,
}

/// See the module. `from` tells when frames came.
pub(super) fn carry(
    hold: Hold,
    from: &OwnedFd,
    to: &OwnedFd,
    partners: &Partners,
) -> io::Result<std::convert::Infallible> {
    let (mut held, mut free): ([VecDeque<Held>; 2], _) = Default::default();
    loop {
        let mut moved = receive(hold.spans, from, partners, &mut held, &mut free)?;
        let now = now();
        for direction in &mut held {
            let due = direction.iter().take(BATCH).take_while(|frame| frame.due <= now).count();
            send(to, direction.drain(..due), &mut free);
            moved += due;
        }
        if moved == 0 {
            let next = held.iter().filter_map(|direction| direction.front()).map(|frame| frame.due).min();
            rest(hold, next.map(|due| due.saturating_sub(now)), from);
        }
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Until something comes, or shortly before the first frame is due.
fn rest(hold: Hold, left: Option<Duration>, from: &OwnedFd) {
    let span = left.map(|left| left.saturating_sub(hold.margin));
    if hold.spins() || span.is_some_and(|span| span.is_zero()) {
        return std::hint::spin_loop();
    }
    let mut polled = libc::pollfd { fd: from.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let timeout = span.map(|span| libc::timespec {
        tv_sec: span.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(span.subsec_nanos()),
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: one descriptor, and a timeout that lives through the call or is none.
    unsafe { libc::ppoll(&raw mut polled, 1, timeout, std::ptr::null()) };
}

/// Takes what has come, without waiting; says how many frames that were.
fn receive(
    spans: [Duration; 2],
    from: &OwnedFd,
    partners: &Partners,
    held: &mut [VecDeque<Held>; 2],
    free: &mut Vec<Box<[u8]>>,
) -> io::Result<usize> {
    // SAFETY: all fields of these structures may be zero.
    let (mut addresses, mut pieces, mut messages): (
        [libc::sockaddr_ll; BATCH],
        [libc::iovec; BATCH],
        [libc::mmsghdr; BATCH],
    ) = unsafe { (zeroed(), zeroed(), zeroed()) };
    let mut controls = [[0_u64; 8]; BATCH];
    if free.len() < BATCH {
        // Zeros that nobody has touched take no memory: most frames are small.
        free.resize_with(BATCH, || vec![0; ROOM].into_boxed_slice());
    }
    // The buffer that was used last is in the processor's caches.
    let rooms = free.iter_mut().rev();
    for (place, room) in rooms.take(BATCH).enumerate() {
        pieces[place] = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: ROOM };
        let header = &mut messages[place].msg_hdr;
        header.msg_name = (&raw mut addresses[place]).cast();
        header.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        (header.msg_iov, header.msg_iovlen) = (&raw mut pieces[place], 1);
        (header.msg_control, header.msg_controllen) =
            (controls[place].as_mut_ptr().cast(), size_of_val(&controls[place]));
    }
    let flags = libc::MSG_DONTWAIT;
    // SAFETY: the messages point to addresses, pieces, rooms and control buffers that outlive the call.
    let count =
        unsafe { libc::recvmmsg(from.as_raw_fd(), messages.as_mut_ptr(), PACKET_FRAMES, flags, std::ptr::null_mut()) };
    let Ok(count) = usize::try_from(count) else {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::WouldBlock { Ok(0) } else { Err(error) };
    };
    for (address, message) in addresses.iter().zip(&messages).take(count) {
        // Taken from the end, in the order in which they were filled.
        let room = free.pop().unwrap_or_default();
        let (to, direction) = destination(address, partners);
        let due = stamp(&message.msg_hdr).unwrap_or_else(now) + spans[direction];
        let len = (message.msg_len as usize).max(VNET_HEADER).min(room.len());
        held[direction].push_back(Held { due, to, len, room });
    }
    Ok(count)
}

/// When the kernel got the frame.
fn stamp(header: &libc::msghdr) -> Option<Duration> {
    // SAFETY: the kernel has filled the control buffer, which is aligned for its headers.
    let time = unsafe {
        let control = libc::CMSG_FIRSTHDR(header);
        if control.is_null() || (*control).cmsg_type != libc::SCM_TIMESTAMPNS {
            return None;
        }
        libc::CMSG_DATA(control).cast::<libc::timespec>().read_unaligned()
    };
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

/// A frame that the kernel refuses is left out, as the plain loop does.
fn send(to: &OwnedFd, due: impl Iterator<Item = Held>, free: &mut Vec<Box<[u8]>>) {
    let mut due: Vec<Held> = due.collect();
    let mut addresses: Vec<libc::sockaddr_ll> = due.iter().map(|frame| address(frame.to, 0)).collect();
    let filled = |frame: &mut Held| libc::iovec { iov_base: frame.room.as_mut_ptr().cast(), iov_len: frame.len };
    let mut pieces: Vec<libc::iovec> = due.iter_mut().map(filled).collect();
    let message = |(piece, address): (&mut libc::iovec, &mut libc::sockaddr_ll)| {
        // SAFETY: all fields of the structure may be zero.
        let mut message: libc::mmsghdr = unsafe { zeroed() };
        message.msg_hdr.msg_name = std::ptr::from_mut(address).cast();
        message.msg_hdr.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (piece, 1);
        message
    };
    let mut messages: Vec<libc::mmsghdr> = pieces.iter_mut().zip(&mut addresses).map(message).collect();
    super::send_all(to, &mut messages);
    free.extend(due.into_iter().rev().map(|frame| frame.room));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_on_the_command_line_are_read_back() {
        let span = Duration::from_millis(10);
        for hold in [Hold::there(span, Wait::Spin), Hold::there(span, Wait::SleepThenSpin), Hold::both_ways(span)] {
            assert_eq!(Hold::parse(&hold.word()), Some(hold));
        }
        assert!(Hold::there(span, Wait::Spin).spins() && !Hold::both_ways(span).spins());
        assert_eq!(Hold::parse("eth0"), None);
        assert_eq!(Hold::parse("hold:1:x:0:0"), None);
    }
}
