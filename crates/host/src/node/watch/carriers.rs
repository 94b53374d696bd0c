//! What interfaces could not send while they had no carrier.

use crate::netlink::Seen;
use std::collections::BTreeMap;

/// So many packets at most are lost between a carrier and the message that it is gone: the kernel puts the queue of an interface out of use, lets
/// other programs go on until nobody uses it any more, and only then tells what the interface has counted (`dev_deactivate_many`).
const MOST_BEFORE_NEWS: u64 = 16;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    /// By place of interfaces with a carrier: what each had failed to send when that was last known.
    last: BTreeMap<usize, u64>,
    /// By place of interfaces without a carrier: what each had failed to send when it lost it.
    before: BTreeMap<usize, u64>,
    /// By place: what each failed to send without a carrier, as far as it has one again.
    unsent: BTreeMap<usize, u64>,
}

impl Carriers {
    /// Takes down what happens to carriers of described interfaces.
    pub(super) fn note(&mut self, known: &[(u32, Option<usize>)], seen: &Seen) {
        let Seen::Carrier { index, on, unsent } = seen else { return };
        let Some((_, Some(place))) = known.iter().find(|(known, _)| known == index) else { return };
        if !on {
            let last = self.last.get(place).copied().unwrap_or(*unsent);
            self.before.entry(*place).or_insert(last.max(unsent.saturating_sub(MOST_BEFORE_NEWS)).min(*unsent));
            return;
        }
        self.last.insert(*place, *unsent);
        if let Some(before) = self.before.remove(place) {
            *self.unsent.entry(*place).or_default() += unsent.saturating_sub(before);
        }
    }

    /// The node stops, and nobody watches the carrier of its interface of this number, which had failed to send so many by now.
    pub(super) fn stop(&mut self, known: &[(u32, Option<usize>)], index: u32, unsent: u64) {
        let place = known.iter().find(|(number, _)| *number == index).and_then(|(_, place)| *place);
        if let Some((place, before)) = place.and_then(|place| Some((place, self.before.remove(&place)?))) {
            *self.unsent.entry(place).or_default() += unsent.saturating_sub(before);
        }
    }

    /// The node begins to run, or runs again, and this interface has a carrier or none.
    pub(super) fn start(&mut self, known: &[(u32, Option<usize>)], index: u32, has_carrier: bool, unsent: u64) {
        if let Some((_, Some(place))) = known.iter().find(|(number, _)| *number == index) {
            let its = if has_carrier { &mut self.last } else { &mut self.before };
            its.insert(*place, unsent);
        }
    }

    /// How much of `now`, which is all that this interface could not send, it failed to send for want of a carrier.
    pub(super) fn unsent(&self, place: usize, now: u64) -> u64 {
        let before = self.unsent.get(&place).copied().unwrap_or_default();
        before + self.before.get(&place).map_or(0, |earlier| now.saturating_sub(*earlier))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_with_a_carrier_is_told_from_the_rest() {
        let known = [(1, None), (7, Some(0))];
        let mut carriers = Carriers::default();
        let mut note = |index, on, unsent| carriers.note(&known, &Seen::Carrier { index, on, unsent });
        // It loses its carrier after one failure, tells so again, and has it back after three more; a fifth is its own.
        for (on, unsent) in [(true, 1), (false, 1), (false, 3), (true, 4), (true, 5), (false, 5)] {
            note(7, on, unsent);
        }
        note(1, false, 0);
        assert_eq!((carriers.unsent(0, 5), carriers.unsent(0, 9), carriers.unsent(1, 9)), (3, 7, 0));
    }

    /// A hunt with crashes has found one packet of a client in 50 runs that was lost so, which failed the run.
    #[test]
    fn what_was_lost_before_the_kernel_said_so_was_lost_with_the_carrier() {
        let known = [(7, Some(0))];
        let lost = |at_start: u64, told: u64| {
            let mut carriers = Carriers::default();
            carriers.start(&known, 7, true, at_start);
            carriers.note(&known, &Seen::Carrier { index: 7, on: false, unsent: told });
            carriers.unsent(0, told + 2)
        };
        assert_eq!((lost(0, 1), lost(4, 4), lost(3, 1)), (3, 2, 2));
        assert_eq!(lost(0, 100), MOST_BEFORE_NEWS + 2, "what it failed to send for long has another reason");
    }
}
