//! Many pipes, many nodes, and what is taken when nothing happens.

use crate::lab::Lab;
use crate::probe::{Load, RECEIVE};
use crate::processes::usage;
use crate::row::{Goal, Row, median};
use crate::settings::Settings;
use crate::wait::{napping_percent, own_seconds};
use serde_json::Value;
use std::fmt::Write;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PIPES: u16 = 1_000;
const PIPE_RATE: f64 = 1e6;

/// A thousand pipes of one link, each offered a fifth more than its rate.
pub(crate) fn pipes(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 2.0 } else { 9.0 };
    let program = std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    let payload = 1_000;
    let rate = f64::from(PIPES) * PIPE_RATE * 1.2 / (8.0 * (payload + 28) as f64);
    let load = Load { rate, burst: 20, seconds, payload, ports: PIPES };
    let mut yaml = String::from("nodes: [a, b]\nlinks:\n  line:\n    ends: [a, b]\n    pipes:\n");
    for pipe in 0..PIPES {
        let port = 9_000 + pipe;
        let _ = writeln!(yaml, "      p{pipe}: {{match: {{port: {port}}}, rate: 1 Mbit/s, queue: 20 packets}}");
    }
    let _ = write!(
        yaml,
        "timeline:\n  - {{on: b, run: {} {RECEIVE} {PIPES}, service: true, ready: {{pause: 500 ms}}}}\n  \
         - {{on: a, run: {} {}}}\n",
        program.display(),
        program.display(),
        load.arguments("b").join(" ")
    );
    let file = settings.output.join("pipes.yaml");
    write_file(&file, &format!("name: bench-pipes\n{yaml}"))?;
    let (mut worst, mut carried, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
    let rounds = settings.rounds(3);
    for _ in 0..rounds {
        let report = played(settings, &file)?;
        let rows = report["pipes"].as_array().into_iter().flatten();
        let shares: Vec<f64> = rows
            .filter(|pipe| pipe["departed_packets"].as_u64().unwrap_or(0) > 100)
            .filter_map(|pipe| pipe["achieved_bits_per_second"].as_f64())
            .map(|achieved| achieved / PIPE_RATE)
            .collect();
        worst.push(shares.iter().map(|share| (share - 1.0).abs()).fold(0.0, f64::max));
        carried.push(shares.len() as f64);
        reasons.extend(complaint(&report));
    }
    // Of the figures above, too, the median counts: a machine whose host took it away for long is named, as it should be.
    let as_described = rounds as usize - reasons.len();
    let verdict = format!("{as_described} of {rounds} as described");
    let all = f64::from(PIPES);
    Ok(vec![
        Row::number(format!("{PIPES} pipes at 1 Mbit/s, the worst off by"), "of the rate", worst)?
            .against("the described rate", vec![1.0])
            .goal(Goal::AtMost(0.01)),
        Row::number("pipes that carried something", "pipes", carried)?
            .against("those that there are", vec![all])
            .goal(Goal::Within(1.0, 1.0)),
        Row::told("verdict of most runs", "as described", verdict, Some(as_described * 2 > rounds as usize))
            .remark(reasons.join("; ")),
    ])
}

/// What the verdict complains of first, and why; nothing if all was as described.
fn complaint(report: &Value) -> Option<String> {
    if report["exit_code"] == 0 {
        return None;
    }
    let verdict = &report["verdict"];
    let Some(worst) = verdict["findings"].as_array().and_then(|findings| findings.first()) else {
        return Some(format!("exit code {}", report["exit_code"]));
    };
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let causes = verdict["causes"].as_array().into_iter().flatten().map(|cause| format!(" ({})", word(cause)));
    Some(format!("{}: {}{}", word(&worst["subject"]), word(&worst["text"]), causes.collect::<String>()))
}

/// The report of a run.
fn played(settings: &Settings, file: &Path) -> Result<Value, String> {
    let mut command = Command::new(&settings.netloom);
    command.arg("run").arg(file).args(["--json", "--quiet", "--results"]).arg(settings.output.join("runs"));
    let done = command.stderr(Stdio::piped()).output().map_err(|error| format!("{command:?}: {error}"))?;
    serde_json::from_slice(&done.stdout)
        .map_err(|error| format!("{command:?}: {error}: {}", String::from_utf8_lossy(&done.stderr)))
}

/// Up, down and memory of routers on a torus.
pub(crate) fn nodes(settings: &Settings) -> Result<Vec<Row>, String> {
    let (across, along) = if settings.quick { (10, 5) } else { (40, 25) };
    let count = across * along;
    let TorusCosts { up, down, own_kilobytes, all_kilobytes } =
        torus_costs(settings, &torus(across, along), f64::from(count))?;
    let what = |what: &str| format!("{count} nodes, {} links, {what}", count * 2);
    Ok(vec![
        Row::number(what("up"), "s", up)?.goal(Goal::AtMost(5.0)),
        Row::number(what("down"), "s", down)?.goal(Goal::AtMost(2.0)),
        Row::number(what("memory of processes per node"), "KB", own_kilobytes)?
            .goal(Goal::AtMost(400.0))
            .remark(format!("{:.0} KB with the kernel's", median(&all_kilobytes)?)),
    ])
}

/// A torus of routers: each has four neighbours.
pub(crate) fn torus(across: u32, along: u32) -> String {
    let mut yaml = String::from("nodes:\n");
    let name = |x: u32, y: u32| format!("n{}x{}", x % across, y % along);
    let mut links = String::from("links:\n");
    for y in 0..along {
        for x in 0..across {
            let _ = writeln!(yaml, "  {}: {{kind: router}}", name(x, y));
            for (number, (to_x, to_y)) in [(x + 1, y), (x, y + 1)].into_iter().enumerate() {
                let _ = writeln!(
                    links,
                    "  l{x}x{y}x{number}: {{ends: [{}, {}], rate: 1 Gbit/s, delay: 1 ms}}",
                    name(x, y),
                    name(to_x, to_y)
                );
            }
        }
    }
    yaml + &links
}

/// Of each round: seconds, and memory for a node, of processes alone and with the kernel's.
pub(crate) struct TorusCosts {
    pub(crate) up: Vec<f64>,
    pub(crate) down: Vec<f64>,
    pub(crate) own_kilobytes: Vec<f64>,
    pub(crate) all_kilobytes: Vec<f64>,
}

/// Sets a lab of so many nodes up and removes it, and looks whether it works.
pub(crate) fn torus_costs(settings: &Settings, yaml: &str, count: f64) -> Result<TorusCosts, String> {
    let [mut up, mut down, mut own, mut all] = [const { Vec::new() }; 4];
    for _ in 0..settings.rounds(3) {
        let before = settled_memory()?;
        let begin = Instant::now();
        let lab = Lab::up(settings, "torus", yaml)?;
        up.push(begin.elapsed().as_secs_f64());
        own.push(usage(lab.pid()?).values().map(|process| process.megabytes * 1e3).sum::<f64>() / count);
        all.push((settled_memory()? - before) / 1e3 / count);
        lab.shell("n0x0", "ping -c 1 -W 5 n2x2")?;
        down.push(lab.down()?.as_secs_f64());
    }
    Ok(TorusCosts { up, down, own_kilobytes: own, all_kilobytes: all })
}

/// An idle lab, and one whose cross traffic needs no kernel.
pub(crate) fn idle(settings: &Settings) -> Result<Vec<Row>, String> {
    let (rest, seconds) = if settings.quick { (1, 1) } else { (3, 3) };
    let quiet = "nodes: [a, b]\nlinks:\n  line: {ends: [a, b], rate: 1 Gbit/s, delay: 10 ms}\n";
    let source = "{kind: constant, rate: 1 Gbit/s, size: 1500 B}";
    let busy = format!(
        "nodes: [a, b]\nlinks:\n  line:\n    ends: [a, b]\n    rate: 1 Gbit/s\n    \
         forward: {{cross: [{source}, {source}]}}\n"
    );
    let rounds = settings.rounds(3);
    let naps = napping_percent(NAPS, rounds)?;
    let datagrams = (0..rounds).map(|_| loopback_percent(CROSS_PACKETS)).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for (what, yaml, yardstick, bare, goal) in [
        ("idle, balanced", quiet, "a thread that naps a hundred times a second", naps, 0.3),
        ("two sources of cross traffic, 1 Gbit/s each", &busy, "sending as many over loopback", datagrams, 0.3),
    ] {
        let lab = Lab::up(settings, "idle", yaml)?;
        // What belongs to setting up is over, and the engine naps as in an idle lab.
        sleep(Duration::from_secs(rest));
        let pid = lab.pid()?;
        let mut shares = Vec::new();
        for _ in 0..rounds {
            let before = processor_seconds(pid);
            sleep(Duration::from_secs(seconds));
            shares.push((processor_seconds(pid) - before) / seconds as f64 * 100.0);
        }
        rows.push(Row::number(what, "% of a core", shares)?.against(yardstick, bare).goal(Goal::AtMost(goal)));
    }
    Ok(rows)
}

/// How often the thread naps beside which an idle lab stands.
const NAPS: u32 = 100;
/// What two sources of 1 Gbit/s send in a second, in packets of 1,500 bytes.
const CROSS_PACKETS: u32 = 166_667;

/// What a thread takes that sends so many datagrams a second to a port of this machine that nobody reads, as a share of a
/// processor in percent: the least that a packet costs a kernel.
fn loopback_percent(packets: u32) -> Result<f64, String> {
    let failed = |error: std::io::Error| format!("sending datagrams over loopback: {error}");
    let unread = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    sender.connect(unread.local_addr().map_err(failed)?).map_err(failed)?;
    let (payload, begin) = ([0; 1_472], own_seconds());
    for _ in 0..packets {
        sender.send(&payload).map_err(failed)?;
    }
    Ok((own_seconds() - begin) * 100.0)
}

fn write_file(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, text))
        .map_err(|error| format!("writing {}: {error}", path.display()))
}

/// Processor time of a process and of all that descend from it, in seconds.
fn processor_seconds(root: i32) -> f64 {
    usage(root).values().map(|process| process.seconds).sum()
}

/// The memory in use, once nothing changes it: the kernel removes namespaces long after their last process has gone.
pub(crate) fn settled_memory() -> Result<f64, String> {
    let patience = Instant::now() + Duration::from_secs(10);
    let mut last = used_memory()?;
    loop {
        sleep(Duration::from_millis(500));
        let now = used_memory()?;
        if (now - last).abs() < 1e6 || Instant::now() > patience {
            return Ok(now);
        }
        last = now;
    }
}

/// Memory of the machine that is not free, in bytes.
fn used_memory() -> Result<f64, String> {
    let text = std::fs::read_to_string("/proc/meminfo").map_err(|error| format!("reading /proc/meminfo: {error}"))?;
    let value = |name: &str| -> Option<f64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<f64>().ok()
    };
    let (total, free) = (value("MemTotal:"), value("MemAvailable:"));
    total.zip(free).map(|(total, free)| (total - free) * 1024.0).ok_or_else(|| "no figures in /proc/meminfo".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_told_with_its_reason() {
        let good = serde_json::json!({"exit_code": 0, "verdict": {"findings": []}});
        assert_eq!(complaint(&good), None);
        let bad = serde_json::json!({"exit_code": 5, "verdict": {
            "findings": [{"subject": "line forward", "text": "1 % of its packets were late"}, {"subject": "b", "text": "c"}],
            "causes": ["the engine waited"],
        }});
        assert_eq!(complaint(&bad).as_deref(), Some("line forward: 1 % of its packets were late (the engine waited)"));
        assert_eq!(complaint(&serde_json::json!({"exit_code": 3})).as_deref(), Some("exit code 3"));
    }
}
