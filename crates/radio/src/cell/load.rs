//! How much of what could be sent was sent between two reports: what others get of it as interference.

/// The use of a sender in the current period of reports, and in the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    period: u64,
    current: u64,
    previous: u64,
}

impl Load {
    fn roll(&mut self, period: u64) {
        if period > self.period {
            self.previous = if period == self.period + 1 { self.current } else { 0 };
            (self.period, self.current) = (period, 0);
        }
    }

    /// Counts what is sent in a period, which is the last one of all or a later one.
    pub(super) fn add(&mut self, period: u64, amount: u64) {
        self.roll(period);
        self.current += amount;
    }

    /// Returns the amount of the period before this one, which is the last one of all or a later one.
    pub(super) fn before(&self, period: u64) -> u64 {
        match period - self.period.min(period) {
            0 => self.previous,
            1 => self.current,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_period_before_counts() {
        let mut load = Load::default();
        load.add(3, 5);
        load.add(3, 2);
        assert_eq!([3, 4, 5].map(|period| load.before(period)), [0, 7, 0]);
        load.add(4, 1);
        assert_eq!([4, 5, 6].map(|period| load.before(period)), [7, 1, 0]);
        load.add(9, 4);
        assert_eq!([9, 10].map(|period| load.before(period)), [0, 4]);
    }
}
