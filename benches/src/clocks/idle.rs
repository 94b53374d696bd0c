//! What kernel nodes take: to be ready, in memory, and of processors while idle.

use crate::Settings;
use crate::lab::Lab;
use crate::processes::usage;
use crate::row::{Goal, Row};
use std::fmt::Write;
use std::time::{Duration, Instant};

const IDLE: usize = 10;
const READY: usize = 20;
const MOST_MEMORY_MB: f64 = 200.0;
const MOST_SECONDS: f64 = 3.0;
/// One tick of accounting in ten seconds for each of ten nodes.
const MOST_SHARE: f64 = 0.01;

pub(super) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for clock in ["real", "{dilation: 10}"] {
        rows.push(ready(settings, clock)?);
    }
    rows.extend(idle(settings)?);
    Ok(rows)
}

/// Nodes around a router, all kernels.
fn star(nodes: usize, clock: &str) -> String {
    let mut yaml = format!("clock: {clock}\nnodes:\n  centre: {{kind: router, stack: kernel}}\n");
    for node in 1..nodes {
        let _ = writeln!(yaml, "  n{node}: {{stack: kernel}}");
    }
    yaml.push_str("links:\n");
    for node in 1..nodes {
        let _ = writeln!(yaml, "  l{node}: {{ends: [n{node}, centre], rate: 1 Gbit/s, delay: 1 ms}}");
    }
    yaml
}

fn ready(settings: &Settings, clock: &str) -> Result<Row, String> {
    let rounds = if settings.quick { 1 } else { 3 };
    let mut times = Vec::new();
    for _ in 0..rounds {
        let begin = Instant::now();
        let lab = Lab::up(settings, "ready", &star(READY, clock))?;
        times.push(begin.elapsed().as_secs_f64());
        lab.shell("n1", "ping -4 -c 1 -W 2 n19")?;
    }
    Ok(Row::number(format!("{READY} kernels ready, clock: {clock}"), "s", times)?.goal(Goal::AtMost(MOST_SECONDS)))
}

fn idle(settings: &Settings) -> Result<Vec<Row>, String> {
    let lab = Lab::up(settings, "idle", &star(IDLE, "{dilation: 10}"))?;
    let pid = lab.pid()?;
    // What the start has left behind is over by then.
    std::thread::sleep(Duration::from_secs(3));
    let seconds = if settings.quick { 5 } else { 10 };
    let before = usage(pid);
    std::thread::sleep(Duration::from_secs(seconds));
    let after = usage(pid);
    let (mut kernels_mb, mut lab_mb, mut kernels_s, mut lab_s) = (0.0, 0.0, 0.0, 0.0);
    for (process, now) in &after {
        let used = now.seconds - before.get(process).map_or(0.0, |then| then.seconds);
        let (memory, time) = if now.is_netloom { (&mut lab_mb, &mut lab_s) } else { (&mut kernels_mb, &mut kernels_s) };
        *memory += now.megabytes;
        *time += used;
    }
    let share = |used: f64| used / seconds as f64;
    Ok(vec![
        Row::number(format!("{IDLE} idle kernels, memory (PSS)"), "MB", vec![kernels_mb])?
            .goal(Goal::Within(1.0, MOST_MEMORY_MB))
            .remark(format!("netloom itself {lab_mb:.0} MB")),
        Row::number(format!("{IDLE} idle kernels, processor"), "% of a core", vec![share(kernels_s) * 100.0])?
            .goal(Goal::AtMost(MOST_SHARE * 100.0))
            .remark(format!("netloom itself {:.2} %", share(lab_s) * 100.0)),
    ])
}
