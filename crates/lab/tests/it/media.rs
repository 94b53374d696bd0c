//! Shared media in lab files: one pipe for all ends.

use crate::labs::{node, plan};
use netloom_lab::fabric::{device_specs, fabric_of, pipe_specs};
use netloom_lab::{CaptureHeaders, Direction, Plan, parse};
use netloom_radio::{AntennaPattern, Beam, Decibels, FadingConfig, FadingModel, Metres, Source};
use netloom_units::Duration;

/// A bus with two hosts, a router and a switch, behind which is a third host; another host is behind the router.
const BUS: &str = "\
nodes: {a: {}, b: {}, c: {}, r: {kind: transit}, s: {kind: switch}, out: {}}
links:
  near: {ends: [c, s], delay: 2 ms}
  lan: {ends: [a, b, r, s], medium: shared, rate: 10 Mbit/s, delay: 10 us, queue: 50 packets, loss: 1 %}
  wan: {ends: [r, out], delay: 5 ms}
";

#[test]
fn a_medium_is_one_pipe_for_all_its_ends() {
    let plan = plan(BUS);
    let pipes: Vec<String> = plan.pipes().map(|pipe| pipe.to_string()).collect();
    assert_eq!(pipes, ["near.forward", "near.backward", "lan.shared", "wan.forward", "wan.backward"]);
    assert_eq!((plan.ends_of(1), plan.links[1].directions()), (vec!["a", "b", "r", "s"], &[Direction::Shared][..]));
    let specs = pipe_specs(&plan);
    assert_eq!(specs[2].medium.iter().map(|port| port.0).collect::<Vec<_>>(), [2, 3, 4, 5]);
    assert_eq!(device_specs(&plan).len(), 2);
    let _ = fabric_of(&plan);
}

#[test]
fn a_medium_is_part_of_a_lan() {
    let plan = plan(BUS);
    let first = |name: &str| node(&plan, name).interfaces[0].addresses[0].to_string();
    assert_eq!(["c", "a", "b", "r"].map(first), ["10.0.0.1/29", "10.0.0.2/29", "10.0.0.3/29", "10.0.0.4/29"]);
    let way = |from: usize, to: &str| {
        let way = plan.way_to(plan.nodes[from].interfaces[0].end, to.parse().unwrap()).unwrap();
        way.iter().map(|[entry, exit]| (entry.number(), exit.number())).collect::<Vec<_>>()
    };
    assert_eq!(way(0, "10.0.0.3"), [(2, 3)]);
    assert_eq!(way(0, "10.0.0.1"), [(2, 5), (1, 0)]);
    assert_eq!(way(2, "10.0.0.4"), [(0, 1), (5, 4)]);
}

#[test]
fn a_medium_is_shown_once() {
    let plan = plan(BUS);
    let text = plan.text().to_string();
    let rows: Vec<&str> = text.lines().filter(|row| row.contains("lan ") && row.contains("Mbit/s")).collect();
    assert_eq!(rows.len(), 1, "{text}");
    assert!(rows[0].contains("lan   shared    each end to all others"), "{}", rows[0]);
    let lan = &plan.describe()["links"][1];
    assert_eq!(
        (&lan["shared"]["rate_bits_per_second"], &lan["forward"]),
        (&10_000_000.into(), &serde_json::Value::Null)
    );
    assert_eq!(lan["ends"].as_array().unwrap().len(), 4);
}

/// A loop over a medium is one as over links, and its rate limits it as theirs does.
#[test]
fn loops_go_over_media() {
    let text = "\
nodes: {s: {kind: switch}, t: {kind: switch}, a: {}}
links:
  lan: {ends: [a, s, t], medium: shared}
  two: {ends: [s, t]}
";
    let wrong = |file: &str| parse(file, "t.yaml").expect_err("a loop").to_string();
    assert!(wrong(text).contains("this link closes a loop: `s` to `t` by lan, and back by two"), "{}", wrong(text));
    let allowed = format!("loops: allowed\n{text}");
    assert!(wrong(&allowed).contains("no link of this loop has a rate"), "{}", wrong(&allowed));
    plan(&allowed.replace("shared}", "shared, rate: 10 Mbit/s}"));
}

/// Headers of radiotap are those of what is on the air: of a radio medium, and with nothing that is of Ethernet.
#[test]
fn headers_of_radiotap_are_for_radio_media() {
    let lab = |capture: &str| {
        let text = format!(
            "nodes: [ap, sta1, far]\nlinks:\n  wifi: {{ends: [ap, sta1], medium: {{kind: wifi, standard: a, access_point: ap}}}}\n\
             \x20 wire: {{ends: [ap, far]}}\ncapture: [{{{capture}}}]\n"
        );
        parse(&text, "t.yaml").map(|found| found.plan.capture[0].headers).map_err(|errors| errors.to_string())
    };
    assert_eq!(lab("link: wifi"), Ok(CaptureHeaders::Ethernet));
    assert_eq!(lab("link: wifi, headers: radiotap, snaplen: 100 B"), Ok(CaptureHeaders::Radiotap));
    for (capture, why) in [
        ("link: wire, headers: radiotap", "write `link` with a link whose `medium` is of kind `wifi`"),
        ("node: ap, headers: radiotap", "write `link` with a link whose `medium` is of kind `wifi`"),
        ("link: wifi, headers: radiotap, at: sent", "`at` is for captures with Ethernet headers"),
        ("link: wifi, headers: radiotap, filter: tcp", "write `match`, or leave it out"),
        ("link: wifi, headers: prism", "write ethernet or radiotap"),
    ] {
        let wrong = lab(capture).expect_err(capture);
        assert!(wrong.contains(why) && wrong.contains("t.yaml:5"), "{capture}: {wrong}");
    }
}

/// Where all stations hear one another, interferers have nothing but their times.
#[test]
fn interferers_without_signals_are_in_the_plan() {
    let text = "\
nodes: [a, b]
links: {wifi: {ends: [a, b], medium: {kind: wifi, standard: n, interferers: {up: {duty_cycle: 30 %, burst: 5 ms}}}}}
";
    let plan = plan(text);
    let air = plan.links[0].pipes[0].air.as_ref().expect("a radio medium");
    let [up] = &air.interferers[..] else { panic!("{:?}", air.interferers) };
    assert_eq!((up.name.as_str(), up.source, up.burst), ("up", Source::Sensed, Duration::from_millis(5)));
    assert!(air.radio.is_none());
    let medium = &plan.describe()["links"][0]["medium"];
    assert_eq!(medium["interferers"], serde_json::json!(["up"]));
}

/// The positions of the stations of the first link at a time.
fn positions(plan: &Plan, time: Duration) -> Vec<[f64; 3]> {
    let air = plan.links[0].pipes[0].air.as_ref().expect("a radio medium");
    let position = |path: &netloom_radio::Path| {
        let at = path.position(time);
        [at.x.0, at.y.0, at.z.0]
    };
    air.stations.iter().map(|station| position(&station.antenna.path)).collect()
}

/// A degree of latitude is 111.195 km on the sphere; at 60 degrees one of longitude is half of that.
#[test]
fn positions_in_degrees_are_metres_from_an_origin() {
    let text = "\
nodes:
  a: {position: {latitude: 60.0, longitude: 10.0, height: 4 m}}
  b: {position: {latitude: 60.001, longitude: 10.001}}
  c: {position: [7 m, 8 m]}
  d: {}
links:
  wifi: {ends: [a, b, c, d], medium: {kind: wifi, standard: n, access: radio, stations: {d: {position: {latitude: 59.999, longitude: 10.0}}}}}
";
    let found = positions(&plan(text), Duration::ZERO);
    assert_eq!(found, [[0.0, 0.0, 4.0], [55.598, 111.195, 1.5], [7.0, 8.0, 1.5], [0.0, -111.195, 1.5]]);
    let moved = positions(&plan(&format!("origin: [60.001, 10.0]\n{text}")), Duration::ZERO);
    assert_eq!(moved[..3], [[0.0, -111.195, 4.0], [55.596, 0.0, 1.5], [7.0, 8.0, 1.5]]);
}

/// As above; between two waypoints half of the way, also where the first place in degrees is a waypoint, which is the origin then.
#[test]
fn waypoints_in_degrees_are_metres_from_an_origin() {
    let lab = |more: &str| {
        format!(
            "{more}nodes:\n  a: {{path: [{{at: 0 s, position: {{latitude: 60.0, longitude: 10.0, height: 4 m}}}}, {{at: 10 s, position: {{latitude: 60.001, longitude: 10.0}}}}]}}\n\
             \x20 b: {{path: {{waypoints: [{{at: 0 s, position: [7 m, 8 m]}}, {{at: 10 s, position: {{latitude: 60.0, longitude: 10.001}}}}], repeat: 20 s}}}}\n\
             links:\n  wifi: {{ends: [a, b], medium: {{kind: wifi, standard: n, access: radio}}}}\n"
        )
    };
    let found = |text: &str, seconds| {
        let found = positions(&plan(text), Duration::from_secs(seconds));
        found.into_iter().map(|place| place.map(|metres| (metres * 1e3).round() / 1e3)).collect::<Vec<_>>()
    };
    let text = lab("");
    assert_eq!(found(&text, 0), [[0.0, 0.0, 4.0], [7.0, 8.0, 1.5]]);
    assert_eq!(found(&text, 10), [[0.0, 111.195, 1.5], [55.598, 0.0, 1.5]]);
    // Halfway, and on the way back.
    assert_eq!(found(&text, 5)[0], [0.0, 55.598, 2.75]);
    assert_eq!(found(&text, 20)[1], [7.0, 8.0, 1.5]);
    assert_eq!(found(&lab("origin: [60.001, 10.0]\n"), 10)[0], [0.0, 0.0, 1.5]);
}

/// Who follows a node is around it at the end of each step, and drawn from the seed and its own name alone.
#[test]
fn groups_follow_their_leaders() {
    let lab = |more: &str| {
        let text = format!(
            "seed: 5\nnodes:\n{more}  x: {{path: {{generate: group, leader: bus, offset: [-4 m, 3 m], radius: 6 m, step: 5 s}}}}\n\
             \x20 y: {{path: {{generate: group, leader: bus, radius: 6 m, height: 2 m, span: 20 s}}}}\n\
             \x20 bus: {{path: [{{at: 0 s, position: [0 m, 0 m, 3 m]}}, {{at: 100 s, position: [500 m, 0 m, 3 m]}}]}}\n\
             links:\n  wifi: {{ends: [x, y, bus], medium: {{kind: wifi, standard: n, access: radio}}}}\n"
        );
        plan(&text)
    };
    let (alone, joined) = (lab(""), lab("  w: {path: {generate: group, leader: bus, radius: 1 m}}\n"));
    for seconds in [0, 5, 20, 60, 100] {
        let time = Duration::from_secs(seconds);
        let found = positions(&alone, time);
        let [x, y, bus] = found[..] else { panic!("three stations") };
        assert!((x[0] - bus[0] + 4.0).hypot(x[1] - bus[1] - 3.0) <= 6.001 && x[2] == 3.0, "{seconds} s: {x:?}");
        let is_led = (y[0] - bus[0]).hypot(y[1] - bus[1]) <= 6.001;
        assert!(y[2] == 2.0 && is_led == (seconds <= 20), "{seconds} s: {y:?}");
        assert_eq!(found, positions(&joined, time));
    }
}

/// Walls, antennas and interferers get where they belong.
#[test]
fn surroundings_of_stations_are_in_the_plan() {
    let text = "\
nodes: {a: {position: [0 m, 0 m]}, b: {position: [30 m, 0 m]}}
links:
  wifi:
    ends: [a, b]
    medium:
      kind: wifi
      standard: n
      access: radio
      walls: [{from: [8 m, -10 m], to: [8 m, 10 m], loss: 3.4 dB, height: 3 m}]
      fading: {nakagami: 0.75, speed: 2 m/s}
      stations: {a: {antenna: {gain: -3 dB}}, b: {antenna: {gain: 14 dB, azimuth: 270, vertical_width: 10, tilt: -2}}}
      interferers: {up: {position: [5 m, 5 m], duty_cycle: 30 %}, oven: {sends: noise, received: -75 dBm, duty_cycle: 50 %, burst: 10 ms}}
";
    let plan = plan(text);
    let air = plan.links[0].pipes[0].air.as_ref().expect("a radio medium");
    let radio = air.radio.as_ref().expect("it has signals");
    let [wall] = &radio.walls[..] else { panic!("{:?}", radio.walls) };
    assert_eq!(
        (wall.from.x, wall.to.y, wall.loss, wall.height),
        (Metres(8.0), Metres(10.0), Decibels(3.4), Some(Metres(3.0)))
    );
    assert_eq!(radio.fading, Some(FadingConfig { model: FadingModel::Nakagami(0.75), speed: 2.0 }));
    let [up, oven] = &radio.interferers[..] else { panic!("{:?}", radio.interferers) };
    assert_eq!((up.name.as_str(), up.has_preamble, up.burst), ("up", true, Duration::from_millis(2)));
    assert!(matches!(up.source, Source::At(position, Decibels(16.0)) if position.x == Metres(5.0)));
    assert_eq!((oven.source, oven.has_preamble), (Source::Everywhere(Decibels(-75.0)), false));
    let patterns = [0, 1].map(|place: usize| air.stations[place].antenna.pattern);
    assert_eq!(patterns[0], AntennaPattern { gain: Decibels(-3.0), beam: None });
    let beam =
        Beam { azimuth: 270.0, width: 65.0, front_to_back: Decibels(30.0), tilt: -2.0, vertical_width: Some(10.0) };
    assert_eq!(patterns[1], AntennaPattern { gain: Decibels(14.0), beam: Some(beam) });
    // Too many walls are refused at once.
    let many = "{from: [0 m, 0 m], to: [1 m, 0 m], loss: 1 dB}, ".repeat(1_001);
    let wrong = text.replace("walls: [", &format!("walls: [{many}"));
    let errors = parse(&wrong, "t.yaml").expect_err("too many").to_string();
    assert!(errors.contains("t.yaml:9") && errors.contains("a medium has at most 1000 walls, found 1002"), "{errors}");
}
