//! Network devices of a node with a kernel of its own: one belongs to the agent, the others are the node's interfaces.

use std::fs::File;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns, unshare};

use super::frames::{CONTROL_MTU, HEARTBEAT, STATION};
use super::socket::ControlSocket;
use crate::error::{Attempted, KernelError};
use crate::ethtool;
use crate::netlink::{Link, Netlink, add_address, change};
use crate::node::InterfaceConfig;
use crate::sysctl;
use ipnet::{IpNet, Ipv4Net};

/// The default MTU of an Ethernet device.
const USUAL_MTU: u32 = 1500;

/// As for any network card: the veth pairs of namespace nodes have it, too.
const SEND_QUEUE: u32 = 1000;

/// How long a virtual machine may take to find its other devices when it has found one.
const FOUND_WITHIN: Duration = Duration::from_secs(10);

/// Which of a kernel's devices belongs to the agent.
pub(super) type Choice = fn(&[Link]) -> Option<&Link>;

/// In a kernel node: the first.
pub(super) fn first(devices: &[Link]) -> Option<&Link> {
    devices.first()
}

/// In a virtual machine, which may find them in any order: the one with the agent's address.
pub(super) fn control(devices: &[Link]) -> Option<&Link> {
    devices.iter().find(|device| address(&device.name) == Some(STATION))
}

/// Whether a virtual machine has found the agent's device.
pub(super) fn has_control() -> bool {
    Netlink::open().and_then(|mut netlink| hardware(&mut netlink)).is_ok_and(|devices| control(&devices).is_some())
}

/// Puts devices into the order of these interfaces.
pub(super) type Order = fn(&mut Netlink, &[InterfaceConfig]) -> Result<Vec<Link>, KernelError>;

/// In a kernel node: as the kernel found them.
pub(super) fn in_order(netlink: &mut Netlink, interfaces: &[InterfaceConfig]) -> Result<Vec<Link>, KernelError> {
    let devices = hardware(netlink)?;
    if devices.len() == interfaces.len() {
        return Ok(devices);
    }
    let (has, needs) = (devices.len(), interfaces.len());
    let detail = format!("it has {has} of {needs}; one that this version of netloom did not build has 51 at most");
    Err(KernelError::new("find the network devices of this kernel", libc::ENODEV).with_detail(detail))
}

/// In a virtual machine: by their addresses. What its own programs have begun to do with them ends.
pub(super) fn by_address(netlink: &mut Netlink, interfaces: &[InterfaceConfig]) -> Result<Vec<Link>, KernelError> {
    let until = Instant::now() + FOUND_WITHIN;
    loop {
        let mut devices = hardware(netlink)?;
        let take = |interface: &InterfaceConfig| {
            let place = devices.iter().position(|device| address(&device.name) == Some(interface.mac))?;
            Some(devices.remove(place))
        };
        let found: Vec<Link> = interfaces.iter().map_while(take).collect();
        if found.len() == interfaces.len() {
            netlink.transact(found.iter().map(|device| change::down(device.index, &device.name)))?;
            return Ok(found);
        }
        if Instant::now() > until {
            let name = &interfaces[found.len()].name;
            return Err(KernelError::new(format!("find the device of interface {name}"), libc::ENODEV));
        }
        sleep(Duration::from_millis(20));
    }
}

/// The hardware address of a device.
fn address(name: &str) -> Option<[u8; 6]> {
    let text = std::fs::read_to_string(Path::new("/sys/class/net").join(name).join("address")).ok()?;
    let bytes: Option<Vec<u8>> = text.trim().split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    bytes?.try_into().ok()
}

/// Moves the agent's device to a network namespace where no program sees it, and opens the agent's socket on it. The
/// socket keeps that namespace alive.
pub(super) fn hide_control(choose: Choice) -> Result<ControlSocket, KernelError> {
    let mut here = Netlink::open()?;
    let devices = hardware(&mut here)?;
    let control = choose(&devices).ok_or_else(|| {
        KernelError::new("find the control device", libc::ENODEV).with_detail("this kernel has no network device")
    })?;
    let home = leave_for_new_network()?;
    for scope in ["all", "default"] {
        // It carries nothing but the agent's frames.
        sysctl::set_if_present(&format!("net.ipv6.conf.{scope}.disable_ipv6"), "1")?;
    }
    here.transact(vec![change::into_namespace(control.index, &control.name, std::process::id())])?;
    let mut hidden = Netlink::open()?;
    let index = hidden.index_of(&control.name)?;
    // A device that cannot carry long frames carries more of them.
    let long = hidden.transact(vec![change::mtu(index, &control.name, CONTROL_MTU)]).is_ok();
    hidden.set_up(index)?;
    // The kernel answers heartbeats there.
    let heartbeat = IpNet::V4(Ipv4Net::new(HEARTBEAT, 30).expect("a prefix has 32 bits at most"));
    hidden.transact([add_address(index, &control.name, heartbeat)])?;
    let socket = ControlSocket::open(index, if long { CONTROL_MTU } else { USUAL_MTU })?;
    return_to(home)?;
    Ok(socket)
}

/// Goes to a new network namespace, and returns the one before.
fn leave_for_new_network() -> Result<File, KernelError> {
    let home = File::open("/proc/self/ns/net").attempted(|| "open the network namespace")?;
    unshare(CloneFlags::CLONE_NEWNET).attempted(|| "make a network namespace beside the node's")?;
    Ok(home)
}

fn return_to(home: File) -> Result<(), KernelError> {
    setns(home, CloneFlags::CLONE_NEWNET).attempted(|| "go back to the node's network namespace")
}

/// Takes devices out of the node's network and puts them back. They then have the parameters that the node has for new
/// interfaces, as those of a node in namespaces, whose interfaces come when its parameters are set.
fn renew(here: &mut Netlink, devices: &[Link]) -> Result<(), KernelError> {
    let home = leave_for_new_network()?;
    let moved = || devices.iter().map(|device| change::into_namespace(device.index, &device.name, std::process::id()));
    let away = Netlink::open().and_then(|away| here.transact(moved()).map(|()| away));
    return_to(home)?;
    away?.transact(moved())
}

/// Makes the remaining devices into the described interfaces.
pub(super) fn adopt(interfaces: &[InterfaceConfig], order: Order) -> Result<(), KernelError> {
    let mut netlink = Netlink::open()?;
    let found = order(&mut netlink, interfaces)?;
    renew(&mut netlink, &found)?;
    let devices = order(&mut netlink, interfaces)?;
    // Names that only this function knows come first: a device may be called what another one is to be called.
    let aside = devices
        .iter()
        .enumerate()
        .map(|(number, device)| change::name(device.index, &device.name, &format!("device{number}")));
    let mut requests: Vec<_> = aside.collect();
    for (device, interface) in devices.iter().zip(interfaces) {
        requests.push(change::name(device.index, &device.name, &interface.name));
        requests.push(change::mac(device.index, &interface.name, interface.mac));
        requests.push(change::mtu(device.index, &interface.name, interface.mtu));
        requests.push(change::send_queue(device.index, &interface.name, SEND_QUEUE));
    }
    netlink.transact(requests)?;
    interfaces.iter().try_for_each(|interface| ethtool::announce_speed(&interface.name, interface.speed_mbit))
}

/// The devices behind which there is hardware, in the order in which the kernel found them.
fn hardware(netlink: &mut Netlink) -> Result<Vec<Link>, KernelError> {
    let mut devices = netlink.links()?;
    devices.retain(|link| Path::new("/sys/class/net").join(&link.name).join("device").exists());
    devices.sort_by_key(|link| link.index);
    Ok(devices)
}
