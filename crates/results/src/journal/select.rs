//! Which records of a journal are meant.

use super::record::{Fate, JournalPipe, Record};
use netloom_link::Filter;
use std::ops::RangeInclusive;

/// What records are meant. All that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only those of these links, or of one direction of them, `LINK` or `LINK.DIRECTION`; empty: of all.
    pub links: Vec<String>,
    /// Only those whose flow this filter matches.
    pub filter: Option<Filter>,
    /// Only those that came in then, in nanoseconds of lab time.
    pub arrived_ns: Option<RangeInclusive<i64>>,
    /// Only those to which one of these happened; empty: whatever happened.
    pub happened: Vec<Happened>,
}

/// Something that can have happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// It was delivered.
    Delivered,
    /// It was dropped.
    Dropped,
    /// It was marked as having experienced congestion.
    Marked,
    /// It was still inside at the end.
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

/// A selection that knows the pipes of a journal.
#[derive(Clone, Debug)]
pub struct Selector {
    selection: Selection,
    /// By pipe: whether it is meant.
    pipes: Vec<bool>,
}

impl Selection {
    /// The selection among these pipes.
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
            return Err(format!("the journal does not tell of `{unknown}`; it tells of {}", shortened(&known)));
        }
        let meant = |pipe: &JournalPipe| self.links.is_empty() || self.links.iter().any(|link| is_meant(pipe, link));
        let pipes = pipes.iter().map(meant).collect();
        Ok(Selector { selection: self, pipes })
    }
}

impl Selector {
    /// Whether a record is meant.
    pub fn selects(&self, record: &Record) -> bool {
        let Selection { filter, arrived_ns, happened, .. } = &self.selection;
        self.pipes.get(record.pipe as usize).is_some_and(|meant| *meant)
            && arrived_ns.as_ref().is_none_or(|span| span.contains(&record.arrived_ns))
            && (happened.is_empty() || happened.iter().any(|what| what.is_of(record)))
            && filter.as_ref().is_none_or(|filter| filter.matches(record.flow.as_ref()))
    }

    /// Whether a pipe is meant, by its place in the journal.
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
