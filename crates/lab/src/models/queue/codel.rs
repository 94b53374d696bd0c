//! `kind: codel`: controlled delay; and `kind: fq_codel`: flows that take turns, each under its control.

use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::forms::{Whole, forms};
use crate::keyed::{Keyed, sections};
use crate::scalar::quantity;
use crate::yaml::Node;
use netloom_link::{CodelConfig, CodelControl, DEFAULT_LIMIT, FqCodelConfig, QueueConfig};
use netloom_units::{Bytes, Duration, Limit};

forms! {
    /// A limit that counts packets.
    pub(crate) struct PacketLimit = u32, Limit::KIND, packets;
}

sections! {
    /// Controlled delay (RFC 8289): drops at the head while packets have waited too long for too long.
    pub(crate) struct Codel = "queue_codel" {
        /// Controlled delay.
        kind is "codel";
        /// How much may wait: packets, bytes or a time. Default: 1000 packets.
        limit: Limit, "1000 packets";
        /// Whether packets are marked, rather than dropped, if their sender understands it. Default: false.
        ecn: bool, "true";
        ..Control::SECTION;
    }

    /// Flows that take turns, each under the control of CoDel (RFC 8290).
    pub(crate) struct FqCodel = "queue_fq_codel" {
        /// Flow queues under CoDel.
        kind is "fq_codel";
        /// How many packets may wait in all; above zero. Default: 10240 packets.
        limit: PacketLimit, "10240 packets";
        /// How many bytes, from the IP header on, may wait in all; above zero. Default: 32 MB.
        memory: Bytes, "32 MB";
        /// Among how many queues a hash of addresses, protocol and ports divides, 1 to 65536. Default: 1024.
        flows: Whole<u32, 1, 65_536>, "1024";
        /// How much, from the IP header on, a flow may send per turn; above zero. Default: 1500 B.
        quantum: Bytes, "1500 B";
        /// Whether packets are marked, rather than dropped, if their sender understands it. Default: true.
        ecn: bool, "false";
        ..Control::SECTION;
    }

    /// How CoDel controls a queue, alone or as one of many.
    struct Control = "" {
        /// The standing delay that is acceptable, above zero. Default: 5 ms.
        target: Duration, "5 ms";
        /// How long the delay must exceed the target before a drop: about the longest RTT, at least the target. Default: 100 ms.
        interval: Duration, "100 ms";
        /// A queue of at most this size never drops: the largest packet, from the IP header on. Default: 1500 B.
        mtu: Bytes, "1500 B";
    }
}

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "{kind: codel}",
    "{kind: codel, limit: 64 kB, target: 2500 us, interval: 50 ms, mtu: 9 kB, ecn: true}",
    "{kind: fq_codel}",
    "{kind: fq_codel, limit: 500 packets, memory: 4 MB, flows: 64, quantum: 300 B, target: 1 ms, interval: 20 ms, \
     mtu: 576 B, ecn: false}",
];

pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    let Codel { limit, ecn } = Codel::read_keys(fields, errors)?;
    let control = control(fields, ecn, CodelControl::default(), errors)?;
    Some(QueueConfig::Codel(CodelConfig { limit: limit.unwrap_or(DEFAULT_LIMIT), control }))
}

fn control(fields: &Fields<'_>, ecn: Option<bool>, usual: CodelControl, errors: &mut Errors) -> Option<CodelControl> {
    let Control { target, interval, mtu } = Control::read_keys(fields, errors)?;
    Some(CodelControl {
        target: target.unwrap_or(usual.target),
        interval: interval.unwrap_or(usual.interval),
        mtu: mtu.unwrap_or(usual.mtu),
        ecn: ecn.unwrap_or(usual.ecn),
    })
}

pub(crate) fn write(config: &CodelConfig) -> String {
    format!("{{kind: codel, limit: {}, {}}}", config.limit, write_control(&config.control))
}

/// The keys and values of a control.
fn write_control(CodelControl { target, interval, mtu, ecn }: &CodelControl) -> String {
    format!("target: {target}, interval: {interval}, mtu: {mtu}, ecn: {ecn}")
}

pub(crate) fn decode_fq(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    let (keys, usual) = (FqCodel::read_keys(fields, errors)?, FqCodelConfig::default());
    Some(QueueConfig::FqCodel(FqCodelConfig {
        limit: keys.limit.unwrap_or(usual.limit),
        memory: keys.memory.unwrap_or(usual.memory),
        flows: keys.flows.unwrap_or(usual.flows),
        quantum: keys.quantum.unwrap_or(usual.quantum),
        control: control(fields, keys.ecn, usual.control, errors)?,
    }))
}

fn packets(node: &Node) -> Result<u32, Diagnostic> {
    match quantity(node)? {
        Limit::Packets(packets) => Ok(packets),
        other => {
            Err(node.error(format!("{other}: this limit counts packets, for example 10240 packets; see `memory`")))
        }
    }
}

pub(crate) fn write_fq(config: &FqCodelConfig) -> String {
    let FqCodelConfig { limit, memory, flows, quantum, control } = config;
    let limit = Limit::Packets(*limit);
    let control = write_control(control);
    format!("{{kind: fq_codel, limit: {limit}, memory: {memory}, flows: {flows}, quantum: {quantum}, {control}}}")
}
