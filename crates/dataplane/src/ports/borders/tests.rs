use super::*;
use crate::doorbell::Doorbell;
use netloom_fabric::{Cuts, DeviceSpec, Partition, PipeSpec, RouterInterface, RouterSpec, Shard, shards};
use netloom_link::{DelayConfig, PipeConfig};
use netloom_packet::VirtioHeader;
use netloom_units::{Bytes, Dilation, Seed};

const DELAY: Duration = Duration::from_millis(1);
const WINDOW: Window = Window { begin: Instant::ZERO, end: Instant::MAX, latest: Instant::MAX, is_overdue: false };

/// Two routers, a shard each, and the link between them. Their pools have four buffers each.
fn pair() -> [(Edge, Borders); 2] {
    let pipe = |number: u32| PipeSpec {
        name: format!("{number}"),
        config: PipeConfig { delay: DelayConfig::constant(DELAY), ..PipeConfig::default() },
        coalesce: Duration::ZERO,
        from: PortId(number),
        filter: None,
        medium: Vec::new(),
        to: PortId(1 - number),
    };
    let router = |port: u32| {
        let (addresses, neighbors, subnets) = (Vec::new(), Vec::new(), Vec::new());
        let (port, mtu) = (PortId(port), Bytes::new(1_500));
        let (mac, is_shared) = ([2; 6], false);
        let own = RouterInterface { port, mac, mtu, addresses, is_shared, neighbors, subnets };
        DeviceSpec::Router(RouterSpec { interfaces: vec![own], ..RouterSpec::default() })
    };
    let (pipes, routers) = ([pipe(0), pipe(1)], [router(0), router(1)]);
    let partition = Partition::new(&pipes, &routers, 2, Cuts::WhereDelayed, |_| false);
    let parts = shards(Seed::new(1), &pipes, &routers, &partition);
    let clock = Clock::start(None, Dilation::ONE);
    let site =
        |shard| Site { clock, shard, doorbell: Arc::new(Doorbell::new().expect("a doorbell")), ports: Vec::new() };
    let borders = connect(&parts.iter().map(site).collect::<Vec<_>>());
    let edge = |shard: Shard| Edge::new(shard.fabric, &shard.borders, Pool::new(4, 0));
    let both: Vec<(Edge, Borders)> = parts.into_iter().map(edge).zip(borders).collect();
    both.try_into().ok().expect("two")
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

/// Sends a packet into the pipe of the first shard.
fn send(edge: &mut Edge, now: Instant) {
    let filled = edge.handover.pool.fill_with(60, |_| Some((60, VirtioHeader::COMPLETE)));
    edge.enter(now, PortId(0), filled.expect("a buffer"));
}

fn hand_out(edge: &mut Edge, borders: &mut Borders, now: Instant) {
    let mut batch = Vec::new();
    edge.leave(now, |delivery, _| batch.push(delivery));
    borders.push(&mut batch, &mut edge.handover);
    borders.flush(&mut edge.handover);
}

#[test]
fn who_sleeps_is_told_what_will_come_and_woken_when_it_comes_sooner() {
    let [(mut first, mut here), (second, mut there)] = pair();
    assert_eq!(there.announce(&second.fabric, at(0)), None);
    assert!(there.may_sleep(at(0), at(500_000)));
    let sleeps = |borders: &Borders| !borders.waker.is_awake();
    send(&mut first, at(10));
    assert!(sleeps(&there));
    here.announce(&first.fabric, at(10));
    assert!(!sleeps(&there), "it has to think again");
    assert_eq!(there.announce(&second.fabric, at(10)), Some(at(1_010)));
    assert!(!there.may_sleep(at(10), at(2_000)), "something comes before");
    assert!(there.may_sleep(at(10), at(1_000)));
    here.announce(&first.fabric, at(20));
    assert!(sleeps(&there), "nothing new");
    there.waker.set_awake();
    // A packet that was announced and does not come is not waited for any longer.
    assert_eq!(there.announce(&second.fabric, at(2_010)), Some(at(1_010)));
    assert_eq!(there.announce(&second.fabric, at(2_011)), None);
    assert!(there.may_sleep(at(2_011), at(500_000)));
    hand_out(&mut first, &mut here, at(2_020));
    assert!(!sleeps(&there), "it has come");
    assert!(!there.may_sleep(at(2_021), at(500_000)), "and is still there");
}

#[test]
fn a_full_queue_loses_what_does_not_fit_and_says_whose_it_was() {
    let [(mut first, mut here), (mut second, mut there)] = pair();
    for _ in 0..ROOM + 7 {
        send(&mut first, at(0));
    }
    hand_out(&mut first, &mut here, at(1_000));
    let mut report = EngineReport::default();
    here.report(&mut report);
    let lost: Vec<(PortId, u64)> = report.ports.iter().map(|port| (port.port, port.lost_sending)).collect();
    assert_eq!(lost, [(PortId(1), 7)]);
    let mut taken = 0;
    loop {
        match there.receive(&mut second, WINDOW).count {
            0 => break,
            count => taken += count,
        }
    }
    assert_eq!(taken, ROOM);
    assert_eq!(second.fabric.next_wake(), Some(at(1_000)), "at the instant at which they were due");
    second.leave(at(1_000), |_, _| unreachable!("the router keeps what is for nobody"));
    assert_eq!(second.fabric.router_counters().next().expect("one").ignored, ROOM as u64);
}

/// Packets in one direction only: their buffers come back, and no shard makes or keeps more and more of them.
#[test]
fn buffers_come_back() {
    let [(mut first, mut here), (mut second, mut there)] = pair();
    first.handover.pool.set_growing(false);
    for round in 1..1_000 {
        let now = at(round * 10_000);
        // Four buffers are enough.
        send(&mut first, now);
        hand_out(&mut first, &mut here, now + DELAY);
        there.receive(&mut second, WINDOW);
        second.leave(now + DELAY, |_, _| unreachable!("the router keeps what is for nobody"));
        second.settle();
        there.flush(&mut second.handover);
        here.flush(&mut first.handover);
        assert!(second.handover.pool.take_surplus().is_none(), "it keeps what it had");
    }
}
