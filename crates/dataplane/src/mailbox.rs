//! The commands for a thread of the engine, and its waker.

use crate::event_queue::{ExecutedEvent, ScheduledEvent};
use netloom_fabric::{PipeId, SwitchState, Tap, TapId, TraceObserver};
use netloom_figures::Snapshot;
use netloom_link::{Firing, OnTheWire, PipeChange, PipeCounters, SampledPackets, StationCounters};
use netloom_units::{Duration, Instant};
use std::sync::mpsc::Sender as Outbox;

/// A command for a thread; pipes are numbered as its fabric numbers them.
pub(crate) enum Command {
    Change(PipeId, Box<PipeChange>),
    SetUp(PipeId, bool),
    Unplug(PipeId),
    /// The link of those at the pipe's entrances has a carrier, or none.
    SetCarrier(PipeId, bool),
    /// A node at its link has stopped, or runs again.
    Hold(PipeId, bool, OnTheWire),
    Plan(Vec<ScheduledEvent>),
    /// Only if all of them are still ahead of the thread; the answer says whether they are.
    PlanAhead(Vec<ScheduledEvent>, Outbox<bool>),
    /// All scheduled events are forgotten.
    Forget(Outbox<()>),
    AddTap(TapId, Box<dyn Tap + Send>),
    RemoveTap(TapId),
    /// None: the one that there is goes.
    SetTraceObserver(Option<Box<dyn TraceObserver + Send>>),
    Counters(Outbox<(Instant, Vec<PipeCounters>)>),
    /// Packets that come in so long after one another are picked; none: no packets any more.
    SamplePackets(Option<Duration>),
    SampledPackets(Outbox<SampledPackets>),
    Firings(Outbox<Vec<Firing>>),
    Switches(Outbox<Vec<SwitchState>>),
    /// The counters of the stations of each pipe.
    Stations(Outbox<Vec<Vec<StationCounters>>>),
    Snapshot(Outbox<Snapshot>),
    Stop(Outbox<Snapshot>),
}

/// The log of the events that a thread has executed.
pub(crate) struct ExecutionLog {
    pub(crate) shard: usize,
    pub(crate) executed: Outbox<(usize, ExecutedEvent)>,
}

impl ExecutionLog {
    pub(crate) fn note(&self, executed: ExecutedEvent) {
        // The receiver may have gone.
        let _ = self.executed.send((self.shard, executed));
    }
}

/// Where the engine's thread finds its commands.
pub(crate) type Mailbox = crate::doorbell::Mailbox<Command>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doorbell::Doorbell;
    use std::os::fd::AsRawFd;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    /// However ringing and looking meet: when all was seen, nothing is left that would wake the engine for ever.
    #[test]
    fn a_doorbell_that_was_heard_is_silent() {
        let doorbell = Arc::new(Doorbell::new().unwrap());
        let (_outbox, messages) = channel();
        let mut mailbox = Mailbox { messages, doorbell: Arc::clone(&doorbell) };
        let (asked, rang) = (AtomicBool::new(false), AtomicBool::new(false));
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Acquire) {
                    if asked.swap(false, Ordering::AcqRel) {
                        doorbell.ring();
                        rang.store(true, Ordering::Release);
                    }
                    std::hint::spin_loop();
                }
            });
            for _ in 0..2_000 {
                asked.store(true, Ordering::Release);
                while !rang.swap(false, Ordering::AcqRel) {
                    assert!(mailbox.next().is_none());
                }
                assert!(mailbox.next().is_none() && !doorbell.is_rung());
                let mut event = libc::pollfd { fd: doorbell.event().as_raw_fd(), events: libc::POLLIN, revents: 0 };
                // SAFETY: one entry, which lives through the call.
                let ready = unsafe { libc::poll(&raw mut event, 1, 0) };
                if ready != 0 {
                    is_over.store(true, Ordering::Release);
                }
                assert_eq!(ready, 0);
            }
            is_over.store(true, Ordering::Release);
        });
    }
}
