//! A lab in virtual time in two parts on two machines, beside the same in one piece: what the path between them costs.

use crate::lab::output;
use crate::row::{Goal, Row, median, number};
use crate::settings::Settings;
use serde_json::Value;
use std::process::Command;

/// How much longer two parts may take than one piece on as many processors.
const MOST: f64 = 1.15;
/// The path in one direction between machines of one rack.
const PATH: &str = "30 us";
/// Seconds of lab time.
const SPAN: u32 = 5;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (what, path) in [("a bridge", "0"), ("a path of 30 us", PATH)] {
        let rounds = (0..settings.rounds(3)).map(|_| pair(settings, path)).collect::<Result<Vec<_>, _>>()?;
        let (one, both): (Vec<f64>, Vec<f64>) = rounds.into_iter().unzip();
        let ratios = one.iter().zip(&both).map(|(one, both)| both / one).collect();
        let remark = format!("{} s and {} s for {SPAN} s", number(median(&one)?), number(median(&both)?));
        let row = Row::number(format!("two parts over {what}, of one piece on as many processors"), "ratio", ratios)?;
        rows.push(row.goal(Goal::AtMost(MOST)).remark(remark));
    }
    Ok(rows)
}

/// The wall time of the timeline in one piece and in two parts, one after the other, in seconds.
fn pair(settings: &Settings, path: &str) -> Result<(f64, f64), String> {
    let file = std::env::temp_dir().join(format!("bench-parts-{}.yaml", std::process::id()));
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    std::fs::write(&file, lab(if settings.quick { 1 } else { SPAN })).map_err(|error| wrong(&error))?;
    let mut command = Command::new(settings.tunnel.with_file_name("parts.sh"));
    command.arg(&settings.netloom).arg(path).arg(&file).arg("one > one.json; both > both.json; cat one.json both.json");
    let told = output(&mut command);
    // The folder of temporary files is nobody's; what is left there is removed by others.
    let _ = std::fs::remove_file(&file);
    let reports = serde_json::Deserializer::from_str(&told?).into_iter::<Value>().collect::<Result<Vec<_>, _>>();
    let reports = reports.map_err(|error| format!("a report: {error}"))?;
    let seconds = |report: &Value| {
        let wall = report["effort"]["wall_ns"].as_f64().filter(|_| report["exit_code"] == 0);
        wall.map(|wall| wall / 1e9).ok_or_else(|| format!("a run failed: {}", report["error"]))
    };
    match &reports[..] {
        [one, both] => Ok((seconds(one)?, seconds(both)?)),
        _ => Err("there are not two reports".into()),
    }
}

/// Two sites with the same traffic in each of them, and some between them over a line of a millisecond, which is the least delay that is cut.
fn lab(span: u32) -> String {
    let site = |name: &str| {
        let node = |number: u32, kind: &str| format!("  {name}{number}: {{{kind}machine: {name}, memory: 64 MB}}\n");
        [node(1, ""), node(2, ""), node(3, "kind: router, ")].concat()
    };
    let link = |one: &str, other: &str, rate: u32| {
        format!("  {one}-{other}: {{ends: [{one}, {other}], rate: {rate} Mbit/s, delay: 1 ms}}\n")
    };
    let links = [link("a1", "a3", 100), link("a2", "a3", 100), link("a3", "b3", 20), link("b1", "b3", 100)];
    let sends = |from: &str, to: &str, port: u32| {
        format!(
            "  - {{on: {to}, run: iperf3 -s -p {port}, as: s{port}, ready: {{tcp: {port}}}}}\n  \
             - {{on: {from}, run: iperf3 -c {to} -p {port} -t {span}, as: c{port}}}\n"
        )
    };
    format!(
        "name: bench-parts\nclock: virtual\nseed: 7\nmachines: {{a: {{}}, b: {{}}}}\nnodes:\n{}{}links:\n{}{}timeline:\n{}{}{}",
        site("a"),
        site("b"),
        links.concat(),
        link("b2", "b3", 100),
        sends("a1", "a2", 5201),
        sends("b1", "b2", 5202),
        sends("a1", "b2", 5203),
    )
}
