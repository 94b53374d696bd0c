//! The comparison: paths without Netloom, made by the scripts beside this crate.

use crate::bare::JOIN;
use crate::bare::hold::Hold;
use crate::lab::output;
use crate::settings::Settings;
use std::process::Command;

/// The other node's address on a plain veth pair.
pub(crate) const SERVER: &str = "10.78.0.2";
/// Its namespace.
pub(crate) const OTHER_OF_PAIR: &str = "ip netns exec b";
/// The address of the last node of a chain.
pub(crate) const LAST: &str = "10.79.255.2";

/// What a path without Netloom is called beside one with it.
pub(crate) const VETH: &str = "plain veth";
pub(crate) const BRIDGE: &str = "a bridge made by ip";
pub(crate) const BARE: &str = "the bare loop";
pub(crate) const APART: &str = "a bare loop and translated addresses at each";
pub(crate) const HOLDING: &str = "the bare loop that holds frames";
/// Room for as much on its way as a lab's nodes have it that are to carry much: a script's first command.
pub(crate) const ROOMY: &str = "for node in n0 n1; do ip netns exec $node sh -c \
     'cd /proc/sys/net/ipv4; echo 4096 131072 134217728 > tcp_rmem; echo 4096 65536 134217728 > tcp_wmem'; done";
/// The other node's namespace where the bare loop joins two.
pub(crate) const OTHER: &str = "ip netns exec n1";

/// Runs a shell command on one end of a plain veth pair.
pub(crate) fn shell(settings: &Settings, script: &str) -> Result<String, String> {
    output(Command::new(&settings.plain_veth).arg(script))
}

/// The same where a bridge is between the two, made by iproute2.
pub(crate) fn bridged(settings: &Settings, script: &str) -> Result<String, String> {
    output(Command::new(&settings.plain_veth).args([script, "bridge"]))
}

/// Runs a shell command on the first node of a chain of routers joined by plain veth pairs.
pub(crate) fn chain(settings: &Settings, routers: u32, script: &str) -> Result<String, String> {
    output(Command::new(&settings.plain_chain).arg(routers.to_string()).arg(script))
}

/// The same, joined by the bare loop instead.
pub(crate) fn joined(settings: &Settings, routers: u32, script: &str) -> Result<String, String> {
    let loop_of = format!("{} {JOIN}", program()?);
    output(Command::new(&settings.plain_chain).arg(routers.to_string()).arg(script).arg(loop_of))
}

/// The same with a bare loop for each link, in a process of its own, and addresses that each node translates.
pub(crate) fn joined_apart(settings: &Settings, routers: u32, script: &str) -> Result<String, String> {
    let loop_of = format!("{} {JOIN}", program()?);
    output(Command::new(&settings.plain_chain).arg(routers.to_string()).args([script, &loop_of, "apart"]))
}

/// Two nodes, joined by the bare loop that holds frames. Where it spins, programs keep off its processor, as they do in a
/// lab with `precision: exact`.
pub(crate) fn held(settings: &Settings, hold: Hold, script: &str) -> Result<String, String> {
    let loop_of = format!("{} {JOIN} {}", program()?, hold.word());
    let spins = hold.spins() && hold.processor > 0;
    let mut command = Command::new(if spins { "taskset".as_ref() } else { settings.plain_chain.as_os_str() });
    if spins {
        command.args(["-c", &format!("0-{}", hold.processor - 1)]).arg(&settings.plain_chain);
    }
    output(command.args(["0", script, &loop_of]))
}

/// This program, which is both loop and probe.
pub(crate) fn program() -> Result<String, String> {
    let path = std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    Ok(path.display().to_string())
}
