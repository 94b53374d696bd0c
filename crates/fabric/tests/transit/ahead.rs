//! Deliveries ahead of time are those that come on time, behind routers, too: random pipes of all models.

use crate::network::{Chain, mac, stream};
use crate::player::{Event, Network, assert_same};
use netloom_fabric::{Delivery, Fabric, PipeId, PortId};
use netloom_packet::{Packet, Pool};
use netloom_testing::models::{changes, configs};
use netloom_testing::streams::written;
use netloom_units::{Duration, Instant};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// For how long the pipes are called after the last event.
const LINGER: Duration = Duration::from_millis(300);

/// From the sender, the receiver or a side host; a train or a packet, to either end, with so many hops to live.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    from: PortId,
    payload: usize,
    back: bool,
    ttl: u8,
}

type Case = (Chain, Vec<(Instant, Event<Load>)>);

fn cases() -> impl Strategy<Value = Case> {
    let window = prop_oneof![Just(0), 0..100_000_u64, 0..5_000_000_u64].prop_map(Duration::from_nanos);
    let happening = prop_oneof![
        12 => (1..6_000_usize, any::<bool>(), prop_oneof![3 => Just(64_u8), 1 => 1..4_u8]).prop_map(|(payload, back, ttl)| {
            Event::Send(Load { from: PortId(0), payload, back, ttl })
        }),
        1 => changes().prop_map(|change| Event::Change(PipeId(0), Box::new(change))),
        1 => any::<bool>().prop_map(|up| Event::Up(PipeId(0), up)),
    ];
    let pause = prop_oneof![Just(0), 1..20_000_u64, 1..2_000_000_u64];
    let events = vec((pause, any::<u32>(), happening), 1..40);
    (1..4_usize, vec((configs(), window), 1..14), events).prop_map(|(routers, models, events)| {
        let mut models = models.into_iter().cycle();
        let chain = Chain::new(routers, || models.next().unwrap());
        let (pipes, end) = (u32::try_from(chain.pipes.len()).unwrap(), u32::try_from(routers).unwrap());
        let mut now = Instant::ZERO;
        let place = |(gap, pick, event): (u64, u32, Event<Load>)| {
            now = now + Duration::from_nanos(gap);
            let event = match event {
                Event::Send(load) => {
                    let from = match pick % (end + 2) {
                        0 => PortId(0),
                        1 => PortId(2 * end + 1),
                        side => PortId(2 * (end + side - 1)),
                    };
                    Event::Send(Load { from, ..load })
                }
                Event::Change(_, change) => Event::Change(PipeId(pick % pipes), change),
                Event::Up(_, up) => Event::Up(PipeId(pick % pipes), up),
            };
            (now, event)
        };
        let events = events.into_iter().map(place).collect();
        (chain, events)
    })
}

impl Network for Chain {
    type Load = Load;
    /// A delivery: pipe, port, headers and payload, segments, due, first due.
    type Record = (u32, u32, Vec<u8>, u32, Instant, Instant);

    fn fabric(&self) -> Fabric {
        self.fabric()
    }

    fn packet(&self, pool: &mut Pool, number: usize, load: &Load) -> (PortId, Packet) {
        let (virtio, mut frame) = stream(false, u16::try_from(number * 100).unwrap(), load.payload).super_packet();
        frame[..6].copy_from_slice(&mac(load.from.0 ^ 1));
        if load.back {
            // The sum of both addresses is the same.
            frame[26..34].rotate_left(4);
        }
        frame[22] = load.ttl;
        (load.from, pool.packet(virtio, &frame))
    }

    fn record(delivery: &Delivery) -> Self::Record {
        let Delivery { pipe, port, departure } = delivery;
        let (packet, bytes) = (&departure.packet, written(&departure.packet).1);
        (pipe.0, port.0, bytes, packet.segments(), departure.due, departure.first_due)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn ahead_of_time_is_on_time((chain, events) in cases()) {
        assert_same(&chain, &events, LINGER);
    }
}

/// What is on its way along a chain is known for as long as the whole chain takes.
#[test]
fn paths_add_up() {
    let chain = Chain::plain(9, Duration::from_millis(1));
    // From the sender to the receiver it takes ten links, but between two hosts at the sides of one router two.
    assert_eq!(chain.fabric().lookahead_until(Instant::ZERO), Instant::ZERO + Duration::from_millis(2));
}
