//! Which records of a journal are meant.

use super::record::{Fate, JournalPipe, Record};
use netloom_link::Filter;
use std::ops::RangeInclusive;

/// The conditions that select records of a journal. A record must meet all that are given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The links whose records are selected, or single directions of them: `LINK` or `LINK.DIRECTION`; empty: all
    /// links.
    pub links: Vec<String>,
    /// The filter that the packet's flow must match.
    pub filter: Option<Filter>,
    /// The span in which the packet must have arrived, in nanoseconds of lab time.
    pub arrived_ns: Option<RangeInclusive<i64>>,
    /// The events of which at least one must have happened to the packet; empty: whatever happened.
    pub happened: Vec<Happened>,
}

/// An event that can have happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The packet was delivered.
    Delivered,
    /// The packet was dropped.
    Dropped,
    /// The packet was marked as having experienced congestion.
    Marked,
    /// The packet was still inside at the end.
    Inside,
}

impl Happened {
    fn is_of(self, record: &Record) -> bool {
        match self {
            Self::Delivered => matches!(record.fate, Fate::Delivered { .. }),
            Self::Dropped => matches!(record.fate, Fate::Dropped { .. }),
            Self::Marked => record.marked_ns.is_some(),
            Self::Inside => record.fate == Fate::Inside,
        }
    }
}

/// A selection that is resolved to the pipes of a journal.
#[derive(Clone, Debug)]
pub struct Selector {
    selection: Selection,
    /// By pipe: whether it is meant.
    pipes: Vec<bool>,
}

impl Selection {
    /// Resolves the selection to these pipes of a journal.
    ///
    /// # Errors
    /// A link that is none of the journal's; the text says which there are.
    pub fn among(self, pipes: &[JournalPipe]) -> Result<Selector, String> {
        let is_meant = |pipe: &JournalPipe, link: &String| {
            *link == pipe.link
                || link.strip_prefix(&pipe.link).is_some_and(|rest| rest == format!(".{}", pipe.direction))
        };
        if let Some(unknown) = self.links.iter().find(|link| !pipes.iter().any(|pipe| is_meant(pipe, link))) {
            let mut known: Vec<&str> = pipes.iter().map(|pipe| pipe.link.as_str()).collect();
            known.dedup();
            return Err(format!("the journal has no link `{unknown}`; it has {}", shortened(&known)));
        }
        let meant = |pipe: &JournalPipe| self.links.is_empty() || self.links.iter().any(|link| is_meant(pipe, link));
        let pipes = pipes.iter().map(meant).collect();
        Ok(Selector { selection: self, pipes })
    }
}

impl Selector {
    /// Whether the selection includes this record.
    pub fn selects(&self, record: &Record) -> bool {
        let Selection { filter, arrived_ns, happened, .. } = &self.selection;
        self.pipes.get(record.pipe as usize).is_some_and(|meant| *meant)
            && arrived_ns.as_ref().is_none_or(|span| span.contains(&record.arrived_ns))
            && (happened.is_empty() || happened.iter().any(|what| what.is_of(record)))
            && filter.as_ref().is_none_or(|filter| filter.matches(record.flow.as_ref()))
    }

    /// Whether the selection includes records of a pipe, given by its place in the journal.
    pub fn is_about(&self, pipe: usize) -> bool {
        self.pipes.get(pipe).is_some_and(|meant| *meant)
    }
}

fn shortened(names: &[&str]) -> String {
    const NAMED: usize = 8;
    let more = names.len().saturating_sub(NAMED);
    let named = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}
