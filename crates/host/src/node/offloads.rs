//! What a node's own kernel has to do before the packet engine gets a packet, and what it may leave to others.
//!
//! A packet socket tells with a virtio-net header what is still to be done on a packet (VIRTIO 1.2, section 5.1.6.2), and
//! that header knows neither tunnels nor SCTP. The kernel hands over such super-packets all the same, and refuses them when
//! they are sent on (`udp4_ufo_fragment` of net/ipv4/udp_offload.c and its like). So they are cut, and SCTP's checksums
//! made, where they are sent: by the node's kernel, as if its network card could do nothing of it.

use super::ethtool::Ethtool;
use crate::error::{Attempted, KernelError};

/// Names of the kernel's features (net/ethtool/common.c); one that a kernel does not have need not be turned off.
const UNTOLD: [&str; 8] = [
    "tx-gre-segmentation",
    "tx-gre-csum-segmentation",
    "tx-ipxip4-segmentation",
    "tx-ipxip6-segmentation",
    "tx-udp_tnl-segmentation",
    "tx-udp_tnl-csum-segmentation",
    "tx-sctp-segmentation",
    "tx-checksum-sctp",
];

/// Without these the kernel sends every packet cut and with its checksums.
const UNFINISHED: [&str; 8] = [
    "tx-checksum-ipv4",
    "tx-checksum-ip-generic",
    "tx-checksum-ipv6",
    "tx-checksum-sctp",
    "tx-tcp-segmentation",
    "tx-tcp-ecn-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
];

/// Has the kernel do that for these interfaces, at whose other end the packet engine is.
pub(crate) fn keep_what_the_engine_cannot_be_told<'a>(
    mut led: impl Iterator<Item = &'a str>,
) -> Result<(), KernelError> {
    let Some(first) = led.next() else { return Ok(()) };
    let ethtool = Ethtool::open()?;
    let Some(known) = ethtool.features(first)? else { return Ok(()) };
    std::iter::once(first).chain(led).try_for_each(|interface| {
        let turned_off = ethtool.turn_off(interface, &known, &UNTOLD);
        turned_off.attempted(|| format!("leave tunnels and SCTP of interface {interface} to its kernel"))
    })
}

/// Prepares interfaces of the current network namespace, which are the other ends of the veth pairs of a node that reads raw frames and sends
/// them on. They hand it no unfinished ones, and they take frames that a program of XDP in the node redirects out of its end: the kernel
/// hands those over only to an interface that joins packets (`veth_xdp_xmit` of drivers/net/veth.c, Linux 5.13 and later). Packets of the
/// node's stack do not go that way, and so are not joined.
///
/// Not for all nodes: an interface that joins packets takes some milliseconds more to go down, or away, since the kernel waits for
/// all its processors then.
///
/// # Errors
/// The kernel's refusal.
pub fn prepare_far_ends<'a>(mut ends: impl Iterator<Item = &'a str>) -> Result<(), KernelError> {
    let Some(first) = ends.next() else { return Ok(()) };
    let ethtool = Ethtool::open()?;
    let known = ethtool.features(first)?.unwrap_or_default();
    std::iter::once(first).chain(ends).try_for_each(|interface| {
        // Older kernels know no such way out of a pair; then frames that are redirected are lost, which the verdict tells.
        let _ = ethtool.join_packets(interface);
        let turned_off = ethtool.turn_off(interface, &known, &UNFINISHED);
        turned_off.attempted(|| format!("finish what is sent to interface {interface}"))
    })
}
