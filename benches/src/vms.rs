//! Virtual machines: one TCP stream out of one and into it, beside QEMU with a tap device; their boot; and what idle ones take.

use crate::lab::{Lab, output};
use crate::processes::engine_seconds;
use crate::row::{Goal, Row};
use crate::settings::Settings;
use serde_json::Value;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What QEMU's own way of networking is called.
const TAP: &str = "QEMU with a tap";
/// Of what the same machine has there.
const OF_TAP: f64 = 0.9;
/// How long Debian's cloud kernel may take until it serves the lab, in seconds.
const BOOT: f64 = 60.0;
/// How much more processor the engine may take with two idle machines than with two namespace nodes.
const OF_NAMESPACES: f64 = 1.3;
/// Until a machine has done what it does after its start.
const SETTLE: Duration = Duration::from_secs(3);

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    if Command::new("qemu-system-x86_64").arg("--version").output().is_err() {
        return Ok(vec![Row::absent("virtual machines", "QEMU is not installed")]);
    }
    let folder = output(&mut Command::new(&settings.vm_root))?.trim().to_owned();
    let mut rows = streams(settings, &folder)?;
    rows.push(idle(settings, &folder)?);
    Ok(rows)
}

fn vm(folder: &str) -> String {
    format!("{{vm: {{kernel: {folder}/vmlinuz, initrd: {folder}/root.cpio.gz, append: quiet, cpus: 2}}}}")
}

fn streams(settings: &Settings, folder: &str) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 1 } else { 3 };
    let transfer = |server: &str, direction: &str| format!("iperf3 -4 -c {server} -t {seconds} --json {direction}");
    let yaml = format!("nodes: {{v: {}, a: {{}}}}\nlinks:\n  line: {{ends: [v, a]}}\n", vm(folder));
    let (mut boots, mut ours, mut taps) = (Vec::new(), [Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..settings.rounds(5) {
        let begin = Instant::now();
        let lab = Lab::up(settings, "machine", &yaml)?;
        boots.push(begin.elapsed().as_secs_f64());
        lab.shell("a", crate::transfer::START_SERVER)?;
        for (place, direction) in ["", "-R"].into_iter().enumerate() {
            ours[place].push(received(&lab.shell("v", &transfer("a", direction))?)?);
            let told = Command::new(&settings.plain_vm).arg(folder).arg(transfer("10.77.0.1", direction)).output();
            let told = told.map_err(|error| format!("{}: {error}", settings.plain_vm.display()))?;
            taps[place].push(received(&String::from_utf8_lossy(&told.stdout))?);
        }
        lab.down()?;
    }
    let ([out, into], [tap_out, tap_into]) = (ours, taps);
    let row = |what: &str, rates, tap| {
        Ok::<Row, String>(Row::number(what, "Gbit/s", rates)?.against(TAP, tap).goal(Goal::AtLeast(OF_TAP)))
    };
    Ok(vec![
        row("one stream out of a machine", out, tap_out)?,
        row("one stream into a machine", into, tap_into)?,
        Row::number("up, with a machine that boots Debian's cloud kernel", "s", boots)?.goal(Goal::AtMost(BOOT)),
    ])
}

/// Gbit/s of a transfer in either direction.
fn received(json: &str) -> Result<f64, String> {
    let root: Value = serde_json::from_str(json).map_err(|error| format!("iperf3's output: {error}: {json}"))?;
    let rate = root["end"]["sum_received"]["bits_per_second"].as_f64();
    rate.map(|rate| rate / 1e9).ok_or_else(|| format!("iperf3: {}", root["error"]))
}

/// What the packet engine takes of a processor with two machines that do nothing, beside two namespace nodes.
fn idle(settings: &Settings, folder: &str) -> Result<Row, String> {
    let span = Duration::from_secs(if settings.quick { 1 } else { 5 });
    let node = vm(folder);
    let (mut machines, mut namespaces) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        machines.push(engine_percent(settings, &node, span)?);
        namespaces.push(engine_percent(settings, "{}", span)?);
    }
    let row = Row::number("the packet engine with two idle machines", "% of a processor", machines)?;
    Ok(row.against("two namespace nodes", namespaces).goal(Goal::AtMost(OF_NAMESPACES)))
}

fn engine_percent(settings: &Settings, node: &str, span: Duration) -> Result<f64, String> {
    let yaml = format!("nodes: {{v: {node}, w: {node}}}\nlinks:\n  line: {{ends: [v, w]}}\n");
    let lab = Lab::up(settings, "idle-machines", &yaml)?;
    sleep(SETTLE);
    let pid = lab.pid()?;
    let (before, begin) = (engine_seconds(pid), Instant::now());
    sleep(span);
    let share = (engine_seconds(pid) - before) / begin.elapsed().as_secs_f64();
    lab.down()?;
    Ok(share * 100.0)
}
