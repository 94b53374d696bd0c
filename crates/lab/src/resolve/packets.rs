//! What faults of single packets need of links: from the beginning, and where packets may be answered.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::plan::{Action, BY_HAND, Direction, Plan};
use crate::spec::LinkSpec;
use netloom_link::{FaultAction, FaultGround, Filter, PipeChange};
use netloom_units::Seed;

/// Why a link cannot answer.
const NO_WAY_BACK: &str =
    "a shared medium has no way back to the sender alone: write `do: {reset: receiver}`, or name another link";

/// The error of a reset at a link that leads back to nobody in particular.
pub(super) fn unanswerable(link: &LinkSpec, name: &Spanned<String>, change: &PipeChange) -> Option<Diagnostic> {
    let answers = link.shared.is_some() && change.faults.iter().any(|fault| fault.action.answers());
    answers.then(|| name.error(NO_WAY_BACK))
}

/// Lets pipes be ready for the faults of the timeline, and gives shares of connections the seed of the lab.
pub(super) fn settle(plan: &mut Plan) {
    let seed = plan.seed.derive("share");
    let Plan { links, timeline, .. } = plan;
    let treatments = links.iter_mut().flat_map(|link| link.treatments.iter_mut().flatten());
    treatments.for_each(|one| give_seed(&mut one.filter, seed));
    for event in timeline {
        let Action::Set { link, direction, pipe, change } = &mut event.action else { continue };
        if change.faults.is_empty() {
            continue;
        }
        change.faults.iter_mut().for_each(|fault| give_seed(&mut fault.filter, seed));
        let (answers, tracks) = needs(change);
        let link = &mut links[*link];
        let is_meant = |place: usize| tracks || direction.is_none_or(|only| only.index() == place);
        let own = link.pipes.iter_mut().enumerate().filter(|(place, _)| is_meant(*place) && (tracks || pipe.is_none()));
        own.for_each(|(_, config)| prepare(&mut config.faults, answers, tracks));
        let further = link.treatments.iter_mut().enumerate().filter(|(place, _)| is_meant(*place));
        let named = further.flat_map(|(_, all)| all).filter(|one| tracks || pipe.as_ref() == Some(&one.name));
        named.for_each(|one| prepare(&mut one.config.faults, answers, tracks));
    }
}

fn prepare(ground: &mut Option<FaultGround>, answers: bool, tracks: bool) {
    let ground = ground.get_or_insert_default();
    ground.answers |= answers;
    ground.tracks |= tracks;
}

/// Lets faults that a client asks for be as those of the timeline, or says why that cannot be.
pub(super) fn by_hand(
    plan: &Plan,
    link: usize,
    direction: Option<Direction>,
    pipe: Option<&str>,
    change: &mut PipeChange,
) -> Option<String> {
    let seed = plan.seed.derive("share");
    for fault in &mut change.faults {
        give_seed(&mut fault.filter, seed);
        fault.id = BY_HAND;
    }
    let (answers, tracks) = needs(change);
    let own = &plan.links[link];
    if own.is_shared && answers {
        return Some(NO_WAY_BACK.to_owned());
    }
    let meant = own.directions().iter().filter(|this| tracks || direction.is_none_or(|only| only == **this));
    let mut grounds = meant.flat_map(|this| {
        let further = own.treatments[this.index()].iter().filter(move |one| pipe == Some(one.name.as_str()));
        let plain = pipe.is_none().then(|| own.pipes[this.index()].faults);
        plain.into_iter().chain(further.map(|one| one.config.faults))
    });
    let lacks = |ground: Option<FaultGround>| {
        let ground = ground.unwrap_or_default();
        answers && !ground.answers || tracks && !ground.tracks
    };
    let what = if tracks { "reset: true" } else { "packet: {}, do: reset" };
    grounds.any(lacks).then(|| {
        format!(
            "link `{0}` is not ready for resets, for which it has to be from the beginning: give the timeline of the lab file an entry \
             for it, like `{{at: 1 s, link: {0}, {what}}}`, which a lab that is up does not play, and start the lab again",
            own.name
        )
    })
}

/// Whether packets may be answered, and whether connections have to be known.
fn needs(change: &PipeChange) -> (bool, bool) {
    let answers = change.faults.iter().any(|fault| fault.action.answers());
    (answers, change.faults.iter().any(|fault| fault.action == FaultAction::EndConnections))
}

fn give_seed(filter: &mut Filter, seed: Seed) {
    if let Some(share) = &mut filter.share {
        share.seed = seed;
    }
}
