//! Lab time as clients let it go on, in virtual time: "advance by 100 ms, look, advance". A lab that comes up in virtual time
//! stands at time zero until a client lets it go on; a run goes on by itself, until one holds it.
//!
//! The scheduler is let run to the next wake of the session or to where a client wants it, whichever comes first. A
//! step is answered when nothing is left to be served at its last instant.

use super::hold::Step;
use super::state::Requests;
use super::topology;
use crate::session::context::Context;
use crate::session::stage::Stage;
use netloom_control::{Advance, ClientId, Now, Refused, Reply};
use netloom_judge::ExitCode;
use netloom_provision::driver::Driver;
use netloom_units::{Duration, Instant};

/// Time goes no further: the scheduler never comes to [`Instant::MAX`].
const END: Instant = Instant::from_nanos(u64::MAX - 1);

impl Requests {
    /// How far lab time may go on; none: as far as anything happens. Clients hold only a timeline that runs.
    pub(crate) fn held_until(&self, context: &Context<'_>) -> Option<Instant> {
        if !is_playing(context) || !is_virtual(context) {
            return None;
        }
        match self.hold.advance {
            Some(step) => Some(step.until),
            None if self.hold.is_paused => Some(context.links.now()),
            None => self.stop(context),
        }
    }

    /// The instant at which the run is to be held.
    fn stop(&self, context: &Context<'_>) -> Option<Instant> {
        Some(context.zero()? + self.hold.stop_at?)
    }

    /// Holds a run that has come to where it is to be held; returns that place, counted from time zero.
    pub(crate) fn stop_here(&mut self, context: &Context<'_>) -> Option<Duration> {
        let is_here = !self.hold.is_paused && self.stop(context).is_some_and(|stop| stop <= context.links.now());
        let at = if is_here { self.hold.stop_at.take() } else { None };
        self.hold.is_paused |= is_here;
        at
    }

    /// Whether a client waits for lab time, or the run is to be held somewhere.
    pub(crate) fn is_advancing(&self) -> bool {
        self.hold.advance.is_some() || self.hold.stop_at.is_some() && !self.hold.is_paused
    }

    /// What time it is.
    pub(super) fn now(&self, context: &Context<'_>) -> Now {
        let paused = self.held_until(context).is_some_and(|until| until <= context.links.now());
        topology::now(context, paused)
    }

    /// Whether clients hold this lab. Where a run is to be held it is so from now on: a client may see that it stands there before the session does.
    fn can_be_held(&mut self, context: &Context<'_>) -> Result<(), Refused> {
        let _ = self.stop_here(context);
        let clock = context.job.plan.clock.name();
        let what = "which goes on by itself: only virtual time can be held and advanced (`clock: virtual`)";
        let wrong = || refused(ExitCode::Usage, format!("this lab has a {clock} clock, {what}"));
        is_virtual(context).then_some(()).ok_or_else(wrong)
    }

    /// A client lets time go on by so much, or until its program has ended, if it still `runs`; it is answered when that is over.
    pub(super) fn advance(
        &mut self,
        client: ClientId,
        wanted: Advance,
        runs: bool,
        context: &Context<'_>,
    ) -> Result<(), Refused> {
        self.can_be_held(context)?;
        if !is_playing(context) {
            let message = "the time of this lab goes on by itself until its services are ready, and when it ends";
            return Err(refused(ExitCode::NoSuchLab, message));
        }
        if self.hold.advance.is_some() {
            return Err(refused(ExitCode::Usage, "another client advances the time of this lab just now"));
        }
        let length = if wanted.until_exit && !runs { 0 } else { wanted.by_ns };
        let until = (context.links.now() + Duration::from_nanos(length)).min(END);
        let step = Step { client, until, until_exit: wanted.until_exit };
        (self.hold.is_paused, self.hold.advance) = (true, Some(step));
        self.server.postpone(client);
        Ok(())
    }

    /// A client holds time, or lets it go on. What another one has asked for is over.
    pub(super) fn pause(&mut self, is_paused: bool, context: &Context<'_>) -> Result<Now, Refused> {
        self.can_be_held(context)?;
        self.hold.is_paused = is_paused;
        self.arrive(context);
        Ok(self.now(context))
    }

    /// Lab time is where it is held, or a client's program has ended: so may have the step that a client waits for, if it was taken.
    pub(crate) fn come(&mut self, ended: Option<ClientId>, context: &Context<'_>) {
        let Some(Step { client, until, until_exit }) = self.hold.advance else { return };
        if ended.map_or(until <= context.links.now(), |ended| ended == client && until_exit) {
            self.arrive(context);
        }
    }

    /// Lab time is where a client wanted it, or goes no further.
    fn arrive(&mut self, context: &Context<'_>) {
        let Some(Step { client, .. }) = self.hold.advance.take() else { return };
        let now = self.now(context);
        self.hold.arrived.insert(client, now);
        self.look_for_output(client);
    }

    /// Answers those whose time has come, and who have received everything until then; what they have asked behind that is to
    /// be served now.
    pub(super) fn answer_arrived(&mut self, context: &Context<'_>) -> Vec<ClientId> {
        if !is_playing(context) {
            self.arrive(context);
        }
        let is_reported = |client: &ClientId| self.server.is_clear(*client) && !self.has_news(*client, context);
        let told: Vec<ClientId> = self.hold.arrived.keys().copied().filter(is_reported).collect();
        for client in &told {
            if let Some(now) = self.hold.arrived.remove(client) {
                self.server.reply(*client, &Reply::Now(now));
            }
        }
        told
    }
}

fn is_playing(context: &Context<'_>) -> bool {
    matches!(context.stage, Stage::Running(_))
}

fn is_virtual(context: &Context<'_>) -> bool {
    matches!(context.links.driver(), Driver::Virtual(_))
}

fn refused(code: ExitCode, message: impl Into<String>) -> Refused {
    Refused { code: code.number(), message: message.into(), key: None }
}
