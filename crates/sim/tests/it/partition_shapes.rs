//! Partitions of every shape in every network that the generators make: what is parted is what the shape says, nothing crosses it, and everything
//! else arrives.

use crate::partitions::{plan, run};
use netloom_lab::NodeKind;
use std::collections::BTreeSet;

const NETWORKS: [&str; 18] = [
    "{kind: chain, n: 4, hosts_each: 2}",
    "{kind: star, n: 5}",
    "{kind: star, n: 5, inner: hub}",
    "{kind: ring, n: 5}",
    "{kind: ring, n: 5, inner: router}",
    "{kind: ring, n: 5, link: {rate: 1 Gbit/s}, inner: {kind: switch, stp: true}}",
    "{kind: mesh, n: 5}",
    "{kind: dumbbell, n: 3}",
    "{kind: parking-lot, n: 3}",
    "{kind: tree, depth: 2, fanout: 2}",
    "{kind: tree, depth: 2, fanout: 2, inner: router}",
    "{kind: grid, rows: 2, columns: 3}",
    "{kind: torus, rows: 3, columns: 3}",
    "{kind: fat-tree, k: 4}",
    "{kind: leaf-spine, leaves: 3, spines: 2, hosts_each: 2}",
    "{kind: waxman, n: 8, hosts: 5}",
    "{kind: barabasi-albert, n: 6, m: 2}",
    "{kind: internet, tier1: 2, transit: 3, stubs: 5, homes: 4}",
];

const SHAPES: [&str; 6] = ["halves", "minority", "isolate", "bridge", "ring", "random"];

/// At most six hosts of a network, in the order of the file.
fn hosts(network: &str) -> Vec<String> {
    let plan = plan(&format!("name: t\ngenerate: {network}\n"));
    let hosts = plan.nodes.iter().filter(|node| node.kind == NodeKind::Host);
    hosts.take(6).map(|node| node.name.clone()).collect()
}

/// Whom each of the hosts reaches during the partition, itself included. Before and after it, each has to reach all.
fn reached(network: &str, hosts: &[String], shape: &str) -> Vec<BTreeSet<usize>> {
    let all = hosts.join(", ");
    let partition =
        if shape == "isolate" { format!("{{isolate: one, of: [{all}]}}") } else { format!("{{{shape}: [{all}]}}") };
    let several = |from: usize| (0..hosts.len()).filter(move |to| *to != from).map(move |to| (from, to));
    let pairs: Vec<(usize, usize)> = (0..hosts.len()).flat_map(several).collect();
    // Spanning trees are made in the first seconds.
    let spans = [("5 s", "5200 ms"), ("6100 ms", "6300 ms"), ("7 s", "7200 ms")];
    let described = |((from, to), (start, stop)): (&(usize, usize), &(&str, &str))| {
        format!(
            "  - {{from: {}, to: {}, kind: constant, rate: 80 kbit/s, size: 200 B, start: {start}, stop: {stop}}}\n",
            hosts[*from], hosts[*to]
        )
    };
    let traffic: String = pairs.iter().flat_map(|pair| spans.iter().map(move |span| described((pair, span)))).collect();
    let timeline = format!("[{{at: 6 s, partition: {partition}, for: 900 ms}}]");
    let text = format!("name: t\ngenerate: {network}\ntimeline: {timeline}\ntraffic:\n{traffic}");
    let outcome = run(&plan(&text));
    let mut reached: Vec<BTreeSet<usize>> = (0..hosts.len()).map(|host| BTreeSet::from([host])).collect();
    for (number, source) in outcome.sources.iter().enumerate() {
        let (from, to) = pairs[number / spans.len()];
        let (sent, lost) = (source.sent_packets, source.lost_packets());
        assert!(sent > 5, "{}: {sent}", source.name);
        let is_during = number % spans.len() == 1;
        assert!(lost == 0 || lost == sent && is_during, "{}: {lost} of {sent} lost, {shape} of {network}", source.name);
        if is_during && lost == 0 {
            reached[from].insert(to);
        }
    }
    reached
}

/// Whether these sets, one of each host, are those of two groups, the smaller of which has a size that is allowed.
fn are_two_groups(reached: &[BTreeSet<usize>], is_allowed: impl Fn(usize) -> bool) -> bool {
    let groups: BTreeSet<_> = reached.iter().collect();
    let sizes: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    sizes.len() == 2 && sizes.iter().sum::<usize>() == reached.len() && is_allowed(sizes[0].min(sizes[1]))
}

#[test]
fn shapes_are_what_they_are_called_in_all_generated_networks() {
    for network in NETWORKS {
        let hosts = hosts(network);
        let count = hosts.len();
        assert!(count >= 4, "{network}: {hosts:?}");
        for shape in SHAPES {
            let reached = reached(network, &hosts, shape);
            let is_mutual = |from: usize| reached[from].iter().all(|to| reached[*to].contains(&from));
            assert!((0..count).all(is_mutual), "{shape} of {network}: {reached:?}");
            let first_half = |host: &usize| *host < count / 2;
            let is_right = match shape {
                "halves" => reached.iter().enumerate().all(|(from, all)| {
                    *all == (0..count).filter(|to| first_half(to) == first_half(&from)).collect::<BTreeSet<_>>()
                }),
                "minority" => are_two_groups(&reached, |size| size * 2 < count),
                "isolate" => are_two_groups(&reached, |size| size == 1),
                "random" => are_two_groups(&reached, |_| true),
                "bridge" => {
                    let of_all = reached.iter().filter(|all| all.len() == count).count();
                    of_all == 1 && reached.iter().collect::<BTreeSet<_>>().len() == 3
                }
                // Each reaches a majority, and no two the same one.
                _ => {
                    let sets: BTreeSet<_> = reached.iter().collect();
                    sets.len() == count && sets.iter().all(|all| all.len() * 2 > count && all.len() < count)
                }
            };
            assert!(is_right, "{shape} of {network}: {reached:?}");
        }
    }
}
