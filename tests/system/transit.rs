//! Transit routers: what ping, traceroute and iperf3 see of them.

use crate::fixture::{Fixture, User};
use std::fmt::Write;
use std::fs;

/// A client, a chain of transit routers, and a server; all links are alike.
fn chain(name: &str, top: &str, routers: usize, link: &str) -> String {
    let mut nodes = String::from("client: {}, server: {}");
    let mut links = String::new();
    for router in 1..=routers {
        write!(nodes, ", r{router}: {{kind: transit}}").unwrap();
    }
    for number in 0..=routers {
        let left = if number == 0 { "client".to_owned() } else { format!("r{number}") };
        let right = if number == routers { "server".to_owned() } else { format!("r{}", number + 1) };
        writeln!(links, "  l{number}: {{ends: [{left}, {right}], {link}}}").unwrap();
    }
    format!(
        "name: {name}\n{top}\nbounds: {{lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}}\n\
         nodes: {{{nodes}}}\nlinks:\n{links}"
    )
}

/// The addresses that traceroute lists, in order.
fn hops(text: &str) -> Vec<String> {
    let hop = |line: &str| {
        let mut words = line.split_whitespace();
        let is_hop = words.next().is_some_and(|word| word.parse::<u32>().is_ok());
        if is_hop { words.next().map(str::to_owned) } else { None }
    };
    text.lines().filter_map(hop).collect()
}

#[test]
fn every_hop_of_a_chain_shows_in_order() {
    const ROUTERS: usize = 20;
    let timeline = "
timeline:
  - {on: server, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {on: client, run: traceroute -n -q 1 -w 3 -N 4 server, as: trace}
  - {on: client, run: traceroute -6 -n -q 1 -w 3 -N 4 $(getent ahostsv6 server | head -1 | cut -d' ' -f1), as: trace6}
  - {at: 1 s, on: client, run: ping -c 5 -i 0.2 server, as: ping}
  - {at: 1 s, on: client, run: ping -c 2 -i 0.2 r11, as: middle}
  - {at: 1 s, on: client, run: ping -6 -c 2 -i 0.2 r20, as: middle6}
  - {at: 2500 ms, on: client, run: iperf3 -c server -t 2 --json, as: transfer, save: transfer.json}
capture: [l0, l10]
expect:
  - ping.stdout contains \"5 received\"
  - middle.stdout contains \"2 received\"
  - middle6.stdout contains \"2 received\"
  - transfer.json.end.sum_received.bits_per_second > 1e6
  - l10.drops == 0
";
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture
            .write("chain.yaml", &format!("{}{timeline}", chain("chain", "", ROUTERS, "rate: 50 Mbit/s, delay: 1 ms")));
        let run = fixture.netloom(&["run", "chain.yaml"]).expect_code(0);
        assert!(run.stdout.contains("TTL expired"), "{run:#?}");
        let folder = fixture.latest("chain");
        let log = |name: &str| fs::read_to_string(folder.join(format!("logs/{name}.stdout"))).unwrap();
        // The router before link i + 1 answers from its end of link i, which is the second.
        let wanted: Vec<String> = (0..=ROUTERS).map(|link| format!("10.0.0.{}", 4 * link + 2)).collect();
        assert_eq!(hops(&log("02-client-trace")), wanted, "{}", log("02-client-trace"));
        let wanted6: Vec<String> = (0..=ROUTERS)
            .map(|link| if link == 0 { "fd00:6e6c::2".into() } else { format!("fd00:6e6c:0:{link:x}::2") })
            .collect();
        assert_eq!(hops(&log("03-client-trace6")), wanted6, "{}", log("03-client-trace6"));
        // Twice 21 links of 1 ms.
        let ping = log("04-client-ping");
        let least: f64 = ping.split("min/avg/max/mdev = ").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
        assert!(least >= 42.0, "{ping}");
        let routers = fixture.json("chain", "routers.json");
        assert_eq!(routers.as_array().unwrap().len(), ROUTERS);
        // A transfer of 1 Mbit/s for 2 s has 170 packets, and their acknowledgements.
        assert!(routers[10]["forwarded_packets"].as_u64().unwrap() > 200, "{routers}");
        assert!(routers[10]["expired_packets"].as_u64().unwrap() >= 2, "{routers}");
        // A capture between two routers has packets of both directions.
        let captured = fs::read(folder.join("captures/l10.pcapng")).unwrap();
        let between: Vec<u8> = [[0x02, 0x6e, 0x6c, 0, 0, 21], [0x02, 0x6e, 0x6c, 0, 0, 20]].concat();
        assert!(captured.windows(12).any(|window| window == between), "a frame from r10 to r11");
        fixture.assert_nothing_is_left("chain");
    }
}

#[test]
fn a_transit_router_runs_no_programs() {
    let fixture = Fixture::new(User::Own);
    fixture.write("chain.yaml", &chain("refusing", "", 2, "delay: 1 ms"));
    fixture.netloom(&["up", "chain.yaml", "-q"]).expect_code(0);
    let refused = fixture.netloom(&["exec", "refusing", "r1", "--", "true"]);
    fixture.netloom(&["down", "refusing"]).expect_code(0);
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("`r1` is a transit router and runs no programs"), "{refused:#?}");
}

/// In virtual time nothing but the links takes time, and at most some microseconds what ping asks its kernel: eleven links
/// of 1 ms there and back.
#[test]
fn in_virtual_time_round_trips_are_the_sum_of_the_links() {
    let timeline = "
timeline:
  - {on: client, run: ping -c 3 -i 0.1 server, as: ping}
  - {on: client, run: ping -c 3 -i 0.1 r5, as: middle}
  - {on: client, run: traceroute -n -q 1 server, as: trace}
";
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("exact.yaml", &format!("{}{timeline}", chain("exact", "clock: virtual", 10, "delay: 1 ms")));
    fixture.netloom(&["run", "exact.yaml", "-q"]).expect_code(0);
    let log = |name: &str| fs::read_to_string(fixture.latest("exact").join(format!("logs/{name}.stdout"))).unwrap();
    for (name, path) in [("01-client-ping", 22.0), ("02-client-middle", 10.0)] {
        let said = log(name);
        let summary = said.split("mdev = ").nth(1).unwrap_or_default();
        let figures: Vec<f64> = summary.split('/').take(3).filter_map(|figure| figure.parse().ok()).collect();
        // A node's clock steps by 256 ns, and ping cuts each of its two looks at it to whole microseconds.
        assert!(
            figures.len() == 3 && figures.iter().all(|figure| (path - 0.0015..path + 0.01).contains(figure)),
            "{said}"
        );
    }
    assert_eq!(hops(&log("03-client-trace")).len(), 11, "{}", log("03-client-trace"));
    fixture.assert_nothing_is_left("exact");
}

/// Four links of 5 ms there and back, in lab time.
#[test]
fn in_dilated_time_paths_add_up_too() {
    let timeline = "
timeline:
  - {on: server, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {on: client, run: ping -c 5 -i 0.1 server, as: ping}
  - {on: client, run: traceroute -n -q 1 -w 3 server, as: trace}
  - {on: client, run: iperf3 -c server -t 1 --json, as: transfer, save: transfer.json}
expect:
  - transfer.json.end.sum_received.bits_per_second > 0
  - l3.forward.delay >= 5 ms
";
    let fixture = Fixture::with_kernel(User::Own);
    let lab = chain("slow", "clock: {dilation: 4}", 3, "rate: 20 Mbit/s, delay: 5 ms");
    fixture.write("slow.yaml", &format!("{lab}{timeline}"));
    fixture.netloom(&["run", "slow.yaml", "-q"]).expect_code(0);
    let log = |name: &str| fs::read_to_string(fixture.latest("slow").join(format!("logs/{name}.stdout"))).unwrap();
    let ping = log("02-client-ping");
    let least: f64 = ping.split("min/avg/max/mdev = ").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
    assert!(least >= 40.0, "{ping}");
    assert_eq!(hops(&log("03-client-trace")).len(), 4, "{}", log("03-client-trace"));
    assert!(fixture.json("slow", "routers.json")[1]["forwarded_packets"].as_u64().unwrap() > 100);
    fixture.assert_nothing_is_left("slow");
}

#[test]
fn nothing_is_measured_at_the_end_of_a_link_that_leads_to_a_router() {
    let timeline = "
timeline:
  - {on: client, run: ping -c 3 -i 0.1 server, as: ping}
expect:
  - l1.forward.delay >= 5 ms
  - l0.forward.delay >= 5 ms
  - l0.forward.lateness_p99 < 50 ms
";
    let fixture = Fixture::new(User::Own);
    fixture.write("chain.yaml", &format!("{}{timeline}", chain("silent", "", 1, "delay: 5 ms")));
    let done = fixture.netloom(&["run", "chain.yaml", "-q"]).expect_code(1);
    let reason = "not measured: a transit router is at its end";
    assert_eq!(done.stdout.matches(reason).count(), 2, "{done:#?}");
    assert!(!done.stdout.contains("NOT met  l1"), "{done:#?}");
}

/// Traces 100 times per second for three seconds; how many errors came in each second.
const COUNT_ERRORS: &str = r#"
import socket, sys, time
where, six = sys.argv[1], ":" in sys.argv[1]
family, level, option, kind = (socket.AF_INET6, 41, 16, 3) if six else (socket.AF_INET, 0, 2, 11)
raw = socket.socket(family, socket.SOCK_RAW, 58 if six else 1)
out = socket.socket(family, socket.SOCK_DGRAM)
out.setsockopt(level, option, 1)
counts = [0, 0, 0]
for number in range(300):
    out.sendto(b"x", (where, 9))
    time.sleep(0.01)
    try:
        while True:
            packet = raw.recv(2000, socket.MSG_DONTWAIT)
            counts[number // 100] += packet[0 if six else 20] == kind
    except BlockingIOError:
        pass
print(counts)
"#;

/// Errors to one destination are limited as those of a router of Linux are.
#[test]
fn errors_are_as_rare_as_those_of_linux() {
    let fixture = Fixture::new(User::Own);
    fixture.write("count.py", COUNT_ERRORS);
    let counts = ["router", "transit"].map(|kind| {
        fixture.write(
            "rare.yaml",
            &format!(
                "name: rare\nclock: virtual\nnodes: {{s: {{}}, r: {{kind: {kind}}}, f: {{}}}}\n\
                 links: {{x: {{ends: [s, r]}}, y: {{ends: [r, f]}}}}\n\
                 timeline:\n\
                 \x20 - {{on: s, run: python3 count.py $(getent ahostsv4 f | head -1 | cut -d' ' -f1), as: four}}\n\
                 \x20 - {{on: s, run: python3 count.py $(getent ahostsv6 f | head -1 | cut -d' ' -f1), as: six}}\n",
            ),
        );
        fixture.netloom(&["run", "rare.yaml", "-q"]).expect_code(0);
        let log = |name: &str| fs::read_to_string(fixture.latest("rare").join(format!("logs/{name}.stdout"))).unwrap();
        [log("01-s-four"), log("02-s-six")]
    });
    assert_eq!(counts[0], counts[1]);
    assert_eq!(counts[1], ["[6, 2, 1]\n", "[15, 11, 10]\n"]);
}
