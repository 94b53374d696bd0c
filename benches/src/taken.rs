//! What a TCP stream takes of a lab: its goodput, and processor time per packet; two settings beside one another.

use crate::lab::Lab;
use crate::processes::{engine_seconds, usage};
use crate::row::Row;
use crate::streams::gbit;
use crate::transfer;

/// What a transfer took.
pub(crate) struct Taken {
    pub(crate) gbit: f64,
    /// Processor time per packet of 1,500 bytes, in microseconds: of the engine's threads, and of all of the lab's netloom.
    pub(crate) engine_us: f64,
    pub(crate) all_us: f64,
}

impl Taken {
    /// Transfers from `a` to `b`, where a server of iperf3 listens.
    pub(crate) fn by(lab: &Lab, seconds: u32) -> Result<Self, String> {
        const PACKET_BITS: f64 = 1_448.0 * 8.0;
        let root = lab.pid()?;
        let all = || usage(root).values().filter(|usage| usage.is_netloom).map(|usage| usage.seconds).sum::<f64>();
        let before = (engine_seconds(root), all());
        let json = lab.shell("a", &transfer::tcp("b", seconds))?;
        let (engine, all) = (engine_seconds(root) - before.0, all() - before.1);
        let packets = transfer::bytes(&json)? * 8.0 / PACKET_BITS;
        Ok(Self { gbit: gbit(&json)?, engine_us: engine * 1e6 / packets, all_us: all * 1e6 / packets })
    }
}

/// A row of what `of` takes of transfers, against others, which have a name.
pub(crate) fn against(
    (what, unit): (&str, &'static str),
    of: fn(&Taken) -> f64,
    taken: &[Taken],
    (name, others): (&'static str, &[Taken]),
) -> Result<Row, String> {
    let samples = |of_one: &[Taken]| of_one.iter().map(of).collect::<Vec<_>>();
    Row::number(what, unit, samples(taken)).map(|row| row.against(name, samples(others)))
}
