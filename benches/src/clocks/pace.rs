//! The clocks themselves: how fast guests' time passes, how long a second lasts there, what ping sees.

use super::play::{self, Clock};
use crate::lab::{Lab, output};
use crate::plain;
use crate::row::{Goal, Row};
use crate::settings::Settings;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const DILATIONS: [u32; 2] = [10, 100];
/// The goals.
const SLOPE: f64 = 1e-4;
/// Of what the same takes on this machine: to start `sleep` and to be woken, and a round trip of a plain veth pair. On a slow
/// clock the machine's own time counts less, in virtual time not at all.
const OF_SLEEP: f64 = 1.0;
const OF_PING: f64 = 2.5;
const PING_MS: f64 = 20.0;
/// Out of so many readings the one counts whose answer came fastest: it is known best when it was made.
const READINGS: u32 = 50;

const PATH: &str = "nodes: {a: {stack: kernel}, b: {stack: kernel}}\nlinks: {path: {ends: [a, b], delay: 10 ms}}\n";
/// Microseconds by the shell itself: starting a program for it would take longer.
const TELL_TIME: &str = "while read -r line; do echo $EPOCHREALTIME; done";
const SLEEP: &str = "from=$EPOCHREALTIME; sleep 1; to=$EPOCHREALTIME; echo $from $to";
const PING: &str = "ping -4 -q -c 1 a > /tmp/first; ping -4 -c 10 -i 0.1 a";

pub(super) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for dilation in DILATIONS {
        rows.push(slope(settings, dilation)?);
    }
    let clocks = [Clock::Virtual, Clock::Dilated(10), Clock::Dilated(100)];
    let here = Here::measure(settings)?;
    for clock in &clocks[..if settings.quick { 2 } else { 3 }] {
        rows.extend(inside(settings, *clock, &here)?);
    }
    Ok(rows)
}

/// What the same takes without Netloom.
struct Here {
    /// By how much `sleep 1` is longer than a second, in milliseconds.
    sleep_ms: Vec<f64>,
    /// Round trips of a plain veth pair at the same pace, in milliseconds.
    ping_ms: Vec<f64>,
}

impl Here {
    fn measure(settings: &Settings) -> Result<Self, String> {
        let sleep = |_| slept_ms(&output(Command::new("bash").args(["-c", SLEEP]))?);
        let sleep_ms = (0..settings.rounds(5)).map(sleep).collect::<Result<Vec<_>, _>>()?;
        let pings = format!("ping -4 -c 10 -i 0.1 {}", plain::SERVER);
        Ok(Self { sleep_ms, ping_ms: round_trips(&plain::shell(settings, &pings)?) })
    }
}

/// How much longer than a second it was between the two times that were printed.
fn slept_ms(told: &str) -> Result<f64, String> {
    let times: Vec<f64> = told.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [from, to] = times[..] else { return Err(format!("sleep told {told:?}")) };
    Ok((to - from - 1.0) * 1e3)
}

/// How much wall time passes while a second passes on a node.
fn slope(settings: &Settings, dilation: u32) -> Result<Row, String> {
    let seconds = if settings.quick { 5 } else { 20 };
    let yaml = format!("clock: {{dilation: {dilation}}}\n{PATH}");
    let lab = Lab::up(settings, &format!("slope-{dilation}"), &yaml)?;
    let mut reader = Reader::start(&lab)?;
    let (begin, guest_begin) = reader.best()?;
    std::thread::sleep(Duration::from_secs(seconds));
    let (end, guest_end) = reader.best()?;
    let slope = (end - begin).as_secs_f64() / (guest_end - guest_begin);
    let error = slope / f64::from(dilation) - 1.0;
    let what = format!("dilation {dilation}, wall time per guest time, off");
    let row = Row::number(what, "ppm of the dilation", vec![error * 1e6])?;
    Ok(row.goal(Goal::Within(-SLOPE * 1e6, SLOPE * 1e6)).remark(format!("{slope:.5} over {seconds} s")))
}

/// A shell on a node that tells the node's time whenever it is asked.
struct Reader {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Reader {
    fn start(lab: &Lab) -> Result<Self, String> {
        let mut command: Command = lab.exec("a", &["bash", "-c", TELL_TIME]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let asks = child.stdin.take().ok_or("no way to ask")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no answers")?);
        Ok(Self { child, asks, answers })
    }

    /// Our time and the node's, in seconds, at the same moment.
    fn best(&mut self) -> Result<(Instant, f64), String> {
        let mut best: Option<(Duration, Instant, f64)> = None;
        for _ in 0..READINGS {
            let asked = Instant::now();
            self.asks.write_all(b"\n").map_err(|error| format!("asking a node for its time: {error}"))?;
            let mut line = String::new();
            self.answers.read_line(&mut line).map_err(|error| format!("a node's answer: {error}"))?;
            let took = asked.elapsed();
            let told = line.trim().parse().map_err(|_| format!("a node told its time as {line:?}"))?;
            if best.is_none_or(|(least, ..)| took < least) {
                best = Some((took, asked + took / 2, told));
            }
        }
        best.map(|(_, at, told)| (at, told)).ok_or_else(|| "no reading".to_owned())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // The lab ends it, too; then there is nothing left to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What programs on a node see: a second of sleep, and round trips of 20 ms.
fn inside(settings: &Settings, clock: Clock, here: &Here) -> Result<Vec<Row>, String> {
    let timeline = format!(
        "timeline:\n  - {{on: a, run: [bash, -c, '{SLEEP}'], as: sleep}}\n  \
         - {{on: b, run: [bash, -c, '{PING}'], as: ping}}\n"
    );
    let played = play::play_text(settings, "inside", &format!("{PATH}{timeline}"), clock, 1)?;
    let slept = slept_ms(&played.stdout("sleep")?)?;
    let trips = round_trips(&played.stdout("ping")?);
    let (least, most) = trips.iter().fold((f64::INFINITY, 0.0), |(low, high), ms| (ms.min(low), ms.max(high)));
    // The one that is farther from what is allowed; without all replies nothing is.
    let worst = if trips.len() < 10 {
        f64::INFINITY
    } else if least < PING_MS {
        least
    } else {
        most
    };
    let typical = crate::quantile::of(&trips, 0.5).unwrap_or_default();
    Ok(vec![
        Row::number(format!("{}, `sleep 1`, longer by", clock.name()), "ms", vec![slept])?
            .against("the same on this machine", here.sleep_ms.clone())
            .goal(Goal::Within(-OF_SLEEP, OF_SLEEP)),
        Row::number(format!("{}, ping over 20 ms, worst of ten, beyond", clock.name()), "ms", vec![worst - PING_MS])?
            .against("a plain veth pair at this pace", here.ping_ms.clone())
            .goal(Goal::Within(0.0, OF_PING))
            .remark(format!("{least:.2} to {most:.2} ms, median {typical:.2} ms, {} replies", trips.len())),
    ])
}

/// The times in ping's lines, in milliseconds.
fn round_trips(text: &str) -> Vec<f64> {
    let times = text.lines().filter_map(|line| line.split("time=").nth(1)?.split(' ').next()?.parse().ok());
    times.collect()
}
