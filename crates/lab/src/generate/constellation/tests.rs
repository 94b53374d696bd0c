use super::{Course, MadeStep, Point};
use crate::{models, parse};
use netloom_units::Duration;

const KUIPER: &str = "kind: constellation, planes: 34, satellites: 34, altitude: 630 km, inclination: 51.9, phasing: alternate, range: 1260 km";

fn wrong(keys: &str) -> String {
    let text = format!("generate: {{{keys}}}\n");
    parse(&text, "test.yaml").map_or_else(|wrong| wrong.to_string(), |_| "it is accepted".into())
}

fn steps_of(points: &[(u64, Option<u64>)]) -> Vec<MadeStep> {
    let mut course = Course::default();
    points.iter().for_each(|(at, delay)| course.add(Point { at: *at, delay: *delay }));
    course.steps
}

fn step(at: u64, delay: Option<u64>, is_lost: Option<bool>) -> MadeStep {
    MadeStep { at: Duration::from_nanos(at), delay: delay.map(Duration::from_nanos), is_lost }
}

#[test]
fn losses_begin_and_end_at_once() {
    let found =
        steps_of(&[(0, Some(10)), (100, Some(12)), (199, Some(13)), (200, None), (300, Some(20)), (400, Some(21))]);
    let expected = [
        step(0, Some(10), None),
        step(100, Some(12), None),
        step(199, Some(13), Some(false)),
        step(200, None, Some(true)),
        step(299, None, Some(true)),
        step(300, Some(20), Some(false)),
        step(400, Some(21), None),
    ];
    assert_eq!(found, expected);
    // Where no path is from the beginning, nothing comes before; and nothing has to be said twice.
    let from_nothing = steps_of(&[(0, None), (100, None), (200, Some(9))]);
    assert_eq!(from_nothing, [step(0, None, Some(true)), step(199, None, Some(true)), step(200, Some(9), Some(false))]);
}

#[test]
fn each_pair_of_stations_has_a_link_over_time() {
    let text = format!(
        "generate: {{{KUIPER}, stations: {{manila: [14.6042, 120.9822], dalian: [38.91222, 121.60222], nairobi: [-1.28333, 36.81667]}}, \
         for: 40 s, step: 5 s, link: {{rate: 100 Mbit/s}}}}\n"
    );
    let plan = parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
    let links: Vec<&str> = plan.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(links, ["manila-dalian", "manila-nairobi", "dalian-nairobi"]);
    for link in &plan.links {
        let [forward, backward] = link.pipes.each_ref().map(models::written);
        assert_eq!(forward, backward);
        assert_eq!(forward[0], ("rate", "100 Mbit/s".to_owned()));
        let (key, schedule) = &forward[1];
        assert!(*key == "schedule" && schedule.starts_with("{steps: [{at: 0"), "{schedule}");
        assert!(schedule.ends_with("interpolation: linear}") && schedule.contains("{at: 15 s, delay: "), "{schedule}");
    }
    // Round trips of 25 to 48 ms between the first two, as the reference has them.
    let schedule = &models::written(&plan.links[0].pipes[0])[1].1;
    let delays = schedule.split("delay: ").skip(1).map(|rest| rest.split([',', '}']).next().unwrap_or_default());
    let delays: Vec<Duration> = delays.map(|delay| delay.parse().expect("a delay")).collect();
    let range = Duration::from_millis(11)..=Duration::from_millis(30);
    assert!(delays.len() >= 10 && delays.iter().all(|delay| range.contains(delay)), "{delays:?}");
    // What the file says of the link comes first.
    let without = text.replace("link: {rate: 100 Mbit/s}", "link: {schedule: none, delay: 3 ms}");
    let said = parse(&without, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
    assert_eq!(models::written(&said.links[0].pipes[0]), [("delay", "3 ms".to_owned())]);
}

#[test]
fn errors_say_what_would_be_right() {
    let stations = "stations: {a: [0, 0], b: [10, 10]}, for: 20 s";
    let shell = "kind: constellation, planes: 10, satellites: 10, altitude: 550 km, inclination: 53";
    let cases = [
        (format!("{KUIPER}, {stations}, elevation: 30"), "`elevation` says which satellites are reached, too"),
        (format!("{shell}, {stations}, phasing: 10"), "\"10\" is not a whole number from 0 to 9"),
        (format!("{shell}, {stations}, elevation: 91"), "not a number above 0 and at most 90"),
        (
            format!("{}, {stations}", shell.replace("550 km", "550 m")),
            "\"550 m\" is not a length from 100 km to 100000 km",
        ),
        (format!("{shell}, stations: {{a: [0, 0]}}, for: 20 s"), "two stations at least are needed"),
        (format!("{shell}, stations: {{a: [0, 0], b: [100, 0]}}, for: 20 s"), "a latitude is from -90 to 90 degrees"),
        (format!("{shell}, stations: {{a: [0, 0], b: [nan, 0]}}, for: 20 s"), "a latitude is from -90 to 90 degrees"),
        (format!("{shell}, stations: {{a: [0, 0], b: 7}}, for: 20 s"), "`b` needs a latitude and a longitude"),
        (format!("{shell}, stations: {{a: [0, 0], b: [1, 1]}}, for: 100000 s, routes: 1 ms"), "too many to compute"),
        (format!("{shell}, stations: {{a: [0, 0], b: [1, 1]}}, for: 3000 s, step: 1 ms"), "write a longer `step`"),
    ];
    for (keys, expected) in cases {
        let found = wrong(&keys);
        assert!(found.contains(expected), "{keys}: {found}");
    }
}
