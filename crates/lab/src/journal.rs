//! `journal`: links of which it is written down what happened to each packet.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::forms::{Placed, forms};
use crate::keyed::{Keyed, WrittenKeys, sections};
use crate::kinds::PIPE_REFERENCE;
use crate::models::filter::Matching;
use crate::plan::{Direction, JournalPlan};
use crate::scalar::{quantity, word};
use crate::section::{Form, Kind, Section, keys};
use crate::yaml::{Content, Node};
use netloom_units::Bytes;

const PIPES: Kind = Kind::list(&PIPE_REFERENCE, 1);
const ALL: Kind = Kind::Word(&["all"]);

pub(crate) const KEY: Section = keys! {
    /// Links of which journal.arrows in the results tells what happened to each packet: all, or a list of links and directions, or a map
    /// that says more.
    journal = Kind::OneOf(&[ALL, PIPES, JournalSpec::KIND]), "[backbone.forward]";
};

/// A few batches fit into it.
const LEAST_LIMIT: Bytes = Bytes::new(1_000_000);

/// Links by name, and a direction of each or both.
type Named = Vec<(Spanned<String>, Option<Direction>)>;

forms! {
    /// Links and directions; none: all.
    pub(crate) struct Pipes = Option<Named>, Kind::OneOf(&[ALL, PIPES]), noting pipes;
    /// The most bytes of a journal.
    pub(crate) struct Limit = Bytes, Bytes::KIND, limit;
}

sections! {
    /// The journal: what happened to each packet of some links.
    #[derive(Debug, Default)]
    pub(crate) struct JournalSpec = "journal" {
        /// The links, or directions of them. Default: all.
        links: Pipes, "[backbone.forward]" else None;
        /// Only these packets. Default: all.
        r#match: Matching, "{protocol: tcp}";
        /// How large the file becomes at most, 1 MB and above; what has no room any more is counted. Default: no limit.
        limit: Limit, "1 GB";
        /// Whether each attempt to send a packet over the air of a radio medium of kind wifi is written down, too. Default: false.
        attempts: Placed<bool>, "true";
    }
}

/// The journal that is wanted.
pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<JournalSpec> {
    if !matches!(node.content, Content::Map(_)) {
        return pipes(node, errors).map(|links| JournalSpec { links, ..JournalSpec::default() });
    }
    let before = errors.len();
    let journal = JournalSpec::open(node, errors)?;
    (errors.len() == before).then_some(journal)
}

/// The links that a list names, or all; none after an error was noted.
fn pipes(node: &Node, errors: &mut Errors) -> Option<Option<Named>> {
    let Content::List(items) = &node.content else {
        return keep(word(node, &[("all", None)]).map_err(|_| wrong(node)), errors);
    };
    if items.is_empty() {
        errors.push(wrong(node));
    }
    let all: Option<Vec<_>> = items.iter().map(|item| keep(pipe(item), errors)).collect();
    all.filter(|all| !all.is_empty()).map(Some)
}

fn wrong(node: &Node) -> Diagnostic {
    node.expected("all, or a list of links, for example [backbone.forward]")
}

fn pipe(node: &Node) -> Result<(Spanned<String>, Option<Direction>), Diagnostic> {
    let name = node.text().ok_or_else(|| node.expected("the name of a link, or of one direction of it"))?;
    match name.split_once('.') {
        None => Ok((node.spanned(name.to_owned()), None)),
        Some((link, "forward")) => Ok((node.spanned(link.to_owned()), Some(Direction::Forward))),
        Some((link, "backward")) => Ok((node.spanned(link.to_owned()), Some(Direction::Backward))),
        Some((link, other)) => {
            Err(node.error(format!("`{other}` is no direction: write {link}, {link}.forward or {link}.backward")))
        }
    }
}

fn limit(node: &Node) -> Result<Bytes, Diagnostic> {
    let limit: Bytes = quantity(node)?;
    let too_small = || node.error(format!("{limit} is too little for a journal: write {LEAST_LIMIT} or more"));
    if limit >= LEAST_LIMIT { Ok(limit) } else { Err(too_small()) }
}

/// What is said of a journal beside its links, as a lab file has it.
pub(crate) fn write(journal: &JournalPlan) -> String {
    let parts = [
        journal.filter.as_ref().map(|filter| format!("match: {}", filter.write_map())),
        journal.limit.map(|limit| format!("limit: {limit}")),
        journal.attempts.then(|| "attempts: true".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
