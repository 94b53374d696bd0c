//! Segments: the ends of links that reach one another without a router, as broadcasts do. They have their addresses from one
//! subnet, and each knows all others as neighbours.

use crate::diagnostics::Spanned;
use crate::plan::End;
use crate::spec::{EndSpec, LinkSpec};

/// See the module.
pub(crate) struct Segment<'a> {
    /// What errors about all of it name.
    pub(crate) name: &'a Spanned<String>,
    /// The ends that have a network stack, in the order of their numbers.
    pub(crate) ends: Vec<(End, &'a EndSpec)>,
    /// The largest IP packet that it carries.
    pub(crate) mtu: u32,
    /// What it costs to cross it.
    pub(crate) cost: u32,
    /// Whether its ends get addresses that they are not given.
    pub(crate) is_addressed: bool,
}

/// All ends of these links.
pub(crate) fn ends(links: &[LinkSpec]) -> impl Iterator<Item = (End, &EndSpec)> {
    End::all(links.iter().map(|link| link.ends.len())).zip(links.iter().flat_map(|link| &link.ends))
}

/// The segments in the order of their first ends: each link is one, since all nodes have a stack.
pub(crate) fn segments<'a>(links: &'a [LinkSpec]) -> Vec<Segment<'a>> {
    let mut ends = ends(links);
    let segment = |link: &'a LinkSpec| Segment {
        name: &link.name,
        ends: ends.by_ref().take(link.ends.len()).collect(),
        mtu: link.mtu,
        cost: link.cost,
        is_addressed: link.addresses != Some(false),
    };
    links.iter().map(segment).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::diagnostics::Span;
    use netloom_units::Duration;

    /// A link with these nodes at its ends, each with its address if it is given one.
    pub(crate) fn link(name: &str, ends: &[(&str, &str)]) -> LinkSpec {
        let spanned = |value: &str| Spanned { value: value.to_owned(), ..Spanned::default() };
        let given = |address: &str| {
            address.parse().ok().map(|value| Spanned { value, span: Span::default(), key: String::new() })
        };
        let end = |(node, address): &(&str, &str)| EndSpec {
            node: spanned(node),
            interface: None,
            addresses: given(address).into_iter().collect(),
            mac: None,
        };
        LinkSpec {
            name: spanned(name),
            ends: ends.iter().map(end).collect(),
            pipes: Default::default(),
            treatments: Default::default(),
            mtu: 1_500,
            coalesce: Duration::ZERO,
            cost: 1,
            bypass: None,
            addresses: None,
        }
    }

    #[test]
    fn the_ends_of_a_segment_are_those_of_its_link() {
        let links = [link("one", &[("a", ""), ("b", "")]), link("lan", &[("a", ""), ("b", ""), ("c", "")])];
        let of_lan = &segments(&links)[1];
        let ends: Vec<_> = of_lan.ends.iter().map(|(end, spec)| (end.number(), spec.node.value.as_str())).collect();
        assert_eq!((of_lan.name.value.as_str(), ends), ("lan", vec![(2, "a"), (3, "b"), (4, "c")]));
    }
}
