//! When the packets of TCP flows pass: times, gaps, rate and retransmissions from a capture.
//!
//! These are the figures by which "To Infinity and Beyond" (Gupta et al., NSDI 2006) compares a dilated network
//! with the one that it stands for: packet times after the SYN, and mean and variation of the gaps in between.

mod plot;
mod read;
#[cfg(test)]
mod tests;

pub use plot::plot;

use read::{Seen, Segment};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// One direction of a TCP connection, as one interface saw it. Every number carries its unit in its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowTimes {
    /// The interface that saw the flow: `node:name` in captures of netloom.
    pub at: String,
    /// The address and port that the data come from.
    pub from: SocketAddr,
    /// The address and port that the data go to.
    pub to: SocketAddr,
    /// The instant at which the connection's first SYN passed; none if it is not in the capture, and times then count
    /// from the first data packet.
    pub syn_ns: Option<u64>,
    /// The number of packets with data.
    pub data_packets: u64,
    /// The bytes of the packets with data, from the IP header on.
    pub data_bytes: u64,
    /// The number of data packets that passed after a later byte of the flow: they were sent again, or overtaken.
    pub retransmitted_packets: u64,
    /// The mean time from one data packet to the next.
    pub gap_mean_ns: Option<f64>,
    /// The gaps' standard deviation as a share of their mean.
    pub gap_variation: Option<f64>,
    /// The throughput of the data packets behind the first, over the time from its passing to that of the last.
    pub throughput_bits_per_second: Option<f64>,
    /// The times at which the data packets passed, after the SYN.
    pub times_ns: Vec<u64>,
}

/// Returns the flows with data in a capture file, in the order in which their first data packets passed.
///
/// # Errors
/// When it is not a capture in the format pcapng, or is cut off; the text says which.
pub fn packet_times(file: &[u8]) -> Result<Vec<FlowTimes>, String> {
    let (interfaces, seen) = read::segments(file)?;
    let mut syns: BTreeMap<(usize, SocketAddr, SocketAddr), u64> = BTreeMap::new();
    let mut flows: Vec<Flow> = Vec::new();
    let mut places: BTreeMap<(usize, SocketAddr, SocketAddr), usize> = BTreeMap::new();
    for Seen { interface, at_ns, segment } in seen {
        let Segment { from, to, .. } = segment;
        if segment.syn {
            syns.entry((interface, from.min(to), from.max(to))).or_insert(at_ns);
        }
        if segment.payload > 0 {
            let place = *places.entry((interface, from, to)).or_insert(flows.len());
            if place == flows.len() {
                flows.push(Flow { interface, from, to, instants: Vec::new(), sizes: Vec::new(), end: None, again: 0 });
            }
            flows[place].add(at_ns, &segment);
        }
    }
    let syn = |flow: &Flow| syns.get(&(flow.interface, flow.from.min(flow.to), flow.from.max(flow.to))).copied();
    Ok(flows.iter().map(|flow| flow.times(&interfaces[flow.interface], syn(flow))).collect())
}

/// A flow's data packets.
struct Flow {
    interface: usize,
    from: SocketAddr,
    to: SocketAddr,
    instants: Vec<u64>,
    sizes: Vec<u64>,
    /// The sequence number behind the furthest byte so far.
    end: Option<u32>,
    again: u64,
}

impl Flow {
    fn add(&mut self, at_ns: u64, segment: &Segment) {
        self.instants.push(at_ns);
        self.sizes.push(u64::from(segment.size));
        let end = segment.sequence.wrapping_add(segment.payload).wrapping_add(u32::from(segment.fin));
        if self.end.is_some_and(|furthest| is_before(segment.sequence, furthest)) {
            self.again += 1;
        }
        if self.end.is_none_or(|furthest| is_before(furthest, end)) {
            self.end = Some(end);
        }
    }

    fn times(&self, interface: &str, syn_ns: Option<u64>) -> FlowTimes {
        let zero = syn_ns.or(self.instants.first().copied()).unwrap_or(0);
        let gaps: Vec<f64> = self.instants.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64).collect();
        let count = gaps.len() as f64;
        let span = gaps.iter().sum::<f64>();
        let mean = (span > 0.0).then_some(span / count);
        let deviation = |middle: f64| (gaps.iter().map(|gap| (gap - middle).powi(2)).sum::<f64>() / count).sqrt();
        let behind_first = self.sizes.iter().skip(1).sum::<u64>() as f64;
        FlowTimes {
            at: interface.to_owned(),
            from: self.from,
            to: self.to,
            syn_ns,
            data_packets: self.instants.len() as u64,
            data_bytes: self.sizes.iter().sum(),
            retransmitted_packets: self.again,
            gap_mean_ns: mean,
            gap_variation: mean.map(|middle| deviation(middle) / middle),
            throughput_bits_per_second: mean.map(|_| behind_first * 8.0 / (span / 1e9)),
            times_ns: self.instants.iter().map(|at| at.saturating_sub(zero)).collect(),
        }
    }
}

/// Sequence numbers begin anew behind 2^32 (RFC 9293, section 3.4).
fn is_before(one: u32, other: u32) -> bool {
    one != other && other.wrapping_sub(one) < 1 << 31
}
