//! The error of a node's clock.

use crate::errors::Errors;
use crate::forms::{OrZero, forms};
use crate::keyed::{Keyed, sections};
use crate::plan::NodeClock;
use crate::section::Kind;
use crate::yaml::{Content, Node};
use netloom_units::{Drift, SignedDuration};

sections! {
    /// The error of a node's clock (CLOCK_REALTIME), which programs of the node may correct.
    struct NodeClockKeys = "node_clock" {
        /// By how much it is fast from the start; slow with a minus sign. Default: 0 s.
        skew: SignedDuration, "-40 ms";
        /// How much faster than lab time it runs from time zero on; slower with a minus sign. At most 10 %. Default: 0.
        drift: OrZero<Drift>, "200 ppm";
    }
}

forms! {
    /// The error of a node's clock.
    pub(crate) struct ClockError = NodeClock, Kind::Section(&NodeClockKeys::SECTION), noting node_clock;
}

fn node_clock(node: &Node, errors: &mut Errors) -> Option<NodeClock> {
    if let Content::Text { .. } = node.content {
        let message = "the error of a node's clock is a map like `{skew: -40 ms, drift: 200 ppm}`; how lab time passes is the same for \
                       all nodes: write that `clock` beside `nodes`";
        errors.push(node.error(message));
        return None;
    }
    let NodeClockKeys { skew, drift } = NodeClockKeys::open(node, errors)?;
    Some(NodeClock { skew: skew.unwrap_or_default(), drift: drift.unwrap_or_default() })
}
