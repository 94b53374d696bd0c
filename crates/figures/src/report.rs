//! The engine's report about itself and every pipe.

use crate::distribution::Distribution;
use netloom_fabric::{PortId, RouterCounters, SwitchState};
use netloom_link::{PipeCounters, StationCounters};
use netloom_units::{Duration, Instant};

/// A report on the fabric and the engine at one instant.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When it was taken.
    pub at: Instant,
    /// The reports of the pipes, in order of ids.
    pub pipes: Vec<PipeReport>,
    /// The counters of each transit router since counting began, in their order.
    pub routers: Vec<RouterCounters>,
    /// The counters of each switch since counting began, and the multicast groups that it knows, in their order.
    pub switches: Vec<SwitchState>,
    /// The report of the engine itself.
    pub engine: EngineReport,
}

/// The counters and measurements of one pipe.
#[derive(Clone, Debug)]
pub struct PipeReport {
    /// The counters of the pipe's model since counting began.
    pub counters: PipeCounters,
    /// How late packets were delivered, against the instants that the model computed. Since the last reset.
    pub lateness: Distribution,
    /// The propagation delay that packets really had, lateness and coalescing included. Since the last reset.
    pub delay: Distribution,
    /// How long the transmitter should have been busy with the segments that followed one another without a gap and were
    /// delivered. Since the last reset.
    pub busy_described: Duration,
    /// How long it was busy in fact: with the same segments as much longer as they were delivered later and later, and
    /// with those that the engine lost. What happens to packets behind the transmitter is not in it.
    pub busy_measured: Duration,
    /// The counters of each station of a radio medium since counting began, in order of the link's ends; empty without.
    pub stations: Vec<StationCounters>,
    /// The reports of those of its packets that are counted for themselves, in the order in which that was asked for.
    pub watched: Vec<PipeReport>,
}

impl PipeReport {
    /// Achieved rate by described rate, while the transmitter was busy; none if it never was.
    pub fn rate_ratio(&self) -> Option<f64> {
        let measured = self.busy_measured.as_nanos();
        (measured > 0).then(|| self.busy_described.as_nanos() as f64 / measured as f64)
    }
}

/// The report of the engine itself. What it lost is an error of the engine, not an effect of the models.
#[derive(Clone, Debug, Default)]
pub struct EngineReport {
    /// Packets lost before the fabric saw them: ring, socket buffer or memory full. A train counts once.
    pub lost_receiving: u64,
    /// Packets (segments) that the kernel refused to take, that found no room in a guest for too long, or none between two
    /// threads.
    pub lost_sending: u64,
    /// Every port, in no particular order, and the ports of transit routers where packets pass from one thread to another. What was lost because the ring was full is in `lost_receiving` only: the kernel
    /// does not tell which ports it came from.
    pub ports: Vec<PortReport>,
    /// By how much the fabric is behind the present, because this machine does not compute in time what the links describe;
    /// lab time.
    pub behind: Duration,
    /// Whether packets were refused because the engine may use no more memory.
    pub was_out_of_memory: bool,
    /// Packets (segments) for interfaces whose carrier the lab took away, and for guests that do not listen: not booted yet, interface never up, or powered off. As if the
    /// cable were not connected; not an error of the engine.
    pub unheard: u64,
    /// Ports of guests that have ended, and why: powered off, killed, or a rule was broken.
    pub ended_ports: Vec<(PortId, String)>,
    /// Guests with a share of a processor that had no buffer for packets, in no particular order.
    pub slow_receivers: Vec<SlowReceiver>,
    /// Tunnels to other machines, in no particular order.
    pub tunnels: Vec<TunnelReport>,
    /// Why it refused the latest of them.
    pub last_send_error: Option<String>,
    /// Its threads, one by shard.
    pub threads: Vec<ThreadReport>,
    /// How long before a packet is due the engine stops sleeping and spins, as it learned on this machine; of several
    /// threads the longest. Wall time.
    pub margin: Duration,
}

/// A guest that has only a described share of a processor, and did not take packets as fast as they came. Since the engine started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowReceiver {
    /// The fabric's port.
    pub port: PortId,
    /// Packets (segments) that waited for a buffer of the guest.
    pub packets: u64,
    /// How long one of them waited at most, in lab time.
    pub longest: Duration,
}

impl SlowReceiver {
    /// Records a packet of so many `segments` that has `waited` so long.
    pub fn record(&mut self, segments: u32, waited: Duration) {
        self.packets += u64::from(segments);
        self.longest = self.longest.max(waited);
    }
}

/// How a thread comes before others, from the least to the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// Not at all.
    #[default]
    Ordinary,
    /// By its nice value, within its session.
    Nice,
    /// By the lowest real-time priority, before all ordinary programs.
    RealTime,
}

/// A thread of the engine, since it started. Times are wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadReport {
    /// Its processor time.
    pub cpu_time: Duration,
    /// How long it was ready to run and had no processor; none where the kernel does not tell.
    pub run_queue_wait: Option<Duration>,
    /// How it comes before other programs.
    pub policy: Policy,
    /// How long it has done without its real-time priority, since it needed too much of its processor.
    pub gave_way: Duration,
}

/// A tunnel to a lab of another machine, since the engine started. Times are wall time, which is the lab's time here.
#[derive(Clone, Debug)]
pub struct TunnelReport {
    /// The fabric's port.
    pub port: PortId,
    /// The least time that the path to the far end took lately: half of the round trip, unless both read the same clock.
    pub base: Duration,
    /// Whether both ends read the same clock, as on one machine, so that each way is known by itself.
    pub has_common_clock: bool,
    /// The clocks of both ends, as far as they are known.
    pub clocks: TunnelClocks,
    /// How long datagrams took from the far end.
    pub took: Distribution,
    /// How long after their instant frames came from there; zero for all that came in time.
    pub behind: Distribution,
    /// Frames (segments) that were sent there.
    pub sent: u64,
    /// Frames of the far end that came.
    pub received: u64,
    /// Frames of the far end that the path lost.
    pub lost: u64,
    /// Frames of the far end that came more than once, counted when they came again.
    pub repeated: u64,
    /// Frames that could not be sent since the far end was there no more.
    pub missed: u64,
    /// Datagrams from the far end's address that were none of its own.
    pub strays: u64,
    /// Datagrams from there that were not made with the tunnel's key.
    pub forged: u64,
    /// Datagrams that somebody repeated.
    pub replayed: u64,
    /// The longest datagram that is sent there, in bytes.
    pub datagram: u64,
    /// Frames that were sent there in pieces.
    pub cut: u64,
    /// Frames of the far end that came in pieces, and were joined.
    pub joined_frames: u64,
    /// Frames of the far end of which pieces came, though not all within the time that they are waited for.
    pub unjoined: u64,
    /// Pieces that belong to no frame.
    pub malformed: u64,
    /// Pieces that came once more, or after their frame.
    pub repeated_pieces: u64,
    /// Frames of the far end that the path lost, and that came when they were asked for.
    pub repaired: u64,
    /// Frames that were sent there once more.
    pub resent: u64,
    /// Whether the far end ever took frames.
    pub was_joined: bool,
    /// How often the far end was silent for a while, or began anew.
    pub gaps: u64,
    /// How long the far end was silent altogether.
    pub silent: Duration,
    /// When it was heard last, if it is silent now or has left.
    pub heard_until: Option<Instant>,
    /// Whether it said that it leaves.
    pub has_left: bool,
}

/// The clocks of both ends of a tunnel since time zero, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TunnelClocks {
    /// By how much one-way delays are off at most; zero if both ends read the same clock.
    pub bound: Duration,
    /// By how many nanoseconds the way to the far end takes longer than the way back, at their best; none: no common time of day tells.
    pub asymmetry_ns: Option<i64>,
    /// How often the clocks moved apart at once.
    pub jumps: u64,
    /// Whether the times of day of both ends are further apart than these say.
    pub contradict: bool,
}

/// The packets that came in at a port and those that were lost there, outside the models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortReport {
    /// The fabric's port.
    pub port: PortId,
    /// Whether it is an interface of this machine's kernel, which counts its packets, too.
    pub is_interface: bool,
    /// Packets that the engine has seen from there, lost ones included. A train counts once.
    pub received: u64,
    /// Received packets that were lost before the fabric saw them: the socket's buffer or the engine's memory was full.
    pub lost_receiving: u64,
    /// Packets (segments) for there that the kernel refused, or that found no room in a guest or in another thread's queue.
    pub lost_sending: u64,
    /// Packets that the kernel took for there, of an interface. A train counts once. What is lost behind that, the interface does not
    /// count as sent.
    pub taken: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_one_percent() {
        let mut distribution = Distribution::default();
        assert_eq!((distribution.count(), distribution.mean(), distribution.quantile(0.5)), (0, None, None));
        for us in 1..=1_000 {
            distribution.record(Duration::from_micros(us), 1);
        }
        assert_eq!(distribution.count(), 1_000);
        assert_eq!(distribution.mean(), Some(Duration::from_nanos(500_500)));
        for (q, exact_us) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1_000.0)] {
            let value = distribution.quantile(q).expect("there are values").as_micros_f64();
            assert!((value / exact_us - 1.0).abs() <= 0.01, "{q}: {value} us");
        }
    }

    #[test]
    fn hours_are_recorded_as_well_as_nanoseconds() {
        let mut distribution = Distribution::default();
        distribution.record(Duration::from_nanos(1), 2);
        distribution.record(Duration::from_secs(7_200), 1);
        assert_eq!(distribution.quantile(0.5), Some(Duration::from_nanos(1)));
        assert!(distribution.max().expect("a value") >= Duration::from_secs(7_200));
    }
}
