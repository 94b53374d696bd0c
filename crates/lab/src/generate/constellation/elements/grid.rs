//! Which satellites of a file are neighbours: their shells and planes are found by how their orbits lie.
//!
//! Satellites are of one shell if their inclinations follow one another with gaps of 0.1 degrees at most, and so do their heights with gaps of
//! 20 km; of one plane if their nodes follow one another with gaps of 1 degree at most. Each is joined with those before and behind it in its
//! plane, and with one in each plane beside it: satellites of two planes are as far ahead of one another as the most of them are, the pairs that
//! fit best come first, and no satellite is in two of them.

use std::f64::consts::{PI, TAU};

/// Between the inclinations of two shells, in radians.
const INCLINATIONS: f64 = 0.1 * PI / 180.0;
/// Between the heights of two shells, in metres.
const HEIGHTS: f64 = 20_000.0;
/// Between the nodes of two planes, in radians.
const NODES: f64 = 1.0 * PI / 180.0;
/// How many satellites of the next plane are looked at for each: those that are nearest to it along the orbit.
const LOOKED_AT: usize = 4;

/// How the orbit of a satellite lies at an instant, and where on it the satellite is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    inclination: f64,
    /// Half of the long axis, in metres.
    height: f64,
    /// Where it crosses the equator to the north, from 0 to a whole turn.
    node: f64,
    /// How far the satellite is beyond that, from 0 to a whole turn.
    angle: f64,
}

impl Turn {
    /// The orbit on which a satellite is here with this speed.
    pub(super) fn of(found: &sgp4::Prediction) -> Self {
        /// The gravitational parameter of Earth in cubic kilometres per square second.
        const GRAVITY: f64 = 398_600.441_8;
        let ([x, y, z], [vx, vy, vz]) = (found.position, found.velocity);
        let spin = [y * vz - z * vy, z * vx - x * vz, x * vy - y * vx];
        let length = |parts: [f64; 3]| libm::sqrt(parts.iter().map(|part| part * part).sum());
        let node = libm::atan2(spin[0], -spin[1]);
        let [sin, cos] = [libm::sin(node), libm::cos(node)];
        let inclination = libm::acos((spin[2] / length(spin)).clamp(-1.0, 1.0));
        // The part along the node, and that a quarter of a turn beyond it.
        let along = x * cos + y * sin;
        let beyond = (y * cos - x * sin) * libm::cos(inclination) + z * libm::sin(inclination);
        let squared = vx * vx + vy * vy + vz * vz;
        let height = 1e3 / (2.0 / length(found.position) - squared / GRAVITY);
        let turn = |angle: f64| angle.rem_euclid(TAU);
        Self { inclination, height, node: turn(node), angle: turn(libm::atan2(beyond, along)) }
    }
}

/// The pairs of satellites that are joined; one without an orbit has none.
pub(super) fn lasers(turns: &[Option<Turn>]) -> Vec<[usize; 2]> {
    let known: Vec<(usize, Turn)> = (0..).zip(turns).filter_map(|(at, turn)| turn.map(|turn| (at, turn))).collect();
    let mut all = Vec::new();
    for tilted in apart(known, INCLINATIONS, |turn| turn.inclination) {
        for shell in apart(tilted, HEIGHTS, |turn| turn.height) {
            join(&planes(shell), &mut all);
        }
    }
    all
}

/// Satellites in order of a figure, divided where two follow one another with a gap.
fn apart(mut satellites: Vec<(usize, Turn)>, gap: f64, figure: impl Fn(&Turn) -> f64) -> Vec<Vec<(usize, Turn)>> {
    satellites.sort_by(|one, other| figure(&one.1).total_cmp(&figure(&other.1)).then(one.0.cmp(&other.0)));
    let parts = satellites.chunk_by(|one, other| figure(&other.1) - figure(&one.1) <= gap);
    parts.map(<[_]>::to_vec).collect()
}

/// The planes of a shell in order of their nodes, each with its satellites in their order along the orbit.
fn planes(shell: Vec<(usize, Turn)>) -> Vec<Vec<(usize, Turn)>> {
    let mut planes = apart(shell, NODES, |turn| turn.node);
    // The first and the last are one plane if that lies across zero.
    if let [first, .., last] = planes.as_slice()
        && let (Some((_, first)), Some((_, last))) = (first.first(), last.last())
        && first.node + TAU - last.node <= NODES
    {
        let rest = planes.pop().unwrap_or_default();
        planes[0].extend(rest);
    }
    for plane in &mut planes {
        plane.sort_by(|one, other| one.1.angle.total_cmp(&other.1.angle).then(one.0.cmp(&other.0)));
    }
    planes
}

/// Joins the satellites of a shell.
fn join(planes: &[Vec<(usize, Turn)>], all: &mut Vec<[usize; 2]>) {
    for plane in planes {
        let ahead = plane.iter().zip(plane.iter().cycle().skip(1));
        // Two satellites are joined once.
        let count = if plane.len() < 3 { plane.len() - 1 } else { plane.len() };
        all.extend(ahead.take(count).map(|(one, other)| [one.0, other.0]));
    }
    let beside = planes.iter().zip(planes.iter().cycle().skip(1));
    let count = if planes.len() < 3 { planes.len().saturating_sub(1) } else { planes.len() };
    for (one, other) in beside.take(count) {
        all.extend(pairs(one, other));
    }
}

/// The pairs of satellites of two planes: those that fit best first, and none in two of them.
fn pairs(one: &[(usize, Turn)], other: &[(usize, Turn)]) -> Vec<[usize; 2]> {
    let looked_at = LOOKED_AT.min(other.len());
    let around = |angle: f64| {
        let after = other.partition_point(|(_, there)| there.angle < angle);
        (0..looked_at).map(move |step| (after + other.len() - looked_at / 2 + step) % other.len())
    };
    let ahead = shift(one, other, |angle| {
        let gaps = around(angle).map(|to| signed(other[to].1.angle - angle));
        gaps.min_by(|gap, next| gap.abs().total_cmp(&next.abs())).unwrap_or_default()
    });
    let mut near = Vec::new();
    for (at, (_, turn)) in one.iter().enumerate() {
        let wanted = (turn.angle + ahead).rem_euclid(TAU);
        // In whole microradians, which have an order.
        near.extend(around(wanted).map(|to| ((signed(other[to].1.angle - wanted).abs() * 1e6) as u64, at, to)));
    }
    near.sort_unstable();
    let (mut taken, mut given) = (vec![false; one.len()], vec![false; other.len()]);
    let mut found = Vec::new();
    for (_, at, to) in near {
        if !taken[at] && !given[to] {
            (taken[at], given[to]) = (true, true);
            found.push([one[at].0, other[to].0]);
        }
    }
    found
}

/// How far the satellites of a plane are ahead of those of another on the average, from a quarter of the distance between two behind to three
/// quarters ahead; `nearest` says how far the nearest one is ahead of an angle.
fn shift(one: &[(usize, Turn)], other: &[(usize, Turn)], nearest: impl Fn(f64) -> f64) -> f64 {
    let mut gaps: Vec<f64> =
        other.windows(2).map(|pair| pair[1].1.angle - pair[0].1.angle).filter(|gap| *gap > 0.0).collect();
    gaps.sort_by(f64::total_cmp);
    let between = gaps.get(gaps.len() / 2).copied().unwrap_or(TAU);
    // Angles have no average, but directions have one.
    let (mut sin, mut cos) = (0.0, 0.0);
    for (_, turn) in one {
        let part = TAU * nearest(turn.angle) / between;
        sin += libm::sin(part);
        cos += libm::cos(part);
    }
    let mean = libm::atan2(sin, cos);
    between / TAU * if mean < -PI / 2.0 { mean + TAU } else { mean }
}

/// An angle from minus half a turn to half a turn.
fn signed(angle: f64) -> f64 {
    (angle + PI).rem_euclid(TAU) - PI
}
