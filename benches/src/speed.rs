//! How much of a plain veth pair's speed is left when every packet goes through the fabric.

use crate::Settings;
use crate::lab::Lab;
use crate::plain;
use crate::row::{Row, median};
use crate::transfer;

const GOAL: f64 = 0.6;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let (rounds, seconds) = if settings.quick { (1, 3) } else { (5, 4) };
    let lab = Lab::up(settings, "unshaped", "nodes: [a, b]\nlinks:\n  line: {ends: [a, b]}\n")?;
    lab.shell("b", transfer::START_SERVER)?;
    let (mut direct, mut emulated) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        direct.push(transfer::received(&plain::shell(settings, &transfer::pinned_tcp(plain::SERVER, seconds))?)?);
        emulated.push(transfer::received(&lab.shell("a", &transfer::pinned_tcp("b", seconds))?)?);
    }
    let (direct, emulated) = (median(direct)?, median(emulated)?);
    Ok(vec![Row {
        what: "one TCP stream".to_owned(),
        goal: format!("at least {GOAL} of plain veth"),
        measured: format!("{:.2} ({:.1} of {:.1} Gbit/s)", emulated / direct, emulated / 1e9, direct / 1e9),
        met: Some(emulated / direct >= GOAL),
    }])
}
