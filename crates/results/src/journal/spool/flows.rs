//! The flows of a journal, numbered in the order in which they come.

use crate::journal::record::Record;
use netloom_packet::Flow;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;

/// The flow number of a packet that has no flow.
pub const NO_FLOW: u32 = u32::MAX;
/// More flows are not told apart: a hostile journal has one for each packet.
const MOST_FLOWS: usize = 1 << 20;

/// The traffic of a flow through all pipes of the journal together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FlowTraffic {
    /// The flow's number.
    pub flow: u32,
    /// The number of the protocol above IP.
    pub protocol: u8,
    /// The source address.
    pub source: IpAddr,
    /// The source port; 0: the protocol has none.
    pub source_port: u16,
    /// The destination address.
    pub destination: IpAddr,
    /// The destination port; 0: the protocol has none.
    pub destination_port: u16,
    /// The number of packets, counted in each pipe.
    pub packets: u64,
    /// The bytes of these packets.
    pub bytes: u64,
}

#[derive(Debug, Default)]
pub(super) struct Flows {
    numbers: HashMap<Flow, u32>,
    all: Vec<FlowTraffic>,
}

impl Flows {
    /// The number of a packet's flow, which carries it.
    pub(super) fn number(&mut self, record: &Record) -> u32 {
        // The class of service is no part of what a flow is to a reader.
        let Some(flow) = record.flow.map(|flow| Flow { dscp: 0, ..flow }) else { return NO_FLOW };
        let number = match self.numbers.get(&flow) {
            Some(number) => *number,
            None if self.all.len() < MOST_FLOWS => {
                let number = u32::try_from(self.all.len()).unwrap_or(NO_FLOW);
                self.numbers.insert(flow, number);
                self.all.push(FlowTraffic {
                    flow: number,
                    protocol: flow.protocol,
                    source: flow.source,
                    source_port: flow.source_port,
                    destination: flow.destination,
                    destination_port: flow.destination_port,
                    packets: 0,
                    bytes: 0,
                });
                number
            }
            None => return NO_FLOW,
        };
        if let Some(traffic) = self.all.get_mut(number as usize) {
            traffic.packets += 1;
            traffic.bytes += u64::from(record.size_bytes);
        }
        number
    }

    /// Those with the most bytes, and how many there are beside them.
    pub(super) fn largest(&self, most: usize) -> (Vec<FlowTraffic>, usize) {
        let mut all = self.all.clone();
        if all.len() > most {
            all.select_nth_unstable_by_key(most, |flow| (Reverse(flow.bytes), flow.flow));
            all.truncate(most);
        }
        all.sort_by_key(|flow| (Reverse(flow.bytes), flow.flow));
        let left_out = self.all.len() - all.len();
        (all, left_out)
    }
}
