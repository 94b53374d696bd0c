//! Shapes: pipes for traffic of the machine itself, without nodes.
//!
//! A shape is a lab that is up, whose plan has one link between two nodes of the kind `outside` and a diversion. So
//! control socket, changes, statistics, table and verdict are those of labs.

mod matching;

pub use matching::{Match, Owner, Owners, write_match};

use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keyed::sections;
use crate::keys::DIRECTION;
use crate::models::words;
use crate::models::{self, ChangeError, KEYS};
use crate::plan::{DiversionPlan, NodeKind};
use crate::profiles::{Base, PROFILE_NAMES};
use crate::scalar::word;
use crate::section::{Form, Kind};
use crate::{Plan, Span, input_files, names, parse, yaml};
use netloom_link::PipeConfig;
use netloom_units::Bytes;
use std::path::Path;

/// Traffic of this machine, and the pipes that it goes through.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The packets that go forward; those with source and destination exchanged go backward.
    pub matching: Match,
    /// Whether nothing goes backward: the answers stay as they are.
    pub is_one_way: bool,
    /// The pipes forward and backward.
    pub pipes: [PipeConfig; 2],
}

sections! {
    /// Traffic of this machine, and the pipes that it goes through.
    const SHAPE = "shape" {
        /// Which packets go forward.
        match = matching::Matching::KIND, required "{to: 10.1.0.0/16}";
        /// Whether the answers stay as they are. Default: they go backward.
        one_way = Kind::Word(&["true", "false"]), "true";
        /// What differs for what matches.
        forward = Kind::Section(&DIRECTION), "{rate: 16 Mbit/s}";
        /// What differs for the answers.
        backward = Kind::Section(&DIRECTION), "{rate: 1 Mbit/s}";
        /// A typical link by name, whose keys hold where no other key says something else: forward is the uplink. Default: none.
        profile = Kind::Word(&PROFILE_NAMES), "dsl";
        ..KEYS;
    }
}

/// The name of the link whose pipes they are, and its ends.
pub const SHAPE_LINK: &str = "pipe";
/// Chains of the firewall have names of 28 bytes at most, and theirs say whose they are.
const LONGEST_NAME: usize = 20;
const NODES: [&str; 2] = ["from", "to"];

impl Shape {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// All errors in it, or why it could not be read.
    pub fn load(path: &Path) -> Result<Self, Diagnostics> {
        let file = path.display().to_string();
        let failed = |text: &str, errors| Diagnostics::new(&file, text, Severity::Error, errors);
        let text =
            input_files::read_lab(path).map_err(|why| failed("", vec![Diagnostic::new(Span::default(), "", why)]))?;
        let root = yaml::parse(&text).map_err(|errors| failed(&text, errors))?;
        let mut errors = Errors::in_folder(path.parent().unwrap_or(Path::new("")));
        match decode(&root, &mut errors) {
            Some(shape) if errors.is_empty() => Ok(shape),
            _ => Err(failed(&text, errors.into_entries())),
        }
    }

    /// The file that says the same.
    pub fn text(&self) -> String {
        let direction = |config: &PipeConfig| {
            let keys: Vec<String> =
                models::written(config).into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
            format!("{{{}}}", keys.join(", "))
        };
        let [forward, backward] = self.pipes.each_ref().map(direction);
        let filter = write_match(&self.matching);
        let one_way = if self.is_one_way { "one_way: true\n" } else { "" };
        format!("match: {filter}\n{one_way}forward: {forward}\nbackward: {backward}\n")
    }

    /// The plan of a lab that has nothing but these pipes.
    ///
    /// # Errors
    /// A name that no lab can have, or a pipe whose models do not fit together: the key, and why.
    pub fn plan(&self, name: &str) -> Result<Plan, ChangeError> {
        names::check_name(name).map_err(ChangeError::new)?;
        if name.len() > LONGEST_NAME {
            let message = format!("\"{name}\" is too long: shapes have names of {LONGEST_NAME} characters at most");
            return Err(ChangeError::new(message));
        }
        let [from, to] = NODES;
        let text = format!(
            "name: \"{name}\"\nshards: 1\nnodes: {{{from}: {{kind: hub}}, {to}: {{kind: hub}}}}\nlinks: {{{SHAPE_LINK}: {{ends: [{from}, {to}]}}}}\n"
        );
        let lab = parse(&text, name).map_err(|wrong| ChangeError::new(wrong.to_string()))?;
        let mut plan = lab.plan;
        for node in &mut plan.nodes {
            node.kind = NodeKind::Outside;
        }
        for link in &mut plan.links {
            let mtu = Bytes::new(u64::from(link.mtu));
            let misfit = self.pipes.iter().find_map(|pipe| pipe.check(mtu).err());
            misfit.map_or(Ok(()), |wrong| Err(ChangeError::new(wrong.to_string())))?;
            link.pipes.clone_from(&self.pipes);
        }
        plan.diversion =
            Some(DiversionPlan { matching: self.matching.clone(), is_one_way: self.is_one_way, queue: None });
        Ok(plan)
    }
}

fn decode(root: &yaml::Node, errors: &mut Errors) -> Option<Shape> {
    let fields = Fields::open(root, &SHAPE, errors)?;
    let base = Base::read(&fields, errors);
    let both = base.change(&fields, errors);
    let pipes = [(0, "forward"), (1, "backward")].map(|(way, direction)| {
        let own = fields.get(direction).and_then(|inner| Fields::open(inner, &DIRECTION, errors));
        if let Some(further) = own.as_ref().and_then(|own| own.get("pipes")) {
            errors.push(further.error("a shape has one pipe in each direction: add another shape for other traffic"));
        }
        let change = own.map(|own| base.change(&own, errors)).unwrap_or_default();
        base.with(way, &both, &change)
    });
    let matching = fields.get("match").and_then(|inner| matching::decode(inner, errors))?;
    let is_one_way = fields.read("one_way", |value| word(value, &[("true", true), ("false", false)]), errors);
    Some(Shape { matching, is_one_way: is_one_way.unwrap_or(false), pipes })
}

/// The match that words describe as people say it, `to 10.1.0.0/16 tcp port 443`, or as a lab file has it, in braces.
///
/// # Errors
/// A word that is not known, or a value that is not one of its kind.
///
/// ```
/// use netloom_lab::{parse_match, write_match};
/// let matching = parse_match("to 10.1.0.0/16 tcp port 80,443 user alice")?;
/// assert_eq!(write_match(&matching), "{to: 10.1.0.0/16, protocol: tcp, port: [80, 443], user: alice}");
/// # Ok::<(), netloom_lab::ChangeError>(())
/// ```
pub fn parse_match(text: &str) -> Result<Match, ChangeError> {
    let mut errors = Errors::default();
    let node = words::node(text).map_err(|why| ChangeError::new(format!("match: {why}")))?;
    let matching = matching::decode(&node, &mut errors);
    matching.ok_or_else(|| ChangeError::new(format!("match: {}", words::first_of(&errors.into_entries()))))
}

#[cfg(test)]
mod tests;
