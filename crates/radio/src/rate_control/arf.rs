//! ARF: faster after successes, slower after failures.
//!
//! Sources: Kamerman and Monteban (1997), and for the adaptive form Lacage, Manshaei and Turletti (2004, section 3). Ten PPDUs in a row that arrive
//! are answered by the next faster mode. If its first PPDU fails, or two in a row later on, the next slower mode follows. The adaptive form doubles
//! the ten, up to 50, whenever that first PPDU fails, and starts again at ten when two fail in a row.
//! Differs from the sources: there is no timer beside the successes; of a PPDU with several MPDUs at least half have to arrive.

/// So many successes in a row make it faster, the adaptive form at most so many.
const SUCCESSES: u32 = 10;
const MOST_SUCCESSES: u32 = 50;
/// So many failures in a row make it slower.
const FAILURES: u32 = 2;

/// The knowledge of the way to a destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arf {
    is_adaptive: bool,
    place: usize,
    successes: u32,
    failures: u32,
    /// So many successes are wanted next.
    wanted: u32,
    /// Whether nothing was sent yet since it became faster.
    is_probe: bool,
}

impl Arf {
    pub(crate) fn new(is_adaptive: bool) -> Self {
        Self { is_adaptive, place: 0, successes: 0, failures: 0, wanted: SUCCESSES, is_probe: false }
    }

    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// Notes whether a PPDU arrived. `modes`: so many there are.
    pub(crate) fn report(&mut self, has_arrived: bool, modes: usize) {
        if has_arrived {
            (self.successes, self.failures, self.is_probe) = (self.successes + 1, 0, false);
            if self.successes >= self.wanted && self.place + 1 < modes {
                (self.place, self.successes, self.is_probe) = (self.place + 1, 0, true);
            }
            return;
        }
        (self.successes, self.failures) = (0, self.failures + 1);
        if !self.is_probe && self.failures < FAILURES {
            return;
        }
        if self.is_adaptive {
            self.wanted = if self.is_probe { (2 * self.wanted).min(MOST_SUCCESSES) } else { SUCCESSES };
        }
        (self.place, self.failures, self.is_probe) = (self.place.saturating_sub(1), 0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where modes below `best` always arrive and others never do, probes are a share of what is sent.
    fn failures(is_adaptive: bool, best: usize) -> u32 {
        let mut arf = Arf::new(is_adaptive);
        let mut report = || {
            let has_arrived = arf.place() <= best;
            arf.report(has_arrived, 8);
            u32::from(!has_arrived)
        };
        // Begins to probe, and its probes become as rare as they get.
        (0..1_000).for_each(|_| _ = report());
        (0..11 * 51).map(|_| report()).sum()
    }

    #[test]
    fn each_eleventh_ppdu_is_a_probe_and_each_fifty_first_of_the_adaptive_form() {
        assert_eq!(failures(false, 3), 51);
        assert_eq!(failures(true, 3), 11);
        // There is nothing faster to probe.
        assert_eq!(failures(false, 7), 0);
    }

    #[test]
    fn two_failures_in_a_row_make_it_slower() {
        let mut arf = Arf::new(false);
        (0..30).for_each(|_| arf.report(true, 8));
        assert_eq!(arf.place(), 3);
        // The third one succeeded as a probe would, and another success ends the probe.
        for has_arrived in [true, false, true, false] {
            arf.report(has_arrived, 8);
            assert_eq!(arf.place(), 3);
        }
        arf.report(false, 8);
        assert_eq!(arf.place(), 2);
        (0..100).for_each(|_| arf.report(false, 8));
        assert_eq!(arf.place(), 0);
    }
}
