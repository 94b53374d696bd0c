//! A cellular network by two traces, one recorded under light load and one under heavy load, as CellReplay replays them.
//!
//! | parameter | unit | range | default |
//! |---|---|---|---|
//! | light | ms: per line a train's time, its delay, its packets | whole, never falling | - |
//! | heavy | ms, one opportunity per line | whole, never falling, the last above 0 | - |
//! | bytes | bytes per opportunity | 1 and above | 1,400 B |
//! | header | bytes charged per packet | 0 and above | 4 B |
//! | timer | time | 0 and above | 0 ms |
//!
//! A network gives a terminal that sends little fewer opportunities than one that always has something to send. So there are two
//! recordings: trains of a few packets, which tell the delay and the opportunities of whoever begins to send, and a saturated link.
//! Source: Sentosa, Chandrasekaran, Godfrey and Hassanieh 2025, "CellReplay" (NSDI), and what `CellularQueue` of its authors does:
//! - A packet that finds nothing in front of it, and that arrives more than `timer` behind the last packet sent, begins a *burst*: it leaves
//!   at once. The burst takes over the train that was recorded last at that instant: its packets' times behind the first are the opportunities
//!   of the burst, counted from its beginning, and every packet of the burst travels for the delay of that train, in a straight line
//!   towards the delay of the next one.
//! - Each of these opportunities carries whole packets, as far as its bytes go. One that passes while no packet waits is lost.
//! - When they are used up, the rest of the burst takes opportunities of the heavy trace, as mahimahi does ([`delivery_trace`]). These are
//!   instants at which packets arrive, so they are compared with the instants at which packets would arrive by the delay of the burst.
//! - Packets do not overtake one another, no opportunity is used twice, and both traces begin again at their ends.
//!
//! Differs from CellReplay:
//! - The traces begin with the run, and not with the first packet. Delays between trains are not cut to milliseconds.
//! - A burst lasts until nothing waits any more. The program looks at the delay alone, so there a packet may begin a train while others
//!   wait for heavy opportunities, behind which it waits all the same.
//! - A packet larger than an opportunity takes several, as in heavy load; the program refuses it.
//! - There is no correction of delays by the sizes of packets.
//!
//! [`delivery_trace`]: super::delivery_trace

mod light;

use super::delivery_trace::{DeliveryTimes, DeliveryTrace, DeliveryTraceConfig};
use crate::ConfigError;
use alloc::sync::Arc;
pub use light::LightTrains;
use netloom_units::{Bytes, Duration, Instant, Rate};

/// Two traces and what their opportunities are worth; see the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellTraceConfig {
    /// The trains that were recorded under light load.
    pub light: LightTrains,
    /// The file that these were read from, as the user named it.
    pub light_file: Arc<str>,
    /// The opportunities under heavy load, with their file and what they and packets are charged in both traces.
    pub heavy: DeliveryTraceConfig,
    /// For how long a burst goes on behind its last packet.
    pub timer: Duration,
}

impl CellTraceConfig {
    /// The bytes that CellReplay lets leave at each opportunity: those of the packets with which it records.
    pub const BYTES: Bytes = Bytes::new(1_400);

    /// Creates the description of these traces with everything else at its default.
    pub fn new((light, light_file): (LightTrains, Arc<str>), (heavy, file): (DeliveryTimes, Arc<str>)) -> Self {
        let (bytes, header) = (Self::BYTES, DeliveryTraceConfig::HEADER);
        let heavy = DeliveryTraceConfig { times: heavy, file, bytes, header };
        Self { light, light_file, heavy, timer: Duration::ZERO }
    }

    /// Whether it makes sense.
    ///
    /// # Errors
    /// Opportunities or headers of a size that makes none.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.heavy.check()
    }
}

/// The model at work. The transmitter sends a packet when the network takes it, which is the delay of the burst before it arrives.
#[derive(Clone, Debug)]
pub(crate) struct CellTrace {
    config: CellTraceConfig,
    began: Instant,
    burst: Option<Burst>,
    /// The opportunities under heavy load, asked at the instants at which packets would arrive.
    heavy: DeliveryTrace,
    /// When the last packet was sent, or will be for which the transmitter waits.
    busy_until: Instant,
    /// When the last packet arrives that was sent.
    arrived: Instant,
    /// The last packet: the burst when its transmission began, what it needed, and when that was.
    before: Option<(Burst, u128, Instant)>,
}

#[derive(Clone, Copy, Debug)]
struct Burst {
    began: Instant,
    delay: Duration,
    train: usize,
    /// The next opportunity of the train.
    next: usize,
    /// The rest of the one before it, in billionths of a bit.
    surplus: u128,
    /// Whether the train is used up.
    is_heavy: bool,
}

impl CellTrace {
    pub(crate) fn new(config: &CellTraceConfig, now: Instant) -> Self {
        let heavy = DeliveryTrace::new(&config.heavy, now);
        Self { config: config.clone(), began: now, burst: None, heavy, busy_until: now, arrived: now, before: None }
    }

    pub(crate) fn mean(&self) -> Rate {
        self.heavy.mean()
    }

    /// Returns how much of the opportunities a packet takes that is charged `size`, in billionths of a bit.
    pub(crate) fn needed(&self, size: Bytes) -> u128 {
        self.heavy.needed(size)
    }

    /// The delay of what is sent now.
    pub(crate) fn delay(&self) -> Duration {
        self.burst.map_or(Duration::ZERO, |burst| burst.delay)
    }

    /// The least delay of all that is sent from now on.
    pub(crate) fn least_delay(&self) -> Duration {
        self.config.light.least_delay()
    }

    /// When a packet that finds the transmitter idle at `now` can leave the queue.
    pub(crate) fn opens(&mut self, now: Instant) -> Instant {
        let going_on = self.burst.filter(|_| now <= self.busy_until + self.config.timer);
        let mut burst = going_on.unwrap_or_else(|| self.begin(now));
        let opens = if burst.is_heavy || !burst.seek(&self.config, now) {
            let last = burst.end(&self.config);
            self.open_heavily(&mut burst, now.max(last)) - burst.delay
        } else {
            burst.opens(&self.config, now)
        };
        self.burst = Some(burst);
        self.busy_until = self.busy_until.max(opens);
        opens
    }

    fn begin(&self, now: Instant) -> Burst {
        let (train, delay) = self.config.light.at(self.began, now);
        let surplus = self.config.opportunity();
        Burst { began: now, delay, train, next: 1, surplus, is_heavy: false }
    }

    /// The burst takes heavy opportunities behind `last`, and behind everything that has arrived. Returns when the first of them is.
    fn open_heavily(&mut self, burst: &mut Burst, last: Instant) -> Instant {
        burst.is_heavy = true;
        self.heavy.opens((last + burst.delay).max(self.arrived))
    }

    /// When a packet can follow one that is sent to its end at `now`.
    pub(crate) fn follows(&mut self, now: Instant) -> Instant {
        let follows = match self.burst {
            Some(burst) if burst.is_heavy => self.heavy.follows(now + burst.delay) - burst.delay,
            Some(burst) => burst.opens(&self.config, now),
            None => now,
        };
        self.busy_until = self.busy_until.max(follows);
        follows
    }

    /// How long a packet is on the transmitter that needs so many billionths of a bit.
    pub(crate) fn send(&mut self, start: Instant, needed: u128) -> Duration {
        let mut burst = self.burst.unwrap_or_else(|| self.begin(start));
        self.before = Some((burst, needed, start));
        let (left, at) = burst.take(&self.config, needed, start, Instant::MAX);
        let mut finish = at;
        if left > 0 {
            if !burst.is_heavy {
                self.open_heavily(&mut burst, at);
            }
            finish = at + self.heavy.send(at + burst.delay, left);
        } else if burst.is_used_up(&self.config) {
            // From here on what waits takes the next opportunity of the heavy trace.
            self.open_heavily(&mut burst, at);
        }
        self.burst = Some(burst);
        self.busy_until = finish;
        self.arrived = self.arrived.max(finish + burst.delay);
        finish.since(start)
    }

    /// Returns how much the packet on the transmitter still needs at `now`.
    pub(crate) fn owed(&self, now: Instant) -> u128 {
        let Some((mut burst, needed, start)) = self.before else { return 0 };
        let (left, _) = burst.take(&self.config, needed, start, now);
        if left > 0 && burst.is_used_up(&self.config) { self.heavy.owed(now + burst.delay) } else { left }
    }
}

impl CellTraceConfig {
    /// The worth of an opportunity, in billionths of a bit.
    fn opportunity(&self) -> u128 {
        u128::from(self.heavy.bytes.get()) * 8_000_000_000
    }
}

impl Burst {
    fn arrivals<'a>(&self, config: &'a CellTraceConfig) -> &'a [Duration] {
        &config.light.train(self.train).arrivals
    }

    /// The last opportunity of the train.
    fn end(&self, config: &CellTraceConfig) -> Instant {
        self.arrivals(config).last().map_or(self.began, |last| self.began + *last)
    }

    fn is_used_up(&self, config: &CellTraceConfig) -> bool {
        self.surplus == 0 && self.next == self.arrivals(config).len()
    }

    /// Loses the opportunities that have passed at `now`; false if none is left.
    fn seek(&mut self, config: &CellTraceConfig, now: Instant) -> bool {
        let arrivals = self.arrivals(config);
        let gone = now.since(self.began);
        if arrivals[self.next - 1] < gone {
            self.surplus = 0;
        }
        while self.next < arrivals.len() && arrivals[self.next] < gone {
            self.next += 1;
        }
        !self.is_used_up(config)
    }

    /// When the next packet can leave the queue while the train is not used up.
    fn opens(&self, config: &CellTraceConfig, now: Instant) -> Instant {
        if self.surplus > 0 { now } else { self.began + self.arrivals(config)[self.next] }
    }

    /// Takes what a packet needs from the train's opportunities up to `until`. Returns what it still needs, and when it got the last part.
    fn take(&mut self, config: &CellTraceConfig, needed: u128, start: Instant, until: Instant) -> (u128, Instant) {
        let (mut owed, mut at) = (needed, start);
        if self.is_heavy {
            return (owed, at);
        }
        if self.surplus < owed && owed <= config.opportunity() {
            self.surplus = 0;
        }
        let arrivals = self.arrivals(config);
        loop {
            let used = owed.min(self.surplus);
            owed -= used;
            self.surplus -= used;
            if owed == 0 || self.next == arrivals.len() || self.began + arrivals[self.next] > until {
                return (owed, at);
            }
            at = self.began + arrivals[self.next];
            self.next += 1;
            self.surplus = config.opportunity();
        }
    }
}
