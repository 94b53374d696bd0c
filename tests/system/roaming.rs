//! Networks with several access points and real programs: stations go from one to another, and their interfaces have a carrier only while they are with one.

use crate::fixture::{Fixture, User};
use std::fs;

const TOLERANT: &str =
    "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}\n";

/// A walker with 20 m/s between two access points that are switches; nobody else moves. It looks at its carrier all the time.
const WALK: &str = "
duration: 8 s
nodes:
  server: {}
  core: {kind: switch}
  west: {kind: switch, position: [0 m, 0 m]}
  east: {kind: switch, position: [60 m, 0 m]}
  walker: {path: [{at: 500 ms, position: [5 m, 0 m]}, {at: 3 s, position: [55 m, 0 m]}]}
  desk: {position: [3 m, 4 m]}
links:
  uplink: {ends: [server, core]}
  left: {ends: [core, west]}
  right: {ends: [core, east]}
  wifi:
    ends: [west, east, walker, desk]
    medium:
      kind: wifi
      standard: a
      access: radio
      access_points: [west, east]
      roaming: {gap: 400 ms}
      stations: {east: {channel: 40}}
timeline:
  - {on: server, run: ping -4 -q -W 1 -c 90 -i 0.05 walker, as: ping}
  - {on: desk, run: ping -4 -q -c 40 -i 0.1 server, as: desk}
  - {on: walker, run: 'for i in $(seq 220); do cat /sys/class/net/eth0/carrier; sleep 0.02; done', as: watch}
expect:
  - ping.exit == 0
  - desk.exit == 0
  - walker.handovers == 1
  - wifi.west.clients == 1
  - wifi.east.clients == 1
  - wifi.desk.air_drops == 0
";

/// What the walker saw of its carrier, without repeats, and how many answers the server got.
fn walk(fixture: &Fixture, head: &str) -> (Vec<String>, u32) {
    fixture.write("roam.yaml", &format!("name: roam\n{head}{WALK}"));
    fixture.netloom(&["run", "roam.yaml"]).expect_code(0);
    let results = fixture.latest("roam");
    let log = |name: &str| {
        let logs = fs::read_dir(results.join("logs")).unwrap().flatten().map(|entry| entry.path());
        let mut of_name = logs.filter(|path| path.to_string_lossy().ends_with(&format!("-{name}.stdout")));
        fs::read_to_string(of_name.next().unwrap()).unwrap()
    };
    let events = fs::read_to_string(results.join("events.jsonl")).unwrap();
    let of_walker = events.lines().filter(|line| line.contains("\"association\"") && line.contains("\"walker\""));
    assert_eq!(of_walker.count(), 3, "{events}");
    let mut seen: Vec<String> = log("watch").lines().map(ToOwned::to_owned).collect();
    seen.dedup();
    let ping = log("ping");
    let received = ping.split("packets transmitted, ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    (seen, received)
}

#[test]
fn a_walker_roams_in_real_time() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        let (seen, received) = walk(&fixture, TOLERANT);
        assert_eq!(seen, ["1", "0", "1"]);
        // 8 of 90 fall into the gap; Linux takes a while to use a carrier that has come back.
        assert!((40..=86).contains(&received), "{received}");
        fixture.assert_nothing_is_left("roam");
    }
}

#[test]
fn a_walker_in_virtual_time_roams_exactly() {
    let runs = [(); 2].map(|()| walk(&Fixture::with_kernel(User::all().remove(0)), "clock: virtual\n"));
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0].0, ["1", "0", "1"]);
    assert!((40..=86).contains(&runs[0].1), "{runs:?}");
}
