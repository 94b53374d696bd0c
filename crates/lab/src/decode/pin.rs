//! The processors that nodes run on.

use crate::diagnostics::Diagnostic;
use crate::plan::PinPlan;
use crate::yaml::{Content, Node};
use std::collections::BTreeSet;

/// A processor, several from one to another, or a list of both.
pub(super) fn pin(node: &Node) -> Result<PinPlan, Diagnostic> {
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
