//! What a journal of every packet costs: a lab that keeps one beside the same lab without, in turns.

use crate::lab::Lab;
use crate::row::{Goal, Row};
use crate::settings::Settings;
use crate::streams::ROOMY;
use crate::taken::{Taken, against};
use crate::transfer;

/// Of the goodput without a journal.
const OF_GOODPUT: f64 = 0.9;
const WITHOUT: &str = "without a journal";

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
            taken.push(Taken::by(lab, seconds)?);
        }
    }
    let [noted, unnoted] = all;
    let row = |what: &str, unit, of| against((what, unit), of, &noted, (WITHOUT, &unnoted));
    Ok(vec![
        row("one stream, 1 Gbit/s, with a journal", "Gbit/s", |taken| taken.gbit)?.goal(Goal::AtLeast(OF_GOODPUT)),
        row("the engine's thread per packet, with a journal", "us", |taken| taken.engine_us)?,
        row("all of netloom per packet, with a journal", "us", |taken| taken.all_us)?
            .remark("with the thread that packs and writes it"),
    ])
}
