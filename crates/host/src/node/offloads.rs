//! What a node's own kernel has to do before the packet engine gets a packet.
//!
//! A packet socket tells with a virtio-net header what is still to be done on a packet (VIRTIO 1.2, section 5.1.6.2), and
//! that header knows neither tunnels nor SCTP. The kernel hands over such super-packets all the same, and refuses them when
//! they are sent on (`udp4_ufo_fragment` of net/ipv4/udp_offload.c and its like). So they are cut, and SCTP's checksums
//! made, where they are sent: by the node's kernel, as if its network card could do nothing of it.

use std::io;
use std::os::unix::net::UnixDatagram;

use crate::error::{Attempted, KernelError};
use crate::ethtool::{ask, socket};

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

// linux/ethtool.h
const GET_STRINGS: u32 = 0x1b;
const GET_COUNT: u32 = 0x37;
const SET_FEATURES: u32 = 0x3b;
const FEATURES: u32 = 4;
/// Room of a feature's name, in bytes.
const NAME: usize = 32;
/// Features per word of a set.
const WORD: usize = 32;

/// Has the kernel do that for these interfaces, at whose other end the packet engine is.
pub(crate) fn keep_what_the_engine_cannot_be_told<'a>(
    mut led: impl Iterator<Item = &'a str>,
) -> Result<(), KernelError> {
    let Some(first) = led.next() else { return Ok(()) };
    let socket = socket()?;
    let names = match names(&socket, first) {
        // A kernel without these requests has none of these features.
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => return Ok(()),
        other => other.attempted(|| format!("list the features of interface {first}"))?,
    };
    let request = turning_off(&names);
    std::iter::once(first).chain(led).try_for_each(|interface| {
        let turned_off = ask(&socket, interface, &mut request.clone());
        turned_off.attempted(|| format!("leave tunnels and SCTP of interface {interface} to its kernel"))
    })
}

/// The names of all features, in the order of their bits; the same for all interfaces.
fn names(socket: &UnixDatagram, interface: &str) -> io::Result<Vec<u8>> {
    // Command, a reserved word, a mask of 64 bits of what is to be counted, and room for one answer.
    let mut count = [GET_COUNT, 0, 1 << FEATURES, 0, 0];
    ask(socket, interface, &mut count)?;
    let words = count[4] as usize * NAME / size_of::<u32>();
    // Command, what is listed, how many, and their names.
    let mut strings = vec![GET_STRINGS, FEATURES, count[4]];
    strings.resize(strings.len() + words, 0);
    ask(socket, interface, &mut strings)?;
    Ok(strings[3..].iter().flat_map(|word| word.to_ne_bytes()).collect())
}

/// Command, number of words, and for each word which of its bits are meant and what they are to be: zero.
fn turning_off(names: &[u8]) -> Vec<u32> {
    let count = names.len() / NAME;
    let words = count.div_ceil(WORD);
    let mut request = vec![0; 2 + 2 * words];
    request[0] = SET_FEATURES;
    request[1] = u32::try_from(words).expect("a few words");
    for (bit, name) in names.chunks_exact(NAME).enumerate() {
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        if UNTOLD.iter().any(|untold| untold.as_bytes() == name) {
            request[2 + 2 * (bit / WORD)] |= 1 << (bit % WORD);
        }
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<u8> {
        let padded = names.iter().flat_map(|name| {
            let mut room = [0; NAME];
            room[..name.len()].copy_from_slice(name.as_bytes());
            room
        });
        padded.collect()
    }

    #[test]
    fn features_are_found_by_name_in_any_word() {
        let mut names = vec!["x"; 40];
        names[3] = "tx-gre-segmentation";
        names[39] = "tx-udp_tnl-segmentation";
        names[4] = "tx-tcp-segmentation";
        assert_eq!(turning_off(&named(&names)), [SET_FEATURES, 2, 1 << 3, 0, 1 << 7, 0]);
    }

    #[test]
    fn a_kernel_that_knows_none_of_them_is_asked_for_nothing() {
        assert_eq!(turning_off(&named(&["tx-tcp-segmentation"])), [SET_FEATURES, 1, 0, 0]);
        assert_eq!(turning_off(&[]), [SET_FEATURES, 0]);
    }
}
