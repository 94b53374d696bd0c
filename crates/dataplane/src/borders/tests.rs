use super::*;
use netloom_fabric::{Cuts, Partition, PipeSpec, RouterInterface, RouterSpec, shards};
use netloom_link::{DelayConfig, PipeConfig};
use netloom_packet::VirtioHeader;
use netloom_units::{Bytes, Dilation, Seed};

const DELAY: Duration = Duration::from_millis(1);

/// Two routers, a shard each, and the link between them.
fn pair() -> [(Fabric, Borders); 2] {
    let pipe = |number: u32| PipeSpec {
        name: format!("{number}"),
        config: PipeConfig { delay: DelayConfig::constant(DELAY), ..PipeConfig::default() },
        coalesce: Duration::ZERO,
        from: PortId(number),
        filter: None,
        to: PortId(1 - number),
    };
    let router = |port: u32| {
        let (addresses, neighbors, subnets) = (Vec::new(), Vec::new(), Vec::new());
        let (port, mtu) = (PortId(port), Bytes::new(1_500));
        let own = RouterInterface { port, mac: [2; 6], neighbor_mac: [4; 6], mtu, addresses, neighbors, subnets };
        RouterSpec { interfaces: vec![own], routes: Vec::new() }
    };
    let (pipes, routers) = ([pipe(0), pipe(1)], [router(0), router(1)]);
    let partition = Partition::new(&pipes, &routers, 2, Cuts::WhereDelayed, |_| false);
    let parts = shards(Seed::new(1), &pipes, &routers, &partition);
    let bells: Vec<Arc<Bell>> = (0..2).map(|_| Arc::new(Bell::new().expect("an event counter"))).collect();
    let borders = connect(&parts, &bells);
    let both: Vec<(Fabric, Borders)> =
        parts.into_iter().zip(borders).map(|(shard, borders)| (shard.fabric, borders.expect("one each"))).collect();
    both.try_into().ok().expect("two")
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

/// Sends a packet into the pipe of the first shard.
fn send(fabric: &mut Fabric, pool: &mut Pool, now: Instant) {
    let packet = pool.packet(VirtioHeader::COMPLETE, &[0; 60]);
    fabric.inject(now, PortId(0), packet).expect("a pipe begins there");
}

fn hand_out(fabric: &mut Fabric, borders: &mut Borders, pool: &mut Pool, now: Instant) {
    fabric.advance(now, |delivery| {
        assert!(borders.lead_away(&delivery));
        borders.give(delivery, &mut Meters::new(2), pool);
    });
    borders.wake_others();
}

#[test]
fn who_sleeps_is_told_what_will_come_and_woken_when_it_comes_sooner() {
    let [(mut first, mut here), (second, mut there)] = pair();
    let mut pool = Pool::default();
    assert_eq!(there.announce(&second, at(0)), None);
    assert!(there.may_sleep(at(0), at(500_000)));
    let sleeps = |borders: &Borders| borders.waker.sleeps_until.load(Ordering::Relaxed) != AWAKE;
    send(&mut first, &mut pool, at(10));
    assert!(sleeps(&there));
    here.announce(&first, at(10));
    assert!(!sleeps(&there), "it has to think again");
    assert_eq!(there.announce(&second, at(10)), Some(at(1_010)));
    assert!(!there.may_sleep(at(10), at(2_000)), "something comes before");
    assert!(there.may_sleep(at(10), at(1_000)));
    here.announce(&first, at(20));
    assert!(sleeps(&there), "nothing new");
    there.set_awake();
    // A packet that was announced and does not come is not waited for any longer.
    assert_eq!(there.announce(&second, at(2_010)), Some(at(1_010)));
    assert_eq!(there.announce(&second, at(2_011)), None);
    assert!(there.may_sleep(at(2_011), at(500_000)));
    hand_out(&mut first, &mut here, &mut pool, at(2_020));
    assert!(!sleeps(&there), "it has come");
    assert!(!there.may_sleep(at(2_021), at(500_000)), "and is still there");
}

#[test]
fn a_full_queue_loses_what_does_not_fit_and_says_whose_it_was() {
    let [(mut first, mut here), (mut second, mut there)] = pair();
    let (mut pool, mut meters) = (Pool::default(), Meters::new(2));
    let clock = Clock::start(None, Dilation::ONE);
    for _ in 0..ROOM + 7 {
        send(&mut first, &mut pool, at(0));
    }
    hand_out(&mut first, &mut here, &mut pool, at(1_000));
    let lost: Vec<(PortId, u64)> = here.reports().map(|port| (port.port, port.lost_sending)).collect();
    assert_eq!(lost, [(PortId(1), 7)]);
    let mut taken = 0;
    loop {
        match there.receive(&mut second, &mut meters, &clock) {
            0 => break,
            count => taken += count,
        }
    }
    assert_eq!(taken, ROOM);
    assert_eq!(second.next_wake(), Some(at(1_000)), "at the instant at which they were due");
    second.advance(at(1_000), |_| unreachable!("the router keeps what is for nobody"));
    assert_eq!(second.router_counters().next().expect("one").ignored, ROOM as u64);
}

/// Packets in one direction only: their buffers come back, and no shard makes or keeps more and more of them.
#[test]
fn buffers_come_back() {
    let [(mut first, mut here), (mut second, mut there)] = pair();
    let (mut near, mut far) = (Pool::new(4, 0), Pool::new(4, 0));
    near.set_growing(false);
    let mut meters = Meters::new(2);
    let clock = Clock::start(None, Dilation::ONE);
    for round in 1..1_000 {
        let now = at(round * 10_000);
        let packet = near.fill_with(60, |_| Some((60, VirtioHeader::COMPLETE))).expect("four are enough");
        first.inject(now, PortId(0), packet).expect("a pipe begins there");
        hand_out(&mut first, &mut here, &mut near, now + DELAY);
        there.receive(&mut second, &mut meters, &clock);
        second.advance(now + DELAY, |_| unreachable!("the router keeps what is for nobody"));
        second.recycle(&mut far);
        there.exchange(&mut far);
        here.exchange(&mut near);
        assert!(far.take_surplus().is_none(), "it keeps what it had");
    }
}
