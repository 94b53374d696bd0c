//! Frames that the path lost: the far end asks for them, and this end sends them again.
//!
//! Frames are numbered, so an end sees by the next one, or by how many the far end says to have sent, which have not come. Whoever sends says so
//! as soon as no frame follows for a while. The other end waits a little
//! for those that were only overtaken, and asks then. A frame is asked for a few times, a round trip apart, and given up when it would be lost
//! to the far end's count, too. Whoever is asked has the last frames that it sent; what it has no more is lost.
//!
//! Packets are sent ahead of their instant by what all of that takes, as far as the delay of their pipe allows: then a frame that was lost once
//! still comes in time.

use super::pieces::Content;
use std::collections::VecDeque;

/// Frames that are kept after they were sent, and their bytes, at most.
const KEPT: usize = 8_192;
const KEPT_BYTES: usize = 16 << 20;
/// The room that the memory of a frame may have beside twice its length.
const SLACK: usize = 64;
/// How often a frame is asked for, and sent again, at most.
const TIMES: u8 = 5;
/// The time within which frames overtake one another on most paths, in nanoseconds.
pub(super) const OVERTAKES: u64 = 200_000;
/// Whoever has sent a frame says how many there were, if none follows for so long.
pub(super) const SAID_AFTER: u64 = 500_000;
/// Who does not know the round trip asks again after this.
const ASKED_AFTER: u64 = 1_000_000;
/// A frame is given up when it is missing for so long.
const GIVEN_UP: u64 = 200_000_000;
/// Frames that are missing at once and still asked for, at most: beyond that the path carries too little to be repaired.
const MISSING: usize = 1_024;
/// Numbers that one request names: a first one, and so many from it on.
const NAMED: u64 = 64;

/// A frame that was sent.
#[derive(Debug)]
struct Sent {
    number: u64,
    due: u64,
    times: u8,
    content: Content,
    bytes: Vec<u8>,
}

/// The frames that were sent last, for when the far end asks for them.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Their numbers follow one another.
    frames: VecDeque<Sent>,
    bytes: usize,
    /// How many frames were sent once more.
    pub(super) resent: u64,
}

impl Kept {
    /// Keeps a frame whose number follows that of the last one, and leaves the memory of an older one in its place.
    pub(super) fn keep(&mut self, number: u64, due: u64, content: Content, frame: &mut Vec<u8>) {
        let mut memory = Vec::new();
        while self.frames.len() >= KEPT || self.bytes + frame.len() > KEPT_BYTES {
            let Some(oldest) = self.frames.pop_front() else { break };
            self.bytes -= oldest.bytes.capacity();
            memory = oldest.bytes;
        }
        // A short frame is not to keep the memory of a train.
        let is_snug = frame.capacity() <= 2 * frame.len() + SLACK;
        let bytes = if is_snug { std::mem::replace(frame, memory) } else { frame.as_slice().to_vec() };
        self.bytes += bytes.capacity();
        self.frames.push_back(Sent { number, due, times: 0, content, bytes });
    }

    /// Returns a frame that is to be sent once more, with the instant at which it is due; none if it is not there, or was sent too often.
    pub(super) fn again(&mut self, number: u64) -> Option<(u64, Content, &[u8])> {
        let at = number.checked_sub(self.frames.front()?.number)?;
        let sent = self.frames.get_mut(usize::try_from(at).ok()?).filter(|sent| sent.times < TIMES)?;
        sent.times += 1;
        self.resent += 1;
        Some((sent.due, sent.content, &sent.bytes))
    }

    /// Keeps nothing for another life of the far end.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.bytes = 0;
    }
}

/// A frame that has not come, though one behind it has.
#[derive(Debug)]
struct Gap {
    number: u64,
    noticed: u64,
    /// When it is asked for next, and how often it was.
    asks_at: u64,
    times: u8,
}

/// The frames of the far end that are missing.
#[derive(Debug)]
pub(super) struct Missing {
    /// In the order of their numbers.
    gaps: VecDeque<Gap>,
    /// One above the highest number that was sent, as far as that is known.
    next: u64,
    /// When the next request is due.
    asks_at: u64,
    /// How many frames came after they had been asked for.
    pub(super) repaired: u64,
}

impl Default for Missing {
    fn default() -> Self {
        Self { gaps: VecDeque::new(), next: 0, asks_at: u64::MAX, repaired: 0 }
    }
}

impl Missing {
    /// The far end has sent the frames in front of this number; `now` it is known.
    pub(super) fn sent(&mut self, number: u64, now: u64) {
        let room = MISSING - self.gaps.len();
        let asks_at = now.saturating_add(OVERTAKES);
        for missing in (self.next..number).take(room) {
            self.asks_at = self.asks_at.min(asks_at);
            self.gaps.push_back(Gap { number: missing, noticed: now, asks_at, times: 0 });
        }
        self.next = self.next.max(number);
    }

    /// The frame of this number has come.
    pub(super) fn came(&mut self, number: u64, now: u64) {
        if number == self.next {
            // The usual case: nothing is missing.
            self.next += 1;
            return;
        }
        self.sent(number.saturating_add(1), now);
        if let Ok(place) = self.gaps.binary_search_by_key(&number, |gap| gap.number) {
            let gap = self.gaps.remove(place);
            self.repaired += u64::from(gap.is_some_and(|gap| gap.times > 0));
        }
    }

    /// When there is something to ask for.
    pub(super) fn asks_at(&self) -> u64 {
        self.asks_at
    }

    /// Returns numbers that are to be asked for now: the first, and a bit for each from it on. To be called until there are none.
    pub(super) fn ask(&mut self, now: u64, round_trip: u64) -> Option<(u64, u64)> {
        if now < self.asks_at {
            return None;
        }
        self.gaps.retain(|gap| gap.times < TIMES && now.saturating_sub(gap.noticed) < GIVEN_UP);
        let again = now.saturating_add(round_trip.max(ASKED_AFTER));
        let mut named = None;
        for gap in self.gaps.iter_mut().filter(|gap| gap.asks_at <= now) {
            let (first, bits) = named.get_or_insert((gap.number, 0));
            if gap.number - *first >= NAMED {
                break;
            }
            *bits |= 1 << (gap.number - *first);
            gap.times += 1;
            gap.asks_at = again;
        }
        self.asks_at = self.gaps.iter().map(|gap| gap.asks_at).min().unwrap_or(u64::MAX);
        named
    }

    /// Another life of the far end counts from zero; what was repaired before stays counted.
    pub(super) fn begin_anew(&mut self) {
        *self = Self { repaired: self.repaired, ..Self::default() };
    }
}

/// The numbers that a request names.
pub(super) fn named(first: u64, bits: u64) -> impl Iterator<Item = u64> {
    (0..NAMED).filter(move |bit| bits >> bit & 1 == 1).filter_map(move |bit| first.checked_add(bit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const ROUND_TRIP: u64 = 5_000_000;

    fn asked(missing: &mut Missing, now: u64) -> Vec<u64> {
        std::iter::from_fn(|| missing.ask(now, ROUND_TRIP)).flat_map(|(first, bits)| named(first, bits)).collect()
    }

    #[test]
    fn what_is_missing_is_asked_for_after_a_while_and_again_after_a_round_trip() {
        let mut missing = Missing::default();
        [0, 1, 4].into_iter().for_each(|number| missing.came(number, 100));
        assert_eq!((asked(&mut missing, 100), missing.asks_at()), (vec![], 100 + OVERTAKES));
        // It was only overtaken.
        missing.came(3, 200);
        let first = 100 + OVERTAKES;
        assert_eq!(asked(&mut missing, first), [2]);
        assert_eq!((asked(&mut missing, first), missing.asks_at()), (vec![], first + ROUND_TRIP));
        assert_eq!(asked(&mut missing, first + ROUND_TRIP), [2]);
        missing.came(2, first + ROUND_TRIP);
        assert_eq!((missing.repaired, asked(&mut missing, u64::MAX)), (1, vec![]));
        // Whoever says how many there were shows that the last ones are missing.
        missing.sent(8, first);
        assert_eq!(asked(&mut missing, first + OVERTAKES), [5, 6, 7]);
    }

    #[test]
    fn nothing_is_asked_for_without_end() {
        let mut missing = Missing::default();
        missing.came(70, 0);
        let mut now = OVERTAKES;
        for _ in 0..TIMES {
            assert_eq!(asked(&mut missing, now), (0..70).collect::<Vec<_>>());
            now += ROUND_TRIP;
        }
        assert_eq!((asked(&mut missing, now), missing.asks_at(), missing.gaps.len()), (vec![], u64::MAX, 0));
        // So many at once are more than is repaired, and what is old is given up.
        missing.came(u64::MAX, now);
        assert_eq!(missing.gaps.len(), MISSING);
        assert_eq!((asked(&mut missing, now + GIVEN_UP), missing.gaps.len()), (vec![], 0));
    }

    #[test]
    fn the_last_frames_are_kept_and_sent_a_few_times() {
        let mut kept = Kept::default();
        assert!(kept.again(0).is_none());
        for number in 3..u64::try_from(KEPT).unwrap() + 10 {
            kept.keep(number, number * 2, Content::Packet, &mut number.to_be_bytes().to_vec());
        }
        assert!(kept.again(9).is_none() && kept.again(u64::MAX).is_none());
        for _ in 0..TIMES {
            assert_eq!(kept.again(10), Some((20, Content::Packet, &10_u64.to_be_bytes()[..])));
        }
        assert!(kept.again(10).is_none());
        assert_eq!((kept.bytes, kept.resent), (KEPT * 8, u64::from(TIMES)));
        kept.keep(u64::try_from(KEPT).unwrap() + 10, 0, Content::Train, &mut vec![0; KEPT_BYTES]);
        assert_eq!((kept.frames.len(), kept.bytes), (1, KEPT_BYTES));
        // What is kept takes no more memory than is counted.
        let mut frame = Vec::with_capacity(KEPT_BYTES);
        for number in KEPT + 11..KEPT + 500 {
            frame.clear();
            frame.extend_from_slice(&[1; 60]);
            kept.keep(u64::try_from(number).unwrap(), 0, Content::Packet, &mut frame);
        }
        assert!(
            kept.frames.iter().map(|sent| sent.bytes.capacity()).sum::<usize>() == kept.bytes && kept.bytes < 100 * 500
        );
    }

    proptest! {
        /// Whatever the order in which frames come, those that are asked for have not come, and all that are missing are.
        #[test]
        fn what_is_asked_for_is_missing(numbers in proptest::collection::vec(0_u64..300, 1..300)) {
            let (mut missing, mut have) = (Missing::default(), BTreeSet::new());
            for number in numbers {
                missing.came(number, 0);
                have.insert(number);
            }
            let last = *have.last().unwrap();
            let expected: Vec<u64> = (0..last).filter(|number| !have.contains(number)).collect();
            prop_assert_eq!(asked(&mut missing, OVERTAKES), expected);
        }
    }
}
