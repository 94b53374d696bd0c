//! Commands behind links: how long a link takes to be made and removed, and what nested ones carry.

use crate::emulators;
use crate::plain::{self, APART, LAST, SERVER, VETH};
use crate::row::{Goal, Row, median, number};
use crate::settings::Settings;
use crate::streams::gbit;
use crate::transfer;

const ONE_MS: f64 = 60.0;
const TEN_MS: f64 = 600.0;
/// Of the stream through as many bare loops, which bound what a process for each link carries.
const OF_BARE: f64 = 0.9;
const NESTED: usize = 3;
/// It refuses root, and a network that does not forward.
const MAHIMAHI: &str = "echo 1 > /proc/sys/net/ipv4/ip_forward && \
     setpriv --reuid=65534 --regid=65534 --clear-groups mm-delay 1 true";
/// Between as many links of a chain.
const ROUTERS: u32 = 2;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let (mut bare, mut ours) = (Vec::new(), [Vec::new(), Vec::new()]);
    for _ in 0..settings.rounds(7) {
        bare.push(took(settings, "true")?);
        for (depth, samples) in [1, 10].into_iter().zip(&mut ours) {
            samples.push(took(settings, &behind(settings, depth, "true"))?);
        }
    }
    let without = median(&bare)?;
    let over = |samples: Vec<f64>| samples.into_iter().map(|sample| sample - without).collect::<Vec<f64>>();
    let [one, ten] = ours.map(over);
    let theirs = match emulators::mahimahi(settings) {
        Ok(_) => {
            let samples = (0..settings.rounds(7)).map(|_| took(settings, MAHIMAHI)).collect::<Result<Vec<_>, _>>();
            format!("mahimahi's mm-delay: {} ms", number(median(&over(samples?))?))
        }
        Err(reason) => format!("mahimahi: {reason}"),
    };
    let one = Row::number("`link shell -- true`, beyond `true`", "ms", one)?.goal(Goal::AtMost(ONE_MS)).remark(theirs);
    let ten = Row::number("the same ten deep", "ms", ten)?.goal(Goal::AtMost(TEN_MS));
    Ok(vec![one, ten, stream(settings)?])
}

fn stream(settings: &Settings) -> Result<Row, String> {
    let seconds = if settings.quick { 1 } else { 3 };
    let transfer = transfer::tcp(SERVER, seconds);
    let quoted = transfer.replace('\'', "'\\''");
    let nested = behind(settings, NESTED, &format!("sh -c '{quoted}'"));
    let (mut direct, mut bare, mut ours) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        direct.push(gbit(&plain::shell(settings, &transfer)?)?);
        bare.push(gbit(&plain::joined_apart(settings, ROUTERS, &transfer::tcp(LAST, seconds))?)?);
        ours.push(gbit(&plain::shell(settings, &nested)?)?);
    }
    let what = format!("one TCP stream through {NESTED} links, one inside the other");
    let beside = format!("{VETH}: {} Gbit/s", number(median(&direct)?));
    Ok(Row::number(what, "Gbit/s", ours)?.against(APART, bare).goal(Goal::AtLeast(OF_BARE)).remark(beside))
}

/// The command behind so many links.
fn behind(settings: &Settings, depth: usize, command: &str) -> String {
    format!("{} link shell -- ", settings.netloom.display()).repeat(depth) + command
}

/// Milliseconds that the command takes on one end of a plain veth pair.
fn took(settings: &Settings, command: &str) -> Result<f64, String> {
    let script = format!("begin=$(date +%s%N); {command} >&2 && echo $(($(date +%s%N) - begin))");
    let told = plain::shell(settings, &script)?;
    let ns: f64 = told.trim().parse().map_err(|_| format!("`{command}` told {told:?}"))?;
    Ok(ns / 1e6)
}
