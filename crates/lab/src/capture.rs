//! `capture`: links and ports whose packets are written to files.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::forms::{Filled, LinkName, NodeName, Word, forms};
use crate::keyed::{Keyed, WrittenKeys, sections};
use crate::kinds::{LINK_REFERENCE, NODE_REFERENCE};
use crate::models::filter::Matching;
use crate::names::file_name;
use crate::plan::{CaptureHeaders, CapturePlan, Direction, FilterExpression};
use crate::scalar::quantity;
use crate::section::{Form, Kind, Section, keys};
use crate::yaml::{Content, Node};
use netloom_units::Bytes;

pub(crate) const KEY: Section = keys! {
    /// Links and ports whose packets are captured in `captures/` of the results: a link's name, or a map of what to capture.
    capture = Kind::list(&Kind::OneOf(&[LINK_REFERENCE, CaptureSpec::KIND]), 0),
        "[backbone, {link: backbone, snaplen: 128 B, file: heads.pcapng}]";
};

/// The whole Ethernet header is the least that says what a packet is.
const LEAST_SNAPLEN: Bytes = Bytes::new(14);
/// What capture programs take for "all".
const MOST_SNAPLEN: Bytes = Bytes::new(256 * 1_024);
/// A ring consists of files that have room for some packets each.
const LEAST_RING: Bytes = Bytes::new(1_000_000);
/// No expression that people write is as long.
const LONGEST_FILTER: usize = 4_096;

forms! {
    pub(crate) struct Point = Spanned<String>, Kind::OneOf(&[Kind::Word(&["sent", "delivered"]), NODE_REFERENCE]), point_name;
    pub(crate) struct Snaplen = Bytes, Bytes::KIND, snaplen;
    pub(crate) struct Ring = Bytes, Bytes::KIND, ring;
    pub(crate) struct Expression = FilterExpression, Filled::KIND, expression;
    pub(crate) struct CaptureFile = Spanned<String>, Kind::Text("^[a-zA-Z0-9_-][a-zA-Z0-9_. -]*\\.pcapng$"), capture_file;
}

sections! {
    /// A capture of the packets of a link, or at the ports of a node; `link`, `node` or both are needed.
    #[derive(Debug, Default)]
    pub(crate) struct CaptureSpec = "capture" {
        /// The link. Default: all links of the node.
        link: LinkName, "backbone";
        /// Only at ports of this node, of whatever kind. Default: at all ends of the link.
        node: NodeName, "r1";
        /// Only this direction. Default: both.
        direction: Word<Direction>, "forward";
        /// Each packet once, where it is sent or where it is delivered; or a node at an end of the link, and what passes there. Default: at
        /// both ends.
        at: Point, "sent";
        /// How much of each packet is kept, from the Ethernet header on: 14 B to 256 KiB. Default: all.
        snaplen: Snaplen, "128 B";
        /// Only these packets. Default: all.
        r#match: Matching, "{protocol: tcp}";
        /// Only packets that this expression wants, which tcpdump translates (pcap-filter(7)). Default: all.
        filter: Expression, "tcp port 80 and len > 100";
        /// Only the last packets are kept, as many as have room in so much: 1 MB and above. Default: all.
        ring: Ring, "100 MB";
        /// The headers that are kept of a radio medium: `ethernet`, those of packets at its stations, or `radiotap`, those of what is on
        /// the air, with every attempt. Default: ethernet.
        headers: Word<CaptureHeaders>, "radiotap";
        /// The file's name in the folder `captures`. Default: the names of node and link, and `.pcapng`.
        file: CaptureFile, "tcp.pcapng";
    }
}

/// An entry of the list.
pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<CaptureSpec> {
    if matches!(node.content, Content::Text { .. }) {
        let link = LinkName::read(node, errors)?;
        return Some(CaptureSpec { link: Some(link), ..CaptureSpec::default() });
    }
    let before = errors.len();
    let whole = CaptureSpec::open(node, errors)?;
    if errors.len() == before && whole.link.is_none() && whole.node.is_none() {
        errors.push(node.error("of which packets? write `link` for a link, `node` for all ports of a node, or both"));
    }
    // A file whose name cannot be read would be taken for the default one, and that for another capture's.
    (errors.len() == before).then_some(whole)
}

fn point_name(node: &Node) -> Result<Spanned<String>, Diagnostic> {
    let name = node.text().ok_or_else(|| node.expected("sent, delivered, or a node at an end of the link"))?;
    Ok(node.spanned(name.to_owned()))
}

fn expression(node: &Node) -> Result<FilterExpression, Diagnostic> {
    let text = node.text().filter(|text| !text.trim().is_empty());
    let text = text.ok_or_else(|| node.expected("an expression of pcap-filter(7), as `tcp port 80`"))?;
    if text.len() > LONGEST_FILTER {
        return Err(node.error(format!("an expression has at most {LONGEST_FILTER} bytes")));
    }
    Ok(FilterExpression { text: text.to_owned(), line: node.span.line })
}

fn ring(node: &Node) -> Result<Bytes, Diagnostic> {
    let size: Bytes = quantity(node)?;
    if size < LEAST_RING {
        return Err(node.error(format!("a ring of {size} keeps next to nothing: write {LEAST_RING} or more")));
    }
    Ok(size)
}

fn snaplen(node: &Node) -> Result<Bytes, Diagnostic> {
    let size: Bytes = quantity(node)?;
    if (LEAST_SNAPLEN..=MOST_SNAPLEN).contains(&size) {
        return Ok(size);
    }
    Err(node.error(format!("{size} is not a possible snap length: write 14 B to 256 KiB, or leave it out to keep all")))
}

fn capture_file(node: &Node) -> Result<Spanned<String>, Diagnostic> {
    let name = file_name(node)?;
    if name.value.ends_with(EXTENSION) {
        return Ok(name);
    }
    let stem = name.value.rsplit_once('.').map_or(name.value.as_str(), |(stem, _)| stem);
    Err(node.error(format!("captures are pcapng files: write {stem}{EXTENSION}")))
}

/// Of every capture's file.
pub(crate) const EXTENSION: &str = ".pcapng";

/// What is said of a capture beside its place and file, as a lab file has it. `ends`: the nodes at the ends of its link.
pub(crate) fn write(capture: &CapturePlan, ends: &[&str]) -> String {
    let parts = [
        capture.direction.map(|direction| format!("direction: {direction}")),
        capture.at.map(|point| format!("at: {}", point.name(ends))),
        capture.snaplen.map(|size| format!("snaplen: {size}")),
        capture.filter.as_ref().map(|filter| format!("match: {}", filter.write_map())),
        capture.expression.as_ref().map(|expression| format!("filter: {}", expression.text)),
        capture.ring.map(|size| format!("ring: {size}")),
        (capture.headers == CaptureHeaders::Radiotap).then(|| "headers: radiotap".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
