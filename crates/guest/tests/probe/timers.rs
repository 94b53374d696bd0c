use super::host::{self, Lapse};
use std::mem;
use std::ptr;

const SECOND: i128 = 1_000_000_000;

/// A timer whose kernel number is the library's, and which is gone long before it would signal anything.
fn create(clock: libc::clockid_t) -> Option<libc::timer_t> {
    // SAFETY: a sigevent is plain data, for which zeroes are valid.
    let mut event: libc::sigevent = unsafe { mem::zeroed() };
    event.sigev_notify = libc::SIGEV_SIGNAL;
    event.sigev_signo = libc::SIGALRM;
    let mut timer: libc::timer_t = ptr::null_mut();
    // SAFETY: both are variables of ours.
    let failed = unsafe { libc::timer_create(clock, &raw mut event, &raw mut timer) };
    (failed == 0).then_some(timer)
}

fn order(value: i128, interval: i128) -> libc::itimerspec {
    libc::itimerspec { it_value: host::timespec(value), it_interval: host::timespec(interval) }
}

fn set(timer: libc::timer_t, flags: i32, order: &libc::itimerspec) -> (i128, i128) {
    let mut old = self::order(0, 0);
    // SAFETY: both are variables of ours.
    assert_eq!(unsafe { libc::timer_settime(timer, flags, order, &raw mut old) }, 0);
    (host::nanoseconds(old.it_value), host::nanoseconds(old.it_interval))
}

/// What is left as the host sees it: value and interval, with the instants just before and after the question.
fn on_host(timer: libc::timer_t) -> (i128, i128, i128, i128) {
    let mut left = order(0, 0);
    let before = host::monotonic();
    // SAFETY: the call fills in a variable of ours.
    assert_eq!(unsafe { libc::syscall(libc::SYS_timer_gettime, timer as usize, &raw mut left) }, 0);
    (host::nanoseconds(left.it_value), host::nanoseconds(left.it_interval), before, host::monotonic())
}

fn in_lab(timer: libc::timer_t) -> i128 {
    let mut left = order(0, 0);
    // SAFETY: the call fills in a variable of ours.
    assert_eq!(unsafe { libc::timer_gettime(timer, &raw mut left) }, 0);
    host::nanoseconds(left.it_value)
}

#[test]
#[ignore = "runs in a process of its own, with the shim"]
fn timers() {
    let lapse = Lapse::ordered();
    for clock in [libc::CLOCK_MONOTONIC, libc::CLOCK_BOOTTIME, libc::CLOCK_REALTIME] {
        relative(&lapse, clock);
        absolute(&lapse, clock);
    }
    of_cpu_time();
    old_style(&lapse);
    many();
}

fn relative(lapse: &Lapse, clock: libc::clockid_t) {
    let timer = create(clock).unwrap();
    let set_before = host::monotonic();
    assert_eq!(set(timer, 0, &order(100 * SECOND, 1_000_001)), (0, 0));
    let set_after = host::monotonic();
    let (left, interval, before, after) = on_host(timer);
    let span = lapse.host_span(100 * SECOND);
    assert!(span - (after - set_before) <= left && left <= span - (before - set_after), "{left} of {span}");
    let off = interval * lapse.denominator * 2 - 1_000_001 * lapse.numerator * 2;
    assert!(off.abs() <= lapse.denominator, "the interval of {interval} ns is not the nearest");

    let asked = host::monotonic();
    let lab = in_lab(timer);
    assert!(lab <= 100 * SECOND && lab >= lapse.lab(lapse.epoch + span - (host::monotonic() - set_before)), "{lab}");
    assert!(lab <= lapse.lab(lapse.epoch + span - (asked - set_after)) + 1, "{lab}");

    let (old, old_interval) = set(timer, 0, &order(0, 0));
    assert!(0 < old && old <= lab);
    assert!((old_interval - 1_000_001).abs() <= 1, "{old_interval}");
    assert_eq!(on_host(timer).0, 0);
    assert_eq!(in_lab(timer), 0);
    let wrong = libc::itimerspec {
        it_value: libc::timespec { tv_sec: 0, tv_nsec: 1_000_000_000 },
        it_interval: host::timespec(0),
    };
    // SAFETY: the order is a variable of ours, and nothing is asked for.
    assert_eq!(unsafe { libc::timer_settime(timer, 0, &raw const wrong, ptr::null_mut()) }, -1);
    // SAFETY: the timer is ours.
    assert_eq!(unsafe { libc::timer_delete(timer) }, 0);
}

fn absolute(lapse: &Lapse, clock: libc::clockid_t) {
    let timer = create(clock).unwrap();
    let then = host::seen(clock) + 50 * SECOND + 7;
    set(timer, libc::TIMER_ABSTIME, &order(then, 0));
    let offset = if clock == libc::CLOCK_REALTIME { lapse.wall } else { 0 };
    let due = lapse.epoch + lapse.host_span(then - offset);
    let (left, _, before, after) = on_host(timer);
    assert!(due - after <= left && left <= due - before, "{left}");
    // SAFETY: the timer is ours.
    assert_eq!(unsafe { libc::timer_delete(timer) }, 0);
}

fn of_cpu_time() {
    let timer = create(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap();
    set(timer, 0, &order(1000 * SECOND, 0));
    let (left, ..) = on_host(timer);
    assert!(left <= 1000 * SECOND && left > 900 * SECOND, "{left}");
    // SAFETY: the timer is ours.
    assert_eq!(unsafe { libc::timer_delete(timer) }, 0);
}

fn old_style(lapse: &Lapse) {
    let time = |seconds| libc::timeval { tv_sec: seconds, tv_usec: 0 };
    for (which, scaled) in [(libc::ITIMER_REAL, true), (libc::ITIMER_VIRTUAL, false)] {
        let mut left = libc::itimerval { it_value: time(1000), it_interval: time(2) };
        let set_before = host::monotonic();
        // SAFETY: all are variables of ours, or null where nothing is asked for.
        unsafe {
            assert_eq!(libc::setitimer(which, &raw const left, ptr::null_mut()), 0);
            assert_eq!(libc::syscall(libc::SYS_getitimer, which, &raw mut left), 0);
        }
        let passed = host::monotonic() - set_before;
        let in_us = |shown: libc::timeval| i128::from(shown.tv_sec) * 1_000_000 + i128::from(shown.tv_usec);
        let on_host = |lab| if scaled { lapse.host_span(lab) } else { lab };
        let (span, shown) = (on_host(1000 * SECOND), in_us(left.it_value));
        // The host rounds to microseconds, and counts CPU time in steps of its own.
        let slack = if scaled { 2 } else { 20_000 };
        assert!(
            shown * 1000 >= span - passed - slack * 1000 && shown <= span / 1000 + slack,
            "{shown} us of {span} ns"
        );
        assert!((in_us(left.it_interval) * 1000 - on_host(2 * SECOND)).abs() <= slack * 1000);
        // SAFETY: as above.
        unsafe {
            assert_eq!(libc::getitimer(which, &raw mut left), 0);
            assert!(in_us(left.it_value) <= 1_000_000_000 + slack && in_us(left.it_value) > 900_000_000);
            left.it_value = time(0);
            assert_eq!(libc::setitimer(which, &raw const left, ptr::null_mut()), 0);
        }
    }
}

/// More timers than there is room for are refused as the library would refuse them; deleted ones make room.
fn many() {
    let timers: Vec<_> = std::iter::from_fn(|| create(libc::CLOCK_MONOTONIC)).collect();
    assert_eq!(timers.len(), 64);
    assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EAGAIN));
    // SAFETY: the timers are ours.
    timers.iter().for_each(|&timer| assert_eq!(unsafe { libc::timer_delete(timer) }, 0));
    let again = create(libc::CLOCK_MONOTONIC).unwrap();
    // SAFETY: the timer is ours.
    assert_eq!(unsafe { libc::timer_delete(again) }, 0);
}
