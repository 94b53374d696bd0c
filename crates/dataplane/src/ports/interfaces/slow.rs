//! A port whose packets are sent one by one: its interface has no room at the moment, or takes no trains.
//!
//! The kernel refuses a packet with `ENOBUFS` where the interface drops it (Linux 6.7 and later): the ring of the other end of a veth pair
//! is full (256 frames, where a program of XDP runs or packets are joined), or the processor's backlog. A train it refuses the same
//! way where the interface does not cut it, since what it would have to cut does not fit a queue that is passed by (`__dev_direct_xmit` of
//! net/core/dev.c).

use super::super::backlog::Backlog;
use netloom_fabric::Delivery;
use netloom_packet::Packet;
use std::time::Duration as RealDuration;

/// How long packets wait for a ring in which nothing moves: those who empty it may have to wait for a processor. Wall time.
const LONGEST: RealDuration = RealDuration::from_millis(100);

/// See the module.
#[derive(Default)]
pub(super) struct Slow {
    waiting: Backlog,
    /// What has been sent of the packet whose turn it is.
    sent: Option<Packet>,
    /// Since when there has been no room. Wall time since the epoch.
    since: Option<RealDuration>,
    /// Whether it takes no trains.
    cuts: bool,
    /// Whether it takes packets as a wire carries them, with their checksums.
    completes: bool,
}

/// Why a packet was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is no room for it now.
    Full,
    /// Nobody receives it.
    Down,
    /// It is not taken.
    Final,
}

impl Slow {
    /// A port that takes no trains, ever. `completes`: nor unfinished checksums.
    pub(super) fn cutting(completes: bool) -> Self {
        Self { cuts: true, completes, ..Self::default() }
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether packets cannot be sent as those of other ports are.
    pub(super) fn is_needed(&self) -> bool {
        self.cuts || !self.is_empty()
    }

    /// Whether it takes packets as a wire carries them.
    pub(super) fn completes(&self) -> bool {
        self.completes
    }

    /// A packet waits behind the others.
    ///
    /// # Errors
    /// Gives the packet back if there is no room for it.
    pub(super) fn push(&mut self, delivery: Delivery) -> Result<(), Delivery> {
        self.waiting.push(delivery, ())
    }

    /// The packet whose turn it is.
    pub(super) fn pop(&mut self) -> Option<Delivery> {
        self.waiting.pop().map(|(delivery, ())| delivery)
    }

    /// There was no room for the packet whose turn it was, or not for all of it.
    pub(super) fn put_back(&mut self, delivery: Delivery) {
        self.waiting.put_back(delivery, ());
    }

    /// Takes all that waits.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Delivery> {
        self.since = None;
        std::iter::from_fn(|| self.pop())
    }

    /// Whether a packet that finds no room at this instant may wait for it.
    pub(super) fn may_wait(&mut self, now: RealDuration) -> bool {
        let since = *self.since.get_or_insert(now);
        let may_wait = now.saturating_sub(since) < LONGEST;
        if !may_wait {
            self.sent = None;
        }
        may_wait
    }

    /// Has `send` send the packet, in segments where that is necessary. Of what was refused, the rest is in `delivery`; it is whole again
    /// when all of it was sent.
    pub(super) fn offer(
        &mut self,
        delivery: &mut Delivery,
        mut send: impl FnMut(&Packet) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let packet = &mut delivery.departure.packet;
        let is_cut = self.cuts || self.sent.is_some();
        if !is_cut {
            match send(packet) {
                Err(Refusal::Full) if packet.segments() > 1 => {}
                Ok(()) => return self.done(Ok(())),
                refused => return refused,
            }
        }
        while let Some(first) = packet.split_front(1) {
            let outcome = send(&first);
            if outcome.is_err() {
                let rest = std::mem::replace(packet, first);
                packet.append(&rest);
                return self.done(outcome);
            }
            self.since = None;
            match &mut self.sent {
                Some(sent) => sent.append(&first),
                none => *none = Some(first),
            }
        }
        let outcome = match send(packet) {
            // A super-packet of a kind that nobody here can cut will never be taken.
            Err(Refusal::Full) if self.cuts && packet.is_uncuttable() => Err(Refusal::Final),
            other => other,
        };
        if outcome.is_ok()
            && let Some(sent) = self.sent.take()
        {
            let last = std::mem::replace(packet, sent);
            packet.append(&last);
        }
        self.done(outcome)
    }

    /// What is sent or will never be is over.
    fn done(&mut self, outcome: Result<(), Refusal>) -> Result<(), Refusal> {
        match outcome {
            Ok(()) => self.since = None,
            Err(Refusal::Full) => {}
            Err(Refusal::Down | Refusal::Final) => self.sent = None,
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_fabric::{PipeId, PortId};
    use netloom_link::Departure;
    use netloom_packet::{Pool, Segmentation, VirtioHeader};
    use netloom_units::{Duration, Instant};

    /// Three segments of TCP, with an unfinished checksum.
    fn train() -> Delivery {
        let mut frame = vec![0; 54 + 3_000];
        frame[12..14].copy_from_slice(&[8, 0]);
        frame[14] = 0x45;
        frame[16..18].copy_from_slice(&3_040_u16.to_be_bytes());
        (frame[23], frame[46]) = (6, 0x50);
        let virtio = VirtioHeader {
            checksum: Some((34, 16)),
            segmentation: Segmentation::Tcp4,
            ecn: false,
            segment_size: 1_000,
            header_len: 54,
        };
        let packet = Pool::default().packet(virtio, &frame);
        let departure = Departure {
            packet,
            due: Instant::ZERO,
            first_due: Instant::ZERO,
            delay: Duration::ZERO,
            busy: Duration::ZERO,
        };
        Delivery { pipe: PipeId(0), port: PortId(0), departure }
    }

    /// Offers the packet to an interface with room for so many packets, and that takes trains or not; what it took, by segments.
    fn offer(
        slow: &mut Slow,
        delivery: &mut Delivery,
        room: usize,
        takes_trains: bool,
    ) -> (Vec<u32>, Result<(), Refusal>) {
        let mut taken = Vec::new();
        let outcome = slow.offer(delivery, |packet| {
            if taken.len() == room || (packet.segments() > 1 && !takes_trains) {
                return Err(Refusal::Full);
            }
            taken.push(packet.segments());
            Ok(())
        });
        (taken, outcome)
    }

    #[test]
    fn what_is_left_of_a_train_waits_and_none_is_sent_twice() {
        let (mut slow, mut delivery) = (Slow::cutting(false), train());
        assert_eq!(offer(&mut slow, &mut delivery, 1, true), (vec![1], Err(Refusal::Full)));
        assert_eq!(delivery.departure.packet.segments(), 2);
        slow.put_back(delivery);
        let mut rest = slow.pop().expect("it waits");
        assert_eq!(offer(&mut slow, &mut rest, 0, true), (vec![], Err(Refusal::Full)));
        assert_eq!(offer(&mut slow, &mut rest, 9, true), (vec![1, 1], Ok(())));
        // It is measured as what came.
        assert_eq!((rest.departure.packet.segments(), rest.departure.packet.size().get()), (3, 3_120));
    }

    #[test]
    fn a_train_that_is_refused_is_cut_and_the_next_one_is_tried_whole() {
        let mut slow = Slow::default();
        assert_eq!(offer(&mut slow, &mut train(), 9, false), (vec![1, 1, 1], Ok(())));
        assert_eq!(offer(&mut slow, &mut train(), 9, true), (vec![3], Ok(())));
        assert!(!slow.is_needed() && Slow::cutting(false).is_needed());
    }

    #[test]
    fn nobody_waits_for_ever_but_whoever_gets_on_begins_anew() {
        let (mut slow, ms) = (Slow::cutting(false), RealDuration::from_millis);
        assert!(slow.may_wait(ms(10)) && slow.may_wait(ms(109)));
        assert_eq!(offer(&mut slow, &mut train(), 9, true).1, Ok(()));
        assert!(slow.may_wait(ms(115)) && slow.may_wait(ms(214)) && !slow.may_wait(ms(215)));
        slow.push(train()).expect("room");
        assert_eq!((slow.drain().count(), slow.is_empty(), slow.may_wait(ms(216))), (1, true, true));
    }
}
