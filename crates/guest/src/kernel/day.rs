//! Days of the calendar, UTC.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const SECONDS: u64 = 86_400;

/// A day from 1970 on, written "2026-11-22".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day {
    /// Days since 1 January 1970.
    number: u64,
}

impl Day {
    /// The day of an instant; the first of all for instants before it.
    pub(super) fn of(time: SystemTime) -> Self {
        Self { number: time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / SECONDS }
    }

    /// When it ends and the next one begins, in seconds since 1970.
    pub fn end(self) -> u64 {
        (self.number + 1) * SECONDS
    }
}

impl FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let start = humantime::parse_rfc3339(&format!("{text}T00:00:00Z"));
        start.map(Self::of).map_err(|_| format!("{text:?} is no day: write it as 2026-11-22"))
    }
}

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.to_string()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = UNIX_EPOCH + Duration::from_secs(self.number * SECONDS);
        let text = humantime::format_rfc3339_seconds(start).to_string();
        f.write_str(text.split('T').next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_and_written() {
        for text in ["1970-01-01", "2024-02-29", "2026-11-22"] {
            assert_eq!(text.parse::<Day>().unwrap().to_string(), text);
        }
        for wrong in ["", "2026-11", "2026-02-30", "1969-12-31", "2026-11-22T00:00:00Z", "today"] {
            assert!(wrong.parse::<Day>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_day_ends_where_the_next_begins() {
        assert_eq!("1970-01-01".parse::<Day>().unwrap().end(), 86_400);
        assert_eq!("2026-11-22".parse::<Day>().unwrap().end(), 1_795_392_000);
        let noon = UNIX_EPOCH + Duration::from_secs(1_795_392_000 - 43_200);
        assert_eq!(Day::of(noon).to_string(), "2026-11-22");
    }
}
