//! Cells by two traces against their definition, packet by packet.

use crate::rates::{Case, Segment, arrivals, play, steady, traces};
use netloom_link::{CellTraceConfig, DeliveryTraceConfig, LightTrains, PipeConfig, QueueConfig, RateConfig};
use netloom_units::{Duration, Instant, Limit};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::VecDeque;

/// A train: when it was sent, the delay of its first packet, and how long after that each arrived, in milliseconds.
type Train = (u64, u64, Vec<u64>);

fn trains() -> impl Strategy<Value = Vec<Train>> {
    let train = (0..30_u64, 0..30_u64, vec(0..4_u64, 0..6));
    (vec(train, 0..5), 1..30_u64).prop_map(|(trains, last)| {
        let mut sent = 0;
        let mut all = Vec::new();
        for (gap, delay, gaps) in [(0, 20, vec![1, 1])].into_iter().chain(trains).chain([(last, 5, Vec::new())]) {
            sent += if all.is_empty() { 0 } else { gap };
            let mut at = 0;
            let behind = gaps.into_iter().map(|later| {
                at += later;
                at
            });
            all.push((sent, delay, [0].into_iter().chain(behind).collect()));
        }
        all
    })
}

fn config(trains: &[Train], heavy: DeliveryTraceConfig, timer: u64) -> CellTraceConfig {
    let line = |(sent, delay, arrivals): &Train| {
        let arrivals: String = arrivals.iter().map(|at| format!(" {at}")).collect();
        format!("{sent} {delay}{arrivals}\n")
    };
    let light: LightTrains = trains.iter().map(line).collect::<String>().parse().expect("it is a trace");
    let mut config = CellTraceConfig::new((light, "light".into()), (heavy.times.clone(), "heavy".into()));
    config.heavy = heavy;
    config.timer = Duration::from_nanos(timer);
    config
}

pub(crate) fn cells() -> impl Strategy<Value = CellTraceConfig> {
    (trains(), traces(), prop_oneof![Just(0), 0..20_000_000_u64])
        .prop_map(|(trains, heavy, timer)| config(&trains, heavy, timer))
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn cells_are_what_their_definition_says(
        trains in trains(),
        heavy in traces(),
        timer in prop_oneof![Just(0), 0..20_000_000_u64],
        case in steady(Just(PipeConfig::default())),
    ) {
        let cell = config(&trains, heavy, timer);
        let queue = QueueConfig::DropTail(Limit::Packets(u32::MAX));
        let case = Case { config: PipeConfig { rate: RateConfig::CellTrace(cell.clone()), queue, ..case.config }, ..case };
        let mut oracle = Oracle::new(&trains, &cell, 20_000);
        let due = |(segment, at, size): (Segment, Instant, u64)| {
            (segment, size, Instant::from_nanos(oracle.due(at.as_nanos(), size)))
        };
        let wanted: Vec<(Segment, u64, Instant)> = arrivals(&case).into_iter().map(due).collect();
        prop_assert_eq!(play(&case, None, false).left, wanted);
    }
}

/// The definition, packet by packet, in nanoseconds.
struct Oracle<'a> {
    trains: &'a [Train],
    /// Every heavy opportunity, and how much is left of it.
    heavy: Vec<(u64, u64)>,
    /// What an opportunity carries, and what a packet is charged beside its bytes.
    worth: (u64, u64),
    timer: u64,
    burst: Option<Burst>,
    /// When the last packet was sent, and when it was due.
    last: (u64, u64),
}

struct Burst {
    delay: u64,
    /// The light opportunities, and how much is left of each.
    light: VecDeque<(u64, u64)>,
    /// When the last one of them is.
    end: u64,
    is_heavy: bool,
}

impl<'a> Oracle<'a> {
    fn new(trains: &'a [Train], cell: &CellTraceConfig, rounds: u64) -> Self {
        let worth = (cell.heavy.bytes.get(), cell.heavy.header.get());
        let (times, period) = (cell.heavy.times.times(), cell.heavy.times.period().as_nanos());
        let round = |round: u64| times.iter().map(move |time| (round * period + time.as_nanos(), worth.0));
        let heavy = (0..rounds).flat_map(round).collect();
        Self { trains, heavy, worth, timer: cell.timer.as_nanos(), burst: None, last: (0, 0) }
    }

    /// When a packet is due that arrives now.
    fn due(&mut self, at: u64, size: u64) -> u64 {
        if self.burst.is_none() || at > self.last.0 + self.timer {
            self.burst = Some(self.begin(at));
        }
        let mut burst = self.burst.take().expect("it has begun");
        let is_idle = at >= self.last.0;
        let mut sent = at.max(self.last.0);
        let mut owed = size + self.worth.1;
        // What has passed is lost, and what is too little for a packet that fits into an opportunity.
        burst.light.retain(|(opportunity, _)| *opportunity >= sent);
        if burst.light.front().is_some_and(|(_, left)| *left < owed && owed <= self.worth.0) {
            burst.light.pop_front();
        }
        while owed > 0
            && let Some((opportunity, left)) = burst.light.pop_front()
        {
            sent = sent.max(opportunity);
            if left > owed {
                burst.light.push_front((opportunity, left - owed));
            }
            owed -= owed.min(left);
        }
        if owed > 0 {
            if is_idle || !burst.is_heavy {
                let passed = (sent.max(burst.end) + burst.delay).max(self.last.1);
                self.heavy.retain(|(opportunity, _)| *opportunity > passed);
            }
            burst.is_heavy = true;
            sent = self.heavily(owed) - burst.delay;
        }
        self.last = (sent, self.last.1.max(sent + burst.delay));
        self.burst = Some(burst);
        self.last.1
    }

    /// When heavy opportunities have carried so much.
    fn heavily(&mut self, mut owed: u64) -> u64 {
        for (opportunity, left) in &mut self.heavy {
            let used = owed.min(*left);
            *left -= used;
            owed -= used;
            if owed == 0 {
                return *opportunity;
            }
        }
        panic!("there are more rounds than that");
    }

    fn begin(&self, at: u64) -> Burst {
        const MS: u64 = 1_000_000;
        let period = self.trains.last().expect("there are two").0 * MS;
        let within = at % period;
        let (mut train, mut next) = (&self.trains[0], &self.trains[1]);
        for pair in self.trains.windows(2).filter(|pair| pair[0].0 * MS <= within) {
            (train, next) = (&pair[0], &pair[1]);
        }
        let (gone, span) = (i128::from(within - train.0 * MS), i128::from((next.0 - train.0) * MS));
        let rise = i128::from(next.1 * MS) - i128::from(train.1 * MS);
        let delay = (i128::from(train.1 * MS) * span + rise * gone).div_euclid(span);
        let light: VecDeque<_> = train.2.iter().map(|arrival| (at + arrival * MS, self.worth.0)).collect();
        let end = light.back().expect("there is one").0;
        Burst { delay: u64::try_from(delay).expect("it is no less than both"), light, end, is_heavy: false }
    }
}
