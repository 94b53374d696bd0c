//! What is known of the path between the two ends of a tunnel: how far their clocks are apart, how long datagrams take.
//!
//! Each end asks the other for the time, as NTP does (RFC 5905, section 8): with the instants at which a question was sent
//! (t1), came (t2), was answered (t3) and the answer came (t4), `t2 - t1` is the way there and `t4 - t3` the way back, each off
//! by how far the clocks are apart, with opposite signs. NTP takes the sample with the shortest round trip of eight. Here the
//! least of each way counts, of each second: a path that varies seldom shows its shortest time on both ways at once. Half of
//! the difference of both is how far the clocks are apart; a line through the last seconds tells how fast they drift.
//! That is right as far as the path takes equally long both ways at its best, which nobody can tell without a common clock. No way takes less
//! than no time, so that it is off by half of the round trip at most. Where both ends know how exact their time of day is (`day`), the clocks
//! are apart by its difference, up to both bounds: what is within both ranges counts, and the path may take longer one way.
//! Where both ends read the same clock, as on one machine, nothing is estimated.
//!
//! A sample that contradicts all that is known may be wrong: its instants come from the time of day, which somebody may have set while a
//! datagram waited. If others follow, the clocks themselves have moved apart (a machine that stood still), and everything begins anew.

use super::day::Day;
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
/// The error of the drift that is known, per second: that of two clocks which something sets right (15 ppm each; RFC 5905,
/// section 11.2), and of two that run as they like while it is not known yet.
const UNSURE: f64 = 30e-6;
const UNSURE_AT_FIRST: f64 = 200e-6;
/// Seconds that tell a drift.
const TELLING: usize = 4;
/// Until the next sample, in nanoseconds: of some questions, a few may be lost.
const NEXT_NS: f64 = 1e8;
/// The gap between ranges that is allowed before they contradict one another, in nanoseconds: what reading clocks takes.
const CONTRADICTION_NS: i64 = 100_000;
/// Samples one after another that contradict what is known are right.
const CONTRADICTIONS: u32 = 3;
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

/// How far the other clock is ahead by the time of day of both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Common {
    ahead: i64,
    /// By how much that is off at most.
    bound: i64,
}

impl Common {
    /// Returns what both ends say; none if that cannot be.
    pub(super) fn of(own: Day, far: Day) -> Option<Self> {
        let bound = i64::try_from(own.bound.checked_add(far.bound)?).ok()?;
        Some(Self { ahead: own.offset.checked_sub(far.offset)?, bound })
    }

    fn range(self) -> Range {
        Range { least: self.ahead.saturating_sub(self.bound), most: self.ahead.saturating_add(self.bound) }
    }
}

/// The least and the most by which the other clock can be ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    least: i64,
    most: i64,
}

impl Range {
    fn and(self, other: Self) -> Self {
        Self { least: self.least.max(other.least), most: self.most.min(other.most) }
    }

    /// By how much nothing is within it; negative if something is.
    fn gap(self) -> i64 {
        self.least.saturating_sub(self.most)
    }

    fn middle(self) -> i64 {
        self.least.midpoint(self.most)
    }
}

/// The least of each way in a second, and the most of the way there.
#[derive(Clone, Copy, Debug)]
struct Bin {
    /// When it began, by this end's clock.
    begin: u64,
    there: i64,
    back: i64,
    most_there: i64,
    /// The most exact that the times of day said, and when.
    common: Option<(u64, Common)>,
}

impl Bin {
    /// The least round trip that its two ways add up to.
    fn round_trip(&self) -> i64 {
        self.there.saturating_add(self.back)
    }

    fn range(&self) -> Range {
        Range { least: self.back.saturating_neg(), most: self.there }
    }

    /// How far the other clock is ahead, if both ways were as long at their best.
    fn ahead(&self) -> i64 {
        self.there.midpoint(self.back.saturating_neg())
    }
}

/// The clocks of both ends as far as they are known, for the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clocks {
    /// By how much one-way delays are off at most, since frames are taken, in nanoseconds.
    pub(super) bound: u64,
    /// By how much longer the way there takes than the way back, at their best, in nanoseconds; none: no common time of day tells.
    pub(super) asymmetry: Option<i64>,
    /// How often the clocks moved apart at once.
    pub(super) jumps: u64,
    /// Whether the times of day are further apart than both ends say.
    pub(super) contradict: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// Whether both ends read the same clock.
    is_common: bool,
    clocks: Clocks,
    /// Samples one after another that contradicted what is known.
    strange: u32,
    bins: VecDeque<Bin>,
    samples: u32,
    /// How far the other clock is ahead of this one at `origin`, in nanoseconds, and how much more per nanosecond from then on.
    origin: u64,
    ahead: i64,
    drift: f64,
    /// The shift that the ranges add to that line.
    shift: i64,
    /// When the latest sample came, and what the times of day said then.
    latest: u64,
    common: Option<Common>,
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
    pub(super) fn learn(&mut self, sample: Sample, common: Option<Common>) {
        let Sample { asked, came, answered, back } = sample;
        if answered < came || back < asked || answered - came > back - asked {
            return;
        }
        let (there, returned) = (difference(came, asked), difference(back, answered));
        if there.unsigned_abs().max(returned.unsigned_abs()) > FARTHEST_APART {
            return;
        }
        let told = Range { least: returned.saturating_neg(), most: there };
        if self.range(asked).and(told).gap() > CONTRADICTION_NS {
            self.strange += 1;
            if self.strange < CONTRADICTIONS {
                return;
            }
            // Nothing comes before it was sent: it is not the same clock after all, as after a machine was copied.
            self.clocks.jumps += u64::from(!self.is_common);
            self.is_common = false;
            self.bins.clear();
        }
        self.strange = 0;
        self.samples = self.samples.saturating_add(1);
        (self.latest, self.common) = (back, common);
        let common = common.map(|common| (back, common));
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
                bin.common = bin.common.into_iter().chain(common).min_by_key(|(_, common)| common.bound);
            }
            None => {
                self.fit();
                if self.bins.len() == BINS {
                    self.bins.pop_front();
                }
                self.bins.push_back(Bin { begin, there, back: returned, most_there: there, common });
            }
        }
        if self.bins.len() == 1 {
            self.fit();
        }
        self.narrow();
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
        let tells = points.len() >= TELLING && xx > 0.0;
        self.drift = if tells { (xy / xx).clamp(-MOST_DRIFT, MOST_DRIFT) } else { 0.0 };
        self.ahead = base.saturating_add((y - self.drift * x) as i64);
    }

    /// Brings the clocks within what both ranges say, and notes by how much they are off at most.
    fn narrow(&mut self) {
        let Some(newest) = self.bins.back().filter(|_| !self.is_common) else { return };
        let (at, own) = (self.latest, newest.range());
        let all = self.range_of_samples(at);
        // Seconds that contradict one another a little, by a drift that has changed: the newest counts.
        let asked = if all.gap() > 0 { self.moved(own, middle(newest.begin), BIN_NS / 2, at) } else { all };
        let told = self.range_of_days(at);
        self.clocks.contradict |= told.is_some_and(|told| asked.and(told).gap() > CONTRADICTION_NS);
        let both = told.map(|told| asked.and(told)).filter(|both| !self.clocks.contradict && both.gap() <= 0);
        let range = both.unwrap_or(asked);
        self.shift = 0;
        let line = self.ahead(at);
        let ahead = if range == asked { line.clamp(range.least, range.most) } else { range.middle() };
        self.shift = ahead.saturating_sub(line);
        let off = ahead.saturating_sub(range.least).max(range.most.saturating_sub(ahead)).unsigned_abs();
        let later = (self.unsure() * NEXT_NS) as u64;
        self.clocks.bound = self.clocks.bound.max(off.saturating_add(later));
        let shortest = self.bins.iter().min_by_key(|bin| bin.round_trip()).filter(|_| range != asked);
        self.clocks.asymmetry = shortest.map(|bin| {
            let then = self.ahead(middle(bin.begin));
            bin.there.saturating_sub(then).saturating_sub(bin.back.saturating_add(then))
        });
    }

    /// The range in which all that is known puts the other clock at this instant.
    fn range(&self, at: u64) -> Range {
        if self.is_common { Range { least: 0, most: 0 } } else { self.range_of_samples(at) }
    }

    /// The range of questions and answers: no way takes less than no time.
    fn range_of_samples(&self, at: u64) -> Range {
        let of = |bin: &Bin| self.moved(bin.range(), middle(bin.begin), BIN_NS / 2, at);
        self.bins.iter().map(of).fold(Range { least: i64::MIN / 2, most: i64::MAX / 2 }, Range::and)
    }

    /// The range of the times of day; none if one is not known.
    fn range_of_days(&self, at: u64) -> Option<Range> {
        let latest = self.common.map(|common| (self.latest, common));
        let of = |(then, common): (u64, Common)| self.moved(common.range(), then, 0, at);
        self.bins.iter().filter_map(|bin| bin.common).chain(latest).map(of).reduce(Range::and)
    }

    /// A range that was right at an instant, or within so many nanoseconds of it, as it is at another one: by the drift, and by what may be wrong
    /// with that.
    fn moved(&self, range: Range, then: u64, within: u64, at: u64) -> Range {
        let passed = difference(at, then) as f64;
        let drifted = (passed * self.drift) as i64;
        let unsure = (self.unsure() * (passed.abs() + within as f64)) as i64;
        Range {
            least: range.least.saturating_add(drifted).saturating_sub(unsure),
            most: range.most.saturating_add(drifted).saturating_add(unsure),
        }
    }

    fn unsure(&self) -> f64 {
        if self.bins.len() >= TELLING { UNSURE } else { UNSURE_AT_FIRST }
    }

    /// Returns what is known of the clocks.
    pub(super) fn clocks(&self) -> Clocks {
        self.clocks
    }

    /// From now on it counts by how much the clocks may be off.
    pub(super) fn begin_counting(&mut self) {
        self.clocks = Clocks::default();
        self.narrow();
    }

    /// How far the other clock is ahead of this one at this instant of this one, in nanoseconds.
    pub(super) fn ahead(&self, at: u64) -> i64 {
        let drifted = (difference(at, self.origin) as f64 * self.drift) as i64;
        if self.is_common { 0 } else { self.ahead.saturating_add(self.shift).saturating_add(drifted) }
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

    /// The time of a frame that the first way loses, of a request for it and of the frame once more, at most.
    pub(super) fn three_ways(&self) -> u64 {
        let back = self.bins.iter().map(|bin| bin.back.saturating_add(self.ahead(middle(bin.begin))));
        let back = back.min().map_or(0, |back| u64::try_from(back).unwrap_or(0));
        let most = self.most();
        most.saturating_mul(2).saturating_add(most.max(back))
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
mod tests;
