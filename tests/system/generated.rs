//! Generated networks with addresses of their own: as files, as pictures, and as they run.

use crate::fixture::{Fixture, User};
use std::fs;

const RING: &str = "generate: {kind: ring, n: 3, link: {delay: 1 ms}}";
const LOOSE: &str =
    "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}";
const TIMELINE: &str = "
timeline:
  - {on: h1, run: ping -c 3 -i 0.1 h2, as: ping}
  - {on: h1, run: 'ip -br address', as: own}
expect:
  - ping.exit == 0
";

/// A ring of three routers whose addresses are all from one prefix: three links of 1 ms there and back.
fn runs(fixture: Fixture, clock: &str, addresses: &str, subnet: &str) -> Fixture {
    fixture.write("ring.yaml", &format!("name: ring\nclock: {clock}\n{addresses}\n{LOOSE}\n{RING}\n{TIMELINE}"));
    fixture.netloom(&["run", "ring.yaml"]).expect_code(0);
    let log = |name: &str| fs::read_to_string(fixture.latest("ring").join(format!("logs/{name}.stdout"))).unwrap();
    let ping = log("01-h1-ping");
    let least: f64 = ping.split("min/avg/max/mdev = ").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
    assert!(least >= 5.9, "{ping}");
    assert!(ping.contains(subnet), "{subnet}: {ping}");
    let own = log("02-h1-own");
    let automatic = |line: &&str| !line.starts_with("lo");
    let of_others = |address: &&str| !address.starts_with(subnet) && !address.starts_with("fe80::");
    let strange: Vec<&str> = own
        .lines()
        .filter(automatic)
        .flat_map(|line| line.split_whitespace().skip(2))
        .map(|word| word.split('@').next().unwrap_or_default())
        .filter(|word| word.contains('/'))
        .filter(of_others)
        .collect();
    assert!(own.contains(subnet) && strange.is_empty(), "{strange:?} in {own}");
    let picture = fs::read_to_string(fixture.latest("ring").join("lab.svg")).unwrap();
    assert!(
        ["h1", "h2", "h3", "r1", "r2", "r3"].iter().all(|name| picture.contains(&format!(">{name}<"))),
        "{picture}"
    );
    assert_eq!(picture, fixture.netloom(&["graph", "ring.yaml"]).expect_code(0).stdout);
    fixture.assert_nothing_is_left("ring");
    fixture
}

#[test]
fn a_generated_network_with_addresses_of_one_family_runs() {
    for user in User::some() {
        runs(Fixture::new(user), "real", "addresses: {ipv4: 172.16.0.0/16, ipv6: none}", "172.16.");
        runs(
            Fixture::new(user),
            "real",
            "addresses: {ipv4: none, ipv6: 'fd12:3456::/40', point_to_point: true}",
            "fd12:3456:",
        );
    }
}

#[test]
fn a_generated_network_with_addresses_of_one_family_runs_on_kernels() {
    for addresses in ["{ipv4: 172.16.0.0/16, ipv6: none, point_to_point: true}", "{ipv4: none, ipv6: 'fd12:3456::/40'}"]
    {
        let subnet = if addresses.contains("ipv4: none") { "fd12:3456:" } else { "172.16." };
        runs(Fixture::with_kernel(User::Own), "virtual", &format!("addresses: {addresses}"), subnet);
    }
}

#[test]
fn a_generated_file_is_the_same_lab() {
    let fixture = Fixture::new(User::Own);
    fixture.write("ring.yaml", &format!("name: ring\n{RING}\n"));
    let written = ["generate", "ring", "n=3", "link={delay: 1 ms}", "-o", "written.yaml"];
    fixture.netloom(&written).expect_code(0);
    let plans = ["ring.yaml", "written.yaml"].map(|file| {
        let told = fixture.netloom(&["check", file, "--json"]).expect_code(0).stdout;
        let mut plan: serde_json::Value = serde_json::from_str(&told).unwrap();
        plan.as_object_mut().unwrap().retain(|key, _| ["nodes", "links"].contains(&key.as_str()));
        plan
    });
    assert!(plans[0]["nodes"].as_array().is_some_and(|nodes| nodes.len() == 6), "{}", plans[0]);
    assert_eq!(plans[0], plans[1]);
    // Another file of that name is not overwritten.
    fixture.write("mine.yaml", "name: mine\n");
    let refused = fixture.netloom(&["generate", "star", "n=3", "-o", "mine.yaml"]);
    assert_eq!(
        (refused.code, fs::read_to_string(fixture.work().join("mine.yaml")).unwrap().as_str()),
        (Some(6), "name: mine\n")
    );
}
