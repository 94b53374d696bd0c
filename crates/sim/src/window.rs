//! A sender with a fixed window. It is not TCP.
//!
//! It sends as long as no more than `window` payload bytes lie between the first that was not acknowledged and the last
//! sent. A packet counts as lost when one that was sent three packets later was acknowledged (the packet threshold of
//! RFC 9002, section 6.1.1), or `timeout` after it was sent, and is then sent again at once. The window never changes:
//! there is no slow start, no congestion control, no handshake and no end of the connection.

use netloom_lab::WindowConfig;
use netloom_units::{Bytes, Instant};
use std::collections::VecDeque;

/// RFC 9002, section 6.1.1: kPacketThreshold.
const THRESHOLD: u64 = 3;

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) number: u64,
    /// Whether it was sent before.
    pub(crate) is_again: bool,
    /// Its length from the IP header on.
    pub(crate) size: Bytes,
}

/// A packet that was sent and not yet acknowledged together with all before it.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Of all transmissions the how manieth its latest is.
    order: u64,
    acknowledged: bool,
    /// Whether it waits to be sent again.
    lost: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct WindowSender {
    config: WindowConfig,
    /// The first packet that is not acknowledged.
    base: u64,
    /// The packets from there on.
    under_way: VecDeque<Sent>,
    /// Packets to be sent again, in the order in which they were found lost.
    again: VecDeque<u64>,
    /// When which transmission of which packet times out, in order.
    timers: VecDeque<(Instant, u64, u64)>,
    transmissions: u64,
    retransmissions: u64,
    /// The latest transmission that was acknowledged.
    newest: Option<u64>,
    is_started: bool,
}

impl WindowSender {
    pub(crate) fn new(config: WindowConfig) -> Self {
        Self {
            config,
            base: 0,
            under_way: VecDeque::new(),
            again: VecDeque::new(),
            timers: VecDeque::new(),
            transmissions: 0,
            retransmissions: 0,
            newest: None,
            is_started: false,
        }
    }

    /// When it must be called: at its start, and when a packet times out.
    pub(crate) fn next_wake(&mut self) -> Option<Instant> {
        if !self.is_started {
            return Some(Instant::ZERO + self.config.start);
        }
        while let Some((deadline, number, order)) = self.timers.front().copied() {
            if self.outstanding(number).is_some_and(|sent| sent.order == order && !sent.lost) {
                return Some(deadline);
            }
            self.timers.pop_front();
        }
        None
    }

    fn outstanding(&mut self, number: u64) -> Option<&mut Sent> {
        let place = usize::try_from(number.checked_sub(self.base)?).ok()?;
        self.under_way.get_mut(place).filter(|sent| !sent.acknowledged)
    }

    /// It is `now`: starts, or finds out what has timed out.
    pub(crate) fn wake(&mut self, now: Instant) {
        self.is_started |= now >= Instant::ZERO + self.config.start;
        while self.next_wake().is_some_and(|wake| wake <= now) {
            let Some((_, number, _)) = self.timers.pop_front() else { return };
            self.lose(number);
        }
    }

    fn lose(&mut self, number: u64) {
        if let Some(sent) = self.outstanding(number).filter(|sent| !sent.lost) {
            sent.lost = true;
            self.again.push_back(number);
        }
    }

    /// All packets below `below` have arrived, and `latest` as well.
    pub(crate) fn acknowledge(&mut self, below: u64, latest: u64) {
        let numbers = (self.base..below).chain([latest]);
        for number in numbers {
            if let Some(sent) = self.outstanding(number) {
                sent.acknowledged = true;
                let order = sent.order;
                self.newest = self.newest.max(Some(order));
            }
        }
        while self.under_way.front().is_some_and(|sent| sent.acknowledged) {
            self.under_way.pop_front();
            self.base += 1;
        }
        self.find_overtaken();
    }

    fn find_overtaken(&mut self) {
        let Some(newest) = self.newest else { return };
        // Transmissions that were acknowledged stand behind the first that was not only if something is missing.
        if self.under_way.front().is_none_or(|first| first.order + THRESHOLD > newest) {
            return;
        }
        let is_overtaken = |sent: &Sent| !sent.acknowledged && !sent.lost && sent.order + THRESHOLD <= newest;
        let places = self.under_way.iter().enumerate().filter(|(_, sent)| is_overtaken(sent));
        let lost: Vec<u64> = places.map(|(place, _)| self.base + place as u64).collect();
        lost.into_iter().for_each(|number| self.lose(number));
    }

    /// The next packet that may be sent at `now`.
    pub(crate) fn send(&mut self, now: Instant) -> Option<Segment> {
        if !self.is_started || self.config.stop.is_some_and(|stop| now >= Instant::ZERO + stop) {
            return None;
        }
        while let Some(number) = self.again.pop_front() {
            if self.outstanding(number).is_some() {
                self.retransmissions += 1;
                return Some(self.transmit(number, now));
            }
        }
        let next = self.base + self.under_way.len() as u64;
        let payload = self.payload(next)?;
        let segment = self.config.segment.get();
        let is_open = (next - self.base).saturating_mul(segment) + payload <= self.config.window.get();
        is_open.then(|| self.transmit(next, now))
    }

    /// How much packet `number` carries; none if all is sent before it.
    fn payload(&self, number: u64) -> Option<u64> {
        let segment = self.config.segment.get();
        let Some(amount) = self.config.amount else { return Some(segment) };
        let left = amount.get().checked_sub(number.saturating_mul(segment)).filter(|left| *left > 0)?;
        Some(left.min(segment))
    }

    fn transmit(&mut self, number: u64, now: Instant) -> Segment {
        let sent = Sent { order: self.transmissions, acknowledged: false, lost: false };
        self.timers.push_back((now + self.config.timeout, number, sent.order));
        self.transmissions += 1;
        let before = self.outstanding(number);
        let is_again = before.is_some();
        match before {
            Some(before) => *before = sent,
            None => self.under_way.push_back(sent),
        }
        let payload = self.payload(number).expect("only packets that exist are sent");
        Segment { number, is_again, size: Bytes::new(payload + self.config.headers.get()) }
    }

    /// How many packets were sent, again ones as well, and how many of these again.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.transmissions, self.retransmissions)
    }

    pub(crate) fn config(&self) -> &WindowConfig {
        &self.config
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_units::Duration;

    fn sender(amount: Option<u64>) -> WindowSender {
        WindowSender::new(WindowConfig {
            window: Bytes::new(5_500),
            segment: Bytes::new(1_000),
            headers: Bytes::new(40),
            amount: amount.map(Bytes::new),
            acknowledge: 1,
            timeout: Duration::from_secs(1),
            start: Duration::ZERO,
            stop: None,
        })
    }

    fn sent(sender: &mut WindowSender, ms: u64) -> Vec<u64> {
        let now = Instant::from_nanos(ms * 1_000_000);
        std::iter::from_fn(|| sender.send(now)).map(|segment| segment.number).collect()
    }

    #[test]
    fn the_window_opens_with_the_first_that_was_missing() {
        let mut sender = sender(None);
        sender.wake(Instant::ZERO);
        assert_eq!(sent(&mut sender, 0), [0, 1, 2, 3, 4]);
        sender.acknowledge(0, 1);
        assert!(sent(&mut sender, 1).is_empty());
        sender.acknowledge(2, 1);
        assert_eq!(sent(&mut sender, 2), [5, 6]);
    }

    #[test]
    fn three_later_packets_show_a_loss_once() {
        let mut sender = sender(None);
        sender.wake(Instant::ZERO);
        assert_eq!(sent(&mut sender, 0), [0, 1, 2, 3, 4]);
        sender.acknowledge(0, 1);
        sender.acknowledge(0, 2);
        assert!(sent(&mut sender, 1).is_empty());
        sender.acknowledge(0, 3);
        assert_eq!(sent(&mut sender, 2), [0]);
        sender.acknowledge(0, 4);
        assert!(sent(&mut sender, 3).is_empty());
        sender.acknowledge(5, 0);
        assert_eq!(sent(&mut sender, 4), [5, 6, 7, 8, 9]);
        assert_eq!(sender.counts(), (11, 1));
    }

    #[test]
    fn a_lone_packet_is_sent_again_when_its_time_is_over() {
        let mut sender = sender(Some(1_500));
        assert_eq!(sender.next_wake(), Some(Instant::ZERO));
        sender.wake(Instant::ZERO);
        assert_eq!(sent(&mut sender, 0), [0, 1]);
        sender.acknowledge(1, 0);
        let second = Instant::from_nanos(1_000_000_000);
        assert_eq!(sender.next_wake(), Some(second));
        sender.wake(second);
        assert_eq!(sender.send(second), Some(Segment { number: 1, is_again: true, size: Bytes::new(540) }));
        sender.acknowledge(2, 1);
        assert_eq!((sender.next_wake(), sender.send(second)), (None, None));
    }
}
