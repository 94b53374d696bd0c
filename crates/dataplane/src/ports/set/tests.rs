use super::*;
use crate::edge::Edge;
use netloom_fabric::{PipeSpec, PortId};
use netloom_link::PipeConfig;
use netloom_packet::{Pool, VirtioHeader};
use netloom_units::{Duration, Seed};
use std::sync::{Arc, Mutex};

/// Writes down what is asked of it.
struct Recorder {
    name: char,
    may_sleep: bool,
    log: Arc<Mutex<String>>,
}

impl Recorder {
    fn write(&self, what: &str) {
        self.log.lock().expect("one thread").push_str(&format!("{}{what} ", self.name));
    }
}

impl PortGroup for Recorder {
    fn receive(&mut self, _: &mut Edge, _: Window) -> Received {
        Received { count: 1, is_lively: self.may_sleep, has_more: !self.may_sleep }
    }

    fn push(&mut self, batch: &mut Vec<Delivery>, out: &mut Handover) {
        self.write(&format!("push{}", batch.len()));
        batch.drain(..).for_each(|delivery| out.handed(delivery, Instant::ZERO));
    }

    fn flush(&mut self, _: &mut Handover) {
        self.write("flush");
    }

    fn descriptor(&self) -> RawFd {
        -1
    }

    fn report(&mut self, _: &mut EngineReport) {}

    fn may_sleep(&mut self, _: Instant, _: Instant) -> bool {
        self.may_sleep
    }

    fn wake(&mut self, is_called: bool) -> io::Result<()> {
        self.write(if is_called { "called" } else { "woken" });
        Ok(())
    }
}

/// Port 0 is of no group, port 1 of `a`, and port 2 of `b`.
fn set(may_sleep: [bool; 2]) -> (PortSet, Arc<Mutex<String>>) {
    let log = Arc::new(Mutex::new(String::new()));
    let opened = |(name, place): (char, usize)| Opened {
        group: Box::new(Recorder { name, may_sleep: may_sleep[place], log: Arc::clone(&log) }),
        ports: vec![PortId(if place == 0 { 1 } else { 2 })],
    };
    (PortSet::new([('a', 0), ('b', 1)].map(opened).into()), log)
}

fn edge() -> Edge {
    let pipe = |to: u32| PipeSpec {
        name: to.to_string(),
        config: PipeConfig::default(),
        coalesce: Duration::ZERO,
        from: PortId(10 + to),
        filter: None,
        medium: Vec::new(),
        to: PortId(to),
    };
    Edge::new(Fabric::new(Seed::new(1), &[pipe(0), pipe(1), pipe(2)]), &[], Pool::default())
}

/// Sends packets to these ports.
fn send(edge: &mut Edge, set: &mut PortSet, ports: impl IntoIterator<Item = u32>, size: usize) {
    for port in ports {
        let packet = edge.handover.pool.packet(VirtioHeader::COMPLETE, &vec![0; size]);
        edge.enter(Instant::ZERO, PortId(10 + port), packet);
        edge.leave(Instant::ZERO, |delivery, out| set.push(delivery, out));
    }
}

#[test]
fn packets_go_to_the_group_of_their_port_in_batches() {
    let (mut set, log) = set([true; 2]);
    let mut edge = edge();
    send(&mut edge, &mut set, [1, 2, 1], 60);
    send(&mut edge, &mut set, vec![2; BATCH], 60);
    assert_eq!(*log.lock().expect("one thread"), "bpush64 ");
    set.flush(&mut edge.handover);
    assert_eq!(*log.lock().expect("one thread"), "bpush64 apush2 aflush bpush1 bflush ");
    log.lock().expect("one thread").clear();
    // Few long ones are a batch, too.
    send(&mut edge, &mut set, vec![1; 10], 60_000);
    assert_eq!(*log.lock().expect("one thread"), "apush9 ");
}

#[test]
fn what_leads_nowhere_is_counted() {
    let (mut set, log) = set([true; 2]);
    send(&mut edge(), &mut set, [0], 60);
    let mut report = EngineReport::default();
    set.report(&mut report);
    assert_eq!((report.unheard, report.lost_sending), (1, 0));
    assert_eq!(*log.lock().expect("one thread"), "");
}

#[test]
fn one_group_that_cannot_sleep_keeps_all_awake() {
    for (may_sleep, told) in [([true, true], ""), ([true, false], "awoken "), ([false, true], "")] {
        let (mut set, log) = set(may_sleep);
        assert_eq!(set.may_sleep(Instant::ZERO, Instant::MAX).expect("no error"), told.is_empty() && may_sleep[0]);
        assert_eq!(*log.lock().expect("one thread"), told, "who was ready to sleep learns that it is awake");
    }
}

#[test]
fn a_busy_thread_answers_now_and_then() {
    let (mut set, log) = set([true; 2]);
    let mut look = |micros| {
        log.lock().expect("one thread").clear();
        set.wake_sometimes(RealDuration::from_micros(micros)).expect("no error");
        log.lock().expect("one thread").clone()
    };
    assert_eq!([500, 501, 1_001, 1_002].map(&mut look), ["", "acalled bcalled ", "", "acalled bcalled "]);
}

#[test]
fn what_one_group_receives_counts_for_all() {
    let (mut set, _) = set([true, false]);
    let window = Window { begin: Instant::ZERO, end: Instant::MAX, latest: Instant::MAX, is_overdue: false };
    let Received { count, is_lively, has_more } = set.receive(&mut edge(), window);
    assert_eq!((count, is_lively, has_more), (2, true, true));
}
