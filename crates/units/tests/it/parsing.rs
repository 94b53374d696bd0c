//! What is accepted, what is refused, and what the refusal says, as tables.

use netloom_units::{
    Bytes, CpuCost, Dilation, Duration, Limit, Probability, Rate, Seed, Serializer, TimePerBranch, TimePerByte,
};
use std::{fmt::Debug, str::FromStr};

fn accepts<T: FromStr<Err: Debug> + ToString>(table: &[(&str, &str)]) {
    for (text, shown) in table {
        let value: T = text.parse().unwrap_or_else(|error| panic!("{text:?}: {error:?}"));
        assert_eq!(value.to_string(), *shown, "{text:?}");
        let again: T = value.to_string().parse().expect("what is shown can be read again");
        assert_eq!(again.to_string(), *shown);
    }
}

fn refuses<T: FromStr<Err: ToString> + Debug>(table: &[(&str, &str)]) {
    for (text, message) in table {
        let error = text.parse::<T>().map(|value| format!("{value:?}")).map_err(|e| e.to_string());
        match error {
            Ok(value) => panic!("{text:?} was accepted as {value}"),
            Err(said) => assert!(said.contains(message), "{text:?} said {said:?}, not {message:?}"),
        }
    }
}

#[test]
fn rates() {
    accepts::<Rate>(&[
        ("100 Mbit/s", "100 Mbit/s"),
        ("100Mbit/s", "100 Mbit/s"),
        ("  2.5 Gbit/s ", "2.5 Gbit/s"),
        ("1500 kbit/s", "1.5 Mbit/s"),
        ("0.1 Mbit/s", "100 kbit/s"),
        ("1 MB/s", "8 Mbit/s"),
        ("1 bit/s", "1 bit/s"),
        ("12345678 bit/s", "12.345678 Mbit/s"),
        ("10 Tbit/s", "10 Tbit/s"),
    ]);
    refuses::<Rate>(&[
        ("100", "has no unit: write a rate like \"100 Mbit/s\""),
        ("", "is not a number with a unit"),
        ("fast", "is not a number with a unit"),
        ("10 Mbps", "`Mbps` is ambiguous: write Mbit/s for bits or MB/s for bytes"),
        ("10 parsec", "has the unknown unit `parsec`"),
        ("-5 Mbit/s", "is below zero"),
        ("0 bit/s", "is zero"),
        ("0.5 bit/s", "is not a whole number of bits per second"),
        ("99999999999999 Tbit/s", "is too large"),
        ("1..5 Mbit/s", "is not a number"),
        ("1e3 Mbit/s", "unknown unit `e3 Mbit/s`"),
    ]);
}

#[test]
fn durations() {
    accepts::<Duration>(&[
        ("20 ms", "20 ms"),
        ("0 ms", "0 ns"),
        ("5us", "5 us"),
        ("5 µs", "5 us"),
        ("0.005 ms", "5 us"),
        ("1.5 s", "1.5 s"),
        ("2 min", "120 s"),
        ("1 h", "3600 s"),
        ("1234567 ns", "1.234567 ms"),
    ]);
    refuses::<Duration>(&[
        ("20", "has no unit"),
        ("-1 ms", "is below zero"),
        ("0.1 ns", "is not a whole number of nanoseconds"),
        ("5 m", "write min for minutes or ms for milliseconds"),
        ("6000000 h", "is too large, which is above 5124095 h"),
        ("1 day", "unknown unit `day`"),
    ]);
}

#[test]
fn sizes_and_limits() {
    accepts::<Bytes>(&[("1500 B", "1.5 kB"), ("64 KiB", "65.536 kB"), ("1 MB", "1 MB")]);
    refuses::<Bytes>(&[("64 KB", "write kB for 1,000 bytes or KiB for 1,024"), ("1.5 B", "whole number of bytes")]);
    accepts::<Limit>(&[
        ("100 packets", "100 packets"),
        ("1 packet", "1 packet"),
        ("0 packets", "0 packets"),
        ("64 kB", "64 kB"),
        ("50 ms", "50 ms"),
    ]);
    refuses::<Limit>(&[
        ("100", "is not a queue limit: write \"100 packets\", \"64 kB\""),
        ("1.5 packets", "is not a whole number of packets"),
        ("-1 packets", "is below zero"),
        ("5000000000 packets", "is too large"),
    ]);
}

#[test]
fn probabilities() {
    accepts::<Probability>(&[
        ("0 %", "0 %"),
        ("0.1 %", "0.1 %"),
        ("100%", "100 %"),
        ("0.0000000001 %", "0.0000000001 %"),
    ]);
    refuses::<Probability>(&[
        ("170 %", "is more than 100 %"),
        ("0.5", "has no unit: write a probability like \"0.1 %\""),
        ("-1 %", "is below zero"),
        ("0.00000000001 %", "is not a whole number of 10^-10 %"),
    ]);
}

#[test]
fn certain_and_impossible_events() {
    for drawn in [0, 1, u64::MAX / 2, u64::MAX] {
        assert!(Probability::ONE.happens(drawn));
        assert!(!Probability::ZERO.happens(drawn));
    }
    let half: Probability = "50 %".parse().expect("a probability");
    assert!(half.happens(u64::MAX / 2));
    assert!(!half.happens(u64::MAX / 2 + 1));
}

#[test]
fn a_rate_is_exact_over_a_week() {
    // 7 Mbit/s and 1498 bytes: 1712000 ns exactly; 3 bit/s would never divide: both must end on the exact instant.
    let rate: Rate = "7.000003 Mbit/s".parse().expect("a rate");
    let size = Bytes::new(1_498);
    let mut serializer = Serializer::default();
    let packets: u64 = 1_000_000;
    let total: u64 = (0..packets).map(|_| serializer.next(rate, size).as_nanos()).sum();
    let exact = u128::from(packets) * 1_498 * 8_000_000_000 / 7_000_003;
    assert_eq!(u128::from(total), exact);
}

#[test]
fn serialization_and_its_inverse() {
    let rate: Rate = "100 Mbit/s".parse().expect("a rate");
    assert_eq!(rate.serialization_delay(Bytes::new(1_500)), Duration::from_micros(120));
    assert_eq!(rate.bytes_in(Duration::from_micros(120)), Bytes::new(1_500));
    let slow = Rate::from_bits_per_second(3).expect("not zero");
    assert_eq!(slow.serialization_delay(Bytes::new(1)), Duration::from_nanos(2_666_666_667));
}

#[test]
fn seeds_differ_by_name_and_repeat() {
    let seed = Seed::new(7);
    assert_eq!(seed.derive("backbone.forward"), seed.derive("backbone.forward"));
    assert_ne!(seed.derive("backbone.forward"), seed.derive("backbone.backward"));
    assert_ne!(seed.derive("a"), Seed::new(8).derive("a"));
}

#[test]
fn dilations() {
    accepts::<Dilation>(&[
        ("10", "10"),
        ("1", "1"),
        ("1.0", "1"),
        ("2.50", "2.5"),
        (" 1.000001 ", "1.000001"),
        ("10000", "10000"),
    ]);
    refuses::<Dilation>(&[
        ("0", "is zero, and time would pass infinitely fast"),
        ("0.000", "is zero"),
        ("0.5", "is below 1, and lab time would pass faster than wall time"),
        ("0.99999999", "is below 1"),
        ("-3", "is below zero, and time does not run backwards"),
        ("10000.1", "is too large, a second of the lab would last hours: write at most 10000"),
        ("99999999999999999999", "is too large"),
        ("1.0000001", "has more than six decimals"),
        ("10x", "is not a number: write how many seconds a second of the lab lasts"),
        ("", "is not a number"),
        ("1e1", "is not a number"),
        ("inf", "is not a number"),
    ]);
}

#[test]
fn a_dilation_is_a_ratio_in_lowest_terms() {
    let ratio = |text: &str| text.parse::<Dilation>().map(|found| (found.numerator(), found.denominator()));
    assert_eq!(ratio("2.5"), Ok((5, 2)));
    assert_eq!(ratio("100"), Ok((100, 1)));
    assert_eq!(ratio("1.000001"), Ok((1_000_001, 1_000_000)));
    assert_eq!((Dilation::from_whole(0), Dilation::from_whole(10_001)), (None, None));
    assert_eq!(Dilation::from_whole(7), Dilation::from_millionths(7_000_000));
    assert_eq!(Dilation::from_millionths(999_999), None);
}

/// Up to real time, down to lab time: three real nanoseconds are one of a lab at 2.5, and one of the lab is three.
#[test]
fn conversions_are_rounded_once() {
    use core::time::Duration as RealDuration;
    let dilation: Dilation = "2.5".parse().expect("a dilation");
    let real = |ns: u64| dilation.to_real(Duration::from_nanos(ns)).as_nanos();
    assert_eq!([real(0), real(1), real(2), real(3)], [0, 3, 5, 8]);
    let lab = |ns: u64| dilation.to_lab(RealDuration::from_nanos(ns)).as_nanos();
    assert_eq!([lab(0), lab(2), lab(3), lab(4), lab(5)], [0, 0, 1, 1, 2]);
    // Nothing overflows: 584 years at 10,000 are exact, and what no lab can reach saturates.
    let slowest = Dilation::from_whole(Dilation::MOST).expect("the slowest");
    assert_eq!(slowest.to_real(Duration::MAX).as_nanos(), u128::from(u64::MAX) * 10_000);
    assert_eq!(Dilation::ONE.to_lab(RealDuration::MAX), Duration::MAX);
}

#[test]
fn times_per_byte() {
    accepts::<TimePerByte>(&[
        ("1 ns", "1 ns"),
        ("0.08 ns", "80 ps"),
        ("8 ps", "8 ps"),
        ("1.5 us", "1.5 us"),
        ("0 ns", "0 ps"),
    ]);
    refuses::<TimePerByte>(&[
        ("1", "has no unit: write a time per byte like \"0.5 ns\""),
        ("0.0001 ns", "is not a whole number of picoseconds"),
        ("1 s", "has the unknown unit `s`"),
        ("-1 ns", "is below zero"),
    ]);
    accepts::<TimePerBranch>(&[("0.5 ns", "500 ps")]);
    refuses::<TimePerBranch>(&[("1", "has no unit: write a time per branch like \"0.5 ns\"")]);
}

#[test]
fn a_packet_costs_its_share_and_its_bytes() {
    let cost = CpuCost { packet: Duration::from_micros(2), byte: TimePerByte::from_picos(80), ..CpuCost::default() };
    assert_eq!(cost.of(Bytes::new(1_500)), Duration::from_nanos(2_120));
    assert_eq!(cost.of(Bytes::new(1)), Duration::from_nanos(2_001), "rounded up");
    assert_eq!(cost.of(Bytes::new(0)), Duration::from_micros(2));
    assert_eq!(CpuCost::default().of(Bytes::new(1_500)), Duration::ZERO);
    assert!(CpuCost::default().is_zero() && !cost.is_zero());
}

/// The page and the Python package read the same table.
#[test]
fn quantities_are_read_as_in_the_table() {
    let table = include_str!("../../../../tests/golden/exact.csv");
    let mut read = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [kind, text, value] = fields[..] else { panic!("{line:?} has three fields") };
        let found = match kind {
            "time" => text.parse().ok().map(Duration::as_nanos),
            "rate" => text.parse().ok().map(Rate::as_bits_per_second),
            "size" => text.parse().ok().map(Bytes::get),
            "share" => text.parse().ok().map(Probability::as_parts_per_trillion),
            _ => continue,
        };
        assert_eq!(found, value.parse().ok(), "{line:?}");
        read += 1;
    }
    assert!(read > 40, "{read} lines");
}
