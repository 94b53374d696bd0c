//! Which of this machine's packets are diverted to a lab: the conditions of a filter in the words of nftables and iptables, the users and groups
//! whose packets are meant, and the session of SSH that must never be. This crate makes no rules: whoever does so, asks here.

#![forbid(unsafe_code)]

pub mod conditions;
pub mod owners;
mod session;

pub use session::{SshSession, ssh_session};
