//! Interfaces of this machine whose wires end in a lab.
//!
//! Packet sockets are opened before the guard forks the lab, which inherits them: they stay in the machine's network
//! namespace, and with the last of them goes every setting that was asked of the interface.
//!
//! An interface that is passed to the lab moves to a network namespace of its own, in which the packet sockets are
//! opened; no process lives there. Before that, the guard notes the interface's settings and forks a keeper, which
//! waits until neither guard nor lab holds the other end of a socket, and puts the interface back. A guard that
//! outlives its keeper does so in its place. Where neither does, an unlocked record and the namespace, mounted beside
//! it, tell the next command (`netloom_host::wires`).

use crate::resource::{Ground, Making, Opening, Releasing, Resource, Site, if_none};
use crate::setup_error::SetupError;
use netloom_dataplane::{External, PortConfig, WireSockets};
use netloom_figures::TunnelReport;
use netloom_host::KernelError;
use netloom_host::wires::{Kept, Wire, wires};
use netloom_judge::RunError;
use netloom_judge::quantity::counted;
use netloom_lab::fabric::port_id;
use netloom_lab::{ExternalMode, ExternalPlan, NodePlan, Plan};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// The wire of a node, opened.
#[derive(Debug)]
struct Opened {
    /// The place of its node.
    node: usize,
    interface: u32,
    sockets: WireSockets,
}

/// The interfaces of this machine whose wires end in a lab.
#[derive(Default)]
pub(crate) struct Wires {
    opened: Vec<Opened>,
    /// Those that were passed, until they are given back.
    kept: Option<Kept>,
}

impl Resource for Wires {
    fn check(&self, plan: &Plan, lab_file: &Path) -> Result<Option<String>, Vec<String>> {
        if_none(problems_here(plan, lab_file))
    }

    fn open(&mut self, opening: Opening, ground: &Ground<'_>) -> Result<(), RunError> {
        if let (Opening::Outside, Some(folder)) = (opening, ground.folder_of_labs) {
            (self.opened, self.kept) = open(ground.plan, ground.lab_file, folder)?;
        }
        Ok(())
    }

    fn make(&mut self, making: Making, site: &mut Site<'_>) -> Result<(), SetupError> {
        if making == Making::Links {
            site.ports.extend(ports(site.plan, std::mem::take(&mut self.opened)));
        }
        Ok(())
    }

    fn describe(&self, plan: &Plan, _: &[TunnelReport]) -> Option<String> {
        note(plan)
    }

    fn let_go(&mut self) {
        self.opened.clear();
    }

    fn release(&mut self, releasing: Releasing) -> Result<(), RunError> {
        let given_back = self.kept.take_if(|_| releasing == Releasing::Ended).map_or(Ok(()), Kept::give_back);
        given_back.map_err(|error| RunError::Machine(error.to_string()))
    }
}

/// Opens the interfaces of a plan, and has those kept that are passed. They belong to the machine, so it is done outside of the lab,
/// whose processes inherit the sockets. `folder`: where it is written down what passed interfaces are.
fn open(plan: &Plan, lab_file: &Path, folder: &Path) -> Result<(Vec<Opened>, Option<Kept>), RunError> {
    if wanted(plan).next().is_none() {
        return Ok((Vec::new(), None));
    }
    let machine = wires().map_err(|error| RunError::Machine(error.to_string()))?;
    let problems = problems(plan, lab_file, &machine);
    if !problems.is_empty() {
        return Err(RunError::Machine(problems.join("\n")));
    }
    let is_passed = |own: &ExternalPlan| own.mode == ExternalMode::Pass;
    // The right to packets is asked for before anything is moved.
    let mut opened = open_all(plan, lab_file, &machine, |own| !is_passed(own))?;
    let passed: BTreeSet<&str> =
        wanted(plan).filter(|(.., own)| is_passed(own)).map(|(.., own)| own.interface.as_str()).collect();
    if passed.is_empty() {
        return Ok((opened, None));
    }
    let kept = Kept::take(&passed.into_iter().collect::<Vec<_>>(), folder)
        .map_err(|error| cannot_take(plan, lab_file, &error))?;
    let inside = kept.inside(|| {
        let there = wires().map_err(|error| RunError::Machine(error.to_string()))?;
        open_all(plan, lab_file, &there, is_passed)
    });
    opened.extend(inside.map_err(|error| RunError::Machine(error.to_string()))??);
    Ok((opened, Some(kept)))
}

/// Opens those that are meant, in the network namespace with these interfaces.
fn open_all(
    plan: &Plan,
    lab_file: &Path,
    there: &[Wire],
    is_meant: impl Fn(&ExternalPlan) -> bool,
) -> Result<Vec<Opened>, RunError> {
    let one = |(node, _, own): (usize, &NodePlan, &ExternalPlan)| {
        let refused = |error: io::Error| RunError::Machine(at(lab_file, own, &cannot_open(own, &error)));
        let index = there.iter().find(|wire| wire.name == own.interface).map(|wire| wire.index);
        let gone = || refused(io::Error::from_raw_os_error(libc::ENODEV));
        Ok(Opened { node, interface: index.ok_or_else(gone)?, sockets: WireSockets::open().map_err(refused)? })
    };
    wanted(plan).filter(|(.., own)| is_meant(own)).map(one).collect()
}

fn cannot_take(plan: &Plan, lab_file: &Path, error: &KernelError) -> RunError {
    let advice = match error.errno() {
        libc::EPERM | libc::EACCES => {
            ": this takes the right to administer this machine's network (CAP_NET_ADMIN and CAP_SYS_ADMIN): run netloom as root, \
             or in a user namespace whose own network has the interface"
        }
        libc::EINVAL => {
            ": an interface that is bound to its network namespace, as some of Wi-Fi and tunnels are, can only be shared"
        }
        _ => "",
    };
    let first = wanted(plan).find(|(.., own)| own.mode == ExternalMode::Pass);
    let place =
        first.map_or_else(String::new, |(.., own)| format!("{}:{}: key `mode`: ", lab_file.display(), own.line));
    RunError::Machine(format!("{place}{error}{advice}"))
}

/// The ports of the engine that they are. A node without a link has none.
fn ports(plan: &Plan, opened: Vec<Opened>) -> Vec<PortConfig> {
    let port = |Opened { node, interface, sockets }: Opened| {
        let own = plan.nodes[node].external.as_ref().expect("it was opened for this node");
        let end = plan.nodes[node].interfaces.first()?.end;
        let port = port_id(end);
        let whole = plan.nodes[node].whole_frames;
        let external = External { port, interface, vlan: own.vlan, only: own.only, whole, sockets };
        Some(PortConfig::External(Box::new(external)))
    };
    opened.into_iter().filter_map(port).collect()
}

/// The problems on this machine with the external interfaces of a plan, each with file, line and key.
fn problems_here(plan: &Plan, lab_file: &Path) -> Vec<String> {
    if wanted(plan).next().is_none() {
        return Vec::new();
    }
    // Starting the lab will report what cannot be read.
    wires().map_or_else(|_| Vec::new(), |machine| problems(plan, lab_file, &machine))
}

/// Says for the verdict what external interfaces keep it from judging: it is about what is inside.
fn note(plan: &Plan) -> Option<String> {
    const NAMED: usize = 5;
    let all: Vec<&str> = wanted(plan).map(|(_, node, _)| node.name.as_str()).collect();
    let more = if all.len() > NAMED { format!(" and {} more", all.len() - NAMED) } else { String::new() };
    let named = all.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    (!all.is_empty()).then(|| {
        format!(
            "what lies behind {}, which is not under the lab's clock: {named}{more}",
            counted(all.len(), "external interface")
        )
    })
}

fn wanted(plan: &Plan) -> impl Iterator<Item = (usize, &NodePlan, &ExternalPlan)> {
    plan.nodes.iter().enumerate().filter_map(|(place, node)| Some((place, node, node.external.as_ref()?)))
}

fn problems(plan: &Plan, lab_file: &Path, machine: &[Wire]) -> Vec<String> {
    let mtu = |node: &NodePlan| node.interfaces.first().map(|interface| interface.mtu);
    let wrong = |(_, node, own): (usize, &NodePlan, &ExternalPlan)| {
        let problem = match machine.iter().find(|wire| wire.name == own.interface) {
            Some(wire) => problem(wire, own, mtu(node)),
            None => Some(missing(own, machine)),
        };
        problem.map(|problem| at(lab_file, own, &problem))
    };
    wanted(plan).filter_map(wrong).collect()
}

fn at(lab_file: &Path, own: &ExternalPlan, problem: &str) -> String {
    format!("{}:{}: key `interface`: {problem}", lab_file.display(), own.line)
}

fn missing(own: &ExternalPlan, machine: &[Wire]) -> String {
    let usable: Vec<&str> =
        machine.iter().filter(|wire| wire.is_ethernet).map(|wire| wire.name.as_str()).take(20).collect();
    let there = if usable.is_empty() {
        "there is none with a wire".into()
    } else {
        format!("there are: {}", usable.join(", "))
    };
    format!("this machine has no interface `{}`; {there}", own.interface)
}

/// Why this interface cannot be the wire of a node whose link has this MTU.
fn problem(wire: &Wire, own: &ExternalPlan, mtu: Option<u32>) -> Option<String> {
    let name = &own.interface;
    if !wire.is_ethernet {
        return Some(format!(
            "`{name}` has no wire that carries Ethernet frames: name a network card, or the end of a pair"
        ));
    }
    if let Some(master) = &wire.master {
        return Some(format!(
            "`{name}` is busy: it is a part of `{master}`. Name that, or take it out (ip link set {name} nomaster)"
        ));
    }
    if !wire.up && own.mode == ExternalMode::Share {
        return Some(format!("`{name}` is down: bring it up (ip link set {name} up)"));
    }
    if wire.is_way_out && !own.force {
        return Some(format!(
            "`{name}` is this machine's only way out, on which other programs depend: name another, or write `force: true` here"
        ));
    }
    let mtu = mtu.filter(|mtu| *mtu > wire.mtu)?;
    Some(format!(
        "`{name}` carries packets of {} bytes at most, and the link there has an `mtu` of {mtu}: write `mtu: {}` at the link",
        wire.mtu, wire.mtu
    ))
}

fn cannot_open(own: &ExternalPlan, error: &io::Error) -> String {
    let advice = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            ": this takes the right to raw packets of this machine's network (CAP_NET_RAW): run netloom as root, or in a user \
             namespace whose own network has the interface"
        }
        _ => "",
    };
    format!("open the packets of `{}`: {error}{advice}", own.interface)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire() -> Wire {
        Wire { index: 3, name: "eth1".into(), mtu: 1_500, up: true, is_ethernet: true, master: None, is_way_out: false }
    }

    fn told(wire: &Wire, force: bool, mtu: u32) -> String {
        let own = ExternalPlan {
            interface: "eth1".into(),
            line: 4,
            mode: ExternalMode::Share,
            vlan: None,
            only: None,
            force,
        };
        problem(wire, &own, Some(mtu)).unwrap_or_default()
    }

    #[test]
    fn an_interface_that_is_up_and_free_is_taken() {
        assert_eq!(told(&wire(), false, 1_500), "");
        assert_eq!(told(&Wire { is_way_out: true, ..wire() }, true, 1_500), "");
    }

    #[test]
    fn every_obstacle_is_named_with_what_to_do() {
        assert!(told(&Wire { is_ethernet: false, ..wire() }, true, 1_500).contains("no wire"));
        let busy = told(&Wire { master: Some("br0".into()), ..wire() }, true, 1_500);
        assert!(busy.contains("a part of `br0`") && busy.contains("nomaster"), "{busy}");
        assert!(told(&Wire { up: false, ..wire() }, true, 1_500).contains("ip link set eth1 up"));
        assert!(told(&Wire { is_way_out: true, ..wire() }, false, 1_500).contains("force: true"));
        assert!(told(&wire(), false, 9_000).contains("write `mtu: 1500`"));
    }

    #[test]
    fn one_that_is_not_there_is_answered_by_those_that_are() {
        let own = ExternalPlan {
            interface: "eth9".into(),
            line: 4,
            mode: ExternalMode::Share,
            vlan: None,
            only: None,
            force: false,
        };
        let lo = Wire { name: "lo".into(), is_ethernet: false, ..wire() };
        assert_eq!(missing(&own, &[lo.clone(), wire()]), "this machine has no interface `eth9`; there are: eth1");
        assert!(missing(&own, &[lo]).ends_with("there is none with a wire"));
    }
}
