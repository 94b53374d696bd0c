//! What is known of the path between the two ends of a tunnel: how far their clocks are apart, how long datagrams take.
//!
//! Each end asks the other for the time, as NTP does (RFC 5905, section 8): with the instants at which a question was sent
//! (t1), came (t2), was answered (t3) and the answer came (t4), `t2 - t1` is the way there and `t4 - t3` the way back, each off
//! by how far the clocks are apart, with opposite signs. NTP takes the sample with the shortest round trip of eight. Here the
//! least of each way counts, of each second: a path that varies seldom shows its shortest time on both ways at once. Half of
//! the difference of both is how far the clocks are apart; a line through the last seconds tells how fast they drift.
//! That is right as far as the path takes equally long both ways at its best, which nobody can tell without a common clock.
//! Where both ends read the same clock, as on one machine, nothing is estimated.

use std::collections::VecDeque;

/// A second of samples.
const BIN_NS: u64 = 1_000_000_000;
/// How many seconds count.
const BINS: usize = 16;
/// Clocks that are further apart than this, some 36 years, are none.
const FARTHEST_APART: u64 = 1 << 60;
/// By how much the least round trip of a second varies where nothing is wrong, in nanoseconds.
const NOISE_NS: f64 = 50_000.0;
/// Clocks that drift by more are broken: NTP's bound (RFC 5905, section 11.2: 500 ppm), and as much again for the other one.
const MOST_DRIFT: f64 = 1e-3;
/// Least samples before anything is reported: some tens of milliseconds.
pub(super) const ENOUGH: u32 = 16;

/// An answered question, in nanoseconds: t1 and t4 by this end's clock, t2 and t3 by the other's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) asked: u64,
    pub(super) came: u64,
    pub(super) answered: u64,
    pub(super) back: u64,
}

/// The least of each way in a second, and the most of the way there.
#[derive(Clone, Copy, Debug)]
struct Bin {
    /// When it began, by this end's clock.
    begin: u64,
    there: i64,
    back: i64,
    most_there: i64,
}

impl Bin {
    /// The least round trip that its two ways add up to.
    fn round_trip(&self) -> i64 {
        self.there.saturating_add(self.back)
    }

    /// How far the other clock is ahead, if both ways were as long at their best.
    fn ahead(&self) -> i64 {
        self.there.midpoint(self.back.saturating_neg())
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// Whether both ends read the same clock.
    is_common: bool,
    bins: VecDeque<Bin>,
    samples: u32,
    /// How far the other clock is ahead of this one at `origin`, in nanoseconds, and how much more per nanosecond from then on.
    origin: u64,
    ahead: i64,
    drift: f64,
}

impl Path {
    /// `is_common`: both ends say that they read the same clock.
    pub(super) fn new(is_common: bool) -> Self {
        Self { is_common, ..Self::default() }
    }

    /// Whether both ends read the same clock.
    pub(super) fn is_common(&self) -> bool {
        self.is_common
    }

    /// Whether enough was asked to tell how long the path takes.
    pub(super) fn is_known(&self) -> bool {
        self.samples >= ENOUGH
    }

    /// Learns from an answer. What cannot be, because the answer left before the question came or came before it was asked, is
    /// left out.
    pub(super) fn learn(&mut self, sample: Sample) {
        let Sample { asked, came, answered, back } = sample;
        if answered < came || back < asked || answered - came > back - asked {
            return;
        }
        let (there, returned) = (difference(came, asked), difference(back, answered));
        if there.unsigned_abs().max(returned.unsigned_abs()) > FARTHEST_APART {
            return;
        }
        self.samples = self.samples.saturating_add(1);
        if there < 0 || returned < 0 {
            // Nothing comes before it was sent: it is not the same clock after all, as after a machine was copied.
            self.is_common = false;
        }
        let begin = self.bins.back().map(|bin| bin.begin).filter(|begin| asked.saturating_sub(*begin) < BIN_NS);
        let begin = begin.unwrap_or(asked);
        // As it would have been in the middle of its second: else the drift of one would count as time on the path.
        let drifted = (difference(asked, middle(begin)) as f64 * self.drift) as i64;
        let (there, returned) = (there.saturating_sub(drifted), returned.saturating_add(drifted));
        match self.bins.back_mut().filter(|bin| bin.begin == begin) {
            Some(bin) => {
                bin.there = bin.there.min(there);
                bin.back = bin.back.min(returned);
                bin.most_there = bin.most_there.max(there);
            }
            None => {
                self.fit();
                if self.bins.len() == BINS {
                    self.bins.pop_front();
                }
                self.bins.push_back(Bin { begin, there, back: returned, most_there: there });
            }
        }
        if self.bins.len() == 1 {
            self.fit();
        }
    }

    /// Fits the line through the seconds that are over, or through the first: least squares, in which a second counts by how
    /// short its round trip was.
    ///
    /// A second in which one way never was at its best, as few datagrams came through or this machine was busy, would shift the
    /// line by half of what was missing. The sum of both ways shows that, since the clocks cancel out in it.
    fn fit(&mut self) {
        let Some(last) = self.bins.back() else { return };
        self.origin = middle(last.begin);
        let shortest = self.bins.iter().map(Bin::round_trip).min().unwrap_or(0);
        let base = last.ahead();
        let points: Vec<(f64, f64, f64)> = self
            .bins
            .iter()
            .map(|bin| {
                let longer = bin.round_trip().saturating_sub(shortest) as f64 / NOISE_NS;
                let at = difference(middle(bin.begin), self.origin) as f64;
                (at, bin.ahead().saturating_sub(base) as f64, 1.0 / (1.0 + longer * longer))
            })
            .collect();
        let all: f64 = points.iter().map(|(_, _, weight)| weight).sum();
        let mean = |of: fn(&(f64, f64, f64)) -> f64| points.iter().map(|point| of(point) * point.2).sum::<f64>() / all;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let (mut xx, mut xy) = (0.0, 0.0);
        for (at, ahead, weight) in &points {
            xx += weight * (at - x) * (at - x);
            xy += weight * (at - x) * (ahead - y);
        }
        // A short time tells no drift.
        self.drift = if points.len() >= 4 && xx > 0.0 { (xy / xx).clamp(-MOST_DRIFT, MOST_DRIFT) } else { 0.0 };
        self.ahead = base.saturating_add((y - self.drift * x) as i64);
    }

    /// How far the other clock is ahead of this one at this instant of this one, in nanoseconds.
    pub(super) fn ahead(&self, at: u64) -> i64 {
        let drifted = (difference(at, self.origin) as f64 * self.drift) as i64;
        if self.is_common { 0 } else { self.ahead.saturating_add(drifted) }
    }

    /// The instant of this end's clock at which the other's shows `there`. `now`: about when that is.
    pub(super) fn here(&self, there: u64, now: u64) -> u64 {
        there.saturating_add_signed(self.ahead(now).saturating_neg())
    }

    /// How long a datagram took that was sent at `sent` of the other clock and came at `came` of this one, in nanoseconds.
    pub(super) fn took(&self, sent: u64, came: u64) -> u64 {
        came.saturating_sub(self.here(sent, came))
    }

    /// The least time that datagrams take to the other end, in nanoseconds: half of the round trip, unless both read the same
    /// clock.
    pub(super) fn base(&self) -> u64 {
        self.there(|bin| bin.there).min().unwrap_or(0)
    }

    /// The most of the last seconds.
    pub(super) fn most(&self) -> u64 {
        self.there(|bin| bin.most_there).max().unwrap_or(0)
    }

    fn there(&self, of: impl Fn(&Bin) -> i64) -> impl Iterator<Item = u64> {
        self.bins
            .iter()
            .map(move |bin| u64::try_from(of(bin).saturating_sub(self.ahead(middle(bin.begin)))).unwrap_or(0))
    }
}

fn middle(begin: u64) -> u64 {
    begin.saturating_add(BIN_NS / 2)
}

fn difference(one: u64, other: u64) -> i64 {
    i64::try_from(i128::from(one) - i128::from(other)).unwrap_or(if one > other { i64::MAX / 4 } else { i64::MIN / 4 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look like chance, 0 to 999.
    fn chance(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % 1_000
    }

    /// A path of 2.8 to 3.2 ms both ways, asked fifty times a second for so long; the other clock is so far ahead and gains so
    /// many millionths.
    fn played(seconds: u64, ahead: i64, ppm: i64, is_common: bool) -> (Path, u64) {
        let mut path = Path::new(is_common);
        let (mut seed, start) = (1, 1_000_000_000_000_u64);
        let other = |at: u64| {
            let gained = i64::try_from(at - start).unwrap() * ppm / 1_000_000;
            at.checked_add_signed(ahead + gained).unwrap()
        };
        let mut now = start;
        while now < start + seconds * 1_000_000_000 {
            let came = now + 2_800_000 + chance(&mut seed) * 400;
            let answered = came + 50_000;
            let back = answered + 2_800_000 + chance(&mut seed) * 400;
            path.learn(Sample { asked: now, came: other(came), answered: other(answered), back });
            now += 20_000_000;
        }
        (path, now)
    }

    #[test]
    fn clocks_that_drift_are_known_to_some_microseconds() {
        for (ahead, ppm) in [(0, 0), (5_000_000_000, 0), (-70_000_000_000, 50), (1_234_567, -100)] {
            let (path, now) = played(40, ahead, ppm, false);
            let right = ahead + 40_000 * ppm;
            let error = (path.ahead(now) - right).abs();
            assert!(error < 20_000, "{ahead} ns, {ppm} ppm: off by {error} ns");
            assert!((2_790_000..2_850_000).contains(&path.base()), "{}", path.base());
            assert!((3_150_000..3_250_000).contains(&path.most()), "{}", path.most());
        }
    }

    /// In some seconds, few datagrams come through, and one way is never at its best.
    #[test]
    fn a_second_without_the_shortest_way_shifts_nothing() {
        for late in [[0, 4_000_000], [4_000_000, 0], [2_000_000, 9_000_000]] {
            let mut path = Path::new(false);
            let (mut seed, start, ahead) = (1, 1_000_000_000_000_u64, 1_000_000_000_000_i64);
            for turn in 0..250_u64 {
                let now = start + turn * 20_000_000;
                let [longer_there, longer_back] = if (100..200).contains(&turn) { late } else { [0; 2] };
                let came = now + 3_000_000 + chance(&mut seed) * 100 + longer_there;
                let back = came + 3_000_000 + chance(&mut seed) * 100 + longer_back;
                let there = came.checked_add_signed(ahead).unwrap();
                path.learn(Sample { asked: now, came: there, answered: there, back });
            }
            let error = (path.ahead(start + 5_000_000_000) - ahead).abs();
            assert!(error < 60_000, "{late:?}: off by {error} ns");
            assert!((2_940_000..3_060_000).contains(&path.base()), "{late:?}: {}", path.base());
        }
    }

    #[test]
    fn a_common_clock_is_not_estimated_unless_it_cannot_be_one() {
        let (path, now) = played(2, 0, 0, true);
        assert!(path.is_common() && path.ahead(now) == 0);
        assert_eq!(path.took(now - 3_000_000, now), 3_000_000);
        let (other, end) = played(2, 10_000_000, 0, true);
        assert!(!other.is_common() && (other.ahead(end) - 10_000_000).abs() < 50_000);
    }

    /// A far end may say what it likes.
    #[test]
    fn stamps_of_any_size_are_borne() {
        let mut path = Path::new(false);
        let edges = [0, 1, 1 << 59, 1 << 60, 1 << 61, u64::MAX / 2, u64::MAX - 1, u64::MAX];
        for (turn, there) in edges.into_iter().cycle().take(200).enumerate() {
            let asked = 1_000_000_000 * (turn as u64 + 1);
            for answered in edges {
                path.learn(Sample { asked, came: there, answered, back: asked.saturating_add(answered) });
                path.learn(Sample { asked, came: there, answered: there, back: asked + 1_000 });
            }
            let _ = (path.ahead(asked), path.here(there, asked), path.base(), path.most(), path.took(there, asked));
        }
    }

    #[test]
    fn nonsense_teaches_nothing() {
        let mut path = Path::new(false);
        for (asked, came, answered, back) in [(10, 5, 4, 20), (10, 5, 6, 9), (10, 0, u64::MAX, 20)] {
            path.learn(Sample { asked, came, answered, back });
        }
        assert!(!path.is_known() && path.base() == 0);
        path.learn(Sample { asked: 0, came: u64::MAX - 5, answered: u64::MAX, back: u64::MAX });
        let _ = (path.ahead(u64::MAX), path.here(u64::MAX, 0), path.most());
    }
}
