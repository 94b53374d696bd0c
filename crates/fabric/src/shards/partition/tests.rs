use super::*;
use crate::{PortId, RouterInterface, RouterSpec};
use alloc::format;
use netloom_link::{DelayConfig, PipeConfig, RateConfig};
use netloom_units::{Bytes, Duration, Rate};
use proptest::prelude::*;

/// Links between places; a place below `routers` is a router, the others are nodes. Megabits, 0: without a limit; delay in
/// microseconds.
#[derive(Clone, Debug)]
struct Network {
    routers: usize,
    links: Vec<([usize; 2], u64, u64)>,
}

impl Network {
    fn specs(&self) -> (Vec<PipeSpec>, Vec<DeviceSpec>) {
        let mut pipes = Vec::new();
        let mut routers = vec![RouterSpec::default(); self.routers];
        for (link, (ends, megabits, delay)) in (0..).zip(&self.links) {
            let rate = if *megabits == 0 {
                RateConfig::Unlimited
            } else {
                RateConfig::Constant(Rate::from_bits_per_second(megabits * 1_000_000).expect("not zero"))
            };
            let config = PipeConfig {
                rate,
                delay: DelayConfig::constant(Duration::from_micros(*delay)),
                ..PipeConfig::default()
            };
            for end in 0..2 {
                pipes.push(PipeSpec {
                    name: format!("{link}.{end}"),
                    config: config.clone(),
                    coalesce: Duration::ZERO,
                    from: PortId(2 * link + end),
                    filter: None,
                    medium: Vec::new(),
                    to: PortId(2 * link + 1 - end),
                });
                let place = ends[end as usize];
                if let Some(router) = routers.get_mut(place) {
                    router.interfaces.push(interface(PortId(2 * link + end)));
                }
            }
        }
        (pipes, routers.into_iter().map(DeviceSpec::Router).collect())
    }

    fn partition(&self, most: usize, cuts: Cuts) -> Partition {
        let (pipes, routers) = self.specs();
        Partition::new(&pipes, &routers, most, cuts, |_| false)
    }
}

fn interface(port: PortId) -> RouterInterface {
    RouterInterface {
        port,
        mac: [2; 6],
        mtu: Bytes::new(1_500),
        addresses: Vec::new(),
        is_shared: false,
        neighbors: Vec::new(),
        subnets: Vec::new(),
    }
}

/// The shard of each link's forward pipe.
fn of_links(partition: &Partition) -> Vec<usize> {
    partition.of_pipes.iter().step_by(2).copied().collect()
}

/// A chain of routers with a node at each end.
fn chain(routers: usize, delay: impl Fn(usize) -> u64) -> Network {
    let inner = (0..routers - 1).map(|router| ([router, router + 1], 100, delay(router)));
    let outer = [([routers, 0], 100, 1_000), ([routers - 1, routers + 1], 100, 1_000)];
    Network { routers, links: inner.chain(outer).collect() }
}

#[test]
fn links_between_nodes_are_shared_out_evenly() {
    let link = |at: usize, megabits| ([2 * at, 2 * at + 1], megabits, 0);
    let network = Network { routers: 0, links: vec![link(0, 100), link(1, 0), link(2, 100), link(3, 100)] };
    let partition = network.partition(2, Cuts::Never);
    // A link without a limit is heavier than the three others together.
    assert_eq!(of_links(&partition), [0, 1, 0, 0]);
    assert_eq!(network.partition(9, Cuts::Never).count(), 4, "no shard is empty");
    assert_eq!(network.partition(1, Cuts::Never).count(), 1);
    assert_eq!(Network { routers: 0, links: vec![] }.partition(4, Cuts::Never).count(), 1);
}

#[test]
fn links_without_work_need_no_shard() {
    let network = Network { routers: 0, links: vec![([0, 1], 0, 0), ([2, 3], 0, 0), ([4, 5], 10, 0)] };
    let (pipes, routers) = network.specs();
    let of = |idle: fn(PipeId) -> bool| of_links(&Partition::new(&pipes, &routers, 3, Cuts::Never, idle));
    assert_eq!(of(|pipe| pipe.0 < 4), [0, 0, 0]);
    assert_eq!(of(|pipe| pipe.0 < 2), [0, 0, 1]);
}

#[test]
fn routers_hold_their_links_together_unless_they_may_be_cut() {
    let chain = chain(10, |_| 1_000);
    assert_eq!(chain.partition(4, Cuts::Never).count(), 1);
    let halves = chain.partition(2, Cuts::WhereDelayed);
    assert_eq!(halves.count(), 2);
    let changes = |shards: &[usize]| shards.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(changes(&halves.of_devices), 1, "one cut is enough: {halves:?}");
    let [first, second] = halves.weights[..] else { panic!("two shards") };
    assert!(first.abs_diff(second) <= first / 4, "{halves:?}");
}

#[test]
fn the_longest_delay_is_cut_and_none_never() {
    let chain_of = |long: usize| chain(6, move |router| if router == long { 10_000 } else { 100 });
    assert_eq!(chain_of(2).partition(2, Cuts::WhereDelayed).of_devices, [0, 0, 0, 1, 1, 1]);
    let instant = chain(6, |_| 0);
    assert_eq!(instant.partition(3, Cuts::WhereDelayed).count(), 1);
    // Only where there is a delay: here on one side of the middle.
    let partly = chain(6, |router| u64::from(router == 1) * 50);
    assert_eq!(partly.partition(3, Cuts::WhereDelayed).of_devices, [0, 0, 1, 1, 1, 1]);
}

#[test]
fn of_equal_delays_the_light_pipe_is_cut() {
    let mut star = chain(4, |_| 1_000);
    star.links[0].1 = 1_000;
    star.links[1].1 = 10;
    star.links[2].1 = 1_000;
    assert_eq!(star.partition(2, Cuts::WhereDelayed).of_devices, [0, 0, 1, 1]);
}

fn networks() -> impl Strategy<Value = Network> {
    (0..12_usize, 1..8_usize).prop_flat_map(|(routers, nodes)| {
        let place = 0..routers + nodes;
        let megabits = prop_oneof![Just(0), 1..2_000_u64];
        let delay = prop_oneof![Just(0), 1..100_000_u64];
        proptest::collection::vec(([place.clone(), place], megabits, delay), 1..40)
            .prop_map(move |links| Network { routers, links })
    })
}

proptest! {
    #[test]
    fn what_cannot_be_cut_is_never_cut(network in networks(), most in 1..6_usize) {
        let (pipes, routers) = network.specs();
        for cuts in [Cuts::Never, Cuts::WhereDelayed] {
            let partition = Partition::new(&pipes, &routers, most, cuts, |_| false);
            prop_assert_eq!(&partition, &Partition::new(&pipes, &routers, most, cuts, |_| false));
            prop_assert!((1..=most).contains(&partition.count()));
            prop_assert_eq!(partition.of_pipes.len(), pipes.len());
            let used = |shard: usize| partition.of_pipes.contains(&shard);
            prop_assert!((0..partition.count()).all(used), "no shard is empty: {:?}", partition);
            let total: u64 = partition.weights.iter().sum();
            let heaviest = *partition.weights.iter().max().unwrap();
            let mut parts = Parts::new(&pipes, &routers, cuts, |_| false);
            parts.join_up_to(total.div_ceil(most as u64));
            let largest = *parts.weights.iter().max().unwrap();
            // Graham's bound for handing out the heaviest first, with a little for parts that are at home elsewhere.
            prop_assert!(heaviest <= total.div_ceil(most as u64) + largest, "{:?} of {}", partition, total);
            for (pipe, of_pipe) in pipes.iter().zip(&partition.of_pipes) {
                let at = |port: PortId| {
                    let device = routers.iter().position(|device| device.ports().contains(&port));
                    device.map(|device| partition.of_device(device))
                };
                // What enters a pipe comes from its own shard.
                prop_assert!(at(pipe.from).is_none_or(|shard| shard == *of_pipe));
                let is_cut = at(pipe.to).is_some_and(|shard| shard != *of_pipe);
                let may_be_cut = cuts == Cuts::WhereDelayed && pipe.config.least_delay() > Duration::ZERO;
                prop_assert!(!is_cut || (may_be_cut && at(pipe.from).is_some()));
            }
        }
    }
}

#[test]
fn ports_that_are_served_together_are_in_one_shard() {
    // Four links between eight nodes.
    let network = Network { routers: 0, links: (0..4).map(|link| ([2 * link, 2 * link + 1], 10, 1_000)).collect() };
    let (pipes, devices) = network.specs();
    let shards = |together: &[Vec<PortId>]| {
        let all = Partition::keeping(&pipes, &devices, 4, Cuts::WhereDelayed, |_| false, together);
        (0..4).map(|link| all.of_pipe(PipeId(2 * link))).collect::<Vec<_>>()
    };
    assert_eq!(shards(&[]), [0, 1, 2, 3]);
    assert_eq!(shards(&[vec![PortId(1), PortId(4), PortId(6)]]), [0, 1, 0, 0]);
    assert_eq!(shards(&[vec![PortId(1)], vec![PortId(2), PortId(5)]]), [0, 1, 1, 2]);
}
