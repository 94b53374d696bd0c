//! Who takes the samples: a part of a node's first process.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::clock_gettime;
use nix::unistd::read;

use super::{MeasureConfig, Measured, stream, tcp};
use crate::error::{Attempted, KernelError};
use crate::netlink::TcpDiag;

/// Of more connections at one instant the rest is left out.
const MOST_CONNECTIONS: usize = 1_000;
/// Samples of a node end when there are so many rows; as text they take half a gigabyte.
const MOST_ROWS: u64 = 2_000_000;
/// When so many bytes have been written down they are handed on.
const CHUNK: usize = 30 << 10;

/// See the module.
#[derive(Debug)]
pub(crate) struct Sampler {
    config: MeasureConfig,
    timer: TimerFd,
    diag: TcpDiag,
    /// When the timer was set, in nanoseconds of the clock.
    began_ns: u64,
    /// How often it has expired since.
    expired: u64,
    /// The connections of the last sample, by their cookies.
    known: BTreeMap<u64, Known>,
    /// How many there have been.
    connections: u64,
    rows: u64,
    samples: u64,
    written: Vec<u8>,
    failure: Option<KernelError>,
}

/// A connection that was there at the last sample.
#[derive(Debug)]
struct Known {
    number: u64,
    connection: tcp::Connection,
    /// Its last row.
    row: Vec<u8>,
    /// The last sample that it was in.
    seen: u64,
}

impl Sampler {
    /// Begins to take samples, in the current network namespace.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn begin(config: MeasureConfig) -> Result<Self, KernelError> {
        let diag = TcpDiag::open()?;
        let attempted = || "set a timer for samples";
        let flags = TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags).attempted(attempted)?;
        let began_ns = now_ns();
        let spec = |ns: u64| TimeSpec::from_duration(Duration::from_nanos(ns));
        let first = spec(began_ns.saturating_add(config.tcp_ns));
        let expiration = Expiration::IntervalDelayed(first, spec(config.tcp_ns));
        timer.set(expiration, TimerSetTimeFlags::TFD_TIMER_ABSTIME).attempted(attempted)?;
        Ok(Self {
            config,
            timer,
            diag,
            began_ns,
            expired: 0,
            known: BTreeMap::new(),
            connections: 0,
            rows: 0,
            samples: 0,
            written: Vec::new(),
            failure: None,
        })
    }

    /// Readable when a sample is due; none when there are no more.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        let goes_on = self.failure.is_none() && self.rows < MOST_ROWS;
        goes_on.then(|| self.timer.as_fd())
    }

    /// Takes the sample that is due, if one is. What the kernel refuses ends the samples.
    pub(crate) fn take(&mut self) {
        let mut expired = [0; 8];
        if read(&self.timer, &mut expired) != Ok(expired.len()) {
            return;
        }
        self.expired += u64::from_ne_bytes(expired);
        let due_ns = self.began_ns.saturating_add(self.config.tcp_ns.saturating_mul(self.expired));
        let time_ns = if self.config.reads_clock { now_ns() } else { due_ns };
        self.failure = self.sample(time_ns).err();
    }

    /// What has been written down, when it is enough to be handed on.
    pub(crate) fn chunk(&mut self) -> Option<Vec<u8>> {
        (self.written.len() >= CHUNK).then(|| std::mem::take(&mut self.written))
    }

    /// Ends the samples; what has not been handed on, and the end.
    pub(crate) fn end(self) -> (Vec<u8>, Measured) {
        let failure = self.failure.map(|error| error.to_string());
        (self.written, Measured { clock_ns: now_ns(), failure })
    }

    fn sample(&mut self, time_ns: u64) -> Result<(), KernelError> {
        let Self { diag, known, connections, rows, samples, written, .. } = self;
        *samples += 1;
        let (mut count, mut has_time) = (0, false);
        diag.connections(|message| {
            let Some((cookie, connection, row)) = tcp::read(message) else { return };
            count += 1;
            if count > MOST_CONNECTIONS || *rows >= MOST_ROWS {
                return;
            }
            let row = stream::packed(&row);
            let is_same = known.get_mut(&cookie).is_some_and(|before| {
                before.seen = *samples;
                before.connection == connection && before.row == row
            });
            if is_same {
                return;
            }
            if !std::mem::replace(&mut has_time, true) {
                stream::push_time(written, time_ns);
            }
            let before = known.get(&cookie);
            let number = before.map_or(*connections, |before| before.number);
            if before.is_none_or(|before| before.connection != connection) {
                stream::push_connection(written, number, &connection);
            }
            *connections += u64::from(before.is_none());
            stream::push_row(written, number, &row);
            *rows += 1;
            known.insert(cookie, Known { number, connection, row, seen: *samples });
        })?;
        if count > MOST_CONNECTIONS {
            stream::push_left_out(written, (count - MOST_CONNECTIONS) as u64);
        }
        if *rows >= MOST_ROWS {
            stream::push_full(written);
        }
        known.retain(|_, connection| connection.seen == *samples);
        Ok(())
    }
}

fn now_ns() -> u64 {
    clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).map_or(0, |time| {
        u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec()).unwrap_or(0)
    })
}

impl Measured {
    /// Of a node where nothing is measured, or not any more.
    pub(crate) fn nothing(failure: Option<&KernelError>) -> Self {
        Self { clock_ns: now_ns(), failure: failure.map(ToString::to_string) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, TcpStream};
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream as Socket};

    #[test]
    fn a_connection_of_this_machine_is_sampled_when_something_changes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = Socket::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let mut sampler = Sampler::begin(MeasureConfig { tcp_ns: 3_600_000_000_000, reads_clock: true }).unwrap();
        sampler.sample(1).unwrap();
        client.write_all(&[7; 1_000]).unwrap();
        server.read_exact(&mut [0; 1_000]).unwrap();
        sampler.sample(2).unwrap();
        let (written, measured) = sampler.end();
        assert_eq!(measured.failure, None);
        let local = client.local_addr().unwrap().to_string();
        let place = tcp::columns().split(',').position(|column| column == "bytes_sent").unwrap();
        let mut stream = TcpStream::new(&written[..]);
        let mut seen = Vec::new();
        while let Some(Finding::Sample(sample)) = stream.read().unwrap() {
            let mut text = String::new();
            sample.write(&mut text);
            let values: Vec<&str> = text.split(',').collect();
            if values[1] == local {
                seen.push((sample.time_ns, values[place].to_owned()));
            }
        }
        assert_eq!(seen, [(1, "0".to_owned()), (2, "1000".to_owned())]);
    }
}
