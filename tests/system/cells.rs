//! Cells of mobile networks with real programs: delays and rates on all clocks, and handovers between cells.

use crate::fixture::{Fixture, User};
use serde_json::Value;
use std::fs;

const TOLERANT: &str =
    "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}\n";
/// CQI 9 on 25 blocks: 3,300 elements of 4 bits with a code rate of 616 / 1024 are 7.9 Mbit/s.
/// Without IPv6, whose reports of groups may bring a grant that a ping shares.
const CELL: &str = "
addresses: {ipv6: none}
nodes: {tower: {}, phone: {}}
links:
  cell: {ends: [tower, phone], medium: {kind: cell, base: tower, blocks: 25, errors: 0, terminals: {phone: {cqi: 9}}}}
timeline:
  - {on: phone, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {at: 100 ms, on: phone, run: ping -4 -c 20 -i 0.05 tower, as: ping}
  - {at: 2 s, on: tower, run: iperf3 -c phone -t 3 -J, as: down}
expect: [ping.exit == 0, down.exit == 0, cell.tower.airtime > 10 %, phone.handovers == 0]
";

/// The least round trip in milliseconds, and what iperf3 received in bits per second.
fn run(fixture: &Fixture, head: &str) -> (f64, f64) {
    fixture.write("cell.yaml", &format!("name: cell\n{head}{CELL}"));
    fixture.netloom(&["run", "cell.yaml"]).expect_code(0);
    let log = |name: &str| fs::read_to_string(fixture.latest("cell").join(format!("logs/{name}.stdout"))).unwrap();
    let ping = log("02-phone-ping");
    let least = ping.split("min/avg/max/mdev = ").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
    let down: Value = serde_json::from_str(&log("03-tower-down")).unwrap();
    (least, down["end"]["sum_received"]["bits_per_second"].as_f64().unwrap())
}

/// A request and its grant take 12 ms to 22 ms until the packet arrives, the answer 4 ms to 5 ms. A busy machine is later.
const EARLIEST: f64 = 15.9;
/// On a busy machine a program may begin so late that it meets the other one, whose packets have a grant already.
const EARLIEST_OF_LATE: f64 = EARLIEST / 3.0;
/// What the least of twenty round trips does not reach on any machine.
const LATEST: f64 = 500.0;

fn is_right((least, down): (f64, f64), (earliest, latest): (f64, f64)) {
    assert!((earliest..=latest).contains(&least), "{least} ms");
    assert!(down > 1e6 && down < 8e6, "{down} bit/s");
}

#[test]
fn a_cell_works_in_real_time() {
    for user in User::some() {
        is_right(run(&Fixture::new(user), TOLERANT), (EARLIEST_OF_LATE, LATEST));
    }
}

#[test]
fn a_cell_works_in_dilated_time() {
    let measured = run(&Fixture::with_kernel(User::all().remove(0)), &format!("clock: {{dilation: 4}}\n{TOLERANT}"));
    // The node's clock stands still at times, too, so that ping sees less than what passed.
    is_right(measured, (EARLIEST_OF_LATE, LATEST));
}

#[test]
fn a_cell_in_virtual_time_is_exact() {
    let runs = [(); 2].map(|()| run(&Fixture::with_kernel(User::all().remove(0)), "clock: virtual\n"));
    assert_eq!(runs[0], runs[1]);
    is_right(runs[0], (EARLIEST, 27.0));
    // Nearly all of it: 7.9 Mbit/s less headers of IP, TCP and of the cell.
    assert!(runs[0].1 > 6e6, "{runs:?}");
}

/// A walker between two cells sees a gap, and no loss.
#[test]
fn a_walker_is_handed_over_with_real_programs() {
    let fixture = Fixture::new(User::Own);
    fixture.write(
        "walk.yaml",
        &format!(
            "name: walk\n{TOLERANT}nodes: {{server: {{}}, walker: {{path: [{{at: 0 s, position: [100 m, 0 m]}}, {{at: 4 s, position: [900 m, 0 m]}}]}}}}
links:
  cell:
    ends: [server, walker]
    medium:
      kind: cell
      base: server
      signals: {{frequency: 1800 MHz, loss: friis}}
      cells: {{west: {{position: [0 m, 0 m, 25 m]}}, east: {{position: [1000 m, 0 m, 25 m]}}}}
timeline:
  - {{on: server, run: ping -4 -q -c 80 -i 0.05 walker, as: ping}}
expect: [ping.exit == 0, cell.walker.handovers == 1, cell.air_drops == 0 packets]
"
        ),
    );
    fixture.netloom(&["run", "walk.yaml"]).expect_code(0);
    let map = fs::read_to_string(fixture.latest("walk").join("map.svg")).unwrap();
    assert!(map.contains("class=\"contour\"") && map.contains(">west<"), "{map}");
}
