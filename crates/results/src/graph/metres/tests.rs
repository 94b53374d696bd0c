//! Maps in metres.

use super::{AirMap, map, map_at};
use netloom_lab::Plan;
use netloom_units::Duration;

fn plan(text: &str) -> Plan {
    netloom_lab::parse(text, "map.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan
}

/// A wall, an access point and two stations, of which one moves; the contour at the sensitivity is a circle of 200 m.
#[test]
fn everything_is_in_its_place() {
    // 16 dBm - 46.6777 dB - 30 log10(d) = -82 dBm at 51.5 m.
    let text = "nodes: {ap: {position: [0 m, 0 m]}, near: {position: [40 m, 0 m]}, walker: {path: [{at: 0 s, position: [0 m, 10 m]}, {at: 9 s, position: [0 m, 80 m]}]}}\n\
        links: {wifi: {ends: [ap, near, walker], medium: {kind: wifi, standard: a, access: radio, access_point: ap, \
        walls: [{from: [-80 m, -30 m], to: [-70 m, -30 m], loss: 3 dB}]}}}\n";
    let svg = map(&plan(text)).expect("there are positions");
    let picture = roxmltree::Document::parse(&svg).expect("it is XML");
    let of = |class: &str| {
        let all = picture.descendants().filter(|node| node.attribute("class") == Some(class));
        all.collect::<Vec<_>>()
    };
    assert_eq!((of("sender").len(), of("station").len(), of("way").len() - 1, of("wall").len() - 1), (1, 2, 1, 1));
    assert_eq!(of("belongs").len() - 1, 2);
    // Pixels per metre by the two stations on one line.
    let number = |node: &roxmltree::Node<'_, '_>, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let line = of("belongs")[0];
    let scale = (number(&line, "x1") - number(&line, "x2")) / 40.0;
    let (x, y) = (number(&line, "x2"), number(&line, "y2"));
    let limit = of("contour")[0].attribute("d").unwrap();
    let points: Vec<(f64, f64)> = limit
        .split(['M', 'L'])
        .filter_map(|point| point.split_once(','))
        .map(|(one, other)| (one.parse().unwrap(), other.parse().unwrap()))
        .collect();
    for (at_x, at_y) in points {
        let metres = (at_x - x).hypot(at_y - y) / scale;
        assert!((metres - 51.47).abs() < 1.0, "{metres}");
    }
}

#[test]
fn labs_without_positions_have_no_map() {
    assert!(map(&plan("nodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n")).is_none());
    let shared = "nodes: [a, b]\nlinks: {l: {ends: [a, b], medium: {kind: wifi, standard: a}}}\n";
    assert!(map(&plan(shared)).is_none());
}

/// Positions at the limits, zero distance and no extent at all give a picture of numbers.
#[test]
fn extreme_places_are_drawn() {
    for places in
        ["[0 m, 0 m]|[0 m, 0 m]", "[10000000 m, 10000000 m]|[-10000000 m, -10000000 m]", "[0 m, 0 m]|[0 m, 0.001 m]"]
    {
        let (one, other) = places.split_once('|').unwrap();
        let text = format!(
            "nodes: {{a: {{position: {one}}}, b: {{position: {other}}}}}\n\
             links: {{l: {{ends: [a, b], medium: {{kind: wifi, standard: a, access: radio}}}}}}\n"
        );
        let svg = map(&plan(&text)).expect("there are positions");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{places}");
        assert!(svg.len() < 300_000, "{}", svg.len());
    }
}

/// The dashes of a way there and back would fill each other's gaps: it is drawn once. A way around is drawn as a whole.
#[test]
fn a_way_back_is_not_drawn_again() {
    let length = |path: &str| {
        let text = format!(
            "nodes: {{a: {{position: [0 m, 0 m]}}, b: {{path: {path}}}}}\n\
             links: {{l: {{ends: [a, b], medium: {{kind: wifi, standard: a, access: radio}}}}}}\n"
        );
        let svg = map(&plan(&text)).expect("there are positions");
        let way =
            svg.split("class=\"way\" d=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a way").to_owned();
        let mut length = 0.0;
        for piece in way.split('M').skip(1) {
            let points: Vec<[f64; 2]> = piece
                .split('L')
                .map(|point| point.split_once(',').unwrap())
                .map(|(x, y)| [x.parse().unwrap(), y.parse().unwrap()])
                .collect();
            length +=
                points.windows(2).map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1])).sum::<f64>();
        }
        length
    };
    let there = length("[{at: 0 s, position: [0 m, 10 m]}, {at: 30 s, position: [100 m, 10 m]}]");
    let back = "{waypoints: [{at: 0 s, position: [0 m, 10 m]}, {at: 20 s, position: [100 m, 10 m]}], repeat: 40 s}";
    assert!((length(back) / there - 1.0).abs() < 0.05, "{} and {there}", length(back));
    let around = "{waypoints: [{at: 0 s, position: [0 m, 0 m]}, {at: 10 s, position: [100 m, 0 m]}, {at: 20 s, position: [100 m, 50 m]}, \
                  {at: 30 s, position: [0 m, 50 m]}], repeat: 40 s}";
    assert!((length(around) / there - 3.0).abs() < 0.15, "{} and {there}", length(around));
}

/// Access points send, their stations belong to the one with which they are at the time, and what moves is where it is then.
#[test]
fn stations_are_with_their_access_points_at_the_time() {
    let text = "duration: 40 s\nnodes: {west: {kind: switch, position: [0 m, 0 m]}, east: {kind: switch, position: [60 m, 0 m]}, core: {kind: switch}, \
        walker: {path: [{at: 0 s, position: [10 m, 0 m]}, {at: 40 s, position: [50 m, 0 m]}]}}\n\
        links: {one: {ends: [core, west]}, two: {ends: [core, east]}, wifi: {ends: [west, east, walker], medium: {kind: wifi, standard: a, access: radio, \
        access_points: [west, east]}}}\n";
    let plan = plan(text);
    let roams = plan.roams();
    let at = |seconds: u64| {
        let AirMap { svg, belongs } =
            map_at(&plan, &roams, Duration::from_secs(seconds), 712).expect("there are positions");
        let told = belongs.first().map(|one| (one.link.clone(), one.station.clone(), one.to.clone()));
        let picture = roxmltree::Document::parse(&svg).expect("it is XML");
        let of = |class: &str| picture.descendants().filter(|node| node.attribute("class") == Some(class)).count();
        let line = picture.descendants().find(|node| node.attribute("class") == Some("belongs"));
        let x = |name: &str| line.map(|line| line.attribute(name).unwrap().parse::<f64>().unwrap());
        (of("sender"), x("x1"), x("x2"), told)
    };
    let (early, late) = (at(0), at(40));
    assert_eq!((early.0, late.0), (2, 2));
    // To the west first, then to the east; the walker itself has gone to the right.
    assert!(early.1 > early.2 && late.1 < late.2 && early.1 < late.1, "{early:?}, {late:?}");
    let walker_at = |to: &str| Some(("wifi".to_owned(), "walker".to_owned(), to.to_owned()));
    assert_eq!((early.3, late.3), (walker_at("west"), walker_at("east")));
    // On its way it belongs to none; the legend has no such line then.
    assert_eq!(
        map_at(&plan, &roams, Duration::from_nanos(29_300_000_000), 712)
            .map(|map| (map.svg.contains("class=\"belongs\""), map.belongs.len())),
        Some((false, 0))
    );
}

/// Words cover neither one another nor the marks, and stand within the picture, whatever its width.
#[test]
fn words_have_room() {
    let text = "nodes: {west: {kind: switch, position: [0 m, 0 m]}, east: {kind: switch, position: [80 m, 0 m]}, core: {kind: switch}, \
        phone: {position: [2 m, 1 m]}, a-desk-with-a-long-name: {position: [80 m, 2 m]}}\n\
        links: {one: {ends: [core, west]}, two: {ends: [core, east]}, wifi: {ends: [west, east, phone, a-desk-with-a-long-name], \
        medium: {kind: wifi, standard: n, access: radio, access_points: [west, east]}}}\n";
    let plan = plan(text);
    for width in [1, 240, 360, 712, 5_000] {
        let svg = map_at(&plan, &plan.roams(), Duration::ZERO, width).expect("there are positions").svg;
        let picture = roxmltree::Document::parse(&svg).expect("it is XML");
        let number = |node: &roxmltree::Node<'_, '_>, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
        let all = number(&picture.root_element(), "width");
        assert!((all - f64::from(width.clamp(240, 2_000))).abs() < 1.0, "{all} of {width}");
        let words: Vec<[f64; 4]> = picture
            .descendants()
            .filter(|node| node.has_tag_name("text"))
            .map(|node| {
                let (x, y) = (number(&node, "x"), number(&node, "y"));
                let wide = 6.0 * node.text().unwrap().len() as f64;
                let class = node.attribute("class").unwrap();
                let from = x - if class.contains("mid") {
                    wide / 2.0
                } else if class.contains("end") {
                    wide
                } else {
                    0.0
                };
                [from, from + wide, y - 9.0, y]
            })
            .collect();
        for (place, one) in words.iter().enumerate() {
            assert!(one[0] >= 0.0 && one[1] <= all, "{one:?} in {width}");
            for other in &words[place + 1..] {
                let apart = one[1] <= other[0] || other[1] <= one[0] || one[3] <= other[2] || other[3] <= one[2];
                assert!(apart, "{one:?} and {other:?} in {width}");
            }
        }
    }
}
