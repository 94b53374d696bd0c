//! Counts some of the packets of a pipe for themselves.

use crate::PipeCounters;
use crate::cause::Cause;
use crate::subset::Subset;
use alloc::vec::Vec;
use netloom_packet::Packet;

/// Packets of a pipe that are counted separately, and what has become of them. Where they are is not known, since a flipped bit
/// may make others of them.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The subset of the pipe's packets that is counted.
    pub subset: Subset,
    /// The counters of these packets.
    pub counters: PipeCounters,
}

/// Those of all pipes, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct AllWatched(Vec<Vec<Watched>>);

impl AllWatched {
    pub(crate) fn add(&mut self, pipe: u32, subset: Subset) {
        let place = pipe as usize;
        if self.0.len() <= place {
            self.0.resize_with(place + 1, Vec::new);
        }
        self.0[place].push(Watched { subset, counters: PipeCounters::default() });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of this pipe.
    pub(crate) fn of(&self, pipe: u32) -> &[Watched] {
        self.0.get(pipe as usize).map_or(&[], Vec::as_slice)
    }

    /// Counting begins in this pipe.
    pub(crate) fn begin(&mut self, pipe: u32) {
        self.0.get_mut(pipe as usize).into_iter().flatten().for_each(|one| one.counters = PipeCounters::default());
    }

    pub(crate) fn arrive(&mut self, pipe: u32, packet: &Packet) {
        self.each(pipe, packet, |counters| counters.arrived.add(packet));
    }

    pub(crate) fn duplicate(&mut self, pipe: u32, packet: &Packet) {
        self.each(pipe, packet, |counters| counters.duplicated.add(packet));
    }

    pub(crate) fn mark(&mut self, pipe: u32, packet: &Packet) {
        self.each(pipe, packet, |counters| counters.marked.add(packet));
    }

    pub(crate) fn depart(&mut self, pipe: u32, packet: &Packet) {
        self.each(pipe, packet, |counters| counters.departed.add(packet));
    }

    pub(crate) fn drop(&mut self, pipe: u32, packet: &Packet, cause: Cause) {
        self.each(pipe, packet, |counters| counters.dropped.of(cause).add(packet));
    }

    fn each(&mut self, pipe: u32, packet: &Packet, count: impl Fn(&mut PipeCounters)) {
        let own = self.0.get_mut(pipe as usize).into_iter().flatten();
        own.filter(|one| one.subset.matches(packet)).for_each(|one| count(&mut one.counters));
    }
}
