//! The clock.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::forms::forms;
use crate::keyed::{Keyed, sections};
use crate::plan::Clock;
use crate::scalar::word;
use crate::section::Kind;
use crate::yaml::{Content, Node};
use netloom_units::{Dilation, ParseError};

forms! {
    pub(crate) struct Factor = Dilation, Kind::Number { least: 1, most: Dilation::MOST }, dilation;
}

sections! {
    /// Lab time that is slower than wall time.
    pub(crate) struct Dilated = "clock" {
        /// How many seconds of wall time a second of lab time lasts: 1 to 10000, with up to six decimals.
        dilation: Factor, required "2.5";
    }
}

/// How lab time passes; none after an error was noted.
pub(super) fn decode(node: &Node, errors: &mut Errors) -> Option<Clock> {
    match &node.content {
        Content::Map(_) => Dilated::open(node, errors).map(|clock| Clock::Dilated(clock.dilation)),
        Content::Text { .. } => keep(named(node), errors),
        Content::List(_) | Content::Empty => {
            errors.push(node.expected("real, virtual or for example `{dilation: 10}`"));
            None
        }
    }
}

fn named(node: &Node) -> Result<Clock, Diagnostic> {
    let text = node.text().unwrap_or_default();
    if let Ok(factor) = text.parse::<Dilation>() {
        return Err(node.error(format!("a dilation is written `clock: {{dilation: {factor}}}`")));
    }
    if ["dilated", "dilation"].contains(&text) {
        return Err(node.error(format!("`{text}` by how much? Write for example `clock: {{dilation: 10}}`")));
    }
    let error = |wrong: Diagnostic| node.error(format!("{}, or for example `{{dilation: 10}}`", wrong.message()));
    word(node, &[("real", Clock::Real), ("virtual", Clock::Virtual)]).map_err(error)
}

fn dilation(node: &Node) -> Result<Dilation, Diagnostic> {
    let text = node.plain().ok_or_else(|| node.expected("a number without quotes, for example 10"))?;
    text.parse().map_err(|error: ParseError| node.error(error.to_string()))
}
