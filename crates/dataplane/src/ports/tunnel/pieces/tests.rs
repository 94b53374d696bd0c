//! Cutting and joining.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const LENGTHS: Lengths = Lengths { packet: 14..=9_018, train: 24..=67_594 };

fn frame(number: u64, len: usize) -> Vec<u8> {
    (0..len).map(|at| (at as u64 * 31 + number * 7) as u8).collect()
}

/// Gives pieces of frames, each by its frame's number and its place; returns the frames that were whole, in their order.
fn joined(joining: &mut Joining, numbers: &mut Numbers, all: &[(u64, Piece<'_>)]) -> Vec<(u64, Vec<u8>)> {
    let take = |(number, piece): &(u64, Piece<'_>)| {
        let (whole, _) = joining.take((*number, 5), *piece, 0, &LENGTHS, numbers)?;
        Some((*number, whole.to_vec()))
    };
    all.iter().filter_map(take).collect()
}

#[test]
fn pieces_are_equally_long_but_the_last() {
    let frame = frame(0, 1_514);
    let sizes = |room| {
        cut(&frame, Content::Packet, room).map(|pieces| pieces.map(|piece| piece.bytes.len()).collect::<Vec<_>>())
    };
    assert_eq!(sizes(1_428), Some(vec![757, 757]));
    assert_eq!(sizes(500), Some(vec![379, 379, 379, 377]));
    assert_eq!(sizes(1_514), None, "it fits");
    assert_eq!(cut(&frame, Content::Train, 1_514).unwrap().map(|piece| piece.count).collect::<Vec<_>>(), [1]);
    assert_eq!(sizes(5), None, "more pieces than can be counted");
    assert_eq!(sizes(6).map(|all| all.len()), Some(253));
}

#[test]
fn what_waits_too_long_or_loses_its_place_is_given_up_once() {
    let (mut joining, mut numbers) = (Joining::default(), Numbers::default());
    let whole = frame(0, 100);
    let pieces: Vec<_> = cut(&whole, Content::Packet, 50).unwrap().collect();
    let mut take =
        |own: &mut Joining, number, piece, came| own.take((number, 5), piece, came, &LENGTHS, &mut numbers).is_some();
    // A piece after the limit finds its frame given up, and a further one as well.
    assert!(!take(&mut joining, 0, pieces[0], 0));
    assert!(!take(&mut joining, 0, pieces[1], WAITS + 1) && !take(&mut joining, 0, pieces[0], WAITS + 1));
    assert_eq!(joining.counts, Counts { given_up: 1, repeated: 2, ..Counts::default() });
    // Another frame takes the place.
    assert!(!take(&mut joining, 1, pieces[0], 0) && !take(&mut joining, 1 + FRAMES, pieces[0], 0));
    assert!(!take(&mut joining, 1, pieces[1], 0) && take(&mut joining, 1 + FRAMES, pieces[1], 0));
    assert_eq!(joining.counts, Counts { joined: 1, given_up: 2, repeated: 3, ..Counts::default() });
    // Nobody has to come for a frame to be given up.
    assert!(!take(&mut joining, 2, pieces[0], 0) && !take(&mut joining, 3, pieces[0], 100));
    joining.expire(WAITS + 1, &mut numbers);
    assert_eq!(joining.counts.given_up, 3);
    joining.clear(&mut numbers);
    assert_eq!((joining.counts.given_up, numbers.come()), (4, 1));
}

#[test]
fn pieces_of_no_frame_are_malformed() {
    let (mut joining, mut numbers) = (Joining::default(), Numbers::default());
    let bytes = [1; 50];
    let good = Piece { index: 0, count: 2, whole: 100, content: Content::Packet, bytes: &bytes };
    let train = Piece { count: 1, whole: 50, content: Content::Train, ..good };
    assert!(joining.take((9, 5), train, 0, &LENGTHS, &mut numbers).is_some());
    let bad = [
        Piece { index: 1, ..train },
        Piece { count: 0, ..train },
        Piece { index: 2, ..good },
        Piece { count: 0, ..good },
        Piece { count: 1, whole: 50, ..good },
        Piece { count: 255, whole: 14, bytes: &bytes[..1], ..good },
        Piece { whole: 99, bytes: &bytes[..49], ..good },
        Piece { bytes: &bytes[..49], ..good },
        Piece { whole: u32::MAX, ..good },
        Piece { whole: 13, bytes: &bytes[..7], ..good },
        Piece { whole: 23, content: Content::Train, bytes: &bytes[..12], ..good },
    ];
    for piece in bad {
        assert!(joining.take((0, 5), piece, 0, &LENGTHS, &mut numbers).is_none());
    }
    assert_eq!(joining.counts, Counts { joined: 1, malformed: 11, ..Counts::default() });
    // Nor may pieces differ in what they say of their frame.
    assert!(joining.take((0, 5), good, 0, &LENGTHS, &mut numbers).is_none());
    let others = [
        ((0, 6), Piece { index: 1, ..good }),
        ((0, 5), Piece { index: 1, count: 3, whole: 150, ..good }),
        ((0, 5), Piece { index: 1, content: Content::Train, ..good }),
    ];
    for (of, piece) in others {
        assert!(joining.take(of, piece, 0, &LENGTHS, &mut numbers).is_none());
    }
    assert_eq!(joining.counts, Counts { joined: 1, malformed: 14, ..Counts::default() });
    assert!(joining.take((0, 5), Piece { index: 1, ..good }, 0, &LENGTHS, &mut numbers).is_some());
}

proptest! {
    /// In any order, with losses and repetitions, a frame arrives whole and once, or not at all; without losses it arrives.
    #[test]
    fn a_frame_arrives_whole_and_once_or_not_at_all(
        lengths in proptest::collection::vec(20_usize..2_000, 1..12),
        room in 10_usize..1_500,
        fates in proptest::collection::vec((0_u8..4, any::<u32>(), any::<u32>()), 1..400),
    ) {
        let frames: Vec<Vec<u8>> = (0..).zip(&lengths).map(|(number, len)| frame(number, *len)).collect();
        let mut all = Vec::new();
        let (mut cuts, mut losers) = (BTreeSet::new(), BTreeSet::new());
        let mut fate = fates.iter().cycle();
        for (number, frame) in (0_u64..).zip(&frames) {
            let Some(pieces) = cut(frame, Content::Packet, room) else { continue };
            cuts.insert(number);
            for piece in pieces {
                prop_assert!(piece.bytes.len() <= room);
                let (kind, first, second) = fate.next().unwrap();
                // One is lost, one comes twice, two come once.
                if *kind == 0 { losers.insert(number); } else { all.push((*first, (number, piece))); }
                if *kind == 1 { all.push((*second, (number, piece))); }
            }
        }
        all.sort_by_key(|(order, _)| *order);
        let all: Vec<_> = all.into_iter().map(|(_, piece)| piece).collect();
        let (mut joining, mut numbers) = (Joining::default(), Numbers::default());
        let got = joined(&mut joining, &mut numbers, &all);
        let whole: BTreeSet<u64> = got.iter().map(|(number, _)| *number).collect();
        prop_assert_eq!(got.len(), whole.len(), "once");
        prop_assert_eq!(&whole, &(&cuts - &losers));
        for (number, bytes) in &got {
            prop_assert_eq!(bytes, &frames[usize::try_from(*number).unwrap()]);
        }
        joining.clear(&mut numbers);
        let begun: BTreeSet<u64> = all.iter().map(|(number, _)| *number).collect();
        prop_assert_eq!(joining.counts.joined + joining.counts.given_up, begun.len() as u64);
        prop_assert_eq!((numbers.come(), joining.counts.malformed), (whole.len() as u64, 0));
    }

    /// Whatever comes, memory is bounded, and each piece is counted or in work.
    #[test]
    fn endless_nonsense_takes_bounded_memory(
        pieces in proptest::collection::vec(
            (0_u64..600, 0_u64..2, 0_u8..4, 0_u8..4, 0_u32..200, 0_usize..60, 0_u64..WAITS * 3), 0..600,
        ),
    ) {
        let (mut joining, mut numbers) = (Joining::default(), Numbers::default());
        let bytes = [0; 60];
        for (number, due, index, count, whole, len, came) in pieces {
            let content = if len % 2 == 0 { Content::Packet } else { Content::Train };
            let piece = Piece { index, count, whole, content, bytes: &bytes[..len] };
            let lengths = Lengths { packet: 14..=150, train: 24..=150 };
            let got = joining.take((number, due), piece, came, &lengths, &mut numbers).map(|(frame, _)| frame.len());
            prop_assert!(got.is_none_or(|got| got == whole as usize));
        }
        prop_assert!(joining.works.len() as u64 <= FRAMES);
        prop_assert!(joining.works.iter().all(|work| work.frame.capacity() <= 2 * 150));
        prop_assert_eq!(numbers.come(), joining.counts.joined);
    }
}
