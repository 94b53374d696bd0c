//! Many pipes, many nodes, and what is taken when nothing happens.

use crate::Settings;
use crate::lab::Lab;
use crate::probe::{Load, RECEIVE};
use crate::processes::usage;
use crate::row::{Row, median};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PIPES: u16 = 1_000;
const PIPE_RATE: f64 = 1e6;

/// A thousand pipes of one link, each offered a fifth more than its rate.
pub(crate) fn pipes(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 3.0 } else { 10.0 };
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
    let mut command = Command::new(&settings.netloom);
    command.arg("run").arg(&file).args(["--json", "--quiet", "--results"]).arg(settings.output.join("runs"));
    let done = command.stderr(Stdio::piped()).output().map_err(|error| format!("{command:?}: {error}"))?;
    let report: Value = serde_json::from_slice(&done.stdout)
        .map_err(|error| format!("{command:?}: {error}: {}", String::from_utf8_lossy(&done.stderr)))?;
    let rows = report["pipes"].as_array().into_iter().flatten();
    let shares: Vec<f64> = rows
        .filter(|pipe| pipe["departed_packets"].as_u64().unwrap_or(0) > 100)
        .filter_map(|pipe| pipe["achieved_bits_per_second"].as_f64())
        .map(|achieved| achieved / PIPE_RATE)
        .collect();
    let worst = shares.iter().map(|share| (share - 1.0).abs()).fold(0.0, f64::max);
    let described = report["exit_code"] == 0;
    Ok(vec![Row {
        what: format!("{PIPES} pipes at 1 Mbit/s"),
        goal: "each within 1 % of its rate, as described".to_owned(),
        measured: format!(
            "{} pipes, worst {:.2} % off, {}",
            shares.len(),
            worst * 100.0,
            if described { "as described" } else { "NOT as described" }
        ),
        met: Some(shares.len() == usize::from(PIPES) && worst <= 0.01 && described),
    }])
}

/// A torus of routers: each has four neighbours.
pub(crate) fn nodes(settings: &Settings) -> Result<Vec<Row>, String> {
    let (across, down) = if settings.quick { (10, 5) } else { (40, 25) };
    let rounds = if settings.quick { 1 } else { 3 };
    let mut yaml = String::from("nodes:\n");
    let name = |x: u32, y: u32| format!("n{}x{}", x % across, y % down);
    let mut links = String::from("links:\n");
    for y in 0..down {
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
    yaml.push_str(&links);
    let count = f64::from(across * down);
    let (mut up, mut ended, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let before = used_memory()?;
        let begin = Instant::now();
        let lab = Lab::up(settings, "torus", &yaml)?;
        up.push(begin.elapsed().as_secs_f64());
        let own = usage(lab.pid()?).values().map(|process| process.megabytes * 1e6).sum::<f64>();
        memory.push((own / count, (used_memory()? - before) / count));
        lab.shell("n0x0", "ping -c 1 -W 5 n3x3")?;
        ended.push(lab.down()?.as_secs_f64());
    }
    let own = median(memory.iter().map(|(own, _)| *own).collect())?;
    let all = median(memory.iter().map(|(_, all)| *all).collect())?;
    let (up, ended) = (median(up)?, median(ended)?);
    let row = |what: &str, goal: String, measured: String, met: bool| Row {
        what: format!("{} nodes, {} links, {what}", across * down, across * down * 2),
        goal,
        measured,
        met: Some(met),
    };
    Ok(vec![
        row("up", "at most 5 s".to_owned(), format!("{up:.1} s"), up <= 5.0),
        row("down", "at most 2 s".to_owned(), format!("{ended:.1} s"), ended <= 2.0),
        row(
            "memory per node",
            "at most 400 KB beside the kernel's".to_owned(),
            format!("{:.0} KB of processes; {:.0} KB with the kernel's", own / 1e3, all / 1e3),
            own <= 400e3,
        ),
    ])
}

/// An idle lab, and one whose cross traffic needs no kernel.
pub(crate) fn idle(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 3 } else { 10 };
    let quiet = "nodes: [a, b]\nlinks:\n  line: {ends: [a, b], rate: 1 Gbit/s, delay: 10 ms}\n";
    let source = "{kind: constant, rate: 1 Gbit/s, size: 1500 B}";
    let busy = format!(
        "nodes: [a, b]\nlinks:\n  line:\n    ends: [a, b]\n    rate: 1 Gbit/s\n    \
         forward: {{cross: [{source}, {source}]}}\n"
    );
    let mut rows = Vec::new();
    for (what, yaml, goal) in
        [("idle, balanced", quiet, 0.01), ("two sources of cross traffic, 1 Gbit/s each", &busy, 0.15)]
    {
        let lab = Lab::up(settings, "idle", yaml)?;
        // What belongs to setting up is over, and the engine naps as in an idle lab.
        sleep(Duration::from_secs(3));
        let pid = lab.pid()?;
        let before = processor_seconds(pid);
        sleep(Duration::from_secs(seconds));
        let share = (processor_seconds(pid) - before) / seconds as f64;
        rows.push(Row {
            what: what.to_owned(),
            goal: format!("under {:.0} % of a core", goal * 100.0),
            measured: format!("{:.2} %", share * 100.0),
            met: Some(share < goal),
        });
    }
    Ok(rows)
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
