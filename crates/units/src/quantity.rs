//! Measured quantities for people: four significant digits and the largest unit that keeps a digit before the point. The page writes them by
//! the same rule; `tests/golden/quantities.json` has the cases of both.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

const RATE_UNITS: [(f64, &str); 5] =
    [(1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")];
const SIZE_UNITS: [(f64, &str); 4] = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")];
const TIME_UNITS: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];

/// Bits per second, for example `97.63 Mbit/s`.
pub fn rate(bits_per_second: f64) -> String {
    in_units(bits_per_second, &RATE_UNITS)
}

/// A number of bytes as a size, for example `12.3 MB`.
pub fn bytes(count: u64) -> String {
    in_units(count as f64, &SIZE_UNITS)
}

/// Nanoseconds as a time, for example `20.03 ms`.
pub fn span(ns: u64) -> String {
    in_units(ns as f64, &TIME_UNITS)
}

/// A figure in its unit: `bit/s`, `ns`, `B`, `share`, which is written in percent, or another, which is left out.
pub fn figure(value: f64, unit: &str) -> String {
    if value < 0.0 {
        return format!("-{}", figure(-value, unit));
    }
    match scaled(unit) {
        // Parts of a nanosecond or a byte are no measurements.
        Some(units) => in_units(if unit == "bit/s" { value } else { rounded(value) }, units),
        None if unit == "share" => format!("{} %", four_digits(value * 100.0)),
        None => four_digits(value),
    }
}

/// A figure and half of its interval, both in the unit that suits the figure: `9.412 ± 0.02 Mbit/s`.
pub fn with_interval(value: f64, half: f64, unit: &str) -> String {
    let (scale, name) = match scaled(unit) {
        Some(units) => unit_for(if value == 0.0 { half } else { value.abs() }, units),
        None if unit == "share" => (0.01, "%"),
        None => (1.0, ""),
    };
    format!("{} ± {} {name}", four_digits(value / scale), four_digits(half / scale)).trim_end().to_owned()
}

/// The units in which a figure is shown; none if it keeps its own.
fn scaled(unit: &str) -> Option<&'static [(f64, &'static str)]> {
    match unit {
        "bit/s" => Some(&RATE_UNITS),
        "ns" => Some(&TIME_UNITS),
        "B" => Some(&SIZE_UNITS),
        _ => None,
    }
}

/// A number of at least zero without its decimals, a half upwards.
fn rounded(value: f64) -> f64 {
    // Larger ones have no decimals.
    const WHOLE: f64 = (1_u64 << 52) as f64;
    match value as u64 as f64 {
        whole if value < WHOLE && value - whole >= 0.5 => whole + 1.0,
        whole if value < WHOLE => whole,
        _ => value,
    }
}

/// Four digits, or all before the point, without zeros that say nothing.
fn four_digits(value: f64) -> String {
    const LEAST: [f64; 9] = [1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5];
    let decimals = LEAST.iter().filter(|least| value.abs() < **least).count();
    trimmed(value, decimals)
}

/// The number with so many decimals at most, without zeros that say nothing.
pub fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Nanoseconds in the unit that [`span`] would choose for `like`, without the unit: the first half of `4/31 us`.
pub fn bare(ns: u64, like: u64) -> String {
    let (scale, _) = unit_for(like as f64, &TIME_UNITS);
    digits(ns as f64 / scale)
}

/// How many there are of something: `1 link`, `2 links`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A whole number with commas: `312,000`.
pub fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 && digits.as_bytes()[index - 1] != b'-' {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn in_units(value: f64, units: &[(f64, &str)]) -> String {
    let (scale, unit) = unit_for(value, units);
    format!("{} {unit}", digits(value / scale))
}

fn unit_for<'a>(value: f64, units: &[(f64, &'a str)]) -> (f64, &'a str) {
    let fitting = units.iter().find(|(scale, _)| value >= *scale);
    *fitting.or(units.last()).expect("the tables of units are not empty")
}

/// Four significant digits, without zeros that say nothing.
fn digits(value: f64) -> String {
    let decimals = match value {
        v if v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        _ => 3,
    };
    trimmed(value, decimals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn quantities_read_well() {
        assert_eq!(rate(97_631_234.0), "97.63 Mbit/s");
        assert_eq!(rate(100e6), "100 Mbit/s");
        assert_eq!(rate(0.0), "0 bit/s");
        assert_eq!(span(20_031_000), "20.03 ms");
        assert_eq!(span(0), "0 ns");
        assert_eq!([bytes(0), bytes(999), bytes(12_345_678)], ["0 B", "999 B", "12.35 MB"]);
        assert_eq!([grouped(0.0), grouped(999.4), grouped(1_000.0)], ["0", "999", "1,000"]);
        assert_eq!(grouped(1_234_567.0), "1,234,567");
        assert_eq!(span(3_600_000_000_000), "3600 s");
        assert_eq!(bare(4_200, 31_000), "4.2");
        assert_eq!(bare(800, 1_200_000), "0.001");
    }

    #[test]
    fn figures_have_four_digits_and_a_unit() {
        assert_eq!(figure(9_412_345.0, "bit/s"), "9.412 Mbit/s");
        assert_eq!(figure(20_100_000.0, "ns"), "20.1 ms");
        assert_eq!(figure(0.012_345, "share"), "1.234 %");
        assert_eq!(figure(17.0, "packets"), "17");
        assert_eq!(figure(-17.333_333, ""), "-17.33");
        assert_eq!(figure(123_456.7, ""), "123457");
        assert_eq!(figure(0.0, ""), "0");
        assert_eq!(
            [figure(-5.2e6, "bit/s"), figure(-2e6, "ns"), figure(-0.5, "share")],
            ["-5.2 Mbit/s", "-2 ms", "-50 %"]
        );
    }

    /// The page has the same rule in another language (`web/components/format.ts`), and the same cases.
    #[test]
    fn quantities_are_written_as_in_the_table() {
        let table = include_str!("../../../tests/golden/quantities.json");
        let cases: Vec<&str> = table.lines().filter(|line| line.contains("value")).collect();
        assert!(cases.len() > 30);
        for case in cases {
            // One a line, and no text with a quote in it.
            let parts: Vec<&str> = case.split('"').collect();
            let [_, "value", number, "unit", _, unit, _, "text", _, text, _] = parts[..] else { panic!("{case}") };
            let number = number.trim_matches([':', ',', ' ']);
            let value: f64 = number.parse().expect("a number");
            assert_eq!(text, figure(value, unit), "{case}");
            match (unit, number.parse::<u64>()) {
                ("bit/s", _) if value >= 0.0 => assert_eq!(text, rate(value), "{case}"),
                ("ns", Ok(ns)) => assert_eq!(text, span(ns), "{case}"),
                ("B", Ok(count)) => assert_eq!(text, bytes(count), "{case}"),
                _ => {}
            }
        }
    }

    #[test]
    fn a_figure_and_its_interval_have_one_unit() {
        assert_eq!(with_interval(9_412_345.0, 20_000.0, "bit/s"), "9.412 ± 0.02 Mbit/s");
        assert_eq!(with_interval(-5_250_000.0, 15.8e6, "ns"), "-5.25 ± 15.8 ms");
        assert_eq!(with_interval(0.0, 2e3, "ns"), "0 ± 2 us");
        assert_eq!(with_interval(0.25, 0.013, "share"), "25 ± 1.3 %");
        assert_eq!(with_interval(5.0, 12.706, "packets"), "5 ± 12.71");
        assert_eq!(with_interval(5e6, 0.0, "ns"), "5 ± 0 ms");
    }
}
