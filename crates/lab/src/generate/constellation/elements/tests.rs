use super::super::orbits::{EARTH, Phasing, Reach, Shell, Station, distance};
use super::super::paths::Sky;
use super::super::satellites::Orbits;
use super::*;
use std::fmt::Write as _;

/// 2000-01-01 00:00 UTC.
const START: i64 = 946_684_800_000_000_000;

/// A line of elements with its checksum.
fn summed(line: &str) -> String {
    assert_eq!(line.len(), WIDTH - 1, "{line}");
    let sum: u32 = line.chars().map(|one| if one == '-' { 1 } else { one.to_digit(10).unwrap_or(0) }).sum();
    format!("{line}{}\n", sum % 10)
}

/// Two lines of elements of a circular orbit at 2000-01-01 00:00 UTC; angles in degrees.
fn circle(number: usize, inclination: f64, node: f64, angle: f64, per_day: f64) -> String {
    let [node, angle] = [node, angle].map(|angle| angle.rem_euclid(360.0));
    let first = summed(&format!("1 {number:05}U 00000A   00001.00000000  .00000000  00000-0  00000+0 0    0"));
    first
        + &summed(&format!(
            "2 {number:05} {inclination:8.4} {node:8.4} 0000000   0.0000 {angle:8.4} {per_day:11.8}    0"
        ))
}

/// The elements of a shell.
fn shell(planes: usize, each: usize, phasing: f64, inclination: f64, per_day: f64) -> String {
    let mut text = String::from("# a shell\n");
    for one in 0..planes * each {
        let (plane, number) = (one / each, one % each);
        let node = 360.0 * plane as f64 / planes as f64;
        let angle = 360.0 / each as f64 * (number as f64 + phasing * (plane % 2) as f64);
        let _ = write!(text, "0 SKY-{one}\n{}\n", circle(one + 1, inclination, node, angle, per_day));
    }
    text
}

fn read(text: &str) -> Elements {
    Elements::read(text, None, 0).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// The verification of AIAA 2006-6753: low orbits, drag, resonances of 12 and 24 hours, and times before the epoch.
#[test]
fn places_are_the_published_ones() {
    let cases: [(&str, &str, f64, [f64; 3]); 7] = [
        (
            "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753",
            "2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667",
            0.0,
            [7_022.465_292_66, -1_400.082_967_55, 0.039_951_55],
        ),
        (
            "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753",
            "2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667",
            4320.0,
            [-9_060.473_735_69, 4_658.709_525_02, 813.686_731_53],
        ),
        (
            "1 06251U 62025E   06176.82412014  .00008885  00000-0  12808-3 0  3985",
            "2 06251  58.0579  54.0425 0030035 139.1568 221.1854 15.56387291  6774",
            2880.0,
            [1_159.278_028_97, 5_056.601_754_95, 4_353.494_185_79],
        ),
        (
            "1 08195U 75081A   06176.33215444  .00000099  00000-0  11873-3 0   813",
            "2 08195  64.1586 279.0717 6877146 264.7651  20.2257  2.00491383225656",
            2880.0,
            [3_417.209_315_87, -16_038.795_106_65, 1_894.749_340_58],
        ),
        (
            "1 09998U 74033F   05148.79417928 -.00000112  00000-0  00000+0 0  4480",
            "2 09998   9.4958 313.1750 0270971 327.5225  30.8097  1.16186785 45878",
            -720.0,
            [-8_535.815_981_58, 38_171.790_738_51, 3_331.003_112_85],
        ),
        (
            "1 14128U 83058A   06176.02844893 -.00000158  00000-0  10000-3 0  9627",
            "2 14128  11.4384  35.2134 0011562  26.4582 333.5652  0.98870114 46093",
            2880.0,
            [37_802.253_930_45, 19_433.573_300_19, -1_198.666_342_26],
        ),
        (
            "1 20413U 83020D   05363.79166667  .00000000  00000-0  00000+0 0  7041",
            "2 20413  12.3514 187.4253 7864447 196.3027 356.5478  0.24690082  7978",
            4320.0,
            [-119_384.693_964_54, -108_254.711_153_72, 19_306.395_818_92],
        ),
    ];
    for (first, second, minutes, place) in cases {
        let mut elements = read(&format!("{first}\n{second}\n"));
        elements.start = elements.satellites[0].epoch;
        let gap = distance(&elements.place(0, minutes * 60.0), &place.map(|part| part * 1e3));
        assert!(gap < 0.01, "{first}, after {minutes} min: {gap} m beside");
    }
}

#[test]
fn an_orbit_has_its_period() {
    for per_day in [15.05, 14.80, 13.66, 2.0] {
        let elements = read(&circle(1, 53.0, 20.0, 350.0, per_day));
        let up = |from: f64| {
            let mut times = (0..).map(|step| from + f64::from(step) * 10.0);
            let crosses = |time: &f64| elements.place(0, *time)[2] < 0.0 && elements.place(0, *time + 10.0)[2] >= 0.0;
            times.find(crosses).expect("it crosses the equator")
        };
        let first = up(0.0);
        let found = up(first + 20.0) - first;
        assert!((found * per_day / 86_400.0 - 1.0).abs() < 0.003, "{per_day}: {found} s");
    }
    // Time zero is 2000-01-01: Greenwich is where Hypatia has it, at 99.9678 degrees.
    let elements = read(&circle(1, 53.0, 20.0, 350.0, 15.0));
    assert_eq!(elements.start, START);
    assert!((elements.greenwich().to_degrees() - 99.967_8).abs() < 1e-3, "{}", elements.greenwich().to_degrees());
}

#[test]
fn each_satellite_of_a_shell_has_four_neighbours() {
    for phasing in [0.0, 0.5] {
        let mut count = [0; 96];
        let mut pairs = read(&shell(12, 8, phasing, 53.0, 15.05)).lasers();
        pairs.iter().flatten().for_each(|one| count[*one] += 1);
        assert_eq!((pairs.len(), count), (192, [4; 96]));
        pairs.iter_mut().for_each(|pair| pair.sort_unstable());
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), 192);
    }
    // Two shells are not joined; a plane of two satellites has one laser, a single one none.
    let two = format!("{}{}", circle(1, 53.0, 0.0, 0.0, 15.0), circle(2, 53.0, 0.0, 90.0, 15.0));
    let sorted = |text: &str| -> Vec<[usize; 2]> {
        let pairs = read(text).lasers().into_iter();
        pairs.map(|[one, other]| [one.min(other), one.max(other)]).collect()
    };
    assert_eq!(sorted(&two), [[0, 1]]);
    let other = format!("{two}{}", circle(3, 70.0, 0.0, 0.0, 15.0));
    assert_eq!(sorted(&other), [[0, 1]]);
    let higher = format!("{two}{}", circle(3, 53.0, 0.0, 180.0, 14.0));
    assert_eq!(sorted(&higher), [[0, 1]]);
    assert_eq!(read(&circle(1, 53.0, 0.0, 0.0, 15.0)).lasers(), Vec::<[usize; 2]>::new());
}

/// The same shell as circles and by SGP4, which knows of the flattening of Earth.
#[test]
fn round_trips_are_those_of_the_same_shell() {
    let place =
        |latitude: f64, longitude: f64| Station { latitude: latitude.to_radians(), longitude: longitude.to_radians() };
    let stations = || {
        vec![
            place(14.604_2, 120.982_2),
            place(38.912_22, 121.602_22),
            place(41.013_84, 28.949_66),
            place(-1.283_33, 36.816_67),
        ]
    };
    let inclination = 51.9_f64.to_radians();
    let circles = Shell { planes: 34, each: 34, altitude: 630e3, inclination, phasing: Phasing::Walker(0) };
    let skies = [Orbits::Shell(circles), Orbits::Elements(read(&shell(34, 34, 0.0, 51.9, 14.80)))];
    // A path that one of them chooses is used in both, even if the other one sees its ends a little lower.
    let sky = |orbits: &Orbits, range: f64| {
        let orbits = orbits.clone();
        Sky { lasers: orbits.lasers(), orbits, stations: stations(), reach: Reach::Range(range) }
    };
    for seconds in [0.0, 60.0] {
        let paths = sky(&skies[0], 1_300e3).paths(seconds);
        for ends in [[0, 1], [2, 3], [0, 3]] {
            let path = paths[ends[0]][ends[1] - ends[0] - 1].as_deref().expect("a path");
            let [one, other] = skies.each_ref().map(|orbits| {
                let delay = sky(orbits, 1_400e3).delay(ends, path, (seconds * 1e9) as u64);
                2.0 * delay.expect("it is whole") as f64 / 1e6
            });
            assert!((one - other).abs() < 0.5, "{ends:?} at {seconds} s: {one} ms and {other} ms");
        }
    }
    // The same satellites are joined.
    let [one, other] = skies.each_ref().map(|orbits| {
        let mut pairs: Vec<_> =
            orbits.lasers().into_iter().map(|[one, other]| [one.min(other), one.max(other)]).collect();
        pairs.sort_unstable();
        pairs
    });
    assert_eq!(one, other);
    let height = distance(&skies[1].place(0, 0.0), &[0.0; 3]) - EARTH;
    assert!((600e3..660e3).contains(&height), "{height}");
}

#[test]
fn what_is_wrong_in_a_file_is_told_by_line() {
    let right = circle(7, 53.0, 0.0, 0.0, 15.0);
    let (first, second) = right.split_once('\n').expect("two lines");
    let second = second.trim_end();
    let sum = |line: &str| summed(&line[..WIDTH - 1]);
    let cases = [
        (String::new(), "no satellite is in this file"),
        (format!("# x\n\n{second}\n"), "line 3: no line that begins with 1"),
        (format!("{first}\n"), "line 1: no second line of elements"),
        (format!("NAME\n{first}\nNAME\n"), "line 2: no second line of elements"),
        (format!("NAME\nNAME\n{right}"), "line 1: this is neither a line of elements nor the name"),
        ("NAME".into(), "line 1: this is neither a line of elements nor the name"),
        (
            format!("{}9\n{second}\n", &first[..WIDTH - 1]),
            "line 1: the checksum at its end is 9, and what is before it gives ",
        ),
        (format!("{first}\n{}-\n", &second[..WIDTH - 1]), "line 2: the checksum at its end is -"),
        (format!("{first} 5\n{second}\n"), "line 1: a line of elements has 69 characters, and this one 71"),
        (format!("{first}\n{}\n", second.replace('5', "é")), "line 2: 'é' is in no line of elements"),
        (format!("{first}\n{}", sum(&second.replace("15.00000000", "        NAN"))), "an inclination is from 0 to 180"),
        (format!("{first}\n{}", sum(&second.replace(" 53.0000", "253.0000"))), "an inclination is from 0 to 180"),
        (format!("{first}\n{}", sum(&second.replace("00007", "00008"))), "these are no elements of a satellite"),
        (
            format!("{first}\n{}", sum(&second.replace("15.00000000", "19.00000000"))),
            "line 1: satellite 7 is not in orbit",
        ),
        (format!("{right}{right}"), "line 3: satellite 7 is in line 1 already"),
    ];
    for (text, expected) in cases {
        let found = Elements::read(&text, None, 0).map_or_else(|wrong| wrong, |_| "it is accepted".into());
        assert!(found.contains(expected), "{text}: {found}");
    }
    let month = 31 * DAY.unsigned_abs();
    let late = Elements::read(&right, Some(START + 31 * DAY), 0).unwrap_err();
    assert!(late.starts_with("line 1: the lab is 31 days after the epoch of satellite 7"), "{late}");
    assert!(Elements::read(&right, Some(START - 31 * DAY), 0).unwrap_err().contains("31 days before"));
    assert!(Elements::read(&right, None, month).unwrap_err().contains("31 days after"));
    assert!(Elements::read(&right, None, u64::MAX).is_err());
    assert_eq!(date("2000-01-01T00:00:00Z"), Ok(START));
    for wrong in ["2000-01-01", "2000-13-01T00:00:00Z", "9999-01-01T00:00:00Z", ""] {
        assert!(date(wrong).unwrap_err().contains("write for example 2026-11-01T12:00:00Z"), "{wrong}");
    }
}
