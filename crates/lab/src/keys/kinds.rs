//! The kinds of values that many keys have.

use super::{Kind, LINK_NAME, NODE_NAME, Quantity, VARIABLE_NAME};

pub(crate) const DURATION: Kind = Kind::Quantity(Quantity::Duration);
pub(crate) const DURATION_OR_ZERO: Kind = Kind::OneOf(&[DURATION, Kind::Zero]);
pub(crate) const SHARE: Kind = Kind::Quantity(Quantity::Probability);
/// A share, or zero.
pub(crate) const SHARE_OR_ZERO: Kind = Kind::OneOf(&[SHARE, Kind::Zero]);
pub(crate) const NODE_REFERENCE: Kind = Kind::Text(NODE_NAME);
pub(crate) const LINK_REFERENCE: Kind = Kind::Text(LINK_NAME);
pub(crate) const ENVIRONMENT: Kind = Kind::Map { names: VARIABLE_NAME, values: &Kind::Scalar };
/// Some of them, by their names.
pub(crate) const VARIABLE_NAMES: Kind = Kind::List { items: &Kind::Text(VARIABLE_NAME), least: 0, most: None };
