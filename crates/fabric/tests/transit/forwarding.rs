//! What is passed on.

use crate::network::{Chain, all, mac, stream};
use netloom_fabric::{PortId, RouterCounters};
use netloom_packet::Pool;
use netloom_testing::streams::{accepts, received, written};
use netloom_units::{Duration, Instant};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const MS: Duration = Duration::from_millis(1);

/// What a packet of the sender looks like behind so many routers, by the book: every header written anew.
fn behind(frame: &[u8], routers: u8, port: PortId) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[..6].copy_from_slice(&mac(port.0));
    frame[6..12].copy_from_slice(&mac(port.0 - 1));
    if frame[12..14] == [0x86, 0xdd] {
        frame[21] -= routers;
    } else {
        frame[22] -= routers;
        frame[24..26].fill(0);
        let sum = !netloom_testing::streams::ones_complement(&frame[14..34]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
    }
    frame
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    /// A train behind routers is what its segments are behind routers: at the same instant, whole or cut on its way.
    #[test]
    fn a_train_is_its_segments(v6: bool, id: u16, payload in 1..20_000_usize, routers in 1..9_u8, rate: bool, mark: bool) {
        let mut chain = Chain::plain(usize::from(routers), MS);
        if rate {
            let limit = netloom_lab::parse_change("rate", "100 Mbit/s").unwrap();
            chain.pipes.iter_mut().for_each(|pipe| pipe.config = limit.applied_to(&pipe.config));
        }
        let stream = stream(v6, id, payload);
        let (virtio, frame) = stream.super_packet();
        let mut pool = Pool::default();
        let mut fabric = chain.fabric();
        let mut train = pool.packet(virtio, &frame);
        if mark {
            // Its sender is not capable of that, which must not matter.
            train.mark_congested();
        }
        let segments = u64::from(train.segments());
        fabric.inject(Instant::ZERO, PortId(0), train).unwrap();
        let out = all(&mut fabric);
        prop_assert!(rate || out.len() == 1, "without a rate limit nothing cuts a train: {}", out.len());
        let mut got = Vec::new();
        for (due, port, packet) in out {
            prop_assert_eq!(port, chain.end());
            prop_assert!(rate || due == Instant::ZERO + Duration::from_millis(u64::from(routers) + 1));
            let (left, bytes) = written(&packet);
            got.extend(received(&left, &bytes));
        }
        // The receiver's kernel of these tests writes headers of its own: only what follows them tells.
        let wanted: Vec<Vec<u8>> = stream.wire();
        prop_assert_eq!(got.len(), wanted.len());
        for (one, other) in got.iter().zip(&wanted) {
            prop_assert!(accepts(one));
            prop_assert_eq!(&one[54..], &other[54..]);
        }
        for counters in fabric.router_counters() {
            prop_assert_eq!(*counters, RouterCounters { forwarded: segments, ..RouterCounters::default() });
        }
    }

    /// To the byte: addresses, time to live, checksum.
    #[test]
    fn headers_are_those_of_a_router(v6: bool, id: u16, payload in 1..1_000_usize, routers in 1..60_u8) {
        let chain = Chain::plain(usize::from(routers), MS);
        let frame = stream(v6, id, payload).wire().remove(0);
        let mut pool = Pool::default();
        let mut fabric = chain.fabric();
        // Held by somebody else, as by a capture: the frame must not change.
        let packet = crate::network::plain(&mut pool, &frame);
        let held = packet.duplicate();
        fabric.inject(Instant::ZERO, PortId(0), packet).unwrap();
        let out = all(&mut fabric);
        prop_assert_eq!(out.len(), 1);
        prop_assert_eq!(written(&out[0].2).1, behind(&frame, routers, chain.end()));
        prop_assert!(accepts(&written(&out[0].2).1));
        prop_assert_eq!(held.bytes(), &frame[..]);
    }
}

/// A driver that copies nothing writes the same headers: those of the packet, with the addresses of its last link.
#[test]
fn heads_are_written_without_a_copy() {
    let chain = Chain::plain(3, MS);
    let frame = stream(false, 9, 900).wire().remove(0);
    let mut fabric = chain.fabric();
    let packet = crate::network::plain(&mut Pool::default(), &frame);
    fabric.inject(Instant::ZERO, PortId(0), packet).unwrap();
    let mut out = Vec::new();
    while let Some(now) = fabric.next_wake() {
        fabric.advance(now, |delivery| out.push(delivery));
    }
    let passed = &out[0].departure.packet;
    assert_eq!(passed.hops(), 3);
    let (_, mut bytes) = written(passed);
    bytes[..12].copy_from_slice(&fabric.ethernet().of(out[0].port, passed).unwrap());
    assert_eq!(bytes, behind(&frame, 3, chain.end()));
    assert_eq!(passed.bytes(), &frame[..], "no byte of the frame was touched");
}
