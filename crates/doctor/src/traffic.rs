//! The programs that the nodes of the trial run: this very program, so that nothing else need be installed.
//!
//! `serve` takes TCP streams and tells what it got of each; `stream` sends one; `packets` sends small UDP packets. Each
//! takes the processor on which it stays as its last word, and speaks in lines: JSON, or what went wrong.

use netloom_host::processors;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The command by which `netloom` becomes one of them.
pub const COMMAND: &str = "doctor-traffic";
/// What a program prints when it has no figures.
pub(super) const READY: &str = "ready";

const STREAM_PORT: u16 = 5_201;
/// The port that discards what it gets (RFC 863).
const PACKET_PORT: u16 = 9;
/// Bytes per call. Larger ones fall out of the processor's caches.
const PORTION: usize = 128 * 1_024;
/// The first part of a stream finds the window small and all buffers cold, and does not count.
const START: Duration = Duration::from_millis(150);
/// Packets per call.
const BATCH: usize = 25;
/// With the headers of UDP, IPv4 and Ethernet and with its checksum the frame then has 64 bytes, the smallest there is.
const PAYLOAD: usize = 18;

/// What `serve` tells of a stream.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Streamed {
    pub(super) bytes: u64,
    pub(super) took_ns: u64,
}

/// What `packets` tells.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Sent {
    pub(super) packets: u64,
    pub(super) took_ns: u64,
}

/// Runs the role that the words after the command name.
///
/// # Errors
/// What failed.
pub fn main(words: &[String]) -> Result<(), String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["compute", span, ref processor @ ..] => {
            stay(processor).and_then(|()| milliseconds(span)).map(|span| compute(Instant::now() + span))
        }
        ["serve", ref processor @ ..] => stay(processor).and_then(|()| serve()),
        ["stream", address, span, ref processor @ ..] => {
            stay(processor).and_then(|()| stream(number(address)?, milliseconds(span)?))
        }
        ["packets", address, span, per_second, ref processor @ ..] => {
            stay(processor).and_then(|()| packets(number(address)?, milliseconds(span)?, number(per_second)?))
        }
        _ => return Err("only `netloom doctor` starts this, in a lab of its own".to_owned()),
    };
    // The process that started this reads its output only.
    outcome.or_else(|error| say(&error.to_string())).map_err(|error| error.to_string())
}

/// A program in a session of its own that computes. Dropping it ends it.
pub(super) struct Rival(Child);

/// It ends by itself after so long, in milliseconds, if nobody ends it.
const RIVAL_MS: u64 = 10_000;

impl Rival {
    /// Starts it on this processor, or wherever the kernel puts it.
    pub(super) fn start(processor: Option<usize>) -> io::Result<Self> {
        let mut command = Command::new("/proc/self/exe");
        command.arg(COMMAND).arg("compute").arg(RIVAL_MS.to_string());
        command.args(processor.map(|processor| processor.to_string()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // SAFETY: between fork and exec the closure makes one system call.
        unsafe { command.pre_exec(|| Ok(nix::unistd::setsid().map(drop)?)) };
        command.spawn().map(Self)
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        // One that has ended by itself needs no end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn compute(end: Instant) {
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

fn stay(processor: &[&str]) -> io::Result<()> {
    let Some(processor) = processor.first() else { return Ok(()) };
    processors::stay_on(&[number(processor)?]).map_err(io::Error::from)
}

fn number<T: std::str::FromStr>(word: &str) -> io::Result<T> {
    word.parse().map_err(|_| io::Error::other(format!("`{word}` is not what it should be")))
}

fn milliseconds(word: &str) -> io::Result<Duration> {
    number(word).map(Duration::from_millis)
}

fn say(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

fn say_json<T: Serialize>(figures: &T) -> io::Result<()> {
    say(&serde_json::to_string(figures).expect("figures are plain data"))
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// Takes one stream after the other, until it is killed.
fn serve() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, STREAM_PORT))?;
    // The socket is never read: packets that find its buffer full are dropped, without an error to their sender.
    let _discard = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, PACKET_PORT))?;
    say(READY)?;
    loop {
        let (stream, _) = listener.accept()?;
        say_json(&take(stream)?)?;
    }
}

fn take(mut stream: TcpStream) -> io::Result<Streamed> {
    let mut buffer = vec![0; PORTION];
    let begun = Instant::now();
    let mut counted: Option<(Instant, u64)> = None;
    let mut last = begun;
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        last = Instant::now();
        match &mut counted {
            Some((_, bytes)) => *bytes += length as u64,
            None if last - begun >= START => counted = Some((last, 0)),
            None => {}
        }
    }
    let (since, bytes) = counted.unwrap_or((last, 0));
    Ok(Streamed { bytes, took_ns: nanoseconds(last - since) })
}

fn stream(to: Ipv4Addr, span: Duration) -> io::Result<()> {
    let mut stream = TcpStream::connect((to, STREAM_PORT))?;
    let portion = vec![0; PORTION];
    let begun = Instant::now();
    while begun.elapsed() < span {
        stream.write_all(&portion)?;
    }
    drop(stream);
    say(READY)
}

/// Sends evenly in small bursts; `per_second` 0: one burst right after the other.
fn packets(to: Ipv4Addr, span: Duration, per_second: u64) -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.connect((to, PACKET_PORT))?;
    let interval = Duration::from_secs_f64(if per_second == 0 { 0.0 } else { BATCH as f64 / per_second as f64 });
    let begun = Instant::now();
    let mut due = begun;
    let mut packets = 0;
    while begun.elapsed() < span {
        while Instant::now() < due {
            std::hint::spin_loop();
        }
        packets += send_batch(&socket)?;
        // Who was kept from sending does not make up for it with a larger burst.
        due = (due + interval).max(Instant::now().checked_sub(interval).unwrap_or(due));
    }
    say_json(&Sent { packets, took_ns: nanoseconds(begun.elapsed()) })
}

fn send_batch(socket: &UdpSocket) -> io::Result<u64> {
    let payload = [0_u8; PAYLOAD];
    let mut part = libc::iovec { iov_base: payload.as_ptr().cast_mut().cast(), iov_len: PAYLOAD };
    // SAFETY: all-zero bytes are a valid message without address, parts and control data.
    let mut messages: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
    for message in &mut messages {
        message.msg_hdr.msg_iov = &raw mut part;
        message.msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: as many messages as are there; each points to `part` and that to `payload`, which live through the call.
    let sent = unsafe { libc::sendmmsg(socket.as_raw_fd(), messages.as_mut_ptr(), BATCH as u32, 0) };
    match io::Error::last_os_error() {
        _ if sent >= 0 => Ok(u64::from(sent.unsigned_abs())),
        // A full interface takes no packet; it is as if it had not been offered.
        error if error.raw_os_error() == Some(libc::ENOBUFS) => Ok(0),
        error => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused() {
        assert!(main(&["dance".to_owned()]).is_err());
        assert!(main(&[]).is_err());
    }

    #[test]
    fn a_stream_is_counted_behind_its_start() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let sender = std::thread::spawn(move || {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
            let begun = Instant::now();
            while begun.elapsed() < START * 5 {
                stream.write_all(&[0; 10_000]).unwrap();
            }
        });
        let streamed = take(listener.accept().unwrap().0).unwrap();
        sender.join().unwrap();
        assert!(streamed.bytes > 0 && streamed.took_ns > 0, "{streamed:?}");
    }
}
