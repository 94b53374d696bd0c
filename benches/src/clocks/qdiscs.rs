//! Our queues beside those of the Linux kernel: the same traffic in virtual time, once through a link with a rate and a
//! queue of ours, once through HTB and the kernel's own discipline in the router before a link without a rate.
//!
//! Four CUBIC flows for twelve seconds through 20 Mbit/s and 10 ms, and beside them small datagrams at an odd pace, whose
//! delay is what a packet of another flow waits. What makes the two comparable, and what it is worth: `docs/qdiscs.md`.

use super::play::{self, Clock};
use crate::probe::{Arrivals, Load, RECEIVE};
use crate::row::{Goal, Row};
use crate::settings::Settings;

/// The kernel's classes of the disciplines with several queues: datagrams are one class, the rest is the other.
const BY_PROTOCOL: &str = "tc qdisc add dev eth1 parent 2:1 pfifo limit 100; tc qdisc add dev eth1 parent 2:2 pfifo limit 100; \
     tc filter add dev eth1 parent 2: protocol ip prio 1 u32 match ip protocol 17 0xff flowid 2:1; \
     tc filter add dev eth1 parent 2: protocol all prio 2 u32 match u32 0 0 flowid 2:2";
const CLASSES: &str = "classes: {probe: {match: {protocol: udp}, limit: 100 packets}, rest: {limit: 100 packets}}";

/// How far apart the goodputs may be. Drops at other instants make this much of a difference within twelve seconds.
const GOODPUT: f64 = 0.01;
/// How far apart the mean delays may be, in milliseconds and as a share: a standing queue breathes with TCP.
const DELAY_MS: f64 = 0.1;
const DELAY_SHARE: f64 = 0.12;

/// A datagram of 22 bytes, its headers and those of Ethernet need so long at 20 Mbit/s. Behind HTB, which waits before it
/// sends and not after, they leave in no time.
const OWN_TRANSMISSION_MS: f64 = 64.0 * 8.0 / 20e3;
/// The delay of both links.
const PATH_MS: f64 = 10.1;
const SECONDS: u32 = 12;

struct Discipline {
    name: &'static str,
    /// The value of `queue`, and the words behind `tc qdisc add dev eth1 parent 1:1 handle 2:`.
    ours: String,
    kernel: String,
}

fn disciplines() -> Vec<Discipline> {
    let one = |name, ours: &str, kernel: &str| Discipline { name, ours: ours.to_owned(), kernel: kernel.to_owned() };
    let prio = "prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1";
    let drr = "drr; tc class add dev eth1 parent 2: classid 2:1 drr quantum 1514; \
               tc class add dev eth1 parent 2: classid 2:2 drr quantum 1514";
    vec![
        one("fifo, packets", "100 packets", "pfifo limit 100"),
        // The kernel counts the 14 bytes of Ethernet in all its queues.
        one("fifo, bytes", "75000 B", "bfifo limit 75700"),
        one("red", RED, "red limit 151400 min 15140 max 45420 avpkt 1514 burst 20 probability 0.05 bandwidth 20mbit"),
        one("pie", "{kind: pie}", "pie"),
        one("codel", "{kind: codel}", "codel"),
        one("fq_codel", "{kind: fq_codel}", "fq_codel"),
        Discipline { kernel: format!("{drr}; {BY_PROTOCOL}"), ..one("drr", &format!("{{kind: drr, {CLASSES}}}"), "") },
        Discipline {
            kernel: format!("{prio}; {BY_PROTOCOL}"),
            ..one("prio", &format!("{{kind: priority, {CLASSES}}}"), "")
        },
    ]
}

/// With a burst of 20 packets tc chooses the weight 1/16.
const RED: &str = "{kind: red, limit: 150000 B, min: 15000 B, max: 45000 B, weight: 6.25 %, probability: 5 %, \
                   mean_packet: 1500 B}";

/// What is sent, and how it is queued.
struct Setup<'a> {
    name: &'a str,
    link: String,
    kernel: Option<&'a str>,
    super_packets: bool,
}

/// What came of it.
struct Found {
    goodput: f64,
    /// The mean that datagrams waited, and what one in a hundred waited at least.
    wait_ms: f64,
    worst_ms: f64,
}

pub(super) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let mut all = disciplines();
    if settings.quick {
        all.retain(|discipline| discipline.name == "fq_codel");
    }
    let mut rows = Vec::new();
    for discipline in &all {
        let ours = ours(settings, "ours", &discipline.ours, "overhead: {bytes: 14 B}, ", false)?;
        let kernel = kernels(settings, "kernel", &discipline.kernel, false)?;
        rows.extend(beside(discipline.name, &ours, &kernel)?);
    }
    if !settings.quick {
        rows.extend(what_makes_a_difference(settings)?);
    }
    Ok(rows)
}

/// What the same comparison says without the care that was taken above.
fn what_makes_a_difference(settings: &Settings) -> Result<Vec<Row>, String> {
    let said = |what: &str, found: &Found| {
        let Found { goodput, wait_ms, worst_ms } = found;
        let measured = format!("{goodput:.2} Mbit/s, waits {wait_ms:.2} ms, p99 {worst_ms:.2} ms");
        Row::told(format!("fq_codel, {what}"), "", measured, None)
    };
    Ok(vec![
        said("the kernel's, super-packets", &kernels(settings, "kernel-trains", "fq_codel", true)?),
        said(
            "ours, super-packets",
            &ours(settings, "ours-trains", "{kind: fq_codel}", "overhead: {bytes: 14 B}, ", true)?,
        ),
        said("ours, bytes from the IP header on", &ours(settings, "ours-bytes", "{kind: fq_codel}", "", false)?),
        said(
            "ours, quantum 1514 B",
            &ours(settings, "ours-quantum", "{kind: fq_codel, quantum: 1514 B}", "overhead: {bytes: 14 B}, ", false)?,
        ),
    ])
}

fn ours(settings: &Settings, name: &str, queue: &str, overhead: &str, super_packets: bool) -> Result<Found, String> {
    let link = format!("rate: 20 Mbit/s, {overhead}queue: {queue}");
    play(settings, &Setup { name, link, kernel: None, super_packets })
}

fn kernels(settings: &Settings, name: &str, discipline: &str, super_packets: bool) -> Result<Found, String> {
    let link = "queue: 100000 packets".to_owned();
    play(settings, &Setup { name, link, kernel: Some(discipline), super_packets })
}

fn beside(name: &str, ours: &Found, kernel: &Found) -> Result<[Row; 2], String> {
    let goodput = Row::number(format!("{name}: goodput of four flows"), "Mbit/s", vec![ours.goodput])?
        .against("the kernel's", vec![kernel.goodput])
        .goal(Goal::Within(1.0 - GOODPUT, 1.0 + GOODPUT));
    let more = ours.wait_ms - OWN_TRANSMISSION_MS - kernel.wait_ms;
    let bound = DELAY_MS.max(DELAY_SHARE * kernel.wait_ms);
    let wait = Row::number(format!("{name}: a datagram waits longer by"), "ms", vec![more])?
        .goal(Goal::Within(-bound, bound))
        .remark(format!(
            "{:.2} and {:.2} ms, p99 {:.2} and {:.2} ms",
            ours.wait_ms, kernel.wait_ms, ours.worst_ms, kernel.worst_ms
        ));
    Ok([goodput, wait])
}

fn play(settings: &Settings, setup: &Setup<'_>) -> Result<Found, String> {
    let played = play::play_text(settings, &format!("qdiscs-{}", setup.name), &yaml(setup)?, Clock::Virtual, 1)?;
    let goodput = played.flows("flows")?.iter().sum();
    let waits = Arrivals::parse(&played.stdout("arrivals")?)?;
    let mean = waits.delays.iter().sum::<i64>() as f64 / waits.count as f64 / 1e6;
    Ok(Found { goodput, wait_ms: mean - PATH_MS, worst_ms: waits.quantile_us(0.99) / 1e3 - PATH_MS })
}

fn yaml(setup: &Setup<'_>) -> Result<String, String> {
    let bench = std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    let bench = bench.display();
    let load = Load { rate: 61.803, burst: 1, seconds: f64::from(SECONDS) - 1.0, payload: 22, ports: 1 };
    let send = load.arguments("d").join(" ");
    let trains = if setup.super_packets { "65535" } else { "1" };
    let discipline = setup.kernel.map_or_else(String::new, |discipline| {
        format!(
            "  - {{on: r, as: tc, run: \"set -e; tc qdisc add dev eth1 root handle 1: htb default 1; \
             tc class add dev eth1 parent 1: classid 1:1 htb rate 20mbit ceil 20mbit; \
             tc qdisc add dev eth1 parent 1:1 handle 2: {discipline}\"}}\n"
        )
    });
    Ok(format!(
        "nodes: {{s: {{}}, r: {{kind: router}}, d: {{}}}}
links:
  a: {{ends: [s, r], rate: 1 Gbit/s, delay: 100 us}}
  b: {{ends: [r, d], delay: 10 ms, {link}}}
timeline:
  - {{on: d, run: iperf3 -s, ready: {{tcp: 5201}}}}
  - {{on: d, run: \"'{bench}' {RECEIVE} 1\", as: arrivals}}
  - {{on: s, run: ip link set dev eth0 gso_max_segs {trains}}}
{discipline}  - {{at: 500 ms, on: s, run: \"'{bench}' {send}\", as: probe}}
  - {{at: 500 ms, on: s, run: iperf3 -4 -c d -P 4 -t {SECONDS} -C cubic --json, as: flows}}
",
        link = setup.link,
    ))
}
