//! The same cases on other emulators, side by side with ours in the same run, where they are installed.
//!
//! Each makes one path between two network stacks, by the script `peer.sh` beside this crate. Where a peer is missing, or
//! the kernel lacks what it is made of, a row says so.

use crate::exactness::{self, DELAY_US, SMALL};
use crate::lab::{Lab, output};
use crate::plain;
use crate::probe::{Arrivals, Load, RECEIVE};
use crate::row::Row;
use crate::settings::Settings;
use crate::streams::{ROOMY, gbit};
use crate::transfer;
use std::process::Command;

/// Another emulator.
struct Peer {
    name: &'static str,
    /// Its version, or why it cannot run.
    presence: fn(&Settings) -> Result<String, String>,
    /// Whether it delays and limits by the kernel's netem.
    needs_netem: bool,
}

const MAHIMAHI: Peer = Peer { name: "mahimahi", presence: mahimahi, needs_netem: false };

const PEERS: [Peer; 4] = [
    Peer { name: "netem", presence: netem, needs_netem: true },
    Peer { name: "mininet", presence: mininet, needs_netem: true },
    MAHIMAHI,
    Peer { name: "rattan", presence: rattan, needs_netem: false },
];

/// The link of a case: milliseconds each way, Mbit/s.
struct Link {
    what: &'static str,
    delay: Option<u32>,
    rate: Option<u32>,
}

const LINKS: [Link; 3] = [
    Link { what: "one stream, no limit", delay: None, rate: None },
    Link { what: "one stream, 10 ms each way", delay: Some(10), rate: None },
    Link { what: "one stream, 1 Gbit/s, 10 ms", delay: Some(10), rate: Some(1_000) },
];

/// What the case of delays is called.
const DELAYS: &str = "1 kpps over 10 ms";
const DELAYED: Link = Link { what: DELAYS, delay: Some(10), rate: None };

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let (mut present, mut rows) = (Vec::new(), Vec::new());
    for peer in &PEERS {
        match (peer.presence)(settings) {
            Ok(version) => present.push((peer, version)),
            Err(reason) => rows.push(Row::absent(peer.name, reason)),
        }
    }
    if present.is_empty() {
        return Ok(rows);
    }
    let has_netem = netem(settings);
    for link in &LINKS {
        let ours = ours(settings, link)?;
        rows.push(Row::number(format!("{}: netloom", link.what), "Gbit/s", ours.clone())?);
        for (peer, version) in &present {
            let what = format!("{}: {version}", link.what);
            let row = match peer.misses(link, &has_netem) {
                Some(reason) => Ok(Row::absent(&what, reason)),
                None => theirs(settings, peer, link, &what, ours.clone()),
            };
            rows.push(row.unwrap_or_else(|error| Row::absent(what, failed(&error))));
        }
    }
    rows.extend(delays(settings, &present, &has_netem)?);
    Ok(rows)
}

/// The last line of what went wrong: they say much.
fn failed(error: &str) -> String {
    let last = error.lines().rfind(|line| !line.trim().is_empty()).unwrap_or(error);
    format!("failed: {last}")
}

impl Peer {
    fn misses(&self, link: &Link, has_netem: &Result<String, String>) -> Option<String> {
        let shaped = link.delay.is_some() || link.rate.is_some();
        if self.needs_netem && shaped { has_netem.as_ref().err().cloned() } else { None }
    }

    fn play(&self, settings: &Settings, link: &Link, server: &str, client: &str) -> Result<String, String> {
        let word = |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let mut command = Command::new(&settings.peer);
        if server.contains(RECEIVE) {
            command.env("PEER_WAIT", "yes");
        }
        output(command.args([self.name, &word(link.delay), &word(link.rate), server, client]))
    }

    /// How long datagrams take over a link of 10 ms.
    fn arrivals(&self, settings: &Settings, load: Load) -> Result<Vec<Arrivals>, String> {
        let program = plain::program()?;
        let server = format!("{program} {RECEIVE} 1");
        // What the sender has to say is not among what the receiver says.
        let client = format!("{program} {} >&2", load.arguments("$SERVER").join(" "));
        let run = |_| Arrivals::parse(&self.play(settings, &DELAYED, &server, &client)?);
        (0..settings.rounds(3)).map(run).collect()
    }
}

/// How long datagrams take behind mahimahi's link of 10 ms.
pub(crate) fn behind_mahimahi(settings: &Settings, load: Load) -> Result<Vec<Arrivals>, String> {
    mahimahi(settings)?;
    MAHIMAHI.arrivals(settings, load)
}

fn seconds(settings: &Settings) -> u32 {
    if settings.quick { 1 } else { 2 }
}

fn ours(settings: &Settings, link: &Link) -> Result<Vec<f64>, String> {
    let delay = link.delay.map(|ms| format!(", delay: {ms} ms")).unwrap_or_default();
    let rate = link.rate.map(|mbit| format!(", rate: {mbit} Mbit/s, queue: 4000 packets")).unwrap_or_default();
    let yaml = format!("nodes:\n  a: {ROOMY}\n  b: {ROOMY}\nlinks:\n  line: {{ends: [a, b]{delay}{rate}}}\n");
    let lab = Lab::up(settings, "emulators", &yaml)?;
    lab.shell("b", transfer::START_SERVER)?;
    (0..settings.rounds(3)).map(|_| gbit(&lab.shell("a", &transfer::pinned_tcp("b", seconds(settings)))?)).collect()
}

/// A row of a peer beside ours.
fn theirs(settings: &Settings, peer: &Peer, link: &Link, what: &str, ours: Vec<f64>) -> Result<Row, String> {
    let client = transfer::pinned_tcp("$SERVER", seconds(settings));
    let (mut rates, mut governed, mut broken) = (Vec::new(), String::new(), None);
    let rounds = settings.rounds(3);
    for _ in 0..rounds {
        let json = peer.play(settings, link, "iperf3 --server --json > /dev/null", &client);
        match json.and_then(|json| Ok((gbit(&json)?, transfer::congestion_control(&json)))) {
            Ok((rate, by)) => {
                rates.push(rate);
                governed = by;
            }
            Err(error) => broken = Some(error),
        }
    }
    let mut remarks = Vec::new();
    if let Some(error) = broken {
        if rates.is_empty() {
            return Err(error);
        }
        remarks.push(format!("{} of {rounds} rounds {}", rounds as usize - rates.len(), failed(&error)));
    }
    if governed != "cubic" {
        // Where the peer lets nobody choose.
        remarks.push(format!("by TCP {governed}"));
    }
    Ok(Row::number(what, "Gbit/s", rates)?.against("netloom", ours).remark(remarks.join("; ")))
}

/// How far delays are off, at the median and where one in a hundred is worse.
fn delays(
    settings: &Settings,
    present: &[(&Peer, String)],
    has_netem: &Result<String, String>,
) -> Result<Vec<Row>, String> {
    let load = Load { rate: 1e3, burst: 1, seconds: 1.0, payload: SMALL, ports: 1 };
    let yaml = "nodes: [a, b]\nlinks:\n  line: {ends: [a, b], delay: 10 ms}\n";
    let lab = Lab::up(settings, "emulators", yaml)?;
    let ours = (0..settings.rounds(3)).map(|_| exactness::arrivals(&lab, load)).collect::<Result<Vec<_>, _>>()?;
    let mut rows = error_rows("netloom, balanced", &ours)?;
    for (peer, version) in present {
        if let Some(reason) = peer.misses(&DELAYED, has_netem) {
            rows.push(Row::absent(format!("{DELAYS}: {version}"), reason));
            continue;
        }
        match peer.arrivals(settings, load) {
            Ok(theirs) => rows.extend(error_rows(version, &theirs)?),
            Err(error) => rows.push(Row::absent(format!("{DELAYS}: {version}"), failed(&error))),
        }
    }
    Ok(rows)
}

fn error_rows(name: &str, runs: &[Arrivals]) -> Result<Vec<Row>, String> {
    let row = |share: f64, quantile: &str| {
        let errors = runs.iter().map(|run| run.quantile_us(share) - DELAY_US).collect();
        Row::number(format!("{DELAYS}, {quantile}: {name}"), "us", errors)
    };
    Ok(vec![row(0.5, "median")?, row(0.99, "99 %")?])
}

/// The kernel's netem, tried in a fresh network namespace.
fn netem(settings: &Settings) -> Result<String, String> {
    let tried = told(Command::new(&settings.peer).arg("netem-version"));
    let version = tried.map_err(|_| "this kernel has no netem, or tc is not installed".to_owned())?;
    Ok(format!("netem ({})", version_of(&version)))
}

/// Mininet's version, or why it cannot run.
pub(crate) fn mininet(_: &Settings) -> Result<String, String> {
    let version = told(Command::new("mn").arg("--version")).map_err(|_| NOT_INSTALLED.to_owned())?;
    needs_root()?;
    Ok(format!("mininet {}", version_of(&version)))
}

pub(crate) fn mahimahi(_: &Settings) -> Result<String, String> {
    // It has no word for its version: only what it says of its use is known.
    let text = Command::new("mm-delay").output().map_err(|_| NOT_INSTALLED.to_owned())?;
    drop(text);
    needs_root()?;
    Ok("mahimahi".to_owned())
}

fn rattan(_: &Settings) -> Result<String, String> {
    let version = told(Command::new("rattan").arg("--version")).map_err(|_| NOT_INSTALLED.to_owned())?;
    needs_root()?;
    Ok(format!("rattan {}", version_of(&version)))
}

const NOT_INSTALLED: &str = "not installed";

fn needs_root() -> Result<(), String> {
    if is_root() { Ok(()) } else { Err("installed, but needs root: run the benchmarks as root to see it".to_owned()) }
}

fn is_root() -> bool {
    // SAFETY: geteuid cannot fail and takes nothing.
    unsafe { libc::geteuid() == 0 }
}

/// Both of what a program that ended well wrote: some write their version where errors go.
fn told(command: &mut Command) -> Result<String, String> {
    let done = command.output().map_err(|error| error.to_string())?;
    let text = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if done.status.success() { Ok(text) } else { Err(text) }
}

/// The first word with a digit, without what stands before it.
fn version_of(text: &str) -> String {
    let word = text.split([' ', '\n', ',']).find(|word| word.contains(|letter: char| letter.is_ascii_digit()));
    word.unwrap_or("of unknown version").trim_start_matches("iproute2-").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        let texts = ["2.3.0\n", "rattan 1.2.0 (abc)", "tc utility, iproute2-6.1.0, libbpf 1.1.0", ""];
        assert_eq!(texts.map(version_of), ["2.3.0", "1.2.0", "6.1.0", "of unknown version"]);
    }

    #[test]
    fn what_went_wrong_is_said_in_a_line() {
        assert_eq!(failed("Command: exit 1:\nmany words\nDied: no such device\n\n"), "failed: Died: no such device");
    }

    #[test]
    fn netem_is_missed_only_where_it_is_needed() {
        let missing = Err("this kernel has no netem".to_owned());
        let [netem, mininet, mahimahi, _] = PEERS;
        assert_eq!(mininet.misses(&LINKS[0], &missing), None);
        assert_eq!(mininet.misses(&LINKS[1], &missing).as_deref(), Some("this kernel has no netem"));
        assert_eq!(mahimahi.misses(&LINKS[2], &missing), None);
        assert_eq!(netem.misses(&LINKS[2], &Ok("netem".to_owned())), None);
    }

    #[test]
    fn every_peer_is_present_or_says_why_not() {
        let settings = Settings::new(true);
        for peer in &PEERS {
            let said = (peer.presence)(&settings).unwrap_or_else(|reason| reason);
            assert!(!said.is_empty() && !said.contains('\n'), "{}: {said:?}", peer.name);
        }
    }
}
