//! `traffic`: what `netloom sim` sends. The sources that do not listen are those of cross traffic, with the same keys.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{COMMAND_NAME, DURATION_OR_ZERO, Key, Kind, NODE_NAME, Quantity, Section};
use crate::models::ChangeError;
use crate::models::cross::{self, CONSTANT, ON_OFF, PCAP, POISSON};
use crate::names::command_name;
use crate::plan::{Plan, Sends, TrafficPlan, WindowConfig};
use crate::resolve::resolve_for;
use crate::scalar::{duration_or_zero, integer, positive_duration, quantity};
use crate::spec::TrafficSpec;
use crate::yaml::{self, Node};
use netloom_units::{Bytes, Duration};
use std::path::Path;

pub(crate) const KEY: Key = Key::new(
    "traffic",
    Kind::List {
        items: &Kind::OneOf(&[
            Kind::Section(&FLOW_CONSTANT),
            Kind::Section(&FLOW_POISSON),
            Kind::Section(&FLOW_ON_OFF),
            Kind::Section(&FLOW_PCAP),
            Kind::Section(&FLOW_WINDOW),
        ]),
        least: 0,
        most: None,
    },
    "[{from: client, to: server, kind: constant, rate: 5 Mbit/s, size: 1200 B}]",
    "What `netloom sim` sends; `netloom run` has the programs of the timeline instead.",
);

const ENDS: &[Key] = &[
    Key::new("from", Kind::Text(NODE_NAME), "client", "The node that sends.").required(),
    Key::new("to", Kind::Text(NODE_NAME), "server", "The node that receives.").required(),
    Key::new("as", Kind::Text(COMMAND_NAME), "video", "The source's name. Default: those of its nodes."),
];

const FLOW_CONSTANT: Section = Section {
    name: "traffic_constant",
    doc: "Packets at a constant rate.",
    groups: &[ENDS, CONSTANT.groups[0], CONSTANT.groups[1], CONSTANT.groups[2]],
};
const FLOW_POISSON: Section = Section {
    name: "traffic_poisson",
    doc: "Packets that come independently of one another.",
    groups: &[ENDS, POISSON.groups[0], POISSON.groups[1], POISSON.groups[2]],
};
const FLOW_ON_OFF: Section = Section {
    name: "traffic_on_off",
    doc: "Packets in bursts of Pareto length.",
    groups: &[ENDS, ON_OFF.groups[0], ON_OFF.groups[1], ON_OFF.groups[2], ON_OFF.groups[3]],
};
const FLOW_PCAP: Section =
    Section { name: "traffic_pcap", doc: "Recorded packets.", groups: &[ENDS, PCAP.groups[0], PCAP.groups[1]] };

const SIZE: Kind = Kind::Text("^\\s*[0-9]+(\\.[0-9]+)?\\s*([kMG]?B|[KMG]iB)\\s*$");
const DURATION: Kind = Kind::Quantity(Quantity::Duration);

const FLOW_WINDOW: Section = Section {
    name: "traffic_window",
    doc: "A sender with a fixed window. It is not TCP: no slow start, no congestion control, no handshake.",
    groups: &[
        ENDS,
        &[
            Key::new("kind", Kind::Word(&["window"]), "window", "A sender with a fixed window.").required(),
            Key::new("window", SIZE, "64 kB", "How much payload may be under way and not acknowledged.").required(),
            Key::new("segment", SIZE, "1460 B", "The payload of a packet. Default: 1460 B."),
            Key::new("headers", SIZE, "40 B", "The headers of a packet, at least 28 B. Default: 40 B."),
            Key::new("amount", SIZE, "1 MB", "How much payload is sent. Default: without end."),
            Key::new(
                "acknowledge",
                Kind::Integer { least: 1, most: 100 },
                "2",
                "Every how many packets in order are acknowledged, 1 to 100. Default: 1.",
            ),
            Key::new(
                "timeout",
                DURATION,
                "1 s",
                "How long after sending an unacknowledged packet is sent again. Default: 1 s.",
            ),
            Key::new("start", DURATION_OR_ZERO, "2 s", "When it begins, after time zero. Default: 0."),
            Key::new("stop", DURATION, "8 s", "When it ends, after time zero. Default: never."),
        ],
    ],
};

/// An Ethernet's 1,500 bytes less IPv4 and TCP headers without options, 20 bytes each (RFC 9293, section 3.7.1).
const SEGMENT: Bytes = Bytes::new(1_460);
const HEADERS: Bytes = Bytes::new(40);
/// The least retransmission timeout of TCP (RFC 6298, section 2.4).
const TIMEOUT: Duration = Duration::from_secs(1);

/// An entry of the list.
pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<TrafficSpec> {
    let kinds = [
        ("constant", &FLOW_CONSTANT),
        ("poisson", &FLOW_POISSON),
        ("on-off", &FLOW_ON_OFF),
        ("pcap", &FLOW_PCAP),
        ("window", &FLOW_WINDOW),
    ];
    let (kind, fields) = Fields::open_kind(node, &kinds, errors)?;
    let from = fields.read("from", node_name, errors);
    let to = fields.read("to", node_name, errors);
    let name = fields.read("as", command_name, errors);
    let sends = match kind {
        "window" => window(&fields, node, errors).map(Sends::Window),
        _ => cross::source_of(kind, &fields, node, errors).map(Sends::Open),
    };
    Some(TrafficSpec { line: node.span.line, name, from: from?, to: to?, sends: sends? })
}

fn node_name(node: &Node) -> Result<Spanned<String>, Diagnostic> {
    node.text().map(|name| node.spanned(name.to_owned())).ok_or_else(|| node.expected("the name of a node"))
}

fn window(fields: &Fields<'_>, node: &Node, errors: &mut Errors) -> Option<WindowConfig> {
    let before = errors.len();
    let acknowledge = fields.read("acknowledge", |value| integer(value, 1, 100), errors).unwrap_or(1);
    let window = fields.read("window", quantity, errors);
    let config = WindowConfig {
        segment: fields.read("segment", quantity, errors).unwrap_or(SEGMENT),
        headers: fields.read("headers", quantity, errors).unwrap_or(HEADERS),
        amount: fields.read("amount", quantity, errors),
        acknowledge: u32::try_from(acknowledge).expect("at most 100"),
        timeout: fields.read("timeout", positive_duration, errors).unwrap_or(TIMEOUT),
        start: fields.read("start", duration_or_zero, errors).unwrap_or_default(),
        stop: fields.read("stop", positive_duration, errors),
        window: window?,
    };
    if errors.len() > before {
        return None;
    }
    let checked = config.check().map(|()| config);
    keep(checked.map_err(|wrong| fields.get(wrong.key).unwrap_or(node).error(wrong.message)), errors)
}

/// What is sent, as a lab file has it.
pub(crate) fn write(sends: &Sends) -> String {
    let config = match sends {
        Sends::Open(source) => return cross::write_source(source),
        Sends::Window(config) => config,
    };
    let WindowConfig { window, segment, headers, amount, acknowledge, timeout, start, stop } = config;
    let mut text = format!("kind: window, window: {window}, segment: {segment}, headers: {headers}");
    if let Some(amount) = amount {
        text += &format!(", amount: {amount}");
    }
    text += &format!(", acknowledge: {acknowledge}, timeout: {timeout}");
    if *start > Duration::ZERO {
        text += &format!(", start: {start}");
    }
    if let Some(stop) = stop {
        text += &format!(", stop: {stop}");
    }
    format!("{{{text}}}")
}

/// The source that `text` describes, as an entry of `traffic` does; the braces can be left out. It is added to those
/// that `plan` has; files are found from `folder`.
///
/// # Errors
/// What is wrong with it.
pub fn parse_traffic(plan: &Plan, text: &str, folder: &Path) -> Result<TrafficPlan, ChangeError> {
    let trimmed = text.trim();
    let entry = if trimmed.starts_with('{') { trimmed.to_owned() } else { format!("{{{trimmed}}}") };
    let first = |errors: &[Diagnostic]| ChangeError::new(errors.first().map_or("it is not YAML", Diagnostic::message));
    let node = yaml::parse(&entry).map_err(|errors| first(&errors))?;
    let mut errors = Errors::in_folder(folder);
    let source = decode(&node, &mut errors).and_then(|spec| resolve_for(plan, spec, &mut errors));
    source.filter(|_| errors.is_empty()).ok_or_else(|| first(&errors))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAB: &str = "name: t\nnodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n";

    fn plan() -> Plan {
        crate::parse(LAB, "t.yaml").expect("a lab").plan
    }

    #[test]
    fn every_form_is_read_and_written() {
        let plan = plan();
        for text in [
            "kind: constant, rate: 5 Mbit/s, size: 1200 B",
            "kind: poisson, rate: 5 Mbit/s, size: imix, start: 1 s, stop: 9 s",
            "kind: on-off, rate: 1 Mbit/s, size: 500 B, on: 1 s, off: 2 s",
            "kind: pcap, file: ../../tests/golden/pcap/four.pcap, repeat: true",
            "kind: window, window: 64 kB",
            "kind: window, window: 16 KiB, segment: 516 B, headers: 60 B, amount: 1 MiB, acknowledge: 2, start: 1 s, stop: 2 s",
        ] {
            let source = parse_traffic(&plan, &format!("from: a, to: b, {text}"), Path::new("")).expect(text);
            let written = write(&source.sends);
            let again = format!("{{from: a, to: b, {}", &written[1..]);
            assert_eq!(parse_traffic(&plan, &again, Path::new("")).expect(&again).sends, source.sends);
        }
    }

    #[test]
    fn sources_get_names_of_their_own() {
        let mut plan = plan();
        for name in ["a-b", "a-b-2", "a-b-3"] {
            let source =
                parse_traffic(&plan, "from: a, to: b, kind: window, window: 2 kB", Path::new("")).expect("right");
            assert_eq!(source.name, name);
            plan.traffic.push(source);
        }
        let taken = "from: a, to: b, as: a-b-2, kind: window, window: 2 kB";
        let error = parse_traffic(&plan, taken, Path::new("")).expect_err("the name is taken").to_string();
        assert_eq!(error, "there are two sources `a-b-2`: each has a name of its own");
    }
}
