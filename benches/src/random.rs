//! Random graphs: the hardest case for route tables, and with them for `check` and `up`.

use crate::batches::{BATCHES, messages};
use crate::lab::{Lab, output};
use crate::many::settled_memory;
use crate::measured::measure;
use crate::row::{Goal, Row};
use crate::settings::Settings;
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Nodes of the graphs whose growth is looked at.
const GROWTH: [u32; 3] = [1_000, 2_000, 3_000];
const ROUNDS: u32 = 3;

/// Routers with twice as many links: a tree in which each new node hangs on any of those before it, and links anywhere.
fn graph(nodes: u32) -> String {
    let mut state = 88_172_645_463_325_252_u64;
    let mut below = |end: u32| {
        // Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as u32 % end
    };
    let mut yaml = String::from("nodes:\n");
    for node in 0..nodes {
        let _ = writeln!(yaml, "  n{node}: {{kind: router}}");
    }
    yaml.push_str("links:\n");
    let mut link = 0;
    while link < 2 * nodes {
        let one = if link + 1 < nodes { link + 1 } else { below(nodes) };
        let other = below(if link + 1 < nodes { one } else { nodes });
        if one != other {
            let _ = writeln!(yaml, "  l{link}: {{ends: [n{one}, n{other}], rate: 1 Gbit/s, delay: 1 ms}}");
            link += 1;
        }
    }
    yaml
}

/// What `check` and `up` take, the latter beside the kernel alone.
pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let nodes = if settings.quick { 100 } else { GROWTH[0] };
    let yaml = graph(nodes);
    let file = written(settings, "random.yaml", format!("name: bench-random\n{yaml}").as_bytes())?;
    let [mut text, mut text_memory, mut json, mut json_memory] = [const { Vec::new() }; 4];
    for _ in 0..settings.rounds(ROUNDS) {
        for (more, times, memory) in
            [(&[][..], &mut text, &mut text_memory), (&["--json"][..], &mut json, &mut json_memory)]
        {
            let (seconds, megabytes) = check(settings, &file, more)?;
            times.push(seconds);
            memory.push(megabytes);
        }
    }
    let (routes, requests) = requests(settings, &file)?;
    let [mut up, mut down, mut bare] = [const { Vec::new() }; 3];
    for _ in 0..settings.rounds(ROUNDS) {
        let (rose, fell) = up_and_down(settings, &yaml)?;
        up.push(rose);
        down.push(fell);
        settled_memory()?;
        bare.push(batches(&requests)?);
        settled_memory()?;
    }
    let what = |what: &str| format!("{nodes} nodes, {} links at random, {what}", nodes * 2);
    Ok(vec![
        Row::number(what("routes"), "thousand", vec![routes / 1e3])?,
        Row::number(what("check"), "s", text)?.goal(Goal::AtMost(1.0)),
        Row::number(what("check, memory"), "MB", text_memory)?.goal(Goal::AtMost(150.0)),
        Row::number(what("check --json"), "s", json)?.goal(Goal::AtMost(1.0)),
        Row::number(what("check --json, memory"), "MB", json_memory)?.goal(Goal::AtMost(150.0)),
        Row::number(what("up"), "s", up)?.against("netlink batches", bare).goal(Goal::AtMost(1.5)),
        Row::number(what("down"), "s", down)?,
    ])
}

/// Planning of Waxman graphs of transit routers, and `up` beside what the kernel needs for their hosts alone.
pub(crate) fn waxman(settings: &Settings) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let sizes = if settings.quick { [100, 1_000] } else { [1_000, 10_000] };
    for (nodes, most_seconds, most_megabytes) in [(sizes[0], 1.0, 150.0), (sizes[1], 10.0, 2_000.0)] {
        let yaml = format!("generate: {{kind: waxman, n: {nodes}, hosts: 50, seed: 3}}\n");
        let file = written(settings, "waxman.yaml", format!("name: bench-waxman\n{yaml}").as_bytes())?;
        let (mut seconds, mut megabytes) = (Vec::new(), Vec::new());
        for _ in 0..settings.rounds(ROUNDS) {
            let (time, memory) = check(settings, &file, &[])?;
            seconds.push(time);
            megabytes.push(memory);
        }
        let what = |what: &str| format!("Waxman graph of {nodes} transit routers and 50 hosts, {what}");
        rows.push(Row::number(what("check"), "s", seconds)?.goal(Goal::AtMost(most_seconds)));
        rows.push(Row::number(what("check, memory"), "MB", megabytes)?.goal(Goal::AtMost(most_megabytes)));
        if nodes == sizes[0] {
            let (_, requests) = requests(settings, &file)?;
            let [mut up, mut down, mut bare] = [const { Vec::new() }; 3];
            for _ in 0..settings.rounds(ROUNDS) {
                let begin = Instant::now();
                let lab = Lab::up(settings, "waxman", &yaml)?;
                up.push(begin.elapsed().as_secs_f64());
                lab.shell("h1", "ping -c 1 -W 5 h50")?;
                down.push(lab.down()?.as_secs_f64());
                settled_memory()?;
                bare.push(batches(&requests)?);
                settled_memory()?;
            }
            rows.push(
                Row::number(what("up"), "s", up)?
                    .against("netlink batches for its hosts", bare)
                    .goal(Goal::AtMost(1.5)),
            );
            rows.push(Row::number(what("down"), "s", down)?);
        }
    }
    Ok(rows)
}

/// Up and down of ever more nodes.
pub(crate) fn growth(settings: &Settings) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let counts = if settings.quick { &[100, 200][..] } else { &GROWTH };
    for &nodes in counts {
        let yaml = graph(nodes);
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for _ in 0..settings.rounds(ROUNDS) {
            let (rose, fell) = up_and_down(settings, &yaml)?;
            up.push(rose);
            down.push(fell);
            settled_memory()?;
        }
        let what = |what: &str| format!("nodes at random: {nodes}, {what}");
        rows.push(Row::number(what("up"), "s", up)?);
        rows.push(Row::number(what("down"), "s", down)?);
    }
    Ok(rows)
}

/// Sets a lab up, looks whether it works, and removes it; the seconds of the first and the last.
fn up_and_down(settings: &Settings, yaml: &str) -> Result<(f64, f64), String> {
    let begin = Instant::now();
    let lab = Lab::up(settings, "random", yaml)?;
    let up = begin.elapsed().as_secs_f64();
    lab.shell("n0", "ping -c 1 -W 5 n77")?;
    Ok((up, lab.down()?.as_secs_f64()))
}

/// Seconds and megabytes of `netloom check`.
fn check(settings: &Settings, file: &Path, more: &[&str]) -> Result<(f64, f64), String> {
    measure(Command::new(&settings.netloom).arg("check").args(more).arg(file))
}

/// How many routes there are, and the file of requests to the kernel for the nodes that are not in the engine.
pub(crate) fn requests(settings: &Settings, file: &Path) -> Result<(f64, PathBuf), String> {
    let json = output(Command::new(&settings.netloom).args(["check", "--json"]).arg(file))?;
    let mut plan: Value = serde_json::from_str(&json).map_err(|error| format!("netloom check --json: {error}"))?;
    if let Some(nodes) = plan["nodes"].as_array_mut() {
        nodes.retain(|node| node["stack"] != "engine");
    }
    let of_node = |node: &Value| node["routes"].as_array().map_or(0, Vec::len);
    let routes: usize = plan["nodes"].as_array().into_iter().flatten().map(of_node).sum();
    let requests = messages::file(&plan).ok_or("netloom check --json: not all that a node has is there")?;
    Ok((routes as f64, written(settings, "random.requests", &requests)?))
}

/// Seconds that the kernel alone needs.
pub(crate) fn batches(requests: &Path) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    let seconds = output(Command::new(program).arg(BATCHES).arg(requests))?;
    seconds.trim().parse().map_err(|error| format!("{BATCHES}: {error}: {seconds}"))
}

/// Writes a file into the folder of the benchmarks.
pub(crate) fn written(settings: &Settings, name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
    let path = settings.output.join(name);
    let done = std::fs::create_dir_all(&settings.output).and_then(|()| std::fs::write(&path, bytes));
    done.map(|()| path.clone()).map_err(|error| format!("writing {}: {error}", path.display()))
}
