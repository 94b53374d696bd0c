//! Mobile nodes as a script describes them: their radios and their trips.

use netloom_units::Duration;
use std::collections::BTreeMap;

/// Where a mobile node goes.
#[derive(Clone, Debug)]
pub(super) struct Trip {
    pub(super) at: Duration,
    pub(super) to: [f64; 2],
    pub(super) speed: f64,
}

/// The radio of a node: the name of its channel, its queue and its path loss.
#[derive(Clone, Debug)]
pub(super) struct RadioOf {
    pub(super) channel: String,
    pub(super) loss: String,
    pub(super) queue: Option<u32>,
}

/// The options that a script has configured for nodes that are made from now on.
#[derive(Debug, Default)]
pub(super) struct Configured {
    pub(super) options: BTreeMap<String, String>,
}

impl Configured {
    /// The radio of a node that is made now, if it has one.
    pub(super) fn radio(&self) -> Option<RadioOf> {
        let option = |name: &str| self.options.get(name).filter(|said| !said.is_empty());
        let channel = option("-channel").or_else(|| option("-channelType"))?.clone();
        let loss = option("-propType").cloned().unwrap_or_default();
        Some(RadioOf { channel, loss, queue: option("-ifqLen").and_then(|length| length.parse().ok()) })
    }
}
