use super::*;
use netloom_fuzz::fuzz;
use proptest::collection::vec;
use proptest::prelude::*;

/// A message with a packet as a kernel sends it, whose numbers can be wrong.
#[derive(Clone, Debug)]
struct Told {
    id: u32,
    hook: u8,
    stamp: Option<[u32; 4]>,
    out_interface: Option<u32>,
    info: Option<u32>,
    whole: Option<u32>,
    owner: Option<[u32; 2]>,
    bytes: Vec<u8>,
}

fn sent(told: &Told) -> Vec<u8> {
    let mut message = Vec::new();
    write(&mut message, PACKET, 0, 7, |message| {
        attribute(message, PACKET_HEADER, &[&told.id.to_be_bytes(), &[0x86, 0xdd, told.hook]]);
        if let Some(stamp) = told.stamp {
            attribute(message, TIMESTAMP, &[&stamp.map(u32::to_be_bytes).concat()]);
        }
        for (kind, value) in [(OUT_INTERFACE, told.out_interface), (SKB_INFO, told.info), (WHOLE_LENGTH, told.whole)] {
            if let Some(number) = value {
                attribute(message, kind, &[&number.to_be_bytes()]);
            }
        }
        for (kind, id) in [USER, GROUP].into_iter().zip(told.owner.into_iter().flatten()) {
            attribute(message, kind, &[&id.to_be_bytes()]);
        }
        // An attribute that is of no interest, with a flag in its type.
        attribute(message, 0x8000 | 11, &[&[1, 2, 3]]);
        attribute(message, PAYLOAD, &[&told.bytes]);
    });
    message
}

fn told() -> impl Strategy<Value = Told> {
    let number = || proptest::option::of(any::<u32>());
    let words = proptest::option::of(any::<[u32; 4]>());
    let owners = proptest::option::of(any::<[u32; 2]>());
    let parts = (any::<u32>(), any::<u8>(), words, number(), number(), number(), owners, vec(any::<u8>(), 0..200));
    parts.prop_map(|(id, hook, stamp, out_interface, info, whole, owner, bytes)| Told {
        id,
        hook,
        stamp,
        out_interface,
        info,
        whole,
        owner,
        bytes,
    })
}

#[test]
fn a_packet_is_read_as_the_kernel_tells_it() {
    let told = Told {
        id: 9,
        hook: LOCAL_OUT,
        stamp: Some([0, 1_700_000_000, 0, 999_999]),
        out_interface: Some(3),
        info: Some(2),
        whole: Some(64_000),
        owner: Some([1_000, 100]),
        bytes: vec![5; 61],
    };
    let nobody = Told { id: 10, info: None, whole: None, out_interface: None, owner: None, ..told.clone() };
    let bytes = [sent(&told), sent(&nobody)].concat();
    let found: Vec<Message<'_>> = messages(&bytes).collect();
    let first = Queued {
        id: 9,
        protocol: 0x86dd,
        hook: LOCAL_OUT,
        out_interface: 3,
        user: Some(1_000),
        group: Some(100),
        stamp: Some((1_700_000_000, 999_999)),
        is_unfinished: true,
        len: 64_000,
        bytes: &told.bytes,
    };
    let second = Queued { id: 10, out_interface: 0, user: None, group: None, is_unfinished: false, len: 61, ..first };
    assert_eq!(found, [Message::Packet(first), Message::Packet(second)]);
    // Somebody cuts it, or writes its checksum; that its checksum was found right is of no interest.
    for (info, is_unfinished) in [(1, true), (2, true), (3, true), (4, false)] {
        let one = sent(&Told { info: Some(info), whole: None, ..told.clone() });
        assert!(
            matches!(messages(&one).next(), Some(Message::Packet(queued)) if queued.is_unfinished == is_unfinished),
            "{info}"
        );
    }
}

#[test]
fn errors_are_told_by_their_number() {
    let answer = |code: i32| {
        let mut message = Vec::new();
        write(&mut message, ERROR, 0, 0, |_| {});
        // An answer has its number where other messages have the queue's.
        message[HEADER..].copy_from_slice(&code.to_ne_bytes());
        message
    };
    let bytes = [answer(0), answer(-libc::EBUSY), answer(i32::MIN)].concat();
    let found: Vec<Message<'_>> = messages(&bytes).collect();
    assert_eq!(found, [Message::Answer(0), Message::Answer(libc::EBUSY), Message::Answer(i32::MAX)]);
}

/// As `struct nlmsghdr`, `struct nfgenmsg` and `struct nlattr` lie in memory.
#[test]
fn a_verdict_is_written_as_the_kernel_reads_it() {
    let mut written = Vec::new();
    verdict(&mut written, 0x0102, 0x0a0b_0c0d, Verdict::Accept, &[&[1, 2], &[3]]);
    let header = [&40_u32.to_ne_bytes()[..], &0x301_u16.to_ne_bytes(), &1_u16.to_ne_bytes(), &[0; 8]].concat();
    let decision = [&12_u16.to_ne_bytes()[..], &2_u16.to_ne_bytes(), &[0, 0, 0, 1, 0x0a, 0x0b, 0x0c, 0x0d]].concat();
    let payload = [&7_u16.to_ne_bytes()[..], &10_u16.to_ne_bytes(), &[1, 2, 3, 0]].concat();
    assert_eq!(written, [header, vec![0, 0, 1, 2], decision, payload].concat());
}

#[test]
fn one_verdict_stands_for_all_packets_up_to_one() {
    let mut written = Vec::new();
    verdict_on_all(&mut written, 0x0102, 0x0a0b_0c0d, Verdict::Accept);
    let header = [&32_u32.to_ne_bytes()[..], &0x303_u16.to_ne_bytes(), &1_u16.to_ne_bytes(), &[0; 8]].concat();
    let decision = [&12_u16.to_ne_bytes()[..], &2_u16.to_ne_bytes(), &[0, 0, 0, 1, 0x0a, 0x0b, 0x0c, 0x0d]].concat();
    assert_eq!(written, [header, vec![0, 0, 1, 2], decision].concat());
}

#[test]
fn a_packet_that_is_too_long_for_a_message_stays_as_it_is() {
    let mut written = Vec::new();
    verdict(&mut written, 1, 2, Verdict::Accept, &[&[0; 65_532]]);
    assert_eq!(written.len(), HEADER + GENERIC + 12);
}

#[test]
fn fuzz_messages_of_a_queue() {
    // Any byte may be wrong, lengths above all, and the message may end anywhere.
    let changes = vec((any::<proptest::sample::Index>(), any::<u8>()), 0..6);
    let inputs = (vec(told(), 1..4), changes, any::<proptest::sample::Index>());
    fuzz("messages_of_a_queue", 400, &inputs, |(all, wrong, end)| {
        let mut bytes: Vec<u8> = all.iter().flat_map(sent).collect();
        for (place, value) in wrong {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(end.index(bytes.len() + 1));
        let mut count = 0;
        for message in messages(&bytes) {
            count += 1;
            if let Message::Packet(queued) = message {
                assert!(queued.bytes.len() <= queued.len && queued.bytes.len() <= bytes.len());
            }
        }
        assert!(count <= bytes.len() / HEADER, "every message has a header");
    });
}
