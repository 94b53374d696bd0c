//! Chains of routers (vimage, figure 6; GINE, figures 11 and 12).

use crate::Settings;
use crate::lab::{Lab, output};
use crate::row::{Row, median, range};
use crate::transfer;
use std::fmt::Write;
use std::process::Command;

const KERNEL_ROUTERS: u32 = 8;
const GOAL: f64 = 0.5;
/// The last node of the comparison.
const SERVER: &str = "10.79.255.2";

/// Routers that are kernels, joined by our links and by plain veth pairs.
pub(crate) fn kernels(settings: &Settings) -> Result<Vec<Row>, String> {
    let (rounds, seconds) = if settings.quick { (1, 3) } else { (5, 4) };
    let lab = Lab::up(settings, "chain", &chain(KERNEL_ROUTERS))?;
    lab.shell("b", transfer::START_SERVER)?;
    let (mut direct, mut emulated) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let plain = transfer::tcp(SERVER, seconds);
        let mut script = Command::new(&settings.plain_chain);
        direct.push(transfer::received(&output(script.arg(KERNEL_ROUTERS.to_string()).arg(plain))?)?);
        emulated.push(transfer::received(&lab.shell("a", &transfer::tcp("b", seconds))?)?);
    }
    let spread = range(&emulated, 1e9);
    let (direct, emulated) = (median(direct)?, median(emulated)?);
    Ok(vec![Row {
        what: format!("{KERNEL_ROUTERS} kernel routers, one TCP stream"),
        goal: format!("at least {GOAL} of plain veth pairs"),
        measured: format!("{:.2}: {:.1} of {:.1} Gbit/s, {spread}", emulated / direct, emulated / 1e9, direct / 1e9),
        met: Some(emulated / direct >= GOAL),
    }])
}

fn chain(routers: u32) -> String {
    let mut yaml = String::from("nodes:\n  a: {}\n  b: {}\n");
    for router in 1..=routers {
        let _ = writeln!(yaml, "  r{router}: {{kind: router}}");
    }
    yaml.push_str("links:\n");
    let name = |place: u32| match place {
        0 => "a".to_owned(),
        place if place > routers => "b".to_owned(),
        place => format!("r{place}"),
    };
    for place in 0..=routers {
        let _ = writeln!(yaml, "  l{place}: {{ends: [{}, {}]}}", name(place), name(place + 1));
    }
    yaml
}
