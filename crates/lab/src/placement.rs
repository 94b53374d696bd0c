//! Which machine plays which part of a lab: a pure function of the plan.
//!
//! Links that cannot be cut ([`Bond`]) make their ends one piece. Pieces are distributed so that each machine has its share of the processor
//! time and of the memory, and so that as little as possible crosses: in real time the least described rate; in virtual time the links
//! with the longest delays, by which machines can be ahead of one another (lookahead), and of these the least rate.

mod amounts;
mod bonds;
mod graph;
mod hosts;
mod text;
mod weights;

pub use bonds::Bond;
pub use hosts::Host;

use crate::disjoint_sets::DisjointSets;
use crate::plan::{Clock, LinkPlan, MachinePlan, NodeKind, NodePlan, Plan};
use bonds::{bond, least_delay};
use graph::{Graph, Load, Parts};
use netloom_units::{Bytes, Duration, Rate};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

/// The time that a frame leaves earlier than a path takes (see `docs/tunnel.md`).
const AHEAD: Duration = Duration::from_micros(300);

/// Holds the settings that are not in the lab file.
#[derive(Clone, Debug)]
pub struct Settings {
    /// So many machines in the place of those of the lab file.
    pub count: Option<usize>,
    /// How long a packet takes from one machine to another, in one direction.
    pub path: Duration,
}

impl Settings {
    /// The time of a packet between two machines beside one another with a switch between them, and some room for what varies.
    pub const PATH: Duration = Duration::from_micros(500);
}

impl Default for Settings {
    fn default() -> Self {
        Self { count: None, path: Self::PATH }
    }
}

/// The distribution of a lab over machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The machines in their order, each with what it gets.
    pub machines: Vec<Share>,
    /// By node: the place of its machine, and the reason.
    pub nodes: Vec<(usize, Why)>,
    /// The links that lead from one machine to another.
    pub crossing: Vec<Crossing>,
    /// The links that could not be cut, each with the reason.
    pub bound: Vec<(usize, Bond)>,
    /// Whether the lookahead counts first, as in virtual time.
    pub is_by_delay: bool,
    /// The sentences about what does not fit.
    pub misfits: Vec<String>,
    /// How many machines the cluster has that is to play the lab; none: none is known.
    pub cluster: Option<usize>,
    /// The sentences about what its machines may have too little of.
    pub doubts: Vec<String>,
}

/// A machine with its share of a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The machine.
    pub machine: MachinePlan,
    /// How many nodes it plays.
    pub nodes: usize,
    /// Their processor time, in thousandths of a processor: an estimate.
    pub processor: u64,
    /// Their memory: an estimate.
    pub memory: Bytes,
    /// The machine of a cluster that plays it, if it is known.
    pub host: Option<Host>,
}

/// Why a node is on its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The lab file says so.
    Chosen,
    /// A link that cannot be cut joins it to a neighbour; the place of the link.
    With(usize),
    /// The node is something of the machine on which the lab is started, the first one.
    Here,
    /// So that little crosses, and each machine has its share.
    Cut,
}

/// A link between two machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The place of the link.
    pub link: usize,
    /// The machines of its first and its second end.
    pub machines: [usize; 2],
    /// The described rates forward and backward; none: without a limit.
    pub rates: [Option<Rate>; 2],
    /// The least delay of its faster direction.
    pub least: Duration,
}

impl Placement {
    /// The least delay of all that crosses: so far one machine can be ahead of another in virtual time. None if nothing crosses.
    pub fn lookahead(&self) -> Option<Duration> {
        self.crossing.iter().map(|crossing| crossing.least).min()
    }
}

/// Divides a lab among machines.
///
/// # Errors
/// Nodes that the lab file puts on different machines although links that cannot be cut join them: each sentence names the line, both
/// nodes and these links.
pub fn place(plan: &Plan, settings: &Settings) -> Result<Placement, Vec<String>> {
    let machines = machines(plan, settings);
    let is_by_delay = plan.clock == Clock::Virtual;
    let needed = if is_by_delay { Duration::from_nanos(1) } else { settings.path + AHEAD };
    let bonds: Vec<Option<Bond>> = plan.links.iter().map(|link| bond(plan, link, needed)).collect();
    let pieces = pieces(plan, |link| bonds[link].is_some());
    let allowed = allowed(plan, &machines, settings.count.is_none());
    let conflicts = conflicts(plan, &machines, &bonds, &pieces, &allowed);
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    let limits = limits(plan, &machines, &pieces);
    let of_nodes = if is_by_delay {
        by_delay(plan, &pieces, &allowed, &limits, &bonds)
    } else {
        divided(plan, &pieces, &allowed, &limits)
    };
    Ok(described(plan, machines, &of_nodes, bonds, is_by_delay))
}

/// The machines that the settings ask for, or those of the lab file; else the only one is this machine.
fn machines(plan: &Plan, settings: &Settings) -> Vec<MachinePlan> {
    let unknown = |count: usize| {
        let name = |number: usize| MachinePlan { name: format!("m{number}"), ..MachinePlan::default() };
        (1..=count.clamp(1, MachinePlan::MOST)).map(name).collect()
    };
    match settings.count {
        Some(count) => unknown(count),
        None if plan.machines.is_empty() => unknown(1),
        None => plan.machines.clone(),
    }
}

/// By node: the first node of its piece, if the links of which `is_bound` says so cannot be cut.
fn pieces(plan: &Plan, is_bound: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut sets = DisjointSets::of(plan.nodes.len());
    for (place, link) in plan.links.iter().enumerate() {
        for pair in link.ends.windows(2).filter(|_| is_bound(place)) {
            sets.join(pair[0].node, pair[1].node);
        }
    }
    (0..plan.nodes.len()).map(|node| sets.root(node)).collect()
}

/// Whether a node is something of the machine on which the lab is started.
fn is_here(node: &NodePlan) -> bool {
    matches!(node.kind, NodeKind::External | NodeKind::Tunnel | NodeKind::Internet | NodeKind::Outside)
        || node.container.is_some()
        || !node.expose.is_empty()
}

/// The machines on which each node may be.
fn allowed(plan: &Plan, machines: &[MachinePlan], has_names: bool) -> Vec<Parts> {
    let all = (0..machines.len()).fold(0, |set: Parts, place| set | 1 << place);
    let of = |node: &NodePlan| {
        if let Some(choice) = node.machine.filter(|_| has_names) {
            return 1 << choice.machine;
        }
        if is_here(node) {
            return 1;
        }
        let Some(image) = &node.image else { return all };
        let name = image.source.to_string();
        let has = |machine: &MachinePlan| machine.images.as_ref().is_none_or(|images| images.contains(&name));
        let there = machines.iter().enumerate().filter(|(_, machine)| has(machine));
        there.fold(0, |set, (place, _)| set | 1 << place)
    };
    plan.nodes.iter().map(of).collect()
}

/// The reasons that keep pieces from having a machine.
fn conflicts(
    plan: &Plan,
    machines: &[MachinePlan],
    bonds: &[Option<Bond>],
    pieces: &[usize],
    allowed: &[Parts],
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    pieces.iter().enumerate().for_each(|(node, piece)| members.entry(*piece).or_default().push(node));
    for nodes in members.into_values() {
        let mut left = Parts::MAX;
        let mut tied: Option<usize> = None;
        for node in nodes {
            if allowed[node] == 0 {
                wrong.push(homeless(plan, node));
                break;
            }
            if left & allowed[node] == 0 {
                wrong.push(torn(plan, machines, bonds, (tied.unwrap_or(node), node), allowed));
                break;
            }
            if left & allowed[node] != left {
                tied = Some(node);
            }
            left &= allowed[node];
        }
    }
    wrong
}

fn homeless(plan: &Plan, node: usize) -> String {
    let node = &plan.nodes[node];
    let (line, image) = node.image.as_ref().map(|image| (image.line, image.source.to_string())).unwrap_or_default();
    format!(
        "line {line}: no machine has the image `{image}` of node `{}`: add it to the `images` of one, or leave these out",
        node.name
    )
}

/// The reason why two nodes cannot be on the machines that they need, with the links between them.
fn torn(
    plan: &Plan,
    machines: &[MachinePlan],
    bonds: &[Option<Bond>],
    (one, other): (usize, usize),
    allowed: &[Parts],
) -> String {
    let home = |node: usize| {
        let name = &plan.nodes[node].name;
        let line = plan.nodes[node].machine.map_or_else(String::new, |choice| format!(" (line {})", choice.line));
        let place = usize::try_from(allowed[node].trailing_zeros()).unwrap_or(0);
        let machine = machines.get(place).map_or("", |machine| machine.name.as_str());
        format!("`{name}` on machine {machine}{line}")
    };
    let links = way(plan, bonds, one, other);
    let why =
        links.iter().filter_map(|link| Some(format!("link `{}`: {}", plan.links[*link].name, bonds[*link].as_ref()?)));
    format!("{} and {} cannot be apart: {}", home(one), home(other), why.collect::<Vec<_>>().join("; "))
}

/// The links that cannot be cut between two nodes of a piece, in their order.
fn way(plan: &Plan, bonds: &[Option<Bond>], one: usize, other: usize) -> Vec<usize> {
    let mut from: BTreeMap<usize, (usize, usize)> = BTreeMap::from([(one, (usize::MAX, one))]);
    let mut queue = VecDeque::from([one]);
    while let Some(node) = queue.pop_front() {
        for own in &plan.nodes[node].interfaces {
            let link = own.end.link();
            for end in plan.links[link].beyond(own.end).filter(|_| bonds[link].is_some()) {
                if let Entry::Vacant(vacant) = from.entry(end.node) {
                    vacant.insert((link, node));
                    queue.push_back(end.node);
                }
            }
        }
    }
    let mut links = Vec::new();
    let mut node = other;
    while let Some((link, before)) = from.get(&node).filter(|(link, _)| *link != usize::MAX) {
        links.push(*link);
        node = *before;
    }
    links.reverse();
    links
}

/// The weight of each piece, by its first node.
fn piece_loads(plan: &Plan, pieces: &[usize]) -> Vec<Load> {
    let mut loads: Vec<Load> = vec![[0; 2]; plan.nodes.len()];
    for (node, piece) in plan.nodes.iter().zip(pieces) {
        let own = weights::load(node);
        loads[*piece].iter_mut().zip(own).for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
    loads
}

fn capacity(machine: &MachinePlan) -> [Option<u64>; 2] {
    [machine.cpus.map(|cpus| u64::from(cpus.thousandths())), machine.memory.map(Bytes::get)]
}

/// The most that each machine may get: its share of the whole by what it has, a tenth more, and room for the heaviest piece; and no more than it
/// has.
fn limits(plan: &Plan, machines: &[MachinePlan], pieces: &[usize]) -> Vec<Load> {
    let loads = piece_loads(plan, pieces);
    let of = |place: usize| {
        let total: u128 = loads.iter().map(|load| u128::from(load[place])).sum();
        let heaviest = loads.iter().map(|load| u128::from(load[place])).max().unwrap_or(0);
        let known: Vec<u64> = machines.iter().filter_map(|machine| capacity(machine)[place]).collect();
        let mean = known.iter().map(|room| u128::from(*room)).sum::<u128>() / (known.len() as u128).max(1);
        let rooms: Vec<u128> =
            machines.iter().map(|machine| capacity(machine)[place].map_or(mean.max(1), u128::from).max(1)).collect();
        let (all, is_known) = (rooms.iter().sum::<u128>(), !known.is_empty());
        let limit = move |(machine, room): (&MachinePlan, u128)| {
            let fair = (total * room).div_ceil(all);
            // Memory that is known only has to be enough.
            let fair = if place == 1 && is_known { fair.max(room) } else { fair };
            let even = u64::try_from(fair + (fair / 10).max(heaviest / 2)).unwrap_or(u64::MAX);
            capacity(machine)[place].map_or(even, |most| most.min(even)).max(1)
        };
        machines.iter().zip(rooms).map(limit).collect::<Vec<u64>>()
    };
    of(0).into_iter().zip(of(1)).map(|(processor, memory)| [processor, memory]).collect()
}

/// Machines by node, so that the least described rate crosses.
fn divided(plan: &Plan, pieces: &[usize], allowed: &[Parts], limits: &[Load]) -> Vec<usize> {
    divide(plan, pieces, allowed, limits).0
}

/// The same, and whether all machines are within their limits.
fn divide(plan: &Plan, pieces: &[usize], allowed: &[Parts], limits: &[Load]) -> (Vec<usize>, bool) {
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    for piece in pieces {
        let next = numbers.len();
        numbers.entry(*piece).or_insert(next);
    }
    let loads = piece_loads(plan, pieces);
    let (mut weights, mut sets) = (vec![[0; 2]; numbers.len()], vec![Parts::MAX; numbers.len()]);
    for (node, piece) in pieces.iter().enumerate() {
        let number = numbers[piece];
        (weights[number], sets[number]) = (loads[*piece], sets[number] & allowed[node]);
    }
    let edge = |link: &LinkPlan| {
        let [one, other] = [0, 1].map(|end| numbers[&pieces[link.ends[end].node]]);
        (one, other, weights::megabits(link))
    };
    let graph = Graph::new(weights, sets, plan.links.iter().map(edge));
    let parts = graph.divide(limits);
    let fits = graph.cost(&parts, limits).excess == 0;
    (pieces.iter().map(|piece| parts[numbers[piece]]).collect(), fits)
}

/// Machines by node, so that the least delay of what crosses is as long as possible, and then so that little crosses.
fn by_delay(plan: &Plan, pieces: &[usize], allowed: &[Parts], limits: &[Load], bonds: &[Option<Bond>]) -> Vec<usize> {
    let mut delays: Vec<Duration> =
        plan.links.iter().zip(bonds).filter(|(_, bond)| bond.is_none()).map(|(link, _)| least_delay(link)).collect();
    delays.sort_unstable();
    delays.dedup();
    let mut best = divided(plan, pieces, allowed, limits);
    // Below the first of these it fits as well as it can: the longest that fits is looked for between both.
    let (mut fits, mut fails) = (0, delays.len());
    while fits + 1 < fails {
        let middle = fits.midpoint(fails);
        let longer =
            self::pieces(plan, |link| bonds[link].is_some() || least_delay(&plan.links[link]) < delays[middle]);
        match is_possible(&longer, allowed).then(|| divide(plan, &longer, allowed, limits)) {
            Some((found, true)) => (fits, best) = (middle, found),
            _ => fails = middle,
        }
    }
    best
}

/// Whether each piece has a machine.
fn is_possible(pieces: &[usize], allowed: &[Parts]) -> bool {
    let mut sets = vec![Parts::MAX; pieces.len()];
    pieces.iter().zip(allowed).for_each(|(piece, set)| sets[*piece] &= set);
    sets.iter().all(|set| *set != 0)
}

fn described(
    plan: &Plan,
    machines: Vec<MachinePlan>,
    of_nodes: &[usize],
    bonds: Vec<Option<Bond>>,
    is_by_delay: bool,
) -> Placement {
    let crossing = plan.links.iter().enumerate().filter_map(|(place, link)| {
        let ends = [0, 1].map(|end| of_nodes[link.ends[end].node]);
        let rates = [0, 1].map(|direction| link.pipes[direction].rate.nominal());
        (ends[0] != ends[1]).then(|| Crossing { link: place, machines: ends, rates, least: least_delay(link) })
    });
    let empty = |machine| Share { machine, nodes: 0, processor: 0, memory: Bytes::new(0), host: None };
    let mut shares: Vec<Share> = machines.into_iter().map(empty).collect();
    for (node, machine) in plan.nodes.iter().zip(of_nodes) {
        let ([processor, memory], share) = (weights::load(node), &mut shares[*machine]);
        share.nodes += 1;
        share.processor += processor;
        share.memory = Bytes::new(share.memory.get().saturating_add(memory));
    }
    let misfits = shares.iter().flat_map(misfits).collect();
    let nodes = (0..plan.nodes.len()).map(|node| (of_nodes[node], why(plan, node, &bonds))).collect();
    let crossing = crossing.collect();
    let bound = bonds.into_iter().enumerate().filter_map(|(link, bond)| Some((link, bond?))).collect();
    let (cluster, doubts) = (None, Vec::new());
    Placement { machines: shares, nodes, crossing, bound, is_by_delay, misfits, cluster, doubts }
}

fn why(plan: &Plan, node: usize, bonds: &[Option<Bond>]) -> Why {
    if plan.nodes[node].machine.is_some() {
        return Why::Chosen;
    }
    if is_here(&plan.nodes[node]) {
        return Why::Here;
    }
    let bound = plan.nodes[node].interfaces.iter().map(|own| own.end.link()).find(|link| bonds[*link].is_some());
    bound.map_or(Why::Cut, Why::With)
}

/// The resource of a machine that is not enough.
fn misfits(share: &Share) -> Vec<String> {
    let Share { machine, processor, memory, .. } = share;
    let mut all = Vec::new();
    if let Some(most) = machine.cpus.filter(|most| *processor > u64::from(most.thousandths())) {
        let wanted = amounts::processors(*processor);
        all.push(format!("machine {}: its nodes need {wanted} processors, and the lab may use {most}", machine.name));
    }
    if let Some(most) = machine.memory.filter(|most| memory > most) {
        let wanted = amounts::size(*memory);
        all.push(format!("machine {}: its nodes need {wanted} of memory, and the lab may use {most}", machine.name));
    }
    all
}

#[cfg(test)]
mod tests;
