//! Any text is a quantity or refused, and what is shown of a quantity is the same quantity.

use netloom_fuzz::{fuzz, mutated};
use netloom_units::{BitErrorRate, Bytes, Date, Dilation, Duration, Limit, Probability, Rate, Seed, TimePerByte};
use std::fmt::{Debug, Display};
use std::str::FromStr;

const QUANTITIES: [&str; 16] = [
    "100 Mbit/s",
    "2.5 Gbit/s",
    "1 MB/s",
    "20 ms",
    "5 µs",
    "1.5 h",
    "3 min",
    "1 %",
    "0.1",
    "1e-9",
    "64 KiB",
    "1500 B",
    "100 packets",
    "2.5",
    "2 us/kB",
    "2026-11-22T10:11:12Z",
];

fn is_shown_as_it_was_read<T: FromStr<Err: Debug> + Display + PartialEq + Debug>(text: &str) {
    let Ok(value) = text.parse::<T>() else { return };
    let again = value.to_string().parse::<T>();
    assert_eq!(again.as_ref().ok(), Some(&value), "{text:?} is shown as \"{value}\", which is {again:?}");
}

#[test]
fn fuzz_quantities() {
    let texts = mutated(QUANTITIES.map(str::to_owned).to_vec());
    fuzz("quantities", 4_000, &texts, |text| {
        is_shown_as_it_was_read::<Rate>(&text);
        is_shown_as_it_was_read::<Duration>(&text);
        is_shown_as_it_was_read::<Probability>(&text);
        is_shown_as_it_was_read::<BitErrorRate>(&text);
        is_shown_as_it_was_read::<Bytes>(&text);
        is_shown_as_it_was_read::<Limit>(&text);
        is_shown_as_it_was_read::<Dilation>(&text);
        is_shown_as_it_was_read::<TimePerByte>(&text);
        is_shown_as_it_was_read::<Date>(&text);
        is_shown_as_it_was_read::<Seed>(&text);
    });
}
