//! The ends of links, and how they are numbered.
//!
//! Pipes are numbered link by link: two for each link, *forward* from its first end to its second and *backward* the
//! other way, or one for a shared medium. Nothing but [`End`] computes these numbers, or anything from them.

/// An end of a link: where an interface of a node meets it.
///
/// A lab's ends are numbered from 0 on: link by link in the order of the lab file, and within a link in the order of its
/// `ends`. Here alone is decided what number an end has, and this is what has the same number:
/// - its port, by which the fabric takes what the node sends and delivers what is for it;
/// - its interface in the lab's namespace, called `p` and the number, if the node has a namespace of its own;
/// - its hardware address, unless the lab file gives one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct End {
    number: u32,
    link: usize,
    place: usize,
}

impl End {
    /// All ends in the order of their numbers, if the links have so many each.
    pub(crate) fn all(counts: impl IntoIterator<Item = usize>) -> impl Iterator<Item = Self> {
        let of_links =
            counts.into_iter().enumerate().flat_map(|(link, count)| (0..count).map(move |place| (link, place)));
        (0..).zip(of_links).map(|(number, (link, place))| Self { number, link, place })
    }

    /// Its number in the lab.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Its number as a place in a list of what all ends have.
    pub fn index(self) -> usize {
        self.number as usize
    }

    /// The link's place in the plan.
    pub fn link(self) -> usize {
        self.link
    }

    /// Its place among the ends of the link.
    pub fn place(self) -> usize {
        self.place
    }
}

/// An end of a link, and what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndPlan {
    /// Which end it is.
    pub end: End,
    /// The node's place in the plan.
    pub node: usize,
    /// The interface's place in the node's list.
    pub interface: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_numbered_one_after_the_other_however_many_a_link_has() {
        let ends: Vec<_> = End::all([2, 2, 4, 2]).map(|end| (end.number(), end.link(), end.place())).collect();
        let of_lan = [(4, 2, 0), (5, 2, 1), (6, 2, 2), (7, 2, 3)];
        assert_eq!(ends[..4], [(0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1)]);
        assert_eq!((&ends[4..8], &ends[8..]), (&of_lan[..], &[(8, 3, 0), (9, 3, 1)][..]));
    }
}
