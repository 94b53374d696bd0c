//! The bound that chrony has for the time of day: what its client says, line by line (`chronyc -c tracking`).

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The age from which on a line says nothing any more, in nanoseconds.
const STALE: u64 = 10_000_000_000;
/// The longest line.
const LONGEST: usize = 4_096;
/// The error of an oscillator beside what chrony knows of it, in millionths: the default of `maxclockerror`.
const OSCILLATOR: f64 = 1.0;

/// The bound of the time of day, as the client of chrony says it, for all tunnels of a lab.
#[derive(Clone, Debug)]
pub struct Tracker(Arc<Mutex<Told>>);

#[derive(Debug)]
struct Told {
    stream: File,
    unread: Vec<u8>,
    /// The last bound, and when it came, by `CLOCK_MONOTONIC` in nanoseconds.
    last: Option<(Tracking, i64)>,
}

/// The bound of the time of day, in seconds, and its growth in each second, in millionths.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tracking {
    bound: f64,
    skew: f64,
}

impl Tracker {
    /// Prepares a stream with a line of `chronyc -c tracking` for each time that somebody has asked.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(stream: OwnedFd) -> io::Result<Self> {
        fcntl_setfl(&stream, fcntl_getfl(&stream)? | OFlags::NONBLOCK)?;
        Ok(Self(Arc::new(Mutex::new(Told { stream: stream.into(), unread: Vec::new(), last: None }))))
    }

    /// Returns by how much the time of day is off now, at most, in nanoseconds; none if nobody knows. `now`: of `CLOCK_MONOTONIC`.
    pub(super) fn bound(&self, now: i64) -> Option<u64> {
        // Who finds another thread here asks again the next time.
        let told = &mut *self.0.try_lock().ok()?;
        told.hear(now);
        let (Tracking { bound, skew }, at) = told.last?;
        let age = u64::try_from(now.saturating_sub(at)).ok().filter(|age| *age <= STALE)?;
        let grown = Duration::from_nanos(age).as_secs_f64() * (skew + OSCILLATOR) * 1e-6;
        // The next nanosecond, as this rounds to the nearest.
        u64::try_from(Duration::try_from_secs_f64(bound + grown).ok()?.as_nanos()).ok()?.checked_add(1)
    }
}

impl Told {
    /// Takes in what has come.
    fn hear(&mut self, now: i64) {
        let mut buffer = [0; LONGEST];
        while let Ok(len @ 1..) = self.stream.read(&mut buffer) {
            self.unread.extend_from_slice(&buffer[..len]);
            if let Some(end) = self.unread.iter().rposition(|byte| *byte == b'\n') {
                let line = self.unread[..end].rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
                self.last = std::str::from_utf8(line).ok().and_then(Tracking::parse).map(|tracking| (tracking, now));
                self.unread.drain(..=end);
            }
            if self.unread.len() > LONGEST {
                self.unread.clear();
            }
        }
    }
}

impl Tracking {
    /// Reads a line: the offset that is still to be corrected, and how far the clock may be from the reference (root delay and dispersion, RFC 5905).
    /// None if the clock is not synchronized, or the line is another one.
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.trim().split(',').collect();
        let number = |place: usize| fields.get(place)?.parse().ok().filter(|number: &f64| number.is_finite());
        let is_synchronized = fields.len() >= 14 && fields[13] != "Not synchronised";
        let (offset, skew, delay, dispersion) = (number(4)?, number(9)?, number(10)?, number(11)?);
        let is_sane = skew >= 0.0 && delay >= 0.0 && dispersion >= 0.0;
        (is_synchronized && is_sane).then(|| Self { bound: offset.abs() + delay / 2.0 + dispersion, skew })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// As chrony 4.3 writes it.
    const LINE: &str = "A9FEA97B,169.254.169.123,4,1700000000.123456789,-0.000001000,-0.000000123,0.000002345,-12.345,0.001,9.000,0.000200000,0.000030000,16.2,Normal";

    fn tracker() -> (Tracker, io::PipeWriter) {
        let (reader, writer) = io::pipe().unwrap();
        (Tracker::new(reader.into()).unwrap(), writer)
    }

    #[test]
    fn the_bound_is_offset_dispersion_and_half_of_the_delay_and_grows() {
        let (tracker, mut writer) = tracker();
        assert_eq!(tracker.bound(0), None, "nothing was said yet");
        writeln!(writer, "{LINE}").unwrap();
        // 1 us + 200 us / 2 + 30 us, rounded up.
        let first = tracker.bound(5).unwrap();
        assert!((131_000..=131_001).contains(&first), "{first}");
        // A second later, 9 ppm of skew and 1 ppm more: 10 us.
        let later = tracker.bound(1_000_000_005).unwrap();
        assert!((141_000..=141_001).contains(&later), "{later}");
        assert_eq!(tracker.bound(10_000_000_006), None, "too long ago");
    }

    #[test]
    fn the_last_whole_line_counts() {
        let (tracker, mut writer) = tracker();
        write!(writer, "{LINE}\n{}", &LINE[..40]).unwrap();
        assert!(tracker.bound(0).is_some());
        writeln!(writer, "{}", LINE[40..].replace("Normal", "Not synchronised")).unwrap();
        assert_eq!(tracker.bound(0), None);
        writeln!(writer, "506 Cannot talk to daemon\n{LINE}").unwrap();
        assert!(tracker.bound(0).is_some());
    }

    #[test]
    fn lines_of_another_kind_say_nothing() {
        let wrong =
            [LINE.replace("0.000030000", "NaN"), LINE.replace("0.000200000", "-1"), LINE[..80].into(), "".into()];
        for line in wrong {
            assert_eq!(Tracking::parse(&line), None, "{line}");
        }
    }
}
