//! Links that are joined in the kernel.

use crate::fixture::{Fixture, User};

/// The kernel is to move what goes over `lan`; what this machine is late elsewhere is of no interest.
const LAB: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {a: {}, r: {kind: router}, b: {}}
links:
  lan: {ends: [{node: a, interface: wired, address: 192.168.7.2/24}, r], mtu: 9000, bypass: BYPASS}
  wan: {ends: [r, b], delay: 2 ms}
timeline:
  - {on: b, run: iperf3 -s, as: far-server, ready: {tcp: 5201}}
  - {on: r, run: iperf3 -s, as: near-server, ready: {tcp: 5201}}
  - {on: a, run: ping -6 -c 1 -W 2 r, as: first}
  - {on: a, run: ping -4 -c 3 -i 0.1 b, as: far}
  - {at: 500 ms, on: a, run: iperf3 -4 -c r -t 1 --json, as: near-transfer}
  - {at: 2 s, on: a, run: iperf3 -6 -c b -t 1 --json, as: far-transfer}
expect:
  - first.exit == 0
  - far.exit == 0
  - near-transfer.json.end.sum_received.bits_per_second > 0
  - far-transfer.json.end.sum_received.bits_per_second > 0
  - wan.forward.packets > 10 packets
";

fn lab(bypass: &str) -> String {
    LAB.replace("BYPASS", bypass)
}

#[test]
fn a_run_says_which_links_it_could_not_judge() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("joined.yaml", &lab("true"));
        let run = fixture.netloom(&["run", "joined.yaml"]).expect_code(0);
        assert!(
            run.stdout.contains("not judged: 1 of 2 links, joined in the kernel and not measured: lan"),
            "{run:#?}"
        );
        let row = run.stdout.lines().find(|line| line.starts_with("lan a>r")).unwrap();
        assert_eq!(row.split_whitespace().collect::<Vec<_>>().join(" "), "lan a>r in the kernel - - - - - -");
        let rows = fixture.json("joined", "pipes.json");
        let (lan, wan) = (&rows[0], &rows[2]);
        assert_eq!((&lan["joined_in_kernel"], &lan["arrived_packets"]), (&true.into(), &0.into()));
        assert_eq!((&wan["link"], &wan["joined_in_kernel"]), (&"wan".into(), &false.into()));
        assert!(wan["arrived_packets"].as_u64() > Some(10), "{wan}");
        let plan = fixture.json("joined", "plan.json");
        assert_eq!(plan["links"][0]["joined_in_kernel"], true, "{plan:#}");
        fixture.assert_nothing_is_left("joined");
    }
}

/// While two ends of a pair come up, one kernel may send what the other does not take yet. Nothing is lost by that which a program sent.
#[test]
fn what_kernels_send_while_they_come_up_is_no_loss() {
    let fixture = Fixture::new(User::Own);
    fixture.write(
        "many.yaml",
        "bounds: {events: 100 s}\nbypass: auto\ngenerate: {kind: chain, n: 40, inner: router}\nduration: 300 ms\n",
    );
    let run = fixture.netloom(&["run", "many.yaml"]).expect_code(0);
    assert!(run.stdout.contains("not judged: 41 of 41 links, joined in the kernel"), "{run:#?}");
    fixture.assert_nothing_is_left("many");
}

/// A lab that is up, as its nodes see it.
struct Seen {
    addresses: Vec<String>,
    /// The numbers of the interface at each end of `lan`, and of what it is joined to.
    numbers: [(u32, u32); 2],
}

fn look(fixture: &Fixture, bypass: &str) -> Seen {
    fixture.write("seen.yaml", &lab(bypass));
    fixture.netloom(&["up", "seen.yaml"]).expect_code(0);
    let within = |node: &str, command: &str| {
        fixture.netloom(&["exec", "seen", node, "--", "sh", "-c", command]).expect_code(0).stdout
    };
    let mut addresses = Vec::new();
    for node in ["a", "r", "b"] {
        let told = within(node, "ip -br link; ip -br addr; ip route; ip -6 route; ip neigh; cat /etc/hosts");
        // `eth0@if7`: what an interface is joined to has another number.
        let mut lines: Vec<String> = told.lines().map(|line| format!("{node}: {}", without_peer(line))).collect();
        lines.sort();
        addresses.extend(lines);
    }
    let numbers = [("a", "wired"), ("r", "eth0")].map(|(node, interface)| {
        let told = within(node, &format!("ip -o link show {interface}"));
        let (number, rest) = told.split_once(": ").unwrap();
        let peer = rest.split_once("@if").unwrap().1.split_once(':').unwrap().0;
        (number.parse().unwrap(), peer.parse().unwrap())
    });
    Seen { addresses, numbers }
}

fn without_peer(line: &str) -> String {
    let words = line.split_whitespace().map(|word| word.split_once("@if").map_or(word, |(name, _)| name));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_link_in_the_kernel_looks_like_any_other_to_its_nodes() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        let through_engine = look(&fixture, "false");
        assert_ne!(through_engine.numbers[0].1, through_engine.numbers[1].0, "the engine is in between");
        fixture.netloom(&["down", "seen"]).expect_code(0);
        let joined = look(&fixture, "true");
        assert_eq!(joined.addresses, through_engine.addresses);
        let [(a, beyond_a), (r, beyond_r)] = joined.numbers;
        assert_eq!((beyond_a, beyond_r), (r, a), "each is the other's peer");
        only_the_engine_can_change_or_watch(&fixture);
        fixture.netloom(&["down", "seen"]).expect_code(0);
        fixture.assert_nothing_is_left("seen");
        assert!(fixture.runtime_files().is_empty());
    }
}

fn only_the_engine_can_change_or_watch(fixture: &Fixture) {
    for command in [&["set", "seen", "lan", "delay=1 ms"][..], &["set", "seen", "lan.forward", "state=down"]] {
        let refused = fixture.netloom(command).expect_code(2);
        assert!(
            refused.stderr.contains("`lan` is joined in the kernel, past the engine, and cannot be changed"),
            "{refused:#?}"
        );
    }
    let refused = fixture.netloom(&["capture", "seen", "lan", "-w", "lan.pcapng"]).expect_code(2);
    assert!(refused.stderr.contains("cannot be captured: write `bypass: false` for it"), "{refused:#?}");
    let stats = fixture.netloom(&["stats", "seen", "--once"]).expect_code(0);
    assert!(stats.stdout.lines().any(|line| line.starts_with("lan a>r  in the kernel")), "{stats:#?}");
    fixture.netloom(&["set", "seen", "wan", "delay=1 ms"]).expect_code(0);
}

#[test]
fn a_link_that_is_captured_stays_in_the_engine() {
    let fixture = Fixture::new(User::Own);
    let text = "bypass: auto
nodes: [a, b, c]
links: {seen: {ends: [a, b]}, unseen: {ends: [b, c]}}
capture: [seen]
timeline:
  - {on: a, run: ping -c 2 -i 0.2 b, as: seen-ping}
  - {on: c, run: ping -c 2 -i 0.2 b, as: unseen-ping}
";
    fixture.write("watched.yaml", text);
    let check = fixture.netloom(&["check", "watched.yaml"]).expect_code(0);
    assert!(check.stdout.contains("seen  because `capture` wants its packets"), "{check:#?}");
    let run = fixture.netloom(&["run", "watched.yaml"]);
    assert!(run.stdout.contains("joined in the kernel and not measured: unseen"), "{run:#?}");
    let rows = fixture.json("watched", "pipes.json");
    assert!(rows[0]["departed_packets"].as_u64() >= Some(2), "{rows:#}");
    assert!(std::fs::metadata(fixture.latest("watched").join("captures/seen.pcapng")).unwrap().len() > 500);
    fixture.write("contradictory.yaml", &text.replace("{ends: [a, b]}", "{ends: [a, b], bypass: true}"));
    let refused = fixture.netloom(&["run", "contradictory.yaml"]).expect_code(3);
    assert!(refused.stderr.contains("contradictory.yaml:3"), "{refused:#?}");
    assert!(refused.stderr.contains("links.seen.bypass: this link cannot be joined in the kernel"), "{refused:#?}");
}
