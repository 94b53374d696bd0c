//! Queues of links, and what scripts set on them.

use super::defaults::{built_in, underlined};
use super::disciplines::QueueOf;
use super::network::{MOST, Network};
use crate::source::Place;

impl Network<'_, '_> {
    /// A queue of this kind, `RED` for example.
    pub(super) fn queue(&self, kind: &str, place: Place) -> QueueOf {
        let class = format!("Queue/{kind}");
        QueueOf { attributes: self.inherited_by_queue(&class), class, place }
    }

    /// Sets an attribute of the queue of a direction, or of both.
    pub(super) fn set_queue(&mut self, link: usize, direction: Option<usize>, said: (&str, &str), place: Place) {
        for which in 0..2 {
            if direction.is_some_and(|one| one != which) {
                continue;
            }
            if let Some(queue) = &mut self.links[link].queues[which] {
                queue.attributes.set(&underlined(said.0), said.1, place);
                queue.place = place;
                self.changed_queues.insert((link, which));
            }
        }
    }

    /// The value of an attribute of a queue.
    pub(super) fn get_queue(&self, link: usize, direction: Option<usize>, name: &str) -> String {
        let queue = self.links[link].queues[direction.unwrap_or(0)].as_ref();
        let found = queue.and_then(|queue| {
            queue.attributes.get(&underlined(name)).or_else(|| built_in(&queue.class, &underlined(name)))
        });
        found.unwrap_or("0").to_owned()
    }

    /// Takes over what was said of queues since the last time.
    pub(super) fn settle_queues(&mut self) {
        for (link, direction) in std::mem::take(&mut self.changed_queues) {
            let Some(queue) = self.links[link].queues[direction].clone() else { continue };
            let value = queue.value(&self.links[link].settings[direction], &mut self.notes);
            if self.links[link].shown[direction].as_ref() == Some(&value.content) {
                continue;
            }
            self.links[link].shown[direction] = Some(value.content.clone());
            self.set(link, Some(direction), "queue", value, queue.place);
        }
    }

    /// Notes what was set on queues without effect.
    pub(super) fn note_queues(&mut self) {
        for queue in self.links.iter().take(MOST).flat_map(|link| link.queues.iter().flatten()) {
            queue.attributes.note(&queue.class, &mut self.notes);
        }
    }
}
