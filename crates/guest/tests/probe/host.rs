//! The host's own view, past the C library, and the arithmetic as the shim's documentation promises it.

use std::env;
use std::mem::MaybeUninit;

/// The host's clock in nanoseconds, by a system call that no wrapper sees.
pub(crate) fn clock(clock: libc::clockid_t) -> i128 {
    let mut now = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call fills in a timespec of ours.
    let failed = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, now.as_mut_ptr()) };
    assert_eq!(failed, 0);
    // SAFETY: the call has succeeded, so it was filled in.
    nanoseconds(unsafe { now.assume_init() })
}

pub(crate) fn monotonic() -> i128 {
    clock(libc::CLOCK_MONOTONIC)
}

/// What the wrapped function says.
pub(crate) fn seen(clock: libc::clockid_t) -> i128 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills in a timespec of ours.
    assert_eq!(unsafe { libc::clock_gettime(clock, &raw mut now) }, 0);
    assert!((0..1_000_000_000).contains(&now.tv_nsec));
    nanoseconds(now)
}

pub(crate) fn nanoseconds(time: libc::timespec) -> i128 {
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

pub(crate) fn timespec(nanoseconds: i128) -> libc::timespec {
    libc::timespec {
        tv_sec: i64::try_from(nanoseconds.div_euclid(1_000_000_000)).unwrap(),
        tv_nsec: i64::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap(),
    }
}

/// The orders of this process.
pub(crate) struct Lapse {
    pub(crate) numerator: i128,
    pub(crate) denominator: i128,
    pub(crate) epoch: i128,
    pub(crate) wall: i128,
}

impl Lapse {
    pub(crate) fn ordered() -> Self {
        let number = |name| env::var(name).unwrap().parse().unwrap();
        let ratio = env::var("NETLOOM_DILATION").unwrap();
        let (numerator, denominator) = ratio.split_once('/').unwrap();
        Self {
            numerator: numerator.parse().unwrap(),
            denominator: denominator.parse().unwrap(),
            epoch: number("NETLOOM_EPOCH"),
            wall: number("NETLOOM_WALL"),
        }
    }

    /// Lab time at an instant of the host, rounded down.
    pub(crate) fn lab(&self, host: i128) -> i128 {
        ((host - self.epoch) * self.denominator).div_euclid(self.numerator)
    }

    /// What a span of lab time lasts on the host, rounded up.
    pub(crate) fn host_span(&self, lab: i128) -> i128 {
        -(-lab * self.numerator).div_euclid(self.denominator)
    }
}
