//! The state of one queue under CoDel, and what is done with the packets at its head (RFC 8289, sections 5.2, 5.5, 5.6).

use super::CodelControl;
use crate::cause::Cause;
use crate::ledger::Ledger;
use crate::queue::fifo::Fifo;
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};

/// RFC 8289, section 5.2.
#[derive(Clone, Debug, Default)]
pub(in crate::queue) struct Law {
    /// When packets will have waited for the target or longer for an interval; none while they do not.
    first_above: Option<Instant>,
    /// When to drop next, while dropping.
    drop_next: Instant,
    /// How many were dropped since dropping began.
    count: u32,
    /// What `count` began with.
    last_count: u32,
    dropping: bool,
}

/// What stands at the head of the queue.
enum Head {
    Empty,
    Good(Packet),
    /// The delay has been above the target for an interval: it may be dropped.
    Late(Packet),
}

impl Law {
    /// The next segment to send at `now`: RFC 8289, section 5.5, `dequeue`.
    pub(in crate::queue) fn pop(
        &mut self,
        now: Instant,
        control: &CodelControl,
        waiting: &mut Fifo,
        ledger: &mut Ledger<'_>,
    ) -> Option<Packet> {
        let mut head = self.head(now, control, waiting);
        if !self.dropping {
            if let Head::Late(segment) = head {
                head = self.begin(now, segment, control, waiting, ledger);
            }
        } else {
            while let Head::Late(segment) = head {
                if now < self.drop_next {
                    return Some(released(segment, ledger));
                }
                self.count = self.count.saturating_add(1);
                if let Some(marked) = marked_or_dropped(segment, control, ledger) {
                    self.drop_next = self.next_after(self.drop_next, control);
                    return Some(released(marked, ledger));
                }
                head = self.head(now, control, waiting);
                if let Head::Late(_) = head {
                    self.drop_next = self.next_after(self.drop_next, control);
                }
            }
            self.dropping = false;
        }
        match head {
            Head::Empty => None,
            Head::Good(segment) | Head::Late(segment) => Some(released(segment, ledger)),
        }
    }

    /// Begins to drop with this segment; the one behind it is sent, whatever it is.
    fn begin(
        &mut self,
        now: Instant,
        segment: Packet,
        control: &CodelControl,
        waiting: &mut Fifo,
        ledger: &mut Ledger<'_>,
    ) -> Head {
        let head = match marked_or_dropped(segment, control, ledger) {
            Some(marked) => Head::Good(marked),
            None => self.head(now, control, waiting),
        };
        self.dropping = true;
        // If dropping ended lately, go on with the drop rate that controlled the queue then.
        let delta = self.count - self.last_count;
        let is_recent = now.since(self.drop_next).as_nanos() / 16 < control.interval.as_nanos();
        self.count = if delta > 1 && is_recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.next_after(now, control);
        head
    }

    /// Takes the first segment and judges it: RFC 8289, section 5.6, `dodequeue`.
    fn head(&mut self, now: Instant, control: &CodelControl, waiting: &mut Fifo) -> Head {
        let Some((arrival, segment)) = waiting.pop() else {
            self.first_above = None;
            return Head::Empty;
        };
        if now.since(arrival) < control.target || waiting.bytes() <= control.mtu {
            self.first_above = None;
            return Head::Good(segment);
        }
        match self.first_above {
            None => self.first_above = Some(now + control.interval),
            Some(since) if now >= since => return Head::Late(segment),
            Some(_) => {}
        }
        Head::Good(segment)
    }

    /// RFC 8289, section 5.6, `control_law`: the interval over the square root of the count, exact and rounded down.
    fn next_after(&self, from: Instant, control: &CodelControl) -> Instant {
        let interval = u128::from(control.interval.as_nanos());
        let span = (interval * interval / u128::from(self.count)).isqrt();
        from + Duration::from_nanos(u64::try_from(span).expect("no longer than the interval"))
    }
}

fn released(segment: Packet, ledger: &mut Ledger<'_>) -> Packet {
    ledger.release(&segment);
    segment
}

/// The segment with a mark, or none if it had to be dropped.
fn marked_or_dropped(mut segment: Packet, control: &CodelControl, ledger: &mut Ledger<'_>) -> Option<Packet> {
    if control.ecn && ledger.mark(&mut segment) {
        return Some(segment);
    }
    ledger.evict(segment, Cause::Early);
    None
}
