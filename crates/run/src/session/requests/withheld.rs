//! What a part of a lab in virtual time does not do for clients, since its other parts would not do it: all of them compute the same lab.

use crate::session::context::Context;
use netloom_control::Request;
use netloom_provision::job::Mode;

/// Why a request is refused that changes what happens in a part of a lab, of which other parts hear nothing; none if it is not. `word`: what came with
/// the request. Where the lab is up, its time stands still, and whoever keeps it asks the same of all parts at one instant, by a word that others do not know.
pub(super) fn why(request: &Request, word: Option<&str>, context: &Context<'_>) -> Option<String> {
    context.job.part.as_ref()?;
    if is_harmless(request) {
        return None;
    }
    let Some(command) = command(request).filter(|_| context.job.mode == Mode::Up) else {
        return Some(ONE_OF_PARTS.to_owned());
    };
    let kept = context.order.word();
    let is_kept = kept.is_some() && kept.as_deref() == word;
    let (own, lab) = (context.job.own_name(), &context.job.plan.name);
    (!is_kept).then(|| {
        format!(
            "`{own}` is a part of the lab `{lab}`, whose parts all do the same at one instant: for all of them, use `netloom {command} {lab}` on \
             the machine on which the lab was brought up"
        )
    })
}

/// Why a part of a lab that is not up does nothing that the other parts would not do.
const ONE_OF_PARTS: &str = "this is a part of a lab in virtual time that is played in several, which all do what the lab file says: nothing is \
                            done by hand";

/// Whether the request changes nothing, or ends all parts.
fn is_harmless(request: &Request) -> bool {
    use Request::{Down, Exercise, Hello, Info, Now, Stats, Subscribe, Topology, Unsubscribe};
    matches!(request, Hello(_) | Info | Topology | Now | Stats | Exercise | Subscribe(_) | Unsubscribe(_) | Down)
}

/// The command that asks all parts for the same; none if there is none.
fn command(request: &Request) -> Option<&'static str> {
    match request {
        Request::Advance(_) => Some("advance"),
        Request::Pause => Some("pause"),
        Request::Resume => Some("resume"),
        Request::Capture(_) => Some("capture"),
        Request::Exec(_) | Request::Signal(_) => Some("exec"),
        Request::Fault(_) => Some("fault"),
        Request::Heal => Some("heal"),
        Request::Partition(_) => Some("partition"),
        Request::Restart(_) => Some("restart"),
        Request::Set(_) => Some("set"),
        Request::Start(_) => Some("start"),
        Request::Stop(_) => Some("stop"),
        Request::Verdict => Some("verdict"),
        _ => None,
    }
}
