//! What a node's kernel counts that nobody described, and what it has of BPF.

use std::fs;
use std::mem::size_of;

use super::{Effect, NetworkChange};

/// What is counted: a file of /proc, the protocol and the name there, and what it means.
const COUNTED: [(&str, &str, &str, Meaning); 6] = [
    ("netstat", "TcpExt", "TCPMemoryPressures", Meaning::Memory),
    ("snmp", "Tcp", "InCsumErrors", Meaning::Checksums("segments of TCP")),
    ("snmp", "Udp", "InCsumErrors", Meaning::Checksums("datagrams of UDP over IPv4")),
    ("snmp6", "", "Udp6InCsumErrors", Meaning::Checksums("datagrams of UDP over IPv6")),
    ("snmp", "Ip", "OutDiscards", Meaning::Discards("IPv4")),
    ("snmp6", "", "Ip6OutDiscards", Meaning::Discards("IPv6")),
];

#[derive(Debug, Clone, Copy)]
enum Meaning {
    /// How often TCP has run short of memory.
    Memory,
    /// Packets of this kind that were dropped because their checksum was wrong.
    Checksums(&'static str),
    /// Packets of this protocol that the kernel did not send although it had a route for them (`IPSTATS_MIB_OUTDISCARDS`): an interface
    /// refused them, a queue or a firewall of the node did, there was no entry for their next hop, or no memory.
    Discards(&'static str),
}

/// What the kernel of the current network namespace has counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stack([u64; COUNTED.len()]);

impl Stack {
    pub(super) fn now() -> Self {
        Self(COUNTED.map(|(file, protocol, name, _)| {
            let text = fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default();
            counted(&text, protocol, name)
        }))
    }

    /// Leaves out of this count, which is an earlier one, what was counted between `stopped` and `now`.
    pub(super) fn leave_out(&mut self, stopped: &Self, now: &Self) {
        for ((own, before), after) in self.0.iter_mut().zip(stopped.0).zip(now.0) {
            *own += after.saturating_sub(before);
        }
    }

    /// What is to be reported of what was added to an earlier count.
    pub(super) fn since(self, earlier: &Self) -> impl Iterator<Item = NetworkChange> {
        let added = self.0.into_iter().zip(earlier.0).map(|(now, before)| now.saturating_sub(before));
        let told =
            |(times, (.., meaning)): (u64, (&str, &str, &str, Meaning))| (times > 0).then(|| told(times, meaning));
        added.zip(COUNTED).filter_map(told).collect::<Vec<_>>().into_iter()
    }
}

/// In most files a line has names, the next one numbers, both behind the protocol (net/ipv4/proc.c); in that of IPv6 a line has a name
/// and a number.
fn counted(text: &str, protocol: &str, name: &str) -> u64 {
    if protocol.is_empty() {
        let number = text.lines().filter_map(|line| line.split_once(char::is_whitespace)).find(|(own, _)| *own == name);
        return number.and_then(|(_, number)| number.trim().parse().ok()).unwrap_or(0);
    }
    let of_protocol = |line: &'_ str| line.strip_prefix(protocol).and_then(|rest| rest.strip_prefix(": ")).is_some();
    let mut lines = text.lines().filter(|line| of_protocol(line)).map(|line| line.split_ascii_whitespace().skip(1));
    let (Some(names), Some(numbers)) = (lines.next(), lines.next()) else { return 0 };
    let found = names.zip(numbers).find(|(own, _)| *own == name);
    found.and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
}

/// No program of the lab may have done that, but nothing else tells why connections carry less than their links, or nothing.
fn told(times: u64, meaning: Meaning) -> NetworkChange {
    let effect = if matches!(meaning, Meaning::Discards(_)) { Effect::Discards } else { Effect::Stack };
    let what = match meaning {
        Meaning::Memory => {
            let often = if times == 1 { "once".to_owned() } else { format!("{times} times") };
            format!(
                "TCP ran short of memory {often}, so that its connections may have carried less than the links would: \
                 net.ipv4.tcp_mem bounds the memory of all of them, and is set by the node's memory or a sysctl"
            )
        }
        Meaning::Checksums(what) => format!(
            "{times} {what} came with a wrong checksum and were dropped: a link corrupts them, or a program sent them on that reads raw \
             frames (its node needs `offload: false`)"
        ),
        Meaning::Discards(protocol) => {
            let packets = if times == 1 { "1 packet".to_owned() } else { format!("{times} packets") };
            format!("its kernel discarded {packets} of {protocol} instead of sending them (OutDiscards)")
        }
    };
    NetworkChange { effect, what }
}

/// `struct bpf_attr` of BPF_PROG_QUERY (linux/bpf.h), as far as it is used.
#[repr(C)]
#[derive(Default)]
struct Query {
    target: u32,
    attach_type: u32,
    query_flags: u32,
    attach_flags: u32,
    ids: u64,
    count: u32,
    rest: [u32; 9],
}

/// Whether classifiers of BPF are attached to an interface past queueing disciplines (`tcx`). No event tells of them. Without the right to
/// ask there is none to attach some, either.
pub(super) fn has_classifiers(interface: u32) -> bool {
    // BPF_PROG_QUERY; BPF_TCX_INGRESS and BPF_TCX_EGRESS.
    const QUERY: libc::c_int = 16;
    [46, 47].into_iter().any(|attach_type| {
        let mut query = Query { target: interface, attach_type, ..Query::default() };
        // SAFETY: the kernel reads and writes this structure, of the given size, and nothing that it points to.
        let answer = unsafe { libc::syscall(libc::SYS_bpf, QUERY, &raw mut query, size_of::<Query>()) };
        answer == 0 && query.count > 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_protocol_and_name() {
        let netstat = "TcpExt: SyncookiesSent TCPMemoryPressures X\nTcpExt: 7 3 1\nIpExt: InNoRoutes\nIpExt: 0\n";
        assert_eq!(counted(netstat, "TcpExt", "TCPMemoryPressures"), 3);
        assert_eq!((counted("TcpExt: A\n", "TcpExt", "A"), counted("", "Tcp", "A")), (0, 0));
        let snmp = "Tcp: A InCsumErrors\nTcp: 1 5\nUdp: InCsumErrors B\nUdp: 2 9\nUdpLite: InCsumErrors\nUdpLite: 8\n";
        assert_eq!((counted(snmp, "Tcp", "InCsumErrors"), counted(snmp, "Udp", "InCsumErrors")), (5, 2));
        assert_eq!(counted("Udp6InErrors   \t1\nUdp6InCsumErrors  \t4\n", "", "Udp6InCsumErrors"), 4);
        let own = "Ip: Forwarding OutDiscards\nIp: 2 6\nIpExt: OutDiscards\nIpExt: 1\n";
        assert_eq!(counted(own, "Ip", "OutDiscards"), 6);
    }

    #[test]
    fn what_was_added_is_told() {
        let told: Vec<NetworkChange> = Stack([3, 7, 0, 0, 9, 4]).since(&Stack([0, 5, 0, 0, 8, 0])).collect();
        assert!(told[0].what.starts_with("TCP ran short of memory 3 times, "), "{told:?}");
        assert!(told[1].what.starts_with("2 segments of TCP came with a wrong checksum"), "{told:?}");
        let discards = ["1 packet of IPv4", "4 packets of IPv6"]
            .map(|what| format!("its kernel discarded {what} instead of sending them (OutDiscards)"));
        assert_eq!(told[2..].iter().map(|change| &change.what).collect::<Vec<_>>(), discards.each_ref());
        assert_eq!(told.iter().filter(|change| change.effect == Effect::Discards).count(), 2);
        assert!(Stack([1, 0, 0, 0, 0, 0]).since(&Stack([0; 6])).all(|change| change.what.contains(" once, ")));
    }
}
