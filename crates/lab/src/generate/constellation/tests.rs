use super::course::Course;
use super::paths::Point;
use crate::generate::builder::MadeStep;
use crate::{models, parse};
use netloom_units::Duration;

const KUIPER: &str = "kind: constellation, planes: 34, satellites: 34, altitude: 630 km, inclination: 51.9, phasing: alternate, range: 1260 km";

fn wrong(keys: &str) -> String {
    let text = format!("generate: {{{keys}}}\n");
    parse(&text, "test.yaml").map_or_else(|wrong| wrong.to_string(), |_| "it is accepted".into())
}

fn steps_of(points: &[(u64, Option<u64>)]) -> Vec<MadeStep> {
    let mut course = Course::default();
    points.iter().for_each(|(at, delay)| course.add(Point::new(*at, *delay)));
    course.steps
}

fn step(at: u64, delay: Option<u64>, is_lost: Option<bool>) -> MadeStep {
    MadeStep { at: Duration::from_nanos(at), delay: delay.map(Duration::from_nanos), is_lost, rates: None }
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

/// What stands in the schedules of both directions of the first link.
fn schedules(keys: &str) -> [String; 2] {
    let text = format!(
        "generate: {{{KUIPER}, stations: {{a: [14.6042, 120.9822], b: [38.91222, 121.60222]}}, for: 30 s, step: 5 s, {keys}}}\n"
    );
    let plan = parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
    let schedule = |written: Vec<(&str, String)>| {
        let found = written.into_iter().find(|(key, _)| *key == "schedule");
        found.map(|(_, value)| value)
    };
    plan.links[0].pipes.each_ref().map(|pipe| schedule(models::written(pipe)).unwrap_or_default())
}

#[test]
fn an_access_becomes_a_schedule() {
    let [forward, backward] = schedules("access: starlink");
    assert_eq!(forward, backward);
    // Nothing arrives after 12 s and 27 s, and just before all does.
    for edge in ["{at: 12 s, loss: 100%}", "{at: 27 s, loss: 100%}"] {
        assert!(forward.replace("100 %", "100%").contains(edge), "{edge} is not in {forward}");
    }
    assert!(!forward.contains("rate: "), "{forward}");
    assert_eq!(schedules("access: {every: 15 s}")[0], forward);
    assert_ne!(schedules("access: starlink, seed: 7")[0], forward);
    let rates = "access: {down: [50 Mbit/s, 50 Mbit/s], up: [10 Mbit/s, 10 Mbit/s], rain: {b: [20 s, 22 s]}}";
    let [up, down] = schedules(rates);
    assert!(
        up.starts_with("{steps: [{at: 0") && up.contains("rate: 10 Mbit/s, ") && down.contains("rate: 10 Mbit/s, "),
        "{up}"
    );
    assert!(!up.contains("4.8 Mbit/s") && down.contains("{at: 20 s, rate: 4.8 Mbit/s, "), "{down}");
    // A rate of the link comes first.
    assert!(!schedules(&format!("{rates}, link: {{rate: 1 Mbit/s}}"))[0].contains("rate: "));
    assert_ne!(schedules("routes: instantly, convergence: 2 s")[0], schedules("routes: 5 s")[0]);
}

#[test]
fn errors_say_what_would_be_right() {
    let stations = "stations: {a: [0, 0], b: [10, 10]}, for: 20 s";
    let shell = "kind: constellation, planes: 10, satellites: 10, altitude: 550 km, inclination: 53";
    let cases = [
        (format!("{KUIPER}, {stations}, elevation: 30"), "`elevation` says which satellites are reached, too"),
        (format!("{shell}, {stations}, phasing: 10"), "\"10\" is not a whole number from 0 to 9"),
        (
            format!("kind: constellation, {stations}"),
            "generate.planes: this key is missing: write for example `planes: 34`",
        ),
        (format!("{shell}, {stations}, tle: a.tle"), "the satellites of `tle` have their orbits: leave `planes` out"),
        (format!("{shell}, {stations}, start: 2026-11-01T12:00:00Z"), "a shell without a file has no dates"),
        (format!("{shell}, {stations}, lasers: all"), "`all` is not known here: write grid or none"),
        (format!("kind: constellation, tle: none.tle, {stations}"), "none.tle: No such file"),
        (
            format!("kind: constellation, tle: none.tle, start: today, {stations}"),
            "write for example 2026-11-01T12:00:00Z",
        ),
        (format!("{shell}, {stations}, access: nobody"), "expected `starlink`, or a map of its keys"),
        (format!("{shell}, {stations}, access: {{every: 2 h}}"), "write at most 1 h"),
        (format!("{shell}, {stations}, access: {{outage: [20 s, 30 s]}}"), "may be longer than `every`"),
        (format!("{shell}, {stations}, access: {{outage: [2 s, 1 s]}}"), "the least comes first"),
        (format!("{shell}, {stations}, access: {{level: 1 ms}}"), "expected two times, for example [50 ms, 150 ms]"),
        (format!("{shell}, {stations}, access: {{up: [1 Mbit/s, 2 Mbit/s]}}"), "write both, or none"),
        (format!("{shell}, {stations}, access: {{rain: {{a: [1 s, 2 s]}}}}"), "write `down` and `up`, too"),
        (format!("{shell}, {stations}, access: {{rain: {{x: [1 s, 2 s]}}}}"), "no station `x` is here: these are a, b"),
        (
            format!("{shell}, {stations}, access: {{every: 1 us, outage: [0, 0], level: [0, 0], spikes: [0, 0]}}"),
            "too many to compute",
        ),
        (
            format!(
                "{shell}, {stations}, routes: 15 s, access: {{every: 1 us, outage: [0, 0], level: [0, 0], spikes: [0, 0]}}"
            ),
            "write a longer `step`",
        ),
        (format!("{shell}, {stations}, routes: soon"), "soon"),
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
