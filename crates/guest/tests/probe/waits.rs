use super::host::{self, Lapse};
use std::ptr;

const SPAN: i128 = 3_000_000;

#[test]
#[ignore = "runs in a process of its own, with the shim"]
fn waits() {
    let lapse = Lapse::ordered();
    let span = host::timespec(SPAN);
    let nothing = ptr::null_mut::<libc::timespec>();
    // SAFETY: every pointer below is null where the call allows it, or to a variable that outlives the call.
    unsafe {
        lasts(&lapse, || assert_eq!(libc::nanosleep(&raw const span, nothing), 0));
        for clock in [libc::CLOCK_MONOTONIC, libc::CLOCK_REALTIME] {
            lasts(&lapse, || assert_eq!(libc::clock_nanosleep(clock, 0, &raw const span, nothing), 0));
            let then = host::timespec(host::seen(clock) + SPAN);
            assert_eq!(libc::clock_nanosleep(clock, libc::TIMER_ABSTIME, &raw const then, nothing), 0);
            assert!(host::seen(clock) >= host::nanoseconds(then), "early on clock {clock}");
        }
        lasts(&lapse, || assert_eq!(libc::usleep(3000), 0));
        lasts(&lapse, || assert_eq!(libc::poll(ptr::null_mut(), 0, 3), 0));
        lasts(&lapse, || assert_eq!(libc::ppoll(ptr::null_mut(), 0, &raw const span, ptr::null()), 0));
        let none = ptr::null_mut();
        lasts(&lapse, || assert_eq!(libc::pselect(0, none, none, none, &raw const span, ptr::null()), 0));
        let mut time = libc::timeval { tv_sec: 0, tv_usec: 3000 };
        lasts(&lapse, || assert_eq!(libc::select(0, none, none, none, &raw mut time), 0));
        assert_eq!((time.tv_sec, time.tv_usec), (0, 0));
        let epoll = libc::epoll_create1(libc::EPOLL_CLOEXEC);
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        lasts(&lapse, || assert_eq!(libc::epoll_wait(epoll, &raw mut event, 1, 3), 0));
        lasts(&lapse, || assert_eq!(libc::epoll_pwait(epoll, &raw mut event, 1, 3, ptr::null()), 0));
        assert_eq!(libc::epoll_wait(epoll, &raw mut event, 1, 0), 0);
        assert_eq!(libc::poll(none.cast(), 0, 0), 0);
    }
}

/// Waits at least as long on the host as 3 ms of lab time do. How much longer is the host's business.
fn lasts(lapse: &Lapse, mut wait: impl FnMut()) {
    let before = host::monotonic();
    wait();
    let lasted = host::monotonic() - before;
    assert!(lasted >= lapse.host_span(SPAN), "only {lasted} ns");
}
