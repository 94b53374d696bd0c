//! A part of the runs of a sweep.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// More ranges than these nobody writes.
const MOST: usize = 10_000;

/// The runs that are to be carried out, by their numbers from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only(Vec<RangeInclusive<u64>>);

impl Only {
    /// Whether the run of this number, from 0, is one of them.
    pub(crate) fn contains(&self, number: u64) -> bool {
        self.0.iter().any(|range| number.checked_add(1).is_some_and(|number| range.contains(&number)))
    }
}

impl FromStr for Only {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(Vec::new()));
        }
        let wrong = || "write numbers of runs from 1, and ranges, for example 1,5-9; or none".to_owned();
        if text.len() > MOST {
            return Err(wrong());
        }
        let number = |part: &str| part.parse::<u64>().ok().filter(|number| *number > 0).ok_or_else(wrong);
        let range = |part: &str| match part.split_once('-') {
            Some((first, last)) => Ok(number(first)?..=number(last)?),
            None => number(part).map(|only| only..=only),
        };
        let ranges: Vec<_> = text.split(',').map(range).collect::<Result<_, String>>()?;
        if ranges.iter().any(RangeInclusive::is_empty) { Err(wrong()) } else { Ok(Self(ranges)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_numbers_and_ranges() {
        let played = |text: &str| -> Vec<u64> {
            let only: Only = text.parse().unwrap();
            (0..12).filter(|number| only.contains(*number)).map(|number| number + 1).collect()
        };
        assert_eq!(played("7"), [7]);
        assert_eq!(played("1,5-7,12"), [1, 5, 6, 7, 12]);
        assert!(played("none").is_empty());
        for wrong in ["", "0", "5-3", "a", "1,,2", "-3", "1-", "18446744073709551616"] {
            assert!(wrong.parse::<Only>().is_err(), "{wrong}");
        }
    }
}
