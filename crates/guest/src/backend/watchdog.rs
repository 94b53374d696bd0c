//! The watchdog: ends the lab process's wait for kernels that compute for long, or without end.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Ends all waits for kernels: the run is to end, and its kernels had time enough for that.
///
/// What is asked here is asked again and again, so that nothing is taken in: the descriptors stay readable.
#[derive(Debug, Default)]
pub struct Watchdog {
    alarms: Vec<OwnedFd>,
    end: Mutex<Option<Instant>>,
}

impl Watchdog {
    /// One that fires while one of the descriptors is readable.
    pub fn new(alarms: Vec<OwnedFd>) -> Self {
        Self { alarms, end: Mutex::new(None) }
    }

    /// From `span` of wall time after now it fires for good. Of several calls the one counts that says the earliest.
    pub fn fire_after(&self, span: Duration) {
        let (mut end, said) = (self.end.lock().unwrap_or_else(PoisonError::into_inner), Instant::now() + span);
        *end = Some(end.map_or(said, |end| end.min(said)));
    }

    /// Whether the time of [`Watchdog::fire_after`] is over.
    pub fn is_over(&self) -> bool {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|end| end <= Instant::now())
    }

    /// Whether all waits have been ended.
    pub fn has_fired(&self) -> bool {
        if self.is_over() {
            return true;
        }
        let mut fds: Vec<_> = self.alarms.iter().map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN)).collect();
        match poll(&mut fds, PollTimeout::ZERO) {
            Ok(ready) => ready > 0,
            Err(errno) => errno != Errno::EINTR,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn readable_descriptors_make_it_fire() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let watchdog = Watchdog::new(vec![theirs.into()]);
        assert!(!watchdog.has_fired());
        ours.write_all(b"stop").unwrap();
        assert!(watchdog.has_fired() && watchdog.has_fired());
        assert!(!watchdog.is_over());
    }

    #[test]
    fn an_end_that_has_closed_pulls_it() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let watchdog = Watchdog::new(vec![theirs.into()]);
        drop(ours);
        assert!(watchdog.has_fired());
    }

    #[test]
    fn the_earliest_end_counts() {
        let watchdog = Watchdog::default();
        watchdog.fire_after(Duration::from_secs(2000));
        assert!(!watchdog.has_fired());
        watchdog.fire_after(Duration::ZERO);
        watchdog.fire_after(Duration::from_secs(1000));
        assert!(watchdog.is_over() && watchdog.has_fired());
    }
}
