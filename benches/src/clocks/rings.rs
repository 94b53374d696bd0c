//! Virtual time with many kernels: what a second of the lab costs, and how many processors are at work.

use super::blocks;
use super::play::{self, Clock, Played};
use crate::plain::{self, VETH};
use crate::row::{Goal, Row, median};
use crate::settings::Settings;
use crate::streams::gbit;
use crate::transfer;
use std::fmt::Write;

/// One stream over a plain veth pair on the machine for which the goals are stated, in Gbit/s. A slower machine may take
/// as many times as long as its stream is slower.
const YARDSTICK_GBIT: f64 = 9.0;
/// Seconds of wall time for two seconds of the lab, kernels' boot included, on that machine.
const OF_50: f64 = 4.0;
const OF_100: f64 = 8.0;
/// System calls that a pair of iperf3 3.12 makes on the ring: the same in every run.
const CALLS: f64 = 13_900.0;
/// For comparison: so many blocks of a byte are read and written.
const BLOCKS: u32 = 200_000;
/// Blocks of 128 KiB that take two seconds at 10 Mbit/s.
const BLOCKS_SENT: u32 = 19;
/// Of two processors.
const AT_WORK: f64 = 1.7;

pub(super) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let rounds = if settings.quick { 1 } else { 3 };
    let mut direct = Vec::new();
    for _ in 0..rounds {
        direct.push(gbit(&plain::shell(settings, &transfer::tcp(plain::SERVER, 2))?)?);
    }
    let slower = (YARDSTICK_GBIT / median(&direct)?).max(1.0);
    let mut rows = vec![Row::number("one stream, for comparison", "Gbit/s", direct)?.remark(VETH)];
    let call = call(settings)?;
    rows.push(Row::number("a program's system call in virtual time", "us of a processor", vec![call * 1e6])?);
    rows.extend(ring(settings, 50, OF_50 * slower, call)?);
    if !settings.quick {
        rows.extend(ring(settings, 100, OF_100 * slower, call)?);
    }
    rows.push(access(settings)?);
    rows.push(gigabit(settings, slower)?);
    Ok(rows)
}

/// Seconds of a processor that a program's system call takes, when nothing else happens in the lab.
fn call(settings: &Settings) -> Result<f64, String> {
    let yaml = format!(
        "nodes: {{a: {{memory: 64 MB}}}}\ntimeline:\n  - {{on: a, run: dd if=/dev/zero of=/dev/null bs=1 count={BLOCKS}}}\n"
    );
    let played = play::play_text(settings, "calls", &yaml, Clock::Virtual, 1)?;
    Ok(played.busy_seconds() / (2.0 * f64::from(BLOCKS)))
}

/// Kernels on a ring, of which every second one sends 10 Mbit/s to the next for two seconds: by iperf3, and by programs that
/// write and read in blocks.
fn ring(settings: &Settings, nodes: u32, limit: f64, call: f64) -> Result<Vec<Row>, String> {
    let yaml = play::ring(nodes, "10 Mbit/s");
    let boot = play::play_text(settings, "boot", &format!("{yaml}  - {{on: n0, run: 'true'}}\n"), Clock::Virtual, 1)?;
    let alone = boot.wall_seconds() + f64::from(nodes / 2) * CALLS * call / 2.0;
    let (mut by_iperf3, mut in_blocks) = (yaml.clone(), yaml);
    for node in (0..nodes).step_by(2) {
        let next = node + 1;
        let _ = writeln!(by_iperf3, "  - {{on: n{next}, run: iperf3 -s, ready: {{tcp: 5201}}}}");
        let _ = writeln!(by_iperf3, "  - {{on: n{node}, run: iperf3 -4 -c n{next} -t 2 --json, as: t{node}}}");
        let (receive, send) = (blocks::receive(), blocks::send(&format!("n{next}"), BLOCKS_SENT));
        let _ = writeln!(in_blocks, "  - on: n{next}\n    ready: {{tcp: 5201}}\n    run: |\n      {receive}");
        let _ = writeln!(in_blocks, "  - on: n{node}\n    as: t{node}\n    run: |\n      {send}");
    }
    let carried = play::play_text(settings, "pairs", &by_iperf3, Clock::Virtual, 1)?;
    if carried.flows("t0")?.iter().sum::<f64>() <= 0.0 {
        return Err(format!("{nodes} kernels: nothing was carried"));
    }
    let played = play::play_text(settings, "blocks", &in_blocks, Clock::Virtual, 1)?;
    let row = |what: String, run: &Played| Row::number(what, "s of wall time", vec![run.wall_seconds()]);
    let (kernels, scheduler) = (played.processors(), played.scheduler());
    let busy = Row::number("processors at work, from time zero on", "", vec![kernels + scheduler])?;
    Ok(vec![
        row(format!("{nodes} kernels on a ring, a TCP stream per pair"), &played)?
            .goal(Goal::AtMost(limit))
            .remark(remark(&played)),
        busy.goal(Goal::AtLeast(AT_WORK)).remark(format!("kernels {kernels:.2}, scheduler {scheduler:.2}")),
        row("the same by iperf3".to_owned(), &carried)?.remark(remark(&carried)),
        Row::number("kernels' boot, and iperf3's system calls alone", "s of wall time", vec![alone])?
            .remark("for comparison: what they take on two processors"),
    ])
}

/// Hosts behind routers, joined to them by links without delay.
fn access(settings: &Settings) -> Result<Row, String> {
    let yaml = "nodes: {a: {}, b: {}, ra: {kind: router}, rb: {kind: router}}\n\
                links:\n  left: {ends: [a, ra]}\n  right: {ends: [rb, b]}\n  \
                long: {ends: [ra, rb], rate: 100 Mbit/s, delay: 10 ms, queue: 50 ms}\n\
                timeline:\n  - {on: b, run: iperf3 -s, ready: {tcp: 5201}}\n  \
                - {on: a, run: iperf3 -4 -c b -t 2 --json, as: transfer}\n";
    let played = play::play_text(settings, "access", yaml, Clock::Virtual, 1)?;
    let row =
        Row::number("TCP over 100 Mbit/s behind links without delay", "s of wall time", vec![played.wall_seconds()])?;
    Ok(row.remark(remark(&played)))
}

/// Ten seconds of a gigabit.
fn gigabit(settings: &Settings, slower: f64) -> Result<Row, String> {
    let seconds = if settings.quick { 2 } else { 10 };
    let room =
        "{memory: 1 GB, sysctl: {net.ipv4.tcp_rmem: 4096 131072 268435456, net.ipv4.tcp_wmem: 4096 65536 268435456}}";
    let yaml = format!(
        "nodes: {{a: {room}, b: {room}}}\n\
         links: {{path: {{ends: [a, b], rate: 1 Gbit/s, delay: 10 ms, queue: 20 ms}}}}\n\
         timeline:\n  - {{on: b, run: iperf3 -s, ready: {{tcp: 5201}}}}\n  \
         - {{on: a, run: iperf3 -4 -c b -C cubic -t {seconds} --json, as: transfer}}\n"
    );
    let played = play::play_text(settings, "gigabit", &yaml, Clock::Virtual, 1)?;
    let row = Row::number(format!("{seconds} s of TCP over 1 Gbit/s"), "s of wall time", vec![played.wall_seconds()])?;
    Ok(row.goal(Goal::AtMost(f64::from(seconds) * slower)).remark(remark(&played)))
}

fn remark(played: &Played) -> String {
    format!(
        "{:.2} s of the lab, {:.0} packets per s, {} grants{}",
        played.lab_seconds(),
        played.packets() / played.wall_seconds(),
        played.grants(),
        played.remark()
    )
}
