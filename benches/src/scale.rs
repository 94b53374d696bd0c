//! Setting up and removing a star: one router, 100 nodes.

use crate::lab::Lab;
use crate::row::{Goal, Row};
use crate::settings::Settings;
use std::fmt::Write;
use std::time::Instant;

const NODES: usize = 100;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let yaml = star();
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds(5) {
        let begin = Instant::now();
        let lab = Lab::up(settings, "star", &yaml)?;
        up.push(begin.elapsed().as_secs_f64());
        lab.shell("n1", "ping -c 1 -W 2 n100")?;
        assert!(lab.file().exists(), "the lab file stays while the lab is up");
        down.push(lab.down()?.as_secs_f64());
    }
    Ok(vec![
        Row::number("up", "s", up)?.goal(Goal::AtMost(1.0)),
        Row::number("down", "s", down)?.goal(Goal::AtMost(0.5)),
    ])
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
