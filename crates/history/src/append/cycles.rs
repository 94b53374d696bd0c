//! Circles of dependencies: a shortest one of each kind.

use super::graph::{Edge, Graph, Kind};
use crate::history::{History, Status};
use crate::outcome::{Arrow, Contradiction};
use netloom_units::quantity;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use Kind::{Rt, Rw, Wr, Ww};

/// From how many edges of a component shorter circles are searched when there is one.
const MOST_TRIES: usize = 2_000;

/// A kind of circle: of these edges, with one of that kind, behind which the way back may have these.
struct Class {
    name: &'static str,
    within: &'static [Kind],
    with: Kind,
    back: &'static [Kind],
}

const CLASSES: [Class; 4] = [
    Class { name: "G0", within: &[Ww], with: Ww, back: &[Ww] },
    Class { name: "G1c", within: &[Ww, Wr], with: Wr, back: &[Ww, Wr] },
    Class { name: "G-single", within: &[Ww, Wr, Rw], with: Rw, back: &[Ww, Wr] },
    Class { name: "G2", within: &[Ww, Wr, Rw], with: Rw, back: &[Ww, Wr, Rw] },
];
const REAL_TIME: [Class; 4] = [
    Class { name: "G0-realtime", within: &[Ww, Rt], with: Ww, back: &[Ww, Rt] },
    Class { name: "G1c-realtime", within: &[Ww, Wr, Rt], with: Wr, back: &[Ww, Wr, Rt] },
    Class { name: "G-single-realtime", within: &[Ww, Wr, Rw, Rt], with: Rw, back: &[Ww, Wr, Rt] },
    Class { name: "G2-realtime", within: &[Ww, Wr, Rw, Rt], with: Rw, back: &[Ww, Wr, Rw, Rt] },
];

/// A circle: its operations, each with the edge to the next one.
type Circle = Vec<(usize, Edge)>;

/// Returns a shortest circle of each kind among transactions that depend on one another; none of a kind where there is one of less.
pub(super) fn cycles(history: &History, graph: &Graph, is_strict: bool) -> Vec<Contradiction> {
    let mut taken = BTreeSet::new();
    let mut found = search(history, graph, &CLASSES, &mut taken);
    if is_strict {
        found.extend(search(history, &with_real_time(history, graph), &REAL_TIME, &mut taken));
    }
    found
}

/// Searches circles of these kinds. What is in a circle of one kind is not searched for the next ones.
fn search(history: &History, graph: &Graph, classes: &[Class], taken: &mut BTreeSet<usize>) -> Vec<Contradiction> {
    let mut found = Vec::new();
    for class in classes {
        for component in graph.components(class.within) {
            if component.iter().any(|one| taken.contains(one)) {
                continue;
            }
            let Some(circle) = shortest(graph, &component, class) else { continue };
            taken.extend(circle.iter().map(|(operation, _)| *operation));
            found.push(contradiction(history, class.name, &circle));
        }
    }
    found
}

/// Adds the order in real time: of each transaction, to those that began after it, but for those behind others of these.
fn with_real_time(history: &History, graph: &Graph) -> Graph {
    let mut graph = graph.clone();
    let mut events: Vec<(usize, bool, usize)> = Vec::new();
    for (index, operation) in history.operations.iter().enumerate() {
        if operation.status == Status::Fail {
            continue;
        }
        events.push((operation.start, false, index));
        events.extend(operation.end.map(|end| (end, true, index)));
    }
    events.sort_unstable();
    let mut frontier: BTreeSet<usize> = BTreeSet::new();
    for (_, is_end, index) in events {
        if is_end {
            // Whoever comes behind this one comes behind all that ended before it began.
            let start = history.operations[index].start;
            frontier.retain(|before| history.operations[*before].end.is_none_or(|end| end > start));
            frontier.insert(index);
        } else {
            for before in &frontier {
                graph.add(*before, Edge { to: index, kind: Rt, key: String::new(), before: None, after: None });
            }
        }
    }
    graph
}

/// Returns a shortest circle of a kind in a component.
fn shortest(graph: &Graph, component: &[usize], class: &Class) -> Option<Circle> {
    let inside: BTreeSet<usize> = component.iter().copied().collect();
    let firsts = component.iter().flat_map(|from| graph.from(*from).iter().map(move |edge| (*from, edge)));
    let firsts = firsts.filter(|(_, edge)| edge.kind == class.with && inside.contains(&edge.to));
    let mut best: Option<Circle> = None;
    for (tried, (from, edge)) in firsts.enumerate() {
        if best.as_ref().is_some_and(|known| known.len() == 2 || tried > MOST_TRIES) {
            break;
        }
        let Some(back) = way(graph, &inside, class.back, edge.to, from) else { continue };
        if best.as_ref().is_none_or(|known| back.len() + 1 < known.len()) {
            best = Some([(from, edge.clone())].into_iter().chain(back).collect());
        }
    }
    best
}

/// Returns a shortest way between two operations by edges of these kinds.
fn way(graph: &Graph, inside: &BTreeSet<usize>, kinds: &[Kind], from: usize, to: usize) -> Option<Circle> {
    let mut whence: BTreeMap<usize, (usize, &Edge)> = BTreeMap::new();
    let mut waiting = VecDeque::from([from]);
    while let Some(node) = waiting.pop_front() {
        if node == to {
            let mut circle = Circle::new();
            let mut at = to;
            while at != from {
                let (before, edge) = whence[&at];
                circle.push((before, edge.clone()));
                at = before;
            }
            circle.reverse();
            return Some(circle);
        }
        for edge in graph.from(node).iter().filter(|edge| kinds.contains(&edge.kind) && inside.contains(&edge.to)) {
            if edge.to != from && !whence.contains_key(&edge.to) {
                whence.insert(edge.to, (node, edge));
                waiting.push_back(edge.to);
            }
        }
    }
    None
}

fn contradiction(history: &History, kind: &'static str, circle: &Circle) -> Contradiction {
    let count = circle.len();
    let next = |index: usize| circle[(index + 1) % count].0;
    let arrows: Vec<Arrow> = circle
        .iter()
        .enumerate()
        .map(|(index, (from, edge))| Arrow {
            from: *from,
            to: next(index),
            kind: edge.kind.name(),
            reason: reason(edge),
        })
        .collect();
    let steps: Vec<String> = circle
        .iter()
        .map(|(from, edge)| format!("{} --{}--> ({})", history.describe(*from), edge.kind.name(), reason(edge)))
        .collect();
    let first = history.place(circle[0].0);
    let transactions = quantity::counted(count, "transaction");
    let message = format!("{transactions} come before one another: {} back to {first}", steps.join(" "));
    let operations = circle.iter().map(|(operation, _)| *operation).collect();
    let mut found = Contradiction::new(kind, message, operations);
    found.culprit = found.operations.last().copied();
    found.arrows = arrows;
    found
}

/// Returns what shows an edge.
fn reason(edge: &Edge) -> String {
    let (key, none) = (&edge.key, "nothing".to_owned());
    let before = edge.before.as_ref().unwrap_or(&none);
    let after = edge.after.as_ref().unwrap_or(&none);
    match edge.kind {
        Ww => format!("{after} stands behind its {before} in list {key}"),
        Wr => format!("its {before} in list {key} was read"),
        Rw => format!("it read list {key} up to {before}, before {after} was appended"),
        Rt => "it completed before the next one began".to_owned(),
    }
}
