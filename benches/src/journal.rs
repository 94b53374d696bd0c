//! What a journal of every packet costs: a lab that keeps one beside the same lab without, in turns.

use crate::lab::Lab;
use crate::processes::{engine_seconds, usage};
use crate::row::{Goal, Row};
use crate::settings::Settings;
use crate::streams::{ROOMY, gbit};
use crate::transfer;

/// Of the goodput without a journal.
const OF_GOODPUT: f64 = 0.9;
const WITHOUT: &str = "without a journal";

/// What a transfer took.
struct Taken {
    gbit: f64,
    /// Processor time per packet of 1,500 bytes, in microseconds: of the engine's threads, and of all of netloom.
    engine_us: f64,
    all_us: f64,
}

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 2 } else { 5 };
    let up = |name: &str, more: &str| {
        let links = "links:\n  line: {ends: [a, b], rate: 1 Gbit/s, delay: 10 ms, queue: 4000 packets}\n";
        Lab::up(settings, name, &format!("nodes: {{a: {ROOMY}, b: {ROOMY}}}\n{links}{more}"))
    };
    let labs = [up("noted", "journal: all\n")?, up("unnoted", "")?];
    for lab in &labs {
        lab.shell("b", transfer::START_SERVER)?;
    }
    let mut all: [Vec<Taken>; 2] = Default::default();
    for _ in 0..settings.rounds(3) {
        for (lab, taken) in labs.iter().zip(&mut all) {
            taken.push(transferred(lab, seconds)?);
        }
    }
    let [noted, unnoted] = all;
    let row = |what: &str, unit, of: fn(&Taken) -> f64| {
        let samples = |taken: &[Taken]| taken.iter().map(of).collect::<Vec<_>>();
        Row::number(what, unit, samples(&noted)).map(|row| row.against(WITHOUT, samples(&unnoted)))
    };
    Ok(vec![
        row("one stream, 1 Gbit/s, with a journal", "Gbit/s", |taken| taken.gbit)?.goal(Goal::AtLeast(OF_GOODPUT)),
        row("the engine's thread per packet, with a journal", "us", |taken| taken.engine_us)?,
        row("all of netloom per packet, with a journal", "us", |taken| taken.all_us)?
            .remark("with the thread that packs and writes it"),
    ])
}

fn transferred(lab: &Lab, seconds: u32) -> Result<Taken, String> {
    const PACKET_BITS: f64 = 1_448.0 * 8.0;
    let root = lab.pid()?;
    let all = || usage(root).values().filter(|usage| usage.is_netloom).map(|usage| usage.seconds).sum::<f64>();
    let before = (engine_seconds(root), all());
    let json = lab.shell("a", &transfer::tcp("b", seconds))?;
    let (engine, all) = (engine_seconds(root) - before.0, all() - before.1);
    let packets = transfer::bytes(&json)? * 8.0 / PACKET_BITS;
    Ok(Taken { gbit: gbit(&json)?, engine_us: engine * 1e6 / packets, all_us: all * 1e6 / packets })
}
