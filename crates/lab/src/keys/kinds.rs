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

/// The capabilities that root of a node does not have unless the lab file gives them to it: by these it would act on the whole machine.
/// Their names are those of capabilities(7), in lower case and without `CAP_`.
pub const WITHHELD: [&str; 13] = [
    "audit_control",
    "audit_read",
    "block_suspend",
    "mac_admin",
    "mac_override",
    "mknod",
    "sys_boot",
    "sys_module",
    "sys_rawio",
    "sys_time",
    "sys_tty_config",
    "syslog",
    "wake_alarm",
];
