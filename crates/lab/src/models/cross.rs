//! `cross`: traffic that exists in one pipe only.

mod pcap;

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{AboveZero, OrZero, Whole, forms};
use crate::keyed::sections;
use crate::scalar::{filled, quantity, rate as rate_or_unlimited};
use crate::section::{Key, Kind, Section, key, keys};
use crate::yaml::{Content, Node};
use netloom_link::{CrossConfig, OnOff, PacketSize, Replay, Stream, Traffic};
use netloom_units::{Bytes, Duration, Rate};

pub(crate) const KEY: Key = key!(
    /// Traffic that exists in this direction only and uses its queue and rate: a list of sources. Default: none.
    cross = Kind::OneOf(&[Kind::Word(&["none"]), Kind::list(&Kind::Sections(KINDS), 1)]), "[{kind: poisson, rate: 20 Mbit/s, size: imix}]"
);

const KINDS: &[&Section] = &[&CONSTANT, &POISSON, &ON_OFF, &PCAP];

forms! {
    /// The rate of a source, which is not zero.
    struct SourceRate = Rate, Rate::KIND, rate;
    struct Size = PacketSize,
        Kind::OneOf(&[Kind::Word(&["imix"]), Bytes::KIND]), size;
    /// A decimal number.
    struct Shape = f64, Kind::Positive, shape;
}

/// The keys of sources that make up their packets.
const STREAM: Section = keys! {
    /// How much it sends on average, from the IP header on.
    rate: SourceRate, required "300 Mbit/s";
    /// Length of its packets from the IP header on, 28 B to 65535 B; imix: 7 of 40, 4 of 576 and 1 of 1500 bytes in random order.
    size: Size, required "1500 B";
};
/// The keys that say when a source sends.
const WINDOW: Section = keys! {
    /// When it begins, after time zero or the change. Default: 0.
    start: OrZero<Duration>, "2 s";
    /// When it ends, after time zero or the change. Default: never.
    stop: AboveZero<Duration>, "8 s";
};

sections! {
    /// Cross traffic at a constant rate.
    pub(crate) const CONSTANT = "cross_constant" {
        /// Packets follow at equal gaps.
        kind is "constant";
        ..STREAM;
        ..WINDOW;
    }

    /// Cross traffic whose packets come independently of one another.
    pub(crate) const POISSON = "cross_poisson" {
        /// Gaps are exponentially distributed.
        kind is "poisson";
        ..STREAM;
        ..WINDOW;
    }

    /// Cross traffic in bursts of Pareto length; many such sources together are self-similar.
    pub(crate) const ON_OFF = "cross_on_off" {
        /// Bursts, and silence in between.
        kind is "on-off";
        ..STREAM;
        /// The mean length of bursts; rate is the rate during a burst.
        on: AboveZero<Duration>, required "500 ms";
        /// The mean length of silence.
        off: AboveZero<Duration>, required "500 ms";
        /// The shape of both Pareto distributions, above 1. Default: 1.5.
        shape: Shape, "1.5";
        /// How many such sources, 1 to 1000; each is a flow of its own and has this rate. Default: 1.
        sources: Whole<u16, 1, 1_000>, "20";
        ..WINDOW;
    }

    /// Cross traffic with the times and sizes of recorded packets.
    pub(crate) const PCAP = "cross_pcap" {
        /// Recorded packets.
        kind is "pcap";
        /// A capture file in the format of tcpdump (pcap) or Wireshark (pcapng); relative to the lab file.
        file = Kind::Text("."), required "trace.pcap";
        /// Whether it begins again one mean gap after its last packet. Default: false.
        repeat: bool, "true";
        ..WINDOW;
    }
}

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
        _ => errors.reject(
            node.expected("none or a list of sources, for example `[{kind: poisson, rate: 20 Mbit/s, size: imix}]`"),
        ),
    }
}

fn source(node: &Node, errors: &mut Errors) -> Option<CrossConfig> {
    let (kind, fields) = Fields::open_kind(node, KINDS, errors)?;
    source_of(kind, &fields, node, errors)
}

/// The source of this kind that `fields`, which are those of `node`, describe.
pub(crate) fn source_of(kind: &str, fields: &Fields<'_>, node: &Node, errors: &mut Errors) -> Option<CrossConfig> {
    // All are read before anything is given up, so that all errors are reported.
    let start = fields.form::<OrZero<Duration>>("start", errors).unwrap_or_default();
    let stop = fields.form::<AboveZero<Duration>>("stop", errors);
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
    let rate = fields.form::<SourceRate>("rate", errors);
    let size = fields.form::<Size>("size", errors);
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
    let on = fields.form::<AboveZero<Duration>>("on", errors);
    let off = fields.form::<AboveZero<Duration>>("off", errors);
    let shape = fields.form::<Shape>("shape", errors).unwrap_or(SHAPE);
    let sources = fields.form::<Whole<u16, 1, 1_000>>("sources", errors).unwrap_or(1);
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
    let repeat = fields.form::<bool>("repeat", errors).unwrap_or(false);
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
