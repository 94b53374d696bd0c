use super::*;
use crate::category::AccessCategory;
use crate::config::Aggregation;
use crate::frame::StationId;
use crate::phy::{Channel, Mode, Phy, PhyConfig};
use alloc::vec::Vec;

const TO: Destination = Destination::Station(StationId(1));

/// A queue of 802.11n with these bounds, and the timing of MCS 7.
fn queue(aggregation: Aggregation) -> (Queue<u32>, Limits, Ppdu) {
    let channel = Channel::new(36).expect("there is such a channel");
    let phy = Phy::new(&PhyConfig::new(Standard::N, channel)).expect("it is allowed");
    let config = MediumConfig { aggregation, ..MediumConfig::new(phy) };
    (Queue::new(&config), Limits::new(&config), phy.ppdu(Mode::mcs(7)).expect("there is MCS 7"))
}

/// Fills in frames of 1,500 bytes with these numbers.
fn fill(queue: &mut Queue<u32>, numbers: core::ops::Range<u32>, to: Destination) {
    for payload in numbers {
        let frame = Frame { to, size: Bytes::new(1_500), category: AccessCategory::BestEffort, payload };
        queue.push((Instant::ZERO, u64::from(payload)), frame).expect("there is room");
    }
}

fn released(queue: &mut Queue<u32>) -> Vec<(u32, Option<Cause>)> {
    let mut found = Vec::new();
    queue.release(0, |frame, dropped| found.push((frame.payload, dropped)));
    found
}

const LONG: Duration = Duration::from_micros(5_484);

#[test]
fn aggregates_fill_their_limits() {
    let bounds = Aggregation { amsdu: Bytes::new(0), ampdu: Bytes::new(65_535), window: 64 };
    let (mut full, limits, ppdu) = queue(bounds);
    fill(&mut full, 0..100, TO);
    // An MPDU of 1,538 bytes with its delimiter and padding has 1,544: 42 of them are 64,848 bytes, but take 8 ms at MCS 7.
    let load = full.load(0, &limits, &ppdu, Duration::MAX);
    assert_eq!((load.mpdus, load.size), (42, Bytes::new(64_848)));
    full.unload(0);
    // 28 are 43,232 bytes, 1,331 symbols.
    let in_time = full.load(0, &limits, &ppdu, LONG);
    assert_eq!((in_time.mpdus, ppdu.duration(in_time.size)), (28, Duration::from_micros(36 + 4 * 1_331)));
}

#[test]
fn frames_under_one_header_are_filled_up() {
    let (mut queue, limits, ppdu) = queue(Aggregation { amsdu: Bytes::new(7_935), ampdu: Bytes::new(0), window: 1 });
    fill(&mut queue, 0..10, TO);
    // Each has 14 + 8 + 1,500 bytes, and 2 more but for the last: five are 7,618, and six would be 9,142.
    let load = queue.load(0, &limits, &ppdu, LONG);
    assert_eq!((load.mpdus, load.size), (1, Bytes::new(30 + 4 * 1_524 + 1_522)));
    assert_eq!(queue.decide(0, || true), 1);
    queue.receive(0);
    assert_eq!(released(&mut queue).len(), 5);
    assert_eq!(queue.count(), 5);
}

#[test]
fn a_hole_keeps_back_what_is_behind_it() {
    let (mut queue, limits, ppdu) = queue(Aggregation { amsdu: Bytes::new(0), ampdu: Bytes::new(65_535), window: 8 });
    let retries = RetryLimits { short: 3, long: 4 };
    fill(&mut queue, 0..20, TO);
    assert_eq!(queue.load(0, &limits, &ppdu, LONG).mpdus, 8);
    // The third is lost.
    let mut place = 0;
    let good = queue.decide(0, || {
        place += 1;
        place != 3
    });
    assert_eq!(good, 7);
    queue.receive(0);
    assert_eq!(queue.fail(0, Failure::Short, retries), (1, 0));
    assert_eq!(released(&mut queue), [(0, None), (1, None)]);
    // The window has room for two more beside the six that are in it.
    assert_eq!(queue.load(0, &limits, &ppdu, LONG).mpdus, 3);
    assert_eq!(queue.decide(0, || false), 0);
    assert_eq!(queue.fail(0, Failure::Short, retries), (3, 0));
    // The third attempt is the last one of the hole, and what is behind it comes out.
    assert_eq!(queue.load(0, &limits, &ppdu, LONG).mpdus, 3);
    assert_eq!(queue.fail(0, Failure::Short, retries), (3, 1));
    let mut expected: Vec<_> = (3..8).map(|number| (number, None)).collect();
    expected.insert(0, (2, Some(Cause::Retries)));
    assert_eq!(released(&mut queue), expected);
    assert_eq!(queue.count(), 12);
}

#[test]
fn frames_to_everybody_go_alone_and_once() {
    let (mut queue, limits, ppdu) =
        queue(Aggregation { amsdu: Bytes::new(7_935), ampdu: Bytes::new(65_535), window: 64 });
    fill(&mut queue, 0..3, Destination::Everybody);
    assert_eq!(queue.load(0, &limits, &ppdu, LONG).mpdus, 1);
    assert_eq!(queue.fail(0, Failure::Final, RetryLimits::default()), (1, 1));
    assert_eq!(released(&mut queue), [(0, Some(Cause::Collision))]);
}

#[test]
fn a_full_queue_gives_frames_back() {
    let channel = Channel::new(36).expect("there is such a channel");
    let phy = Phy::new(&PhyConfig::new(Standard::A, channel)).expect("it is allowed");
    let mut queue = Queue::new(&MediumConfig { queue: 1, ..MediumConfig::new(phy) });
    fill(&mut queue, 0..1, TO);
    let frame = Frame { to: TO, size: Bytes::new(1), category: AccessCategory::Voice, payload: 7 };
    assert_eq!(queue.push((Instant::ZERO, 9), frame).map_err(|frame| frame.payload), Err(7));
}
