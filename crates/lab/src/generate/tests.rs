use crate::parse;
use crate::plan::{NodeKind, Plan};
use std::collections::BTreeMap;

fn plan(text: &str) -> Plan {
    parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
}

fn generated(keys: &str) -> Plan {
    plan(&format!("generate: {{{keys}}}\n"))
}

fn wrong(text: &str) -> String {
    parse(text, "test.yaml")
        .err()
        .map_or_else(|| "it is accepted".into(), |wrong| wrong.lines().collect::<Vec<_>>().join("\n"))
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.nodes.iter().map(|node| node.name.as_str()).collect()
}

fn links(plan: &Plan) -> Vec<&str> {
    plan.links.iter().map(|link| link.name.as_str()).collect()
}

/// How many nodes of each kind there are, and how many links.
fn sizes(keys: &str) -> (usize, usize, usize) {
    let plan = generated(keys);
    let hosts = plan.nodes.iter().filter(|node| node.kind == NodeKind::Host).count();
    (plan.nodes.len() - hosts, hosts, plan.links.len())
}

#[test]
fn regular_networks_have_the_sizes_of_their_formulas() {
    let cases = [
        ("kind: chain, n: 4", (4, 2, 5)),
        ("kind: chain, n: 1", (1, 2, 2)),
        ("kind: chain, n: 4, hosts_at: all, hosts_each: 2", (4, 8, 11)),
        ("kind: star, n: 5", (1, 5, 5)),
        ("kind: ring, n: 5", (5, 5, 10)),
        ("kind: tree, depth: 3, fanout: 8", (73, 512, 584)),
        ("kind: grid, rows: 3, columns: 4, hosts_each: 0", (12, 0, 17)),
        ("kind: torus, rows: 3, columns: 4, hosts_each: 0", (12, 0, 24)),
        ("kind: mesh, n: 6, hosts: 3", (6, 3, 18)),
        ("kind: dumbbell, n: 3", (2, 6, 7)),
        ("kind: parking-lot, n: 3", (4, 8, 11)),
        ("kind: fat-tree, k: 4", (20, 16, 48)),
        ("kind: fat-tree, k: 6, hosts_each: 1", (45, 18, 126)),
        ("kind: leaf-spine, leaves: 4, spines: 2, hosts_each: 3", (6, 12, 20)),
        ("kind: barabasi-albert, n: 50, m: 2, hosts: 4", (50, 4, 100)),
        ("kind: internet, tier1: 4, transit: 6, stubs: 0", (10, 0, 18)),
    ];
    for (keys, expected) in cases {
        assert_eq!(sizes(keys), expected, "{keys}");
    }
}

#[test]
fn names_and_links_are_those_of_the_manual() {
    let tree = generated("kind: tree, depth: 2, fanout: 2");
    assert_eq!(names(&tree), ["s1", "s2", "h1", "h2", "s3", "h3", "h4"]);
    assert_eq!(links(&tree), ["h1-s2", "h2-s2", "s1-s2", "h3-s3", "h4-s3", "s1-s3"]);
    assert_eq!(names(&generated("kind: chain, n: 2")), ["r1", "r2", "h1", "h2"]);
    assert_eq!(names(&generated("kind: ring, n: 3, inner: host, hosts_each: 0")), ["n1", "n2", "n3"]);
    assert_eq!(
        names(&generated("kind: fat-tree, k: 2")),
        ["core1", "agg1-1", "edge1-1", "h1", "agg2-1", "edge2-1", "h2"]
    );
    assert_eq!(names(&generated("kind: parking-lot, n: 1")), ["r1", "r2", "src0", "dst0", "src1", "dst1"]);
    assert_eq!(links(&generated("kind: dumbbell, n: 1")), ["r1-r2", "left1-r1", "right1-r2"]);
    let two =
        plan("generate: {a: {kind: chain, n: 1}, b: {kind: chain, n: 1}}\nlinks: {joint: {ends: [a-r1, b-r1]}}\n");
    assert_eq!(names(&two), ["a-r1", "a-h1", "a-h2", "b-r1", "b-h1", "b-h2"]);
    assert_eq!(links(&two), ["a-h1-r1", "a-h2-r1", "b-h1-r1", "b-h2-r1", "joint"]);
}

#[test]
fn hosts_are_dealt_evenly() {
    let plan = generated("kind: ring, n: 5, hosts: 3");
    assert_eq!(links(&plan)[5..], ["h1-r2", "h2-r4", "h3-r5"]);
}

#[test]
fn settings_of_a_link_come_before_those_of_its_tier_and_of_all() {
    let plan = generated(
        "kind: dumbbell, n: 2, link: {delay: 1 ms, rate: 10 Mbit/s}, tiers: {access: {rate: 1 Gbit/s}}, \
         links: {left2-r1: {delay: 7 ms}}",
    );
    let shown: Vec<String> = plan
        .links
        .iter()
        .map(|link| {
            let written = crate::models::written(&link.pipes[0]);
            written.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
        })
        .collect();
    assert_eq!(
        shown[..4],
        [
            "rate 10 Mbit/s, delay 1 ms",
            "rate 1 Gbit/s, delay 1 ms",
            "rate 1 Gbit/s, delay 7 ms",
            "rate 1 Gbit/s, delay 1 ms"
        ]
    );
}

#[test]
fn what_the_file_says_of_a_generated_node_is_added() {
    let text = "generate: {kind: star, n: 2, inner: {kind: hub}, host: {env: {A: b}, congestion: cubic}}\n\
                nodes: {h2: {congestion: reno}, h1:, extra: {}}\nlinks: {x: {ends: [extra, s1]}}\n";
    let plan = plan(text);
    assert_eq!(names(&plan), ["s1", "h1", "h2", "extra"]);
    assert_eq!(plan.nodes[0].kind, NodeKind::Hub);
    let setting = |node: usize| plan.nodes[node].sysctls[0].1.as_str();
    assert_eq!((setting(1), setting(2)), ("cubic", "reno"));
    assert_eq!(plan.nodes[2].env, [("A".to_owned(), "b".to_owned())]);
    // A list of names does the same.
    let list = self::plan("generate: {kind: star, n: 2}\nnodes: [extra]\nlinks: {x: {ends: [extra, s1]}}\n");
    assert_eq!(names(&list), ["s1", "h1", "h2", "extra"]);
}

/// How far each node is from the first; none where there is no path.
fn reached(plan: &Plan) -> usize {
    let mut around: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for link in &plan.links {
        let [one, other] = [link.ends[0].node, link.ends[1].node];
        around.entry(one).or_default().push(other);
        around.entry(other).or_default().push(one);
    }
    let (mut seen, mut next) = (vec![false; plan.nodes.len()], vec![0]);
    seen[0] = true;
    while let Some(here) = next.pop() {
        for there in around.get(&here).into_iter().flatten() {
            if !std::mem::replace(&mut seen[*there], true) {
                next.push(*there);
            }
        }
    }
    seen.into_iter().filter(|seen| *seen).count()
}

#[test]
fn random_networks_are_connected_and_follow_the_seed() {
    for keys in [
        "kind: waxman, n: 60, hosts: 7",
        "kind: waxman, n: 60, beta: 0.01",
        "kind: waxman, n: 1",
        "kind: barabasi-albert, n: 40, m: 3",
        "kind: internet, tier1: 3, transit: 8, stubs: 20, homes: 3",
        "kind: internet, tier1: 1, transit: 0, stubs: 4",
    ] {
        let one = generated(keys);
        assert_eq!(reached(&one), one.nodes.len(), "{keys}");
        assert_eq!(one, generated(keys));
        if one.nodes.len() > 10 {
            let other = plan(&format!("seed: 2\ngenerate: {{{keys}}}\n"));
            assert_ne!(one.links, other.links, "{keys}");
            assert_eq!(plan(&format!("seed: 2\ngenerate: {{{keys}, seed: 1}}\n")).links, one.links, "{keys}");
        }
    }
}

#[test]
fn the_mean_degree_of_a_waxman_graph_is_as_asked() {
    let plan = generated("kind: waxman, n: 400, degree: 6, hosts: 0");
    // 1200 links on the average, with a standard deviation of at most 35.
    assert!((1_060..=1_340).contains(&plan.links.len()), "{} links", plan.links.len());
}

#[test]
fn links_of_a_waxman_graph_take_as_long_as_they_are() {
    let plan = generated("kind: waxman, n: 30, span: 10 ms, hosts: 0");
    let places: Vec<[f64; 2]> = plan.nodes.iter().map(|node| node.position.expect("a place")).collect();
    for link in &plan.links {
        let [a, b] = [places[link.ends[0].node], places[link.ends[1].node]];
        // The square has a side of 1.1 times the root of 30, and its diagonal takes 10 ms.
        let diagonal = 1.1 * 30.0_f64.sqrt() * 2.0_f64.sqrt();
        let expected = ((a[0] - b[0]).hypot(a[1] - b[1]) / diagonal * 1e7).max(1e3);
        let crate::plan::LinkPlan { pipes, name, .. } = link;
        let written = crate::models::written(&pipes[0]);
        let delay: netloom_units::Duration = written[0].1.parse().expect("a delay");
        // Places are written with three decimals.
        assert!((delay.as_nanos() as f64 - expected).abs() < 5e3, "{name}: {delay}, not {expected} ns");
    }
    let own = generated("kind: waxman, n: 3, link: {delay: 3 ms}, hosts: 0");
    assert_eq!(crate::models::written(&own.links[0].pipes[0]), [("delay", "3 ms".to_owned())]);
}

#[test]
fn new_routers_prefer_those_with_many_neighbours() {
    let plan = generated("kind: barabasi-albert, n: 1000, m: 2, hosts: 0");
    let most = plan.nodes.iter().map(|node| node.interfaces.len()).max().unwrap_or(0);
    // The largest of such a graph grows with the root of its nodes, about 2 * 31; that of an even choice is near 15.
    assert!(most > 35, "{most} neighbours at most");
}

#[test]
fn an_odd_fat_tree_has_the_place_of_its_error() {
    let said = wrong("generate:\n  kind: fat-tree\n  k: 5\n");
    assert_eq!(
        said,
        "test.yaml:3: generate.k: 5 is odd: half of a switch's ports lead up, and half down; write 4 or 6"
    );
    assert!(
        wrong("nodes: [a]\ngenerate: {kind: fat-tree, k: 100}\n").contains("generate: the lab would have more than")
    );
    // References to what could not be generated are no errors of their own.
    assert_eq!(wrong("generate: {kind: ring, n: 2}\ntimeline: [{on: r1, run: date}]\n").lines().count(), 1);
}

#[test]
fn settings_cannot_grow_without_bound() {
    let pipes: String = (0..60).map(|number| format!("p{number}: {{match: {{dscp: 1}}}}, ")).collect();
    let said = wrong(&format!("generate: {{kind: mesh, n: 200, link: {{pipes: {{{pipes}}}}}}}\n"));
    assert!(said.contains("settings together: say less of each"), "{said}");
}

#[test]
fn the_text_of_a_network_is_the_same_lab() {
    for (kind, keys) in [("fat-tree", "k: 4"), ("waxman", "n: 20"), ("tree", "depth: 2, fanout: 3")] {
        let pairs: Vec<(String, String)> =
            keys.split(", ").filter_map(|pair| pair.split_once(": ")).map(|(a, b)| (a.into(), b.into())).collect();
        let text = crate::generate("test", kind, &pairs).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(plan(&text), generated(&format!("kind: {kind}, {keys}")));
    }
    let unknown = crate::generate("test", "ring", &[("k".into(), "4".into())]).expect_err("a ring has no k");
    assert!(unknown.to_string().contains("unknown key `k`"), "{unknown}");
}

/// Every kind with the examples of its keys is accepted, by the schema, too.
#[test]
fn every_example_of_every_kind_is_accepted() {
    let validator = jsonschema::draft202012::new(&crate::schema()).expect("the schema is one");
    for (kind, _, keys) in crate::generator_keys().filter(|(kind, ..)| !kind.is_empty()) {
        // The satellites of a constellation are in these keys, or in a file, which the manual's example of `tle` and `start` has.
        let satellites = ["planes", "satellites", "altitude"];
        let is_needed =
            |key: &crate::GeneratorKey| key.is_required || kind == "constellation" && satellites.contains(&key.name);
        let required: String =
            keys.iter().filter(|key| is_needed(key)).map(|key| format!(", {}: {}", key.name, key.example)).collect();
        for key in keys.iter().filter(|key| !is_needed(key) && !["tle", "start"].contains(&key.name)) {
            let text = format!("generate: {{kind: {kind}{required}, {}: {}}}\n", key.name, key.example);
            plan(&text);
            let value = crate::yaml::yaml_value(&text);
            if let Err(error) = validator.validate(&value) {
                panic!("{text}{error}");
            }
        }
    }
    let ring = "generate: {kind: ring, n: 3, inner: router, host: {congestion: cubic}, link: {rate: 1 Mbit/s}, tiers: {access: \
                {delay: 1 ms}}, links: {r1-r2: {mtu: 1400}}, seed: 7}\n";
    plan(ring);
    validator.validate(&crate::yaml::yaml_value(ring)).unwrap_or_else(|error| panic!("{error}"));
}
