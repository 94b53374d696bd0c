//! What a pipe costs its thread: an estimate from its description, by which work is divided among shards.

use crate::PipeSpec;
use netloom_link::{CrossConfig, PipeConfig, Traffic};
use netloom_units::Rate;

/// Above this a thread has no time left for packets one by one (measured: 3 to 5 Gbit/s, see `docs/precision.md`). A pipe
/// without a limit is taken to be that busy.
const MOST_MEGABITS: u64 = 4_000;
/// A packet that comes from or goes to an interface costs some four times what it costs within the fabric: two crossings
/// of the kernel.
const INTERFACE: u64 = 4;
/// A packet of the cross traffic costs some quarter of another: no byte of it is moved.
const PHANTOM: u64 = 4;

/// The weight of a pipe that takes packets from a node, or brings them to one, or neither or both.
pub(super) fn weight(pipe: &PipeSpec, interfaces: u64) -> u64 {
    let cross: u64 = pipe.config.cross.iter().map(|source| cross_megabits(source) / PHANTOM).sum();
    // An idle pipe costs a little, too, and two idle links are to be shared out like two busy ones.
    1 + (1 + INTERFACE * interfaces) * megabits(&pipe.config) + cross.min(MOST_MEGABITS)
}

fn megabits(config: &PipeConfig) -> u64 {
    config.rate.nominal().map_or(MOST_MEGABITS, in_megabits)
}

fn in_megabits(rate: Rate) -> u64 {
    (rate.as_bits_per_second() / 1_000_000).min(MOST_MEGABITS)
}

fn cross_megabits(source: &CrossConfig) -> u64 {
    match &source.traffic {
        Traffic::Constant(stream) | Traffic::Poisson(stream) => in_megabits(stream.rate),
        Traffic::OnOff(on_off) => {
            let period = (on_off.on + on_off.off).as_nanos().max(1);
            let on = u128::from(on_off.on.as_nanos()) * u128::from(in_megabits(on_off.stream.rate));
            let mean = on * u128::from(on_off.sources) / u128::from(period);
            u64::try_from(mean).unwrap_or(MOST_MEGABITS)
        }
        Traffic::Replay(replay) => {
            let bytes: u64 = replay.packets.iter().map(|(_, size)| size.get()).sum();
            let span = replay.packets.last().map_or(0, |(at, _)| at.as_nanos()).max(1);
            // A bit per nanosecond is a thousand megabits per second.
            u64::try_from(u128::from(bytes) * 8_000 / u128::from(span)).unwrap_or(MOST_MEGABITS)
        }
    }
    .min(MOST_MEGABITS)
}
