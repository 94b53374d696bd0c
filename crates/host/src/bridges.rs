//! Bridges of the kernel, in a network namespace of their own, which has no process. It lasts as long as the [`Bridges`], and so at
//! most as long as the process that has made them.

use std::fs::File;

use nix::sched::{CloneFlags, setns, unshare};

use crate::error::{Attempted, KernelError};
use crate::netlink::bridge::{self, Bridge};
use crate::netlink::{Link, Netlink, Veth};
use crate::sysctl;

/// A port of a bridge: an interface in its namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgePort {
    /// The name of the interface.
    pub name: String,
    /// The place of the bridge among those that were made.
    pub bridge: usize,
}

/// See the module.
#[derive(Debug)]
pub struct Bridges {
    /// Of the namespace, which it keeps alive.
    netlink: Netlink,
    /// The numbers of the bridges, in their order.
    indexes: Vec<u32>,
    ports: Vec<BridgePort>,
}

impl Bridges {
    /// Makes bridges, still without ports, and brings them up. What the namespace sends of itself is nothing.
    ///
    /// # Errors
    /// The kernel's refusal. A kernel that was built without bridges says that it is not supported.
    pub fn create(bridges: &[Bridge]) -> Result<Self, KernelError> {
        let home = File::open("/proc/self/ns/net").attempted(|| "open the network namespace")?;
        unshare(CloneFlags::CLONE_NEWNET).attempted(|| "make a network namespace for bridges")?;
        let made = quiet_namespace().and_then(|()| Netlink::open());
        setns(home, CloneFlags::CLONE_NEWNET).attempted(|| "go back to the lab's network namespace")?;
        let mut netlink = made?;
        let indexes = netlink.create_bridges(bridges)?;
        Ok(Self { netlink, indexes, ports: Vec::new() })
    }

    /// Makes pairs of which one end is here, or both are: an end without a namespace. These become ports with [`Bridges::connect`].
    ///
    /// # Errors
    /// The kernel's first refusal.
    pub fn add(&mut self, pairs: &[Veth], ports: Vec<BridgePort>) -> Result<(), KernelError> {
        self.netlink.create_veths(pairs)?;
        self.ports.extend(ports);
        Ok(())
    }

    /// Brings all ports up and gives them to their bridges.
    ///
    /// # Errors
    /// The kernel's first refusal.
    ///
    /// # Panics
    /// If a port is at a bridge that there is not.
    pub fn connect(&mut self) -> Result<(), KernelError> {
        let (ports, indexes) = (&self.ports, &self.indexes);
        self.netlink.transact(ports.iter().map(|port| bridge::join(&port.name, indexes[port.bridge])))
    }

    /// How many ports there are.
    pub fn ports(&self) -> usize {
        self.ports.len()
    }

    /// How many of them pass frames on: what is at their other ends is up, and the kernel has noticed.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn forwarding(&mut self) -> Result<usize, KernelError> {
        self.netlink.forwarding_ports()
    }

    /// All interfaces of the namespace: the bridges and their ports.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn links(&mut self) -> Result<Vec<Link>, KernelError> {
        self.netlink.links()
    }
}

/// Has the current namespace send nothing of itself, and show no filter of packets what its bridges pass on.
fn quiet_namespace() -> Result<(), KernelError> {
    for scope in ["all", "default"] {
        sysctl::set_if_present(&format!("net.ipv6.conf.{scope}.disable_ipv6"), "1")?;
    }
    // They are there where `br_netfilter` is loaded, and would have frames pass iptables as packets, put together from fragments.
    for table in ["arptables", "iptables", "ip6tables"] {
        sysctl::set_if_present(&format!("net.bridge.bridge-nf-call-{table}"), "0")?;
    }
    Ok(())
}
