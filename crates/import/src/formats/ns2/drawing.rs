//! Where nam draws nodes: `$ns duplex-link-op A B orient right-down`.

use super::network::{MOST, Network};
use crate::source::Place;
use std::collections::{BTreeMap, VecDeque};

/// Between parts of a drawing that no link joins.
const GAP: f64 = 1.5;

impl Network<'_, '_> {
    /// Remembers in which direction a link is drawn; all else of a drawing means nothing here.
    pub(super) fn orient(&mut self, words: &[String], place: Place) {
        let step = words.get(5).filter(|_| words[4] == "orient").and_then(|direction| step(direction));
        match (self.node(words.get(2)), self.node(words.get(3)), step) {
            (Ok(from), Ok(to), Some(step)) if self.drawn.len() < MOST => self.drawn.push((from, to, step)),
            _ => self.watch("$ns duplex-link-op".to_owned(), place),
        }
    }

    /// The places of the nodes, as far as directions lead from one to the next.
    pub(super) fn places(&self) -> Vec<Option<[f64; 2]>> {
        let mut around: BTreeMap<usize, Vec<(usize, [f64; 2])>> = BTreeMap::new();
        for (from, to, step) in &self.drawn {
            around.entry(*from).or_default().push((*to, *step));
            around.entry(*to).or_default().push((*from, step.map(|value| -value)));
        }
        let mut places = vec![None; self.nodes.len()];
        let mut below = 0.0;
        for first in around.keys().copied() {
            if places[first].is_some() {
                continue;
            }
            let mut part = vec![(first, [0.0, 0.0])];
            let mut left = VecDeque::from(part.clone());
            places[first] = Some([0.0, 0.0]);
            while let Some((node, at)) = left.pop_front() {
                for (next, step) in around.get(&node).into_iter().flatten() {
                    if places[*next].is_none() {
                        let place = [at[0] + step[0], at[1] + step[1]];
                        places[*next] = Some(place);
                        part.push((*next, place));
                        left.push_back((*next, place));
                    }
                }
            }
            let least = part.iter().map(|(_, at)| at[1]).fold(f64::INFINITY, f64::min);
            let most = part.iter().map(|(_, at)| at[1]).fold(f64::NEG_INFINITY, f64::max);
            for (node, at) in part {
                places[node] = Some([at[0], at[1] - least + below]);
            }
            below += most - least + GAP;
        }
        places
    }
}

/// A step of length 1 in a direction: `right`, `left-up`, `60deg` (to the left from the right).
fn step(direction: &str) -> Option<[f64; 2]> {
    if let Some(degrees) = direction.strip_suffix("deg") {
        let angle = degrees.parse::<f64>().ok().filter(|angle| angle.is_finite())?.to_radians();
        return Some([libm::cos(angle), -libm::sin(angle)]);
    }
    let mut sum = [0.0, 0.0];
    for word in direction.split('-') {
        let [x, y] = match word {
            "right" => [1.0, 0.0],
            "left" => [-1.0, 0.0],
            "up" => [0.0, -1.0],
            "down" => [0.0, 1.0],
            _ => return None,
        };
        sum = [sum[0] + x, sum[1] + y];
    }
    let length = libm::hypot(sum[0], sum[1]);
    (length > 0.0).then(|| sum.map(|value| value / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_those_of_nam() {
        assert_eq!(step("right"), Some([1.0, 0.0]));
        let diagonal = step("left-down").expect("a direction");
        assert!((diagonal[0] + 0.707).abs() < 0.001 && (diagonal[1] - 0.707).abs() < 0.001, "{diagonal:?}");
        let up = step("90deg").expect("an angle");
        assert!(up[0].abs() < 0.001 && (up[1] + 1.0).abs() < 0.001, "{up:?}");
        assert_eq!((step("sideways"), step("left-right"), step("NaNdeg")), (None, None, None));
    }
}
