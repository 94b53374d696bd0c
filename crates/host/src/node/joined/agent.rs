//! The process that serves the lab in a container.

use std::fs::File;
use std::io::PipeWriter;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use super::undo::Undo;
use crate::capabilities::give_up;
use crate::error::{Attempted, KernelError};
use crate::kernel_views::protect_machine;
use crate::mount::attach;
use crate::netlink::Netlink;
use crate::node::agent::{Agent, Joined, watch_children};
use crate::node::config::NodeConfig;
use crate::node::packets::{receive, send};
use crate::node::protocol::{Identity, Reply, Request};
use crate::node::{configure, congestion};

/// Serves the lab until that is gone, or the container. `tell` leads to the keeper.
pub(super) fn run(joined: Joined, interfaces: &[String], control: OwnedFd, events: OwnedFd, tell: PipeWriter) -> i32 {
    let Ok(signals) = watch_children() else { return 1 };
    let prepared = settle_in(interfaces);
    let failed = prepared.is_err();
    let reply = prepared.map_or_else(Reply::Refused, |()| Reply::Prepared { notes: Vec::new() });
    if send(&control, &reply, &[]).is_err() || failed {
        return 1;
    }
    let Ok(Some((Request::Become(identity), hosts))) = receive(&control) else { return 1 };
    let Identity { config, .. } = *identity;
    let mut undo = Undo::new(tell);
    let became = prepare(&config, hosts, &mut undo);
    let is_node = became.is_ok();
    let answer = became.map_or_else(Reply::Refused, |notes| Reply::Prepared { notes });
    if send(&control, &answer, &[]).is_ok() && is_node {
        Agent::joined(&config, control, events, signals, joined).serve();
    }
    undo.put_back();
    0
}

/// Looks whether there is room for the lab's interfaces, and takes mounts of its own: what is shown there to the lab's programs, those of
/// the container do not see.
fn settle_in(interfaces: &[String]) -> Result<(), KernelError> {
    nix::sys::prctl::set_child_subreaper(true).attempted(|| "adopt what programs leave behind")?;
    let there = Netlink::open()?.links()?;
    if let Some(name) = interfaces.iter().find(|name| there.iter().any(|link| link.name == **name)) {
        return Err(KernelError::new(format!("add the interface {name}"), libc::EEXIST));
    }
    give_up(&[])?;
    unshare(CloneFlags::CLONE_NEWNS).attempted(|| "make a mount namespace")?;
    let (none, slave) = (None::<&str>, MsFlags::MS_REC | MsFlags::MS_SLAVE);
    mount(none, "/", none, slave, none).attempted(|| "keep mounts from the container")
}

/// Everything that can be done before the interfaces exist. Returns what could not be had but is not needed.
fn prepare(config: &NodeConfig, hosts: Vec<OwnedFd>, undo: &mut Undo) -> Result<Vec<String>, KernelError> {
    config.sysctls.iter().try_for_each(|(key, _)| configure::refuse_shared(key))?;
    if config.forwarding {
        undo.set("net.ipv4.ip_forward", "1")?;
        undo.set("net.ipv6.conf.all.forwarding", "1")?;
    }
    if let Some(seed) = config.multipath {
        configure::MULTIPATH.iter().try_for_each(|key| undo.note(key))?;
        configure::spread_flows(seed)?;
    }
    let mut notes = Vec::new();
    for (key, value) in &config.sysctls {
        if !configure::belongs_to_an_interface(config, key) {
            undo.note(key)?;
            notes.extend(congestion::set(key, value)?);
        }
    }
    // The container's own programs go on as before: these mounts are the lab's.
    if let Err(error) = protect_machine() {
        notes.push(error.to_string());
    }
    if let Some(tree) = hosts.into_iter().next()
        && let Err(error) = show_hosts(&tree)
    {
        notes.push(format!("{error}; its programs do not know the names of the lab"));
    }
    Ok(notes)
}

/// Shows the names of the lab to the lab's programs.
fn show_hosts(tree: &OwnedFd) -> Result<(), KernelError> {
    let attempted = || "show the lab's names as /etc/hosts";
    let place = File::options().read(true).custom_flags(libc::O_PATH).open("/etc/hosts").attempted(attempted)?;
    attach(tree.as_fd(), place.as_fd()).attempted(attempted)
}
