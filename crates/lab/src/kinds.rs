//! The names and kinds of values that many keys have.

use crate::section::{Kind, Named};

pub(crate) const NODE_NAME: &str = Named::Node.pattern();
/// A node's name, or a pattern of them.
pub(crate) const NODES_NAME: &str = "^[a-zA-Z*][a-zA-Z0-9*-]{0,30}$";
pub(crate) const LINK_NAME: &str = Named::Link.pattern();
pub(crate) const COMMAND_NAME: &str = Named::Command.pattern();
pub(crate) const USER_NAME: &str = "^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,31}$";
pub(crate) const VARIABLE_NAME: &str = "^[a-zA-Z_][a-zA-Z0-9_]*$";
pub(crate) const SYSCTL_NAME: &str = "^net[./][a-zA-Z0-9_./-]+$";
pub(crate) const PORT: &str = "^[1-9][0-9]{0,4}(/udp)?$";
pub(crate) const CONGESTION_NAME: &str = "^[a-z0-9_]{1,15}$";
pub(crate) const MAC: &str = "^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$";
pub(crate) const ADDRESS: &str = "^[0-9a-fA-F.:]+/[0-9]{1,3}$";
pub(crate) const NODE_REFERENCE: Kind = Kind::Name(Named::Node);
pub(crate) const LINK_REFERENCE: Kind = Kind::Name(Named::Link);
pub(crate) const COMMAND_REFERENCE: Kind = Kind::Name(Named::Command);
pub(crate) const PIPE_REFERENCE: Kind = Kind::Name(Named::Pipe);
pub(crate) const ENVIRONMENT: Kind = Kind::Map { names: VARIABLE_NAME, values: &Kind::Scalar };
/// Some of them, by their names.
pub(crate) const VARIABLE_NAMES: Kind = Kind::list(&Kind::Text(VARIABLE_NAME), 0);

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
