//! Tunnels to labs of other machines.
//!
//! The UDP socket of a tunnel is opened before the guard forks the lab, and both ends exchange greetings before the
//! engine starts.

use crate::chrony::Chrony;
use crate::guard_link::{FromGuard, GuardLink};
use crate::resource::{Ground, Making, Opening, Releasing, Resource, Site, if_none};
use crate::setup_error::SetupError;
use netloom_dataplane::{PortConfig, Refusal, Tracker, TunnelEnd, TunnelKey, TunnelSettings, tunnel_path_least};
use netloom_figures::TunnelReport;

use netloom_judge::RunError;
use netloom_judge::quantity::{counted, span};
use netloom_lab::fabric::{port_id, ports_of, tunnel_sockets};
use netloom_lab::{KeyPlan, NodePlan, Plan, TunnelPlan};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// A key and what may be around it, in bytes.
const LONGEST_KEY_FILE: u64 = 4_096;
/// How often far ends are asked again at least, in milliseconds.
const LOOK_AROUND: u8 = 2;
/// How often progress is reported.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// The end of tunnels to a machine, opened.
#[derive(Debug)]
struct Opened {
    /// The places of their nodes.
    nodes: Vec<usize>,
    address: SocketAddr,
    end: Box<TunnelEnd>,
}

/// The tunnels of a lab to labs of other machines.
#[derive(Default)]
pub(crate) struct Tunnels {
    opened: Vec<Opened>,
    /// Says how exact the time of day is, where chrony knows it.
    chrony: Option<(Chrony, Tracker)>,
}

impl Resource for Tunnels {
    fn check(&self, plan: &Plan, lab_file: &Path) -> Result<Option<String>, Vec<String>> {
        // A port of the kernel's choice: the lab may be up.
        if_none(open(plan, lab_file, |_| 0).filter_map(Result::err))
    }

    fn open(&mut self, opening: Opening, ground: &Ground<'_>) -> Result<(), RunError> {
        match opening {
            Opening::First if wanted(ground.plan).next().is_some() => {
                let failed = |error: io::Error| {
                    RunError::Machine(format!("asking chrony how exact the time of day is: {error}"))
                };
                let started = Chrony::start(&std::env::var_os("PATH").unwrap_or_default()).map_err(failed)?;
                if let Some((chrony, said)) = started {
                    self.chrony = Some((chrony, Tracker::new(said).map_err(failed)?));
                }
            }
            Opening::Outside => {
                let opened = open(ground.plan, ground.lab_file, |own| own.port).collect::<Result<_, _>>();
                self.opened = opened.map_err(RunError::Machine)?;
                if let Some((_, tracker)) = &self.chrony {
                    self.opened.iter_mut().for_each(|own| own.end.ask(tracker));
                }
            }
            Opening::First | Opening::Stacks | Opening::Last => {}
        }
        Ok(())
    }

    fn make(&mut self, making: Making, site: &mut Site<'_>) -> Result<(), SetupError> {
        if making == Making::Joined {
            join(site.plan, site.lab_file, site.guard, &mut self.opened)?;
            site.ports.extend(ports(site.plan, std::mem::take(&mut self.opened)));
        }
        Ok(())
    }

    fn describe(&self, plan: &Plan, reports: &[TunnelReport]) -> Option<String> {
        note(plan, reports)
    }

    fn let_go(&mut self) {
        self.opened.clear();
    }

    fn release(&mut self, _releasing: Releasing) -> Result<(), RunError> {
        self.chrony = None;
        Ok(())
    }
}

/// Opens the tunnels of a plan outside of the lab, whose processes inherit the sockets. `port`: the one of this machine for a tunnel.
fn open(plan: &Plan, lab_file: &Path, port: fn(&TunnelPlan) -> u16) -> impl Iterator<Item = Result<Opened, String>> {
    tunnel_sockets(plan).into_iter().map(move |nodes| {
        let own = of_node(plan, nodes[0]);
        let of = |node: &usize| settings(&plan.nodes[*node], of_node(plan, *node), lab_file);
        let settings = nodes.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let (address, end) = open_one(own, &settings, port(own), lab_file)?;
        Ok(Opened { nodes, address, end: Box::new(end) })
    })
}

/// The tunnels with a link, and the places of their nodes.
fn wanted(plan: &Plan) -> impl Iterator<Item = (usize, &NodePlan, &TunnelPlan)> {
    let nodes = plan.nodes.iter().enumerate().filter(|(_, node)| !node.interfaces.is_empty());
    nodes.filter_map(|(place, node)| Some((place, node, node.tunnel.as_ref()?)))
}

fn settings(node: &NodePlan, own: &TunnelPlan, lab_file: &Path) -> Result<TunnelSettings, String> {
    let key = own.key.as_ref().map(|key| read_key(key, own, lab_file)).transpose()?;
    Ok(TunnelSettings { vni: own.vni, mtu: node.interfaces[0].mtu, key })
}

/// The key of a tunnel, from its file if it is in one.
fn read_key(key: &KeyPlan, own: &TunnelPlan, lab_file: &Path) -> Result<TunnelKey, String> {
    let name = match key {
        KeyPlan::Bytes(bytes) => return Ok(TunnelKey::new(*bytes)),
        KeyPlan::File(name) => name,
    };
    let path = lab_file.parent().unwrap_or(Path::new("")).join(name);
    let wrong = |what: &str| at(lab_file, own, "key", what);
    let text = netloom_regular::read_text(&path, LONGEST_KEY_FILE)
        .map_err(|error| wrong(&format!("reading {}: {error}", path.display())))?;
    KeyPlan::parse(text.trim()).map(TunnelKey::new).ok_or_else(|| {
        let made = KeyPlan::MADE_BY;
        wrong(&format!("{} has no key of 64 hexadecimal digits: {made}", path.display()))
    })
}

fn at(lab_file: &Path, own: &TunnelPlan, key: &str, problem: &str) -> String {
    format!("{}:{}: key `{key}`: {problem}", lab_file.display(), own.line)
}

fn open_one(
    own: &TunnelPlan,
    settings: &[TunnelSettings],
    port: u16,
    lab_file: &Path,
) -> Result<(SocketAddr, TunnelEnd), String> {
    let name = &own.remote;
    let unknown = |why: &str| at(lab_file, own, "remote", &format!("no machine `{name}` is known here: {why}"));
    let mut addresses = (name.as_str(), own.port).to_socket_addrs().map_err(|error| unknown(&error.to_string()))?;
    let address = addresses.next().ok_or_else(|| unknown("its name has no address"))?;
    let end = TunnelEnd::open(address, port, settings).map_err(|error| cannot_open(own, &error, lab_file))?;
    let least = tunnel_path_least(address.is_ipv6());
    match end.path_mtu() {
        Some(carries) if carries < least => {
            let problem = format!(
                "the path to `{name}` carries packets of {carries} bytes at most, and a tunnel needs {least}: give the interface there an \
                 MTU of that or more"
            );
            Err(at(lab_file, own, "remote", &problem))
        }
        _ => Ok((address, end)),
    }
}

fn cannot_open(own: &TunnelPlan, error: &io::Error, lab_file: &Path) -> String {
    let (name, port) = (&own.remote, own.port);
    let (key, problem) = match error.raw_os_error() {
        Some(libc::EADDRINUSE) => (
            "port",
            format!(
                "port {port} of UDP is in use here: another lab or program has it. Write another `port`, here and at the far end"
            ),
        ),
        Some(libc::EACCES | libc::EPERM) => {
            ("port", format!("take port {port} of UDP: {error}: write one from 1024 on, here and at the far end"))
        }
        _ => ("remote", format!("there is no route from this machine to `{name}`: {error}")),
    };
    at(lab_file, own, key, &problem)
}

/// Waits until all far ends are there and know the lab's own, and until it is known how long the paths take.
///
/// # Errors
/// What keeps an end from being joined, with file, line and key.
fn join(plan: &Plan, lab_file: &Path, guard: &mut GuardLink, opened: &mut [Opened]) -> Result<(), SetupError> {
    let begun = Instant::now();
    let mut told = None;
    loop {
        let mut missing = None;
        for (socket, tunnels) in opened.iter_mut().enumerate() {
            let Opened { nodes, end, .. } = tunnels;
            let refused = |(place, refusal): (usize, Refusal)| {
                let own = of_node(plan, nodes[place]);
                SetupError::Refused(at(lab_file, own, key_of(&refusal), &refusal.to_string()))
            };
            if let Some(place) = end.greet().map_err(refused)? {
                missing.get_or_insert((socket, place));
            }
        }
        let Some((tunnels, place)) = missing.map(|(socket, place)| (&opened[socket], place)) else { return Ok(()) };
        let (own, waited) = (of_node(plan, tunnels.nodes[place]), begun.elapsed());
        let longest = Duration::from_nanos(own.wait.as_nanos());
        if waited > longest {
            return Err(SetupError::Late(at(lab_file, own, "remote", &silence(own, tunnels, place))));
        }
        if told.is_none_or(|told: Instant| told.elapsed() > TOLD_EVERY) {
            told = Some(Instant::now());
            let name = &plan.nodes[tunnels.nodes[place]].name;
            let seconds = waited.as_secs();
            let rest =
                if seconds > 0 { format!(", for {seconds} s of {} s", longest.as_secs()) } else { String::new() };
            guard.step(format!("waiting for the far end of tunnel {name} at {}{rest}", tunnels.address));
        }
        pause(guard, opened)?;
    }
}

/// Until something comes, or for a moment.
fn pause(guard: &mut GuardLink, opened: &[Opened]) -> Result<(), SetupError> {
    let mut fds: Vec<_> = opened.iter().map(|own| PollFd::new(own.end.as_fd(), PollFlags::POLLIN)).collect();
    fds.push(PollFd::new(guard.as_fd(), PollFlags::POLLIN));
    match poll(&mut fds, PollTimeout::from(LOOK_AROUND)) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(errno) => return Err(SetupError::Wait("the far ends of tunnels", errno)),
    }
    if fds.last().and_then(PollFd::any) == Some(true) && guard.listen() != FromGuard::Nothing {
        return Err(SetupError::Interrupted("interrupted while it waited for the far end of a tunnel"));
    }
    Ok(())
}

fn of_node(plan: &Plan, node: usize) -> &TunnelPlan {
    plan.nodes[node].tunnel.as_ref().expect("it was opened for this node")
}

fn key_of(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Vni { .. } => "vni",
        Refusal::OtherKey | Refusal::KeyThere | Refusal::KeyHere => "key",
        _ => "remote",
    }
}

/// Why the far end of the tunnel at this place was not joined in time.
fn silence(own: &TunnelPlan, tunnels: &Opened, place: usize) -> String {
    let (address, waited) = (tunnels.address, span(own.wait.as_nanos()));
    if tunnels.end.is_heard(place) {
        let refused = if tunnels.end.refused(place) == Some(libc::EMSGSIZE) { ", as this machine knows" } else { "" };
        return format!(
            "the far end at {address} answers, and datagrams of {} bytes do not come through within {waited}{refused}: the path carries \
             shorter ones only, in one direction or both. See what drops them, or write a longer `wait`",
            tunnels.end.datagram(place)
        );
    }
    let port = own.port;
    format!(
        "the far end at {address} was silent for {waited}: start the lab there, whose tunnel leads here with `port: {port}`, see \
         that UDP gets through (firewalls), or write a longer `wait`"
    )
}

/// The ports of the engine that they are.
fn ports(plan: &Plan, opened: Vec<Opened>) -> impl Iterator<Item = PortConfig> {
    opened.into_iter().map(|Opened { nodes, end, .. }| PortConfig::Tunnel { ports: ports_of(plan, &nodes), end })
}

/// Says for the verdict what it cannot judge of tunnels.
fn note(plan: &Plan, reports: &[TunnelReport]) -> Option<String> {
    let is_estimated = |node: &NodePlan| {
        let port = node.interfaces.first().map(|interface| port_id(interface.end));
        let is_guessed = |report: &TunnelReport| !report.has_common_clock && report.clocks.asymmetry_ns.is_none();
        reports.iter().any(|report| Some(report.port) == port && report.was_joined && is_guessed(report))
    };
    let estimated: Vec<&str> =
        wanted(plan).filter(|(_, node, _)| is_estimated(node)).map(|(_, node, _)| node.name.as_str()).collect();
    (!estimated.is_empty()).then(|| {
        format!(
            "whether the path takes equally long both ways, of {}, whose ends have clocks of their own: {}",
            counted(estimated.len(), "tunnel"),
            estimated.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(remote: &str) -> TunnelPlan {
        let wait = TunnelPlan::WAIT;
        TunnelPlan {
            remote: remote.into(),
            line: 3,
            port: TunnelPlan::PORT,
            vni: 1,
            wait,
            key: None,
            beyond: Vec::new(),
        }
    }

    #[test]
    fn what_cannot_be_opened_is_told_with_its_key() {
        let file = Path::new("lab.yaml");
        let told = |errno| cannot_open(&plan("far"), &io::Error::from_raw_os_error(errno), file);
        assert!(told(libc::EADDRINUSE).starts_with("lab.yaml:3: key `port`: port 29789 of UDP is in use"));
        assert!(told(libc::EACCES).contains("from 1024 on"));
        assert!(told(libc::ENETUNREACH).starts_with("lab.yaml:3: key `remote`: there is no route"));
    }

    #[test]
    fn a_link_may_have_longer_packets_than_its_path() {
        let file = Path::new("lab.yaml");
        // The loopback interface carries 65536 bytes, and a datagram of IPv4 has 65507 at most.
        let opened = |mtu| open_one(&plan("127.0.0.1"), &[TunnelSettings { vni: 1, mtu, key: None }], 0, file);
        let longest = |mtu| opened(mtu).map(|(_, end)| end.datagram(0));
        assert_eq!((longest(1_500), longest(65_535)), (Ok(1_558), Ok(65_507)));
    }

    #[test]
    fn a_key_is_read_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lab.yaml");
        let told = |name: &str| read_key(&KeyPlan::File(name.into()), &plan("far"), &file);
        std::fs::write(folder.path().join("far.key"), format!("{}\n", "0a".repeat(32))).unwrap();
        assert_eq!(told("far.key"), Ok(TunnelKey::new([10; 32])));
        std::fs::write(folder.path().join("wrong.key"), "0a0b").unwrap();
        let wrong = told("wrong.key").unwrap_err();
        assert!(
            wrong.contains("lab.yaml:3: key `key`: ") && wrong.contains("has no key of 64 hexadecimal digits"),
            "{wrong}"
        );
        assert!(told("none.key").unwrap_err().contains("none.key: No such file"));
        assert!(told(".").unwrap_err().contains("key `key`: reading"));
    }
}
