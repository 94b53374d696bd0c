//! The values of a range: `{from: 1 Mbit/s, to: 10 Mbit/s, step: 1 Mbit/s}`, `{from: 1 ms, to: 1 s, count: 4, scale: log}`.

use netloom_units::Decimal;

/// Values that a parameter has at most.
pub(super) const MOST_VALUES: u64 = 100_000;
/// Decimals that are kept.
const DECIMALS: u32 = 9;
/// The billionths of numbers of which every product with a unit fits.
const MOST: i128 = 10_i128.pow(27);
/// Digits of values that no decimal number hits, as most of a logarithmic scale.
const DIGITS: i32 = 4;

/// Units with what they are of, and how much of it.
const UNITS: [(&str, &str, i128); 33] = [
    ("", "number", 1),
    ("packets", "packets", 1),
    ("packet", "packets", 1),
    ("%", "share", 1),
    ("ps", "time", 1),
    ("ns", "time", 1_000),
    ("us", "time", 1_000_000),
    ("µs", "time", 1_000_000),
    ("ms", "time", 1_000_000_000),
    ("s", "time", 1_000_000_000_000),
    ("min", "time", 60_000_000_000_000),
    ("h", "time", 3_600_000_000_000_000),
    ("bit/s", "rate", 1),
    ("kbit/s", "rate", 1_000),
    ("Mbit/s", "rate", 1_000_000),
    ("Gbit/s", "rate", 1_000_000_000),
    ("Tbit/s", "rate", 1_000_000_000_000),
    ("B/s", "rate", 8),
    ("kB/s", "rate", 8_000),
    ("MB/s", "rate", 8_000_000),
    ("GB/s", "rate", 8_000_000_000),
    ("B", "size", 1),
    ("kB", "size", 1_000),
    ("MB", "size", 1_000_000),
    ("GB", "size", 1_000_000_000),
    ("KiB", "size", 1 << 10),
    ("MiB", "size", 1 << 20),
    ("GiB", "size", 1 << 30),
    ("deg", "angle", 1),
    ("km", "length", 1_000),
    ("m", "length", 1),
    ("cores", "cores", 1),
    ("core", "cores", 1),
];

/// A number with its unit: billionths of that unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantity {
    billionths: i128,
    unit: &'static (&'static str, &'static str, i128),
}

/// How the steps of a range grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scale {
    /// By the same amount.
    #[default]
    Linear,
    /// By the same factor.
    Log,
}

impl Quantity {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && !"+-.".contains(c)).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = unit.trim();
        let known = UNITS.iter().find(|known| known.0 == unit);
        let known = known
            .ok_or_else(|| format!("a range cannot count in `{unit}`: write a number with a unit as everywhere"))?;
        let billionths = decimal(number)
            .ok_or_else(|| format!("\"{text}\" is not a number with at most {DECIMALS} decimals and a unit"))?;
        Ok(Self { billionths, unit: known })
    }

    /// In a smaller unit of the same kind, if that is exact.
    fn within(self, unit: &'static (&'static str, &'static str, i128)) -> Option<i128> {
        let product = self.billionths.checked_mul(self.unit.2)?;
        (product % unit.2 == 0).then_some(product / unit.2)
    }

    fn as_f64(self, unit: &'static (&'static str, &'static str, i128)) -> f64 {
        self.billionths as f64 * self.unit.2 as f64 / unit.2 as f64 / 1e9
    }
}

/// `from`, `from + step` and so on, to `to` at most.
pub(super) fn steps(from: Quantity, to: Quantity, step: Quantity) -> Result<Vec<String>, String> {
    let unit = smallest(&[from, to, step])?;
    let exact =
        |value: Quantity| value.within(unit).ok_or_else(|| format!("{} is not exact in {}", value.unit.0, unit.0));
    let (from, to, step) = (exact(from)?, exact(to)?, exact(step)?);
    if step == 0 || (to - from).signum() * step.signum() < 0 {
        return Err("`step` does not lead from `from` to `to`".into());
    }
    let count = (to - from) / step + 1;
    if count > i128::from(MOST_VALUES) {
        return Err(format!("these are {count} values: a parameter has at most {MOST_VALUES}"));
    }
    Ok((0..count).map(|number| write(from + number * step, unit.0)).collect())
}

/// So many values, the first `from` and the last `to`.
pub(super) fn spread(from: Quantity, to: Quantity, count: u64, scale: Scale) -> Result<Vec<String>, String> {
    let unit = smallest(&[from, to])?;
    let (first, last) = (from.as_f64(unit), to.as_f64(unit));
    if scale == Scale::Log && (first <= 0.0 || last <= 0.0) {
        return Err("a logarithmic scale has values above zero only".into());
    }
    let is_whole =
        ["", "packets", "packet", "B", "ps"].contains(&unit.0) && first.fract() == 0.0 && last.fract() == 0.0;
    let mut values = Vec::new();
    for number in 0..count {
        let share = number as f64 / (count - 1).max(1) as f64;
        let value = match scale {
            _ if number == 0 => first,
            _ if number + 1 == count => last,
            Scale::Linear => first + share * (last - first),
            Scale::Log => first * libm::pow(last / first, share),
        };
        let value = if is_whole { libm::round(value) } else { rounded(value, scale) };
        let text = write(libm::round(value * 1e9) as i128, unit.0);
        if values.last() == Some(&text) {
            return Err(format!(
                "{count} values between them are not all different: {text} is there twice; ask for fewer"
            ));
        }
        values.push(text);
    }
    Ok(values)
}

/// A linear scale keeps six decimals, a logarithmic one its first digits.
fn rounded(value: f64, scale: Scale) -> f64 {
    if scale == Scale::Linear || value == 0.0 {
        return libm::round(value * 1e6) / 1e6;
    }
    let magnitude = libm::pow(10.0, f64::from(DIGITS - 1) - libm::floor(libm::log10(value.abs())));
    libm::round(value * magnitude) / magnitude
}

fn smallest(values: &[Quantity]) -> Result<&'static (&'static str, &'static str, i128), String> {
    let unit = values.iter().map(|value| value.unit).min_by_key(|unit| unit.2).expect("there are some");
    match values.iter().find(|value| value.unit.1 != unit.1) {
        Some(other) => {
            Err(format!("the unit of one is `{}` and of another `{}`: they are not of one kind", unit.0, other.unit.0))
        }
        None => Ok(unit),
    }
}

/// Billionths; none if this is no decimal number, or has too many digits.
fn decimal(text: &str) -> Option<i128> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (billionths, is_exact) = Decimal::parse(digits)?.scaled(DECIMALS.cast_signed())?;
    let billionths = i128::try_from(billionths).ok()?;
    (is_exact && billionths < MOST).then_some(sign * billionths)
}

fn write(billionths: i128, unit: &str) -> String {
    let one = 10_i128.pow(DECIMALS);
    let (sign, rest) = (if billionths < 0 { "-" } else { "" }, billionths.abs());
    let fraction = format!("{:0width$}", rest % one, width = DECIMALS as usize);
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    let space = if unit.is_empty() { "" } else { " " };
    format!("{sign}{}{dot}{fraction}{space}{unit}", rest / one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn q(text: &str) -> Quantity {
        Quantity::parse(text).unwrap()
    }

    #[test]
    fn steps_are_exact_and_in_the_smallest_unit() {
        assert_eq!(
            steps(q("0.1 Mbit/s"), q("0.5 Mbit/s"), q("0.2 Mbit/s")).unwrap(),
            ["0.1 Mbit/s", "0.3 Mbit/s", "0.5 Mbit/s"]
        );
        assert_eq!(steps(q("100 ms"), q("1 s"), q("400 ms")).unwrap(), ["100 ms", "500 ms", "900 ms"]);
        assert_eq!(steps(q("4"), q("1"), q("-1")).unwrap(), ["4", "3", "2", "1"]);
        assert_eq!(steps(q("1"), q("1"), q("1")).unwrap(), ["1"]);
        assert!(steps(q("1"), q("4"), q("-1")).unwrap_err().contains("does not lead"));
        assert!(steps(q("1"), q("4"), q("0")).unwrap_err().contains("does not lead"));
        assert!(steps(q("1 ms"), q("4 Mbit/s"), q("1 ms")).unwrap_err().contains("not of one kind"));
        assert!(steps(q("0"), q("1000000"), q("1")).unwrap_err().contains("1000001 values"));
    }

    #[test]
    fn a_count_of_values_is_spread() {
        assert_eq!(spread(q("1 ms"), q("1 s"), 4, Scale::Log).unwrap(), ["1 ms", "10 ms", "100 ms", "1000 ms"]);
        assert_eq!(
            spread(q("1"), q("2"), 3, Scale::Linear).unwrap_err(),
            "3 values between them are not all different: 2 is there twice; ask for fewer"
        );
        assert_eq!(spread(q("1 %"), q("2 %"), 4, Scale::Linear).unwrap(), ["1 %", "1.333333 %", "1.666667 %", "2 %"]);
        assert_eq!(spread(q("1 ms"), q("10 ms"), 3, Scale::Log).unwrap(), ["1 ms", "3.162 ms", "10 ms"]);
        assert_eq!(spread(q("2"), q("64"), 6, Scale::Log).unwrap(), ["2", "4", "8", "16", "32", "64"]);
        assert_eq!(spread(q("5 ms"), q("5 ms"), 1, Scale::Linear).unwrap(), ["5 ms"]);
        assert!(spread(q("0 ms"), q("5 ms"), 2, Scale::Log).unwrap_err().contains("above zero"));
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        assert!(Quantity::parse("1 Mbps").unwrap_err().contains("cannot count in `Mbps`"));
        assert!(Quantity::parse("1.2.3 ms").unwrap_err().contains("is not a number"));
        assert!(Quantity::parse("0.1234567891 ms").unwrap_err().contains("is not a number"));
        assert!(Quantity::parse("ms").unwrap_err().contains("is not a number"));
    }
}
