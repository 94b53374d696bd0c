//! Files of other tools: converted, refused, run directly, and networks of the Topology Zoo whose round trips are as predicted.

use crate::fixture::{Fixture, User};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

/// A topology of Kollaps: two services, a bridge, and a change.
const KOLLAPS: &str = r#"<experiment boot="kollaps:2.0">
  <services>
    <service name="a" script="ping -4 -c 3 -i 0.2 b"/>
    <service name="b"/>
  </services>
  <bridges><bridge name="s1"/></bridges>
  <links>
    <link origin="a" dest="s1" latency="5" upload="10Mbps" download="100Mbps"/>
    <link origin="s1" dest="b" latency="10" upload="10Mbps" download="10Mbps"/>
  </links>
  <dynamic><schedule origin="a" dest="s1" time="0.1" latency="25" upload="10Mbps" download="10Mbps"/></dynamic>
</experiment>
"#;

/// A configuration of Shadow, whose clock is virtual.
const SHADOW: &str = "
general: {stop_time: 20 s}
network:
  graph:
    type: gml
    inline: |
      graph [
        node [ id 0 host_bandwidth_down \"100 Mbit\" host_bandwidth_up \"100 Mbit\" ]
        edge [ source 0 target 0 latency \"50 ms\" packet_loss 0.0 ]
      ]
hosts:
  server:
    network_node_id: 0
    processes: [{path: sleep, args: '30', expected_final_state: running}]
  client:
    network_node_id: 0
    processes:
      - {path: ping, args: -4 -c 3 -i 0.2 server, start_time: 1}
      - {path: 'false', expected_final_state: {exited: 1}}
";

const LOOSE: &str =
    "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}";

/// The cities of Abilene (Internet2 in 2005; the Topology Zoo's `Abilene`) with their latitudes and longitudes.
const CITIES: [(&str, &str, &str); 11] = [
    ("New York", "40.71427", "-74.00597"),
    ("Chicago", "41.85003", "-87.65005"),
    ("Washington DC", "38.89511", "-77.03637"),
    ("Seattle", "47.60621", "-122.33207"),
    ("Sunnyvale", "37.36883", "-122.03635"),
    ("Los Angeles", "34.05223", "-118.24368"),
    ("Denver", "39.73915", "-104.9847"),
    ("Kansas City", "39.11417", "-94.62746"),
    ("Houston", "29.76328", "-95.36327"),
    ("Atlanta", "33.749", "-84.38798"),
    ("Indianapolis", "39.76838", "-86.15804"),
];
/// Its links, by the places of the cities.
const LINKS: [(usize, usize); 14] =
    [(0, 1), (0, 2), (1, 10), (2, 9), (3, 4), (3, 6), (4, 5), (4, 6), (5, 8), (6, 7), (7, 8), (7, 10), (8, 9), (9, 10)];
/// Cities that get a host, and pairs between which there is one shortest path.
const HOSTS: [(&str, &str); 4] =
    [("h-seattle", "Seattle"), ("h-angeles", "Los-Angeles"), ("h-york", "New-York"), ("h-atlanta", "Atlanta")];
const PAIRS: [(usize, usize); 5] = [(0, 2), (0, 1), (1, 2), (1, 3), (2, 3)];

/// Abilene as the Topology Zoo has it.
fn abilene() -> String {
    let mut text = String::from(
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">
  <key attr.name=\"label\" attr.type=\"string\" for=\"node\" id=\"d0\"/>
  <key attr.name=\"Latitude\" attr.type=\"double\" for=\"node\" id=\"d1\"/>
  <key attr.name=\"Longitude\" attr.type=\"double\" for=\"node\" id=\"d2\"/>
  <graph edgedefault=\"undirected\">\n",
    );
    for (number, (name, latitude, longitude)) in CITIES.iter().enumerate() {
        let data = |key: &str, value: &str| format!("<data key=\"{key}\">{value}</data>");
        let inner = [data("d0", name), data("d1", latitude), data("d2", longitude)].concat();
        writeln!(text, "    <node id=\"{number}\">{inner}</node>").unwrap();
    }
    for (source, target) in LINKS {
        writeln!(text, "    <edge source=\"{source}\" target=\"{target}\"/>").unwrap();
    }
    text + "  </graph>\n</graphml>\n"
}

/// The nodes of the only path with the fewest links between two nodes.
fn only_path(links: &BTreeMap<(String, String), u64>, from: &str, to: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut paths = vec![vec![from.to_owned()]];
    while found.is_empty() {
        let mut longer = Vec::new();
        for path in paths {
            let last = path.last().unwrap();
            for (_, next) in links.keys().filter(|(one, other)| one == last && !path.contains(other)) {
                longer.push([path.clone(), vec![next.clone()]].concat());
            }
        }
        found = longer.iter().filter(|path| path.last().unwrap() == to).cloned().collect();
        paths = longer;
    }
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

/// Round trips over a map of the Zoo are the sums of the delays that `netloom check` tells, along the paths with the fewest links:
/// to the microsecond that ping prints, of a clock that goes in steps of 256 ns.
#[test]
fn round_trips_in_the_topology_zoo_are_those_predicted() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("abilene.graphml", &abilene());
    let made = fixture.netloom(&["convert", "abilene.graphml"]).expect_code(0).stdout;
    let mut nodes = String::from("nodes:\n");
    let mut ends = String::from("links:\n");
    let mut timeline = String::from("timeline:\n");
    for (host, city) in HOSTS {
        writeln!(nodes, "  {host}: {{}}").unwrap();
        writeln!(ends, "  at-{host}: {{ends: [{host}, {city}]}}").unwrap();
    }
    for (number, (from, to)) in PAIRS.iter().enumerate() {
        let (from, to) = (HOSTS[*from].0, HOSTS[*to].0);
        writeln!(timeline, "  - {{on: {from}, run: ping -4 -c 3 -i 0.3 {to}, as: ping-{number}}}").unwrap();
    }
    let lab =
        made.replace("\nnodes:\n", &format!("\nclock: virtual\n{nodes}")).replace("\nlinks:\n", &format!("\n{ends}"));
    fixture.write("abilene.yaml", &(lab + &timeline));
    let plan: Value =
        serde_json::from_str(&fixture.netloom(&["check", "abilene.yaml", "--json"]).expect_code(0).stdout).unwrap();
    let mut delays = BTreeMap::new();
    for link in plan["links"].as_array().unwrap() {
        let [one, other] = [0, 1].map(|end| link["ends"][end]["node"].as_str().unwrap().to_owned());
        delays.insert((one.clone(), other.clone()), link["forward"]["delay_ns"].as_u64().unwrap());
        delays.insert((other, one), link["backward"]["delay_ns"].as_u64().unwrap());
    }
    fixture.netloom(&["run", "abilene.yaml", "-q"]).expect_code(0);
    let mut used = BTreeSet::new();
    for (number, (from, to)) in PAIRS.iter().enumerate() {
        let (from, to) = (HOSTS[*from].0, HOSTS[*to].0);
        let path = only_path(&delays, from, to);
        let steps: Vec<(String, String)> = path.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        let one_way: u64 = steps.iter().map(|step| delays[step]).sum();
        let back: u64 = steps.iter().map(|(one, other)| delays[&(other.clone(), one.clone())]).sum();
        used.extend(steps.into_iter().flat_map(|(one, other)| [(other.clone(), one.clone()), (one, other)]));
        let log = fs::read_to_string(
            fixture.latest("abilene").join(format!("logs/{:02}-{from}-ping-{number}.stdout", number + 1)),
        );
        let log = log.unwrap();
        // rtt min/avg/max/mdev = 20.001/20.002/20.003/0.001 ms
        let figures = log.split("mdev = ").nth(1).unwrap_or_else(|| panic!("{log}"));
        for shown in [0, 2].map(|place| figures.split('/').nth(place).unwrap().parse::<f64>().unwrap()) {
            let nanoseconds = (shown * 1e6).round() as i64;
            let predicted = i64::try_from(one_way + back).unwrap();
            // Ping cuts both of its times to microseconds, the clock may be a step of 256 ns behind at each, and what the agents of
            // nodes do now and then moves a packet by up to 4 us.
            assert!((nanoseconds - predicted).abs() <= 1_000 + 2 * 256 + 4_000, "{path:?}: {predicted} ns: {log}");
        }
    }
    let report = fixture.json("abilene", "report.json");
    let pipes = report["pipes"].as_array().unwrap();
    assert_eq!(pipes.len(), 2 * (LINKS.len() + HOSTS.len()));
    for pipe in pipes {
        let [from, to] = ["from", "to"].map(|end| pipe[end].as_str().unwrap().to_owned());
        let packets = pipe["departed_packets"].as_u64().unwrap();
        assert_eq!(packets > 0, used.contains(&(from, to)), "{pipe:#}");
    }
    fixture.assert_nothing_is_left("abilene");
}

/// What was converted runs in real time, and the file itself in virtual time, as root and as an ordinary user.
#[test]
fn files_of_other_tools_run() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        fixture.write("net.xml", KOLLAPS);
        fixture.netloom(&["convert", "net.xml", "-o", "net.yaml"]).expect_code(0);
        let made = fs::read_to_string(fixture.work().join("net.yaml")).unwrap();
        fixture.write("loose.yaml", &format!("{made}{LOOSE}\n"));
        fixture.netloom(&["run", "loose.yaml", "-q"]).expect_code(0);
        fixture.assert_nothing_is_left("net");
        fixture.write("shadow.yaml", SHADOW);
        fixture.netloom(&["run", "shadow.yaml", "-q"]).expect_code(0);
        let log = fs::read_to_string(fixture.latest("shadow").join("logs/02-client-ping.stdout")).unwrap();
        assert!(log.contains("rtt min/avg/max/mdev = 100.0"), "{log}");
        let lab = fs::read_to_string(fixture.latest("shadow").join("lab.yaml")).unwrap();
        assert!(lab.contains("# Made from shadow.yaml (Shadow) by netloom"), "{lab}");
        fixture.assert_nothing_is_left("shadow");
    }
}

#[test]
fn labs_are_written_in_every_format() {
    let fixture = Fixture::new(User::Own);
    fixture.write("net.xml", KOLLAPS);
    for (format, begins, has) in [
        ("yaml", "# Made from net.xml (Kollaps) by netloom", "rate: 10 Mbit/s"),
        ("graphml", "<?xml ", "10 Mbit/s"),
        ("dot", "graph \"net\" {", "rate: 10 Mbit/s"),
        ("containerlab", "name: net\ntopology:\n", "netem delay 5000us rate 10000000bit"),
        ("mininet", "#!/usr/bin/env python3\n", "'bw': 10.000000, 'delay': '5000us'"),
    ] {
        let written = fixture.netloom(&["convert", "net.xml", "--to", format]).expect_code(0);
        assert!(written.stdout.starts_with(begins) && written.stdout.contains(has), "{written:#?}");
        // A command and a change of a link in both directions.
        let is_told = written.stderr.contains("left out: 3 entries of the timeline");
        assert_eq!(is_told, format != "yaml", "{written:#?}");
    }
    fixture.netloom(&["convert", "net.xml", "--to", "graphml", "-o", "net.graphml"]).expect_code(0);
    let again = fixture.netloom(&["convert", "net.xml", "--to", "graphml", "-o", "net.graphml"]);
    assert!(again.code != Some(0) && again.stderr.contains("net.graphml"), "{again:#?}");
    let unknown = fixture.netloom(&["convert", "net.xml", "--to", "visio"]).expect_code(2);
    for name in ["yaml", "graphml", "dot", "containerlab", "mininet"] {
        assert!(unknown.stderr.contains(name), "{unknown:#?}");
    }
}

/// What a lab file names by a relative path is not found from everywhere.
#[test]
fn who_writes_a_lab_far_from_its_files_is_told() {
    let fixture = Fixture::new(User::Own);
    fs::create_dir_all(fixture.work().join("lab/pc1/etc")).unwrap();
    fixture.write("lab/lab.conf", "pc1[0]=A\n");
    fixture.write("lab/pc1/etc/motd", "hello\n");
    let far = fixture.netloom(&["convert", "lab", "-o", "far.yaml"]).expect_code(0);
    assert!(far.stderr.contains("note: the lab file names files by paths that count from "), "{far:#?}");
    let near = fixture.netloom(&["convert", "lab", "-o", "lab/near.yaml"]).expect_code(0);
    assert!(!near.stderr.contains("paths that count from"), "{near:#?}");
    fixture.netloom(&["check", "lab/near.yaml"]).expect_code(0);
}

#[test]
fn wrong_files_of_other_tools_are_refused_at_their_place() {
    let fixture = Fixture::new(User::Own);
    fixture.write("wrong.xml", &KOLLAPS.replace("dest=\"b\"", "dest=\"c\""));
    for command in ["convert", "check", "run", "up", "sim"] {
        let refused = fixture.netloom(&[command, "wrong.xml"]).expect_code(3);
        assert!(refused.stderr.contains("wrong.xml:9") && refused.stderr.contains("`dest=\"c\"`"), "{refused:#?}");
    }
    fixture.write("notes.txt", "nothing that anybody reads");
    let unknown = fixture.netloom(&["convert", "notes.txt"]).expect_code(3);
    assert!(unknown.stderr.contains("no known format: name it with --from, one of graphml, gml"), "{unknown:#?}");
    let unnamed = fixture.netloom(&["convert", "notes.txt", "--from", "visio"]).expect_code(2);
    assert!(unnamed.stderr.contains("rattan"), "{unnamed:#?}");
    let unread = fixture.netloom(&["convert", "notes.txt", "--from", "core"]).expect_code(3);
    assert!(unread.stderr.contains("notes.txt:1"), "{unread:#?}");
    fixture.netloom(&["convert", "missing.xml"]).expect_code(3);
    assert!(!fixture.work().join("results").exists());
}
