use super::host::{self, Lapse};
use std::mem::MaybeUninit;
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
    locks();
}

/// Waits until an instant of the wall clock or the monotonic one for what never comes.
fn locks() {
    for clock in [libc::CLOCK_MONOTONIC, libc::CLOCK_REALTIME] {
        let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
        let mut condition = MaybeUninit::<libc::pthread_cond_t>::uninit();
        let mut attributes = MaybeUninit::<libc::pthread_condattr_t>::uninit();
        // SAFETY: all pointers are to variables that outlive the calls, and what is used is initialized first.
        unsafe {
            assert_eq!(libc::pthread_condattr_init(attributes.as_mut_ptr()), 0);
            assert_eq!(libc::pthread_condattr_setclock(attributes.as_mut_ptr(), clock), 0);
            assert_eq!(libc::pthread_cond_init(condition.as_mut_ptr(), attributes.as_ptr()), 0);
            assert_eq!(libc::pthread_mutex_lock(&raw mut mutex), 0);
            let then = host::timespec(host::seen(clock) + SPAN);
            let waited = libc::pthread_cond_timedwait(condition.as_mut_ptr(), &raw mut mutex, &raw const then);
            assert_eq!(waited, libc::ETIMEDOUT);
            assert_eq!(libc::pthread_mutex_unlock(&raw mut mutex), 0);
            assert!(host::seen(clock) >= host::nanoseconds(then), "early on clock {clock}");
        }
    }
    let mut semaphore = MaybeUninit::<libc::sem_t>::uninit();
    let then = host::timespec(host::seen(libc::CLOCK_REALTIME) + SPAN);
    // SAFETY: as above.
    unsafe {
        assert_eq!(libc::sem_init(semaphore.as_mut_ptr(), 0, 0), 0);
        assert_eq!(libc::sem_timedwait(semaphore.as_mut_ptr(), &raw const then), -1);
    }
    assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::ETIMEDOUT));
    assert!(host::seen(libc::CLOCK_REALTIME) >= host::nanoseconds(then));
}

/// Waits at least as long on the host as 3 ms of lab time do. How much longer is the host's business.
fn lasts(lapse: &Lapse, mut wait: impl FnMut()) {
    let before = host::monotonic();
    wait();
    let lasted = host::monotonic() - before;
    assert!(lasted >= lapse.host_span(SPAN), "only {lasted} ns");
}
