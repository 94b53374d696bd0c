//! Chains of routers (vimage, figure 6; GINE, figures 11 and 12).

use crate::Settings;
use crate::lab::{Lab, output};
use crate::row::{Row, median, range};
use crate::transfer;
use std::fmt::Write;
use std::process::Command;

const TRANSIT_ROUTERS: u32 = 60;
/// bits/s, and microseconds of the round trip that the chain may add.
const TRANSIT_GOALS: (f64, f64) = (2e9, 60.0);
const KERNEL_ROUTERS: u32 = 8;
const GOAL: f64 = 0.5;
/// The last node of the comparison.
const SERVER: &str = "10.79.255.2";

/// Routers inside the packet engine, against a link without any.
pub(crate) fn transit(settings: &Settings) -> Result<Vec<Row>, String> {
    let (rounds, seconds) = if settings.quick { (1, 3) } else { (5, 4) };
    let [none, chain] =
        [0, TRANSIT_ROUTERS].map(|count| Lab::up(settings, &format!("hops{count}"), &chain(count, "transit")));
    let (none, chain) = (none?, chain?);
    let (mut rates, mut added) = (Vec::new(), Vec::new());
    chain.shell("b", transfer::START_SERVER)?;
    for _ in 0..rounds {
        rates.push(transfer::received(&chain.shell("a", &transfer::pinned_tcp("b", seconds))?)?);
        added.push(round_trip_us(&chain)? - round_trip_us(&none)?);
    }
    let (rates_spread, added_spread) = (range(&rates, 1e9), range(&added, 1.0));
    let (rate, added) = (median(rates)?, median(added)?);
    Ok(vec![
        Row {
            what: format!("{TRANSIT_ROUTERS} transit routers, one TCP stream"),
            goal: format!("at least {:.0} Gbit/s", TRANSIT_GOALS.0 / 1e9),
            measured: format!("{:.1} Gbit/s, {rates_spread}", rate / 1e9),
            met: Some(rate >= TRANSIT_GOALS.0),
        },
        Row {
            what: format!("{TRANSIT_ROUTERS} transit routers, round trip"),
            goal: format!("at most {:.0} us more than without", TRANSIT_GOALS.1),
            measured: format!("{added:+.0} us, {added_spread}"),
            met: Some(added <= TRANSIT_GOALS.1),
        },
    ])
}

/// The median of lone pings, in microseconds.
fn round_trip_us(lab: &Lab) -> Result<f64, String> {
    let text = lab.shell("a", "ping -4 -c 40 -i 0.05 b")?;
    let times = text.lines().filter_map(|line| line.split_once("time=")?.1.strip_suffix(" ms")?.parse::<f64>().ok());
    median(times.map(|ms| ms * 1e3).collect())
}

/// Routers that are kernels, joined by our links and by plain veth pairs.
pub(crate) fn kernels(settings: &Settings) -> Result<Vec<Row>, String> {
    let (rounds, seconds) = if settings.quick { (1, 3) } else { (5, 4) };
    let lab = Lab::up(settings, "chain", &chain(KERNEL_ROUTERS, "router"))?;
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

fn chain(routers: u32, kind: &str) -> String {
    let mut yaml = String::from("nodes:\n  a: {}\n  b: {}\n");
    for router in 1..=routers {
        let _ = writeln!(yaml, "  r{router}: {{kind: {kind}}}");
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
