//! The serial consoles of virtual machines.

use super::outcome::Outcome;
use super::refusals::find_node;
use super::state::Requests;
use crate::session::programs::Programs;
use netloom_control::{ClientId, OpenConsole, Refused, Reply};
use netloom_judge::{ExitCode, RunError};
use netloom_lab::Stack;
use netloom_provision::job::Job;
use std::os::fd::OwnedFd;

/// Where a console's log is, and where what is typed goes.
pub(super) fn open(wanted: &OpenConsole, job: &Job, programs: &Programs) -> Result<(Reply, OwnedFd), Refused> {
    let refused = |code: ExitCode, message: String| Refused { code: code.number(), message, key: None };
    let name = &wanted.node;
    let node = find_node(&job.plan, name).map_err(|(code, message)| refused(code, message))?;
    let log = job.folder.path().join(format!("logs/console-{name}.log"));
    let log = std::path::absolute(&log).unwrap_or(log);
    match programs.nodes[node].console() {
        Some(Ok(input)) => Ok((Reply::Console { log }, input)),
        Some(Err(error)) => Err(refused(ExitCode::Machine, format!("opening the console of `{name}`: {error}"))),
        None if job.plan.nodes[node].stack == Stack::Kernel => Err(refused(
            ExitCode::Usage,
            format!("the kernel of `{name}` reads nothing from its console: what it says is in {}", log.display()),
        )),
        None => Err(refused(ExitCode::Usage, format!("`{name}` is no virtual machine and has no serial console"))),
    }
}

impl Requests {
    /// Answers with a descriptor, or that there is none.
    pub(super) fn hand_over(
        &mut self,
        id: ClientId,
        opened: Result<(Reply, OwnedFd), Refused>,
    ) -> Result<Outcome, RunError> {
        match opened {
            Ok((reply, fd)) => self.server.reply_with(id, &reply, fd),
            Err(refused) => self.server.reply(id, &Reply::Refused(refused)),
        }
        Ok(Outcome::GoesOn)
    }
}
