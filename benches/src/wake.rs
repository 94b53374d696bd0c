//! Where threads run that are measured beside an engine.

use std::thread;

/// The processor that engines stay on.
pub(crate) fn last_processor() -> usize {
    thread::available_parallelism().map_or(0, |processors| processors.get() - 1)
}

/// Keeps this thread on one processor; where that is refused, the figure may be better than an engine's.
pub(crate) fn run_on(cpu: usize) {
    // SAFETY: an all-zero set is empty, and both calls get a set that lives through them.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}
