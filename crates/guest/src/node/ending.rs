//! How a kernel node ends.

use std::io;
use std::os::fd::AsFd;
use std::process::ExitStatus;
use std::time::Duration;

use netloom_host::node::NodeEvent;
use netloom_host::sealed::SealedProcess;

use super::handle::KernelNode;

impl KernelNode {
    pub(super) fn give_up(&mut self, error: &io::Error) {
        if self.over.is_none() {
            // A kernel that has just ended takes its channel with it, on a busy machine some time before its process has gone: that it ended is the better reason.
            let ended = self.ended_within(Duration::from_secs(2));
            let why = match ended {
                Some(status) => self.machine.ending(status),
                None => format!("its agent cannot be read any more: {error}"),
            };
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
            && let Some(Ok(Some(status))) = self.kernel.as_mut().map(SealedProcess::try_wait)
        {
            self.over = Some(self.machine.ending(status));
            self.events.push_back(NodeEvent::Gone);
        }
    }

    fn ended_within(&mut self, limit: Duration) -> Option<ExitStatus> {
        let kernel = self.kernel.as_mut()?;
        let timeout = nix::poll::PollTimeout::try_from(limit).unwrap_or(nix::poll::PollTimeout::MAX);
        let mut fds = [nix::poll::PollFd::new(kernel.as_fd(), nix::poll::PollFlags::POLLIN)];
        let _ = nix::poll::poll(&mut fds, timeout);
        kernel.try_wait().ok().flatten()
    }
}
