//! Sockets that clients want to have inside of nodes.
//!
//! The node's agent, which is in the right namespace, opens the socket (`netloom_host::node`) and passes its
//! descriptor on to the lab process, and from there to the client. The agent never waits for the network.

use super::refusals::find_node;
use crate::session::programs::Programs;
use netloom_control::{Family, OpenSocket, Refused, SocketType};
use netloom_host::node::{SocketConfig, SocketFamily, SocketKind};
use netloom_judge::ExitCode;
use netloom_lab::Plan;
use std::os::fd::OwnedFd;

/// Opens one.
pub(super) fn open(wanted: &OpenSocket, plan: &Plan, programs: &mut Programs) -> Result<OwnedFd, Refused> {
    let refused = |code: ExitCode, message: String| Refused { code: code.number(), message, key: None };
    let name = &wanted.node;
    let node = find_node(plan, name).map_err(|(code, message)| refused(code, message))?;
    let kind = plan.nodes[node].kind;
    if let Some(why) = programs.why_away(plan, node) {
        return Err(refused(ExitCode::Usage, why));
    }
    match programs.nodes[node].open_socket(&config(wanted)) {
        Some(opened) => opened.map_err(|error| refused(ExitCode::Machine, error.to_string())),
        None if !kind.runs_programs() => {
            Err(refused(ExitCode::Usage, format!("`{name}` is a {} and has no sockets", kind.title())))
        }
        None => Err(refused(
            ExitCode::Usage,
            format!(
                "`{name}` has a kernel of its own, whose sockets cannot be used outside of it: run a program in the node with \
                 `exec`, or give the node the stack of this machine's kernel (`stack: namespace`, in real time)"
            ),
        )),
    }
}

fn config(wanted: &OpenSocket) -> SocketConfig {
    SocketConfig {
        family: match wanted.family {
            Family::Inet => SocketFamily::Inet,
            Family::Inet6 => SocketFamily::Inet6,
        },
        kind: match wanted.kind {
            SocketType::Stream => SocketKind::Stream,
            SocketType::Dgram => SocketKind::Dgram,
            SocketType::Seqpacket => SocketKind::Seqpacket,
            SocketType::Raw => SocketKind::Raw,
        },
        protocol: wanted.protocol,
        bind: wanted.bind,
        connect: wanted.connect,
        listen: wanted.listen,
    }
}
