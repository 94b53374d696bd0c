//! Maps in metres.

use super::map;
use netloom_lab::Plan;

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
