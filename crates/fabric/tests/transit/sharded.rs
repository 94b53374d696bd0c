//! A fabric in shards does what it does in one piece, to the nanosecond and to the last counter: random networks of random
//! pipes, played by one, two, three and four shards.
//!
//! The shards are conservative (Chandy and Misra 1979; Bryant 1977): each plays as far as it knows what reaches it, and
//! tells those beyond its borders what they will get and until when that is all. Which of them plays next is drawn.

use crate::answers::fix;
use crate::mesh::{Mesh, address, port};
use crate::network::{mac, stream};
use netloom_fabric::{Border, Cuts, Delivery, Partition, PipeId, Place, PortId, RouterCounters, Shard, shards};
use netloom_link::{Departure, PipeChange, PipeConfig, PipeCounters};
use netloom_packet::Pool;
use netloom_testing::models::{change, changes, configs};
use netloom_testing::streams::written;
use netloom_units::{Duration, Instant, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::RngSeed;
use std::collections::VecDeque;

const LINGER: Duration = Duration::from_millis(100);

/// A packet or train from one host to another.
#[derive(Clone, Debug)]
struct Sending {
    at: Instant,
    from: usize,
    to: usize,
    payload: usize,
    ttl: u8,
}

#[derive(Clone, Debug)]
enum Action {
    Change(Box<PipeChange>),
    Up(bool),
}

#[derive(Clone, Debug)]
struct Case {
    mesh: Mesh,
    sendings: Vec<Sending>,
    actions: Vec<(Instant, PipeId, Action)>,
    end: Instant,
}

/// A spanning tree, and some links more.
fn between() -> impl Strategy<Value = (usize, Vec<[usize; 2]>)> {
    (2..8_usize).prop_flat_map(|routers| {
        let tree = vec(any::<prop::sample::Index>(), routers - 1);
        let more = vec((0..routers, 0..routers), 0..3);
        (tree, more).prop_map(move |(tree, more)| {
            let tree = tree.iter().enumerate().map(|(place, pick)| [pick.index(place + 1), place + 1]);
            let more = more.into_iter().filter(|(one, other)| one != other).map(|(one, other)| [one, other]);
            (routers, tree.chain(more).collect())
        })
    })
}

/// Between routers most pipes have a delay that is never below some bound, so that there is something to cut.
fn models() -> impl Strategy<Value = (PipeConfig, bool, usize)> {
    (configs(), prop::bool::weighted(0.8), 0..4_usize)
}

fn delayed(config: &PipeConfig, form: usize) -> PipeConfig {
    let delay =
        ["1 ms", "30 us", "{kind: uniform, from: 200 us, to: 2 ms}", "{kind: normal, mean: 2 ms, deviation: 200 us}"];
    let plain = PipeConfig::default();
    let config = PipeConfig { reorder: plain.reorder, schedule: plain.schedule, ..config.clone() };
    change("delay", delay[form]).applied_to(&config)
}

fn cases() -> impl Strategy<Value = Case> {
    let sending = (
        0..2_000_000_u64,
        any::<[prop::sample::Index; 2]>(),
        1..6_000_usize,
        prop_oneof![3 => Just(64_u8), 1 => 1..4_u8],
    );
    let act =
        prop_oneof![changes().prop_map(|change| Action::Change(Box::new(change))), any::<bool>().prop_map(Action::Up),];
    let actions = vec((0..60_000_000_u64, any::<prop::sample::Index>(), act), 0..6);
    (between(), vec(models(), 1..40), vec(sending, 1..60), actions).prop_map(
        |((routers, links), models, sent, actions)| {
            let mut models = models.into_iter().cycle();
            let mesh = Mesh::new(routers, &links, |is_between| {
                let (config, is_delayed, form) = models.next().unwrap();
                if is_between && is_delayed { delayed(&config, form) } else { config }
            });
            let mut now = Instant::ZERO;
            let sendings = sent.into_iter().map(|(gap, hosts, payload, ttl)| {
                // Often several at one instant.
                now = now + Duration::from_nanos(gap.saturating_sub(500_000));
                let [from, to] = hosts.map(|host| host.index(routers));
                Sending { at: now, from, to, payload, ttl }
            });
            let sendings: Vec<Sending> = sendings.collect();
            let mut actions: Vec<(Instant, PipeId, Action)> = actions
                .into_iter()
                .map(|(at, pipe, action)| {
                    let pipe = pipe.index(mesh.pipes.len());
                    (Instant::from_nanos(at), PipeId(u32::try_from(pipe).unwrap()), action)
                })
                // Nobody can know in advance that a delay ends by hand.
                .filter(|(_, pipe, action)| !shortens(&mesh, *pipe, action))
                .collect();
            actions.sort_by_key(|(at, pipe, _)| (*at, *pipe));
            Case { mesh, sendings, actions, end: now + LINGER }
        },
    )
}

fn shortens(mesh: &Mesh, pipe: PipeId, action: &Action) -> bool {
    let Action::Change(change) = action else { return false };
    let touches = change.delay.is_some() || change.reorder.is_some() || change.schedule.is_some();
    touches && pipe.0 as usize >= 2 * mesh.routers.len()
}

/// A delivery at a host: port, headers and payload, segments, due, first due.
type Record = (PortId, Vec<u8>, u32, Instant, Instant);

/// What came of it: deliveries by pipe, counters by pipe, counters by router.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    records: Vec<Vec<Record>>,
    pipes: Vec<PipeCounters>,
    routers: Vec<RouterCounters>,
}

/// What is known at a border: packets that will come, and before when that is all.
#[derive(Default)]
struct Crossing {
    coming: VecDeque<Departure>,
    known: Instant,
}

struct Part {
    shard: Shard,
    pool: Pool,
    /// The numbers of its sendings that have not happened.
    sendings: VecDeque<usize>,
    /// The borders that lead here: their places, and the inlets.
    inlets: Vec<(usize, PipeId)>,
    /// The borders that lead away.
    exits: Vec<(usize, Border)>,
    records: Vec<(PipeId, Record)>,
}

struct Parts<'a> {
    case: &'a Case,
    parts: Vec<Part>,
    crossings: Vec<Crossing>,
    crossed: usize,
}

impl<'a> Parts<'a> {
    fn new(case: &'a Case, most: usize) -> Self {
        let Mesh { pipes, routers } = &case.mesh;
        let partition = Partition::new(pipes, routers, most, Cuts::WhereDelayed, |_| false);
        let mut this = Self { case, parts: Vec::new(), crossings: Vec::new(), crossed: 0 };
        for shard in shards(Seed::new(7), pipes, routers, &partition) {
            let is_here = |number: &usize| shard.ports.contains(&port(case.sendings[*number].from, 0));
            let sendings = (0..case.sendings.len()).filter(is_here).collect();
            let (inlets, exits, records) = (Vec::new(), Vec::new(), Vec::new());
            this.parts.push(Part { shard, pool: Pool::default(), sendings, inlets, exits, records });
        }
        for number in 0..this.parts.len() {
            for border in this.parts[number].shard.borders.clone() {
                this.parts[number].exits.push((this.crossings.len(), border));
                this.parts[border.shard].inlets.push((this.crossings.len(), border.inlet));
                this.crossings.push(Crossing::default());
            }
        }
        this
    }

    /// Plays everything until `end`, and lets shards take turns at random.
    fn play(mut self, mut chance: u64) -> (Outcome, usize, usize) {
        let actions = &self.case.actions;
        let mut done = 0;
        for until in actions.iter().map(|(at, ..)| *at).chain([self.case.end]) {
            let mut clocks = vec![Instant::ZERO; self.parts.len()];
            let mut idle = 0;
            while clocks.iter().any(|clock| *clock < until) {
                chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let part = usize::try_from(chance >> 33).unwrap() % self.parts.len();
                let before = clocks[part];
                clocks[part] = self.turn(part, until);
                idle = if clocks[part] > before { 0 } else { idle + 1 };
                assert!(idle < 10_000, "nobody can go on: {clocks:?} until {until}");
            }
            if let Some((at, pipe, action)) = actions.get(done) {
                self.act(*at, *pipe, action);
                done += 1;
            }
        }
        let parts = self.parts.len();
        (self.outcome(), parts, self.crossed)
    }

    /// One shard plays as far as it can, and returns how far it got: nothing before that is left to be done.
    fn turn(&mut self, number: usize, until: Instant) -> Instant {
        let Self { case, parts, crossings, crossed } = self;
        let part = &mut parts[number];
        let all_known = part.inlets.iter().map(|(crossing, _)| crossings[*crossing].known).min();
        let bound = all_known.unwrap_or(Instant::MAX).min(until);
        for (crossing, inlet) in &part.inlets {
            for departure in crossings[*crossing].coming.drain(..) {
                *crossed += 1;
                part.shard.fabric.cross(*inlet, departure);
            }
        }
        part.play(case, bound, crossings);
        for (crossing, border) in &part.exits {
            let Crossing { coming, known } = &mut crossings[*crossing];
            let fabric = &mut part.shard.fabric;
            let certain =
                fabric.take_certain(bound, border.pipe, until, |delivery| coming.push_back(delivery.departure));
            *known = certain.max(*known);
        }
        bound
    }

    fn act(&mut self, at: Instant, pipe: PipeId, action: &Action) {
        for Part { shard, .. } in &mut self.parts {
            let Some(own) = (0..).zip(&shard.pipes).find(|(_, place)| **place == Place::Own(pipe)) else { continue };
            match action {
                Action::Change(change) => shard.fabric.change(at, PipeId(own.0), change),
                Action::Up(up) => shard.fabric.set_up(at, PipeId(own.0), *up),
            }
        }
    }

    fn outcome(&mut self) -> Outcome {
        let mut outcome = Outcome {
            records: vec![Vec::new(); self.case.mesh.pipes.len()],
            pipes: vec![PipeCounters::default(); self.case.mesh.pipes.len()],
            routers: vec![RouterCounters::default(); self.case.mesh.routers.len()],
        };
        for Part { shard, records, .. } in &mut self.parts {
            shard.fabric.settle(self.case.end);
            for (place, counted) in shard.pipes.iter().zip(shard.fabric.counters()) {
                if let Place::Own(pipe) = place {
                    outcome.pipes[pipe.0 as usize] = *counted;
                }
            }
            for (router, counted) in shard.routers.iter().zip(shard.fabric.router_counters()) {
                outcome.routers[*router] = *counted;
            }
            for (pipe, record) in records.drain(..) {
                let Place::Own(whole) = shard.pipes[pipe.0 as usize] else { panic!("an inlet leads to a router") };
                outcome.records[whole.0 as usize].push(record);
            }
        }
        outcome
    }
}

impl Part {
    /// Plays what happens before `bound`.
    fn play(&mut self, case: &Case, bound: Instant, crossings: &mut [Crossing]) {
        let Self { shard: Shard { fabric, .. }, pool, sendings, records, exits, .. } = self;
        let mut hand_out = |delivery: Delivery| {
            let Delivery { pipe, port, departure } = delivery;
            if let Some((crossing, _)) = exits.iter().find(|(_, border)| border.pipe == pipe) {
                return crossings[*crossing].coming.push_back(departure);
            }
            let (packet, bytes) = (&departure.packet, written(&departure.packet).1);
            records.push((pipe, (port, bytes, packet.segments(), departure.due, departure.first_due)));
        };
        loop {
            let sending = sendings.front().map(|number| case.sendings[*number].at);
            let next = fabric.next_wake().into_iter().chain(sending).min();
            let Some(now) = next.filter(|now| *now < bound) else { break };
            fabric.advance(now, &mut hand_out);
            while let Some(number) = sendings.front().copied().filter(|number| case.sendings[*number].at == now) {
                sendings.pop_front();
                let Sending { from, to, payload, ttl, .. } = case.sendings[number];
                let (virtio, mut frame) = stream(false, u16::try_from(number * 100).unwrap(), payload).super_packet();
                frame[..6].copy_from_slice(&mac(port(from, 1).0));
                frame[26..30].copy_from_slice(&address(from, 0).octets());
                frame[30..34].copy_from_slice(&address(to, 0).octets());
                frame[22] = ttl;
                fix(&mut frame);
                fabric.inject(now, port(from, 0), pool.packet(virtio, &frame)).unwrap();
                fabric.advance(now, &mut hand_out);
            }
            fabric.recycle(pool);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn shards_do_what_the_whole_does(case in cases(), chance: u64) {
        let (whole, ..) = Parts::new(&case, 1).play(chance);
        for most in 2..=4 {
            let (parted, ..) = Parts::new(&case, most).play(chance);
            prop_assert_eq!(&parted.records, &whole.records);
            prop_assert_eq!(&parted.pipes, &whole.pipes);
            prop_assert_eq!(&parted.routers, &whole.routers);
        }
    }
}

/// The property above says something: most networks are cut, and packets cross.
#[test]
fn most_cases_cross_borders() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut crossing = 0;
    for _ in 0..40 {
        let case = cases().new_tree(&mut runner).unwrap().current();
        let (_, parts, crossed) = Parts::new(&case, 3).play(1);
        crossing += usize::from(parts == 3 && crossed > 5);
    }
    assert!(crossing > 20, "{crossing} of 40");
}
