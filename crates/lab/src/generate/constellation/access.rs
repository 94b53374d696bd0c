//! Starlink's access: all terminals change satellites at the same instants, and each change is felt.
//!
//! Sources: a grid of 15 seconds, with round trips up to 140 ms at the beginning of an interval and 75 ms at its end (arXiv 2601.08439, measured
//! at 500 Hz); losses at its boundaries, each minute at 12, 27, 42 and 57 seconds; rain takes 38 % of the downlink's rate and 52 % of the
//! uplink's, and changes no round trip (arXiv 2505.04772, medians). The range of outages and levels is this model's own choice.

use netloom_units::{Rate, Seed};

/// How long an interval is, unless the file says otherwise.
pub(super) const EVERY: u64 = 15_000_000_000;
/// How long after a full minute the first boundary is, likewise.
pub(super) const OFFSET: u64 = 12_000_000_000;
/// The range of outages, likewise.
pub(super) const OUTAGE: [u64; 2] = [50_000_000, 150_000_000];
/// The range of levels, likewise.
pub(super) const LEVEL: [u64; 2] = [0, 5_000_000];
/// Half of the round trips, as both ways are held up.
pub(super) const SPIKES: [u64; 2] = [70_000_000, 37_500_000];
/// The parts of the rates that rain leaves, down and up, in percent.
const IN_RAIN: [u64; 2] = [62, 48];

/// The access of all stations; times in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// How long an interval is.
    pub(super) every: u64,
    /// The first boundary of two intervals from time zero on.
    pub(super) first: u64,
    /// How long nothing arrives after a boundary, from the least to the greatest.
    pub(super) outage: [u64; 2],
    /// By how much one way is longer in an interval, likewise.
    pub(super) level: [u64; 2],
    /// How much longer one way takes after an outage, and before the next boundary: it falls as fast as time goes by.
    pub(super) spikes: [u64; 2],
    /// The rates down and up, from the least to the greatest; none: as the link has them.
    pub(super) rates: Option<[[Rate; 2]; 2]>,
    pub(super) terminals: Vec<Terminal>,
}

/// The end of an access.
#[derive(Clone, Debug)]
pub(super) struct Terminal {
    pub(super) seed: Seed,
    /// From when to when it rains.
    pub(super) rain: Option<[u64; 2]>,
}

/// The effect of an access at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct State {
    /// How much longer one way takes, in nanoseconds; none: nothing arrives.
    pub(super) extra: Option<u64>,
    /// The rates forward and backward, in bits per second.
    pub(super) rates: Option<[u64; 2]>,
}

impl Access {
    /// The first boundary from time zero on, which is so many nanoseconds after 1970, if one is `offset` after each full minute.
    pub(super) fn first(start: i64, every: u64, offset: u64) -> u64 {
        let after = (i128::from(offset) - i128::from(start)).rem_euclid(i128::from(every.max(1)));
        u64::try_from(after).unwrap_or_default()
    }

    /// Computes the effect of both ends of a path at an instant.
    pub(super) fn state(&self, ends: [usize; 2], at: u64) -> State {
        let [one, other] = ends.map(|end| &self.terminals[end]);
        let extra = self.extra(one, at).zip(self.extra(other, at)).map(|(one, other)| one + other);
        let rates = self.rates.map(|ranges| {
            let [[down, up], [far_down, far_up]] = [one, other].map(|terminal| self.rates(terminal, ranges, at));
            [up.min(far_down), far_up.min(down)]
        });
        State { extra, rates }
    }

    /// The instants of a span at which something of both ends changes, in order.
    pub(super) fn changes(&self, ends: [usize; 2], [from, to]: [u64; 2]) -> Vec<u64> {
        let mut all = Vec::new();
        for terminal in ends.map(|end| &self.terminals[end]) {
            for number in self.number(from)..=self.number(to) {
                let begin = (number > 0).then(|| self.first + (number - 1) * self.every);
                if let Some(begin) = begin {
                    let over = begin + self.outage(terminal, number);
                    all.extend([begin.saturating_sub(1), begin, over, over + self.spikes[0]]);
                }
                let held = (self.first + number * self.every).saturating_sub(self.spikes[1]);
                if held > begin.unwrap_or_default() {
                    all.extend([held - 1, held]);
                }
            }
            all.extend(terminal.rain.into_iter().flatten());
        }
        all.retain(|at| (from..to).contains(at));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Which interval an instant belongs to; that of time zero is 0 unless a boundary is there.
    fn number(&self, at: u64) -> u64 {
        at.checked_sub(self.first).map_or(0, |after| 1 + after / self.every)
    }

    fn extra(&self, terminal: &Terminal, at: u64) -> Option<u64> {
        let number = self.number(at);
        let mut held = 0;
        if number > 0 {
            let since = at - self.first - (number - 1) * self.every;
            let after = since.checked_sub(self.outage(terminal, number))?;
            held = self.spikes[0].saturating_sub(after);
        }
        let left = self.first + number * self.every - at;
        if left <= self.spikes[1] {
            held = held.max(left);
        }
        Some(held + drawn(terminal, number, "level", self.level))
    }

    /// How long nothing arrives at the beginning of an interval.
    fn outage(&self, terminal: &Terminal, number: u64) -> u64 {
        drawn(terminal, number, "outage", self.outage)
    }

    /// The rates down and up.
    fn rates(&self, terminal: &Terminal, [down, up]: [[Rate; 2]; 2], at: u64) -> [u64; 2] {
        let number = self.number(at);
        let [down, up] = [("down", down), ("up", up)]
            .map(|(name, range)| drawn(terminal, number, name, range.map(Rate::as_bits_per_second)));
        match terminal.rain {
            Some([from, to]) if (from..to).contains(&at) => {
                [(down, IN_RAIN[0]), (up, IN_RAIN[1])].map(|(rate, left)| (rate / 100 * left).max(1))
            }
            _ => [down, up],
        }
    }
}

/// A number of a range, each as likely as the others: the same for a terminal, an interval and a purpose, whatever else is drawn.
fn drawn(terminal: &Terminal, number: u64, what: &str, [least, most]: [u64; 2]) -> u64 {
    let word = terminal.seed.derive(what).derive(&number.to_string()).get();
    let width = u128::from(most.saturating_sub(least)) + 1;
    least + u64::try_from((u128::from(word) * width) >> 64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn access() -> Access {
        let rate = |mega: u64| Rate::from_bits_per_second(mega * 1_000_000).expect("a rate");
        let terminal = |name: &str| Terminal { seed: Seed::new(1).derive(name), rain: None };
        Access {
            every: EVERY,
            first: 12 * SECOND,
            outage: OUTAGE,
            level: LEVEL,
            spikes: SPIKES,
            rates: Some([[rate(80), rate(120)], [rate(10), rate(20)]]),
            terminals: vec![terminal("a"), Terminal { rain: Some([20 * SECOND, 30 * SECOND]), ..terminal("b") }],
        }
    }

    #[test]
    fn boundaries_are_at_the_seconds_of_the_minute() {
        let minute = 946_684_800_000_000_000;
        assert_eq!(Access::first(minute, EVERY, OFFSET), 12 * SECOND);
        assert_eq!(Access::first(minute + 12 * SECOND as i64, EVERY, OFFSET), 0);
        assert_eq!(Access::first(minute + 58 * SECOND as i64, EVERY, OFFSET), 14 * SECOND);
        assert_eq!(Access::first(-1, EVERY, OFFSET), 12 * SECOND + 1);
    }

    #[test]
    fn an_interval_has_an_outage_two_spikes_and_a_level() {
        let mut one = access();
        one.terminals[1] = Terminal { rain: None, ..one.terminals[0].clone() };
        (one.level, one.outage) = ([1, 1], [100_000_000; 2]);
        let extra = |at: u64| one.state([0, 1], at).extra;
        // Twice, as both ends have the same.
        assert_eq!(extra(0), Some(2));
        assert_eq!(extra(12 * SECOND - 37_500_000), Some(75_000_002));
        assert_eq!(extra(12 * SECOND - 37_500_001), Some(2));
        assert_eq!(extra(12 * SECOND - 1), Some(4));
        assert_eq!((extra(12 * SECOND), extra(12 * SECOND + 99_999_999)), (None, None));
        assert_eq!(extra(12 * SECOND + 100_000_000), Some(140_000_002));
        assert_eq!(extra(12 * SECOND + 170_000_000), Some(2));
        // What arrives during a spike arrives together.
        let at = 27 * SECOND + 120_000_000;
        assert_eq!(extra(at).zip(extra(at + 7)).map(|(held, later)| held - later), Some(14));
        let changes = one.changes([0, 1], [0, 20 * SECOND]);
        let edge = 12 * SECOND;
        let expected = [edge - 37_500_001, edge - 37_500_000, edge - 1, edge, edge + 100_000_000, edge + 170_000_000];
        assert_eq!(changes, expected);
    }

    #[test]
    fn draws_fill_their_ranges_and_do_not_depend_on_one_another() {
        let one = access();
        let outages: Vec<u64> = (1..=2000).map(|number| one.outage(&one.terminals[0], number)).collect();
        assert!(outages.iter().all(|outage| (OUTAGE[0]..=OUTAGE[1]).contains(outage)));
        let mean = outages.iter().sum::<u64>() / 2000;
        // The mean of 2000 even draws: a deviation of 0.65 ms.
        assert!(mean.abs_diff(100_000_000) < 3_000_000, "{mean}");
        // Another station and another range change nothing.
        let mut other = access();
        other.terminals.remove(1);
        other.level = [7, 9];
        assert!((1..100).all(|number| other.outage(&other.terminals[0], number) == outages[number as usize - 1]));
        assert_ne!(one.outage(&one.terminals[1], 1), outages[0]);
    }

    #[test]
    fn rain_takes_its_part_of_the_rates() {
        let one = access();
        let rates = |ends, at| one.state(ends, at).rates.expect("rates");
        let [up, far_up] = rates([0, 1], 19 * SECOND);
        assert!((10_000_000..=20_000_000).contains(&up) && (10_000_000..=20_000_000).contains(&far_up));
        assert_eq!(rates([0, 1], 20 * SECOND), [up, far_up / 100 * 48]);
        assert_eq!(rates([1, 0], 20 * SECOND), [far_up / 100 * 48, up]);
        assert_eq!(one.state([0, 1], 20 * SECOND).extra, one.state([0, 1], 19 * SECOND).extra);
        assert!(one.changes([0, 1], [0, 40 * SECOND]).contains(&(20 * SECOND)));
    }
}
