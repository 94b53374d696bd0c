//! `traffic`: what `netloom sim` sends. The sources that do not listen are those of cross traffic, with the same keys.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{AboveZero, Maybe, Offset, Whole};
use crate::keyed::{Keyed, WrittenKeys, sections};
use crate::kinds::{COMMAND_REFERENCE, NODE_REFERENCE};
use crate::models::ChangeError;
use crate::models::cross;
use crate::names::command_name;
use crate::plan::{Plan, Sends, TrafficPlan, WindowConfig};
use crate::resolve::resolve_for;
use crate::section::{Kind, Section, keys};
use crate::spec::TrafficSpec;
use crate::yaml::{self, Node};
use netloom_units::{Bytes, Duration};
use std::path::Path;

pub(crate) const KEY: Section = keys! {
    /// What `netloom sim` sends; `netloom run` has the programs of the timeline instead.
    traffic = Kind::list(&Kind::Sections(KINDS), 0), "[{from: client, to: server, kind: constant, rate: 5 Mbit/s, size: 1200 B}]";
};

const ENDS: Section = keys! {
    /// The node that sends.
    from = NODE_REFERENCE, required "client";
    /// The node that receives.
    to = NODE_REFERENCE, required "server";
    /// The source's name. Default: those of its nodes.
    as = COMMAND_REFERENCE, "video";
};

const KINDS: &[&Section] = &[&CONSTANT, &POISSON, &ON_OFF, &PCAP, &WindowConfig::SECTION];

sections! {
    /// Packets at a constant rate.
    const CONSTANT = "traffic_constant" {
        ..ENDS;
        ..cross::CONSTANT;
    }

    /// Packets that come independently of one another.
    const POISSON = "traffic_poisson" {
        ..ENDS;
        ..cross::POISSON;
    }

    /// Packets in bursts of Pareto length.
    const ON_OFF = "traffic_on_off" {
        ..ENDS;
        ..cross::ON_OFF;
    }

    /// Recorded packets.
    const PCAP = "traffic_pcap" {
        ..ENDS;
        ..cross::PCAP;
    }

    /// A sender with a fixed window. It is not TCP: no slow start, no congestion control, no handshake.
    for WindowConfig = "traffic_window" {
        ..ENDS;
        /// A sender with a fixed window.
        kind is "window";
        /// How much payload may be under way and not acknowledged.
        window: Bytes, required "64 kB";
        /// The payload of a packet. Default: 1460 B.
        segment: Bytes, "1460 B" else SEGMENT;
        /// The headers of a packet, at least 28 B. Default: 40 B.
        headers: Bytes, "40 B" else HEADERS;
        /// How much payload is sent. Default: without end.
        amount: Maybe<Bytes>, "1 MB" else None;
        /// Every how many packets in order are acknowledged, 1 to 100. Default: 1.
        acknowledge: Whole<u32, 1, 100>, "2" else 1;
        /// How long after sending an unacknowledged packet is sent again. Default: 1 s.
        timeout: AboveZero<Duration>, "1 s" else TIMEOUT;
        /// When it begins, after time zero. Default: 0.
        start: Offset, "2 s" else Duration::ZERO;
        /// When it ends, after time zero. Default: never.
        stop: Maybe<AboveZero<Duration>>, "8 s" else None;
    }
}

/// An Ethernet's 1,500 bytes less IPv4 and TCP headers without options, 20 bytes each (RFC 9293, section 3.7.1).
const SEGMENT: Bytes = Bytes::new(1_460);
const HEADERS: Bytes = Bytes::new(40);
/// The least retransmission timeout of TCP (RFC 6298, section 2.4).
const TIMEOUT: Duration = Duration::from_secs(1);

/// An entry of the list.
pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<TrafficSpec> {
    let (kind, fields) = Fields::open_kind(node, KINDS, errors)?;
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
    let config = WindowConfig::read_keys(fields, errors)?;
    if errors.len() > before {
        return None;
    }
    let checked = config.check().map(|()| config);
    keep(checked.map_err(|wrong| fields.get(wrong.key).unwrap_or(node).error(wrong.message)), errors)
}

/// What is sent, as a lab file has it.
pub(crate) fn write(sends: &Sends) -> String {
    match sends {
        Sends::Open(source) => cross::write_source(source),
        Sends::Window(config) => config.write_map(),
    }
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
