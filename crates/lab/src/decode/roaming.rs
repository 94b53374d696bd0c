//! `access_points` and `roaming` of a medium of kind wifi: a network with several access points, and when stations go from one to another.

use super::measures::{Db, Dbm};
use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::forms::{AboveZero, OrZero, Whole, forms};
use crate::keyed::sections;
use crate::scalar::quantity;
use crate::section::Kind;
use crate::yaml::Node;
use netloom_radio::RoamingRule;
use netloom_units::Duration;

sections! {
    /// When a station goes from one access point to another, and what that costs.
    pub(crate) struct RoamingKeys = "wifi_roaming" {
        /// The power of its own access point below which a station looks for another one. Default: -70 dBm.
        below: Dbm, "-75 dBm";
        /// How much stronger the other one has to be. Default: 8 dB.
        hysteresis: Db, "5 dB";
        /// For how long all beacons must show it. Default: 300 ms.
        time: OrZero<Duration>, "1 s";
        /// The time from one beacon to the next, at which stations look. Default: that of the medium's beacons, 102.4 ms if it has none.
        beacons: AboveZero<Duration>, "100 ms";
        /// So many beacons in a row that a station does not hear end its association. Default: 7.
        lost_after: Whole<u32, 1, 1_000>, "20";
        /// For how long a station is off the air when it goes. Default: 50 ms.
        gap: OrZero<Duration>, "300 ms";
    }
}

forms! {
    /// The time from one beacon to the next, or none.
    pub(crate) struct Beacons = Option<Duration>, Kind::OneOf(&[Duration::KIND, Kind::Word(&["none"])]), interval;
}

/// A time unit of 802.11, and the most of them that a beacon can state.
const LEAST: Duration = Duration::from_micros(1_024);
const MOST: Duration = Duration::from_micros(1_024 * 65_535);

fn interval(node: &Node) -> Result<Option<Duration>, Diagnostic> {
    if node.plain() == Some("none") {
        return Ok(None);
    }
    let said: Duration = quantity(node)?;
    if said < LEAST || said > MOST {
        return Err(node.error(format!("beacons come every {LEAST} to {MOST}: write for example 102.4 ms, or none")));
    }
    Ok(Some(said))
}

/// The rule for roaming. Stations look at the beacons that are on the air, if there are any.
pub(super) fn rule(keys: Option<&RoamingKeys>, beacons: Option<Duration>) -> RoamingRule {
    let plain = RoamingRule::default();
    let usual = RoamingRule { beacon: beacons.unwrap_or(plain.beacon), ..plain };
    let Some(keys) = keys else { return usual };
    RoamingRule {
        below: keys.below.unwrap_or(usual.below),
        hysteresis: keys.hysteresis.unwrap_or(usual.hysteresis),
        trigger: keys.time.unwrap_or(usual.trigger),
        beacon: keys.beacons.unwrap_or(usual.beacon),
        lost_after: keys.lost_after.unwrap_or(usual.lost_after),
        gap: keys.gap.unwrap_or(usual.gap),
    }
}

/// The error of a key that belongs to several access points where there are none.
pub(super) const ALONE: &str =
    "it belongs to several access points: write `access_points: [ap1, ap2]`, or leave it out";

/// Errors about keys of several access points where there are none, or where they cannot be.
pub(super) fn check(fields: &Fields<'_>, is_radio: bool, errors: &mut Errors) {
    if fields.get("access_points").is_none() {
        return fields.refuse([("roaming", ALONE)], errors);
    }
    if !is_radio {
        let why = "between several access points signals decide: write `access: radio`, or `access_point` for one";
        fields.refuse([("access_points", why)], errors);
    }
    fields.refuse([("access_point", "write one of `access_point` and `access_points`")], errors);
}
