//! What kernel nodes take: to be ready, in memory, and of processors while idle.

use crate::lab::Lab;
use crate::processes::usage;
use crate::row::{Goal, Row};
use crate::settings::Settings;
use crate::wait::napping_percent;
use crate::wake::last_processor;
use std::fmt::Write;
use std::time::{Duration, Instant};

const IDLE: usize = 10;
const READY: usize = 20;
/// What a kernel node may have by default, and what it takes of that while it is idle.
const MEMORY_MB: f64 = 128.0;
const OF_MEMORY: f64 = 0.2;
/// Of what one kernel takes after the other, divided among the processors.
const OF_ONE: f64 = 0.8;
/// How often a thread naps in a second that ten idle kernels are to take no more than.
const NAPS: u32 = 1_000;

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
    let (mut times, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let one = Instant::now();
        drop(Lab::up(settings, "alone", &format!("clock: {clock}\nnodes: {{a: {{stack: kernel}}}}\n"))?);
        alone.push(one.elapsed().as_secs_f64() * READY as f64 / (last_processor() + 1) as f64);
        let begin = Instant::now();
        let lab = Lab::up(settings, "ready", &star(READY, clock))?;
        times.push(begin.elapsed().as_secs_f64());
        lab.shell("n1", "ping -4 -c 1 -W 2 n19")?;
    }
    let row = Row::number(format!("{READY} kernels ready, clock: {clock}"), "s", times)?;
    Ok(row.against("one after the other on all processors", alone).goal(Goal::AtMost(OF_ONE)))
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
            .against("what they may have", vec![MEMORY_MB * IDLE as f64])
            .goal(Goal::AtMost(OF_MEMORY))
            .remark(format!("netloom itself {lab_mb:.0} MB")),
        Row::number(format!("{IDLE} idle kernels, processor"), "% of a core", vec![share(kernels_s) * 100.0])?
            .against("a thread that naps a thousand times a second", napping_percent(NAPS, 3)?)
            .goal(Goal::AtMost(1.0))
            .remark(format!("netloom itself {:.2} %", share(lab_s) * 100.0)),
    ])
}
