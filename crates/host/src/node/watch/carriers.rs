//! What interfaces could not send while they had no carrier.

use crate::netlink::Seen;
use std::collections::BTreeMap;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Carriers {
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
            self.before.entry(*place).or_insert(*unsent);
        } else if let Some(before) = self.before.remove(place) {
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

    /// The node runs again, and this interface has no carrier.
    pub(super) fn start_without(&mut self, known: &[(u32, Option<usize>)], index: u32, unsent: u64) {
        if let Some((_, Some(place))) = known.iter().find(|(number, _)| *number == index) {
            self.before.insert(*place, unsent);
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
}
