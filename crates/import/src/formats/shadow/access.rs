//! Where the lab has the latency of an edge: as much of it as can be on the links of hosts, and the rest between the routers.
//!
//! In virtual time a kernel runs ahead for as long as nothing can reach it, and a router may answer at once what a host sends. With
//! all delay between the routers, hosts would have to stop at each frame. From host to host every path takes as long as before.

use netloom_units::Duration;

/// Among so many nodes all paths are compared; larger graphs keep their latencies where they are.
const MOST_NODES: usize = 400;

/// What hosts make of a node of the graph.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Site {
    /// How many hosts are there.
    pub(super) hosts: usize,
    /// The latency of its edge to itself, if it has one.
    pub(super) within: Option<Duration>,
}

/// An edge between two nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// The numbers of both nodes.
    pub(super) ends: [usize; 2],
    pub(super) is_directed: bool,
    pub(super) delay: Duration,
    /// What routes add up.
    pub(super) cost: u64,
}

/// Returns how much delay the links of the hosts at each node have, each way: as much as all edges of that node have to spare. It is
/// none at nodes that paths between other nodes pass, since these do not take the links of hosts.
pub(super) fn shares(sites: &[Site], spans: &[Span]) -> Vec<Duration> {
    let mut shares = vec![Duration::ZERO; sites.len()];
    if sites.len() > MOST_NODES || have_parallels(spans) {
        return shares;
    }
    let is_passed = passed(sites.len(), spans);
    let is_end = |node: usize| sites[node].hosts > 0 && !is_passed[node];
    let divided = |delay: Duration, by: u64| Duration::from_nanos(delay.as_nanos() / by);
    for node in (0..sites.len()).filter(|node| is_end(*node)) {
        let spare = |span: &Span| {
            let other = if span.ends[0] == node { span.ends[1] } else { span.ends[0] };
            divided(span.delay, if is_end(other) { 2 } else { 1 })
        };
        let own = spans.iter().filter(|span| span.ends.contains(&node)).map(spare);
        let within = sites[node].within.filter(|_| sites[node].hosts > 1).map(|within| divided(within, 2));
        shares[node] = own.chain(within).min().unwrap_or_default();
    }
    shares
}

/// Whether two edges join the same nodes in the same direction.
fn have_parallels(spans: &[Span]) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    spans.iter().any(|span| {
        let [one, other] = span.ends;
        let is_new = seen.insert((one, other)) && (span.is_directed || seen.insert((other, one)));
        !is_new
    })
}

/// Which nodes are on a shortest path between two others (Floyd 1962).
fn passed(count: usize, spans: &[Span]) -> Vec<bool> {
    let mut costs = vec![vec![None; count]; count];
    for Span { ends: [one, other], cost, .. } in spans {
        for (from, to) in [(*one, *other), (*other, *one)] {
            // A link has one cost for both directions: the larger one.
            costs[from][to] = costs[from][to].max(Some(*cost));
        }
    }
    for by in 0..count {
        for from in 0..count {
            let Some(first) = costs[from][by] else { continue };
            let onwards = costs[by].clone();
            for (known, second) in costs[from].iter_mut().zip(onwards) {
                let Some(around) = second.map(|second| first + second) else { continue };
                *known = Some(known.map_or(around, |least: u64| least.min(around)));
            }
        }
    }
    let is_on_a_path = |by: usize| {
        let others = || (0..count).filter(|other| *other != by);
        others().any(|from| {
            others().filter(|to| *to != from).any(|to| {
                let around = costs[from][by].zip(costs[by][to]).map(|(first, second)| first + second);
                around.is_some() && around <= costs[from][to]
            })
        })
    };
    (0..count).map(is_on_a_path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn span(one: usize, other: usize, delay: u64) -> Span {
        Span { ends: [one, other], is_directed: false, delay: ms(delay), cost: delay }
    }

    fn site(hosts: usize, within: Option<u64>) -> Site {
        Site { hosts, within: within.map(ms) }
    }

    #[test]
    fn ends_share_the_latency_between_them() {
        let sites = [site(1, Some(2)), site(1, None)];
        assert_eq!(shares(&sites, &[span(0, 1, 10)]), [ms(5), ms(5)]);
        // Hosts at one node are no further apart than its edge to itself says.
        assert_eq!(shares(&[site(2, Some(2)), site(1, None)], &[span(0, 1, 10)]), [ms(1), ms(5)]);
        // Where there is no host, nothing adds up again.
        assert_eq!(shares(&[site(3, None), site(0, None)], &[span(0, 1, 10)]), [ms(10), ms(0)]);
    }

    #[test]
    fn what_others_pass_keeps_its_latencies() {
        let sites = [site(1, None); 3];
        // From 0 to 2 the way by 1 is shorter, or as long.
        for direct in [50, 30] {
            let spans = [span(0, 1, 10), span(1, 2, 20), span(0, 2, direct)];
            assert_eq!(shares(&sites, &spans), [ms(10), ms(0), ms(direct / 2).min(ms(20))]);
        }
        let spans = [span(0, 1, 10), span(1, 2, 20), span(0, 2, 29)];
        assert_eq!(shares(&sites, &spans), [ms(5), ms(5), ms(10)]);
    }

    #[test]
    fn both_directions_of_a_link_have_the_same_share() {
        let one_way = |one, other, delay| Span { is_directed: true, ..span(one, other, delay) };
        let sites = [site(1, None); 2];
        assert_eq!(shares(&sites, &[one_way(0, 1, 10), one_way(1, 0, 6)]), [ms(3), ms(3)]);
        assert_eq!(shares(&sites, &[span(0, 1, 10), span(1, 0, 6)]), [ms(0), ms(0)], "two links");
    }
}
