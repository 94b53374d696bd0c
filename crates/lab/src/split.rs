//! A lab over several machines as a lab file for each: together they are the lab.
//!
//! [`place`](crate::placement::place) says which machine plays which nodes. A part has these nodes, the links between them, and a tunnel in
//! the place of the far end of each link that is cut. The rest of the lab is in it as far as its nodes notice it:
//!
//! - Addresses, hardware addresses and interfaces are written down, since automatic ones follow from the whole lab.
//! - Routes are written down (`routes`), and so is which interface a name means (`names`), where that is not the first.
//! - The nodes of other machines are in `elsewhere`, with the addresses that their names mean. Tunnels say which of these interfaces are
//!   behind them (`beyond`), so that neighbours are known as inside the lab, and transit routers can be there.
//! - A direction of a cut link is described in the part in which its packets enter it, by the name that it has in the whole lab: so it draws
//!   the same random numbers. The other part describes nothing of it, and the tunnel takes the path off.
//! - What happens goes to the machine of the nodes and links that it is about. What is about both sides is divided where that means the
//!   same; else it is refused.
//!
//! Each part is read again and compared with the plan of the whole lab, node by node and pipe by pipe ([`same`]): a difference is an error.
//! So what this module does not know of is refused, and not played otherwise.

mod entries;
mod network;
mod partitions;
mod same;
mod settings;
mod shares;
mod tree;

use crate::diagnostics::{Diagnostic, Severity, Spanned};
use crate::errors::Errors;
use crate::placement::{self, Placement};
use crate::plan::{Clock, KeyPlan, Plan, TunnelPlan};
use crate::sweep::file_of;
use crate::yaml::{self, Entry, Node};
use crate::{Diagnostics, Lab, check_name, generate, parse, vary};
use network::Tunnel;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The settings of a division that are not in the lab file.
#[derive(Clone, Debug)]
pub struct SplitSettings {
    /// How nodes are placed.
    pub placement: placement::Settings,
    /// The addresses of machines by name, by which the others reach them.
    pub addresses: BTreeMap<String, String>,
    /// The port of UDP between the first two machines; each further pair has the next.
    pub port: u16,
}

impl Default for SplitSettings {
    fn default() -> Self {
        Self { placement: placement::Settings::default(), addresses: BTreeMap::new(), port: TunnelPlan::PORT }
    }
}

/// A lab, divided.
#[derive(Clone, Debug)]
pub struct Division {
    /// The parts, in the order of the machines; machines without nodes have none.
    pub parts: Vec<Part>,
    /// Who plays what.
    pub placement: Placement,
    /// The notes for whoever plays the parts.
    pub notes: Vec<String>,
}

/// The part of a machine.
#[derive(Clone, Debug)]
pub struct Part {
    /// The machine's name.
    pub machine: String,
    /// The text of its lab file.
    pub text: String,
    /// The lab that the text describes.
    pub lab: Lab,
    /// The nodes of the lab that it has, by name.
    pub nodes: Vec<String>,
    /// How many of its links lead to other machines.
    pub cut: usize,
}

/// Why a lab cannot be divided.
#[derive(Clone, Debug)]
pub enum Undivided {
    /// Something in the lab file cannot be divided, or the file is wrong.
    Refused(Diagnostics),
    /// The nodes cannot be placed: sentences, each with its line.
    Misplaced(Vec<String>),
    /// The settings are wrong.
    Settings(String),
}

/// The lab that is divided, and how.
struct Ground<'a> {
    root: &'a Node,
    plan: &'a Plan,
    placement: &'a Placement,
    nodes: BTreeMap<&'a str, usize>,
    links: BTreeMap<&'a str, usize>,
    /// By link that is cut: its tunnel.
    tunnels: BTreeMap<usize, Tunnel>,
}

impl<'a> Ground<'a> {
    fn of(root: &'a Node, plan: &'a Plan, placement: &'a Placement, tunnels: BTreeMap<usize, Tunnel>) -> Self {
        let nodes = plan.nodes.iter().zip(0..).map(|(node, place)| (node.name.as_str(), place)).collect();
        let links = plan.links.iter().zip(0..).map(|(link, place)| (link.name.as_str(), place)).collect();
        Self { root, plan, placement, nodes, links, tunnels }
    }

    /// The place of the machine that plays a node.
    fn home(&self, node: usize) -> usize {
        self.placement.nodes[node].0
    }

    fn machine(&self, place: usize) -> &str {
        &self.placement.machines[place].machine.name
    }

    /// The machines of the ends of a link, each once.
    fn homes(&self, link: usize) -> BTreeSet<usize> {
        self.plan.links[link].ends.iter().map(|end| self.home(end.node)).collect()
    }
}

/// Divides the lab file `text` among machines; errors name it `file`. `keys` draws a key at random, for the tunnels of each pair of
/// machines; none: the tunnels have no keys.
///
/// # Errors
/// What is wrong with the file, or cannot be divided, or how the nodes cannot be placed.
pub fn split(
    text: &str,
    file: &str,
    settings: &SplitSettings,
    keys: Option<&mut dyn FnMut() -> [u8; KeyPlan::LEN]>,
) -> Result<Division, Undivided> {
    let refused = |found: Vec<Diagnostic>| Undivided::Refused(Diagnostics::new(file, text, Severity::Error, found));
    let lab = parse(text, file).map_err(Undivided::Refused)?;
    let root = whole(text, file).map_err(refused)?;
    let placement = placement::place(&lab.plan, &settings.placement).map_err(Undivided::Misplaced)?;
    check_settings(&lab.plan, &placement, settings).map_err(Undivided::Settings)?;
    let tunnels = network::tunnels(&lab.plan, &placement, settings, keys).map_err(Undivided::Settings)?;
    let plan = &lab.plan;
    let ground = Ground::of(&root, plan, &placement, tunnels);
    let mut wrong = Vec::new();
    if !ground.tunnels.is_empty() {
        wrong = settings::refusals(&ground);
    }
    if !wrong.is_empty() {
        return Err(refused(wrong));
    }
    let mut parts = Vec::new();
    for (place, share) in placement.machines.iter().enumerate().filter(|(_, share)| share.nodes > 0) {
        let machine = share.machine.name.clone();
        let (tree, found) = ground.part(place);
        found.into_iter().for_each(|found| {
            if !wrong.contains(&found) {
                wrong.push(found);
            }
        });
        parts.push((place, machine, tree));
    }
    if !wrong.is_empty() {
        return Err(refused(wrong));
    }
    let mut read = Vec::new();
    for (place, machine, tree) in parts {
        let part_text = file_of(&tree);
        let at = Path::new(file).with_file_name(format!("{}-{machine}.yaml", plan.name)).display().to_string();
        let part = parse(&part_text, &at).map_err(Undivided::Refused)?;
        wrong.extend(same::differences(&ground, place, &part.plan));
        let own = plan.nodes.iter().enumerate().filter(|(node, _)| ground.home(*node) == place);
        let names = own.map(|(_, node)| node.name.clone()).collect();
        let cut = ground.tunnels.keys().filter(|link| ground.homes(**link).contains(&place)).count();
        read.push(Part { machine, text: part_text, lab: part, nodes: names, cut });
    }
    wrong.extend(same::lost(&ground, &read));
    if !wrong.is_empty() {
        return Err(refused(wrong));
    }
    let notes = notes(&ground, settings, lab.note.as_deref());
    Ok(Division { parts: read, placement, notes })
}

/// Divides a partition that a user makes by hand while the parts of a lab are up: `entry` as [`parse_partition`](crate::parse_partition) reads
/// it, the `number`th of its lab. Returns the entry of each machine, by name, in which the members are named one by one.
///
/// # Errors
/// What is wrong with the file or with the entry, or how the nodes cannot be placed.
pub fn split_partition(
    text: &str,
    file: &str,
    settings: &placement::Settings,
    (entry, number): (&str, usize),
) -> Result<BTreeMap<String, String>, Undivided> {
    let wrong = |error: &Diagnostic| Undivided::Settings(format!("partition: {}", error.message()));
    let lab = parse(text, file).map_err(Undivided::Refused)?;
    let root = Node::empty();
    let placement = placement::place(&lab.plan, settings).map_err(Undivided::Misplaced)?;
    let ground = Ground::of(&root, &lab.plan, &placement, BTreeMap::new());
    let item = yaml::parse(entry).map_err(|errors| {
        let unread =
            || Undivided::Settings("partition: this is no YAML: write for example `{partition: [[a], [b]]}`".into());
        errors.first().map_or_else(unread, wrong)
    })?;
    let divided = partitions::by_hand(&ground, &item, number).map_err(|error| wrong(&error))?;
    Ok(divided.into_iter().map(|(place, node)| (ground.machine(place).to_owned(), file_of(&node))).collect())
}

/// The file at its first point, with all that it generates.
fn whole(text: &str, file: &str) -> Result<Node, Vec<Diagnostic>> {
    let root = yaml::parse(text)?;
    let mut errors = Errors::in_folder(Path::new(file).parent().unwrap_or(Path::new("")));
    let first = vary::first(&root, &mut errors).map_err(|(wrong, _)| wrong)?;
    let root = first.map_or(root, |first| first.root);
    let expanded = generate::expand(&root, &mut errors);
    if !errors.is_empty() {
        return Err(errors.into_entries());
    }
    Ok(expanded.map_or(root, |expanded| expanded.root))
}

/// Checks names and addresses of machines.
fn check_settings(plan: &Plan, placement: &Placement, settings: &SplitSettings) -> Result<(), String> {
    let names: Vec<&str> = placement.machines.iter().map(|share| share.machine.name.as_str()).collect();
    if let Some(other) = settings.addresses.keys().find(|name| !names.contains(&name.as_str())) {
        return Err(format!("there is no machine `{other}`: there are {}", names.join(", ")));
    }
    for name in &names {
        let own = format!("{}-{name}", plan.name);
        check_name(&own).map_err(|wrong| format!("{wrong}; the parts are called by the lab and the machine"))?;
    }
    Ok(())
}

/// Returns the notes for whoever plays the parts.
fn notes(ground: &Ground<'_>, settings: &SplitSettings, first: Option<&str>) -> Vec<String> {
    let mut notes: Vec<String> = first.map(str::to_owned).into_iter().collect();
    notes.extend(ground.placement.misfits.iter().cloned());
    let mut unknown = BTreeSet::new();
    for crossing in &ground.placement.crossing {
        let names = crossing.machines.map(|place| ground.machine(place));
        unknown.extend(names.into_iter().filter(|name| !settings.addresses.contains_key(*name)));
    }
    for name in unknown {
        let placeholder = network::placeholder(name);
        notes.push(format!(
            "write the address of machine {name} for `{placeholder}`, or give it by `--address {name}=…`"
        ));
    }
    notes
}

/// A key of the file with its place, for errors.
fn entry<'a>(root: &'a Node, name: &str) -> Option<&'a Entry> {
    root.entries().iter().find(|entry| entry.name == name)
}

/// Why something of the plan is refused: at the entry of a node or link, or at the whole file.
fn at_entry(root: &Node, section: &str, name: &str, message: String) -> Diagnostic {
    let place = root.value(section).and_then(|all| entry(all, name));
    match place {
        Some(place) => place.error(message),
        None => {
            let span = root.value(section).map_or(root.span, |all| all.head);
            Spanned { value: (), span, key: format!("{section}.{name}") }.error(message)
        }
    }
}

/// Whether parts can be played at all.
fn keeps_real_time(plan: &Plan) -> bool {
    plan.clock == Clock::Real
}

#[cfg(test)]
mod tests;
