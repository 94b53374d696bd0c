//! Requests of ethtool(8) about the interfaces of the current network namespace.

use std::io;
use std::os::unix::net::UnixDatagram;

use crate::error::{Attempted, KernelError};
use crate::ethtool;

// linux/ethtool.h
const GET_RINGS: u32 = 0x10;
const GET_STRINGS: u32 = 0x1b;
const GET_STATISTICS: u32 = 0x1d;
const SET_GRO: u32 = 0x2c;
const GET_COUNT: u32 = 0x37;
const SET_FEATURES: u32 = 0x3b;
/// The sets of names: of statistics, and of features.
const STATISTICS: u32 = 1;
const FEATURES: u32 = 4;
/// Room of a name, in bytes.
const NAME: usize = 32;
/// Features per word of a set.
const WORD: usize = 32;
/// Words of `ethtool_ringparam`: the command, four limits, and the four rings.
const RINGS: usize = 9;

/// A socket for such requests; any socket will do.
#[derive(Debug)]
pub(crate) struct Ethtool(UnixDatagram);

/// What an interface has counted beside what all interfaces count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Packets that came and were lost in its driver: a program of XDP sent them on to where they could not go, or there was no memory.
    pub(crate) lost: u64,
    /// Packets that a program of XDP has seen.
    pub(crate) seen_by_xdp: u64,
}

impl Ethtool {
    /// In the current network namespace.
    pub(crate) fn open() -> Result<Self, KernelError> {
        ethtool::socket().map(Self)
    }

    /// The names of all features, in the order of their bits; the same for all interfaces. None: the kernel knows no such request.
    pub(crate) fn features(&self, interface: &str) -> Result<Option<Vec<String>>, KernelError> {
        match self.names(interface, FEATURES) {
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(None),
            other => other.map(Some).attempted(|| format!("list the features of interface {interface}")),
        }
    }

    /// Turns these features off; those that the kernel does not know are off.
    pub(crate) fn turn_off(&self, interface: &str, known: &[String], unwanted: &[&str]) -> io::Result<()> {
        self.ask(interface, &mut turning_off(known, unwanted))
    }

    /// Has an interface join packets that follow one another, as far as they come from a peer that does not do it itself.
    pub(crate) fn join_packets(&self, interface: &str) -> io::Result<()> {
        self.ask(interface, &mut [SET_GRO, 1])
    }

    /// How many packets its rings hold, to receive and to send; none if it has no rings.
    pub(crate) fn rings(&self, interface: &str) -> Option<(u32, u32)> {
        let mut rings = [0; RINGS];
        rings[0] = GET_RINGS;
        self.ask(interface, &mut rings).ok()?;
        Some((rings[5], rings[8]))
    }

    /// What it has counted; nothing if its driver counts nothing of its own.
    pub(crate) fn counted(&self, interface: &str) -> Counted {
        self.statistics(interface).map(|all| sum(&all)).unwrap_or_default()
    }

    fn statistics(&self, interface: &str) -> io::Result<Vec<(String, u64)>> {
        let names = self.names(interface, STATISTICS)?;
        // Command, how many, and numbers of two words each.
        let count = u32::try_from(names.len()).unwrap_or(0);
        let mut request = vec![GET_STATISTICS, count];
        request.resize(2 + 2 * names.len(), 0);
        self.ask(interface, &mut request)?;
        let number = |pair: &[u32]| {
            let [a, b] = [pair[0], pair[1]].map(u32::to_ne_bytes);
            u64::from_ne_bytes([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]])
        };
        Ok(names.into_iter().zip(request[2..].chunks_exact(2).map(number)).collect())
    }

    fn names(&self, interface: &str, set: u32) -> io::Result<Vec<String>> {
        // Command, a reserved word, a mask of 64 bits of what is to be counted, and room for one answer.
        let mut count = [GET_COUNT, 0, 1 << set, 0, 0];
        self.ask(interface, &mut count)?;
        let words = count[4] as usize * NAME / size_of::<u32>();
        // Command, what is listed, how many, and their names.
        let mut strings = vec![GET_STRINGS, set, count[4]];
        strings.resize(strings.len() + words, 0);
        self.ask(interface, &mut strings)?;
        let bytes: Vec<u8> = strings[3..].iter().flat_map(|word| word.to_ne_bytes()).collect();
        Ok(bytes.chunks_exact(NAME).map(name).collect())
    }

    /// One request; the answer is in its place afterwards.
    fn ask(&self, interface: &str, request: &mut [u32]) -> io::Result<()> {
        ethtool::ask(&self.0, interface, request)
    }
}

fn name(padded: &[u8]) -> String {
    String::from_utf8_lossy(padded.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

/// Command, number of words, and for each word which of its bits are meant and what they are to be: zero.
fn turning_off(known: &[String], unwanted: &[&str]) -> Vec<u32> {
    let words = known.len().div_ceil(WORD);
    let mut request = vec![0; 2 + 2 * words];
    request[0] = SET_FEATURES;
    request[1] = u32::try_from(words).expect("a few words");
    for (bit, name) in known.iter().enumerate() {
        if unwanted.contains(&name.as_str()) {
            request[2 + 2 * (bit / WORD)] |= 1 << (bit % WORD);
        }
    }
    request
}

/// Of each queue that receives. Of veth pairs these are `rx_queue_0_drops` and `rx_queue_0_xdp_packets` (drivers/net/veth.c), of
/// virtio's `rx_queue_0_drops` or `rx0_drops`, and so on (drivers/net/virtio_net.c).
fn sum(statistics: &[(String, u64)]) -> Counted {
    let of_queues = |ending: &'static str, other: Option<&'static str>| -> u64 {
        let meant = statistics.iter().filter(|(name, _)| {
            name.starts_with("rx") && name.ends_with(ending) && other.is_none_or(|other| !name.ends_with(other))
        });
        meant.map(|(_, number)| number).sum()
    };
    Counted { lost: of_queues("_drops", Some("_xdp_drops")), seen_by_xdp: of_queues("_xdp_packets", None) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn features_are_found_by_name_in_any_word() {
        let mut names = vec!["x"; 40];
        names[3] = "tx-gre-segmentation";
        names[39] = "tx-udp_tnl-segmentation";
        names[4] = "tx-tcp-segmentation";
        let unwanted = ["tx-gre-segmentation", "tx-udp_tnl-segmentation"];
        assert_eq!(turning_off(&named(&names), &unwanted), [SET_FEATURES, 2, 1 << 3, 0, 1 << 7, 0]);
    }

    #[test]
    fn a_kernel_that_knows_none_of_them_is_asked_for_nothing() {
        assert_eq!(turning_off(&named(&["tx-tcp-segmentation"]), &["y"]), [SET_FEATURES, 1, 0, 0]);
        assert_eq!(turning_off(&[], &["y"]), [SET_FEATURES, 0]);
    }

    #[test]
    fn names_end_at_the_first_zero() {
        let mut padded = [0; NAME];
        padded[..3].copy_from_slice(b"abc");
        assert_eq!((name(&padded).as_str(), name(&[b'x'; NAME]).len(), name(&[])), ("abc", NAME, String::new()));
    }

    #[test]
    fn what_programs_of_xdp_drop_on_purpose_is_not_lost() {
        let all = [
            ("peer_ifindex", 5),
            ("rx_queue_0_xdp_packets", 11),
            ("rx_queue_0_drops", 6),
            ("rx_queue_0_xdp_drops", 4),
            ("rx1_drops", 1),
            ("tx_queue_0_xdp_xmit_errors", 9),
        ];
        let all: Vec<(String, u64)> = all.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect();
        assert_eq!(sum(&all), Counted { lost: 7, seen_by_xdp: 11 });
        assert_eq!(sum(&[]), Counted::default());
    }
}
