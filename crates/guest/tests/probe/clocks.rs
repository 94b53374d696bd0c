use super::host::{self, Lapse};

#[test]
#[ignore = "runs in a process of its own, with the shim"]
fn clocks() {
    let lapse = Lapse::ordered();
    let monotonic = [
        libc::CLOCK_MONOTONIC,
        libc::CLOCK_MONOTONIC_RAW,
        libc::CLOCK_MONOTONIC_COARSE,
        libc::CLOCK_BOOTTIME,
        libc::CLOCK_BOOTTIME_ALARM,
    ];
    let wall = [libc::CLOCK_REALTIME, libc::CLOCK_REALTIME_COARSE, libc::CLOCK_REALTIME_ALARM, libc::CLOCK_TAI];
    for _ in 0..1000 {
        for clock in monotonic {
            between(&lapse, 0, || host::seen(clock), 1);
        }
        for clock in wall {
            between(&lapse, lapse.wall, || host::seen(clock), 1);
        }
        between(&lapse, lapse.wall, of_day, 1000);
        // SAFETY: a null pointer asks for the result only.
        between(
            &lapse,
            lapse.wall,
            || i128::from(unsafe { libc::time(std::ptr::null_mut()) }) * 1_000_000_000,
            1_000_000_000,
        );
    }
}

/// What is seen lies between lab time just before and just after, in whole units of `grain` nanoseconds.
fn between(lapse: &Lapse, offset: i128, seen: impl Fn() -> i128, grain: i128) {
    let before = host::monotonic();
    let shown = seen();
    let after = host::monotonic();
    let down = |instant: i128| (instant + offset).div_euclid(grain) * grain;
    assert!(down(lapse.lab(before)) <= shown, "{shown} is behind by {}", down(lapse.lab(before)) - shown);
    assert!(shown <= down(lapse.lab(after)), "{shown} is ahead by {}", shown - down(lapse.lab(after)));
}

fn of_day() -> i128 {
    let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: the call fills in a timeval of ours; a null time zone is not asked for.
    assert_eq!(unsafe { libc::gettimeofday(&raw mut now, std::ptr::null_mut()) }, 0);
    i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_usec) * 1000
}

#[test]
#[ignore = "runs in a process of its own, with the shim"]
fn cpu_clocks() {
    for clock in [libc::CLOCK_PROCESS_CPUTIME_ID, libc::CLOCK_THREAD_CPUTIME_ID] {
        let (before, shown, after) = (host::clock(clock), host::seen(clock), host::clock(clock));
        assert!(before <= shown && shown <= after, "{before} {shown} {after}");
    }
}

#[test]
#[ignore = "runs in a process of its own, with the shim"]
fn untouched() {
    for clock in [libc::CLOCK_MONOTONIC, libc::CLOCK_REALTIME, libc::CLOCK_BOOTTIME, libc::CLOCK_TAI] {
        let (before, shown, after) = (host::clock(clock), host::seen(clock), host::clock(clock));
        assert!(before <= shown && shown <= after, "{before} {shown} {after}");
    }
}
