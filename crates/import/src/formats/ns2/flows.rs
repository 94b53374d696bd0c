//! What applications send, from their start to their stop. Whenever something of them changes, what they send until then ends, and
//! goes on as something else.

use super::network::{MOST, Network};
use super::objects::{Object, after, since};
use super::sources::{Amount, Flow, Made};
use crate::source::Place;
use netloom_units::Duration;
use std::collections::BTreeSet;

/// Objects that are looked at, whenever something changes, taken together.
const MOST_WORK: usize = 1_000_000;
/// Transfers that are asked for at one instant.
const MOST_AT_ONCE: usize = 1_000;

impl Network<'_, '_> {
    fn instant(&self) -> Duration {
        self.now.unwrap_or(Duration::ZERO)
    }

    /// An application or an agent begins to send.
    pub(super) fn start(&mut self, handle: &str) {
        if self.flows.running.len() >= MOST {
            self.notes.add(Place::default(), format!("only the first {MOST} sources at a time are read"));
            return;
        }
        self.flows.running.entry(handle.to_owned()).or_insert(None);
        self.changed.insert(handle.to_owned());
    }

    /// It sends nothing any more.
    pub(super) fn stop(&mut self, handle: &str) {
        let now = self.instant();
        if let Some(Some(flow)) = self.flows.running.remove(handle) {
            self.close(handle, flow, now);
        }
        for flow in self.flows.transfers.remove(handle).unwrap_or_default() {
            self.flows.all[flow].stop.get_or_insert(now);
        }
        self.flows.asked.retain(|(who, ..)| who != handle);
    }

    /// An object asks a transport for a transfer with an end. A transport that sends without end has no more to do.
    pub(super) fn ask(&mut self, handle: &str, transport: &str, amount: Amount) {
        if self.flows.asked.len() >= MOST_AT_ONCE {
            let said = format!("more than {MOST_AT_ONCE} transfers at an instant: further ones are not read");
            self.notes.add(Place::default(), said);
        } else if !self.flows.running.contains_key(handle) {
            self.flows.asked.push((handle.to_owned(), transport.to_owned(), amount));
        }
    }

    /// Ends a flow.
    fn close(&mut self, handle: &str, flow: usize, now: Duration) {
        let flow = &mut self.flows.all[flow];
        let stop = flow.stop.map_or(now, |stop| stop.min(now));
        flow.stop = Some(stop);
        if let (Some((_, gap)), Some(Object::Other(other))) = (flow.limit, self.objects.get_mut(handle)) {
            // A packet at the beginning, and one after each gap.
            let span = since(stop, flow.start).as_nanos();
            other.packets += span.div_ceil(gap.as_nanos().max(1));
        }
    }

    /// Whether an event changes anything that something depends on.
    fn touched(&mut self) -> BTreeSet<String> {
        let mut left: Vec<String> = std::mem::take(&mut self.changed).into_iter().collect();
        let mut all = BTreeSet::new();
        while let Some(handle) = left.pop() {
            if let Some(Object::Other(_)) = self.objects.get(&handle)
                && !all.contains(&handle)
            {
                let users = self.users.get(&handle).into_iter().flatten();
                left.extend(users.filter(|user| !all.contains(*user)).cloned());
                all.insert(handle);
            }
        }
        all
    }

    /// Takes over what changed at this instant: of what is sent, and of error models.
    pub(super) fn settle_flows(&mut self) {
        if self.flows.work > MOST_WORK {
            self.notes.add(Place::default(), "further changes of what is sent are not read: there are too many");
            return;
        }
        for handle in self.touched() {
            self.flows.work += 1;
            if let Some(flow) = self.flows.running.get(&handle).copied() {
                self.refresh(&handle, flow);
            }
            self.spoil(&handle);
        }
        for (handle, transport, amount) in std::mem::take(&mut self.flows.asked) {
            match self.transfer(&transport, amount) {
                Ok(Some(made)) => {
                    let flow = self.open(&handle, made);
                    self.flows.transfers.entry(handle).or_default().extend(flow);
                }
                Ok(None) => {}
                Err(reason) => drop(self.flows.unknown.insert(handle, reason)),
            }
        }
    }

    /// What an application sends now, in place of what it sent before.
    fn refresh(&mut self, handle: &str, before: Option<usize>) {
        let now = self.instant();
        let made = self.sends(handle);
        if let (Some(flow), Ok(made)) = (before, &made) {
            let flow = &self.flows.all[flow];
            if flow.keys == made.keys || flow.stop.is_some_and(|stop| stop <= now) {
                return;
            }
        }
        if let Some(flow) = before {
            self.close(handle, flow, now);
        }
        let opened = match made {
            Ok(made) => self.open(handle, made),
            Err(reason) => {
                if before.is_none() {
                    self.flows.unknown.insert(handle.to_owned(), reason);
                }
                None
            }
        };
        self.flows.running.insert(handle.to_owned(), opened);
    }

    fn open(&mut self, handle: &str, made: Made) -> Option<usize> {
        let Some(Object::Other(other)) = self.objects.get(handle) else { return None };
        if self.flows.all.len() >= MOST {
            self.notes.add(other.place, format!("only the first {MOST} changes of what is sent are read"));
            return None;
        }
        let start = self.instant();
        // Half a gap behind the last packet.
        let stop = made.limit.map(|(packets, gap)| {
            let left = packets.saturating_sub(other.packets);
            let nanos = u128::from(gap.as_nanos()) * (2 * u128::from(left)).saturating_sub(1) / 2;
            after(start, Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
        });
        self.flows.unknown.remove(handle);
        let (place, class) = (other.place, other.class.clone());
        self.flows.all.push(Flow { place, class, keys: made.keys, start, stop, limit: made.limit });
        Some(self.flows.all.len() - 1)
    }

    /// Notes what was to be sent and is not known.
    pub(super) fn note_unknown(&mut self) {
        for (handle, reason) in std::mem::take(&mut self.flows.unknown) {
            if let Some(Object::Other(other)) = self.objects.get(&handle) {
                let note = format!("what `{}` sends is not known here: {reason}", other.class);
                self.notes.add(other.place, note);
            }
        }
    }
}
