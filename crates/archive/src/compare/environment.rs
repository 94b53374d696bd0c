//! What differs around the runs: programs, kernels, machines, and what was found.

use super::bytes::differ;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A difference between earlier results and new ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The name of what differs.
    pub what: String,
    /// The value in the earlier results.
    pub then: Value,
    /// The value in the new results.
    pub now: Value,
}

/// The parts of `provenance.json` that tell one environment from another, and what they are called.
const PARTS: [(&str, &str); 16] = [
    ("/netloom_version", "version of netloom"),
    ("/netloom_commit", "commit of netloom"),
    ("/host_name", "machine"),
    ("/machine", "architecture"),
    ("/kernel", "kernel of the machine"),
    ("/processor", "processor"),
    ("/processor_level", "level of the processor"),
    ("/processors", "number of processors"),
    ("/clock_source", "clock source"),
    ("/tcp_congestion_control", "congestion control"),
    ("/node_kernel/version", "version of the node kernel"),
    ("/node_kernel/digest", "node kernel"),
    ("/qemu/version", "version of QEMU"),
    ("/qemu/accelerator", "accelerator of QEMU"),
    ("/environment", "environment of programs"),
    ("/inherited", "inherited environment"),
];

/// What will differ around a run from the one that it repeats, as far as it is known before the run.
pub(crate) fn changes_beforehand(then: &Value, now: &Value) -> Vec<Change> {
    // Images are looked for, and QEMU is asked, when a run begins.
    let known = |change: &Change| !change.what.starts_with("image of node ") && !change.what.contains("QEMU");
    changes(then, now).into_iter().filter(known).collect()
}

/// What differs between two environments.
pub(super) fn changes(then: &Value, now: &Value) -> Vec<Change> {
    let value = |document: &Value, place: &str| document.pointer(place).cloned().unwrap_or(Value::Null);
    let mut found: Vec<Change> = PARTS
        .iter()
        .map(|(place, what)| Change { what: (*what).to_owned(), then: value(then, place), now: value(now, place) })
        .collect();
    let [before, after] = [then, now].map(programs);
    found.extend(both(&before, &after, |name| format!("program {name}")));
    let [old, new] = [then, now].map(images);
    found.extend(both(&old, &new, |node| format!("image of node {node}")));
    found.retain(|change| change.then != change.now);
    found
}

fn both<'a>(
    then: &'a BTreeMap<String, Value>,
    now: &'a BTreeMap<String, Value>,
    what: impl Fn(&str) -> String + 'a,
) -> impl Iterator<Item = Change> + 'a {
    let names: std::collections::BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let value = |all: &BTreeMap<String, Value>, name: &String| all.get(name).cloned().unwrap_or(Value::Null);
    names.into_iter().map(move |name| Change { what: what(name), then: value(then, name), now: value(now, name) })
}

/// The digests of programs, by name. Where their file is tells nothing.
fn programs(provenance: &Value) -> BTreeMap<String, Value> {
    let all = provenance["programs"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter_map(|one| Some((one["name"].as_str()?.to_owned(), one["digest"].clone()))).collect()
}

fn images(provenance: &Value) -> BTreeMap<String, Value> {
    let all = provenance["images"].as_object().into_iter().flatten();
    all.map(|(node, image)| {
        (node.clone(), if image["id"].is_null() { image["source"].clone() } else { image["id"].clone() })
    })
    .collect()
}

/// What differs in what was found of the network and in what was expected.
pub(super) fn verdicts(then: &Value, now: &[Value]) -> Vec<Change> {
    let mut found = Vec::new();
    for report in now {
        for (place, what) in [("/verdict/as_described", "network as described"), ("/error", "error")] {
            let value = |one: &Value| one.pointer(place).cloned().unwrap_or(Value::Null);
            found.push(Change { what: what.into(), then: value(then), now: value(report) });
        }
        let [before, after] = [then, report].map(expectations);
        found.extend(both(&before, &after, |name| format!("expectation `{name}` met")));
        let [old, new] = [then, report].map(commands);
        found.extend(both(&old, &new, |name| format!("exit code of `{name}`")));
    }
    found.retain(|change| change.then != change.now);
    found.dedup();
    found
}

fn expectations(report: &Value) -> BTreeMap<String, Value> {
    let all = report["expectations"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = |one: &Value| Some((one["text"].as_str()?.to_owned(), one["met"].clone()));
    all.iter().filter_map(named).collect()
}

fn commands(report: &Value) -> BTreeMap<String, Value> {
    let all = report["commands"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = |one: &Value| Some((one["name"].as_str()?.to_owned(), one["exit_code"].clone()));
    all.iter().filter_map(named).collect()
}

/// How many runs of two sweeps ended how.
pub(super) fn counts(then: &Value, now: &Value) -> Vec<Change> {
    let keys = ["runs", "as_described", "not_as_described", "failed", "unmet"];
    let change = |key: &str| Change { what: key.replace('_', " "), then: then[key].clone(), now: now[key].clone() };
    keys.into_iter().filter(|key| differ(&then[*key], &now[*key], String::new()).is_some()).map(change).collect()
}
