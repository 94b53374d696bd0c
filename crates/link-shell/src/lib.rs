//! A command behind a link, without a lab: no guard, no control socket, no results folder. This crate knows no session.

mod link_shell;

pub use link_shell::{LinkLog, LinkShellEnd, LinkShellRequest, link_shell};
