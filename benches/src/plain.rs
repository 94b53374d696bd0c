//! The comparison: a plain veth pair without Netloom.

use crate::Settings;
use crate::lab::output;
use std::process::Command;

/// The other node's address.
pub(crate) const SERVER: &str = "10.78.0.2";

/// Runs a shell command on one end of a plain veth pair.
pub(crate) fn shell(settings: &Settings, script: &str) -> Result<String, String> {
    output(Command::new(&settings.plain_veth).arg(script))
}
