//! How a node's init makes its namespaces into the node.

use std::collections::BTreeMap;
use std::iter;
use std::net::IpAddr;
use std::num::NonZeroU32;

use ipnet::IpNet;

use super::config::{Hosts, InterfaceConfig, NodeConfig, RouteConfig, RuleConfig, TableRouteConfig};
use super::fresh::Fresh;
use super::parameters::{SCOPES, TCP_BUFFERS, keys_of_ipv4, keys_of_ipv6};
use super::{congestion, offloads};
use crate::error::{Attempted, KernelError};
use crate::kernel_views::protect_machine;
use crate::netlink::{
    Gateway, LOOPBACK, Netlink, Request, Rule, add_address, add_group, add_neighbor, add_route, add_rule,
    add_table_route, say_congestion, set_up,
};
use crate::{files, mount, sysctl};

/// The priority of the first rule: behind the table of the node's own addresses (0), before that of its routes (32766).
const FIRST_PRIORITY: u32 = 1_000;

/// Everything that can be done before the interfaces exist. They then take their parameters from `default`. Returns
/// what could not be had but is not needed.
pub(crate) fn prepare(config: &NodeConfig, fresh: &Fresh) -> Result<Vec<String>, KernelError> {
    nix::unistd::sethostname(&config.name).attempted(|| "set the host name")?;
    mount::only_proc()?;
    if let Some(Hosts::File(file)) = &config.hosts {
        mount::hosts(file)?;
    }
    let note = files::enter(&config.files, &config.name)?;
    config.sysctls.iter().try_for_each(|(key, _)| refuse_shared(key))?;
    TCP_BUFFERS.iter().try_for_each(|(key, value)| fresh.set_if_present(key, value))?;
    let mut notes = prepare_network(config, fresh)?;
    notes.extend(congestion::set_usual(&config.sysctls, fresh)?);
    notes.extend(note);
    // A machine that hides parts of its /sys, as containers do, lets no process mount a fresh one. Programs then see
    // the machine's interfaces there instead of the node's, which few of them ever look at.
    match mount::only_sys() {
        Ok(()) => {}
        Err(error) if error.errno() == libc::EPERM => notes.push(format!("{error}; /sys shows the machine's own")),
        Err(error) => return Err(error),
    }
    protect_machine()?;
    Ok(notes)
}

/// The parameters that belong to no interface, and the loopback interface. Returns what is to be known of them.
fn prepare_network(config: &NodeConfig, fresh: &Fresh) -> Result<Vec<String>, KernelError> {
    base_sysctls(config.forwarding, fresh)?;
    config.multipath.map_or(Ok(()), spread_flows)?;
    let mut notes = Vec::new();
    for (key, value) in &config.sysctls {
        if !belongs_to_an_interface(config, key) {
            notes.extend(congestion::set(key, value)?);
        }
    }
    Netlink::open()?.set_up(LOOPBACK)?;
    Ok(notes)
}

/// The same for a node that has a kernel of its own, and with it all of its parameters.
pub(crate) fn prepare_guest(config: &NodeConfig) -> Result<Vec<String>, KernelError> {
    // A kernel with little memory gives connections little room. First, since users may say otherwise.
    TCP_BUFFERS.iter().try_for_each(|(key, value)| sysctl::set(key, value))?;
    let is_own = files::is_named(&config.files.entries, files::HOSTS);
    if let Some(Hosts::Text(text)) = config.hosts.as_ref().filter(|_| !is_own) {
        std::fs::write("/etc/hosts", text).attempted(|| "write /etc/hosts")?;
    }
    prepare_network(config, &Fresh::default())
}

/// Interfaces, addresses, neighbors and routes. `is_made`: whether the node was made of namespaces that have the machine's usual TCP.
pub(crate) fn configure(config: &NodeConfig, is_made: bool) -> Result<(), KernelError> {
    for (key, value) in &config.sysctls {
        if belongs_to_an_interface(config, key) {
            sysctl::set(key, value)?;
        }
    }
    let mut netlink = Netlink::open()?;
    let indexes = indexes(&mut netlink, &config.interfaces)?;
    let congestion = congestion::of_routes(&config.sysctls, is_made);
    let interfaces = config.interfaces.iter().zip(&indexes);
    let interfaces = interfaces.flat_map(|(interface, index)| of_interface(*index, interface, congestion));
    let gateway = |route: &RouteConfig| Gateway {
        index: indexes[route.interface],
        interface: &config.interfaces[route.interface].name,
        via: route.via,
    };
    let routes = config.routes.chunk_by(|one, other| one.destination == other.destination).map(|ways| {
        let gateways: Vec<Gateway<'_>> = ways.iter().map(gateway).collect();
        add_route(ways[0].destination, &gateways, congestion)
    });
    let led = config.interfaces.iter().filter(|interface| interface.engine).map(|interface| interface.name.as_str());
    offloads::keep_what_the_engine_cannot_be_told(led)?;
    let groups = config
        .groups
        .iter()
        .map(|(group, interface)| add_group(indexes[*interface], &config.interfaces[*interface].name, *group));
    let name = |interface: usize| config.interfaces[interface].name.as_str();
    let tables = config.tables.iter().map(|route| {
        let TableRouteConfig { table, destination, via, interface } = *route;
        add_table_route(table, indexes[interface], name(interface), destination, via, congestion)
    });
    let rules = config.rules.iter().zip(FIRST_PRIORITY..).map(|(rule, priority)| {
        let RuleConfig { is_v6, from, to, mark, table, .. } = *rule;
        add_rule(&Rule { is_v6, priority, from, to, iif: rule.iif.map(name), mark, table })
    });
    netlink.transact(interfaces.chain(routes).chain(groups).chain(tables).chain(rules))
}

/// Everything again that the network of a node had at its beginning: parameters, interfaces, addresses, neighbors and routes. `is_made`: as for
/// [`configure`].
pub(crate) fn bring_up(config: &NodeConfig, is_made: bool) -> Result<(), KernelError> {
    let fresh = Fresh::default();
    TCP_BUFFERS.iter().try_for_each(|(key, value)| fresh.set_if_present(key, value))?;
    // What could not be had was reported when the node was made.
    prepare_network(config, &fresh)?;
    if is_made {
        congestion::set_usual(&config.sysctls, &fresh)?;
    }
    settle_in_container(config)?;
    configure(config, is_made)
}

/// Whether packets for its addresses are taken. Those of IPv6 the kernel makes its own in the background, one after the other
/// for all namespaces of a machine (`addrconf_dad_work` of net/ipv6/addrconf.c): until then it looks for them on the link.
pub(crate) fn is_settled(config: &NodeConfig) -> Result<bool, KernelError> {
    let mut netlink = Netlink::open()?;
    let addresses = config.interfaces.iter().flat_map(|interface| &interface.addresses).map(IpNet::addr);
    for address in addresses.filter(IpAddr::is_ipv6) {
        if !netlink.is_own(address)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Parameters that must not depend on the machine's own: a new namespace inherits the IPv4 ones from it.
fn base_sysctls(forwarding: bool, fresh: &Fresh) -> Result<(), KernelError> {
    // First, since the kernel resets other parameters when it changes.
    let forward = if forwarding { "1" } else { "0" };
    fresh.set("net.ipv4.ip_forward", forward)?;
    SCOPES.into_iter().try_for_each(|scope| scoped_sysctls(scope, fresh))?;
    for scope in SCOPES {
        fresh.set_if_present(&format!("net.ipv6.conf.{scope}.forwarding"), forward)?;
    }
    unprivileged_pings()
}

/// The parameters that this sets: see [`spread_flows`].
pub(super) const MULTIPATH: [&str; 3] =
    ["net.ipv4.fib_multipath_hash_policy", "net.ipv6.fib_multipath_hash_policy", "net.ipv4.fib_multipath_hash_seed"];

/// Lets flows choose among next hops by addresses, protocol and ports, not by addresses alone. A kernel since 6.11 takes a seed, so
/// that they choose alike in every run; an older one draws it at boot.
pub(super) fn spread_flows(seed: NonZeroU32) -> Result<(), KernelError> {
    let without = "a kernel without CONFIG_IP_ROUTE_MULTIPATH has no `routes: ecmp`";
    sysctl::set("net.ipv4.fib_multipath_hash_policy", "1").map_err(|error| error.with_detail(without))?;
    sysctl::set_if_present("net.ipv6.fib_multipath_hash_policy", "1")?;
    sysctl::set_if_present("net.ipv4.fib_multipath_hash_seed", &seed.to_string())
}

/// Lets all users ping, as distributions do at boot. In a user namespace with one group, that is all that it takes.
fn unprivileged_pings() -> Result<(), KernelError> {
    const KEY: &str = "net.ipv4.ping_group_range";
    match sysctl::set_if_present(KEY, "0 2147483647") {
        Err(error) if error.errno() == libc::EINVAL => {
            let group = nix::unistd::getegid();
            sysctl::set(KEY, &format!("{group} {group}"))
        }
        other => other,
    }
}

/// The parameters of all interfaces, of those to come, or of one.
fn scoped_sysctls(scope: &str, fresh: &Fresh) -> Result<(), KernelError> {
    // In the names of parameters a slash stands for a dot.
    let scope = scope.replace('.', "/");
    keys_of_ipv4(&scope).try_for_each(|key| fresh.set(&key, "0"))?;
    keys_of_ipv6(&scope).try_for_each(|key| fresh.set_if_present(&key, "0"))
}

/// The parameters of the lab's interfaces, which take those that the container has for new ones: those that the lab file does not
/// mention become as in all nodes.
pub(super) fn settle_in_container(config: &NodeConfig) -> Result<(), KernelError> {
    let is_said =
        |key: &str| SCOPES.iter().any(|scope| config.sysctls.iter().any(|(said, _)| *said == key_in(key, scope)));
    for name in config.interfaces.iter().map(|interface| interface.name.replace('.', "/")) {
        let of_scope = |key: &String| key_in(key, &name);
        for key in keys_of_ipv4("default").filter(|key| !is_said(key)) {
            sysctl::set(&of_scope(&key), "0")?;
        }
        for key in keys_of_ipv6("default").filter(|key| !is_said(key)) {
            sysctl::set_if_present(&of_scope(&key), "0")?;
        }
    }
    let forward = |name: &str| format!("net.ipv6.conf.{}.forwarding", name.replace('.', "/"));
    let own = config.interfaces.iter().map(|interface| forward(&interface.name));
    let own = own.filter(|_| !is_said("net.ipv6.conf.default.forwarding")).collect::<Vec<_>>();
    own.into_iter().try_for_each(|key| sysctl::set_if_present(&key, if config.forwarding { "1" } else { "0" }))
}

/// The parameter of the scope `default` in another one.
fn key_in(key: &str, scope: &str) -> String {
    key.replace(".default.", &format!(".{scope}."))
}

/// Refuses parameters that are the whole machine's.
pub(super) fn refuse_shared(key: &str) -> Result<(), KernelError> {
    if sysctl::is_private_to_a_node(key) {
        return Ok(());
    }
    let why =
        "it is not a node's own but the whole machine's: only net.*, fs.mqueue.* and the IPC limits of kernel.* are";
    Err(KernelError::new(format!("set {key}"), libc::EPERM).with_detail(why))
}

pub(super) fn belongs_to_an_interface(config: &NodeConfig, key: &str) -> bool {
    sysctl::interface_of(key).is_some_and(|name| config.interfaces.iter().any(|interface| interface.name == name))
}

fn indexes(netlink: &mut Netlink, interfaces: &[InterfaceConfig]) -> Result<Vec<u32>, KernelError> {
    let links: BTreeMap<String, u32> = netlink.links()?.into_iter().map(|link| (link.name, link.index)).collect();
    let index = |interface: &InterfaceConfig| {
        let found = links.get(&interface.name).copied();
        found.ok_or_else(|| KernelError::new(format!("find interface {}", interface.name), libc::ENODEV))
    };
    interfaces.iter().map(index).collect()
}

/// Neighbors come behind "up", which empties the neighbor table. So do addresses: of those that are there already, "up"
/// makes routes without being able to wait for memory, and where a thousand nodes are made at once on a busy machine, the
/// kernel then drops an IPv6 address for want of it (`addrconf_permanent_addr` of net/ipv6/addrconf.c), and tells nobody
/// but its log.
fn of_interface<'a>(
    index: u32,
    interface: &'a InterfaceConfig,
    congestion: Option<&'a str>,
) -> impl Iterator<Item = Request> + Clone + 'a {
    let name = &interface.name;
    let addresses = interface.addresses.iter().map(move |address| add_address(index, name, *address));
    let neighbors = interface.neighbors.iter().map(move |(address, mac)| add_neighbor(index, name, *address, *mac));
    let connected = congestion.into_iter().flat_map(move |congestion| {
        interface.addresses.iter().filter_map(move |address| say_congestion(index, name, *address, congestion))
    });
    iter::once(set_up(index, name)).chain(addresses).chain(connected).chain(neighbors)
}
