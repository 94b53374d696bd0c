//! The comparison: paths without Netloom, made by the scripts beside this crate.

use crate::Settings;
use crate::bare::JOIN;
use crate::lab::output;
use std::process::Command;

/// The other node's address on a plain veth pair.
pub(crate) const SERVER: &str = "10.78.0.2";
/// The address of the last node of a chain.
pub(crate) const LAST: &str = "10.79.255.2";

/// What a path without Netloom is called beside one with it.
pub(crate) const VETH: &str = "plain veth";
pub(crate) const BARE: &str = "the bare loop";

/// Runs a shell command on one end of a plain veth pair.
pub(crate) fn shell(settings: &Settings, script: &str) -> Result<String, String> {
    output(Command::new(&settings.plain_veth).arg(script))
}

/// Runs a shell command on the first node of a chain of routers joined by plain veth pairs.
pub(crate) fn chain(settings: &Settings, routers: u32, script: &str) -> Result<String, String> {
    output(Command::new(&settings.plain_chain).arg(routers.to_string()).arg(script))
}

/// The same, joined by the bare loop instead.
pub(crate) fn joined(settings: &Settings, routers: u32, script: &str) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    let loop_of = format!("{} {JOIN}", program.display());
    output(Command::new(&settings.plain_chain).arg(routers.to_string()).arg(script).arg(loop_of))
}
