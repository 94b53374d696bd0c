//! Deliveries ahead of time are those that come on time: random pipes of all models, driven in both ways.
//!
//! The cases are the same in every run; `PROPTEST_CASES=20000` tries more of them.

#[path = "common/ahead.rs"]
mod ahead;

use ahead::{Event, Network, assert_same};
use netloom_fabric::{Delivery, Fabric, PipeId, PipeSpec, PortId};
use netloom_link::PipeConfig;
use netloom_packet::{Packet, Pool};
use netloom_testing::loads::{Load, first_segment, number};
use netloom_testing::models::{changes, configs, loads};
use netloom_units::{Duration, Instant, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Pipes beside each other.
#[derive(Debug)]
struct Pipes(Vec<PipeSpec>);

/// At which instant what happens. A load has a pipe and a congestion mark.
type Events = Vec<(Instant, Event<(u32, Load, u8)>)>;

fn specs() -> impl Strategy<Value = Vec<PipeSpec>> {
    let window = prop_oneof![Just(0), 0..100_000_u64, 0..5_000_000_u64].prop_map(Duration::from_nanos);
    vec((configs(), window), 1..4).prop_map(|pipes| {
        let spec = |(index, (config, coalesce)): (u32, (PipeConfig, Duration))| PipeSpec {
            name: format!("link{index}"),
            config,
            coalesce,
            from: PortId(index),
            filter: None,
            medium: Vec::new(),
            to: PortId(index + 100),
        };
        (0..).zip(pipes).map(spec).collect()
    })
}

fn cases() -> impl Strategy<Value = (Pipes, Events)> {
    let happening = prop_oneof![
        12 => (loads(), 0..4_u8).prop_map(|(load, ecn)| Event::Send((0, load, ecn))),
        1 => changes().prop_map(|change| Event::Change(PipeId(0), Box::new(change))),
        1 => any::<bool>().prop_map(|up| Event::Up(PipeId(0), up)),
    ];
    let pause = prop_oneof![Just(0), 1..20_000_u64, 1..2_000_000_u64];
    (specs(), vec((pause, any::<prop::sample::Index>(), happening), 1..60)).prop_map(|(specs, events)| {
        let mut now = Instant::ZERO;
        let place = |(gap, index, event): (u64, prop::sample::Index, Event<_>)| {
            now = now + Duration::from_nanos(gap);
            let pipe = u32::try_from(index.index(specs.len())).expect("few pipes");
            let event = match event {
                Event::Send((_, load, ecn)) => Event::Send((pipe, load, ecn)),
                Event::Change(_, change) => Event::Change(PipeId(pipe), change),
                Event::Up(_, up) => Event::Up(PipeId(pipe), up),
            };
            (now, event)
        };
        let events = events.into_iter().map(place).collect();
        (Pipes(specs), events)
    })
}

/// A delivery: pipe, packet, first segment, segments, due, first due.
type Record = (u32, u32, u32, u32, Instant, Instant);

impl Network for Pipes {
    type Load = (u32, Load, u8);
    type Record = Record;

    fn fabric(&self) -> Fabric {
        Fabric::new(Seed::new(7), &self.0)
    }

    fn packet(&self, pool: &mut Pool, number: usize, (pipe, load, ecn): &Self::Load) -> (PortId, Packet) {
        (PortId(*pipe), load.packet_with(pool, u32::try_from(number).expect("few"), *ecn))
    }

    fn record(delivery: &Delivery) -> Record {
        let Delivery { pipe, departure, .. } = delivery;
        let packet = &departure.packet;
        (pipe.0, number(packet), first_segment(packet), packet.segments(), departure.due, departure.first_due)
    }
}

/// For how long the pipes are called after the last event.
const LINGER: Duration = Duration::from_millis(500);

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn ahead_of_time_is_on_time((pipes, events) in cases()) {
        assert_same(&pipes, &events, LINGER);
    }
}
