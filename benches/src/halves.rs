//! A lab of a thousand nodes in two halves on two machines, beside the same in one piece: what it takes to come up.

use crate::lab::output;
use crate::row::{Goal, Row, median, number};
use crate::settings::Settings;
use std::fmt::Write;
use std::process::Command;

/// How much longer two halves may take than one piece. Both are on the processors of this machine, so two machines are no faster here.
const MOST: f64 = 1.5;
/// Nodes, of which each half has a router and hosts.
const NODES: u32 = 1_000;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let nodes = if settings.quick { NODES / 10 } else { NODES };
    let file = std::env::temp_dir().join(format!("bench-halves-{}.yaml", std::process::id()));
    std::fs::write(&file, lab(nodes)).map_err(|error| format!("{}: {error}", file.display()))?;
    let rounds = (0..settings.rounds(3)).map(|_| pair(settings, &file)).collect::<Result<Vec<_>, _>>();
    // The folder of temporary files is nobody's; what is left there is removed by others.
    let _ = std::fs::remove_file(&file);
    let (one, both): (Vec<f64>, Vec<f64>) = rounds?.into_iter().unzip();
    let ratios = one.iter().zip(&both).map(|(one, both)| both / one).collect();
    let remark = format!("{} s and {} s", number(median(&one)?), number(median(&both)?));
    let row = Row::number(format!("{nodes} nodes in two halves up, of one piece"), "ratio", ratios)?;
    Ok(vec![row.goal(Goal::AtMost(MOST)).remark(remark)])
}

/// How long one piece and two halves take to come up, in seconds.
fn pair(settings: &Settings, file: &std::path::Path) -> Result<(f64, f64), String> {
    let mut command = Command::new(settings.tunnel.with_file_name("halves.sh"));
    let told = output(command.arg(&settings.netloom).arg(file))?;
    let seconds: Vec<f64> = told.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match seconds[..] {
        [one, both] => Ok((one, both)),
        _ => Err(format!("there are not two times: {told}")),
    }
}

/// Two routers with the same number of hosts each, and a line between them.
fn lab(nodes: u32) -> String {
    let mut yaml = String::from("name: bench-halves\nmachines: {a: {}, b: {}}\nnodes:\n");
    let mut links = String::from("links:\n  line: {ends: [ra, rb], rate: 1 Gbit/s, delay: 10 ms}\n");
    for machine in ["a", "b"] {
        let _ = writeln!(yaml, "  r{machine}: {{kind: router, machine: {machine}}}");
        for host in 1..nodes / 2 {
            let name = format!("{machine}{host}");
            let _ = writeln!(yaml, "  {name}: {{machine: {machine}}}");
            let _ = writeln!(links, "  l{name}: {{ends: [{name}, r{machine}], rate: 100 Mbit/s, delay: 1 ms}}");
        }
    }
    yaml + &links
}
