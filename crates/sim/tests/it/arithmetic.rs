//! Simulations whose figures can be computed by hand.

use netloom_lab::{Plan, parse_traffic};
use netloom_sim::{Outcome, simulate};
use netloom_units::{Duration, Seed};
use std::path::Path;

fn plan(links: &str, traffic: &str) -> Plan {
    let text = format!("name: t\nnodes: {{a: {{}}, r: {{kind: router}}, b: {{}}}}\nlinks:\n{links}traffic:\n{traffic}");
    netloom_lab::parse(&text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan
}

fn run(plan: &Plan, seconds: u64) -> Outcome {
    simulate(plan, Duration::from_secs(seconds), Duration::from_millis(100), None, &mut |_| ())
        .expect("it can be simulated")
}

const CHAIN: &str =
    "  one: {ends: [a, r], rate: 10 Mbit/s, delay: 5 ms}\n  two: {ends: [r, b], rate: 2 Mbit/s, delay: 20 ms}\n";

/// A packet of 1,000 B takes 0.8 ms at 10 Mbit/s and 4 ms at 2 Mbit/s: it arrives 0.8 + 5 + 4 + 20 = 29.8 ms after it
/// was sent. At 1 Mbit/s one is sent every 8 ms, the first at time zero: 1,250 in 10 s.
#[test]
fn a_chain_of_two_links() {
    let outcome = run(&plan(CHAIN, "  - {from: a, to: b, kind: constant, rate: 1 Mbit/s, size: 1000 B}\n"), 10);
    let source = &outcome.sources[0];
    // The one that is due at the very end is sent, too.
    assert_eq!((source.sent_packets, source.received_packets, source.lost_packets()), (1_251, 1_251, 0));
    let expected = Some(Duration::from_micros(29_800));
    let delays = &source.delays;
    assert_eq!([delays.least(), delays.mean(), delays.quantile(0.5), delays.most()], [expected; 4]);
    assert_eq!(source.reordered_packets, 0);
    let [one, two] = [0, 2].map(|pipe| &outcome.pipes[pipe].counters);
    assert_eq!(one.arrived.packets, 1_251);
    // At 10 s those of the last 5.8 ms have not left the first link, and those of the last 29.8 ms not the second.
    assert_eq!((one.departed.packets, two.departed.packets), (1_250, 1_247));
}

/// 4 Mbit/s into 2 Mbit/s: half is lost once the queue of 10 packets is full. The queue fills in the first 80 ms; then a
/// packet waits behind at most 10 others.
#[test]
fn an_overloaded_link_carries_its_rate() {
    let links = CHAIN.replace("delay: 20 ms", "delay: 20 ms, queue: 10 packets");
    let outcome = run(&plan(&links, "  - {from: a, to: b, kind: constant, rate: 4 Mbit/s, size: 1000 B}\n"), 10);
    let two = &outcome.pipes[2].counters;
    assert_eq!(two.queue_peak, 10);
    // It sends from 5.8 ms on, and what it sent until 9,980 ms has come out: (9980 - 5.8) / 4.
    assert_eq!(two.departed.packets, 2_493);
    let source = &outcome.sources[0];
    // Ten wait and one is being sent: 11 * 4 ms on the second link, 25.8 ms for all else.
    let most = source.delays.most().expect("packets arrived");
    assert!(most <= Duration::from_micros(25_800 + 44_000), "{most}");
    assert!((source.goodput_bits_per_second() / 2e6 - 1.0).abs() < 0.01, "{}", source.goodput_bits_per_second());
    // What is sent at the very end finds the queue full a little later; pipes have stopped counting then.
    assert_eq!(source.lost_packets(), two.dropped.queue.packets + 1);
}

/// The window is what limits: throughput = window / RTT. A packet of 1,000 B with headers needs 0.8 + 5 + 4 + 20 ms, an
/// acknowledgement of 40 B 0.16 + 20 + 0.032 + 5 ms: RTT 54.992 ms. Eight packets of 960 B per RTT; they leave the second
/// link, which is the slower one, 4 ms apart, so that the eighth is sent before the first is acknowledged.
#[test]
fn a_window_gives_window_per_round_trip() {
    let traffic = "  - {from: a, to: b, kind: window, window: 7680 B, segment: 960 B}\n";
    let outcome = run(&plan(CHAIN, traffic), 60);
    let expected = 8.0 * 960.0 * 8.0 / 0.054_992;
    let goodput = outcome.sources[0].goodput_bits_per_second();
    assert!((goodput / expected - 1.0).abs() < 0.002, "{goodput} against {expected}");
    assert_eq!(outcome.sources[0].resent_packets, 0);
}

/// What is lost is sent again until all has arrived, in spite of 5 % loss in both directions.
#[test]
fn a_transfer_survives_loss() {
    let links = CHAIN.replace("delay: 20 ms", "delay: 20 ms, loss: 5 %");
    let traffic = "  - {from: a, to: b, kind: window, window: 16 kB, segment: 1000 B, amount: 1 MB}\n";
    let outcome = run(&plan(&links, traffic), 60);
    let source = &outcome.sources[0];
    assert_eq!((source.received_packets, source.useful_bytes), (1_000, 1_000_000));
    assert!(source.resent_packets >= source.lost_packets() && source.lost_packets() > 20, "{source:?}");
}

/// What a link copies says nothing of what it loses: different packets that arrive and lost ones are those that were sent. Of 10,001
/// packets, 2,000 are lost, with a standard deviation of 40.
#[test]
fn copies_hide_no_loss() {
    for beside in ["duplicate: 50 %", "duplicate: 50 %, corrupt: 10 %", "duplicate: 99 %, reorder: 10 %"] {
        let links = format!("  l: {{ends: [a, b], delay: 5 ms, loss: 20 %, {beside}}}\n  spare: {{ends: [r, b]}}\n");
        let outcome = run(&plan(&links, "  - {from: a, to: b, kind: constant, rate: 8 Mbit/s, size: 1000 B}\n"), 10);
        let source = &outcome.sources[0];
        assert_eq!(
            (source.sent_packets, source.received_packets + source.lost_packets()),
            (10_001, 10_001),
            "{beside}"
        );
        if source.corrupted_packets == 0 {
            assert!((1_800..2_200).contains(&source.lost_packets()), "{beside}: {source:?}");
        }
        assert!(source.duplicate_packets > 1_000, "{beside}: {source:?}");
    }
}

/// What is sent again and copied: of 1,000 different packets all arrive in the end, and each transmission arrived or was lost.
#[test]
fn transmissions_arrive_or_are_lost() {
    let links = CHAIN.replace("delay: 20 ms", "delay: 20 ms, forward: {loss: 5 %, duplicate: 30 %}");
    let traffic = "  - {from: a, to: b, kind: window, window: 16 kB, segment: 1000 B, amount: 1 MB}\n";
    let outcome = run(&plan(&links, traffic), 60);
    let (source, two) = (&outcome.sources[0], &outcome.pipes[2].counters);
    assert_eq!((source.received_packets, source.lost_packets()), (1_000, two.dropped.packets()));
    assert!(source.lost_packets() > 20, "{source:?}");
    assert_eq!(source.sent_packets, 1_000 + source.resent_packets);
}

/// What takes longer than a simulation is waited for.
#[test]
fn a_packet_that_travels_for_long_is_not_lost() {
    let links = "  l: {ends: [a, b], delay: 1200 s}\n  spare: {ends: [r, b]}\n";
    let outcome = run(&plan(links, "  - {from: a, to: b, kind: constant, rate: 1 Mbit/s, size: 1000 B}\n"), 1);
    assert_eq!((outcome.sources[0].received_packets, outcome.sources[0].lost_packets()), (126, 0));
}

/// On a shared medium everybody hears everything, and only the sink takes it. A packet of 500 B takes 4 ms.
#[test]
fn who_overhears_a_shared_medium_takes_nothing() {
    let text = "\
name: t
nodes: [a, b, c]
links: {ch: {ends: [a, b, c], medium: shared, rate: 1 Mbit/s}}
traffic:
  - {from: a, to: b, kind: constant, rate: 100 kbit/s, size: 500 B}
  - {from: c, to: a, kind: window, window: 1460 B, amount: 14600 B, start: 2 ms}
";
    let outcome = run(&netloom_lab::parse(text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan, 2);
    let [open, window] = &outcome.sources[..] else { panic!("two sources") };
    assert_eq!((open.sent_packets, open.received_packets, open.lost_packets()), (51, 51, 0));
    assert_eq!((window.received_packets, window.useful_bytes, window.resent_packets), (10, 14_600, 0));
    assert_eq!(open.delays.least(), Some(Duration::from_millis(4)));
}

/// A bit flipped on the way makes a packet useless.
#[test]
fn corrupted_packets_are_not_received() {
    let links = CHAIN.replace("delay: 5 ms", "delay: 5 ms, corrupt: 10 %");
    let outcome = run(&plan(&links, "  - {from: a, to: b, kind: constant, rate: 1 Mbit/s, size: 1000 B}\n"), 10);
    let source = &outcome.sources[0];
    assert_eq!(source.corrupted_packets, outcome.pipes[0].counters.corrupted.packets);
    assert_eq!(source.lost_packets(), source.corrupted_packets);
    assert!((80..180).contains(&source.corrupted_packets), "{}", source.corrupted_packets);
}

/// Cut from 2 s to 3 s: what would have crossed the link then is dropped, and nothing else.
#[test]
fn the_timeline_cuts_links_and_leaves_programs_out() {
    let traffic = "  - {from: a, to: b, kind: constant, rate: 1 Mbit/s, size: 1000 B}\n\
        timeline:\n  - {at: 2 s, link: one, down: 1 s}\n  - {at: 5 s, link: two, direction: forward, set: {delay: 50 ms}}\n  \
        - {on: a, run: ping b, as: ping}\n";
    let outcome = run(&plan(CHAIN, traffic), 10);
    assert_eq!(outcome.skipped, ["ping"]);
    let dropped = outcome.pipes[0].counters.dropped.down.packets;
    assert!((125..=127).contains(&dropped), "{dropped}");
    assert_eq!(outcome.sources[0].lost_packets(), dropped);
    assert_eq!(outcome.sources[0].delays.most(), Some(Duration::from_micros(59_800)));
}

/// M/D/1 (Pollaczek 1930, Khinchine 1932): at the load r, the mean wait is r / (2 (1 - r)) services.
#[test]
fn poisson_arrivals_wait_as_pollaczek_and_khinchine_say() {
    for (rate, load) in [("5 Mbit/s", 0.5), ("8 Mbit/s", 0.8)] {
        let links = "  one: {ends: [a, b], rate: 10 Mbit/s, queue: 100000 packets}\n  spare: {ends: [r, b]}\n";
        let traffic = format!("  - {{from: a, to: b, kind: poisson, rate: {rate}, size: 1250 B}}\n");
        let source = run(&plan(links, &traffic), 2_000).sources.remove(0);
        // 1,250 B at 10 Mbit/s: one service is 1 ms.
        let wait_ms = source.delays.mean().expect("packets arrived").as_millis_f64() - 1.0;
        let expected_ms = load / (2.0 * (1.0 - load));
        assert!((wait_ms / expected_ms - 1.0).abs() < 0.03, "load {load}: {wait_ms} ms against {expected_ms} ms");
    }
}

#[test]
fn the_same_seed_gives_the_same_and_another_does_not() {
    let links = CHAIN.replace("delay: 20 ms", "delay: 20 ms, loss: 2 %");
    let mut plan = plan(&links, "  - {from: a, to: b, kind: poisson, rate: 1 Mbit/s, size: imix}\n");
    let first = run(&plan, 10);
    assert_eq!(run(&plan, 10), first);
    plan.seed = Seed::new(2);
    assert_ne!(run(&plan, 10), first);
}

/// What a source does is its own: another one beside it draws other numbers.
#[test]
fn a_source_more_does_not_change_when_the_first_sends() {
    let text = "  - {from: a, to: b, as: first, kind: poisson, rate: 1 Mbit/s, size: imix}\n";
    let mut plan = plan("  one: {ends: [a, r]}\n  two: {ends: [r, b]}\n", text);
    let alone = run(&plan, 10).sources.remove(0);
    let second = "from: b, to: a, kind: poisson, rate: 2 Mbit/s, size: 100 B";
    plan.traffic.push(parse_traffic(&plan, second, Path::new("")).expect("a source"));
    assert_eq!(run(&plan, 10).sources.remove(0), alone);
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let refused = |links: &str, traffic: &str| {
        simulate(&plan(links, traffic), Duration::from_secs(1), Duration::from_secs(1), None, &mut |_| ())
            .expect_err("it is refused")
            .to_string()
    };
    let constant = "  - {from: a, to: b, kind: constant, rate: 1 Mbit/s, size: 1400 B}\n";
    assert!(refused(CHAIN, "  []\n").starts_with("there is nothing to simulate"));
    let apart = refused("  one: {ends: [a, r]}\n", constant);
    assert_eq!(apart, "node b has no IPv4 address: nothing can be sent from or to it");
    let small = refused(&CHAIN.replace("delay: 20 ms", "delay: 20 ms, mtu: 1280"), constant);
    assert_eq!(small, "source a-b sends packets of 1400 B, but the mtu of link two is 1280");
    let still =
        refused("  one: {ends: [a, b]}\n  two: {ends: [r, b]}\n", "  - {from: a, to: b, kind: window, window: 3 kB}\n");
    assert!(still.starts_with("time stands still at 0 ns"), "{still}");
}

/// Over two switches, a packet of 1,000 B takes 0.8 ms at 10 Mbit/s and 8 ms at 1 Mbit/s, and 5 and 1 ms beside.
#[test]
fn a_way_over_switches() {
    let text = "\
name: t
nodes: {a: {}, s: {kind: switch}, t: {kind: switch}, b: {}, c: {}}
links:
  one: {ends: [a, s], rate: 10 Mbit/s, delay: 5 ms}
  two: {ends: [t, s], forward: {rate: 5 Mbit/s}, backward: {rate: 1 Mbit/s, delay: 1 ms}}
  three: {ends: [t, b]}
  beside: {ends: [c, s]}
traffic: [{from: a, to: b, kind: constant, rate: 100 kbit/s, size: 1000 B}]
";
    let outcome = run(&netloom_lab::parse(text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan, 1);
    let delays = &outcome.sources[0].delays;
    assert_eq!([delays.least(), delays.most()], [Some(Duration::from_micros(14_800)); 2]);
    let arrived: Vec<u64> = outcome.pipes.iter().map(|pipe| pipe.counters.arrived.packets).collect();
    assert_eq!(arrived, [13, 0, 0, 13, 13, 0, 0, 0]);
}

/// Sixty-four sources across a fat tree, whose four cores lie on ways of equal length.
#[test]
fn sources_spread_over_ways_of_equal_length() {
    let source = "  - {from: h1, to: h16, kind: constant, rate: 10 kbit/s, size: 100 B}\n";
    let cores = |routes: &str| {
        let text = format!("routes: {routes}\ngenerate: {{kind: fat-tree, k: 4}}\ntraffic:\n{}", source.repeat(64));
        let plan = netloom_lab::parse(&text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan;
        let outcome = run(&plan, 1);
        assert!(outcome.sources.iter().all(|one| one.received_packets > 0));
        let mut arrived = [0_u64; 4];
        for (pipe, counted) in plan.pipes().zip(&outcome.pipes) {
            let end = plan.links[pipe.link].exit(pipe.direction);
            if let Some(core) = plan.nodes[end.node].name.strip_prefix("core") {
                arrived[core.parse::<usize>().unwrap() - 1] += counted.counters.departed.packets;
            }
        }
        arrived
    };
    let [even, again, one] = ["ecmp", "ecmp", "shortest"].map(cores);
    // Sixteen of 64 sources each, with a standard deviation of 3.5.
    let sources = even.map(|packets| packets * 64 / even.iter().sum::<u64>());
    assert!(sources.iter().all(|count| (7..26).contains(count)), "{sources:?}");
    assert_eq!(even, again);
    assert_eq!(one.iter().filter(|packets| **packets > 0).count(), 1);
}
