//! How the lab process stops waiting for kernels that compute for long, or for ever.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Says that nobody waits any longer: somebody wants the run to end, or it had time enough to do so.
///
/// What is asked here is asked again and again, so that nothing is taken in: the descriptors stay readable.
#[derive(Debug, Default)]
pub struct Leash {
    alarms: Vec<OwnedFd>,
    end: Mutex<Option<Instant>>,
}

impl Leash {
    /// One that is pulled while one of the descriptors is readable.
    pub fn new(alarms: Vec<OwnedFd>) -> Self {
        Self { alarms, end: Mutex::new(None) }
    }

    /// From `span` of our time after now it is pulled for good. Of several calls the one counts that says the earliest.
    pub fn pull_after(&self, span: Duration) {
        let (mut end, said) = (self.end.lock().unwrap_or_else(PoisonError::into_inner), Instant::now() + span);
        *end = Some(end.map_or(said, |end| end.min(said)));
    }

    /// Whether the time of [`Leash::pull_after`] is over.
    pub fn is_over(&self) -> bool {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|end| end <= Instant::now())
    }

    /// Whether nobody waits any longer.
    pub fn is_pulled(&self) -> bool {
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
    fn readable_descriptors_pull_it() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let leash = Leash::new(vec![theirs.into()]);
        assert!(!leash.is_pulled());
        ours.write_all(b"stop").unwrap();
        assert!(leash.is_pulled() && leash.is_pulled());
        assert!(!leash.is_over());
    }

    #[test]
    fn an_end_that_has_closed_pulls_it() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let leash = Leash::new(vec![theirs.into()]);
        drop(ours);
        assert!(leash.is_pulled());
    }

    #[test]
    fn the_earliest_end_counts() {
        let leash = Leash::default();
        leash.pull_after(Duration::from_secs(2000));
        assert!(!leash.is_pulled());
        leash.pull_after(Duration::ZERO);
        leash.pull_after(Duration::from_secs(1000));
        assert!(leash.is_over() && leash.is_pulled());
    }
}
