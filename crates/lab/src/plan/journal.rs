//! Of which packets a journal tells.

use super::Direction;
use netloom_link::Filter;
use netloom_units::Bytes;

/// Packets of which it is written down what happened to each in its pipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalPlan {
    /// Links by their places in the plan, and the direction of each that is meant, or both; none: all.
    pub links: Option<Vec<(usize, Option<Direction>)>>,
    /// The filter on the packets that are recorded; none: all.
    pub filter: Option<Filter>,
    /// The most bytes that the file may have; none: there is no limit.
    pub limit: Option<Bytes>,
}

impl JournalPlan {
    /// Whether the journal records packets of this link in this direction.
    pub fn wants(&self, link: usize, direction: Direction) -> bool {
        let is_meant =
            |(other, only): &(usize, Option<Direction>)| *other == link && only.is_none_or(|only| only == direction);
        self.links.as_ref().is_none_or(|links| links.iter().any(is_meant))
    }

    /// Whether the journal records packets of this link in any direction.
    pub fn is_about(&self, link: usize) -> bool {
        self.links.as_ref().is_none_or(|links| links.iter().any(|(other, _)| *other == link))
    }
}
