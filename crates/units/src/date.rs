//! Days of the calendar.

use crate::ParseError;
use core::fmt;
use core::str::FromStr;

const SECONDS_PER_DAY: u64 = 86_400;

/// Days in 400 years, after which the calendar repeats.
const DAYS_PER_ERA: u64 = 146_097;

/// Days from 1 March of the year 0 to 1 January 1970.
const DAYS_BEFORE_1970: u64 = 719_468;

/// A day of the Gregorian calendar, UTC, from 1970 to 2042: `2026-11-22`. The clocks of kernel nodes end early in 2043.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    days_since_1970: u64,
}

impl Date {
    /// The last day that there is: 31 December 2042.
    pub const LAST: Self = Self { days_since_1970: 26_662 };

    /// The day of an instant, given in seconds since 1970; [`Date::LAST`] of all that come later.
    pub fn of_unix_seconds(seconds: u64) -> Self {
        Self { days_since_1970: seconds / SECONDS_PER_DAY }.min(Self::LAST)
    }

    /// Returns when the day begins, in seconds since 1970.
    pub fn unix_seconds(self) -> u64 {
        self.days_since_1970 * SECONDS_PER_DAY
    }

    /// The next day; of the last one, that day itself.
    #[must_use]
    pub fn next(self) -> Self {
        Self { days_since_1970: self.days_since_1970 + 1 }.min(Self::LAST)
    }

    /// Counted in years that begin in March, so that the day by which years differ is their last (Howard Hinnant,
    /// "chrono-compatible low-level date algorithms").
    fn of_civil(year: u64, month: u64, day: u64) -> Self {
        let year = if month <= 2 { year - 1 } else { year };
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year;
        Self { days_since_1970: days - DAYS_BEFORE_1970 }
    }

    /// Year, month and day.
    fn civil(self) -> (u64, u64, u64) {
        let days = self.days_since_1970 + DAYS_BEFORE_1970;
        let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        (era * 400 + year_of_era + u64::from(month <= 2), month, day)
    }
}

impl FromStr for Date {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        read(text).ok_or_else(|| {
            ParseError::new("a day from 1970-01-01 to 2042-12-31 is needed here, as in 2026-11-22".into())
        })
    }
}

fn read(text: &str) -> Option<Date> {
    let digits = |from: usize, to: usize| -> Option<u64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let dashes = text.len() == 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    if !dashes || !(1970..=2042).contains(&year) || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    // A day that its month does not have would be one of the next month.
    let date = Date::of_civil(year, month, day);
    (date.civil() == (year, month, day)).then_some(date)
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn every_day_is_read_as_it_is_written() {
        for days_since_1970 in 0..=Date::LAST.days_since_1970 {
            let date = Date { days_since_1970 };
            assert_eq!(date.to_string().parse(), Ok(date), "{date}");
        }
        assert_eq!(Date::LAST.to_string(), "2042-12-31");
        assert_eq!(Date::LAST.next(), Date::LAST);
    }

    /// Against `date -u -d DAY +%s`.
    #[test]
    fn days_begin_where_the_calendar_says() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("2000-02-29", 951_782_400),
            ("2024-03-01", 1_709_251_200),
            ("2026-11-22", 1_795_305_600),
            ("2042-12-31", 2_303_596_800),
        ] {
            let date: Date = text.parse().unwrap();
            assert_eq!(date.unix_seconds(), seconds, "{text}");
            assert_eq!(Date::of_unix_seconds(seconds + 86_399), date, "{text}");
        }
        assert_eq!("2024-02-29".parse::<Date>().unwrap().next().to_string(), "2024-03-01");
        assert_eq!(Date::of_unix_seconds(u64::MAX), Date::LAST);
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for text in [
            "",
            "2026",
            "2026-11",
            "2026-02-29",
            "2026-04-31",
            "2026-00-01",
            "2026-13-01",
            "2026-01-00",
            "1969-12-31",
            "2043-01-01",
            "2026/11/22",
            "22.11.2026",
            "2026-1-2",
            "+026-01-02",
            "2026-11-22T00:00:00Z",
            "today",
            "äöüäö",
        ] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }
}
