//! Virtual time: the same bytes in every run, and how long it takes.

use super::blocks;
use super::play::{self, Clock, Played};
use crate::plain::{self, VETH};
use crate::row::{Goal, Row, median};
use crate::settings::Settings;
use crate::streams::gbit;
use crate::transfer;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Files that tell when and how a run was made, not what happened in it.
const ABOUT_THE_RUN: [&str; 5] = ["provenance.json", "report.json", "report.html", "summary.txt", "machine-files.json"];
/// One stream over a plain veth pair on the machine for which the limits are stated. A slower machine may take as many times
/// as long as its stream is slower.
const PLAIN_GBIT: f64 = 9.0;
const ALLOWED: &str = "what is allowed beside this plain veth stream";
/// A second of CUBIC at 45 Gbit/s took the prototype 36 s of wall time; the goal is half of that.
const SECONDS_PER_45_GBIT: f64 = 18.0;

pub(super) fn repetition(settings: &Settings) -> Result<Vec<Row>, String> {
    let file = play::example::<&str>(settings, "packets", &[])?;
    let run = |seed| play::play(settings, &file, Clock::Virtual, seed).and_then(|played| files(&played.folder));
    let first = run(1)?;
    let again = run(1)?;
    let beside = beside_busy_loops(|| run(1))?;
    let other = run(2)?;
    let captures = |files: &BTreeMap<String, Vec<u8>>| files.get("captures/path.pcapng").cloned();
    Ok(vec![
        identical("the same seed again", &first, &again),
        identical("the same seed beside busy loops on all processors", &first, &beside),
        Row::told(
            "another seed",
            "another capture",
            if captures(&first) == captures(&other) { "the same" } else { "differs" },
            Some(captures(&first) != captures(&other)),
        ),
    ])
}

fn identical(what: &str, one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) -> Row {
    let names: std::collections::BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differ: Vec<&str> =
        names.iter().filter(|name| one.get(**name) != other.get(**name)).map(|n| n.as_str()).collect();
    let bytes: usize = one.values().map(Vec::len).sum();
    Row::told(
        what.to_owned(),
        "captures, logs and tables byte for byte",
        if differ.is_empty() {
            format!("{} files, {:.1} MB, identical", names.len(), bytes as f64 / 1e6)
        } else {
            format!("{} of {} files differ: {}", differ.len(), names.len(), differ.join(", "))
        },
        Some(differ.is_empty()),
    )
}

/// All files of a results folder but those about the run itself, by their path in it.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let failed = |error| format!("reading {}: {error}", next.display());
        for entry in std::fs::read_dir(&next).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !ABOUT_THE_RUN.contains(&name.as_str()) {
                found.insert(name, std::fs::read(&path).map_err(failed)?);
            }
        }
    }
    Ok(found)
}

/// Does something while every processor is kept busy.
fn beside_busy_loops<T>(act: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let outcome = act();
        over.store(true, Ordering::Relaxed);
        outcome
    })
}

/// The room that a TCP connection over long and fast links needs.
const ROOMY: &str = "{memory: 1 GB, sysctl: {net.core.rmem_max: 268435456, net.core.wmem_max: 268435456, \
                     net.ipv4.tcp_rmem: 4096 131072 268435456, net.ipv4.tcp_wmem: 4096 65536 268435456}}";

/// Wall time and packets per second of wall time.
pub(super) fn speed(settings: &Settings) -> Result<Vec<Row>, String> {
    let direct = (0..settings.rounds(3)).map(|_| gbit(&plain::shell(settings, &transfer::tcp(plain::SERVER, 2))?));
    let direct = direct.collect::<Result<Vec<_>, String>>()?;
    let slower = (PLAIN_GBIT / median(&direct)?).max(1.0);
    let mut rows = vec![
        Row::number("one stream, for comparison", "Gbit/s", direct)?.remark(VETH),
        // 29 MB take 2.5 s at 100 Mbit/s, and 290 MB at 1 Gbit/s.
        tcp(settings, "100 Mbit/s, 20 ms", "100 Mbit/s", "10 ms", "-n 29M", |_| 1.5 * slower)?,
        tcp(settings, "1 Gbit/s, 20 ms", "1 Gbit/s", "10 ms", "-n 275M", |played| played.lab_seconds() * slower)?,
        plain_transfer(settings, slower)?,
    ];
    if !settings.quick {
        let scaled = |played: &Played| SECONDS_PER_45_GBIT * played.bytes() * 8.0 / 45e9 * slower;
        rows.push(tcp(settings, "100 Gbit/s, 2 ms", "100 Gbit/s", "1 ms", "-t 1", scaled)?);
    }
    rows.push(tcp(settings, "1 Tbit/s, 2 ms", "1 Tbit/s", "1 ms", "-n 2G", |_| f64::INFINITY)?);
    rows.push(ring(settings)?);
    Ok(rows)
}

/// One TCP transfer in virtual time, and how much wall time it may take, boots included.
fn tcp(
    settings: &Settings,
    what: &str,
    rate: &str,
    delay: &str,
    amount: &str,
    goal: impl Fn(&Played) -> f64,
) -> Result<Row, String> {
    let yaml = format!(
        "nodes:\n  a: {ROOMY}\n  b: {ROOMY}\n\
         links: {{path: {{ends: [a, b], rate: {rate}, delay: {delay}, queue: 20 ms}}}}\n\
         timeline:\n  - {{on: b, run: iperf3 -s, ready: {{tcp: 5201}}}}\n  \
         - {{on: a, run: iperf3 -4 -c b -C cubic {amount} --json, as: transfer}}\n"
    );
    let (walls, played) = repeated(settings, &yaml)?;
    let carried = played.flows("transfer")?.first().copied().unwrap_or_default();
    duration(format!("TCP over {what}"), walls, goal(&played), carried / 1e3, &played)
}

/// The same at 1 Gbit/s between programs that send and receive and do nothing else: iperf3 makes five system calls for each
/// piece that arrives, where this receiver makes one.
fn plain_transfer(settings: &Settings, slower: f64) -> Result<Row, String> {
    const COUNT: u32 = 2_200;
    let (receive, send) = (blocks::receive(), blocks::send("b", COUNT));
    let yaml = format!(
        "nodes:\n  a: {ROOMY}\n  b: {ROOMY}\n\
         links: {{path: {{ends: [a, b], rate: 1 Gbit/s, delay: 10 ms, queue: 20 ms}}}}\n\
         timeline:\n  - on: b\n    ready: {{tcp: 5201}}\n    run: |\n      {receive}\n  \
         - on: a\n    as: transfer\n    run: |\n      {send}\n"
    );
    let (walls, played) = repeated(settings, &yaml)?;
    let gbit = f64::from(COUNT * blocks::BYTES) * 8.0 / 1e9 / played.lab_seconds();
    duration("the same, read in blocks".to_owned(), walls, played.lab_seconds() * slower, gbit, &played)
}

/// The wall times, in seconds, and one of the runs: in virtual time they differ in nothing else.
fn repeated(settings: &Settings, yaml: &str) -> Result<(Vec<f64>, Played), String> {
    let rounds = if settings.quick { 1 } else { 3 };
    let mut played = Vec::new();
    for _ in 0..rounds {
        played.push(play::play_text(settings, "speed", yaml, Clock::Virtual, 1)?);
    }
    let walls = played.iter().map(Played::wall_seconds).collect();
    Ok((walls, played.swap_remove(0)))
}

/// `limit`: seconds of wall time that are allowed.
fn duration(what: String, walls: Vec<f64>, limit: f64, gbit: f64, played: &Played) -> Result<Row, String> {
    if gbit <= 0.0 {
        return Err(format!("{what}: nothing was carried"));
    }
    let typical = median(&walls)?;
    let row = Row::number(what, "s of wall time", walls)?.remark(format!(
        "{:.2} s of the lab, {gbit:.2} Gbit/s, {:.0} packets per s{}",
        played.lab_seconds(),
        played.packets() / typical,
        played.remark()
    ));
    Ok(if limit.is_finite() { row.against(ALLOWED, vec![limit]).goal(Goal::AtMost(1.0)) } else { row })
}

/// 20 kernels in a ring, with the routes that the lab file implies: ping half around it, and a transfer.
fn ring(settings: &Settings) -> Result<Row, String> {
    const NODES: u32 = 20;
    let mut yaml = play::ring(NODES, "1 Gbit/s");
    yaml.push_str(
        "  - {on: n10, run: iperf3 -s, ready: {tcp: 5201}}\n  \
         - {on: n0, run: ping -4 -c 3 -i 0.2 n10, as: ping}\n  \
         - {at: 1 s, on: n0, run: iperf3 -4 -c n10 -n 10M --json, as: transfer}\n",
    );
    let played = play::play_text(settings, "ring", &yaml, Clock::Virtual, 1)?;
    let answered = played.stdout("ping")?.contains(" 0% packet loss");
    let rate = played.flows("transfer")?.first().copied().unwrap_or_default();
    Ok(Row::told(
        format!("{NODES} kernels on a ring"),
        "ping and TCP across ten hops",
        format!(
            "{:.1} s for {:.2} s of the lab, {rate:.0} Mbit/s, {:.0} packets per s{}",
            played.wall_seconds(),
            played.lab_seconds(),
            played.packets() / played.wall_seconds(),
            played.remark()
        ),
        Some(answered && rate > 0.0),
    ))
}
