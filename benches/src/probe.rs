//! A sender and a receiver of datagrams that know when each was sent: `netloom-bench send ...` and `receive ...`, started
//! in nodes of a lab. No program that everybody has sends at a steady rate of packets and tells the delay of each.
//!
//! A datagram begins with the instant at which it was handed to the kernel, in nanoseconds of `CLOCK_REALTIME`; all nodes
//! of a machine have the same. The receiver takes the kernel's own timestamp of its arrival (`SO_TIMESTAMPNS`).

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4, ToSocketAddrs, UdpSocket};
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Names of the two programs on the command line.
pub(crate) const SEND: &str = "send";
pub(crate) const RECEIVE: &str = "receive";
/// The receiver, to tell of each datagram when it came instead of how long it was on its way.
pub(crate) const ARRIVALS: &str = "arrivals";

/// The port that datagrams go to; the first, if there are several.
const PORT: u16 = 9_000;
/// Bytes that every datagram has.
const HEAD: usize = 8;
/// Datagrams that one system call sends or receives at most.
const BATCH: usize = 64;
/// The receiver ends when nothing has come for so long.
const QUIET: Duration = Duration::from_millis(700);
/// How long the receiver sleeps between its looks: woken by every packet, it would take the sender's processor in the
/// middle of a burst, and measure itself.
const NAP: Duration = Duration::from_millis(20);
/// The room that the receiver asks for, so that it loses nothing while it waits for a processor.
const RECEIVE_BUFFER: libc::c_int = 32 << 20;

/// What the sender is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Datagrams per second, and how many leave at once.
    pub(crate) rate: f64,
    pub(crate) burst: usize,
    pub(crate) seconds: f64,
    /// Bytes of UDP payload: 22 make a frame of 64 bytes with its checksum.
    pub(crate) payload: usize,
    /// How many ports take turns.
    pub(crate) ports: u16,
}

impl Load {
    /// How many datagrams are sent.
    pub(crate) fn packets(&self) -> f64 {
        (self.rate * self.seconds / self.burst as f64).round() * self.burst as f64
    }

    /// The sender's arguments.
    pub(crate) fn arguments(&self, target: &str) -> Vec<String> {
        let Self { rate, burst, seconds, payload, ports } = self;
        let values = [rate.to_string(), burst.to_string(), seconds.to_string(), payload.to_string(), ports.to_string()];
        [SEND.to_owned(), target.to_owned()].into_iter().chain(values).collect()
    }

    fn parse(words: &[String]) -> Option<Self> {
        let [rate, burst, seconds, payload, ports] = words else { return None };
        Some(Self {
            rate: rate.parse().ok()?,
            burst: burst.parse().ok()?,
            seconds: seconds.parse().ok()?,
            payload: payload.parse().ok()?,
            ports: ports.parse().ok()?,
        })
    }
}

/// What arrived.
#[derive(Debug)]
pub(crate) struct Arrivals {
    pub(crate) count: u64,
    /// In nanoseconds, sorted.
    pub(crate) delays: Vec<i64>,
}

impl Arrivals {
    /// Of what the receiver wrote.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut delays: Vec<i64> = text.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
        delays.sort_unstable();
        if delays.is_empty() {
            return Err("no datagram arrived".to_owned());
        }
        Ok(Self { count: delays.len() as u64, delays })
    }

    /// The delay that this share of the datagrams did not exceed, in microseconds.
    pub(crate) fn quantile_us(&self, share: f64) -> f64 {
        crate::quantile::least(&self.delays, share).map_or(f64::NAN, |ns| ns as f64 / 1e3)
    }
}

/// Runs the sender or the receiver if the command line asks for one.
pub(crate) fn main(arguments: &[String]) -> Option<ExitCode> {
    let done = match arguments.split_first() {
        Some((command, [target, load @ ..])) if command == SEND => {
            Load::parse(load).map_or(Err(io::ErrorKind::InvalidInput.into()), |load| send(target, load))
        }
        Some((command, [ports])) if command == RECEIVE => receive(ports.parse().unwrap_or(1), Told::Delays),
        Some((command, [])) if command == ARRIVALS => receive(1, Told::Instants),
        _ => return None,
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", arguments.join(" "));
            ExitCode::FAILURE
        }
    })
}

/// Tells how many seconds it took in the end: a rate that the machine cannot send takes longer.
fn send(target: &str, load: Load) -> io::Result<()> {
    let address = (target, PORT).to_socket_addrs()?.find_map(|address| match address {
        std::net::SocketAddr::V4(address) => Some(*address.ip()),
        std::net::SocketAddr::V6(_) => None,
    });
    let address = address.ok_or(io::ErrorKind::AddrNotAvailable)?;
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    let burst = load.burst.clamp(1, BATCH);
    let mut payloads = vec![vec![0_u8; load.payload.max(HEAD)]; burst];
    let bursts = (load.rate * load.seconds / burst as f64).round() as u64;
    let begin = Instant::now();
    let mut port = 0;
    for number in 0..bursts {
        wait_until(begin + Duration::from_secs_f64(number as f64 * burst as f64 / load.rate));
        let targets: Vec<libc::sockaddr_in> = (0..burst)
            .map(|_| {
                port = (port + 1) % load.ports.max(1);
                socket_address(SocketAddrV4::new(address, PORT + port))
            })
            .collect();
        let now = realtime_ns().to_ne_bytes();
        payloads.iter_mut().for_each(|payload| payload[..HEAD].copy_from_slice(&now));
        send_all(&socket, &targets, &mut payloads)?;
    }
    println!("{}", begin.elapsed().as_secs_f64());
    Ok(())
}

/// Sleeps, and after a long sleep looks again and again for a while, so that the processor is warm when it sends. Between
/// bursts that follow one another closely it only sleeps: the receiver needs the processor, too, and a sender that has
/// just woken up keeps it between stamp and call. A burst that begins late is stamped late.
fn wait_until(at: Instant) {
    const SPIN: Duration = Duration::from_micros(150);
    const WORTH_A_SLEEP: Duration = Duration::from_micros(50);
    let left = at.saturating_duration_since(Instant::now());
    if left > SPIN * 2 {
        std::thread::sleep(left - SPIN);
    } else if left > WORTH_A_SLEEP {
        std::thread::sleep(left);
    }
    while Instant::now() < at {
        std::hint::spin_loop();
    }
}

fn socket_address(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
        sin_zero: [0; 8],
    }
}

fn realtime_ns() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

fn send_all(socket: &UdpSocket, targets: &[libc::sockaddr_in], payloads: &mut [Vec<u8>]) -> io::Result<()> {
    let mut pieces: Vec<libc::iovec> = payloads
        .iter_mut()
        .map(|payload| libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: payload.len() })
        .collect();
    let mut messages: Vec<libc::mmsghdr> = targets
        .iter()
        .zip(&mut pieces)
        .map(|(target, piece)| {
            // SAFETY: all fields of the structure may be zero.
            let mut message: libc::mmsghdr = unsafe { zeroed() };
            message.msg_hdr.msg_name = std::ptr::from_ref(target).cast_mut().cast();
            message.msg_hdr.msg_namelen = size_of::<libc::sockaddr_in>() as libc::socklen_t;
            message.msg_hdr.msg_iov = piece;
            message.msg_hdr.msg_iovlen = 1;
            message
        })
        .collect();
    let mut sent = 0;
    while sent < messages.len() {
        let left = &mut messages[sent..];
        // SAFETY: the messages point to addresses, pieces and payloads that outlive the call.
        let count = unsafe { libc::sendmmsg(socket.as_raw_fd(), left.as_mut_ptr(), left.len() as u32, 0) };
        match usize::try_from(count) {
            Ok(count) => sent += count,
            Err(_) => match io::Error::last_os_error() {
                // An earlier datagram found nobody at its port.
                error if error.kind() == io::ErrorKind::ConnectionRefused => {}
                error => return Err(error),
            },
        }
    }
    Ok(())
}

/// What the receiver writes of each datagram, in nanoseconds.
#[derive(Clone, Copy)]
enum Told {
    /// How long it was on its way.
    Delays,
    /// When it arrived, since 1970.
    Instants,
}

/// Of several ports it only keeps all but the first open.
fn receive(ports: u16, told: Told) -> io::Result<()> {
    let sockets =
        (0..ports).map(|port| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, PORT + port))).collect::<io::Result<Vec<_>>>()?;
    let (socket, unread) = sockets.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    // What nobody reads is to be dropped at once: to fill a thousand buffers keeps the kernel busy for 0.3 s, in the
    // engine's time.
    unread.iter().try_for_each(|other| set_option(other, libc::SO_RCVBUF, 1))?;
    let on: libc::c_int = 1;
    set_option(socket, libc::SO_TIMESTAMPNS, on)?;
    if set_option(socket, libc::SO_RCVBUFFORCE, RECEIVE_BUFFER).is_err() {
        set_option(socket, libc::SO_RCVBUF, RECEIVE_BUFFER)?;
    }
    socket.set_nonblocking(true)?;
    let mut times = Vec::with_capacity(1 << 20);
    // Longer for the first, for which the sender has to be started.
    let mut until = Instant::now() + QUIET * 8;
    while Instant::now() < until {
        while let Some((sent, arrived)) = next_times(socket)? {
            times.push(match told {
                Told::Delays => arrived - sent,
                Told::Instants => arrived,
            });
            until = Instant::now() + QUIET;
        }
        std::thread::sleep(NAP);
    }
    let text: Vec<String> = times.iter().map(i64::to_string).collect();
    println!("{}", text.join(" "));
    Ok(())
}

fn set_option(socket: &UdpSocket, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    let value = std::ptr::from_ref(&value).cast();
    // SAFETY: the value has the length that is given.
    let failed = unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, value, length) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// When the next datagram was sent and when it arrived; none when no more is there.
fn next_times(socket: &UdpSocket) -> io::Result<Option<(i64, i64)>> {
    let mut head = [0_u8; HEAD];
    let mut control = [0_u64; 16];
    let mut piece = libc::iovec { iov_base: head.as_mut_ptr().cast(), iov_len: HEAD };
    // SAFETY: all fields of the structure may be zero.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control);
    // SAFETY: the message points to room that outlives the call.
    if unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) } < 0 {
        let error = io::Error::last_os_error();
        let over = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
        return if over { Ok(None) } else { Err(error) };
    }
    // SAFETY: the kernel has filled the control buffer, which is aligned for its headers.
    let arrived = unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_TIMESTAMPNS {
            return Err(io::ErrorKind::InvalidData.into());
        }
        libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned()
    };
    Ok(Some((i64::from_ne_bytes(head), arrived.tv_sec * 1_000_000_000 + arrived.tv_nsec)))
}
