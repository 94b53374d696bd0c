//! The queue of a terminal in one direction, and what of it is on the air.

use crate::frame::{Cause, Frame};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use netloom_units::{Instant, Seed};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The bytes of headers for a packet, or a part of one, in a transport block: 2 of PDCP, 2 of RLC and 3 of MAC (TS 36.323, 36.322 and 36.321).
pub(super) const HEADER: u64 = 7;

#[derive(Clone, Debug)]
pub(super) struct Bearer<P> {
    queue: VecDeque<Waiting<P>>,
    /// The bytes that are still to be sent, without headers.
    left: u64,
    /// The blocks to be sent again, by when.
    pub(super) repeats: VecDeque<Repeat>,
    /// The blocks that were sent and not delivered, in order; the number of the first of them.
    window: VecDeque<Block<P>>,
    first: u64,
    /// The last block that was given up.
    lost: Option<u64>,
    /// When what is missing is given up, in unacknowledged mode.
    pub(super) gives_up: Option<Instant>,
    /// From when on the base station knows that something waits; none: it does not.
    pub(super) known_from: Option<Instant>,
    /// Nothing can be sent before this instant.
    pub(super) blind_until: Instant,
    pub(super) share: Share,
    pub(super) errors: Xoshiro256PlusPlus,
}

/// The share of a terminal in what a scheduler gave away.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// The average of bits per slot, times 2^16, and the slot up to which it counts.
    pub(super) average: u64,
    pub(super) until: u64,
    /// The slot behind the one in which it was served last.
    pub(super) served: u64,
}

#[derive(Clone, Debug)]
struct Waiting<P> {
    frame: Frame<P>,
    sent: u64,
    /// The block with its first part.
    since: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Repeat {
    pub(super) due: Instant,
    pub(super) block: u64,
    /// Which attempt of HARQ it will be, from 1 on.
    pub(super) attempt: u32,
    /// Which one of radio link control, from 1 on.
    pub(super) round: u32,
    pub(super) bytes: u64,
}

#[derive(Clone, Debug)]
struct Block<P> {
    /// The packets that end in it, and the blocks with their first parts.
    frames: Vec<(Frame<P>, u64)>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    OnAir,
    Decoded,
    Lost,
}

impl<P> Bearer<P> {
    pub(super) fn new(seed: Seed) -> Self {
        Self {
            queue: VecDeque::new(),
            left: 0,
            repeats: VecDeque::new(),
            window: VecDeque::new(),
            first: 0,
            lost: None,
            gives_up: None,
            known_from: None,
            blind_until: Instant::ZERO,
            share: Share::default(),
            errors: Xoshiro256PlusPlus::seed_from_u64(seed.get()),
        }
    }

    /// How many packets wait for being sent.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// How many packets are on their way.
    pub(super) fn on_air(&self) -> usize {
        self.window.iter().map(|block| block.frames.len()).sum()
    }

    /// The bytes that all that waits takes, with headers.
    pub(super) fn needed(&self) -> u64 {
        self.left + HEADER * self.queue.len() as u64
    }

    pub(super) fn push(&mut self, frame: Frame<P>) {
        // A packet without bytes is still sent.
        self.left += frame.size.get().max(1);
        self.queue.push_back(Waiting { frame, sent: 0, since: 0 });
    }

    /// Fills a block with at most so many bytes, and returns its number and what it takes.
    pub(super) fn fill(&mut self, room: u64) -> (u64, u64) {
        let number = self.first + self.window.len() as u64;
        let (mut frames, mut taken) = (Vec::new(), 0);
        while taken + HEADER < room
            && let Some(head) = self.queue.front_mut()
        {
            if head.sent == 0 {
                head.since = number;
            }
            let part = (head.frame.size.get().max(1) - head.sent).min(room - taken - HEADER);
            head.sent += part;
            self.left -= part;
            taken += part + HEADER;
            if head.sent < head.frame.size.get().max(1) {
                break;
            }
            frames.extend(self.queue.pop_front().map(|Waiting { frame, since, .. }| (frame, since)));
        }
        self.window.push_back(Block { frames, state: State::OnAir });
        (number, taken)
    }

    fn block(&mut self, number: u64) -> Option<&mut Block<P>> {
        let place = number.checked_sub(self.first)?;
        self.window.get_mut(usize::try_from(place).ok()?)
    }

    /// A block has been decoded.
    pub(super) fn decode(&mut self, number: u64) {
        if let Some(block) = self.block(number) {
            block.state = State::Decoded;
        }
    }

    /// A block is given up: shows what gets lost with it at once.
    pub(super) fn lose(&mut self, number: u64, mut sink: impl FnMut(Frame<P>, Option<Cause>)) {
        if let Some(block) = self.block(number) {
            block.state = State::Lost;
            block.frames.drain(..).for_each(|(frame, _)| sink(frame, Some(Cause::Retries)));
        }
    }

    /// Whether something that was decoded waits behind a block that is missing.
    pub(super) fn has_gap(&self) -> bool {
        self.window.iter().any(|block| block.state == State::Decoded)
    }

    /// Gives up the blocks that are missing at the front, and shows the packets that get lost with them.
    pub(super) fn skip(&mut self, mut sink: impl FnMut(Frame<P>, Option<Cause>)) {
        while let Some(block) = self.pop(|state| state != State::Decoded) {
            block.frames.into_iter().for_each(|(frame, _)| sink(frame, Some(Cause::Retries)));
        }
        let first = self.first;
        self.repeats.retain(|repeat| repeat.block >= first);
    }

    /// Shows what is delivered, or was lost in parts. `over_lost`: nobody waits for blocks that were given up.
    pub(super) fn deliver(&mut self, over_lost: bool, mut sink: impl FnMut(Frame<P>, Option<Cause>)) {
        while let Some(block) = self.pop(|state| state == State::Decoded || over_lost && state == State::Lost) {
            for (frame, since) in block.frames {
                let is_whole = self.lost.is_none_or(|lost| lost < since);
                sink(frame, if is_whole { None } else { Some(Cause::Retries) });
            }
        }
    }

    /// Takes the first block if it is in such a state.
    fn pop(&mut self, wanted: impl Fn(State) -> bool) -> Option<Block<P>> {
        let block = if wanted(self.window.front()?.state) { self.window.pop_front() } else { None }?;
        if block.state != State::Decoded {
            self.lost = Some(self.first);
        }
        self.first += 1;
        Some(block)
    }

    /// Puts a block among those to be sent again.
    pub(super) fn repeat(&mut self, repeat: Repeat) {
        let place = self.repeats.partition_point(|other| other.due <= repeat.due);
        self.repeats.insert(place, repeat);
    }

    /// Whether something waits or may still arrive.
    pub(super) fn has_data(&self) -> bool {
        !self.queue.is_empty() || !self.repeats.is_empty() || self.has_gap()
    }

    /// Goes to another site. In acknowledged mode all is sent again from the first packet on of which it is not known that it arrived; otherwise what was on its
    /// way is lost, a packet of which a part was sent included (TS 36.323, 5.2.1).
    pub(super) fn move_on(&mut self, is_acknowledged: bool, mut sink: impl FnMut(Frame<P>, Option<Cause>)) {
        self.repeats.clear();
        (self.gives_up, self.blind_until, self.share) = (None, Instant::ZERO, Share::default());
        if is_acknowledged {
            self.first += self.window.len() as u64;
            if let Some(head) = self.queue.front_mut() {
                self.left += head.sent;
                head.sent = 0;
            }
            for (frame, _) in self.window.drain(..).flat_map(|block| block.frames).rev() {
                self.left += frame.size.get().max(1);
                self.queue.push_front(Waiting { frame, sent: 0, since: 0 });
            }
            return;
        }
        while !self.window.is_empty() {
            self.deliver(true, &mut sink);
            self.skip(&mut sink);
        }
        let begun = self.queue.front().is_some_and(|head| head.sent > 0);
        if let Some(head) = if begun { self.queue.pop_front() } else { None } {
            self.left -= head.frame.size.get().max(1) - head.sent;
            sink(head.frame, Some(Cause::Retries));
        }
    }

    /// Loses what waits.
    pub(super) fn drop_waiting(&mut self, mut sink: impl FnMut(Frame<P>)) {
        self.queue.drain(..).for_each(|waiting| sink(waiting.frame));
        self.left = 0;
    }

    /// Ends everything, and shows what was there.
    pub(super) fn clear(&mut self, mut sink: impl FnMut(Frame<P>)) {
        self.first += self.window.len() as u64;
        self.window.drain(..).flat_map(|block| block.frames).for_each(|(frame, _)| sink(frame));
        self.queue.drain(..).for_each(|waiting| sink(waiting.frame));
        self.repeats.clear();
        (self.left, self.gives_up, self.known_from, self.lost) = (0, None, None, None);
    }
}

impl Share {
    /// Brings the average up to a slot, after which it counts what is given there.
    pub(super) fn pass(&mut self, slot: u64, window: u32) {
        while self.until < slot && self.average > 0 {
            self.average -= self.average.div_ceil(u64::from(window));
            self.until += 1;
        }
        self.until = self.until.max(slot);
    }

    /// Gets so many bits in a slot.
    pub(super) fn get(&mut self, slot: u64, bits: u64, window: u32) {
        self.average += (bits << 16) / u64::from(window);
        self.served = slot + 1;
    }
}
