//! `set`: what a client changes of a link while the lab runs.

use super::heals::Heals;
pub(super) use super::place::State;
use super::place::{Place, direction, set_link_state};
use super::refusals::{Refusal, find_link_in_engine};
use crate::session::carriers::{Carriers, has_carriers};
use crate::session::context::Context;
use crate::session::programs::Programs;
use netloom_control::Set;
use netloom_judge::{ExitCode, RunError};
use netloom_lab::{Dialect, Stack, parse_change, parse_cut};
use netloom_link::PipeChange;
use netloom_provision::links::Links;
use netloom_units::{Bytes, Duration};
use serde_json::json;

fn find_place(links: &Links, set: &Set) -> Result<Place, Refusal> {
    let link = find_link_in_engine(links, &set.link, "changed")?;
    let direction = set.direction.as_deref().map(|name| direction(links, link, name)).transpose()?;
    let known = links.further_pipes(link, direction);
    match &set.pipe {
        Some(pipe) if !known.contains(&pipe.as_str()) => {
            let none = || "it has none".to_owned();
            let names = if known.is_empty() { none() } else { format!("there are {}", known.join(", ")) };
            Err((
                ExitCode::NoSuchLab,
                format!("`{pipe}` is neither a direction nor a further pipe of `{}`: {names}", set.link),
            ))
        }
        pipe => Ok(Place { link, direction, pipe: pipe.clone() }),
    }
}

/// All changes are understood before the first is made.
pub(super) fn change(
    set: &Set,
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
    heals: &mut Heals,
) -> Result<Result<(), Refusal>, RunError> {
    match understand(&set.changes) {
        Ok(wanted) => apply(set, &wanted, context, programs, carriers, heals),
        Err(refusal) => Ok(Err(refusal)),
    }
}

/// Changes the place that a request names.
pub(super) fn apply(
    set: &Set,
    wanted: &Wanted,
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
    heals: &mut Heals,
) -> Result<Result<(), Refusal>, RunError> {
    let place = match find_place(&context.links, set) {
        Ok(place) => place,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let described = &context.job.plan.links[place.link];
    if let Some(why) = described.refuses(&wanted.change) {
        return Ok(Err((ExitCode::Usage, format!("link `{}`: {why}", set.link))));
    }
    let mtu = Bytes::new(u64::from(described.mtu));
    if let Err(wrong) = context.links.check(place.link, place.direction, place.pipe.as_deref(), &wanted.change, mtu) {
        return Ok(Err((ExitCode::Usage, wrong.to_string())));
    }
    if let Some(why) =
        wanted.state.filter(|state| *state == State::Unplugged).and_then(|_| stays_plugged(context, &place))
    {
        return Ok(Err((ExitCode::Usage, why)));
    }
    if !wanted.change.is_empty() {
        change_link(context, &place, &wanted.change)?;
    }
    if let Some(state) = wanted.state {
        set_link_state(context, &place, state)?;
        let pipes = place.switched(&context.links);
        match wanted.lasting {
            Some(lasting) => heals.add(context.links.now() + lasting, place.clone(), pipes),
            None => heals.forget(&pipes),
        }
        // A cable is plugged in as a whole.
        if state != State::Down && has_carriers(&context.job.plan, place.link) {
            carriers.switch(context, programs, place.link, state == State::Up, None)?;
        }
    }
    Ok(Ok(()))
}

fn change_link(context: &mut Context<'_>, place: &Place, change: &PipeChange) -> Result<(), RunError> {
    context.links.change(place.link, place.direction, place.pipe.as_deref(), change)?;
    let link = context.links.names()[place.link].name.clone();
    let set = netloom_lab::describe_change(change);
    context.intervene(true, &format!("{} set to {set}", place.text(&link)));
    context.report(format!("{} changed", place.text(&link)));
    context.note("link changed", place.details(&link, json!({ "set": set })))
}

/// Why the interfaces of a link cannot lose their carrier, if so.
fn stays_plugged(context: &Context<'_>, place: &Place) -> Option<String> {
    let plan = &context.job.plan;
    if place.direction.is_some() || place.pipe.is_some() {
        return Some("down: an interface has one carrier for all: name the link without direction and pipe".into());
    }
    let mut nodes = plan.links[place.link].ends.iter().map(|end| &plan.nodes[end.node]);
    let node = &nodes.find(|node| node.stack == Stack::Vm)?.name;
    Some(format!(
        "down: node `{node}` is a virtual machine, whose interfaces always have a carrier: write down=true, or give the node \
         `stack: kernel`, or `stack: namespace` in real time"
    ))
}

/// What the keys and values of a request ask for.
#[derive(Default)]
pub(super) struct Wanted {
    pub(super) change: PipeChange,
    pub(super) state: Option<State>,
    /// How long it is cut; none: until it is restored.
    pub(super) lasting: Option<Duration>,
}

fn understand(changes: &[(String, String)]) -> Result<Wanted, Refusal> {
    let mut wanted = Wanted::default();
    // A string of another tool says what is usual, and keys beside it what is not.
    let is_string = |key: &str| Dialect::ALL.iter().any(|dialect| dialect.name() == key);
    let (strings, keys): (Vec<_>, Vec<_>) = changes.iter().partition(|(key, _)| is_string(key));
    for (key, value) in strings.into_iter().chain(keys) {
        match (key.as_str(), value.as_str()) {
            ("state", "up") | ("up", "true") => (wanted.state, wanted.lasting) = (Some(State::Up), None),
            ("state", "down") => (wanted.state, wanted.lasting) = (Some(State::Down), None),
            ("up", _) => return Err((ExitCode::Usage, "up: write up=true; down=true cuts a link".into())),
            ("down", cut) => {
                let cut = parse_cut(cut).map_err(|error| (ExitCode::Usage, error.to_string()))?;
                wanted.state = Some(if cut.carrier { State::Unplugged } else { State::Down });
                wanted.lasting = cut.duration;
            }
            // A map or `none` is what a lab file can have there.
            ("state", other) if other != "none" && other.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                return Err((
                    ExitCode::Usage,
                    format!("`state={other}`: a link's state is up or down, or as in a lab file"),
                ));
            }
            _ => {
                let part = parse_change(key, value).map_err(|error| (ExitCode::Usage, error.to_string()))?;
                wanted.change.merge(part);
            }
        }
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn changes_are_understood_together_and_written_as_in_a_lab_file() {
        let asked = pairs(&[("rate", "unlimited"), ("delay", "80 ms"), ("loss", "1 %"), ("state", "down")]);
        let wanted = understand(&asked).unwrap();
        assert_eq!(wanted.state, Some(State::Down));
        assert_eq!(
            netloom_lab::describe_change(&wanted.change),
            json!({ "rate": "unlimited", "delay": "80 ms", "loss": "1 %" })
        );
    }

    /// `state` is a word for now, and a map for what the link does by itself; both can be asked for at once.
    #[test]
    fn a_state_is_a_word_or_a_map() {
        let flap = "{on_cut: lost, flap: {up: 10 s, down: 1 s}}";
        let wanted = understand(&pairs(&[("state", "down"), ("state", flap)])).unwrap();
        assert_eq!(wanted.state, Some(State::Down));
        assert!(wanted.change.state.as_ref().is_some_and(|state| state.flap.is_some()));
        let none = understand(&pairs(&[("state", "none")])).unwrap();
        assert_eq!(none.change.state, Some(netloom_link::StateConfig::default()));
        assert_eq!(understand(&pairs(&[("state", "{flap: 1 s}")])).err().unwrap().0, ExitCode::Usage);
    }

    /// The words of the timeline.
    #[test]
    fn a_link_is_cut_and_restored_as_on_the_timeline() {
        let state = |key, value| understand(&pairs(&[(key, value)])).map(|wanted| wanted.state);
        assert_eq!(state("down", "true"), Ok(Some(State::Down)));
        assert_eq!(state("down", "{carrier: true}"), Ok(Some(State::Unplugged)));
        assert_eq!(state("down", "{carrier: false}"), Ok(Some(State::Down)));
        assert_eq!(state("up", "true"), Ok(Some(State::Up)));
        let lasting =
            |value| understand(&pairs(&[("down", value)])).map(|wanted| (wanted.state, wanted.lasting)).unwrap();
        assert_eq!(lasting("true"), (Some(State::Down), None));
        assert_eq!(lasting("500 ms"), (Some(State::Down), Some(Duration::from_millis(500))));
        assert_eq!(lasting("{carrier: true, for: 1 s}"), (Some(State::Unplugged), Some(Duration::from_millis(1_000))));
        let wrong = |key, value| state(key, value).unwrap_err().1;
        assert_eq!(wrong("down", "false"), "down: write `up: true` to restore a link");
        assert!(wrong("down", "{carier: true}").contains("carrier"));
        assert_eq!(wrong("up", "false"), "up: write up=true; down=true cuts a link");
    }

    #[test]
    fn what_is_said_last_counts_and_what_is_wrong_is_refused() {
        let wanted = understand(&pairs(&[("delay", "1 ms"), ("delay", "2 ms")])).unwrap();
        assert_eq!(netloom_lab::describe_change(&wanted.change), json!({ "delay": "2 ms" }));
        for wrong in [("delay", "1"), ("dely", "1 ms"), ("state", "sideways")] {
            assert_eq!(understand(&pairs(&[wrong])).err().unwrap().0, ExitCode::Usage, "{wrong:?}");
        }
    }
}
