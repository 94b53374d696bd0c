//! Samples of all pipes, again and again, at instants that are known ahead of time.
//!
//! A sample is a scheduled event of whoever drives the fabric. At its instant each pipe is brought up to date
//! (`Fabric::sample`), and the changed pipes wait for the session, which writes them down
//! (`netloom_results::Sampler`). If somebody asks, pipes also remember by frame how long packets take, and what
//! becomes of some packets, which clients of the control protocol can subscribe to.

use netloom_fabric::{Fabric, PipeId};
use netloom_link::{PipeCounters, PipeSample};
use netloom_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// More looks at pipes than these do not wait for whoever writes them down: some 100 MB. Further samples are left out.
const MOST_WAITING: usize = 1 << 18;
/// A driver that is behind by more samples than these leaves them out.
const MOST_BEHIND: u64 = 10_000;
/// The shortest span: that of one instant.
pub(crate) const INSTANT: Duration = Duration::from_nanos(1);

/// When pipes are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// How long after a sample the next one is taken; not zero.
    pub every: Duration,
    /// Whether it is measured how long packets take through pipes.
    pub delays: bool,
}

/// A sample of all pipes at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// The instant of the sample. What is due then has not happened yet, but for scheduled events.
    pub at: Instant,
    /// The pipes whose counters are not what they were at the sample before, in order.
    pub pipes: Vec<(PipeId, PipeSample)>,
    /// How many samples before it are missing, because nobody took them or the machine was too slow.
    pub left_out: u64,
}

/// The counters of the pipes of a fabric at the sample before.
#[derive(Debug, Default)]
pub struct Series {
    latest: Vec<PipeCounters>,
    left_out: u64,
}

impl Series {
    /// A sample of `at`, until which everything has happened.
    pub fn take(&mut self, fabric: &mut Fabric, at: Instant, sampling: Sampling) -> Sampled {
        fabric.measure_delays(sampling.delays);
        let latest = &mut self.latest;
        let mut pipes = Vec::new();
        for (number, sample) in fabric.sample(at - INSTANT).enumerate() {
            if latest.len() <= number {
                latest.push(PipeCounters::default());
            }
            if std::mem::replace(&mut latest[number], sample.counters) != sample.counters {
                pipes.push((PipeId(u32::try_from(number).expect("a fabric numbers them so")), sample));
            }
        }
        Sampled { at, pipes, left_out: std::mem::take(&mut self.left_out) }
    }

    /// When the next one is due after that of `at`, as it is `now`.
    pub fn next(&mut self, at: Instant, now: Instant, sampling: Sampling) -> Instant {
        let missed = now.since(at).as_nanos() / sampling.every.as_nanos().max(1);
        let skipped = if missed > MOST_BEHIND { missed } else { 0 };
        self.left_out += skipped;
        at + Duration::from_nanos(sampling.every.as_nanos().saturating_mul(skipped + 1))
    }
}

/// Where a thread puts its samples.
#[derive(Debug)]
pub(crate) struct SeriesLog {
    shard: usize,
    series: Series,
    samples: Sender<(usize, Sampled)>,
    waiting: Arc<AtomicUsize>,
}

/// Where those of all threads come together.
#[derive(Debug)]
pub(crate) struct SeriesInbox {
    outbox: Sender<(usize, Sampled)>,
    samples: Receiver<(usize, Sampled)>,
    waiting: Arc<AtomicUsize>,
    /// By shards.
    parts: Vec<VecDeque<Sampled>>,
}

impl SeriesLog {
    /// Takes the sample of `at`.
    pub(crate) fn take(&mut self, fabric: &mut Fabric, at: Instant, sampling: Sampling) {
        if self.waiting.load(Ordering::Relaxed) > MOST_WAITING {
            self.series.left_out += 1;
            return;
        }
        let sampled = self.series.take(fabric, at, sampling);
        self.waiting.fetch_add(sampled.pipes.len(), Ordering::Relaxed);
        // The receiver may have gone.
        let _ = self.samples.send((self.shard, sampled));
    }

    /// Forgets what was sampled: the next sample has all pipes that have counted anything.
    pub(crate) fn forget(&mut self) {
        self.series = Series::default();
    }

    /// When the next one is due.
    pub(crate) fn next(&mut self, at: Instant, now: Instant, sampling: Sampling) -> Instant {
        self.series.next(at, now, sampling)
    }
}

impl SeriesInbox {
    pub(crate) fn new(shards: usize) -> Self {
        let (outbox, samples) = channel();
        let parts = (0..shards).map(|_| VecDeque::new()).collect();
        Self { outbox, samples, waiting: Arc::default(), parts }
    }

    /// Where the thread of this shard puts its own.
    pub(crate) fn log_of(&self, shard: usize) -> SeriesLog {
        let (samples, waiting) = (self.outbox.clone(), Arc::clone(&self.waiting));
        SeriesLog { shard, series: Series::default(), samples, waiting }
    }

    /// Those that all threads have taken since the last call; `find` says which pipe a thread's is in the whole, if it is one.
    pub(crate) fn take(&mut self, find: impl Fn(usize, PipeId) -> Option<PipeId>) -> Vec<Sampled> {
        for (shard, sampled) in self.samples.try_iter() {
            self.waiting.fetch_sub(sampled.pipes.len(), Ordering::Relaxed);
            self.parts[shard].push_back(sampled);
        }
        let mut all = Vec::new();
        while let Some(at) = self.next_instant() {
            let mut whole = Sampled { at, pipes: Vec::new(), left_out: 0 };
            for (shard, part) in self.parts.iter_mut().enumerate() {
                if part.front().is_none_or(|sampled| sampled.at > at) {
                    continue;
                }
                let Some(sampled) = part.pop_front() else { continue };
                whole.left_out = whole.left_out.max(sampled.left_out);
                let own = sampled.pipes.into_iter().filter_map(|(pipe, sample)| Some((find(shard, pipe)?, sample)));
                whole.pipes.extend(own);
            }
            whole.pipes.sort_by_key(|(pipe, _)| *pipe);
            all.push(whole);
        }
        all
    }

    /// Drops the samples that nobody has taken.
    pub(crate) fn clear(&mut self) {
        let _ = self.take(|_, _| None);
        self.parts.iter_mut().for_each(VecDeque::clear);
    }

    /// The first instant of which each thread has a sample, or has passed it.
    fn next_instant(&self) -> Option<Instant> {
        let first = self.parts.iter().map(|part| part.front().map(|sampled| sampled.at)).collect::<Option<Vec<_>>>()?;
        first.into_iter().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_fabric::{PipeSpec, PortId};
    use netloom_link::PipeConfig;
    use netloom_packet::{Pool, VirtioHeader};
    use netloom_units::Seed;

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn fabric(pipes: u32) -> Fabric {
        let spec = |pipe: u32| PipeSpec {
            name: format!("pipe {pipe}"),
            from: PortId(2 * pipe),
            to: PortId(2 * pipe + 1),
            coalesce: Duration::ZERO,
            filter: None,
            medium: Vec::new(),
            config: PipeConfig { delay: Duration::from_millis(4).into(), ..PipeConfig::default() },
        };
        Fabric::new(Seed::new(1), &(0..pipes).map(spec).collect::<Vec<_>>())
    }

    const SAMPLING: Sampling = Sampling { every: Duration::from_millis(10), delays: true };

    #[test]
    fn only_pipes_that_changed_are_in_a_sample() {
        let (mut fabric, mut pool, mut series) = (fabric(2), Pool::default(), Series::default());
        assert_eq!(series.take(&mut fabric, ms(0), SAMPLING).pipes, []);
        fabric.inject(ms(1), PortId(2), pool.packet(VirtioHeader::COMPLETE, &[0; 114])).unwrap();
        fabric.advance(ms(9), |_| ());
        let Sampled { pipes, left_out, .. } = series.take(&mut fabric, ms(10), SAMPLING);
        let delays = pipes[0].1.delays.unwrap();
        assert_eq!((pipes.len(), pipes[0].0, delays.packets, left_out), (1, PipeId(1), 1, 0));
        assert_eq!(delays.max, Duration::from_millis(4));
        assert_eq!(series.take(&mut fabric, ms(20), SAMPLING).pipes, []);
    }

    #[test]
    fn samples_of_threads_come_together_and_missing_ones_hold_up_nobody() {
        let mut inbox = SeriesInbox::new(2);
        let (mut one, mut other) = (inbox.log_of(0), inbox.log_of(1));
        let (mut here, mut there) = (fabric(1), fabric(1));
        let mut pool = Pool::default();
        let whole = |shard: usize, _: PipeId| Some(PipeId(u32::try_from(1 - shard).unwrap()));
        for at in [0, 10, 20] {
            for fabric in [&mut here, &mut there] {
                fabric.inject(ms(at), PortId(0), pool.packet(VirtioHeader::COMPLETE, &[0; 114])).unwrap();
                fabric.advance(ms(at), |_| ());
            }
            one.take(&mut here, ms(at + 1), SAMPLING);
            if at != 10 {
                other.take(&mut there, ms(at + 1), SAMPLING);
            }
        }
        let all = inbox.take(whole);
        let seen: Vec<(Instant, Vec<u32>)> =
            all.iter().map(|sampled| (sampled.at, sampled.pipes.iter().map(|(pipe, _)| pipe.0).collect())).collect();
        assert_eq!(seen, [(ms(1), vec![0, 1]), (ms(11), vec![1]), (ms(21), vec![0, 1])]);
        assert_eq!(inbox.waiting.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn who_is_far_behind_leaves_samples_out() {
        let mut series = Series::default();
        assert_eq!(series.next(ms(0), ms(95), SAMPLING), ms(10));
        let now = ms(10 * (MOST_BEHIND + 5));
        assert_eq!(series.next(ms(0), now, SAMPLING), now + SAMPLING.every);
        assert_eq!(series.take(&mut fabric(1), now, SAMPLING).left_out, MOST_BEHIND + 5);
    }
}
