//! A node that is stopped: its network goes as that of a machine that is switched off. What made it first makes it again
//! ([`bring_up`](super::configure::bring_up)).

use super::config::NodeConfig;
use super::watch::Watch;
use crate::error::KernelError;
use crate::netlink::{LOOPBACK, Netlink, change, netfilter};

/// Takes all interfaces down and removes what the node's network had beyond them: addresses, routes, rules of routing and of nftables,
/// queueing disciplines, keys of IPsec, connections that are followed, interfaces that programs made. Names, hardware addresses and MTUs
/// become those of the lab file. `watch`: knows interfaces that were renamed.
pub(crate) fn shut_down(config: &NodeConfig, watch: Option<&Watch>) -> Result<(), KernelError> {
    let mut netlink = Netlink::open()?;
    let mut own = Vec::new();
    for link in netlink.links()? {
        let name = watch.map_or(Some(link.name.as_str()), |watch| watch.described(config, link.index));
        match config.interfaces.iter().find(|interface| Some(interface.name.as_str()) == name) {
            Some(interface) => own.push((link, interface)),
            None if link.index == LOOPBACK => netlink.transact([change::down(link.index, &link.name)])?,
            None => {
                // Kernels give a namespace interfaces of their own, for tunnels, which cannot be removed. They are down unless programs
                // use them.
                let _ = netlink.transact([change::down(link.index, &link.name)]);
                let _ = netlink.transact([change::delete(link.index, &link.name)]);
            }
        }
    }
    netlink.transact(own.iter().flat_map(|(link, interface)| {
        let (index, name) = (link.index, &interface.name);
        let renamed = (link.name != *name).then(|| change::name(index, &link.name, name));
        [change::down(index, name)]
            .into_iter()
            .chain(renamed)
            .chain([change::mac(index, name, interface.mac), change::mtu(index, name, interface.mtu)])
    }))?;
    let indexes: Vec<u32> = own.iter().map(|(link, _)| link.index).chain([LOOPBACK]).collect();
    // The loopback interface gets its addresses anew when it comes up without any.
    netlink.flush_addresses(&indexes)?;
    netlink.flush_rules()?;
    netlink.flush_dead_ends()?;
    indexes.iter().try_for_each(|index| netlink.flush_disciplines(*index))?;
    netfilter::flush_filters()?;
    netfilter::flush_ipsec()
}
