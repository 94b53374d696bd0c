//! Shared media: stations take turns, hear one another, and the medium is measured once.

use crate::fixture::{Fixture, User};
use serde_json::Value;
use std::fs;

/// Three stations at a bus.
const BUS: &str = "
nodes: [a, b, c]
links:
  bus: {ends: [a, b, c], medium: shared, rate: 10 Mbit/s, delay: 1 ms, queue: 100 packets}
capture: [{link: bus, at: c, snaplen: 64 B}]
timeline:
  - {on: b, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {on: a, run: ping -c 3 -i 0.2 b, as: near}
  - {on: c, run: ping -6 -c 3 -i 0.2 a, as: near6}
  - {at: 1500 ms, on: a, run: iperf3 -c b -t 2 --bidir -J, as: both}
expect: [near.exit == 0, near6.exit == 0, both.exit == 0, bus.throughput > 1 Mbit/s]
";

const TOLERANT: &str =
    "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}\n";

/// A run, and what it says of its only pipe.
fn runs(fixture: Fixture, head: &str) -> (Fixture, Value) {
    fixture.write("bus.yaml", &format!("name: bus\n{head}{BUS}"));
    fixture.netloom(&["run", "bus.yaml"]).expect_code(0);
    let log = |name: &str| fs::read_to_string(fixture.latest("bus").join(format!("logs/{name}.stdout"))).unwrap();
    let least = |ping: &str| -> f64 {
        ping.split("min/avg/max/mdev = ").nth(1).unwrap().split('/').next().unwrap().parse().unwrap()
    };
    assert!(least(&log("02-a-near")) >= 2.0, "{}", log("02-a-near"));
    let pipes = fixture.json("bus", "pipes.json");
    let [only] = &pipes.as_array().unwrap()[..] else { panic!("{pipes}") };
    assert_eq!(
        (&only["link"], &only["direction"], &only["to"]),
        (&"bus".into(), &"shared".into(), &"all others".into())
    );
    // Both ways together get what the medium has.
    let both: Value = serde_json::from_str(&log("04-a-both")).unwrap();
    let of = |sum: &str| both["end"][sum]["bits_per_second"].as_f64().unwrap();
    let sum = of("sum_received") + of("sum_received_bidir_reverse");
    assert!(sum > 1e6 && sum <= 10e6, "{sum}");
    let row = only.clone();
    (fixture, row)
}

#[test]
fn stations_share_the_rate_of_a_medium() {
    for user in User::some() {
        let (fixture, _) = runs(Fixture::new(user), TOLERANT);
        // Station c hears what the others say to each other.
        let heard = fs::metadata(fixture.latest("bus").join("captures/bus.pcapng")).unwrap().len();
        assert!(heard > 10_000, "{heard} bytes");
    }
}

#[test]
fn a_medium_is_in_one_shard() {
    let fixture = Fixture::new(User::all().remove(0));
    let more = BUS
        .replace("nodes: [a, b, c]", "nodes: [a, b, c, d]")
        .replace("capture:", "  by: {ends: [c, d], delay: 1 ms}\ncapture:");
    fixture.write("bus.yaml", &format!("name: bus\nshards: 2\n{TOLERANT}{more}"));
    fixture.netloom(&["run", "bus.yaml"]).expect_code(0);
    assert_eq!(fixture.json("bus", "pipes.json").as_array().unwrap().len(), 3);
}

/// In virtual time the medium is exactly as described, and everything is the same again.
#[test]
fn a_medium_in_virtual_time_is_exact() {
    let rows = [(); 2].map(|()| runs(Fixture::with_kernel(User::all().remove(0)), "clock: virtual\n").1);
    assert_eq!(rows[0], rows[1]);
    assert_eq!(rows[0]["rate_judged"], true);
}

#[test]
fn a_medium_works_in_dilated_time() {
    runs(Fixture::with_kernel(User::all().remove(0)), &format!("clock: {{dilation: 4}}\n{TOLERANT}"));
}

/// Changes and cuts are of all of it.
#[test]
fn a_medium_is_changed_and_cut_as_one() {
    let fixture = Fixture::new(User::all().remove(0));
    fixture.write(
        "bus.yaml",
        &format!(
            "name: bus\n{TOLERANT}nodes: [a, b, c]\nlinks: {{bus: {{ends: [a, b, c], medium: shared, delay: 1 ms}}}}\n"
        ),
    );
    fixture.netloom(&["up", "bus.yaml"]).expect_code(0);
    fixture.netloom(&["set", "bus", "bus", "delay=20 ms"]).expect_code(0);
    let slow = fixture.netloom(&["exec", "bus", "a", "--", "ping", "-c", "1", "c"]).expect_code(0);
    let took: f64 = slow.stdout.split("time=").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(took >= 40.0, "{took}");
    let refused = fixture.netloom(&["set", "bus", "bus.forward", "delay=1 ms"]).expect_code(2);
    assert!(refused.stderr.contains("`bus` is a shared medium, which has no directions"), "{refused:#?}");
    fixture.netloom(&["set", "bus", "bus", "state=down"]).expect_code(0);
    fixture.netloom(&["exec", "bus", "b", "--", "ping", "-c", "1", "-W", "1", "c"]).expect_code(1);
    fixture.netloom(&["down", "bus"]).expect_code(0);
}
