//! `kind: fq_codel`: flows that take turns, each under the control of CoDel.

use super::codel::{CONTROL, decode_control, write_control};
use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::{Key, Kind, Quantity, Section};
use crate::scalar::{integer, quantity};
use crate::yaml::Node;
use netloom_link::{FqCodelConfig, QueueConfig};
use netloom_units::Limit;

pub(crate) const SECTION: Section = Section {
    name: "queue_fq_codel",
    doc: "Flows that take turns, each under the control of CoDel (RFC 8290).",
    groups: &[
        &[
            Key::new("kind", Kind::Word(&["fq_codel"]), "fq_codel", "Flow queues under CoDel.").required(),
            Key::new(
                "limit",
                Kind::Quantity(Quantity::Limit),
                "10240 packets",
                "How many packets may wait in all; above zero. Default: 10240 packets.",
            ),
            Key::new(
                "memory",
                Kind::Quantity(Quantity::Size),
                "32 MB",
                "How many bytes, from the IP header on, may wait in all; above zero. Default: 32 MB.",
            ),
            Key::new(
                "flows",
                Kind::Integer { least: 1, most: 65_536 },
                "1024",
                "Among how many queues a hash of addresses, protocol and ports divides, 1 to 65536. Default: 1024.",
            ),
            Key::new(
                "quantum",
                Kind::Quantity(Quantity::Size),
                "1500 B",
                "How much, from the IP header on, a flow may send per turn; above zero. Default: 1500 B.",
            ),
            Key::new(
                "ecn",
                Kind::Flag,
                "false",
                "Whether packets are marked, rather than dropped, if their sender understands it. Default: true.",
            ),
        ],
        CONTROL,
    ],
};

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "{kind: fq_codel}",
    "{kind: fq_codel, limit: 500 packets, memory: 4 MB, flows: 64, quantum: 300 B, target: 1 ms, interval: 20 ms, \
     mtu: 576 B, ecn: false}",
];

pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> Option<QueueConfig> {
    let default = FqCodelConfig::default();
    let flows = fields.read("flows", |node| integer(node, 1, 65_536), errors);
    Some(QueueConfig::FqCodel(FqCodelConfig {
        limit: fields.read("limit", packets, errors).unwrap_or(default.limit),
        memory: fields.read("memory", quantity, errors).unwrap_or(default.memory),
        flows: flows.map_or(default.flows, |flows| u32::try_from(flows).unwrap_or(u32::MAX)),
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

pub(crate) fn write(config: &FqCodelConfig) -> String {
    let FqCodelConfig { limit, memory, flows, quantum, control } = config;
    let limit = Limit::Packets(*limit);
    let control = write_control(control);
    format!("{{kind: fq_codel, limit: {limit}, memory: {memory}, flows: {flows}, quantum: {quantum}, {control}}}")
}
