//! Switches whose links are cut: what was learned at a port is forgotten when that goes down.

use crate::hubs::{link, trees};
use crate::network::all;
use crate::player::{Event, assert_same};
use crate::switches::{EVERYBODY, Lan, MS, SEED, Sending, counted, four, heard, of_host, second, sendings, switch};
use netloom_fabric::{Cuts, DeviceSpec, Fabric, Partition, PipeId, PipeSpec, PortId, shards};
use netloom_link::{FlapConfig, FlapTime, OnTheWire, PipeChange, StateConfig};
use netloom_units::{Duration, Instant};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The pipe by which the switch hears from a host.
fn from_host(host: u32) -> PipeId {
    PipeId(2 * host)
}

fn flapping(up: Duration, down: Duration) -> PipeChange {
    let flap = FlapConfig { up: FlapTime::Constant(up), down: FlapTime::Constant(down), start: None };
    PipeChange {
        state: Some(StateConfig { on_the_wire: OnTheWire::Delivered, flap: Some(flap) }),
        ..PipeChange::default()
    }
}

#[test]
fn a_port_that_goes_down_forgets_and_the_others_do_not() {
    let mut fabric = four(|spec| spec.fixed = vec![(of_host(9), 1)]);
    (0..4).for_each(|host| drop(heard(&mut fabric, second(1), host, EVERYBODY, of_host(host))));
    fabric.set_up(second(2), from_host(1), false);
    fabric.set_up(second(3), from_host(1), true);
    let mut heard = |at, from, to| heard(&mut fabric, second(at), from, of_host(to), of_host(from));
    assert_eq!(heard(4, 0, 1), [1, 2, 3], "forgotten");
    assert_eq!(heard(4, 0, 2), [2]);
    assert_eq!(heard(4, 2, 9), [1], "this one does not change");
    assert_eq!(heard(5, 1, 0), [0]);
    assert_eq!(heard(6, 0, 1), [1], "learned again");
    let ports = counted(&fabric);
    assert_eq!(
        ports.iter().map(|port| (port.learned, port.moved)).collect::<Vec<_>>(),
        [(1, 0), (2, 0), (1, 0), (1, 0)]
    );
}

/// A switch notices by what it hears: of the other direction it knows nothing.
#[test]
fn the_direction_towards_the_switch_counts() {
    let mut fabric = four(|_| {});
    heard(&mut fabric, second(1), 1, EVERYBODY, of_host(1));
    fabric.set_up(second(2), PipeId(3), false);
    assert_eq!(heard(&mut fabric, second(3), 0, of_host(1), of_host(0)), [0_u32; 0], "lost on the cut link");
    fabric.set_up(second(4), PipeId(3), true);
    assert_eq!(heard(&mut fabric, second(5), 0, of_host(1), of_host(0)), [1], "still known");
    fabric.unplug(second(6), from_host(1));
    assert_eq!(heard(&mut fabric, second(7), 0, of_host(1), of_host(0)), [1, 2, 3]);
}

/// What is on the wire arrives after the cut, and its sender is not learned at a port that is down.
#[test]
fn nothing_is_learned_at_a_port_that_is_down() {
    let mut fabric = four(|_| {});
    let (sent, cut) = (second(1), second(1) + Duration::from_micros(500));
    let frame = crate::switches::frame(EVERYBODY, of_host(1));
    fabric.inject(sent, PortId(2), crate::network::plain(&mut netloom_packet::Pool::default(), &frame)).unwrap();
    fabric.advance(cut, |_| panic!("it takes a millisecond"));
    fabric.set_up(cut, from_host(1), false);
    assert_eq!(all(&mut fabric).len(), 3);
    fabric.set_up(second(2), from_host(1), true);
    assert_eq!(heard(&mut fabric, second(3), 0, of_host(1), of_host(0)), [1, 2, 3]);
    assert_eq!(counted(&fabric)[1].learned, 0);
}

/// Cut by itself at 10 s, 21 s and so on, for a second: also if nobody has sent anything since.
#[test]
fn a_port_that_flaps_forgets_each_time() {
    let mut fabric = four(|_| {});
    fabric.change(Instant::ZERO, from_host(1), &flapping(Duration::from_secs(10), Duration::from_secs(1)));
    heard(&mut fabric, second(1), 1, EVERYBODY, of_host(1));
    let just_before = second(10) - MS - Duration::from_nanos(1);
    assert_eq!(heard(&mut fabric, just_before, 0, of_host(1), of_host(0)), [1]);
    assert_eq!(
        heard(&mut fabric, second(10) - MS, 0, of_host(1), of_host(0)),
        [1, 2, 3],
        "it reaches the switch at 10 s"
    );
    heard(&mut fabric, second(12), 1, EVERYBODY, of_host(1));
    assert_eq!(heard(&mut fabric, second(13), 0, of_host(1), of_host(0)), [1]);
    assert_eq!(heard(&mut fabric, second(100), 0, of_host(1), of_host(0)), [1, 2, 3]);
    fabric.change(
        second(101),
        from_host(1),
        &PipeChange { state: Some(StateConfig::default()), ..PipeChange::default() },
    );
    heard(&mut fabric, second(102), 1, EVERYBODY, of_host(1));
    assert_eq!(heard(&mut fabric, second(200), 0, of_host(1), of_host(0)), [1], "it flaps no more");
}

/// A link between two switches that may be cut between shards, but not if it flaps: then its switch would not notice.
#[test]
fn a_link_that_flaps_is_not_cut_between_shards() {
    let mut pipes: Vec<PipeSpec> = (0..3).flat_map(|number| link([2 * number, 2 * number + 1], MS)).collect();
    let of = |ports: [u32; 2]| DeviceSpec::Switch(switch(ports.map(PortId)));
    let devices = [of([1, 2]), of([3, 4])];
    let count = |all: &[PipeSpec]| Partition::new(all, &devices, 2, Cuts::WhereDelayed, |_| false).count();
    assert_eq!(count(&pipes), 2);
    pipes[2].config.state = flapping(Duration::from_secs(1), Duration::from_secs(1)).state.unwrap();
    assert_eq!(count(&pipes), 1);
}

/// A switch in another shard than the pipe that leads to it notices by the inlet.
#[test]
fn an_inlet_tells_of_its_pipe() {
    let pipes: Vec<PipeSpec> = (0..3).flat_map(|number| link([2 * number, 2 * number + 1], MS)).collect();
    let of = |ports: [u32; 2]| DeviceSpec::Switch(switch(ports.map(PortId)));
    let devices = [of([1, 2]), of([3, 4])];
    let partition = Partition::new(&pipes, &devices, 2, Cuts::WhereDelayed, |_| false);
    let mut parts = shards(SEED, &pipes, &devices, &partition);
    let [near, far] = &mut parts[..] else { panic!("two shards") };
    let inlet = near.borders[0].inlet;
    let mut cross = |at: Instant, fabric: &mut Fabric| {
        let frame = crate::switches::frame(EVERYBODY, of_host(0));
        near.fabric.inject(at, PortId(0), crate::network::plain(&mut netloom_packet::Pool::default(), &frame)).unwrap();
        near.fabric.advance(at + MS * 2, |delivery| fabric.cross(inlet, delivery.departure));
        all(fabric).len()
    };
    assert_eq!(cross(second(1), &mut far.fabric), 1);
    far.fabric.set_up(second(2), inlet, false);
    far.fabric.set_up(second(3), inlet, true);
    assert_eq!(cross(second(4), &mut far.fabric), 1);
    // The addresses were learned twice, since they were forgotten in between.
    assert_eq!(counted(&far.fabric)[0].learned, 2);
}

fn cases() -> impl Strategy<Value = (Lan, Vec<(Instant, Event<Sending>)>)> {
    let lans = trees().prop_map(Lan).prop_flat_map(|lan| (Just(lan.clone()), sendings(&lan)));
    let acts = proptest::collection::vec((0..4_000_000_u64, any::<u32>(), 0..3_u8, any::<bool>()), 0..12);
    (lans, acts).prop_map(|((lan, mut events), acts)| {
        let pipes = u32::try_from(lan.0.pipes().len()).unwrap();
        events.extend(acts.into_iter().map(|(at, pick, kind, up)| {
            let pipe = PipeId(pick % pipes);
            let flaps = flapping(MS + Duration::from_nanos(u64::from(pick % 700_000)), MS);
            let event = if kind == 0 { Event::Change(pipe, Box::new(flaps)) } else { Event::Up(pipe, up) };
            (Instant::from_nanos(at), event)
        }));
        events.sort_by_key(|(at, _)| *at);
        (lan, events)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    /// What is forgotten when does not depend on how far ahead of time a driver goes.
    #[test]
    fn ahead_of_time_is_on_time((lan, events) in cases()) {
        assert_same(&lan, &events, MS * 100);
    }
}
