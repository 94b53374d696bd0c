//! Ctrl-C and its like while a build runs: the program that works now is ended, and the build cleans up after itself.

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};

const SIGNALS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// Whether one of the signals came.
static CAME: AtomicBool = AtomicBool::new(false);

/// The process group that works now, or 0.
static GROUP: AtomicI32 = AtomicI32::new(0);

/// Catches the signals as long as it lives. There is one at a time, because there is one build at a time.
pub(super) struct Interrupt {
    before: Vec<(Signal, SigAction)>,
}

impl Interrupt {
    pub(super) fn catch() -> Self {
        CAME.store(false, SeqCst);
        let action = SigAction::new(SigHandler::Handler(on_signal), SaFlags::SA_RESTART, SigSet::empty());
        let catch = |signal| {
            // SAFETY: the handler only stores to atomics and calls kill(), which a signal handler may do.
            let before = unsafe { sigaction(signal, &action) };
            (signal, before.expect("these signals can be caught"))
        };
        Self { before: SIGNALS.into_iter().map(catch).collect() }
    }

    /// Whether the build is to end.
    pub(super) fn came(&self) -> bool {
        CAME.load(SeqCst)
    }

    /// From now on the signals go to this process group, too; 0 stands for none.
    pub(super) fn working(&self, group: i32) {
        GROUP.store(group, SeqCst);
        // The signal may have come before the group was known.
        if self.came() {
            end_group();
        }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        for (signal, before) in &self.before {
            // SAFETY: the action is the one that was there before.
            unsafe { sigaction(*signal, before) }.expect("what was there can be there again");
        }
    }
}

extern "C" fn on_signal(_signal: libc::c_int) {
    CAME.store(true, SeqCst);
    end_group();
}

fn end_group() {
    let group = GROUP.load(SeqCst);
    if group > 0 {
        // SAFETY: sending a signal touches no memory. A group that has just ended is no error that matters.
        unsafe { libc::kill(-group, libc::SIGTERM) };
    }
}
