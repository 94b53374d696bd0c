//! `kind: dualpi2`: a queue with low latency and a classic one, coupled.

use crate::forms::{OrZero, Whole, Word};
use crate::keyed::sections;
use crate::words::words;
use netloom_link::{DualPi2Config, Overload};
use netloom_units::{Duration, Limit, Probability};

words!(Overload { "rfc" = Self::Rfc, "linux" = Self::Linux, "overflow" = Self::Overflow });

sections! {
    /// Two coupled queues for L4S and all other traffic (RFC 9332).
    for DualPi2Config = "queue_dualpi2" {
        /// Two coupled queues.
        kind is "dualpi2";
        /// How much may wait in both queues together: packets, bytes or a time. Default: 250 ms.
        limit: Limit, "250 ms";
        /// The target of the queuing delay, above 0. Default: 15 ms.
        target: Duration, "15 ms";
        /// The period at which the probability is updated, above 0. Default: 16 ms.
        update: Duration, "16 ms";
        /// The longest round trip that is expected, above 0; the gains follow from it. Default: 100 ms.
        rtt_max: Duration, "100 ms";
        /// How much more often the low-latency queue is marked than the square root of the classic probability. Default: 2.
        coupling: Whole<u8, 1, 255>, "2";
        /// From this delay on packets of the low-latency queue are marked. Default: 800 us.
        min: OrZero<Duration>, "800 us";
        /// Above `min`, the span of delay over which marks rise from none to all; 0 is a step. Default: 400 us.
        range: OrZero<Duration>, "400 us";
        /// The share of the rate that the classic queue keeps while both have packets, below 100 %. Default: 10 %.
        classic_share: OrZero<Probability>, "10 %";
        /// What happens when all of the low-latency queue is marked already: as in RFC 9332, as in Linux, or as in Linux with its option
        /// `overflow`. Default: rfc.
        overload: Word<Overload>, "linux";
    }
}

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "{kind: dualpi2}",
    "{kind: dualpi2, limit: 100 packets, target: 10 ms, update: 10 ms, rtt_max: 50 ms, coupling: 1}",
    "{kind: dualpi2, min: 1 ms, range: 0, classic_share: 0}",
    "{kind: dualpi2, overload: linux}",
    "{kind: dualpi2, overload: overflow}",
];
