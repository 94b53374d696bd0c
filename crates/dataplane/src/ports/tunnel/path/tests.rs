use super::*;

/// Numbers that look like chance, 0 to 999.
fn chance(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % 1_000
}

/// A path of 2.8 to 3.2 ms both ways, asked fifty times a second for so long; the other clock is so far ahead and gains so
/// many millionths.
fn played(seconds: u64, ahead: i64, ppm: i64, is_common: bool) -> (Path, u64) {
    let mut path = Path::new(is_common);
    let (mut seed, start) = (1, 1_000_000_000_000_u64);
    let other = |at: u64| {
        let gained = i64::try_from(at - start).unwrap() * ppm / 1_000_000;
        at.checked_add_signed(ahead + gained).unwrap()
    };
    let mut now = start;
    while now < start + seconds * 1_000_000_000 {
        let came = now + 2_800_000 + chance(&mut seed) * 400;
        let answered = came + 50_000;
        let back = answered + 2_800_000 + chance(&mut seed) * 400;
        path.learn(Sample { asked: now, came: other(came), answered: other(answered), back }, None);
        now += 20_000_000;
    }
    (path, now)
}

#[test]
fn clocks_that_drift_are_known_to_some_microseconds() {
    for (ahead, ppm) in [(0, 0), (5_000_000_000, 0), (-70_000_000_000, 50), (1_234_567, -100)] {
        let (path, now) = played(40, ahead, ppm, false);
        let right = ahead + 40_000 * ppm;
        let error = (path.ahead(now) - right).abs();
        assert!(error < 20_000, "{ahead} ns, {ppm} ppm: off by {error} ns");
        assert!((2_790_000..2_850_000).contains(&path.base()), "{}", path.base());
        assert!((3_150_000..3_250_000).contains(&path.most()), "{}", path.most());
    }
}

/// In some seconds, few datagrams come through, and one way is never at its best.
#[test]
fn a_second_without_the_shortest_way_shifts_nothing() {
    for late in [[0, 4_000_000], [4_000_000, 0], [2_000_000, 9_000_000]] {
        let mut path = Path::new(false);
        let (mut seed, start, ahead) = (1, 1_000_000_000_000_u64, 1_000_000_000_000_i64);
        for turn in 0..250_u64 {
            let now = start + turn * 20_000_000;
            let [longer_there, longer_back] = if (100..200).contains(&turn) { late } else { [0; 2] };
            let came = now + 3_000_000 + chance(&mut seed) * 100 + longer_there;
            let back = came + 3_000_000 + chance(&mut seed) * 100 + longer_back;
            let there = came.checked_add_signed(ahead).unwrap();
            path.learn(Sample { asked: now, came: there, answered: there, back }, None);
        }
        let error = (path.ahead(start + 5_000_000_000) - ahead).abs();
        assert!(error < 60_000, "{late:?}: off by {error} ns");
        assert!((2_940_000..3_060_000).contains(&path.base()), "{late:?}: {}", path.base());
    }
}

#[test]
fn a_common_clock_is_not_estimated_unless_it_cannot_be_one() {
    let (path, now) = played(2, 0, 0, true);
    assert!(path.is_common() && path.ahead(now) == 0);
    assert_eq!(path.took(now - 3_000_000, now), 3_000_000);
    let (other, end) = played(2, 10_000_000, 0, true);
    assert!(!other.is_common() && (other.ahead(end) - 10_000_000).abs() < 50_000);
}

/// A far end may say what it likes.
#[test]
fn stamps_of_any_size_are_borne() {
    let mut path = Path::new(false);
    let edges = [0, 1, 1 << 59, 1 << 60, 1 << 61, u64::MAX / 2, u64::MAX - 1, u64::MAX];
    for (turn, there) in edges.into_iter().cycle().take(200).enumerate() {
        let asked = 1_000_000_000 * (turn as u64 + 1);
        for answered in edges {
            path.learn(Sample { asked, came: there, answered, back: asked.saturating_add(answered) }, None);
            path.learn(Sample { asked, came: there, answered: there, back: asked + 1_000 }, None);
        }
        let _ = (path.ahead(asked), path.here(there, asked), path.base(), path.most(), path.took(there, asked));
    }
}

#[test]
fn nonsense_teaches_nothing() {
    let mut path = Path::new(false);
    for (asked, came, answered, back) in [(10, 5, 4, 20), (10, 5, 6, 9), (10, 0, u64::MAX, 20)] {
        path.learn(Sample { asked, came, answered, back }, None);
    }
    assert!(!path.is_known() && path.base() == 0);
    path.learn(Sample { asked: 0, came: u64::MAX - 5, answered: u64::MAX, back: u64::MAX }, None);
    let _ = (path.ahead(u64::MAX), path.here(u64::MAX, 0), path.most());
}

/// A path and two clocks, of which everything is known.
struct World {
    /// How long the way takes there and back at its best, in nanoseconds.
    ways: [u64; 2],
    /// By how many nanoseconds the other clock is ahead, and how many millionths it gains.
    ahead: i64,
    ppm: i64,
    /// By how many nanoseconds the time of day there is off, as this end's is right; and by how many both say at most.
    off: i64,
    said: Option<u64>,
    /// The second in which the time of day there is set ahead by a second, without anybody telling.
    set_in: u64,
    /// The second in which the other clock loses five, as after its machine was suspended.
    stops_in: u64,
}

const WORLD: World = World {
    ways: [1_000_000, 1_000_000],
    ahead: 70_000_000_000,
    ppm: 0,
    off: 0,
    said: None,
    set_in: u64::MAX,
    stops_in: u64::MAX,
};

impl World {
    /// Returns what the other clock shows at an instant of this one.
    fn other(&self, at: u64) -> u64 {
        let gained = i64::try_from(at).unwrap() / 1_000_000 * self.ppm;
        let stopped = if at / BIN_NS >= self.stops_in { 5_000_000_000 } else { 0 };
        at.checked_add_signed(self.ahead + gained - stopped).unwrap()
    }

    /// Returns what the times of day say at an instant of this clock, whose time of day is its own.
    fn common(&self, at: u64) -> Option<Common> {
        let set = if at / BIN_NS >= self.set_in { 1_000_000_000 } else { 0 };
        let there = i64::try_from(at).unwrap() + self.off + set - i64::try_from(self.other(at)).unwrap();
        let bound = self.said?;
        Common::of(Day { offset: 0, bound }, Day { offset: there, bound })
    }

    /// The path after so many seconds; the worst error of the second half of them.
    fn lived(&self, seconds: u64) -> (Path, u64) {
        let mut path = Path::new(false);
        let (mut seed, start, mut worst) = (1, 1_000 * BIN_NS, 0);
        for turn in 0..seconds * 50 {
            let now = start + turn * 20_000_000;
            let came = now + self.ways[0] + chance(&mut seed) * 300;
            let answered = came + 50_000;
            let back = answered + self.ways[1] + chance(&mut seed) * 300;
            let sample = Sample { asked: now, came: self.other(came), answered: self.other(answered), back };
            path.learn(sample, self.common(back));
            if turn == 50 * seconds / 2 {
                path.begin_counting();
            }
            if turn > 50 * seconds / 2 {
                let right = difference(self.other(back), back);
                worst = worst.max((path.ahead(back) - right).unsigned_abs());
            }
        }
        (path, worst)
    }
}

/// One-way delays are off by what the clocks are taken to be apart, if they are not.
#[test]
fn the_true_error_is_within_the_bound() {
    for ways in [[1_000_000, 1_000_000], [5_000_000, 1_000_000], [200_000, 9_000_000], [40_000, 40_000]] {
        for ppm in [0, 40, -100] {
            let (path, worst) = World { ways, ppm, ..WORLD }.lived(20);
            let Clocks { bound, asymmetry, jumps, contradict } = path.clocks();
            let asymmetric = ways[0].abs_diff(ways[1]) / 2;
            assert!(worst <= bound, "{ways:?}, {ppm} ppm: off by {worst} ns, and {bound} ns were said");
            // It is half of the round trip, and some microseconds.
            assert!(bound < ways.iter().sum::<u64>() / 2 + 200_000, "{ways:?}: {bound}");
            assert!(worst + 100_000 > asymmetric && worst < asymmetric + 100_000, "{ways:?}: {worst}");
            assert_eq!((asymmetry, jumps, contradict), (None, 0, false));
        }
    }
}

#[test]
fn a_common_time_of_day_tells_how_much_longer_one_way_takes() {
    for ways in [[1_000_000, 1_000_000], [5_000_000, 1_000_000], [200_000, 9_000_000]] {
        for (off, said) in [(0, 20_000), (35_000, 20_000), (-400_000, 250_000)] {
            let (path, worst) = World { ways, off, said: Some(said), ..WORLD }.lived(20);
            let Clocks { bound, asymmetry, jumps, contradict } = path.clocks();
            assert!(worst <= bound, "{ways:?}, off {off}: off by {worst} ns, and {bound} ns were said");
            assert!(bound <= 2 * said + 100_000, "{ways:?}: {bound}");
            assert_eq!((jumps, contradict), (0, false), "{ways:?} {off}");
            let right = difference(ways[0], ways[1]);
            let told = asymmetry.expect("it is measured");
            assert!((told - right).unsigned_abs() <= 2 * bound, "{ways:?}: {told}");
            assert!(path.base().abs_diff(ways[0]) <= bound, "{ways:?}: {}", path.base());
        }
    }
}

/// A bound that is longer than the round trip says nothing, and changes nothing.
#[test]
fn a_time_of_day_that_is_less_exact_than_the_path_changes_nothing() {
    let exact = World { ..WORLD }.lived(20);
    let said = World { said: Some(40_000_000), off: 30_000_000, ..WORLD }.lived(20);
    assert_eq!((exact.0.clocks(), exact.1), (said.0.clocks(), said.1));
}

#[test]
fn a_time_of_day_that_lies_is_found_out() {
    // It is set in the midst, or was wrong from the beginning on.
    for (off, set_in) in [(0, 1_012), (3_000_000, u64::MAX), (-1_000_000_000, u64::MAX)] {
        let (path, worst) = World { off, set_in, said: Some(20_000), ..WORLD }.lived(20);
        let Clocks { bound, asymmetry, jumps, contradict } = path.clocks();
        assert!(worst <= bound && bound < 2_000_000, "off {off}: {worst}, {bound}");
        assert_eq!((asymmetry, jumps, contradict), (None, 0, true), "off {off}");
    }
}

#[test]
fn a_clock_that_stood_still_is_followed_at_once() {
    let world = World { stops_in: 1_005, ..WORLD };
    let (path, worst) = world.lived(20);
    assert_eq!(path.clocks().jumps, 0, "it was before it counted");
    assert!(worst <= path.clocks().bound && worst < 200_000, "{worst}");
    let later = World { stops_in: 1_015, ..WORLD }.lived(20).0;
    assert_eq!(later.clocks().jumps, 1);
}

/// An instant that comes from a time of day which was set just then.
#[test]
fn one_wrong_instant_shifts_nothing() {
    for is_common in [false, true] {
        let mut path = Path::new(is_common);
        let (mut seed, start) = (1, 1_000 * BIN_NS);
        for turn in 0..250 {
            let now = start + turn * 20_000_000;
            let came = now + 1_000_000 + chance(&mut seed) * 100;
            let back = came + 1_000_000 + chance(&mut seed) * 100;
            let early = if turn == 120 { 999_000_000 } else { 0 };
            path.learn(Sample { asked: now, came: came - early, answered: came, back }, None);
        }
        assert!(path.ahead(start + 5 * BIN_NS).abs() < 60_000 && path.is_common() == is_common);
        assert_eq!(path.clocks().jumps, 0);
    }
}
