//! A node that is stopped: its network goes as that of a machine that is switched off. What made it first makes it again
//! ([`bring_up`](super::configure::bring_up)).

use super::config::NodeConfig;
use crate::error::KernelError;
use crate::netlink::{LOOPBACK, Netlink, change, nftables};

/// Takes all interfaces down and removes what the node's network had beyond them: addresses, routes, rules of routing and of nftables,
/// queueing disciplines, interfaces that programs made. Hardware addresses and MTUs become those of the lab file.
pub(crate) fn shut_down(config: &NodeConfig) -> Result<(), KernelError> {
    let mut netlink = Netlink::open()?;
    let links = netlink.links()?;
    let place = |name: &str| config.interfaces.iter().find(|interface| interface.name == name);
    let (own, others): (Vec<_>, Vec<_>) = links.iter().partition(|link| place(&link.name).is_some());
    for link in others.into_iter().filter(|link| link.index != LOOPBACK) {
        // Kernels give a namespace interfaces of their own, for tunnels, which cannot be removed. They are down unless programs use them.
        let _ = netlink.transact([change::down(link.index, &link.name)]);
        let _ = netlink.transact([change::delete(link.index, &link.name)]);
    }
    let described = own.iter().filter_map(|link| Some((link.index, place(&link.name)?)));
    let as_made = described.flat_map(|(index, interface)| {
        let name = &interface.name;
        [change::down(index, name), change::mac(index, name, interface.mac), change::mtu(index, name, interface.mtu)]
    });
    netlink.transact(as_made)?;
    let indexes: Vec<u32> = own.iter().map(|link| link.index).collect();
    netlink.flush_addresses(&indexes)?;
    netlink.flush_rules()?;
    netlink.flush_dead_ends()?;
    indexes.iter().try_for_each(|index| netlink.flush_disciplines(*index))?;
    nftables::flush()
}
