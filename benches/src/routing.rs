//! Real routing daemons: how long a grid of routers needs until all have all routes, and what a router takes.

use crate::lab::Lab;
use crate::processes::usage;
use crate::row::{Goal, Row};
use crate::settings::Settings;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

const ROWS: usize = 4;
const COLUMNS: usize = 5;
/// Where Netloom starts FRR.
const FRR: &str = "/usr/lib/frr/ospfd";

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let converge = format!("{} routers with OSPF by FRR: set up, and all routes there", ROWS * COLUMNS);
    let takes = "memory per router, with zebra and ospfd";
    if !Path::new(FRR).exists() {
        let reason = "FRR is not installed (apt install frr)";
        return Ok(vec![Row::absent(converge, reason), Row::absent(takes, reason)]);
    }
    let (mut up, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        let begin = Instant::now();
        let lab = Lab::up(settings, "ospf", &grid())?;
        up.push(begin.elapsed().as_secs_f64());
        let all: f64 = usage(lab.pid()?).values().map(|process| process.megabytes).sum();
        memory.push(all / (ROWS * COLUMNS) as f64);
        lab.shell("r1", &format!("ping -c 1 -W 2 r{}", ROWS * COLUMNS))?;
        lab.down()?;
    }
    Ok(vec![
        Row::number(converge, "s", up)?.goal(Goal::AtMost(15.0)),
        Row::number(takes, "MB", memory)?.remark("of all processes of the lab, by their share of pages (PSS)"),
    ])
}

fn grid() -> String {
    let mut yaml = String::from("ready: converged\nnodes:\n");
    for router in 1..=ROWS * COLUMNS {
        let _ = writeln!(yaml, "  r{router}: {{kind: router, daemons: [ospf]}}");
    }
    yaml.push_str("links:\n");
    for (row, column) in (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column))) {
        let router = row * COLUMNS + column + 1;
        if column + 1 < COLUMNS {
            let _ = writeln!(yaml, "  h{router}: {{ends: [r{router}, r{}], delay: 1 ms}}", router + 1);
        }
        if row + 1 < ROWS {
            let _ = writeln!(yaml, "  v{router}: {{ends: [r{router}, r{}], delay: 1 ms}}", router + COLUMNS);
        }
    }
    yaml
}
