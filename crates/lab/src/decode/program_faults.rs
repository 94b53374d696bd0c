//! Entries of the timeline that disturb programs by the kernel of their node.

use super::repeats::{length, places, when};
use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::Filled;
use crate::keyed::Keyed;
use crate::keys::{
    DrawnPriorities, FAIL_ENTRY, FailKeys, OOM_ENTRY, SCHEDULE_ENTRY, STARVE_ENTRY, ScheduleKeys, StarveKeys,
};
use crate::plan::{Call, CallFailure, CallSet, Disturbance, ShortPattern, Starvation, Turns};
use crate::scalar::{flag, positive_duration};
use crate::section::Section;
use crate::spec::{ActionSpec, When};
use crate::yaml::{Content, Node};
use netloom_units::{Duration, Probability};
use std::sync::Arc;

/// The most bytes of a command line's pattern, and of a thread's name.
const LONGEST_PROCESS: usize = 127;
const LONGEST_THREAD: usize = 15;

/// The disturbance of an entry, and the processes that it means.
type Meant = (Disturbance, Option<Arc<str>>);

/// An entry of one of these kinds.
pub(super) fn program_fault(kind: &str, node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    match kind {
        "fail" => entry(node, (&FAIL_ENTRY, "fail"), fail, errors),
        "starve" => entry(node, (&STARVE_ENTRY, "starve"), starve, errors),
        "schedule" => entry(node, (&SCHEDULE_ENTRY, "schedule"), schedule, errors),
        _ => entry(node, (&OOM_ENTRY, "oom"), oom, errors),
    }
}

fn entry(
    node: &Node,
    (section, key): (&'static Section, &str),
    read: impl Fn(&Node, &mut Errors) -> Option<Meant>,
    errors: &mut Errors,
) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, section, errors)?;
    let mut when = when(&fields, errors);
    let duration = if key == "oom" { None } else { length(&fields, "for", &mut when.lasts, errors) };
    let meant = fields.get(key).and_then(|value| read(value, errors));
    let whose = fields.get("on").map_or_else(Vec::new, |value| places(value, errors));
    let (how, process) = meant?;
    if how == Disturbance::EndFailures {
        errors.extend(fields.get("for").map(|value| value.error("`fail: none` ends faults: leave out `for`")));
    }
    if key == "starve" {
        duration?;
    }
    Some((when, ActionSpec::Disturb { how, whose, process, duration }))
}

fn fail(node: &Node, errors: &mut Errors) -> Option<Meant> {
    if node.text() == Some("none") {
        return Some((Disturbance::EndFailures, None));
    }
    let before = errors.len();
    let fields = Fields::open(node, &FailKeys::SECTION, errors)?;
    let keys = FailKeys::read_keys(&fields, errors)?;
    let of = |key: &str| fields.get(key);
    let without = |has: fn(Call) -> bool| keys.call.iter().find(|call| !has(**call)).map(|call| call.name());
    if let (Some(place), Some(call)) = (of("path"), without(Call::has_path)) {
        errors.push(place.error(format!("`{call}` is not about a file with a path: leave out `path`, or the call")));
    }
    if let (Some(place), Some(call)) = (of("most"), without(Call::has_length)) {
        errors.push(place.error(format!("`{call}` moves no number of bytes: leave out `most`, or the call")));
    }
    if keys.most.is_some_and(|most| most.get() == 0) {
        errors.extend(
            of("most").map(|place| place.error("a call that moves nothing means the end of a file: write 1 B or more")),
        );
    }
    if let (Some(_), Some(place)) = (keys.error, of("most")) {
        errors.push(place.error("a call that fails moves no bytes: keep one of `error` and `most`"));
    }
    if (keys.error, keys.most, keys.delay) == (None, None, None) && errors.len() == before {
        errors.push(
            node.error("nothing happens to the calls: write for example `error: EIO`, `most: 1 B` or `delay: 2 s`"),
        );
    }
    if keys.probability.is_some_and(Probability::is_zero) {
        errors.extend(of("probability").map(|place| place.error("this never happens: write for example 10 %")));
    }
    let pattern = |key: &str, text: Option<String>, longest: usize, found: &mut Errors| {
        text.and_then(|text| of(key).and_then(|place| keep(short(place, &text, longest), found)))
    };
    let path = pattern("path", keys.path, ShortPattern::LONGEST, errors);
    let thread = pattern("thread", keys.thread, LONGEST_THREAD, errors);
    let process = process(&fields, keys.process, errors);
    let is_once = keys.nth.is_some() && keys.probability.is_none();
    let how = Disturbance::Fail(CallFailure {
        calls: keys.call.into_iter().collect::<CallSet>(),
        path,
        thread,
        error: keys.error,
        most: keys.most,
        delay: keys.delay.unwrap_or_default(),
        nth: keys.nth.unwrap_or(1),
        times: keys.times.or(is_once.then_some(1)),
        probability: keys.probability.unwrap_or(Probability::ONE),
    });
    (errors.len() == before).then_some((how, process))
}

/// The usual spans for which a share is starved (rr's chaos mode: from a millisecond to two seconds).
const SPANS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(2));

fn starve(node: &Node, errors: &mut Errors) -> Option<Meant> {
    if !matches!(node.content, Content::Map(_)) {
        let is_all = keep(flag(node), errors)?;
        if !is_all {
            errors.push(node.error("this starves nobody: write `true`, or `{process: \"*worker*\"}`"));
        }
        return Some((Disturbance::Starve(Starvation { thread: None, spans: None }), None));
    }
    let before = errors.len();
    let fields = Fields::open(node, &StarveKeys::SECTION, errors)?;
    let keys = StarveKeys::read_keys(&fields, errors)?;
    let given = fields.get("spans").map(|place| (place, spans(place, errors)));
    if let (Some((place, _)), None) = (&given, keys.share) {
        errors.push(place.error("spans of what? Write how many are starved for each, as in `share: 10 %`"));
    }
    if keys.share.is_some_and(Probability::is_zero) {
        errors.extend(fields.get("share").map(|place| place.error("this starves nobody: write for example 10 %")));
    }
    let thread = keys
        .thread
        .and_then(|text| fields.get("thread").and_then(|place| keep(short(place, &text, LONGEST_THREAD), errors)));
    let (least, longest) = given.map_or(Some(SPANS), |(_, read)| read).unwrap_or(SPANS);
    let drawn = keys.share.map(|share| (share, least, longest));
    let process = process(&fields, keys.process, errors);
    (errors.len() == before).then_some((Disturbance::Starve(Starvation { thread, spans: drawn }), process))
}

fn spans(node: &Node, errors: &mut Errors) -> Option<(Duration, Duration)> {
    let ends: Vec<_> = list(node, errors).iter().map(|end| keep(positive_duration(end), errors)).collect();
    match ends[..] {
        [Some(least), Some(longest)] if least <= longest => Some((least, longest)),
        [None, _] | [_, None] => None,
        _ => errors.reject(node.error("write two times, the shorter one first: `[1 ms, 2 s]`")),
    }
}

fn schedule(node: &Node, errors: &mut Errors) -> Option<Meant> {
    let before = errors.len();
    let fields = Fields::open(node, &ScheduleKeys::SECTION, errors)?;
    let keys = ScheduleKeys::read_keys(&fields, errors)?;
    // There is no other way to choose them.
    fields.form::<DrawnPriorities>("priorities", errors);
    let (changes, within) = (keys.changes.unwrap_or(3), keys.within.unwrap_or(1_000));
    if changes > within {
        errors.push(node.error(format!(
            "there are {changes} changes within {within} calls: write a number for `within` that is not smaller"
        )));
    }
    let process = process(&fields, keys.process, errors);
    (errors.len() == before).then_some((Disturbance::Schedule(Turns { changes, within }), process))
}

fn oom(node: &Node, errors: &mut Errors) -> Option<Meant> {
    let text = <Filled as crate::section::Form>::read(node, errors)?;
    let pattern = keep(checked(node, &text, LONGEST_PROCESS), errors)?;
    Some((Disturbance::OutOfMemory, Some(Arc::from(pattern))))
}

/// The pattern of a command line.
fn process(fields: &Fields<'_>, text: Option<String>, errors: &mut Errors) -> Option<Arc<str>> {
    let (place, text) = (fields.get("process")?, text?);
    keep(checked(place, &text, LONGEST_PROCESS), errors).map(Arc::from)
}

fn checked<'a>(node: &Node, text: &'a str, longest: usize) -> Result<&'a str, Diagnostic> {
    if text.len() > longest {
        return Err(node.error(format!("the pattern has more than {longest} bytes: shorten it by `*`")));
    }
    Ok(text)
}

fn short(node: &Node, text: &str, longest: usize) -> Result<ShortPattern, Diagnostic> {
    let too_long =
        || node.error(format!("the pattern has more than {} bytes: shorten it by `*`", ShortPattern::LONGEST));
    checked(node, text, longest).and_then(|pattern| ShortPattern::new(pattern).ok_or_else(too_long))
}
