//! Traffic of a machine itself that `netloom shape` sends through pipes, beside the same traffic on the same plain veth pair.

use crate::emulators;
use crate::exactness::{DELAY_US, SMALL, Sent, arrivals, highest, kpps, seconds};
use crate::lab::Lab;
use crate::plain::{self, OTHER_OF_PAIR, SERVER, VETH};
use crate::probe::{Arrivals, Load, RECEIVE};
use crate::row::{Goal, Row, median, number};
use crate::settings::Settings;
use crate::streams::gbit;
use crate::transfer;

/// One stream without a model: so much, or such a share of what it is without us.
const STREAM_GBIT: f64 = 8.0;
const OF_DIRECT: f64 = 0.8;
/// Small packets in a second, in thousands.
const KPPS: f64 = 250.0;
/// Of the delay of a packet, beyond that of the plain pair.
const MEDIAN_US: f64 = 15.0;
const NEARLY_ALL_US: f64 = 150.0;
/// Packets per second whose delays are looked at.
const PACE: f64 = 1e3;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let mut rows = vec![stream(settings)?];
    rows.extend(packets(settings)?);
    rows.extend(delays(settings)?);
    rows.extend(netem(settings).unwrap_or_else(|reason| vec![Row::absent(NETEM, reason)]));
    Ok(rows)
}

/// Runs a shell command on one end of a plain veth pair whose traffic is shaped.
fn shaped(settings: &Settings, options: &str, script: &str) -> Result<String, String> {
    let netloom = settings.netloom.display();
    let script = format!(
        "results=$(mktemp -d); {netloom} shape add --quiet --name bench --match 'to {SERVER}' --force \
         --results $results {options} >&2 || exit; {{ {script}; }}; code=$?; \
         {netloom} shape remove bench > $results/told 2>&1 || true; rm -r $results; exit $code"
    );
    plain::shell(settings, &script)
}

fn stream(settings: &Settings) -> Result<Row, String> {
    let transfer = transfer::pinned_tcp(SERVER, if settings.quick { 1 } else { 3 });
    let (mut direct, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        direct.push(gbit(&plain::shell(settings, &transfer)?)?);
        ours.push(gbit(&shaped(settings, "", &transfer)?)?);
    }
    let without = median(&direct)?;
    let row = Row::number("one stream, no model", "Gbit/s", ours)?;
    let remark = format!("{VETH} {} Gbit/s", number(without));
    Ok(row.goal(Goal::AtLeast(STREAM_GBIT.min(OF_DIRECT * without))).remark(remark))
}

/// The highest rate without loss.
fn packets(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 0.3 } else { 1.0 };
    let mut rows = Vec::new();
    for (what, options) in [("no model", ""), ("over 1 ms", "--delay 1ms")] {
        let mut found = Vec::new();
        for _ in 0..settings.rounds(3) {
            let rung = highest(settings, &found, &mut Vec::new(), |rate| {
                let load = Load { rate, burst: 25, seconds, payload: SMALL, ports: 1 };
                through(load, |script| shaped(settings, options, script))
            })?;
            found.push(rung);
        }
        let row = Row::number(format!("64-byte packets, {what}, lost less than 0.1 %"), "kpps", kpps(found))?;
        rows.push(if options.is_empty() { row.goal(Goal::AtLeast(KPPS)) } else { row });
    }
    Ok(rows)
}

/// How much later packets are than by the plain pair, beyond the delay that is described.
fn delays(settings: &Settings) -> Result<Vec<Row>, String> {
    let measured = |script: &dyn Fn(&str) -> Result<String, String>| {
        let rounds = (0..settings.rounds(3)).map(|_| Arrivals::parse(&through(pace(settings), script)?.told));
        rounds.collect::<Result<Vec<_>, _>>()
    };
    let direct = measured(&|script| plain::shell(settings, script))?;
    let mut rows = Vec::new();
    for precision in ["balanced", "exact"] {
        let options = format!("--precision {precision} --delay {DELAY_US}us");
        let ours = measured(&|script| shaped(settings, &options, script))?;
        let goals = [Some(MEDIAN_US), Some(NEARLY_ALL_US)];
        rows.extend(errors(&format!("{precision}, 1 kpps"), VETH, &direct, &ours, goals)?);
    }
    rows.extend(match emulators::behind_mahimahi(settings, pace(settings)) {
        Ok(theirs) => errors(MAHIMAHI, VETH, &direct, &theirs, [None, None])?,
        Err(reason) => vec![Row::absent(MAHIMAHI, reason)],
    });
    Ok(rows)
}

const MAHIMAHI: &str = "mahimahi's mm-delay, 1 kpps";
const NETEM: &str = "tc netem in a kernel node, 1 kpps";

/// The same by the kernel's own emulator, on a kernel of a node: that of this machine may be without it.
fn netem(settings: &Settings) -> Result<Vec<Row>, String> {
    let yaml = "nodes: {a: {stack: kernel}, b: {stack: kernel}}\nlinks: {line: {ends: [a, b]}}\n";
    let lab = Lab::up(settings, "netem", yaml)?;
    let measured = || (0..settings.rounds(3)).map(|_| arrivals(&lab, pace(settings))).collect::<Result<Vec<_>, _>>();
    let direct = measured()?;
    lab.shell("a", &format!("tc qdisc add dev eth0 root netem delay {DELAY_US}us limit 10000"))?;
    errors(NETEM, "the same nodes without it", &direct, &measured()?, [None, None])
}

/// What delays are measured with.
fn pace(settings: &Settings) -> Load {
    Load { rate: PACE, burst: 1, seconds: if settings.quick { 0.3 } else { 1.5 }, payload: SMALL, ports: 1 }
}

/// How much more the delays are than described, and than the median without one: their median, and that of nearly all.
fn errors(
    what: &str,
    plain: &str,
    direct: &[Arrivals],
    ours: &[Arrivals],
    goals: [Option<f64>; 2],
) -> Result<Vec<Row>, String> {
    let plainly = median(&direct.iter().map(|run| run.quantile_us(0.5)).collect::<Vec<_>>())?;
    let row = |((share, quantile), goal): ((f64, &str), Option<f64>)| {
        let late = ours.iter().map(|run| run.quantile_us(share) - DELAY_US - plainly).collect();
        let row = Row::number(format!("{what}, {quantile}, over 10 ms"), "us", late)?;
        let row = row.remark(format!("{plain} takes {} us", number(plainly)));
        Ok(match goal {
            Some(most) => row.goal(Goal::AtMost(most)),
            None => row,
        })
    };
    [(0.5, "median"), (0.99, "99 %")].into_iter().zip(goals).map(row).collect()
}

/// Sends from one end to the other; `run` runs a script on the first.
fn through(load: Load, run: impl Fn(&str) -> Result<String, String>) -> Result<Sent, String> {
    let (program, words) = (plain::program()?, load.arguments(SERVER).join(" "));
    let text = run(&format!(
        "{OTHER_OF_PAIR} {program} {RECEIVE} 1 > /run/told & sleep 0.4; {program} {words} && wait $! && cat /run/told"
    ))?;
    let (sender, told) = text.split_once('\n').ok_or("the sender told nothing")?;
    Ok(Sent { load, told: told.to_owned(), seconds: seconds(sender)? })
}
