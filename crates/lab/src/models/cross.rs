//! `cross`: traffic that exists in one pipe only.

mod pcap;

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{DURATION_OR_ZERO, Key, Kind, Quantity, Section};
use crate::scalar::{duration_or_zero, filled, flag, integer, positive_duration, quantity, rate as rate_or_unlimited};
use crate::yaml::{Content, Node};
use netloom_link::{CrossConfig, OnOff, PacketSize, Replay, Stream, Traffic};
use netloom_units::{Duration, Rate};

pub(crate) const KEY: Key = Key::new(
    "cross",
    Kind::OneOf(&[
        Kind::Word(&["none"]),
        Kind::List {
            items: &Kind::OneOf(&[
                Kind::Section(&CONSTANT),
                Kind::Section(&POISSON),
                Kind::Section(&ON_OFF),
                Kind::Section(&PCAP),
            ]),
            least: 1,
            most: None,
        },
    ]),
    "[{kind: poisson, rate: 20 Mbit/s, size: imix}]",
    "Traffic that exists in this direction only and uses its queue and rate: a list of sources. Default: none.",
);

const RATE: Key = Key::new(
    "rate",
    Kind::Quantity(Quantity::Rate),
    "300 Mbit/s",
    "How much it sends on average, from the IP header on.",
)
.required();
const SIZE: Key = Key::new(
    "size",
    Kind::OneOf(&[Kind::Word(&["imix"]), Kind::Text("^\\s*[0-9]+(\\.[0-9]+)?\\s*([kMG]?B|[KMG]iB)\\s*$")]),
    "1500 B",
    "Length of its packets from the IP header on, 28 B to 65535 B; imix: 7 of 40, 4 of 576 and 1 of 1500 bytes in \
     random order.",
)
.required();
const MEAN: Kind = Kind::Quantity(Quantity::Duration);
const WINDOW: &[Key] = &[
    Key::new("start", DURATION_OR_ZERO, "2 s", "When it begins, after time zero or the change. Default: 0."),
    Key::new("stop", MEAN, "8 s", "When it ends, after time zero or the change. Default: never."),
];

pub(crate) const CONSTANT: Section = Section {
    name: "cross_constant",
    doc: "Cross traffic at a constant rate.",
    groups: &[
        &[Key::new("kind", Kind::Word(&["constant"]), "constant", "Packets follow at equal gaps.").required()],
        &[RATE, SIZE],
        WINDOW,
    ],
};

pub(crate) const POISSON: Section = Section {
    name: "cross_poisson",
    doc: "Cross traffic whose packets come independently of one another.",
    groups: &[
        &[Key::new("kind", Kind::Word(&["poisson"]), "poisson", "Gaps are exponentially distributed.").required()],
        &[RATE, SIZE],
        WINDOW,
    ],
};

pub(crate) const ON_OFF: Section = Section {
    name: "cross_on_off",
    doc: "Cross traffic in bursts of Pareto length; many such sources together are self-similar.",
    groups: &[
        &[Key::new("kind", Kind::Word(&["on-off"]), "on-off", "Bursts, and silence in between.").required()],
        &[RATE, SIZE],
        &[
            Key::new("on", MEAN, "500 ms", "The mean length of bursts; rate is the rate during a burst.").required(),
            Key::new("off", MEAN, "500 ms", "The mean length of silence.").required(),
            Key::new("shape", Kind::Positive, "1.5", "The shape of both Pareto distributions, above 1. Default: 1.5."),
            Key::new(
                "sources",
                Kind::Integer { least: 1, most: 1_000 },
                "20",
                "How many such sources, 1 to 1000; each is a flow of its own and has this rate. Default: 1.",
            ),
        ],
        WINDOW,
    ],
};

pub(crate) const PCAP: Section = Section {
    name: "cross_pcap",
    doc: "Cross traffic with the times and sizes of recorded packets.",
    groups: &[
        &[
            Key::new("kind", Kind::Word(&["pcap"]), "pcap", "Recorded packets.").required(),
            Key::new(
                "file",
                Kind::Text("."),
                "trace.pcap",
                "A capture file in the format of tcpdump (pcap) or Wireshark (pcapng); relative to the lab file.",
            )
            .required(),
            Key::new(
                "repeat",
                Kind::Flag,
                "true",
                "Whether it begins again one mean gap after its last packet. Default: false.",
            ),
        ],
        WINDOW,
    ],
};

/// Shape 1.5 gives the Hurst parameter 0.75 (Willinger and others 1997: (3 - shape) / 2), in the middle of what was
/// measured on networks.
const SHAPE: f64 = 1.5;

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "none",
    "[{kind: constant, rate: 300 Mbit/s, size: 1500 B}]",
    "[{kind: poisson, rate: 20 Mbit/s, size: imix, start: 2 s, stop: 8 s}, {kind: constant, rate: 8 kbit/s, size: 40 B}]",
    "[{kind: on-off, rate: 1 Mbit/s, size: 1.5 kB, on: 500 ms, off: 2 s}]",
    "[{kind: on-off, rate: 1 Mbit/s, size: imix, on: 500 ms, off: 2 s, shape: 1.2, sources: 20, start: 0}]",
    "[{kind: pcap, file: ../../tests/golden/pcap/four.pcap}]",
    "[{kind: pcap, file: '../../tests/golden/pcap/four.pcap', repeat: true, stop: 1 min}]",
];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<Vec<CrossConfig>> {
    match &node.content {
        Content::List(items) if !items.is_empty() => {
            let sources: Vec<_> = items.iter().map(|item| source(item, errors)).collect();
            sources.into_iter().collect()
        }
        _ if node.text() == Some("none") => Some(Vec::new()),
        _ => {
            errors.push(
                node.expected(
                    "none or a list of sources, for example `[{kind: poisson, rate: 20 Mbit/s, size: imix}]`",
                ),
            );
            None
        }
    }
}

fn source(node: &Node, errors: &mut Errors) -> Option<CrossConfig> {
    let kinds = [("constant", &CONSTANT), ("poisson", &POISSON), ("on-off", &ON_OFF), ("pcap", &PCAP)];
    let (kind, fields) = Fields::open_kind(node, &kinds, errors)?;
    source_of(kind, &fields, node, errors)
}

/// The source of this kind that `fields`, which are those of `node`, describe.
pub(crate) fn source_of(kind: &str, fields: &Fields<'_>, node: &Node, errors: &mut Errors) -> Option<CrossConfig> {
    // All are read before anything is given up, so that all errors are told.
    let start = fields.read("start", duration_or_zero, errors).unwrap_or_default();
    let stop = fields.read("stop", positive_duration, errors);
    let traffic = match kind {
        "constant" => stream(fields, errors).map(Traffic::Constant),
        "poisson" => stream(fields, errors).map(Traffic::Poisson),
        "on-off" => on_off(fields, errors).map(Traffic::OnOff),
        _ => replay(fields, errors).map(Traffic::Replay),
    };
    let config = CrossConfig { traffic: traffic?, start, stop };
    let checked = config.check().map(|()| config);
    keep(checked.map_err(|wrong| fields.get(wrong.key).unwrap_or(node).error(wrong.message)), errors)
}

fn stream(fields: &Fields<'_>, errors: &mut Errors) -> Option<Stream> {
    let rate = fields.read("rate", rate, errors);
    let size = fields.read("size", size, errors);
    Some(Stream { rate: rate?, size: size? })
}

fn rate(node: &Node) -> Result<Rate, Diagnostic> {
    let is_zero = |text: &str| text.starts_with('0') && !text.contains(|c: char| c.is_ascii_digit() && c != '0');
    if node.text().is_some_and(is_zero) {
        return Err(node.error("a source of rate zero sends nothing: leave it out, or write none instead of the list"));
    }
    rate_or_unlimited(node)?.ok_or_else(|| node.error("a source needs a rate, for example 20 Mbit/s"))
}

fn size(node: &Node) -> Result<PacketSize, Diagnostic> {
    if node.text() == Some("imix") { Ok(PacketSize::Imix) } else { quantity(node).map(PacketSize::Fixed) }
}

fn on_off(fields: &Fields<'_>, errors: &mut Errors) -> Option<OnOff> {
    let stream = stream(fields, errors);
    let on = fields.read("on", positive_duration, errors);
    let off = fields.read("off", positive_duration, errors);
    let shape = fields.read("shape", shape, errors).unwrap_or(SHAPE);
    let sources = fields.read("sources", |value| integer(value, 1, 1_000), errors).unwrap_or(1);
    let sources = u16::try_from(sources).expect("at most 1,000");
    Some(OnOff { stream: stream?, on: on?, off: off?, shape, sources })
}

/// A decimal number; the digits that are written give the nearest number that there is, and that gives them again.
fn shape(node: &Node) -> Result<f64, Diagnostic> {
    let is_decimal = |text: &&str| text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(['e', 'E']);
    let parsed = node.plain().filter(is_decimal).and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| match node.text() {
        Some(found) => node.error(format!("\"{found}\" is not a decimal number: write for example 1.5")),
        None => node.expected("a decimal number, for example 1.5"),
    })
}

fn replay(fields: &Fields<'_>, errors: &mut Errors) -> Option<Replay> {
    let repeat = fields.read("repeat", flag, errors).unwrap_or(false);
    let node = fields.get("file")?;
    let file = keep(filled(node), errors)?;
    let bytes = keep(errors.read_bytes(node), errors)?;
    let packets = keep(pcap::packets(&bytes).map_err(|wrong| node.error(wrong)), errors)?;
    Some(Replay { file, packets: packets.into(), repeat })
}

pub(crate) fn write(sources: &[CrossConfig]) -> String {
    if sources.is_empty() {
        return "none".into();
    }
    let sources: Vec<String> = sources.iter().map(write_source).collect();
    format!("[{}]", sources.join(", "))
}

pub(crate) fn write_source(config: &CrossConfig) -> String {
    let mut text = match &config.traffic {
        Traffic::Constant(stream) => format!("kind: constant, {}", write_stream(stream)),
        Traffic::Poisson(stream) => format!("kind: poisson, {}", write_stream(stream)),
        Traffic::OnOff(OnOff { stream, on, off, shape, sources }) => {
            let stream = write_stream(stream);
            format!("kind: on-off, {stream}, on: {on}, off: {off}, shape: {shape}, sources: {sources}")
        }
        Traffic::Replay(Replay { file, repeat, .. }) => {
            // Quotes are needed for what YAML would take for something else; a quote inside is doubled.
            format!("kind: pcap, file: '{}', repeat: {repeat}", file.replace('\'', "''"))
        }
    };
    if config.start > Duration::ZERO {
        text += &format!(", start: {}", config.start);
    }
    if let Some(stop) = config.stop {
        text += &format!(", stop: {stop}");
    }
    format!("{{{text}}}")
}

fn write_stream(Stream { rate, size }: &Stream) -> String {
    match size {
        PacketSize::Fixed(size) => format!("rate: {rate}, size: {size}"),
        PacketSize::Imix => format!("rate: {rate}, size: imix"),
    }
}
