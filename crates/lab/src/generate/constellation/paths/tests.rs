use super::super::orbits::{Phasing, Shell};
use super::*;
use std::f64::consts::PI;

fn station(latitude: f64, longitude: f64) -> Station {
    Station { latitude: latitude * PI / 180.0, longitude: longitude * PI / 180.0 }
}

fn sky(planes: usize, each: usize, altitude: f64, inclination: f64, range: f64) -> Sky {
    let inclination = inclination * PI / 180.0;
    let shell = Shell { planes, each, altitude, inclination, phasing: Phasing::Alternate };
    let stations = vec![
        station(-22.902_78, -43.207_5),
        station(59.938_63, 30.314_13),
        station(14.604_2, 120.982_2),
        station(38.912_22, 121.602_22),
        station(41.013_84, 28.949_66),
        station(-1.283_33, 36.816_67),
        station(48.856_67, 2.351_69),
        station(-8.836_82, 13.234_32),
    ];
    let orbits = Orbits::Shell(shell);
    Sky { lasers: orbits.lasers(), orbits, stations, reach: Reach::Range(range) }
}

/// The least, the median and the greatest round trip of Hypatia's four pairs over 200 s, and the seconds without a path.
fn figures(sky: &Sky) -> Vec<([f64; 3], usize)> {
    let pairs = [[0, 1], [2, 3], [4, 5], [6, 7]];
    let mut all = vec![Vec::new(); 4];
    for second in 0..200_u64 {
        let paths = sky.paths(second as f64);
        for (trips, [one, other]) in all.iter_mut().zip(pairs) {
            let path = paths[one][other - one - 1].as_deref();
            let delay = path.and_then(|path| sky.delay([one, other], path, second * 1_000_000_000));
            trips.extend(delay.map(|delay| 2.0 * delay as f64 / 1e6));
        }
    }
    let of = |mut trips: Vec<f64>| {
        let lost = 200 - trips.len();
        trips.sort_by(f64::total_cmp);
        let middle = (trips[trips.len() / 2] + trips[(trips.len() - 1) / 2]) / 2.0;
        ([trips[0], middle, trips[trips.len() - 1]], lost)
    };
    all.into_iter().map(of).collect()
}

fn check(name: &str, sky: &Sky, expected: [([f64; 3], usize); 4]) {
    for (number, ((found, lost), (wanted, gone))) in figures(sky).into_iter().zip(expected).enumerate() {
        for (trip, should) in found.into_iter().zip(wanted) {
            assert!((trip - should).abs() < 0.5, "{name}, pair {number}: {trip} ms, not {should} ms");
        }
        assert!(lost.abs_diff(gone) <= 1, "{name}, pair {number}: {lost} s without a path, not {gone}");
    }
}

/// Rio de Janeiro to Saint Petersburg, Manila to Dalian, Istanbul to Nairobi and Paris to Luanda, as computed apart from this program.
#[test]
fn round_trips_over_kuiper_are_those_of_the_reference() {
    let kuiper = sky(34, 34, 630e3, 51.9, 1_260e3);
    let expected = [
        ([95.75, 111.88, 136.51], 12),
        ([25.27, 41.67, 48.19], 0),
        ([46.96, 62.80, 69.54], 0),
        ([90.52, 92.39, 97.19], 0),
    ];
    check("Kuiper", &kuiper, expected);
}

#[test]
fn round_trips_over_telesat_are_those_of_the_reference() {
    let range = 1_015e3 / libm::sin(10.0 * PI / 180.0);
    let telesat = sky(27, 13, 1_015e3, 98.98, range);
    let expected = [
        ([82.34, 82.88, 85.76], 0),
        ([23.69, 24.07, 24.47], 0),
        ([36.76, 36.86, 37.41], 0),
        ([48.21, 48.39, 48.48], 0),
    ];
    check("Telesat", &telesat, expected);
}

#[test]
fn a_path_is_interrupted_at_its_instant() {
    let kuiper = sky(34, 34, 630e3, 51.9, 1_260e3);
    let paths = kuiper.paths(0.0);
    let path = paths[2][0].as_deref().expect("Manila reaches Dalian");
    let second = 1_000_000_000;
    let course = kuiper.course([2, 3], Some(path), [0, 300 * second], second, &[]);
    let [.., whole, broken] = course[..] else { panic!("{course:?}") };
    assert_eq!((broken.at - whole.at, broken.delay), (1, None));
    assert!(whole.delay.is_some() && kuiper.delay([2, 3], path, broken.at).is_none());
    // Up to then there is a point each second.
    assert!(course.windows(2).all(|pair| pair[1].at - pair[0].at <= second));
    let short = kuiper.course([2, 3], Some(path), [0, 2 * second], second, &[second / 2, second]);
    let at: Vec<u64> = short.iter().map(|point| point.at).collect();
    assert_eq!(at, [0, second / 2, second, 2 * second - 1]);
    assert_eq!(kuiper.course([2, 3], None, [7, 9], 1, &[]), [Point::new(7, None)]);
}
