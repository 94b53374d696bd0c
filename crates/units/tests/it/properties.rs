//! What holds for all quantities: what is shown can be read again, and no fraction is ever lost.

use netloom_units::{Bytes, Dilation, Duration, Instant, Limit, Probability, Rate, Serializer, TimePerByte};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::{fmt::Debug, str::FromStr};

fn read_again<T: FromStr<Err: Debug> + ToString>(value: &T) -> T {
    value.to_string().parse().expect("what is shown can be read")
}

/// Numbers of every magnitude.
fn magnitudes() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| number >> shift)
}

fn rates() -> impl Strategy<Value = Rate> {
    magnitudes().prop_map(|bits| Rate::from_bits_per_second(bits.max(1)).expect("not zero"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn what_is_shown_can_be_read(number in magnitudes(), parts in 0..=1_000_000_000_000_u64, rate in rates()) {
        let (span, size) = (Duration::from_nanos(number), Bytes::new(number));
        let share = Probability::from_parts_per_trillion(parts).expect("at most one");
        prop_assert_eq!(read_again(&span), span);
        prop_assert_eq!(read_again(&size), size);
        prop_assert_eq!(read_again(&share), share);
        prop_assert_eq!(read_again(&rate), rate);
        let packets = Limit::Packets(u32::try_from(number >> 32).expect("32 bits"));
        for limit in [packets, Limit::Bytes(size), Limit::Time(span)] {
            prop_assert_eq!(read_again(&limit), limit);
        }
    }

    #[test]
    fn no_text_panics(text in "[-+0-9. ,e]{0,12} ?[a-zA-Zµ/%]{0,8}") {
        let _ = (text.parse::<Rate>(), text.parse::<Duration>(), text.parse::<Bytes>());
        let _ = (text.parse::<Probability>(), text.parse::<Limit>());
        let _ = (text.parse::<Dilation>(), text.parse::<TimePerByte>());
    }

    /// A timer set for an instant of lab time rings at it or within the real nanosecond after it, and never before.
    #[test]
    fn a_dilation_is_exact(millionths in 1_000_000..=10_000_000_000_u64, number in magnitudes()) {
        let dilation = Dilation::from_millionths(millionths).expect("within the range");
        prop_assert_eq!(read_again(&dilation), dilation);
        prop_assert_eq!(dilation.as_millionths(), millionths);
        let lab = Duration::from_nanos(number);
        let real = dilation.to_real(lab);
        prop_assert_eq!(dilation.to_lab(real), lab);
        let exact = u128::from(number) * u128::from(millionths);
        prop_assert!(real.as_nanos() * 1_000_000 >= exact);
        prop_assert!(real.as_nanos() * 1_000_000 < exact + 1_000_000);
        let again = dilation.to_real(dilation.to_lab(core::time::Duration::from_nanos(number)));
        prop_assert!(again.as_nanos() <= u128::from(number), "it was not that late yet");
    }

    /// After any packets sent one behind the other, the sum of all times is the exact time, rounded down.
    #[test]
    fn serialization_keeps_its_remainders(rate in rates(), sizes in vec(0..70_000_u64, 1..50)) {
        let mut serializer = Serializer::default();
        let (mut sum, mut bytes) = (0_u128, 0_u128);
        for size in sizes {
            sum += u128::from(serializer.next(rate, Bytes::new(size)).as_nanos());
            bytes += u128::from(size);
            prop_assert_eq!(sum, bytes * 8_000_000_000 / u128::from(rate.as_bits_per_second()));
        }
    }

    /// A packet whose rate changes on the way takes the time that its parts take at their rates, to the fraction.
    #[test]
    fn a_change_of_rate_loses_nothing(old in 1..100_000_u64, new in 1..100_000_u64, size in 1..2_000_u64, part in 0..=100_u64) {
        let [before, after] = [old, new].map(|bits| Rate::from_bits_per_second(bits).expect("not zero"));
        let mut serializer = Serializer::default();
        let whole = serializer.next(before, Bytes::new(size)).as_nanos();
        let elapsed = u64::try_from(u128::from(whole) * u128::from(part) / 100).expect("less than the whole");
        let rest = serializer.change_rate(Duration::from_nanos(whole - elapsed), before, after);
        let owed = u128::from(size) * 8_000_000_000 - u128::from(elapsed) * u128::from(old);
        prop_assert_eq!(u128::from(rest.as_nanos()), owed / u128::from(new));
        // The fraction is still owed by what follows: one byte more ends on the exact instant of both.
        let next = serializer.next(after, Bytes::new(1));
        let both = (owed + 8_000_000_000) / u128::from(new);
        prop_assert_eq!(u128::from(rest.as_nanos()) + u128::from(next.as_nanos()), both);
    }

    #[test]
    fn bytes_in_a_delay_are_the_bytes_sent(rate in rates(), size in 0..1_000_000_u64) {
        let delay = rate.serialization_delay(Bytes::new(size));
        prop_assume!(delay < Duration::MAX);
        // The delay is rounded up by less than one nanosecond, in which so many bytes more may leave.
        let more = rate.bytes_in(Duration::from_nanos(1)).get() + 1;
        let bytes = rate.bytes_in(delay).get();
        prop_assert!((size..=size + more).contains(&bytes));
    }

    #[test]
    fn time_saturates_at_its_ends(a in any::<u64>(), b in any::<u64>()) {
        let (start, span) = (Instant::from_nanos(a), Duration::from_nanos(b));
        prop_assert_eq!((start + span).as_nanos(), a.saturating_add(b));
        prop_assert_eq!((start - span).as_nanos(), a.saturating_sub(b));
        prop_assert_eq!((Duration::from_nanos(a) - span).as_nanos(), a.saturating_sub(b));
        prop_assert_eq!(start.since(Instant::from_nanos(b)).as_nanos(), a.saturating_sub(b));
    }

    #[test]
    fn events_happen_as_often_as_they_should(parts in 1..1_000_000_000_000_u64) {
        let share = Probability::from_parts_per_trillion(parts).expect("below one");
        // The smallest number for which it does not happen: the share of all numbers, rounded up.
        let edge = u64::try_from((u128::from(parts) << 64).div_ceil(1_000_000_000_000)).expect("below 2^64");
        prop_assert!(share.happens(edge - 1));
        prop_assert!(!share.happens(edge));
    }
}
