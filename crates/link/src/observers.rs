//! Who wants to know of each packet how it comes through a pipe.

use crate::cause::Cause;
use crate::packet_sampler::{PacketSampler, SampledPackets};
use crate::transits::{Delays, Transits};
use crate::watched::AllWatched;
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};

/// See the module. While nobody wants to know, there is none, and a packet pays for one question.
#[derive(Debug, Default)]
pub(crate) struct Observers {
    transits: Option<Transits>,
    sampler: Option<PacketSampler>,
    pub(crate) watched: AllWatched,
}

impl Observers {
    /// Whether nobody wants to know anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.transits.is_none() && self.sampler.is_none() && self.watched.is_empty()
    }

    /// From now on it is measured how long packets take, or not any more.
    pub(crate) fn measure_delays(&mut self, wanted: bool) {
        self.transits = self.transits.take().filter(|_| wanted).or_else(|| wanted.then(Transits::default));
    }

    /// From now on packets are picked that are at least so far apart, or none any more. What is known of others is forgotten.
    pub(crate) fn sample_packets(&mut self, step: Option<Duration>) {
        self.sampler = step.map(PacketSampler::new);
    }

    /// It comes to the entrance.
    pub(crate) fn arrive(&mut self, pipe: u32, now: Instant, packet: &Packet) {
        if let Some(sampler) = &mut self.sampler {
            sampler.arrive(pipe, now, packet);
        }
        self.watched.arrive(pipe, packet);
    }

    /// The impairments have let it through.
    pub(crate) fn enter(&mut self, pipe: u32, now: Instant, packet: &Packet) {
        if let Some(transits) = &mut self.transits {
            transits.enter(pipe, now, packet);
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.enter(pipe, now, packet);
        }
    }

    /// It was on the transmitter from `start` to `end`, and is due when `due` says.
    pub(crate) fn send(&mut self, pipe: u32, packet: &Packet, start: Instant, end: Instant, due: impl Fn() -> Instant) {
        if let Some(transits) = &mut self.transits {
            transits.send(pipe, end, packet, due());
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.send(pipe, packet, start, end, due);
        }
    }

    /// It is dropped. What was lost before is known to be.
    pub(crate) fn drop(&mut self, pipe: u32, at: Instant, packet: &Packet, cause: Cause) {
        if let Some(transits) = &mut self.transits {
            transits.drop(pipe, packet);
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.drop(pipe, at, packet, cause);
        }
        self.watched.drop(pipe, packet, cause);
    }

    /// It is taken off the transmitter or the line, and will be dropped.
    pub(crate) fn lose(&mut self, pipe: u32, at: Instant, packet: &Packet, cause: Cause) {
        if let Some(transits) = &mut self.transits {
            transits.lose(pipe, packet);
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.lose(pipe, at, packet, cause);
        }
    }

    /// How long those took that arrived in the pipe since this was asked last, until `now`.
    pub(crate) fn take_delays(&mut self, pipe: u32, now: Instant) -> Option<Delays> {
        self.transits.as_mut()?.take(pipe, now)
    }

    /// What has become of picked packets since this was asked last.
    pub(crate) fn take_packets(&mut self) -> SampledPackets {
        self.sampler.as_mut().map(PacketSampler::take).unwrap_or_default()
    }
}
