//! Network devices of a kernel node: the first one belongs to the agent, the others are the node's interfaces.

use std::fs::File;
use std::path::Path;

use nix::sched::{CloneFlags, setns, unshare};

use super::frames::CONTROL_MTU;
use super::socket::ControlSocket;
use crate::error::{Attempted, KernelError};
use crate::netlink::{Link, Netlink, change};
use crate::node::InterfaceConfig;
use crate::sysctl;

/// The default MTU of an Ethernet device.
const USUAL_MTU: u32 = 1500;

/// As for any network card: the veth pairs of namespace nodes have it, too.
const SEND_QUEUE: u32 = 1000;

/// Moves the first device to a network namespace where no program sees it, and opens the agent's socket on it. The
/// socket keeps that namespace alive.
pub(super) fn hide_control() -> Result<ControlSocket, KernelError> {
    let mut here = Netlink::open()?;
    let control = hardware(&mut here)?.into_iter().next();
    let control = control.ok_or_else(|| {
        KernelError::new("find the control device", libc::ENODEV).with_detail("this kernel has no network device")
    })?;
    let home = File::open("/proc/self/ns/net").attempted(|| "open the network namespace")?;
    unshare(CloneFlags::CLONE_NEWNET).attempted(|| "make a network namespace for the control device")?;
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
    let socket = ControlSocket::open(index, if long { CONTROL_MTU } else { USUAL_MTU })?;
    setns(home, CloneFlags::CLONE_NEWNET).attempted(|| "go back to the node's network namespace")?;
    Ok(socket)
}

/// Makes the remaining devices, in their order, into the described interfaces.
pub(super) fn adopt(interfaces: &[InterfaceConfig]) -> Result<(), KernelError> {
    let mut netlink = Netlink::open()?;
    let devices = hardware(&mut netlink)?;
    if devices.len() != interfaces.len() {
        let (has, needs) = (devices.len(), interfaces.len());
        let detail = format!("it has {has} of {needs}; one that this version of netloom did not build has 51 at most");
        return Err(KernelError::new("find the network devices of this kernel", libc::ENODEV).with_detail(detail));
    }
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
    netlink.transact(requests)
}

/// The devices behind which there is hardware, in the order in which the kernel found them.
fn hardware(netlink: &mut Netlink) -> Result<Vec<Link>, KernelError> {
    let mut devices = netlink.links()?;
    devices.retain(|link| Path::new("/sys/class/net").join(&link.name).join("device").exists());
    devices.sort_by_key(|link| link.index);
    Ok(devices)
}
