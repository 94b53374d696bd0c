//! GINE, table 3: "Line capacity emulation (iperf -u -c target -b nM (10 times) or iperf -c target, 1470 byte + 28)".
//!
//! Each second of a transfer is a round of its own; the first and the last hold its beginning and its end.

use crate::exactness;
use crate::lab::Lab;
use crate::picture::{BLUE, ORANGE, Panel, Series, Stroke};
use crate::probe::{ARRIVALS, Load};
use crate::row::{Goal, Row, median};
use crate::settings::Settings;
use crate::streams;
use crate::transfer::{self, TCP_SHARE};
use plotters::prelude::SeriesLabelPosition;

/// A UDP datagram of 1,470 bytes is 1,498 bytes of IP.
const UDP_PAYLOAD: f64 = 1_470.0;
const UDP_BYTES: f64 = 1_498.0;
const UDP_SHARE: f64 = UDP_PAYLOAD / UDP_BYTES;
struct Capacity {
    kbps: u32,
    queue: &'static str,
    udp: bool,
    /// The least share of its payload share that TCP must reach; none: not measured.
    tcp: Option<f64>,
    /// Also part of a quick measurement.
    quick: bool,
}

const fn both(kbps: u32) -> Capacity {
    Capacity { kbps, queue: "100 packets", udp: true, tcp: Some(0.95), quick: false }
}

const CAPACITIES: [Capacity; 6] = [
    Capacity { tcp: None, ..both(100) },
    both(1_000),
    Capacity { quick: true, ..both(10_000) },
    Capacity { queue: "1000 packets", ..both(150_000) },
    Capacity { queue: "1000 packets", quick: true, ..both(1_000_000) },
    Capacity { queue: "4000 packets", udp: false, tcp: Some(0.9), ..both(5_000_000) },
];

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let yaml = "nodes: [a, b]\nlinks:\n  line: {ends: [a, b], rate: 100 kbit/s}\n";
    let lab = Lab::up(settings, "capacity", yaml)?;
    lab.shell("b", transfer::START_SERVER)?;
    let seconds = if settings.quick { 1 } else { 4 };
    let (mut rows, mut udp_points, mut tcp_points) = (Vec::new(), Vec::new(), Vec::new());
    for capacity in CAPACITIES.iter().filter(|capacity| capacity.quick || !settings.quick) {
        let mbps = f64::from(capacity.kbps) / 1e3;
        lab.set("line", &format!("rate={} kbit/s", capacity.kbps))?;
        lab.set("line", &format!("queue={}", capacity.queue))?;
        if capacity.udp {
            let goodputs = udp(&lab, capacity, seconds)?;
            let share = mbps * UDP_SHARE;
            udp_points.push((mbps, median(&goodputs)? / share * 100.0, 0.0));
            let row = Row::number(format!("{mbps} Mbit/s, UDP"), "Mbit/s", goodputs)?;
            rows.push(row.against("the rate's share", vec![share]).goal(Goal::Within(0.997, 1.003)));
        }
        if let Some(least) = capacity.tcp {
            let json = lab.shell("a", &transfer::tcp("b", seconds))?;
            let goodputs: Vec<f64> = transfer::seconds(&json)?.iter().map(|bits| bits / 1e6).collect();
            tcp_points.push((mbps, median(&goodputs)? / (mbps * TCP_SHARE) * 100.0, 0.0));
            let (what, most, goal) = streams::most(settings, mbps / 1e3, least)?;
            let row = Row::number(format!("{mbps} Mbit/s, TCP"), "Mbit/s", goodputs)?;
            rows.push(row.against(what, vec![most * 1e3]).goal(goal));
        }
    }
    settings.draw("capacity", &[panel(udp_points, tcp_points)])?;
    Ok(rows)
}

/// In Mbit/s.
fn udp(lab: &Lab, capacity: &Capacity, seconds: u32) -> Result<Vec<f64>, String> {
    let bits = f64::from(capacity.kbps) * 1e3;
    let goodputs = if capacity.kbps <= 10_000 {
        goodputs_by_arrivals(lab, bits, seconds)?
    } else {
        transfer::seconds(&lab.shell("a", &transfer::udp("b", seconds, bits * 1.05))?)?
    };
    Ok(goodputs.iter().map(|goodput| goodput / 1e6).collect())
}

/// At low rates one-second intervals hold too few packets: the time between the arrivals of datagrams of the same size
/// counts, sent and received by programs of our own; each third of them is a round.
fn goodputs_by_arrivals(lab: &Lab, bits: f64, seconds: u32) -> Result<Vec<f64>, String> {
    let rate = bits * 1.2 / (8.0 * UDP_BYTES);
    let load = Load { rate, burst: 1, seconds: f64::from(seconds), payload: 1_470, ports: 1 };
    let text = exactness::received(lab, load, &[ARRIVALS])?;
    let times: Vec<f64> = text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
    let goodput = |part: &[f64]| (part.len() - 1) as f64 * UDP_PAYLOAD * 8e9 / (part[part.len() - 1] - part[0]);
    match times.len() / 3 {
        0..2 => Err("no datagram arrived".to_owned()),
        third => Ok((0..3).map(|place| goodput(&times[place * third..(place + 1) * third])).collect()),
    }
}

fn panel(udp: Vec<(f64, f64, f64)>, tcp: Vec<(f64, f64, f64)>) -> Panel {
    let series = |name: &str, colour, points| Series { name: name.to_owned(), colour, stroke: Stroke::Bars, points };
    Panel {
        title: "Goodput of what the rate leaves for payload".to_owned(),
        x: "rate of the line (Mbit/s)",
        y: "goodput (%)",
        ticks: vec![0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0],
        by_ratio: true,
        top: Some(101.0),
        bottom: 95.0,
        series: vec![series("UDP", BLUE, udp), series("TCP", ORANGE, tcp)],
        names: SeriesLabelPosition::LowerLeft,
    }
}
