//! One source: when its packets come, and how long they are.

use super::frames::Frames;
use super::on_off::Bursts;
use super::replay::Player;
use super::{CrossConfig, PacketSize, Step, Stream, Traffic};
use crate::spans::Spans;
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::{Bytes, Duration, Instant, Seed, Serializer};

/// The simple Internet mix: sizes, and of how many packets in [`IMIX_PACKETS`] each is.
const IMIX: [(Bytes, u64); 3] = [(Bytes::new(40), 7), (Bytes::new(576), 4), (Bytes::new(1_500), 1)];
const IMIX_PACKETS: u64 = 12;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Source {
    arrivals: Arrivals,
    frames: Frames,
    spans: Spans,
    end: Instant,
    /// The next packet; none if there is no further one.
    coming: Option<(Instant, Bytes)>,
}

/// The working state of each kind of source.
#[derive(Clone, Debug)]
enum Arrivals {
    Constant { stream: Stream, serializer: Serializer },
    Poisson { size: PacketSize, mean_gap: f64 },
    OnOff(Bursts),
    Replay(Player),
}

impl Source {
    /// Source `number` of a pipe. The times of `config` count from `now`.
    pub(super) fn new(config: &CrossConfig, number: usize, now: Instant, seed: Seed) -> Self {
        let mut arrivals = Arrivals::new(&config.traffic);
        let mut spans = Spans::new(seed);
        let first = arrivals.first(&mut spans);
        let mut this = Self {
            frames: Frames::new(number, sizes(&config.traffic)),
            arrivals,
            spans,
            end: config.stop.map_or(Instant::MAX, |stop| now + stop),
            coming: None,
        };
        this.coming = first.and_then(|step| this.limited(now + config.start, step));
        this
    }

    /// When the next packet comes; none if there is no further one.
    pub(super) fn next(&self) -> Option<Instant> {
        self.coming.map(|(at, _)| at)
    }

    /// That packet.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn take(&mut self) -> Packet {
        let (at, size) = self.coming.expect("only a source that has a packet is asked for it");
        let step = self.arrivals.next(size, &mut self.spans);
        self.coming = step.and_then(|next| self.limited(at, next));
        self.frames.of(size)
    }

    /// The packet `step` after `from`, unless the source ends before. The end of time is later than every packet.
    fn limited(&self, from: Instant, step: Step) -> Option<(Instant, Bytes)> {
        Some((from + step.gap, step.size)).filter(|(at, _)| *at < self.end)
    }
}

impl Arrivals {
    fn new(traffic: &Traffic) -> Self {
        match traffic {
            Traffic::Constant(stream) => Self::Constant { stream: stream.clone(), serializer: Serializer::default() },
            Traffic::Poisson(stream) => Self::Poisson { size: stream.size, mean_gap: stream.mean_gap() },
            Traffic::OnOff(on_off) => Self::OnOff(Bursts::new(on_off)),
            Traffic::Replay(replay) => Self::Replay(Player::new(replay)),
        }
    }

    fn first(&mut self, spans: &mut Spans) -> Option<Step> {
        match self {
            Self::Constant { stream, .. } => Some(Step { gap: Duration::ZERO, size: stream.size.draw(spans) }),
            Self::Poisson { .. } => self.next(Bytes::new(0), spans),
            Self::OnOff(bursts) => Some(bursts.first(spans)),
            Self::Replay(player) => player.next(),
        }
    }

    /// What follows a packet of size `sent`.
    fn next(&mut self, sent: Bytes, spans: &mut Spans) -> Option<Step> {
        match self {
            Self::Constant { stream, serializer } => {
                let gap = serializer.next(stream.rate, sent);
                Some(Step { gap, size: stream.size.draw(spans) })
            }
            Self::Poisson { size, mean_gap } => {
                let gap = spans.exponential(*mean_gap);
                Some(Step { gap, size: size.draw(spans) })
            }
            Self::OnOff(bursts) => Some(bursts.next(sent, spans)),
            Self::Replay(player) => player.next(),
        }
    }
}

/// All sizes that packets of `traffic` can have.
fn sizes(traffic: &Traffic) -> Vec<Bytes> {
    let of_stream = |stream: &Stream| match stream.size {
        PacketSize::Fixed(size) => [size].into(),
        PacketSize::Imix => IMIX.iter().map(|(size, _)| *size).collect(),
    };
    match traffic {
        Traffic::Constant(stream) | Traffic::Poisson(stream) => of_stream(stream),
        Traffic::OnOff(on_off) => of_stream(&on_off.stream),
        Traffic::Replay(replay) => replay.packets.iter().map(|(_, size)| *size).collect(),
    }
}

impl Stream {
    /// How long a packet takes at the stream's rate on average, in nanoseconds.
    pub(super) fn mean_gap(&self) -> f64 {
        self.size.mean() * 8e9 / self.rate.as_bits_per_second() as f64
    }
}

impl PacketSize {
    /// The size of the next packet.
    pub(super) fn draw(self, spans: &mut Spans) -> Bytes {
        let Self::Fixed(size) = self else { return imix(spans.below(IMIX_PACKETS)) };
        size
    }

    /// In bytes.
    fn mean(self) -> f64 {
        match self {
            Self::Fixed(size) => size.get() as f64,
            Self::Imix => IMIX.iter().map(|(size, count)| size.get() * count).sum::<u64>() as f64 / IMIX_PACKETS as f64,
        }
    }
}

/// The size of a packet of the mix, by a number below [`IMIX_PACKETS`].
fn imix(drawn: u64) -> Bytes {
    let mut counted = 0;
    let fits = |(_, count): &&(Bytes, u64)| {
        counted += count;
        drawn < counted
    };
    IMIX.iter().find(fits).map_or(IMIX[0].0, |(size, _)| *size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_twelve_packets_of_the_mix_seven_are_small() {
        let sizes: Vec<u64> = (0..IMIX_PACKETS).map(|drawn| imix(drawn).get()).collect();
        assert_eq!(sizes, [40, 40, 40, 40, 40, 40, 40, 576, 576, 576, 576, 1_500]);
        assert_eq!((PacketSize::Imix.mean() * 12.0).round(), 4_084.0);
    }
}
