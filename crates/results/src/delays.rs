//! `delays.json`: the propagation delays that packets had in each pipe, beside the distribution from which they were to be drawn.

use crate::Folder;
use crate::WriteError;
use netloom_judge::PipePlace;
use netloom_units::{Duration, quantile};
use serde::Serialize;

/// The name of the file of delays in a results folder.
pub const FILE: &str = "delays.json";
/// Into how many equal parts of the packets a distribution is cut for the file.
const PARTS: usize = 200;
/// And for the distance between two distributions.
const FINE: usize = 1_000;

/// The propagation delays of a pipe, measured and described.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PipeDelays {
    link: String,
    direction: String,
    pipe: Option<String>,
    /// Packets whose delays were measured.
    packets: u64,
    /// The delays that 0, 0.5, 1 … 100 % of them do not exceed; the first is the least. Empty if they were not measured.
    measured_ns: Vec<u64>,
    /// The same of the distribution that is described; none if it is constant or was changed.
    described_ns: Option<Vec<u64>>,
    /// How far the two distribution functions are apart where they are furthest apart (Kolmogorov and Smirnov); none if there is none to
    /// compare with.
    ks: Option<f64>,
    /// How many packets the described distribution is drawn from.
    drawn_packets: Option<usize>,
    /// Why there is nothing to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// The distribution that the measured delays of a pipe are compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// Delays drawn from the described distribution.
    Drawn(Vec<Duration>),
    /// No distribution, for this reason.
    None(&'static str),
}

impl PipeDelays {
    /// Compares the delays that `packets` packets had in the pipe at `place` of the link called `link` with
    /// `reference`. `cut` is called with a number of equal parts of these packets: it returns the delays that 0, 1, 2 …
    /// parts of them did not exceed, and nothing if they were not measured. None if there is neither a measurement nor
    /// a distribution.
    pub fn new(
        link: &str,
        place: &PipePlace,
        packets: u64,
        cut: impl Fn(usize) -> Vec<Duration>,
        reference: Reference,
    ) -> Option<Self> {
        let cut = |parts: usize| -> Vec<u64> { cut(parts).into_iter().map(Duration::as_nanos).collect() };
        let measured = cut(PARTS);
        let is_measured = !measured.is_empty();
        // What leads to a transit device is measured by nobody but a journal.
        if !is_measured && !matches!(reference, Reference::Drawn(_)) {
            return None;
        }
        let (drawn, note) = match reference {
            Reference::Drawn(drawn) if !drawn.is_empty() => (Some(sorted(drawn)), None),
            Reference::Drawn(_) => (None, Some("nothing could be drawn")),
            Reference::None(why) => (None, Some(why)),
        };
        Some(Self {
            link: link.to_owned(),
            direction: place.direction.to_string(),
            pipe: place.pipe.clone(),
            packets,
            measured_ns: measured,
            ks: drawn.as_ref().filter(|_| is_measured).map(|drawn| distance(&cut(FINE)[1..], drawn)),
            drawn_packets: drawn.as_ref().map(Vec::len),
            described_ns: drawn.map(|drawn| quantile::cut(&drawn, PARTS)),
            note,
        })
    }
}

/// Writes the file into the results folder, unless there are no rows.
///
/// # Errors
/// When it cannot be written.
pub fn write(folder: &Folder, rows: &[PipeDelays]) -> Result<(), WriteError> {
    if rows.is_empty() { Ok(()) } else { folder.write_compact(FILE, &rows) }
}

fn sorted(drawn: Vec<Duration>) -> Vec<u64> {
    let mut all: Vec<u64> = drawn.into_iter().map(Duration::as_nanos).collect();
    all.sort_unstable();
    all
}

/// The Kolmogorov-Smirnov distance of two sorted samples: the largest difference of the shares that do not exceed a value.
pub fn distance(one: &[u64], other: &[u64]) -> f64 {
    let (mut i, mut j, mut most) = (0, 0, 0.0_f64);
    while i < one.len() && j < other.len() {
        let value = one[i].min(other[j]);
        // Equal values are passed together.
        i += one[i..].iter().take_while(|known| **known <= value).count();
        j += other[j..].iter().take_while(|known| **known <= value).count();
        most = most.max((i as f64 / one.len() as f64 - j as f64 / other.len() as f64).abs());
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_lab::Direction;

    #[test]
    fn the_distance_is_that_of_the_textbook() {
        assert_eq!(distance(&[1, 2, 3], &[1, 2, 3]), 0.0);
        assert_eq!(distance(&[1, 2], &[3, 4]), 1.0);
        // F steps at 1, 2, 3, 4 by a quarter; G at 3, 4, 5, 6: they differ by a half at 2.
        assert_eq!(distance(&[1, 2, 3, 4], &[3, 4, 5, 6]), 0.5);
        // Samples of different sizes, with ties.
        assert!((distance(&[5, 5, 5], &[5, 7]) - 0.5).abs() < 1e-12);
    }

    fn of(reference: Reference) -> Option<PipeDelays> {
        let place = PipePlace { link: 0, direction: Direction::Forward, pipe: None };
        let cut =
            |parts: usize| (0..=parts).map(move |part| Duration::from_micros(10_000 + (20_000 * part / parts) as u64));
        PipeDelays::new("l", &place, 5_000, |parts| cut(parts).collect(), reference)
    }

    #[test]
    fn what_is_drawn_alike_is_near() {
        let even = |shift: u64| (0..20_000).map(|us| Duration::from_micros(10_000 + us + shift)).collect();
        let near = of(Reference::Drawn(even(0))).unwrap();
        assert!(near.ks.unwrap() < 0.002, "{near:?}");
        assert_eq!((near.measured_ns.len(), near.described_ns.as_ref().unwrap().len()), (201, 201));
        // A fifth of the range later.
        let far = of(Reference::Drawn(even(4_000))).unwrap();
        assert!((far.ks.unwrap() - 0.2).abs() < 0.002, "{:?}", far.ks);
    }

    #[test]
    fn without_a_distribution_there_is_no_distance() {
        let row = of(Reference::None("it is constant")).unwrap();
        assert_eq!((row.ks, row.described_ns, row.note), (None, None, Some("it is constant")));
        let place = PipePlace { link: 0, direction: Direction::Forward, pipe: None };
        assert_eq!(PipeDelays::new("l", &place, 0, |_| Vec::new(), Reference::None("")), None);
    }
}
