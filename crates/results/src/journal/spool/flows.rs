//! The flows of a journal, numbered in the order in which they come.

use crate::journal::record::Record;
use netloom_packet::Flow;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;

/// The number of a packet that has no flow.
pub const NO_FLOW: u32 = u32::MAX;
/// More flows are not told apart: a hostile journal has one for each packet.
const MOST_FLOWS: usize = 1 << 20;

/// What a flow carried through all pipes of the journal together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FlowTraffic {
    /// Its number.
    pub flow: u32,
    /// The protocol above IP.
    pub protocol: u8,
    /// Where it comes from.
    pub source: IpAddr,
    /// The port there; 0: it has none.
    pub source_port: u16,
    /// Where it goes.
    pub destination: IpAddr,
    /// The port there.
    pub destination_port: u16,
    /// Packets, counted in each pipe.
    pub packets: u64,
    /// Their bytes.
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
