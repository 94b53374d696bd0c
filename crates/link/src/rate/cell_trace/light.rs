//! Trains of packets that were recorded under light load, and their files.

use crate::ConfigError;
use crate::slope::Slope;
use alloc::{boxed::Box, format, sync::Arc, vec::Vec};
use core::str::FromStr;
use netloom_units::{Duration, Instant};

/// The trains of a recording, in order; the instant of the last one is the length of the trace, which is repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LightTrains(Arc<[Train]>);

/// A train of packets that was sent at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Train {
    /// When it was sent, since the beginning of the trace.
    sent: Duration,
    /// How long its first packet was on its way.
    delay: Duration,
    /// How long after the first packet each packet arrived, the first one included.
    pub(crate) arrivals: Box<[Duration]>,
}

impl LightTrains {
    /// Returns the shortest time that the first packet of any train was on its way.
    pub fn least_delay(&self) -> Duration {
        self.0.iter().map(|train| train.delay).min().unwrap_or(Duration::ZERO)
    }

    /// Returns after how long the trace begins again.
    pub fn period(&self) -> Duration {
        self.0.last().expect("a trace has two trains").sent
    }

    /// The train that was sent last when the trace, which began at `began`, is at `now`; and the delay there, in a straight line from
    /// that of this train to that of the next one.
    pub(crate) fn at(&self, began: Instant, now: Instant) -> (usize, Duration) {
        let within = Duration::from_nanos(now.since(began).as_nanos() % self.period().as_nanos());
        // The last line is only where the delay goes to: its instant is that of the first one in the next round.
        let index = self.0.partition_point(|train| train.sent <= within).saturating_sub(1);
        let (train, next) = (&self.0[index], &self.0[index + 1]);
        let instant = |since: Duration| Instant::ZERO + since;
        let (from, to) = (train.delay.as_nanos(), next.delay.as_nanos());
        let line = Slope { begin: instant(train.sent), end: instant(next.sent), from, to };
        (index, Duration::from_nanos(line.at(instant(within))))
    }

    pub(crate) fn train(&self, index: usize) -> &Train {
        &self.0[index]
    }
}

impl FromStr for LightTrains {
    type Err = ConfigError;

    /// Reads a trace in the format of CellReplay: per line the instant of a train, the delay of its first packet, and for each of its
    /// packets how long after the first it arrived, all in whole milliseconds with a space in between.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let mut trains: Vec<Train> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let wrong = |why: &str| ConfigError::new("", format!("line {}: {why}", index + 1));
            let train = train(line).map_err(wrong)?;
            match trains.last() {
                None if !train.sent.is_zero() => return Err(wrong("the first train is sent at 0")),
                Some(before) if train.sent < before.sent => {
                    return Err(wrong("the times go backwards: each train is sent at or after the one before it"));
                }
                _ => trains.push(train),
            }
        }
        if trains.last().is_none_or(|last| last.sent.is_zero()) {
            let why = "the trace needs two trains at least, and the last one after 0 ms, which is its length: write lines like `0 25 0 1 3`";
            return Err(ConfigError::new("", why));
        }
        Ok(Self(trains.into()))
    }
}

fn train(line: &str) -> Result<Train, &'static str> {
    const WANTED: &str = "a line has a time, a delay, and the times of packets behind the first, 0, like `0 25 0 1 3`";
    let numbers = line.split(' ').map(milliseconds);
    let numbers: Vec<Duration> =
        numbers.collect::<Option<_>>().ok_or("these are not all whole numbers of milliseconds")?;
    let [sent, delay, arrivals @ ..] = numbers.as_slice() else { return Err(WANTED) };
    if !arrivals.first().is_some_and(|first| first.is_zero()) {
        return Err(WANTED);
    }
    if !arrivals.is_sorted() {
        return Err("the packets of a train arrive in order: each time behind the first is at least the one before it");
    }
    Ok(Train { sent: *sent, delay: *delay, arrivals: arrivals.into() })
}

/// So many milliseconds; at most a day, so that sums of them are instants.
fn milliseconds(word: &str) -> Option<Duration> {
    const DAY: u64 = 86_400_000;
    let is_whole = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_whole { word.parse().ok() } else { None };
    number.filter(|ms: &u64| *ms <= DAY).map(Duration::from_millis)
}
