//! Packets that are taken ahead of the instant at which they are due: as a driver does for a path that takes time itself.

use netloom_fabric::{Delivery, Fabric, PipeId, PipeSpec, PortId};
use netloom_link::{DelayConfig, Distribution, PipeConfig, Uniform};
use netloom_packet::Packet;
use netloom_units::{Duration, Instant, Rate, Seed};
use proptest::prelude::*;

const AHEAD: Duration = Duration::from_millis(5);
/// 1,000 bits take 10 us.
const RATE: Option<Rate> = Rate::from_bits_per_second(100_000_000);

/// A pipe from port 0 to port 1, and another that leads elsewhere.
fn fabric(config: &PipeConfig) -> Fabric {
    let spec = |from: u32, to: u32| PipeSpec {
        name: format!("{from}"),
        config: config.clone(),
        coalesce: Duration::ZERO,
        from: PortId(from),
        filter: None,
        medium: Vec::new(),
        to: PortId(to),
    };
    Fabric::new(Seed::new(1), &[spec(0, 1), spec(1, 0)])
}

/// A packet of 1,000 bits from its IP header on, with this number.
fn packet(number: u8) -> Packet {
    let mut bytes = vec![0; 14 + 125];
    bytes[138] = number;
    Packet::from_bytes(bytes.into())
}

fn seen(delivery: &Delivery) -> (u8, Instant) {
    (delivery.departure.packet.bytes()[138], delivery.departure.due)
}

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

#[test]
fn what_has_left_the_transmitter_is_taken_with_the_instant_at_which_it_is_due() {
    let config = PipeConfig { rate: RATE.into(), delay: Duration::from_millis(20).into(), ..PipeConfig::default() };
    let mut fabric = fabric(&config);
    assert_eq!(fabric.pipes_to(PortId(1)).collect::<Vec<_>>(), [PipeId(0)]);
    assert_eq!(fabric.next_ahead(PipeId(0), AHEAD), None);
    (0..3).for_each(|number| assert!(fabric.inject(at(0), PortId(0), packet(number)).is_ok()));
    let mut got = Vec::new();
    let mut take = |of: &mut Fabric, now: Instant| {
        got.clear();
        of.take_ahead(now, PipeId(0), now + AHEAD, |delivery| got.push(seen(&delivery)));
        got.clone()
    };
    // The first is sent after 10 us, and due after 20,010.
    assert_eq!(fabric.next_ahead(PipeId(0), AHEAD), Some(at(15_010)));
    assert_eq!(take(&mut fabric, at(15_010)), []);
    assert_eq!(take(&mut fabric, at(15_015)), [(0, at(20_010))]);
    assert_eq!(fabric.next_ahead(PipeId(0), AHEAD), Some(at(15_020)));
    assert_eq!(take(&mut fabric, at(15_031)), [(1, at(20_020)), (2, at(20_030))]);
    assert_eq!(fabric.next_ahead(PipeId(0), AHEAD), None);
    // What is on the transmitter cannot leave before it is sent, however early it might.
    assert!(fabric.inject(at(30_000), PortId(0), packet(3)).is_ok());
    assert_eq!(fabric.next_ahead(PipeId(0), Duration::from_millis(50)), Some(at(30_010)));
    let mut late = Vec::new();
    fabric.advance(at(60_000), |delivery| late.push(seen(&delivery)));
    assert_eq!(late, [(3, at(50_010))]);
}

proptest! {
    /// However often and however far ahead packets are taken, they are the same as on time, and due at the same instants.
    #[test]
    fn packets_taken_ahead_are_due_as_on_time(
        gaps in proptest::collection::vec(0_u64..3_000, 1..60), steps in 1_u64..4_000, jitter in any::<bool>(),
    ) {
        let delay = if jitter {
            let spread = Distribution::Uniform(Uniform {
                from: Duration::from_millis(3),
                to: Duration::from_millis(9),
                below: Duration::ZERO,
            });
            DelayConfig { distribution: spread, ..DelayConfig::default() }
        } else {
            Duration::from_millis(6).into()
        };
        let config = PipeConfig { rate: RATE.into(), delay, ..PipeConfig::default() };
        let (mut on_time, mut early) = (fabric(&config), fabric(&config));
        let (mut expected, mut got) = (Vec::new(), Vec::new());
        let mut now = 0;
        let mut next = 0;
        for (number, gap) in (0_u8..).zip(&gaps) {
            now += gap;
            while next < now {
                early.advance(at(next), |delivery| got.push(seen(&delivery)));
                early.take_ahead(at(next), PipeId(0), at(next) + AHEAD, |delivery| got.push(seen(&delivery)));
                next += steps;
            }
            on_time.advance(at(now), |delivery| expected.push(seen(&delivery)));
            prop_assert!(on_time.inject(at(now), PortId(0), packet(number)).is_ok());
            prop_assert!(early.inject(at(now), PortId(0), packet(number)).is_ok());
        }
        on_time.advance(at(now + 50_000), |delivery| expected.push(seen(&delivery)));
        early.take_ahead(at(now + 1_000), PipeId(0), at(now + 50_000), |delivery| got.push(seen(&delivery)));
        early.advance(at(now + 50_000), |delivery| got.push(seen(&delivery)));
        got.sort_by_key(|(_, due)| *due);
        expected.sort_by_key(|(_, due)| *due);
        prop_assert_eq!(got, expected);
    }
}
