//! Heartbeats: how long a kernel stood still, whatever the cause.
//!
//! Every now and then a kernel is asked for the hardware address of its control device, by an ARP request (RFC 826). It answers
//! where it takes packets, whatever its programs do. So the time until the answer is time in which it took none: it was
//! stopped or frozen, its cgroup was throttled, it had no processor, or it waited for a file of this machine.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use netloom_host::guest::frames::{HEARTBEAT, LISTENER, STATION};

/// EtherType of ARP (RFC 826).
const ARP: [u8; 2] = [0x08, 0x06];

/// An Ethernet frame with a request is shorter than the shortest that there is (IEEE 802.3, without the checksum).
const FRAME: usize = 60;

/// A stretch in which a kernel did nothing. Wall time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standstill {
    /// When it began, at the latest.
    pub began: Instant,
    /// How long it lasted, at least.
    pub lasted: Duration,
}

/// The result of a kernel's heartbeats since it was first asked: whether it stood still, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pulse {
    /// The kernel never answered, as a virtual machine without an agent.
    #[default]
    None,
    /// The kernel answered, and this was the longest that it took.
    Beats(Standstill),
}

/// The heartbeats of one kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heartbeat {
    asked: Option<Asked>,
    worst: Option<Standstill>,
}

/// A request without an answer so far.
#[derive(Clone, Copy, Debug)]
struct Asked {
    at: Instant,
    /// How long the thread that asks had waited for a processor then.
    waited: Duration,
}

impl Heartbeat {
    /// Whether the last request was answered.
    pub(super) fn is_answered(&self) -> bool {
        self.asked.is_none()
    }

    /// A request has left. `waited`: how long this thread has waited for a processor so far.
    pub(super) fn ask(&mut self, now: Instant, waited: Duration) {
        self.asked.get_or_insert(Asked { at: now, waited });
    }

    /// The answer has come.
    pub(super) fn answer(&mut self, now: Instant, waited: Duration) {
        if let Some(asked) = self.asked.take() {
            let still = asked.until(now, waited);
            self.worst = Some(self.worst.filter(|worst| worst.lasted >= still.lasted).unwrap_or(still));
        }
    }

    /// The kernel has ended: it answers no more.
    pub(super) fn end(&mut self) {
        self.asked = None;
    }

    /// What is known now. A kernel that has answered before may stand still right now.
    pub(super) fn pulse(&self, now: Instant, waited: Duration) -> Pulse {
        let present = self.asked.map(|asked| asked.until(now, waited));
        let longest =
            |worst: Standstill| Pulse::Beats(present.filter(|present| present.lasted > worst.lasted).unwrap_or(worst));
        self.worst.map_or(Pulse::None, longest)
    }
}

impl Asked {
    /// What this thread has waited itself is not the kernel's fault.
    fn until(&self, now: Instant, waited: Duration) -> Standstill {
        let lasted = now.saturating_duration_since(self.at).saturating_sub(waited.saturating_sub(self.waited));
        Standstill { began: self.at, lasted }
    }
}

/// The request, as a frame to all.
pub(super) fn request() -> [u8; FRAME] {
    let mut frame = [0; FRAME];
    let fields: [&[u8]; 9] = [
        &[0xff; 6],
        &STATION_OF_LAB,
        &ARP,
        // Ethernet, IPv4, the lengths of their addresses, a request.
        &[0, 1, 8, 0, 6, 4, 0, 1],
        &STATION_OF_LAB,
        &LISTENER.octets(),
        &[0; 6],
        &HEARTBEAT.octets(),
        &[],
    ];
    let mut place = 0;
    for field in fields {
        frame[place..place + field.len()].copy_from_slice(field);
        place += field.len();
    }
    frame
}

/// The address of the lab's end, which differs from that of the device.
const STATION_OF_LAB: [u8; 6] = {
    let mut address = STATION;
    address[5] = 2;
    address
};

/// Whether a frame is such an answer.
pub(super) fn is_answer(frame: &[u8]) -> bool {
    let sender = frame.get(28..32).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok()).map(Ipv4Addr::from);
    frame.get(12..14) == Some(&ARP) && frame.get(20..22) == Some(&[0, 2]) && sender == Some(HEARTBEAT)
}

/// How long the calling thread has waited for a processor so far (Linux, sched-stats.rst: second field); zero where the
/// kernel keeps no account.
pub(super) fn own_wait() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = text.split_ascii_whitespace().nth(1).and_then(|field| field.parse().ok());
    Duration::from_nanos(waited.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn the_longest_standstill_is_kept_with_its_beginning() {
        let (begin, mut heartbeat) = (Instant::now(), Heartbeat::default());
        assert_eq!(heartbeat.pulse(begin, ms(0)), Pulse::None);
        for (at, took) in [(0, 1), (50, 700), (800, 2)] {
            heartbeat.ask(begin + ms(at), ms(0));
            assert!(!heartbeat.is_answered());
            heartbeat.answer(begin + ms(at + took), ms(0));
        }
        let worst = Standstill { began: begin + ms(50), lasted: ms(700) };
        assert_eq!(heartbeat.pulse(begin + ms(900), ms(0)), Pulse::Beats(worst));
    }

    #[test]
    fn what_the_asking_thread_waited_is_not_the_kernels() {
        let (begin, mut heartbeat) = (Instant::now(), Heartbeat::default());
        heartbeat.ask(begin, ms(10));
        heartbeat.answer(begin + ms(300), ms(305));
        assert_eq!(heartbeat.pulse(begin, ms(0)), Pulse::Beats(Standstill { began: begin, lasted: ms(5) }));
    }

    #[test]
    fn a_kernel_that_stands_still_at_the_end_is_found() {
        let (begin, mut heartbeat) = (Instant::now(), Heartbeat::default());
        heartbeat.ask(begin, ms(0));
        // One that never answered cannot be judged.
        assert_eq!(heartbeat.pulse(begin + ms(5_000), ms(0)), Pulse::None);
        heartbeat.answer(begin + ms(1), ms(0));
        heartbeat.ask(begin + ms(50), ms(0));
        let now = Standstill { began: begin + ms(50), lasted: ms(450) };
        assert_eq!(heartbeat.pulse(begin + ms(500), ms(0)), Pulse::Beats(now));
        heartbeat.end();
        assert_eq!(heartbeat.pulse(begin + ms(500), ms(0)), Pulse::Beats(Standstill { began: begin, lasted: ms(1) }));
    }

    #[test]
    fn answers_are_told_from_other_frames() {
        let mut frame = request();
        assert!(!is_answer(&frame), "a request is none");
        frame[21] = 2;
        frame[28..32].copy_from_slice(&HEARTBEAT.octets());
        assert!(is_answer(&frame));
        assert!(!is_answer(&frame[..31]) && !is_answer(&[]));
    }
}
