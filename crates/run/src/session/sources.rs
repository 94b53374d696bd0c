//! Everything that the lab's main loop waits for.

use super::requests::{Outcome, Told, refused};
use super::state::Session;
use netloom_commands::{Due, Item};
use netloom_control::{Awaited, ClientId, Reply};
use netloom_judge::{ExitCode, RunError};
use netloom_lab::Action;
use netloom_provision::driver::Driver;
use netloom_provision::job::Mode;
use netloom_provision::virtual_time::{StopReason, VirtualTime};
use netloom_units::Instant;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// Something that can be read, or that takes more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The channel to the guard.
    Guard,
    /// A signal.
    Signals,
    /// A new connection to the control socket.
    Listener,
    /// A connection to the control socket.
    Client(ClientId),
    /// A node's agent.
    Node(usize),
    /// A way into a node, by programs in it.
    PortForward(usize),
    /// Lab time, which is where a client wanted it.
    Time,
}

impl Source {
    fn is_of_clients(self) -> bool {
        matches!(self, Self::Listener | Self::Client(_))
    }
}

/// Without anything due, the loop looks around this often.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// In virtual time, the loop looks for signals and clients this often, in wall time.
const PATIENCE: Duration = Duration::from_millis(100);
/// The same while clients wait for an answer.
const BRIEFLY: Duration = Duration::from_millis(1);

impl Session<'_> {
    /// Waits until something can be served, or until `wake`.
    pub(super) fn wait(&self, now: Instant, wake: Option<Instant>) -> Result<Vec<Source>, RunError> {
        match self.context.links.driver() {
            Driver::Engine(_) => {
                let dilation = self.context.job.plan.clock.dilation().unwrap_or_default();
                let span = wake.map_or(LONGEST_WAIT, |at| dilation.to_real(at.since(now)));
                let left =
                    self.context.job.wall_end.map(|end| end.saturating_duration_since(std::time::Instant::now()));
                let left = left.filter(|left| !left.is_zero()).unwrap_or(LONGEST_WAIT);
                let patience = self.requests.patience().unwrap_or(LONGEST_WAIT);
                self.poll(span.min(LONGEST_WAIT).min(left).min(patience)).map_err(failed)
            }
            Driver::Virtual(time) => self.wait_in_virtual_time(time, now, wake),
        }
    }

    fn wait_in_virtual_time(
        &self,
        time: &VirtualTime,
        now: Instant,
        wake: Option<Instant>,
    ) -> Result<Vec<Source>, RunError> {
        let mut ready = self.poll(Duration::ZERO).map_err(failed)?;
        let patience = self.requests.patience().unwrap_or(LONGEST_WAIT);
        // While clients receive what has happened, no time passes; while they ask, it does.
        if patience.is_zero() || ready.iter().any(|source| !source.is_of_clients()) {
            return Ok(ready);
        }
        let held = self.requests.held_until(&self.context);
        if held.is_some_and(|until| until <= now) {
            if self.requests.is_advancing() {
                ready.push(Source::Time);
            }
            return if ready.is_empty() { self.poll(patience).map_err(failed) } else { Ok(ready) };
        }
        let limit = [wake, held].into_iter().flatten().min();
        match time.run(limit, if ready.is_empty() { PATIENCE } else { BRIEFLY })? {
            StopReason::Limit | StopReason::Pause | StopReason::Agents => Ok(ready),
            // With a scheduled event, time has gone on to it.
            StopReason::Idle if held.is_some() || self.next_scheduled_event().is_some() || !ready.is_empty() => {
                Ok(ready)
            }
            // Its users may come at any time.
            StopReason::Idle if self.context.job.mode == Mode::Up => {
                self.poll(if wake.is_some() { Duration::ZERO } else { patience }).map_err(failed)
            }
            StopReason::Idle => Err(RunError::Died(self.what_waits_for_ever())),
        }
    }

    /// Nothing can happen any more, and yet the run is not over.
    pub(super) fn what_waits_for_ever(&self) -> String {
        let waiting =
            self.programs.commands.iter().filter(|command| command.started.is_some() && command.ended.is_none());
        let names: Vec<_> = waiting.map(|command| format!("`{}`", command.described.name)).collect();
        format!(
            "nothing will ever happen again in this lab: no packet is on its way, and for a day of lab time nobody has sent \
             one, or no kernel has a timer. These still run: {}; give the lab a `duration`, or the command a `for`",
            names.join(", ")
        )
    }

    /// Waits until something can be served, or for `span`.
    fn poll(&self, span: Duration) -> io::Result<Vec<Source>> {
        let mut sources = Vec::new();
        let mut fds = Vec::new();
        for (source, fd, flags) in self.sources() {
            sources.push(source);
            fds.push(PollFd::new(fd, flags));
        }
        match ppoll(&mut fds, Some(TimeSpec::from_duration(span)), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let ready = fds.iter().zip(sources).filter(|(fd, _)| fd.any() == Some(true));
        Ok(ready.map(|(_, source)| source).collect())
    }

    fn sources(&self) -> impl Iterator<Item = (Source, BorrowedFd<'_>, PollFlags)> {
        let [reads, writes] = [PollFlags::POLLIN, PollFlags::POLLOUT];
        let talks = if self.context.guard.has_unsent() { reads | writes } else { reads };
        let guard = (!self.guard_is_gone).then(|| (Source::Guard, self.context.guard.as_fd(), talks));
        let signals = (Source::Signals, self.signals.as_fd(), reads);
        let listener = self.requests.server().listener().map(|fd| (Source::Listener, fd, reads));
        // Who does not read an answer, or waits for one, is not asked for another question.
        let flags = move |awaited| match awaited {
            Awaited::Requests => reads,
            Awaited::Room => writes,
            Awaited::Nothing => PollFlags::empty(),
        };
        let clients = self.requests.server().connections();
        let clients = clients.map(move |(id, fd, awaited)| (Source::Client(id), fd, flags(awaited)));
        let nodes = self.programs.nodes.iter().enumerate().filter(|(index, _)| !self.programs.gone.contains(index));
        let nodes = nodes.filter_map(move |(index, node)| Some((Source::Node(index), node.fd()?, reads)));
        let ways =
            self.programs.ways.channels().enumerate().map(move |(number, fd)| (Source::PortForward(number), fd, reads));
        guard.into_iter().chain([signals]).chain(listener).chain(clients).chain(nodes).chain(ways)
    }

    /// Answers what a client asks.
    pub(super) fn serve_client(&mut self, id: ClientId) -> Result<(), RunError> {
        self.requests.serve(id);
        while let Some(incoming) = self.requests.next(id) {
            let Self { requests, context, programs, carriers, exercise, .. } = self;
            match requests.answer(id, incoming, context, programs, carriers, &exercise.tasks)? {
                Outcome::GoesOn => {}
                Outcome::Ends => self.end_for_client()?,
                Outcome::Tells(Told::Verdict) => {
                    let reply = self.verdict_so_far()?;
                    self.requests.reply(id, &reply);
                }
                Outcome::Plays(actions) => {
                    let done = self.play_by_hand(actions)?;
                    self.requests.reply(id, &done.map_or_else(refused, |()| Reply::Done));
                }
            }
        }
        Ok(())
    }

    /// Does now what the timeline would do for these actions of a client, and in their time what ends them. Returns why the agent of a
    /// node has refused one of them, if so: the lab goes on.
    pub(super) fn play_by_hand(&mut self, actions: Vec<Action>) -> Result<Result<(), (ExitCode, String)>, RunError> {
        let Some(zero) = self.context.zero() else { return Ok(Ok(())) };
        let at = self.context.links.now().since(zero);
        self.context.by_hand.forget(|event| self.timeline.is_awaited(event));
        let first = self.context.job.plan.timeline.len();
        for action in actions {
            let lasts = action.lasts();
            let event = self.context.by_hand.add(first, action);
            self.timeline.add(at, Item::Disturb(event));
            lasts.into_iter().for_each(|span| self.timeline.add(at + span, Item::Recover(event)));
        }
        self.play_timeline()?;
        Ok(self.context.by_hand.refusal.take().map_or(Ok(()), |why| Err((ExitCode::Machine, why))))
    }

    /// Does what is due. An agent that refuses what the lab file says ends the lab; what a client wants, it refuses the client.
    pub(super) fn play_item(&mut self, due: Due) -> Result<(), RunError> {
        let (Item::Disturb(event) | Item::Recover(event)) = due.item else { return self.do_item(due) };
        match self.do_item(due) {
            Err(RunError::Refused(why)) if !self.context.is_planned(event) => {
                self.timeline.forget(event);
                if let Item::Recover(_) = due.item {
                    // Whoever has asked for it has the answer already.
                    self.context.warnings.push(format!("a fault by hand could not be ended: {why}"));
                } else {
                    self.context.by_hand.refusal.get_or_insert(why);
                }
                Ok(())
            }
            done => done,
        }
    }

    /// Takes in what a node's agent reports; clients hear of the ends of their programs.
    pub(super) fn serve_node(&mut self, node: usize) -> Result<(), RunError> {
        let served = self.programs.serve_node(&mut self.context, node);
        for (client, code) in self.programs.take_ended() {
            self.requests.has_ended(client, code);
            self.requests.come(Some(client), &self.context);
        }
        served
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn failed(error: io::Error) -> RunError {
    RunError::Died(format!("waiting for the lab's programs: {error}"))
}
