//! Entries of the timeline that disturb disks.

use super::churn::names;
use super::repeats::{length, when};
use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::forms::{AboveZero, Filled, OneOrMore, Whole, Word};
use crate::keys::{DISK_ENTRY, Flipped, LostCall, TransferCall};
use crate::names::name_of;
use crate::plan::{DiskCall, DiskCalls, DiskFault, DiskFaultKind, Disturbance};
use crate::scalar::text;
use crate::spec::{ActionSpec, When};
use crate::yaml::Node;
use netloom_units::Duration;
use std::sync::Arc;

/// The faults that an entry can have, by the key that says so.
const KINDS: [&str; 10] = ["error", "slow", "flip", "misdirect", "tear", "lose", "hang", "read_only", "full", "works"];

/// Keys that choose requests.
const CHOICE: [&str; 4] = ["nth", "count", "sectors", "path"];

pub(super) fn disk(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &DISK_ENTRY, errors)?;
    let mut when = when(&fields, errors);
    let whose = fields.get("disk").map_or_else(Vec::new, |value| names(value, name_of("a node"), errors));
    let said: Vec<&str> = KINDS.into_iter().filter(|kind| fields.get(kind).is_some()).collect();
    let [word] = said[..] else {
        let what = if said.is_empty() { "has nothing that happens to the disk" } else { "has several faults" };
        return errors.reject(node.error(format!("the entry {what}: write exactly one of {}", KINDS.join(", "))));
    };
    let before = errors.len();
    let kind = kind(word, &fields, errors);
    let duration = length(&fields, "for", &mut when.lasts, errors);
    let nth = fields.form::<Whole<u64, 1, { u64::MAX }>>("nth", errors);
    let count = fields.form::<Whole<u64, 1, { u64::MAX }>>("count", errors);
    let sectors = fields.read("sectors", sectors, errors);
    let path = fields.form::<Filled>("path", errors).map(Arc::from);
    if errors.len() > before {
        return None;
    }
    let kind = kind?;
    errors.extend(misplaced(kind, &fields, node));
    let fault = DiskFault { kind, nth: nth.unwrap_or(1), count, sectors };
    Some((when, ActionSpec::Disturb { how: Disturbance::Disk(fault), whose, process: path, duration }))
}

fn kind(word: &str, fields: &Fields<'_>, errors: &mut Errors) -> Option<DiskFaultKind> {
    let node = fields.get(word)?;
    let calls = |calls: Vec<DiskCall>| DiskCalls::of(&calls);
    let is_true = |kind, found: &mut Errors| {
        let is_said = fields.form::<bool>(word, found)?;
        if !is_said {
            found.push(node.error("this does nothing: write true, or leave the entry out"));
        }
        is_said.then_some(kind)
    };
    match word {
        "error" => fields.form::<OneOrMore<Word<DiskCall>>>(word, errors).map(calls).map(DiskFaultKind::Error),
        "slow" => {
            let by = fields.form::<AboveZero<Duration>>(word, errors);
            let meant = fields.form::<OneOrMore<Word<DiskCall>>>("calls", errors).map_or(DiskCalls::ALL, calls);
            by.map(|by| DiskFaultKind::Slow(by, meant))
        }
        "flip" => fields.form::<Flipped>(word, errors).map(|call| match call {
            Some(call) => DiskFaultKind::Flip(DiskCalls::of(&[call])),
            None => DiskFaultKind::Rot,
        }),
        "misdirect" => fields.form::<OneOrMore<TransferCall>>(word, errors).map(calls).map(DiskFaultKind::Misdirect),
        "tear" => is_true(DiskFaultKind::Tear, errors),
        "lose" => fields.form::<OneOrMore<LostCall>>(word, errors).map(calls).map(DiskFaultKind::Lose),
        "hang" => is_true(DiskFaultKind::Hang, errors),
        "read_only" => is_true(DiskFaultKind::ReadOnly, errors),
        "full" => is_true(DiskFaultKind::Full, errors),
        _ => is_true(DiskFaultKind::Works, errors),
    }
}

/// The first key that means nothing for this kind of faults, or that is missing.
fn misplaced(kind: DiskFaultKind, fields: &Fields<'_>, node: &Node) -> Option<Diagnostic> {
    let wrong = |key: &str, why: &str| fields.get(key).map(|value| value.error(format!("{why}: leave `{key}` out")));
    let first = |keys: &[&str], why: &str| keys.iter().find_map(|key| wrong(key, why));
    let is_slow = matches!(kind, DiskFaultKind::Slow(..));
    let calls = if is_slow { None } else { wrong("calls", "only `slow` says which requests are meant by it") };
    calls.or_else(|| match kind {
        DiskFaultKind::Hang => first(&CHOICE, "all of the disk hangs").or_else(|| {
            fields
                .get("for")
                .is_none()
                .then(|| node.error("the disk would hang for ever: say how long, as in `for: 2 s`"))
        }),
        DiskFaultKind::ReadOnly | DiskFaultKind::Full => first(&CHOICE, "this is about the whole file system"),
        DiskFaultKind::Works => first(&CHOICE, "all faults end").or_else(|| wrong("for", "they end for good")),
        DiskFaultKind::Rot => first(&["nth", "for"], "it happens once, at this instant").or_else(|| {
            let is_placed = ["sectors", "path"].iter().any(|key| fields.get(key).is_some());
            (!is_placed).then(|| node.error("most of a disk is empty: say which bits, by `path` or `sectors`"))
        }),
        _ => None,
    })
}

/// The first and the last of some sectors.
fn sectors(node: &Node) -> Result<(u64, u64), Diagnostic> {
    let written = text(node)?;
    let ends = written.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    ends.filter(|(first, last)| first <= last)
        .ok_or_else(|| node.expected("the first and the last sector of 512 bytes, as in 2048-4095"))
}

#[cfg(test)]
mod tests {
    use crate::plan::{Action, Disturbance};

    fn parsed(entry: &str) -> Result<(String, Option<String>), String> {
        let text = format!(
            "nodes: {{a: {{stack: kernel, disk: {{at: /db}}}}, b: {{stack: kernel}}}}\nlinks: {{l: {{ends: [a, b]}}}}\n\
             timeline: [{{{entry}}}]\n"
        );
        let lab = crate::parse(&text, "test.yaml").map_err(|wrong| wrong.to_string())?;
        match &lab.plan.timeline[0].action {
            Action::Disturb { how: Disturbance::Disk(fault), process, .. } => {
                Ok((fault.to_string(), process.as_deref().map(str::to_owned)))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_fault_is_shown_as_it_was_written() {
        for entry in [
            "error: write",
            "error: [read, flush], nth: 3, count: 1",
            "slow: 20ms",
            "slow: 20ms, calls: flush",
            "flip: read, sectors: 8-15",
            "flip: stored, count: 2, sectors: 8-15",
            "misdirect: write, count: 1",
            "tear: true",
            "lose: [write, flush]",
            "hang: true",
            "read_only: true",
            "full: true",
            "works: true",
        ] {
            let more = if entry == "hang: true" { ", for: 2 s" } else { "" };
            let (shown, path) = parsed(&format!("disk: a, {entry}{more}")).unwrap();
            assert_eq!(shown.replace(' ', ""), entry.replace(' ', ""));
            assert_eq!(path, None);
        }
        assert_eq!(parsed("disk: a, error: read, path: /db/x").unwrap().1.as_deref(), Some("/db/x"));
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_reason() {
        let refused = |entry: &str, why: &str| {
            let said = parsed(entry).expect_err(entry);
            assert!(said.contains(why), "{entry}: {said}");
        };
        refused("disk: b, error: read", "`b` has no disk");
        refused("disk: a", "exactly one of");
        refused("disk: a, error: read, tear: true", "several faults");
        refused("disk: a, error: erase", "read, write or flush");
        refused("disk: a, error: []", "this list is empty");
        refused("disk: a, hang: true", "for ever");
        refused("disk: a, hang: true, for: 1 s, nth: 2", "all of the disk hangs");
        refused("disk: a, flip: stored", "by `path` or `sectors`");
        refused("disk: a, tear: true, calls: read", "only `slow`");
        refused("disk: a, full: false", "does nothing");
        refused("disk: a, error: read, sectors: 9-8", "the first and the last sector");
        refused("disk: a, error: read, path: /elsewhere/x", "below /db");
        refused("disk: a, error: read, sectors: 8-99999999", "has 500000 sectors");
    }
}
