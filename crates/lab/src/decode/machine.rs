//! What a node computes with: memory, processors, and the congestion control of its kernel.

use crate::diagnostics::Diagnostic;
use crate::forms::forms;
use crate::kinds::CONGESTION_NAME;
use crate::plan::{Cpus, PinPlan};
use crate::scalar::{cpus, quantity, text};
use crate::section::Kind;
use crate::yaml::{Content, Node};
use netloom_units::Bytes;
use std::collections::BTreeSet;

/// The number of a processor, or several from one to another.
const PROCESSORS: Kind =
    Kind::OneOf(&[Kind::Integer { least: 0, most: 1023 }, Kind::Text("^[0-9]{1,4}(-[0-9]{1,4})?$")]);

forms! {
    /// The memory of a kernel.
    pub(crate) struct Memory = Bytes, Bytes::KIND, memory;
    /// The room for core dumps.
    pub(crate) struct Dumps = Bytes, Bytes::KIND, dumps;
    /// A share of processor time, in cores.
    pub(crate) struct Cores = Cpus, Kind::Positive, cpus;
    /// Processors of this machine.
    pub(crate) struct Processors = PinPlan, Kind::OneOf(&[PROCESSORS, Kind::list(&PROCESSORS, 1)]), pin;
    /// The name of a congestion control.
    pub(crate) struct Congestion = String, Kind::Text(CONGESTION_NAME), congestion;
}

/// A kernel with less does not come up, or cannot start programs.
const LEAST_MEMORY: Bytes = Bytes::new(32_000_000);
/// More than any machine has: the user mistyped the unit.
const MOST_MEMORY: Bytes = Bytes::new(1_000_000_000_000);

/// A program that does nothing has a smaller dump.
const LEAST_DUMPS: Bytes = Bytes::new(100_000);
/// What leaves a node at once has room for so much (`MOST_BYTES` of `host::archive`).
const MOST_DUMPS: Bytes = Bytes::new(250_000_000);

fn dumps(node: &Node) -> Result<Bytes, Diagnostic> {
    match quantity::<Bytes>(node)? {
        size if (LEAST_DUMPS..=MOST_DUMPS).contains(&size) => Ok(size),
        _ => Err(node.error(format!(
            "this is the room for the core dumps of a node, in its memory: write {LEAST_DUMPS} to {MOST_DUMPS}"
        ))),
    }
}

fn memory(node: &Node) -> Result<Bytes, Diagnostic> {
    let size = quantity(node)?;
    if size < LEAST_MEMORY {
        let text = node.text().unwrap_or_default();
        return Err(node.error(format!("with {text} no kernel starts programs: write {LEAST_MEMORY} or more")));
    }
    if size > MOST_MEMORY {
        let text = node.text().unwrap_or_default();
        return Err(node.error(format!("no machine has {text} for one node: write at most {MOST_MEMORY}")));
    }
    Ok(size)
}

fn congestion(node: &Node) -> Result<String, Diagnostic> {
    let name = text(node)?;
    let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if plain && (1..=15).contains(&name.len()) {
        return Ok(name);
    }
    Err(node
        .error(format!("\"{name}\" is not the name of a congestion control: write for example cubic, bbr or dctcp")))
}

/// A processor, several from one to another, or a list of both.
fn pin(node: &Node) -> Result<PinPlan, Diagnostic> {
    let mut all = BTreeSet::new();
    match &node.content {
        Content::List(items) if !items.is_empty() => {
            for item in items {
                all.extend(some(item)?);
            }
        }
        Content::Text { .. } => all.extend(some(node)?),
        _ => return Err(node.expected("the numbers of processors, for example 1, 2-3 or [0, 2-3]")),
    }
    Ok(PinPlan { line: node.span.line, processors: all.into_iter().collect() })
}

fn some(node: &Node) -> Result<std::ops::RangeInclusive<usize>, Diagnostic> {
    let text = node.text().ok_or_else(|| node.expected("the number of a processor, or several such as 2-3"))?;
    let number = |digits: &str| {
        let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|number| is_plain && *number <= PinPlan::MOST)
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err(node.error(format!(
            "\"{text}\" is not the number of a processor, 0 to {}, and not several such as 2-3",
            PinPlan::MOST
        ))),
    }
}
