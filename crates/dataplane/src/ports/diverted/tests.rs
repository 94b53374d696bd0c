use super::*;
use netloom_link::{CorruptConfig, DelayConfig, Distribution, Ports, RateConfig};
use netloom_packet::LARGE_FRAME;
use netloom_units::{Bytes, Duration, Rate};

/// An IPv4 packet of UDP with so much payload.
fn udp(source: [u8; 4], destination: [u8; 4], ports: [u16; 2], payload: usize) -> Vec<u8> {
    let len = |header: usize| u16::try_from(header + payload).expect("short").to_be_bytes();
    let mut packet = vec![0x45, 0, len(28)[0], len(28)[1], 0, 1, 0x40, 0, 64, 17, 0, 0];
    packet.extend(source.iter().chain(&destination));
    packet.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
    packet.extend(len(8).iter().chain(&[0, 0]));
    packet.resize(28 + payload, 7);
    packet
}

fn queued(bytes: &[u8], hook: u8) -> Queued<'_> {
    Queued {
        id: 3,
        protocol: 0x0800,
        hook,
        out_interface: 2,
        user: None,
        group: None,
        stamp: None,
        is_unfinished: false,
        len: bytes.len(),
        bytes,
    }
}

fn sides(filter: &Filter, is_one_way: bool) -> Vec<Side> {
    let side = |(number, matching)| {
        let port = PortId(number);
        Side {
            filter: matching,
            report: PortReport { port, is_interface: false, received: 0, lost_receiving: 0, lost_sending: 0, taken: 0 },
        }
    };
    let backward = (!is_one_way).then(|| filter.reversed());
    (0..).zip([Some(filter.clone()), backward].into_iter().flatten()).map(side).collect()
}

#[test]
fn answers_go_backward_and_others_go_by() {
    const RECEIVED: u8 = 0;
    let filter = Filter { to_port: Some(vec![Ports::one(443)]), ..Filter::default() };
    let there = udp([10, 0, 0, 1], [10, 0, 0, 2], [5_000, 443], 1);
    let back = udp([10, 0, 0, 2], [10, 0, 0, 1], [443, 5_000], 1);
    let other = udp([10, 0, 0, 2], [10, 0, 0, 1], [80, 5_000], 1);
    for hook in [RECEIVED, LOCAL_OUT] {
        let found = |bytes, is_one_way| side_of(&sides(&filter, is_one_way), None, &queued(bytes, hook));
        assert_eq!([&there, &back, &other].map(|bytes| found(bytes, false)), [Some(0), Some(1), None]);
        assert_eq!([&there, &back, &other].map(|bytes| found(bytes, true)), [Some(0), None, None]);
        assert_eq!(found(&Vec::new(), false), None, "no packet at all");
    }
    // What matches both ways goes forward where it is made.
    let both = Filter { protocol: Some(vec![17]), ..Filter::default() };
    let found = [LOCAL_OUT, RECEIVED].map(|hook| side_of(&sides(&both, false), None, &queued(&there, hook)));
    assert_eq!(found, [Some(0), Some(1)]);
}

/// Of two programs on this machine that speak with one another, the kernel tells whose each packet is.
#[test]
fn packets_of_owners_go_forward_and_what_the_others_answer_backward() {
    let sides = sides(&Filter::default(), false);
    let owners = Owners { users: vec![1_000..=1_009], groups: vec![7..=7, 9..=9] };
    let packet = udp([127, 0, 0, 1], [127, 0, 0, 1], [1, 2], 1);
    let found = |hook, out_interface, user, group| {
        side_of(&sides, Some(&owners), &Queued { out_interface, user, group, ..queued(&packet, hook) })
    };
    assert_eq!(found(LOCAL_OUT, 1, Some(1_009), Some(9)), Some(0));
    for (user, group) in [(Some(1_010), Some(9)), (Some(1_000), Some(8)), (None, None)] {
        assert_eq!(found(LOCAL_OUT, 1, user, group), Some(1), "{user:?} {group:?}");
        // What leaves belongs to a connection of theirs, also what the kernel sends by itself.
        assert_eq!(found(LOCAL_OUT, 2, user, group), Some(0));
    }
    assert_eq!(found(0, 1, None, None), Some(1), "it is received");
}

#[test]
fn a_packet_knows_what_it_is_to_the_kernel() {
    let bytes = udp([10, 0, 0, 1], [10, 0, 0, 2], [1, 2], 1_000);
    let mut pool = Pool::default();
    for tag in [
        Tag { id: 0x0102_0304, is_held: true, is_altered: false },
        Tag { id: u32::MAX, is_held: false, is_altered: true },
    ] {
        let packet = packet_of(&queued(&bytes, LOCAL_OUT), tag, &mut pool).expect("memory");
        assert_eq!((Tag::of(&packet), packet.size()), (Some(tag), Bytes::new(1_028)));
        assert_eq!(&packet.bytes()[ETHERNET..], bytes);
        assert_eq!(packet.flow().map(|flow| flow.destination_port), Some(2));
        let flipped = packet.with_flipped_bit(77).expect("it can be flipped");
        assert_eq!(Tag::of(&flipped), Some(tag));
    }
    assert_eq!(Tag::of(&pool.packet(VirtioHeader::COMPLETE, &[2; 60])), None, "a packet of somebody else's");
    assert_eq!(Tag::of(&pool.packet(VirtioHeader::COMPLETE, &[2; 5])), None);
}

/// Of a super-packet there are only the headers, and a link charges all of it.
#[test]
fn a_packet_whose_headers_are_here_counts_as_a_whole() {
    let bytes = udp([10, 0, 0, 1], [10, 0, 0, 2], [1, 2], 100);
    let told = Queued { len: 64_000, is_unfinished: true, ..queued(&bytes, LOCAL_OUT) };
    let mut pool = Pool::default();
    // What the buffer held before does not show.
    let before = pool.fill_with(LARGE_FRAME, |buffer| {
        buffer.fill(9);
        Some((buffer.len(), VirtioHeader::COMPLETE))
    });
    pool.recycle(before.expect("memory"));
    let tag = Tag { id: 1, is_held: true, is_altered: false };
    let packet = packet_of(&told, tag, &mut pool).expect("memory");
    assert_eq!((packet.size(), packet.segments(), packet.bytes().len()), (Bytes::new(64_000), 1, ETHERNET + 128));
    let endless = Queued { len: usize::MAX, ..told };
    assert_eq!(packet_of(&endless, tag, &mut pool).map(|long| long.size()), Some(Bytes::new(LONGEST as u64)));
}

#[test]
fn pipes_are_plain_until_they_have_a_model() {
    let plain = PipeConfig::default();
    assert!(is_plain(&plain) && !is_altering(&plain));
    let queue = QueueConfig::FqCodel(netloom_link::FqCodelConfig::default());
    assert!(is_plain(&PipeConfig { queue: queue.clone(), ..plain.clone() }), "nothing waits without a rate");
    assert!(is_altering(&PipeConfig { queue, ..plain.clone() }));
    let distribution = Distribution::Constant(Duration::from_millis(1));
    let delay = DelayConfig { distribution, ..DelayConfig::default() };
    let rate = RateConfig::Constant(Rate::from_bits_per_second(1_000_000).expect("a rate"));
    let corrupt = CorruptConfig { probability: netloom_units::Probability::ONE, ..CorruptConfig::default() };
    let models =
        [PipeConfig { delay, ..plain.clone() }, PipeConfig { rate, ..plain.clone() }, PipeConfig { corrupt, ..plain }];
    assert_eq!(
        models.each_ref().map(|config| (is_plain(config), is_altering(config))),
        [(false, false), (false, false), (false, true)]
    );
}

/// A packet's own time counts if it can be one: it may be another clock's.
#[test]
fn a_packet_that_was_received_came_when_it_was_received() {
    let day = TimeOfDay::new(Clock::start(None, netloom_units::Dilation::ONE));
    let bytes = udp([10, 0, 0, 1], [10, 0, 0, 2], [1, 2], 1);
    let of_day = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("after 1970");
    let stamp = |second: u64| (u32::try_from(second).expect("before 2106"), of_day.subsec_micros());
    let second = of_day.as_secs() + 60;
    let came = day.lab_time(stamp(second).0, stamp(second).1 * 1_000);
    let come = |given| arrival(&Queued { stamp: given, ..queued(&bytes, 0) }, &day, came + Duration::from_millis(500));
    assert_eq!(come(Some(stamp(second))), came);
    for other in [None, Some(stamp(second + 10)), Some(stamp(second - 10)), Some(stamp(77))] {
        assert_eq!(come(other), came + Duration::from_millis(500));
    }
}
