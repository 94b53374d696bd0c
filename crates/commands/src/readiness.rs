//! When a service is ready for the others.

use netloom_lab::{Ready, ReadyWhen};
use netloom_units::{Duration, Instant};

/// How often a service is asked whether it is ready. Asking costs some 50 us; services take milliseconds to start.
const INTERVAL: Duration = Duration::from_millis(10);
/// How often a node is asked for its routes, and for its address: daemons take seconds to find routes, and a client without a server asks
/// for long.
const NETWORK_INTERVAL: Duration = Duration::from_millis(100);

/// The state of a service that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It can be used.
    Ready,
    /// It is ready when it has ended with 0.
    AtItsEnd,
    /// To be asked at `next`, until `deadline`.
    Awaited {
        /// When to ask next.
        next: Instant,
        /// When to give up; a pause cannot fail.
        deadline: Option<Instant>,
        /// How long after one question the next comes.
        interval: Duration,
    },
}

/// The next thing to do about a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing yet.
    Wait,
    /// Ask it.
    Ask,
    /// It did not become ready in time.
    GiveUp,
}

impl Readiness {
    /// The service was started at `now`; `once`: it may end with 0, and is ready then.
    pub fn of(ready: Option<&Ready>, once: bool, now: Instant) -> Self {
        match ready {
            None if once => Self::AtItsEnd,
            None => Self::Ready,
            Some(Ready { when: ReadyWhen::Pause(span), .. }) => {
                Self::Awaited { next: now + *span, deadline: None, interval: INTERVAL }
            }
            Some(Ready { when, timeout }) => {
                let is_slow = matches!(when, ReadyWhen::Routes(_) | ReadyWhen::Lease(_));
                let interval = if is_slow { NETWORK_INTERVAL } else { INTERVAL };
                Self::Awaited { next: now, deadline: Some(now + *timeout), interval }
            }
        }
    }

    /// Whether the service can be used.
    pub fn is_ready(&self) -> bool {
        *self == Self::Ready
    }

    /// Goes on asking without an end: the service was not ready in time.
    pub fn go_on(&mut self) {
        if let Self::Awaited { deadline, .. } = self {
            *deadline = None;
        }
    }

    /// When it wants to be looked at again.
    pub fn due(&self) -> Option<Instant> {
        match self {
            Self::Ready | Self::AtItsEnd => None,
            Self::Awaited { next, .. } => Some(*next),
        }
    }

    /// Returns what to do at `now`; asking puts the next time off.
    pub fn step(&mut self, now: Instant) -> Step {
        match self {
            Self::Awaited { next, .. } if *next > now => Step::Wait,
            Self::Awaited { deadline: Some(deadline), .. } if *deadline <= now => Step::GiveUp,
            Self::Awaited { next, interval, .. } => {
                *next = now + *interval;
                Step::Ask
            }
            Self::Ready | Self::AtItsEnd => Step::Wait,
        }
    }
}

/// Returns what is awaited, in words.
pub fn condition(ready: &Ready) -> String {
    match &ready.when {
        ReadyWhen::Tcp(port) => format!("TCP port {port} is not open"),
        ReadyWhen::Udp(port) => format!("no socket is bound to UDP port {port}"),
        ReadyWhen::File(path) => format!("the file {path} does not exist"),
        ReadyWhen::Command(command) => format!("`{command}` does not succeed"),
        ReadyWhen::Pause(span) => format!("the pause of {span} is not over"),
        ReadyWhen::Lease(_) => "no DHCP server or router gave it an address".to_owned(),
        ReadyWhen::Routes(_) => "it has not all routes".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn ready(when: ReadyWhen) -> Ready {
        Ready { when, timeout: Duration::from_millis(100) }
    }

    #[test]
    fn a_service_is_asked_until_its_time_is_up() {
        let mut readiness = Readiness::of(Some(&ready(ReadyWhen::Tcp(5201))), false, at(1_000));
        assert_eq!(readiness.step(at(1_000)), Step::Ask);
        assert_eq!(readiness.step(at(1_001)), Step::Wait);
        assert_eq!(readiness.due(), Some(at(1_010)));
        assert_eq!(readiness.step(at(1_010)), Step::Ask);
        assert_eq!(readiness.step(at(1_100)), Step::GiveUp);
    }

    #[test]
    fn a_pause_never_fails_however_late_it_is_looked_at() {
        let mut readiness = Readiness::of(Some(&ready(ReadyWhen::Pause(Duration::from_secs(5)))), false, at(0));
        assert_eq!(readiness.step(at(4_999)), Step::Wait);
        assert_eq!(readiness.step(at(60_000)), Step::Ask);
    }

    #[test]
    fn without_a_condition_a_service_is_ready_at_once() {
        let mut readiness = Readiness::of(None, false, at(0));
        assert!(readiness.is_ready());
        assert_eq!((readiness.due(), readiness.step(at(1))), (None, Step::Wait));
    }
}
