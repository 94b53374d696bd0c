//! What receivers with positions cannot do: receive two PPDUs at once, receive while they send, find a preamble below what is there already.

use crate::common::cases_of;
use crate::conservation::arrivals;
use crate::radio_order::{cases, play};
use netloom_radio::{Aired, Destination, StationId};
use netloom_units::{Duration, Instant};
use proptest::prelude::*;

/// The receiver of a PPDU of which anything was decoded there.
fn receiver(one: &Aired<u64>) -> Option<StationId> {
    let Destination::Station(to) = one.to else { return None };
    one.mpdus.iter().any(|mpdu| mpdu.is_decoded).then_some(to)
}

proptest! {
    #![proptest_config(cases_of(300))]

    #[test]
    fn receptions_do_not_overlap_below_capture(case in cases(), arrivals in arrivals()) {
        let mut medium = case.medium();
        medium.record_frames(Some(|number| *number));
        play(&mut medium, &arrivals, true);
        let all: Vec<Aired<u64>> = medium.frames().collect();
        let preamble = Duration::from_micros(if case.config.phy.has_qos() { 36 } else { 20 });
        // What is for everybody goes at the basic rate, behind the preamble of 802.11a.
        let start = |one: &Aired<u64>| match one.to {
            Destination::Station(_) => one.data.0 - preamble,
            Destination::Everybody => one.data.0 - Duration::from_micros(20),
        };
        let mut ratio = |one: &Aired<u64>, to| medium.signal_to_noise(one.from, to, start(one)).0;
        for (place, one) in all.iter().enumerate() {
            let Some(to) = receiver(one) else { continue };
            for other in all[..place].iter().chain(&all[place + 1..]) {
                if other.data.0 < one.data.1 && one.data.0 < other.data.1 {
                    prop_assert!(other.from != to && receiver(other) != Some(to), "{one:?} {other:?}");
                }
                let (begin, earlier): (Instant, Instant) = (start(one), start(other));
                if earlier <= begin && begin < other.end && other.from != to {
                    let margin = ratio(one, to) - ratio(other, to);
                    prop_assert!(margin >= 3.999, "{margin} dB: {one:?} {other:?}");
                }
            }
        }
    }
}
