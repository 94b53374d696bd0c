//! The machines among which a lab may be divided.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::fields::{Fields, map};
use crate::forms::{Filled, List, forms};
use crate::keyed::{Keyed, sections};
use crate::plan::{Cpus, MachinePlan};
use crate::scalar::{cpus, filled, quantity};
use crate::section::{Kind, Quantity};
use crate::yaml::{Content, Node};
use netloom_units::Bytes;

/// Names of machines.
pub(crate) const MACHINE_NAME: &str = "^[a-z][a-z0-9-]{0,15}$";

forms! {
    /// The name of one of the machines.
    pub(crate) struct MachineName = String, Kind::Text(MACHINE_NAME), machine_name;
}

sections! {
    /// A machine that plays a part of the lab.
    pub(crate) struct MachineKeys = "machine" {
        /// The resources that the lab may use, as Ray counts them. Default: it is not known, and taken to be as much as the other machines have.
        resources = Kind::Section(&RESOURCES), "{CPU: 4, memory: 8 GB}";
        /// The container images that are there: nodes with another one are put elsewhere. Default: any.
        images: List<Filled>, "[\"debian\"]";
    }

    /// The resources of a machine that a lab may use.
    pub(crate) const RESOURCES = "resources" {
        /// How many processors, to a thousandth.
        CPU = Kind::Positive, "4";
        /// How much memory.
        memory = Kind::Quantity(Quantity::Size), "8 GB";
    }
}

/// Machines by name.
pub(crate) const MACHINES: Kind = Kind::Map { names: MACHINE_NAME, values: &Kind::Optional(&MachineKeys::SECTION) };

/// All machines that can be read, and whether others could not be.
pub(super) fn machines(node: &Node, errors: &mut Errors) -> Vec<Spanned<MachinePlan>> {
    const WANTED: &str = "a map of the machines, for example {a: {resources: {CPU: 4}}, b: {}}";
    let Some(entries) = map(node, WANTED, errors) else { return Vec::new() };
    if entries.is_empty() {
        errors.push(node.error("there is no machine in this map: write for example {a: {}, b: {}}, or leave it out"));
    }
    if entries.len() > MachinePlan::MOST {
        errors.push(node.error(format!("a lab is divided among {} machines at most", MachinePlan::MOST)));
        return Vec::new();
    }
    let mut machines = Vec::new();
    for entry in entries {
        let name = entry.named();
        errors.extend(wrong_name(&name.value).map(|wrong| name.error(wrong)));
        let plan = machine(&entry.value, errors).unwrap_or_default();
        let value = MachinePlan { line: name.span.line, name: name.value, ..plan };
        machines.push(Spanned { value, span: name.span, key: name.key });
    }
    machines
}

fn machine(node: &Node, errors: &mut Errors) -> Option<MachinePlan> {
    if node.content == Content::Empty {
        return None;
    }
    let fields = Fields::open(node, &MachineKeys::SECTION, errors)?;
    let MachineKeys { images } = MachineKeys::read_keys(&fields, errors)?;
    let resources = fields.get("resources").and_then(|inner| resources(inner, errors));
    let (cpus, memory) = resources.unwrap_or_default();
    Some(MachinePlan { cpus, memory, images, ..MachinePlan::default() })
}

fn resources(node: &Node, errors: &mut Errors) -> Option<(Option<Cpus>, Option<Bytes>)> {
    let fields = Fields::open(node, &RESOURCES, errors)?;
    Some((fields.read("CPU", cpus, errors), fields.read("memory", memory, errors)))
}

fn memory(node: &Node) -> Result<Bytes, Diagnostic> {
    let size: Bytes = quantity(node)?;
    if size == Bytes::new(0) {
        return Err(node.error("a machine without memory plays nothing: write for example 8 GB"));
    }
    Ok(size)
}

/// The fault of a machine's name.
fn wrong_name(name: &str) -> Option<String> {
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    let goes_on = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    (!begins || !goes_on || name.len() > 16).then(|| {
        format!(
            "`{name}` cannot name a machine: begin with a letter of a-z, go on with these, digits and -, 16 at most"
        )
    })
}

fn machine_name(node: &Node) -> Result<String, Diagnostic> {
    let name = filled(node)?;
    wrong_name(&name).map_or(Ok(name), |wrong| Err(node.error(wrong)))
}
