//! How lab time passes, and how wrong the clock of a node is.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::forms::{OrZero, forms};
use crate::keyed::{Keyed, sections};
use crate::plan::{Clock, NodeClock};
use crate::scalar::word;
use crate::section::Kind;
use crate::yaml::{Content, Node};
use netloom_units::{Dilation, Drift, ParseError, SignedDuration};

forms! {
    pub(crate) struct Factor = Dilation, Kind::Number { least: 1, most: Dilation::MOST }, dilation;
    /// The error of a node's clock.
    pub(crate) struct ClockError = NodeClock, NodeClock::KIND, noting node_clock;
}

sections! {
    /// Lab time that is slower than wall time.
    pub(crate) struct Dilated = "clock" {
        /// How many seconds of wall time a second of lab time lasts: 1 to 10000, with up to six decimals.
        dilation: Factor, required "2.5";
    }

    /// The error of a node's clock (CLOCK_REALTIME), which programs of the node may correct.
    read NodeClock = "node_clock" {
        /// By how much it is fast from the start; slow with a minus sign. Default: 0 s.
        skew: SignedDuration, "-40 ms";
        /// How much faster than lab time it runs from time zero on; slower with a minus sign. At most 10 %. Default: 0.
        drift: OrZero<Drift>, "200 ppm";
    }
}

/// How lab time passes; none after an error was noted.
pub(super) fn decode(node: &Node, errors: &mut Errors) -> Option<Clock> {
    match &node.content {
        Content::Map(_) => Dilated::open(node, errors).map(|clock| Clock::Dilated(clock.dilation)),
        Content::Text { .. } => keep(named(node), errors),
        Content::List(_) | Content::Empty => {
            errors.reject(node.expected("real, virtual or for example `{dilation: 10}`"))
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

fn node_clock(node: &Node, errors: &mut Errors) -> Option<NodeClock> {
    if let Content::Text { .. } = node.content {
        let message = "the error of a node's clock is a map like `{skew: -40 ms, drift: 200 ppm}`; how lab time passes is the same for \
                       all nodes: write that `clock` beside `nodes`";
        return errors.reject(node.error(message));
    }
    NodeClock::open(node, errors)
}
