//! Commands behind links: how long a link takes to be made and removed, and what nested ones carry.

use crate::peers;
use crate::plain::{self, SERVER, VETH};
use crate::row::{Goal, Row, median, number};
use crate::settings::Settings;
use crate::streams::gbit;
use crate::transfer;

const ONE_MS: f64 = 60.0;
const TEN_MS: f64 = 600.0;
/// Of the stream without links, through three of them.
const OF_DIRECT: f64 = 0.4;

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
    let theirs = match peers::mahimahi(settings) {
        Ok(_) => {
            let samples =
                (0..settings.rounds(7)).map(|_| took(settings, "mm-delay 1 true")).collect::<Result<Vec<_>, _>>();
            format!("mahimahi's mm-delay: {} ms", number(median(&over(samples?))?))
        }
        Err(reason) => format!("mahimahi: {reason}"),
    };
    let one = Row::number("`link shell -- true`, beyond `true`", "ms", one)?.goal(Goal::AtMost(ONE_MS)).remark(theirs);
    let ten = Row::number("the same ten deep", "ms", ten)?.goal(Goal::AtMost(TEN_MS));
    Ok(vec![one, ten, stream(settings)?])
}

fn stream(settings: &Settings) -> Result<Row, String> {
    let transfer = transfer::tcp(SERVER, if settings.quick { 1 } else { 3 });
    let (mut direct, mut nested) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        direct.push(gbit(&plain::shell(settings, &transfer)?)?);
        let quoted = transfer.replace('\'', "'\\''");
        nested.push(gbit(&plain::shell(settings, &behind(settings, 3, &format!("sh -c '{quoted}'")))?)?);
    }
    let row = Row::number("one TCP stream through three links, one inside the other", "Gbit/s", nested)?;
    Ok(row.against(VETH, direct).goal(Goal::AtLeast(OF_DIRECT)))
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
