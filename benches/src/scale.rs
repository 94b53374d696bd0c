//! Setting up and removing a star: one router, 100 nodes.

use crate::Settings;
use crate::lab::Lab;
use crate::row::{Row, median};
use std::fmt::Write;
use std::time::Instant;

const NODES: usize = 100;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let rounds = if settings.quick { 1 } else { 5 };
    let yaml = star();
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let begin = Instant::now();
        let lab = Lab::up(settings, "star", &yaml)?;
        up.push(begin.elapsed().as_secs_f64());
        lab.shell("n1", "ping -c 1 -W 2 n100")?;
        assert!(lab.file().exists(), "the lab file stays while the lab is up");
        down.push(lab.down()?.as_secs_f64());
    }
    Ok(vec![row("up", median(up)?, 1.0), row("down", median(down)?, 0.5)])
}

fn row(what: &str, seconds: f64, goal: f64) -> Row {
    Row {
        what: what.to_owned(),
        goal: format!("under {goal} s"),
        measured: format!("{seconds:.2} s"),
        met: Some(seconds < goal),
    }
}

fn star() -> String {
    let mut yaml = String::from("nodes:\n  centre: {kind: router}\n");
    for node in 1..=NODES {
        let _ = writeln!(yaml, "  n{node}: {{}}");
    }
    yaml.push_str("links:\n");
    for node in 1..=NODES {
        let _ = writeln!(yaml, "  l{node}: {{ends: [n{node}, centre], rate: 1 Gbit/s, delay: 1 ms}}");
    }
    yaml
}
