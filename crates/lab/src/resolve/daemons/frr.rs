//! The configuration of FRR that follows from the plan.
//!
//! Each daemon has a part of its own, as the command reference of FRR 8 has them; the parts do not depend on one another.

use super::Learned;
use crate::plan::{Daemon, EndPlan, InterfacePlan, Plan};
use crate::spec::RoutingSpec;
use ipnet::IpNet;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};

/// A router, and what it knows of the others.
pub(super) struct Router<'a> {
    pub(super) plan: &'a Plan,
    pub(super) routing: &'a [RoutingSpec],
    pub(super) node: usize,
    /// What every node is called in protocols.
    pub(super) ids: &'a [Ipv4Addr],
    /// Where senders and receivers of multicast meet.
    pub(super) rendezvous: Option<Ipv4Addr>,
    pub(super) learned: &'a Learned,
    pub(super) ports: Vec<Port>,
}

/// An interface of the router.
pub(super) struct Port {
    /// Its place in the node's list.
    pub(super) place: usize,
    pub(super) cost: u32,
    pub(super) area: u32,
    pub(super) has_hosts: bool,
    /// The other ends of its segment.
    pub(super) others: Vec<EndPlan>,
}

/// A hello each second, and four lost ones end a neighbourhood: the ratio of OSPF's own 10 s and 40 s.
const HELLO: u32 = 1;
const HELLOS: u32 = 4;
/// After how many seconds OSPF sends again what was not acknowledged: acknowledgements wait up to 1 s for others.
const RETRANSMISSION: u32 = 2;
/// BFD sends a packet so often, in milliseconds, and three lost ones end a neighbourhood.
const BFD_INTERVAL_MS: u32 = 100;
const BFD_PACKETS: u32 = 3;
/// What neighbourhoods are called in BFD, and the instance of IS-IS.
const NAME: &str = "netloom";

impl Router<'_> {
    /// All of `frr.conf`.
    pub(super) fn configuration(&self) -> String {
        let mut text = format!(
            "! Netloom made this from the lab file.\nfrr defaults traditional\nhostname {}\nip router-id {}\n",
            self.plan.nodes[self.node].name,
            self.id()
        );
        for daemon in &self.routing[self.node].daemons {
            let _ = writeln!(text, "!");
            text += &match daemon {
                Daemon::Ospf => self.ospf(),
                Daemon::Ospf6 => self.ospf6(),
                Daemon::Rip => self.rip("rip", true),
                Daemon::Ripng => self.rip("ripng", false),
                Daemon::Bgp => self.bgp(),
                Daemon::Isis => self.isis(),
                Daemon::Pim => self.pim(),
                Daemon::Ldp => self.ldp(),
                Daemon::Bfd => bfd(),
                Daemon::Static => self.statics(),
            };
        }
        text
    }

    fn ospf(&self) -> String {
        let port = |port: &Port| {
            let mut lines = vec![format!("ip ospf area {}", port.area), format!("ip ospf cost {}", port.cost)];
            lines.push(format!("ip ospf hello-interval {HELLO}"));
            lines.push(format!("ip ospf dead-interval {}", HELLO * HELLOS));
            lines.push(format!("ip ospf retransmit-interval {RETRANSMISSION}"));
            lines.extend(port.is_pair().then(|| "ip ospf network point-to-point".to_owned()));
            lines.extend(self.end_of(port, Daemon::Ospf, "ip ospf passive", "ip ospf bfd"));
            lines
        };
        let mut lines = vec![format!("ospf router-id {}", self.id())];
        lines.push("timers throttle spf 10 100 1000".into());
        lines.push("timers throttle lsa all 200".into());
        // A new neighbour sends an old and a new announcement at once; with the default of 1 s the new one would be ignored.
        lines.push("timers lsa min-arrival 0".into());
        lines.extend(self.redistributed(Daemon::Ospf, true).map(|from| format!("redistribute {from}")));
        self.interfaces(true, port) + &block("router ospf", &lines)
    }

    fn ospf6(&self) -> String {
        let port = |port: &Port| {
            let mut lines = vec![
                format!("ipv6 ospf6 area {}", Ipv4Addr::from(port.area)),
                format!("ipv6 ospf6 cost {}", port.cost),
            ];
            lines.push(format!("ipv6 ospf6 hello-interval {HELLO}"));
            lines.push(format!("ipv6 ospf6 dead-interval {}", HELLO * HELLOS));
            lines.push(format!("ipv6 ospf6 retransmit-interval {RETRANSMISSION}"));
            lines.extend(port.is_pair().then(|| "ipv6 ospf6 network point-to-point".to_owned()));
            lines.extend(self.end_of(port, Daemon::Ospf6, "ipv6 ospf6 passive", "ipv6 ospf6 bfd"));
            lines
        };
        let mut lines = vec![format!("ospf6 router-id {}", self.id())];
        lines.push("timers throttle spf 10 100 1000".into());
        lines.push("timers lsa min-arrival 0".into());
        lines.extend(self.redistributed(Daemon::Ospf6, false).map(|from| format!("redistribute {from}")));
        self.interfaces(false, port) + &block("router ospf6", &lines)
    }

    /// RIP or RIPng, which count routers and know no cost; in FRR 8, BFD does not watch their neighbours.
    fn rip(&self, name: &str, is_v4: bool) -> String {
        let daemon = if is_v4 { Daemon::Rip } else { Daemon::Ripng };
        let mut lines = vec!["timers basic 5 15 10".to_owned()];
        for port in self.ports_of(is_v4) {
            let interface = &self.interface(port).name;
            lines.push(format!("network {interface}"));
            lines.extend((!self.has_peer(port, daemon)).then(|| format!("passive-interface {interface}")));
        }
        lines.extend(self.redistributed(daemon, is_v4).map(|from| format!("redistribute {from}")));
        block(&format!("router {name}"), &lines)
    }

    fn isis(&self) -> String {
        let mut lines = vec![format!("net {}", network_entity(self.id())), "is-type level-2-only".into()];
        lines.push("metric-style wide".into());
        lines.push("lsp-gen-interval 1".into());
        for (is_v4, word) in [(true, "ipv4"), (false, "ipv6")] {
            let from = self.redistributed(Daemon::Isis, is_v4);
            lines.extend(from.map(|from| format!("redistribute {word} {from} level-2")));
        }
        // Before the interfaces: only wide metrics may be above 63.
        let mut text = block(&format!("router isis {NAME}"), &lines);
        for port in &self.ports {
            let families =
                [(true, "ip"), (false, "ipv6")].into_iter().filter(|(is_v4, _)| self.has_family(port, *is_v4));
            let mut own: Vec<String> = families.map(|(_, word)| format!("{word} router isis {NAME}")).collect();
            if own.is_empty() {
                continue;
            }
            own.push(format!("isis metric {}", port.cost));
            own.push(format!("isis hello-interval {HELLO}"));
            own.push(format!("isis hello-multiplier {HELLOS}"));
            own.extend(port.is_pair().then(|| "isis network point-to-point".to_owned()));
            own.extend(self.end_of(port, Daemon::Isis, "isis passive", "isis bfd"));
            text += &block(&format!("interface {}", self.interface(port).name), &own);
        }
        text
    }

    fn bgp(&self) -> String {
        let own = self.routing[self.node].number.unwrap_or_default();
        let mut lines = vec![format!("bgp router-id {}", self.id()), "no bgp default ipv4-unicast".into()];
        // Between systems all is announced: filters are what own configurations are for.
        lines.push("no bgp ebgp-requires-policy".into());
        lines.push("timers bgp 3 9".into());
        let mut families = [Vec::new(), Vec::new()];
        for (address, number, source) in self.bgp_neighbors() {
            lines.push(format!("neighbor {address} remote-as {number}"));
            lines.push(format!("neighbor {address} timers connect 1"));
            lines.push(format!("neighbor {address} advertisement-interval 0"));
            lines.extend(source.map(|source| format!("neighbor {address} update-source {source}")));
            if self.speaks(Daemon::Bfd) {
                lines.extend(watched_by_bfd(&format!("neighbor {address} bfd")));
            }
            let family = &mut families[usize::from(address.is_ipv6())];
            family.push(format!(" neighbor {address} activate"));
            family.extend((number == own).then(|| format!(" neighbor {address} next-hop-self")));
        }
        for net in &self.learned.announced {
            families[usize::from(net.addr().is_ipv6())].push(format!(" network {net}"));
        }
        for (family, word) in families.into_iter().zip(["ipv4", "ipv6"]) {
            lines.push(format!("address-family {word} unicast"));
            lines.extend(family);
            lines.push("exit-address-family".into());
        }
        block(&format!("router bgp {own}"), &lines)
    }

    /// The neighbours in other autonomous systems, who are on the same segment, and all routers of the own one: each with its
    /// address and number, and the own address that it knows if it may be further away.
    fn bgp_neighbors(&self) -> Vec<(IpAddr, u32, Option<IpAddr>)> {
        let own = self.routing[self.node].number;
        let system = |node: usize| self.routing[node].number.filter(|_| self.is_speaker(node, Daemon::Bgp));
        let first = |node: usize, is_v4| self.plan.nodes[node].interfaces.iter().find_map(|one| address(one, is_v4));
        let mut found = Vec::new();
        for (port, end) in self.ports.iter().flat_map(|port| port.others.iter().map(move |end| (port, end))) {
            let Some(number) = system(end.node).filter(|number| Some(*number) != own) else { continue };
            let there = &self.plan.nodes[end.node].interfaces[end.interface];
            for is_v4 in [true, false].into_iter().filter(|is_v4| self.has_family(port, *is_v4)) {
                found.extend(address(there, is_v4).map(|address| (address, number, None)));
            }
        }
        for other in (0..self.plan.nodes.len()).filter(|other| *other != self.node) {
            let Some(number) = system(other).filter(|number| Some(*number) == own) else { continue };
            for is_v4 in [true, false] {
                let pair = first(other, is_v4).zip(first(self.node, is_v4));
                found.extend(pair.map(|(address, source)| (address, number, Some(source))));
            }
        }
        found
    }

    fn pim(&self) -> String {
        let port = |port: &Port| {
            let mut lines = vec!["ip pim".to_owned()];
            lines.extend(port.has_hosts.then(|| "ip igmp".to_owned()));
            let is_watched = self.speaks(Daemon::Bfd) && self.has_peer(port, Daemon::Pim);
            if is_watched {
                lines.extend(watched_by_bfd("ip pim bfd"));
            }
            lines
        };
        let rendezvous = self.rendezvous.map(|at| format!("ip pim rp {at} 224.0.0.0/4\n")).unwrap_or_default();
        rendezvous + &self.interfaces(true, port)
    }

    fn ldp(&self) -> String {
        let mut lines = vec![format!("router-id {}", self.id()), "address-family ipv4".into()];
        lines.push(format!(" discovery transport-address {}", self.id()));
        let ports = self.ports_of(true).filter(|port| self.has_peer(port, Daemon::Ldp));
        lines.extend(ports.map(|port| format!(" interface {}\n  exit", self.interface(port).name)));
        lines.push("exit-address-family".into());
        block("mpls ldp", &lines)
    }

    /// The routes of the plan that no other daemon brings.
    fn statics(&self) -> String {
        let node = &self.plan.nodes[self.node];
        let route = |route: &crate::plan::RoutePlan| {
            let word = if route.via.is_ipv4() { "ip" } else { "ipv6" };
            format!("{word} route {} {} {}\n", route.destination, route.via, node.interfaces[route.interface].name)
        };
        node.routes.iter().map(route).collect()
    }

    /// What a protocol passes on that comes from elsewhere.
    fn redistributed(&self, into: Daemon, is_v4: bool) -> impl Iterator<Item = &'static str> + '_ {
        let kept = if self.speaks(Daemon::Static) { "static" } else { "kernel" };
        let keeps = self.learned.keeps[usize::from(!is_v4)];
        let others = self.learned.exchanged.iter().filter(move |(_, to, v4)| *to == into && *v4 == is_v4);
        keeps.then_some(kept).into_iter().chain(others.map(|(from, ..)| from.name()))
    }

    /// What is said of an interface where nobody speaks the protocol, or of one whose neighbours BFD watches.
    fn end_of(&self, port: &Port, daemon: Daemon, passive: &str, watched: &str) -> Vec<String> {
        match (self.has_peer(port, daemon), self.speaks(Daemon::Bfd)) {
            (false, _) => vec![passive.to_owned()],
            (true, true) => watched_by_bfd(watched),
            (true, false) => Vec::new(),
        }
    }

    /// Lines about each interface with addresses of a family.
    fn interfaces(&self, is_v4: bool, lines: impl Fn(&Port) -> Vec<String>) -> String {
        let of_port = |port: &Port| match lines(port) {
            lines if lines.is_empty() => String::new(),
            lines => block(&format!("interface {}", self.interface(port).name), &lines),
        };
        self.ports_of(is_v4).map(of_port).collect()
    }

    fn ports_of(&self, is_v4: bool) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(move |port| self.has_family(port, is_v4))
    }

    fn has_family(&self, port: &Port, is_v4: bool) -> bool {
        address(self.interface(port), is_v4).is_some()
    }

    fn interface(&self, port: &Port) -> &InterfacePlan {
        &self.plan.nodes[self.node].interfaces[port.place]
    }

    fn has_peer(&self, port: &Port, daemon: Daemon) -> bool {
        port.others.iter().any(|end| self.is_speaker(end.node, daemon))
    }

    fn speaks(&self, daemon: Daemon) -> bool {
        self.is_speaker(self.node, daemon)
    }

    fn is_speaker(&self, node: usize, daemon: Daemon) -> bool {
        self.routing[node].daemons.contains(&daemon)
    }

    fn id(&self) -> Ipv4Addr {
        self.ids[self.node]
    }
}

impl Port {
    /// Whether it has one neighbour, so that no router has to be elected.
    fn is_pair(&self) -> bool {
        self.others.len() == 1
    }
}

/// The profile needs a line of its own: the first makes the session.
fn watched_by_bfd(command: &str) -> Vec<String> {
    vec![command.to_owned(), format!("{command} profile {NAME}")]
}

/// What BFD does with all neighbours.
fn bfd() -> String {
    let profile = [
        format!("profile {NAME}"),
        format!(" detect-multiplier {BFD_PACKETS}"),
        format!(" receive-interval {BFD_INTERVAL_MS}"),
        format!(" transmit-interval {BFD_INTERVAL_MS}"),
        "exit".to_owned(),
    ];
    block("bfd", &profile)
}

/// Lines that belong together.
fn block(head: &str, lines: &[String]) -> String {
    let lines: String = lines.iter().map(|line| format!(" {line}\n")).collect();
    format!("{head}\n{lines}exit\n")
}

fn address(interface: &InterfacePlan, is_v4: bool) -> Option<IpAddr> {
    interface.addresses.iter().map(IpNet::addr).find(|address| address.is_ipv4() == is_v4)
}

/// The title of a router in IS-IS: area 49.0001, then its id as twelve digits.
fn network_entity(id: Ipv4Addr) -> String {
    let digits: String = id.octets().iter().map(|octet| format!("{octet:03}")).collect();
    format!("49.0001.{}.{}.{}.00", &digits[..4], &digits[4..8], &digits[8..])
}
