//! `kind: codel`: controlled delay; and `kind: fq_codel`: flows that take turns, each under its control.

use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::forms::Whole;
use crate::keyed::sections;
use crate::scalar::{duration, flag, quantity};
use crate::section::{Section, keys};
use crate::yaml::Node;
use netloom_link::{CodelConfig, CodelControl, DEFAULT_LIMIT, FqCodelConfig, QueueConfig};
use netloom_units::{Bytes, Duration, Limit};

/// How CoDel controls a queue, alone or as one of many.
const CONTROL: Section = keys! {
    /// The standing delay that is acceptable, above zero. Default: 5 ms.
    target: Duration, "5 ms";
    /// How long the delay must exceed the target before a drop: about the longest RTT, at least the target. Default: 100 ms.
    interval: Duration, "100 ms";
    /// A queue of at most this size never drops: the largest packet, from the IP header on. Default: 1500 B.
    mtu: Bytes, "1500 B";
};

sections! {
    /// Controlled delay (RFC 8289): drops at the head while packets have waited too long for too long.
    pub(crate) const CODEL = "queue_codel" {
        /// Controlled delay.
        kind is "codel";
        /// How much may wait: packets, bytes or a time. Default: 1000 packets.
        limit: Limit, "1000 packets";
        /// Whether packets are marked, rather than dropped, if their sender understands it. Default: false.
        ecn: bool, "true";
        ..CONTROL;
    }

    /// Flows that take turns, each under the control of CoDel (RFC 8290).
    pub(crate) const FQ_CODEL = "queue_fq_codel" {
        /// Flow queues under CoDel.
        kind is "fq_codel";
        /// How many packets may wait in all; above zero. Default: 10240 packets.
        limit: Limit, "10240 packets";
        /// How many bytes, from the IP header on, may wait in all; above zero. Default: 32 MB.
        memory: Bytes, "32 MB";
        /// Among how many queues a hash of addresses, protocol and ports divides, 1 to 65536. Default: 1024.
        flows: Whole<u32, 1, 65_536>, "1024";
        /// How much, from the IP header on, a flow may send per turn; above zero. Default: 1500 B.
        quantum: Bytes, "1500 B";
        /// Whether packets are marked, rather than dropped, if their sender understands it. Default: true.
        ecn: bool, "false";
        ..CONTROL;
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
    let limit = fields.read("limit", quantity, errors).unwrap_or(DEFAULT_LIMIT);
    let control = decode_control(fields, CodelControl::default(), errors);
    Some(QueueConfig::Codel(CodelConfig { limit, control }))
}

/// What the keys of [`CONTROL`] and `ecn` say.
fn decode_control(fields: &Fields<'_>, default: CodelControl, errors: &mut Errors) -> CodelControl {
    CodelControl {
        target: fields.read("target", duration, errors).unwrap_or(default.target),
        interval: fields.read("interval", duration, errors).unwrap_or(default.interval),
        mtu: fields.read("mtu", quantity, errors).unwrap_or(default.mtu),
        ecn: fields.read("ecn", flag, errors).unwrap_or(default.ecn),
    }
}

pub(crate) fn write(config: &CodelConfig) -> String {
    format!("{{kind: codel, limit: {}, {}}}", config.limit, write_control(&config.control))
}

/// The keys and values of a control.
fn write_control(CodelControl { target, interval, mtu, ecn }: &CodelControl) -> String {
    format!("target: {target}, interval: {interval}, mtu: {mtu}, ecn: {ecn}")
}

pub(crate) fn decode_fq(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    let default = FqCodelConfig::default();
    Some(QueueConfig::FqCodel(FqCodelConfig {
        limit: fields.read("limit", packets, errors).unwrap_or(default.limit),
        memory: fields.read("memory", quantity, errors).unwrap_or(default.memory),
        flows: fields.form::<Whole<u32, 1, 65_536>>("flows", errors).unwrap_or(default.flows),
        quantum: fields.read("quantum", quantity, errors).unwrap_or(default.quantum),
        control: decode_control(fields, default.control, errors),
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
