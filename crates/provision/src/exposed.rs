//! Ports of this machine that lead into nodes.

use crate::node::LabNode;
use crate::resource::{Ground, Making, Opening, Resource, Site};
use crate::setup_error::SetupError;
use ipnet::IpNet;
use netloom_host::KernelError;
use netloom_host::expose::{Exposed, ForwardPath, ProgramRequest, Protocol, Relay};
use netloom_judge::RunError;
use netloom_lab::{ExposePlan, NodePlan, Plan};
use netloom_units::Duration;
use std::ffi::OsString;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// After how long without a datagram, in lab time, a client is forgotten. RFC 4787, section 4.3, asks translators of addresses for
/// two minutes at least.
const IDLE: Duration = Duration::from_secs(120);

/// The ports of this machine that lead into nodes.
#[derive(Default)]
pub struct ExposedPorts {
    /// Those that were opened, each with its node's place.
    opened: Vec<(usize, Exposed)>,
    ways: PortForwards,
}

impl ExposedPorts {
    /// Hands over the ways into nodes, once they are open.
    pub(crate) fn take_ways(&mut self) -> PortForwards {
        std::mem::take(&mut self.ways)
    }
}

impl Resource for ExposedPorts {
    fn open(&mut self, opening: Opening, ground: &Ground<'_>) -> Result<(), RunError> {
        if opening == Opening::Outside {
            self.opened = listen(ground.plan, ground.lab_file)?;
        }
        Ok(())
    }

    fn make(&mut self, making: Making, site: &mut Site<'_>) -> Result<(), SetupError> {
        if making == Making::Begun {
            self.ways = PortForwards::begin(site.plan, site.nodes, std::mem::take(&mut self.opened))?;
        }
        Ok(())
    }

    fn let_go(&mut self) {
        self.opened.clear();
    }
}

/// Opens the ports of a plan, each with its node's place. They belong to the machine, so it is done outside of the lab.
fn listen(plan: &Plan, lab_file: &Path) -> Result<Vec<(usize, Exposed)>, RunError> {
    let each = plan.nodes.iter().enumerate().flat_map(|(place, node)| node.expose.iter().map(move |one| (place, one)));
    let open = |(place, one): (usize, &ExposePlan)| {
        let refused = |error| RunError::Machine(cannot_listen(one, lab_file, &error));
        let protocol = if one.udp { Protocol::Udp } else { Protocol::Tcp };
        Ok((place, Exposed::open(one.port, protocol, one.to).map_err(refused)?))
    };
    each.map(open).collect()
}

fn cannot_listen(one: &ExposePlan, lab_file: &Path, error: &KernelError) -> String {
    let advice = match error.errno() {
        libc::EADDRINUSE => ": another program has it, or another lab; choose another port",
        libc::EACCES => {
            ": only root may open ports so low (sysctl net.ipv4.ip_unprivileged_port_start); choose another"
        }
        _ => "",
    };
    format!("{}:{}: key `expose`: {error}{advice}", lab_file.display(), one.line)
}

/// The ways into the nodes of a lab that runs; they end with this.
#[derive(Debug, Default)]
pub struct PortForwards {
    /// Where programs are asked for that go on inside of a node, with its place. Before the relays, which hear of the end.
    channels: Vec<(usize, OwnedFd)>,
    relays: Vec<Relay>,
}

impl PortForwards {
    /// Begins to pass connections on to the nodes.
    fn begin(
        plan: &Plan,
        nodes: &[Option<Box<dyn LabNode>>],
        exposed: Vec<(usize, Exposed)>,
    ) -> Result<Self, SetupError> {
        let mut ways = Self::default();
        let idle = plan.clock.dilation().unwrap_or_default().to_real(IDLE);
        let mut of_nodes: Vec<Vec<Exposed>> = plan.nodes.iter().map(|_| Vec::new()).collect();
        exposed.into_iter().for_each(|(place, port)| of_nodes[place].push(port));
        for (place, ports) in of_nodes.into_iter().enumerate().filter(|(_, ports)| !ports.is_empty()) {
            let way = match nodes[place].as_ref().and_then(|node| node.namespaces()) {
                Some(home) => ForwardPath::Namespace { home, addresses: addresses(&plan.nodes[place]).collect() },
                None => {
                    let (ours, theirs) = ProgramRequest::channel().map_err(SetupError::Kernel)?;
                    ways.channels.push((place, ours));
                    ForwardPath::Programs(theirs)
                }
            };
            ways.relays.push(Relay::start(ports, way, idle).map_err(SetupError::Kernel)?);
        }
        Ok(ways)
    }

    /// Each is readable when a program is asked for; they have numbers.
    pub fn channels(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.channels.iter().map(|(_, channel)| channel.as_fd())
    }

    /// The next program that is asked for over the channel of this number, and the place of its node.
    pub fn asked(&self, number: usize) -> Option<(usize, ProgramRequest)> {
        let (place, channel) = self.channels.get(number)?;
        Some((*place, ProgramRequest::receive(channel)?))
    }
}

/// The command that joins its standard streams to a port of its node.
pub fn program(node: &NodePlan, asked: &ProgramRequest) -> Vec<OsString> {
    let addresses = addresses(node).map(|address| address.to_string());
    // Whatever the node's file system has: the agent is this very program.
    let protocol = match asked.protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
    };
    let words = ["/proc/self/exe", "node-connect", protocol].map(str::to_owned).into_iter();
    words.chain([asked.port.to_string()]).chain(addresses).map(OsString::from).collect()
}

fn addresses(node: &NodePlan) -> impl Iterator<Item = IpAddr> {
    node.interfaces.iter().flat_map(|interface| interface.addresses.iter().map(IpNet::addr))
}

/// All ways into the nodes of a plan, for people.
pub fn ways_into(plan: &Plan) -> Vec<String> {
    let each = plan.nodes.iter().flat_map(|node| node.expose.iter().map(move |one| (node, one)));
    each.map(|(node, one)| format!("localhost:{} leads to port {} of {}", one.name(), one.to, node.name)).collect()
}
