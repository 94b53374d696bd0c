use super::labels::{Area, HEIGHT, width};
use super::scene::{ALL_NAMED, Scene};
use super::{layout_text, picture};
use netloom_lab::{Plan, parse};
use std::path::Path;

fn plan(text: &str) -> Plan {
    parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
}

/// Labs of all kinds, none with more than a hundred nodes.
fn labs() -> Vec<Plan> {
    let kinds = [
        "kind: chain, n: 20",
        "kind: star, n: 60",
        "kind: ring, n: 40",
        "kind: tree, depth: 3, fanout: 4",
        "kind: grid, rows: 6, columns: 8",
        "kind: torus, rows: 6, columns: 8",
        "kind: mesh, n: 20",
        "kind: dumbbell, n: 40",
        "kind: parking-lot, n: 12",
        "kind: fat-tree, k: 4",
        "kind: leaf-spine, leaves: 8, spines: 4, hosts_each: 8",
        "kind: waxman, n: 100, hosts: 0",
        "kind: waxman, n: 80, hosts: 20, link: {rate: 1 Mbit/s}",
        "kind: barabasi-albert, n: 100, m: 2, hosts: 0",
        "kind: internet, tier1: 4, transit: 12, stubs: 50, hosts: 30",
    ];
    let mut plans: Vec<Plan> = kinds.iter().map(|keys| plan(&format!("generate: {{{keys}}}\n"))).collect();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for entry in std::fs::read_dir(examples).expect("examples") {
        let path = entry.expect("an example").path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            plans.push(netloom_lab::load(&path).unwrap_or_else(|wrong| panic!("{wrong}")).plan);
        }
    }
    // Nodes without a link, several parts, links beside one another, a LAN, and nodes on one place.
    plans.push(plan("nodes: [a, b, c, d, e]\nlinks: {x: {ends: [a, b]}, y: {ends: [a, b]}, z: {ends: [c, d]}}\n"));
    plans.push(plan("nodes: [a, b, c, d]\nlinks: {lan: {ends: [a, b, c, d]}}\n"));
    plans.push(plan("nodes: [a, b, c]\nlinks: {x: {ends: [a, b]}}\nlayout: {a: [1, 1], b: [1, 1], c: [1, 1]}\n"));
    plans
}

/// Whatever font the reader has: the boxes are those of a wide one.
#[test]
fn up_to_a_hundred_nodes_all_names_are_there_and_cover_nothing() {
    for plan in labs() {
        assert!(plan.nodes.len() <= ALL_NAMED, "{}", plan.nodes.len());
        let scene = Scene::of(&plan);
        let mut boxes: Vec<(String, Area)> = Vec::new();
        for vertex in &scene.vertices {
            let label = vertex.label.unwrap_or_else(|| panic!("{} has no name", vertex.name));
            assert!(
                label.right - label.left >= width(&vertex.name) - 0.01 && label.bottom - label.top >= HEIGHT - 0.01
            );
            boxes.push((format!("the name {}", vertex.name), label));
            boxes.push((format!("the symbol {}", vertex.name), vertex.area(scene.radius)));
        }
        let words = scene.lines.iter().filter_map(|line| Some((format!("the link {}", line.about), line.label?)));
        boxes.extend(words);
        for (place, (one, first)) in boxes.iter().enumerate() {
            for (other, second) in &boxes[place + 1..] {
                assert!(!first.overlaps(second), "{}: {one} covers {other}", plan.name);
            }
        }
    }
}

#[test]
fn the_same_lab_gives_the_same_picture() {
    for plan in labs() {
        assert_eq!(picture(&plan), picture(&plan.clone()));
    }
}

#[test]
fn distances_are_those_of_the_network() {
    let plan = plan("generate: {kind: chain, n: 10, hosts: 0}\nlayout: {}\n");
    let mut free = plan;
    free.nodes.iter_mut().for_each(|node| node.position = None);
    let scene = Scene::of(&free);
    let at: Vec<_> = scene.positions().collect();
    for (one, first) in at.iter().enumerate() {
        for (other, second) in at.iter().enumerate() {
            let wanted = one.abs_diff(other) as f64;
            let is = (first[0] - second[0]).hypot(first[1] - second[1]);
            assert!((is - wanted).abs() <= 0.1 + 0.05 * wanted, "{one} and {other} are {is} apart");
        }
    }
}

#[test]
fn places_of_the_file_are_kept_and_come_back() {
    let text = "nodes: [a, b, c, d]\nlinks: {x: {ends: [a, b]}, y: {ends: [b, c]}, z: {ends: [c, d]}}\n";
    let fixed = plan(&format!("{text}layout: {{a: [0, 0], b: [2, 0], c: [2, 2]}}\n"));
    let places: Vec<_> = Scene::of(&fixed).positions().collect();
    assert_eq!(places[..3], [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]]);
    let again = plan(&format!("{text}{}", layout_text(&fixed)));
    for (place, now) in places.iter().zip(Scene::of(&again).positions()) {
        assert!((place[0] - now[0]).hypot(place[1] - now[1]) < 0.01, "{place:?} and {now:?}");
    }
}

#[test]
fn a_picture_says_what_links_are() {
    let text = "nodes: [a, b, c]\nlinks:\n  x: {ends: [a, b], delay: 5 ms, forward: {rate: 1 Mbit/s}, backward: {rate: 16 Mbit/s}}\n  \
                y: {ends: [b, c], rate: 1 Gbit/s, loss: 1 %}\n";
    let svg = picture(&plan(text));
    for words in ["1 Mbit/s", "16 Mbit/s", "5 ms", "1 Gbit/s, 1 % loss", "<title>a (host): 10.0.0.1/30"] {
        assert!(svg.contains(words), "{words} is not in {svg}");
    }
    // All alike are explained once.
    let ring = picture(&plan("generate: {kind: ring, n: 4, link: {rate: 10 Mbit/s, delay: 2 ms}}\n"));
    assert_eq!(ring.matches(">10 Mbit/s, 2 ms<").count(), 1);
}

/// A fifth of a second of one processor on an idle machine; a busy one takes longer, but hundreds of times would be a fault.
#[test]
fn a_large_lab_is_drawn_without_searching_all_pairs() {
    let plan = plan("generate: {kind: tree, depth: 4, fanout: 7, inner: transit}\n");
    assert_eq!(plan.nodes.len(), 400 + 2_401);
    let svg = picture(&plan);
    assert_eq!(svg.matches("<use href").count(), plan.nodes.len() + 2);
}
