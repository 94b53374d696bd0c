//! Where nodes are in pictures: what files say of it, and `layout` of the lab file.

use crate::topology::Topology;
use crate::value::{Origin, Value, entry};

/// What a lab file takes as a coordinate.
const FARTHEST: f64 = 1e6;
/// Links of a lab's picture have a length of about 1. Where the middle one is within this, the places are such already.
const ABOUT_ONE: std::ops::RangeInclusive<f64> = 0.2..=5.0;

/// The place that two texts say, to the right and down; none if they are no numbers.
pub(crate) fn place(right: Option<&str>, down: Option<&str>) -> Option<[f64; 2]> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    Some([number(right?)?, number(down?)?])
}

/// `layout` of a lab file, if the file says where nodes are. Its unit becomes the length of the middle link.
pub(crate) fn layout(topology: &Topology) -> Option<Value> {
    let placed: Vec<(&str, [f64; 2])> =
        topology.nodes.iter().filter_map(|node| Some((node.name.as_str(), node.position?))).collect();
    let unit = unit(topology, &placed)?;
    let least = |axis: usize| placed.iter().map(|(_, at)| at[axis]).fold(f64::INFINITY, f64::min);
    let (origin, digits) = if ABOUT_ONE.contains(&unit) { (None, 1e6) } else { (Some([least(0), least(1)]), 1e2) };
    let scaled = |at: [f64; 2]| {
        let moved = origin.map_or(at, |origin| [0, 1].map(|axis| (at[axis] - origin[axis]) / unit));
        // Adding zero makes nothing of a negative zero.
        moved.map(|value| libm::round(value * digits) / digits + 0.0)
    };
    let places: Vec<(&str, [f64; 2])> = placed.iter().map(|(name, at)| (*name, scaled(*at))).collect();
    let is_drawn = |(_, at): &(&str, [f64; 2])| at.iter().all(|value| value.abs() <= FARTHEST);
    if !places.iter().all(is_drawn) {
        return None;
    }
    let entries = places.into_iter().map(|(name, at)| entry(name, Value::list(at.map(Value::plain))));
    let words = if origin.is_some() { "as in the file, in lengths of a link" } else { "as in the file" };
    Some(Value::map(entries.collect()).because(Origin { place: None, words: words.to_owned() }))
}

/// The length of the middle link between nodes with places; without one, what spreads the nodes as widely.
fn unit(topology: &Topology, placed: &[(&str, [f64; 2])]) -> Option<f64> {
    let ends = topology.links.iter().map(|link| link.ends.each_ref().map(|end| topology.nodes[end.node].position));
    let length = |a: [f64; 2], b: [f64; 2]| libm::hypot(a[0] - b[0], a[1] - b[1]);
    let lengths = ends.filter_map(|[a, b]| Some(length(a?, b?)));
    let mut lengths: Vec<f64> = lengths.filter(|one| *one > 0.0).collect();
    lengths.sort_by(f64::total_cmp);
    let spread = || {
        let (_, first) = placed.first()?;
        let farthest = placed.iter().map(|(_, at)| length(*at, *first)).fold(0.0, f64::max);
        Some(farthest / libm::sqrt(placed.len() as f64))
    };
    let unit = lengths.get(lengths.len() / 2).copied().or_else(spread)?;
    // Nodes that are all at one place tell nothing.
    unit.is_normal().then_some(unit)
}
