//! Where samples of a kernel's TCP connections go.

use netloom_host::measure::{TcpLog, TcpState, TcpView};
use netloom_units::{Duration, Instant};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Samples {
    /// All of them, with the step at which they are to be taken.
    log: Option<(Duration, TcpLog)>,
    /// The last one, for those who watch.
    view: Option<(Duration, TcpView)>,
    /// How far the kernel's own time is behind.
    behind: Duration,
}

impl Samples {
    pub(super) fn set_log(&mut self, log: Option<(Duration, TcpLog)>) -> Option<TcpLog> {
        std::mem::replace(&mut self.log, log).map(|(_, before)| before)
    }

    /// Whether anything changes.
    pub(super) fn set_view(&mut self, step: Option<Duration>) -> bool {
        let before = self.view.as_ref().map(|(own, _)| *own);
        self.view = step.map(|step| (step, self.view.take().map_or_else(TcpView::default, |(_, view)| view)));
        before != step
    }

    /// How often samples are to be taken; none: not at all. What is written down decides, since its instants are promised.
    pub(super) fn step(&self) -> Option<Duration> {
        self.log.as_ref().map(|(step, _)| *step).or_else(|| self.view.as_ref().map(|(step, _)| *step))
    }

    pub(super) fn is_logged(&self) -> bool {
        self.log.is_some()
    }

    pub(super) fn last(&self) -> Option<(Instant, TcpState)> {
        let (time_ns, state) = self.view.as_ref()?.1.last()?;
        Some((Instant::from_nanos(time_ns), state))
    }

    /// From now on the kernel's own time is so far behind.
    pub(super) fn fall_behind(&mut self, behind: Duration) {
        self.behind = behind;
    }

    /// A sample that was taken at this instant of the kernel's own time follows.
    pub(super) fn begin(&mut self, kernel_ns: u64) {
        let at_ns = kernel_ns + self.behind.as_nanos();
        self.log.iter_mut().for_each(|(_, log)| log.begin(at_ns));
        self.view.iter_mut().for_each(|(_, view)| view.begin(at_ns));
    }

    pub(super) fn connection(&mut self, message: &[u8]) {
        self.log.iter_mut().for_each(|(_, log)| log.connection(message));
        self.view.iter_mut().for_each(|(_, view)| view.connection(message));
    }

    pub(super) fn owner(&mut self, inode: u32, session: u32) {
        self.log.iter_mut().for_each(|(_, log)| log.owner(inode, session));
    }
}
