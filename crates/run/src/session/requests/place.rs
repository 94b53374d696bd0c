//! A link or a part of it, as clients name it, and its state.

use super::refusals::Refusal;
use crate::session::carriers::has_carriers;
use crate::session::context::Context;
use netloom_judge::{ExitCode, RunError};
use netloom_lab::Direction;
use netloom_provision::links::Links;
use serde_json::{Value, json};

/// Cuts a link, or a part of it, or restores it.
pub(super) fn set_link_state(context: &mut Context<'_>, place: &Place, state: State) -> Result<(), RunError> {
    match state {
        State::Unplugged if has_carriers(&context.job.plan, place.link) => context.links.unplug(place.link)?,
        _ => context.links.set_up(place.link, place.direction, place.pipe.as_deref(), state == State::Up)?,
    }
    note_state(context, place, state)
}

/// Notes and tells that a link, or a part of it, is cut or restored.
pub(super) fn note_state(context: &mut Context<'_>, place: &Place, state: State) -> Result<(), RunError> {
    let link = context.links.names()[place.link].name.clone();
    let state = if state == State::Up { "up" } else { "down" };
    context.intervene(true, &format!("{} {state}", place.text(&link)));
    context.report(format!("{} {state}", place.text(&link)));
    context.note(&format!("link {state}"), place.details(&link, json!({})))
}

/// A link, a direction of it, or a further pipe.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) link: usize,
    pub(super) direction: Option<Direction>,
    pub(super) pipe: Option<String>,
}

impl Place {
    pub(crate) fn new(link: usize, direction: Option<Direction>, pipe: Option<String>) -> Self {
        Self { link, direction, pipe }
    }

    /// The numbers of its pipes, as far as they are cut and restored with it.
    pub(super) fn switched(&self, links: &Links) -> Vec<usize> {
        links.switched(self.link, self.direction, self.pipe.as_deref())
    }

    /// For people, with the link's name.
    pub(crate) fn text(&self, link: &str) -> String {
        let direction = self.direction.map_or_else(String::new, |direction| format!(" {direction}"));
        let pipe = self.pipe.as_ref().map_or_else(String::new, |pipe| format!(" {pipe}"));
        format!("{link}{direction}{pipe}")
    }

    /// `more`, with the place in front.
    pub(crate) fn details(&self, link: &str, mut more: Value) -> Value {
        more["link"] = link.into();
        more["direction"] = self.direction.map(|direction| direction.to_string()).into();
        more["pipe"] = self.pipe.as_deref().into();
        more
    }
}

/// What a link or a part of it is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Up,
    Down,
    /// Down, and its interfaces without carrier.
    Unplugged,
}

pub(super) fn direction(links: &Links, link: usize, name: &str) -> Result<Direction, Refusal> {
    if links.is_shared(link) {
        let medium = &links.names()[link].name;
        return Err((
            ExitCode::Usage,
            format!("`{medium}` is a shared medium, which has no directions: leave the direction out"),
        ));
    }
    match name {
        "forward" => Ok(Direction::Forward),
        "backward" => Ok(Direction::Backward),
        other => Err((ExitCode::Usage, format!("`{other}` is not a direction: write forward or backward"))),
    }
}
