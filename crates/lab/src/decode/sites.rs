//! `cells` and `handover` of a medium of kind cell: the sites of its base station, and when terminals change between them.

use super::measures::{Db, Dbm, Place, Ratio};
use super::surroundings::Aerial;
use crate::diagnostics::Spanned;
use crate::errors::Errors;
use crate::fields::{Fields, map};
use crate::forms::{AboveZero, OrZero, Whole};
use crate::keyed::{Keyed, sections};
use crate::kinds::NODE_NAME;
use crate::section::{Form, Kind};
use crate::spec::SiteSpec;
use crate::yaml::{Entry, Node};
use netloom_radio::HandoverRule;
use netloom_units::Duration;

pub(super) const SITES: Kind = Kind::Map { names: NODE_NAME, values: &SiteKeys::KIND };

sections! {
    /// A cell of the base station: from where it sends, and how.
    pub(crate) struct SiteKeys = "cell_site" {
        /// Where its antenna is.
        position: Place, required "[800 m, 0 m, 25 m]";
        /// The power on all blocks together, without the gain of its antenna. Default: that of the signals.
        power: Dbm, "46 dBm";
        /// Its antenna. Default: equal in all directions, 0 dB.
        antenna: Aerial, "{gain: 14 dB, azimuth: 90, width: 65}";
        /// The number of its carrier: cells with the same one interfere. Default: 1.
        carrier: Whole<u32, 1, 1_000>, "2";
    }

    /// When a terminal goes to another cell (event A3), and what that costs.
    pub(crate) struct RuleKeys = "cell_handover" {
        /// By how much the other cell has to be stronger. Default: 3 dB.
        offset: Ratio, "2 dB";
        /// What comes on top of that. Default: 1 dB.
        hysteresis: Db, "1 dB";
        /// For how long all measurements must show it. Default: 160 ms.
        time_to_trigger: OrZero<Duration>, "320 ms";
        /// The time from one measurement to the next, a multiple of the slot. Default: 40 ms.
        measure: AboveZero<Duration>, "200 ms";
        /// The coefficient k of the filter of measurements; 0 is none. Default: 4.
        filter: Whole<u32, 0, 19>, "0";
        /// For how long nothing is sent. Default: 50 ms.
        gap: OrZero<Duration>, "30 ms";
        /// Whether the old cell hands on what waits for the terminal; otherwise that is lost. Default: true.
        forwarding: bool, "false";
    }
}

/// The sites by their names.
pub(super) fn sites(node: &Node, errors: &mut Errors) -> Vec<(Spanned<String>, SiteSpec)> {
    let entries = map(node, "cells: a map like `{north: {position: [0 m, 0 m, 25 m]}}`", errors).unwrap_or_default();
    let read = |entry: &Entry| {
        let fields = Fields::open(&entry.value, &SiteKeys::SECTION, errors)?;
        let keys = SiteKeys::read_keys(&fields, errors)?;
        let (power, antenna, carrier) = (keys.power, keys.antenna.unwrap_or_default(), keys.carrier.unwrap_or(1));
        Some((entry.named(), SiteSpec { position: keys.position, power, antenna, carrier }))
    };
    entries.iter().filter_map(read).collect()
}

/// The rule for handovers.
pub(super) fn rule(keys: Option<&RuleKeys>) -> HandoverRule {
    let usual = HandoverRule::default();
    let Some(keys) = keys else { return usual };
    HandoverRule {
        offset: keys.offset.unwrap_or(usual.offset),
        hysteresis: keys.hysteresis.unwrap_or(usual.hysteresis),
        trigger: keys.time_to_trigger.unwrap_or(usual.trigger),
        period: keys.measure.unwrap_or(usual.period),
        filter: keys.filter.unwrap_or(usual.filter),
        gap: keys.gap.unwrap_or(usual.gap),
        forwards: keys.forwarding.unwrap_or(usual.forwards),
    }
}
