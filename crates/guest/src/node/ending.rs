//! How a kernel node ends.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use netloom_host::node::NodeEvent;

use super::handle::KernelNode;

impl KernelNode {
    pub(super) fn give_up(&mut self, error: &io::Error) {
        if self.over.is_none() {
            // A kernel that has just ended takes its channel with it: that it ended is the better reason.
            let ended = self.ended_within(Duration::from_millis(200));
            let why = ended.map_or_else(|| format!("its agent cannot be read any more: {error}"), describe);
            self.over = Some(why);
            self.events.push_back(NodeEvent::Gone);
        }
    }

    /// The channel to the agent is closed.
    pub(super) fn cut_off(&mut self, why: String) {
        if self.over.is_none() {
            self.over = Some(why);
            self.events.push_back(NodeEvent::Gone);
            self.ring();
        }
    }

    pub(super) fn note_end(&mut self) {
        if self.over.is_none()
            && let Ok(Some(status)) = self.kernel.try_wait()
        {
            self.over = Some(describe(status));
            self.events.push_back(NodeEvent::Gone);
        }
    }

    fn ended_within(&mut self, limit: Duration) -> Option<ExitStatus> {
        let timeout = nix::poll::PollTimeout::try_from(limit).unwrap_or(nix::poll::PollTimeout::MAX);
        let mut fds = [nix::poll::PollFd::new(self.kernel.as_fd(), nix::poll::PollFlags::POLLIN)];
        let _ = nix::poll::poll(&mut fds, timeout);
        self.kernel.try_wait().ok().flatten()
    }
}

/// The exit code of a kernel that one of its programs rebooted (`shim/start.c`).
const REBOOTED: i32 = 79;

fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("its kernel was ended by signal {signal}"),
        (None, Some(0)) => "it was powered off from inside".to_owned(),
        (None, Some(REBOOTED)) => "one of its programs rebooted it, and a node does not come back".to_owned(),
        (None, _) => format!("its kernel ended unexpectedly ({status})"),
    }
}
