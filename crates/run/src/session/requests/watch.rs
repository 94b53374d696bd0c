//! Captures that clients of the control socket watch.

use super::place::direction;
use super::refusals::{Refusal, find_link_in_engine};
use super::state::Requests;
use crate::session::context::Context;
use netloom_control::{Capture, ClientId};
use netloom_judge::{ExitCode, RunError};
use netloom_lab::{CaptureHeaders, CapturePlan, CapturePoint};
use netloom_results::capture::LiveCapture;
use netloom_units::Bytes;
use serde_json::json;
use std::os::fd::OwnedFd;

impl Requests {
    /// Starts a capture whose packets go to the descriptor that came along.
    pub(super) fn watch(
        &mut self,
        id: ClientId,
        wanted: &Capture,
        fds: Vec<OwnedFd>,
        context: &mut Context<'_>,
    ) -> Result<Result<(), Refusal>, RunError> {
        let (capture, out) = match self.understood(id, wanted, fds, context) {
            Ok(all) => all,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let Some(zero) = context.zero() else {
            let message = "the lab's services are not ready yet: lab time begins when they are".to_owned();
            return Ok(Err((ExitCode::NoSuchLab, message)));
        };
        let (live, tap) = match LiveCapture::start(&context.job.plan, &capture, out, zero) {
            Ok(both) => both,
            Err(error) => return Ok(Err((ExitCode::Machine, format!("starting the capture: {error}")))),
        };
        let tap = context.links.add_tap(tap)?;
        self.watched.insert(id, (live, tap));
        context.note("capture began", json!({ "link": wanted.link }))?;
        Ok(Ok(()))
    }

    fn understood(
        &self,
        id: ClientId,
        wanted: &Capture,
        fds: Vec<OwnedFd>,
        context: &Context<'_>,
    ) -> Result<(CapturePlan, OwnedFd), Refusal> {
        let wrong = |message: String| (ExitCode::Usage, message);
        if self.watched.contains_key(&id) {
            return Err(wrong("this connection has started a capture already".into()));
        }
        let [out]: [OwnedFd; 1] = fds.try_into().map_err(|_| wrong("a capture needs a file descriptor".into()))?;
        let link = find_link_in_engine(&context.links, &wanted.link, "captured")?;
        refuse_elsewhere(link, context)?;
        let direction = wanted.direction.as_deref().map(|name| direction(&context.links, link, name)).transpose()?;
        let ends = context.job.plan.ends_of(link);
        let at = wanted.at.as_deref().map(|at| CapturePoint::of(at, &ends)).transpose().map_err(wrong)?;
        let snaplen = wanted.snaplen_bytes.map(Bytes::new);
        let (described, is_part) = (&context.job.plan.links[link], direction.is_some() || at.is_some());
        let headers = CaptureHeaders::of(wanted.headers.as_deref(), described, is_part).map_err(wrong)?;
        let capture = CapturePlan { link: Some(link), direction, at, snaplen, headers, ..CapturePlan::default() };
        Ok((capture, out))
    }

    /// A client has gone, and what it watched needs not go on.
    pub(super) fn unwatch(&mut self, id: ClientId, context: &mut Context<'_>) -> Result<(), RunError> {
        let Some((live, tap)) = self.watched.remove(&id) else { return Ok(()) };
        let lost = live.end(context.links.now());
        context.links.remove_tap(tap)?;
        context.note("capture ended", json!({ "lost_packets": lost }))
    }
}

/// Refuses a link between nodes of another part of the lab: this one knows the headers of its packets only.
fn refuse_elsewhere(link: usize, context: &Context<'_>) -> Result<(), Refusal> {
    let Some(part) = &context.job.part else { return Ok(()) };
    let described = &context.job.plan.links[link];
    let homes: Vec<usize> = described.ends.iter().map(|end| part.homes[end.node]).collect();
    match homes.first().filter(|_| !homes.contains(&part.here)) {
        Some(home) => Err((
            ExitCode::Usage,
            format!("`{}` is a link of part `{}`: capture it there", described.name, part.names[*home]),
        )),
        None => Ok(()),
    }
}
