//! GINE, table 3: "Line capacity emulation (iperf -u -c target -b nM (10 times) or iperf -c target, 1470 byte + 28)".

use crate::Settings;
use crate::lab::Lab;
use crate::row::Row;
use crate::transfer;

/// A UDP datagram of 1,470 bytes is 1,498 bytes of IP.
const UDP_SHARE: f64 = 1_470.0 / 1_498.0;
/// A TCP segment of 1,448 bytes with timestamps is 1,500 bytes of IP.
const TCP_SHARE: f64 = 1_448.0 / 1_500.0;

struct Capacity {
    kbps: u32,
    queue: &'static str,
    udp: bool,
    /// The least share of its payload share that TCP must reach; none: not measured.
    tcp: Option<f64>,
}

const fn both(kbps: u32) -> Capacity {
    Capacity { kbps, queue: "100 packets", udp: true, tcp: Some(0.95) }
}

const CAPACITIES: [Capacity; 8] = [
    Capacity { tcp: None, ..both(100) },
    both(1_000),
    both(10_000),
    both(100_000),
    Capacity { queue: "1000 packets", ..both(150_000) },
    Capacity { queue: "1000 packets", ..both(1_000_000) },
    Capacity { queue: "4000 packets", udp: false, tcp: Some(0.98), ..both(2_000_000) },
    Capacity { queue: "4000 packets", udp: false, tcp: Some(0.98), ..both(5_000_000) },
];

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let yaml = "nodes: [a, b]\nlinks:\n  line: {ends: [a, b], rate: 100 kbit/s}\n";
    let lab = Lab::up(settings, "capacity", yaml)?;
    lab.shell("b", transfer::START_SERVER)?;
    let seconds = if settings.quick { 3 } else { 6 };
    let mut rows = Vec::new();
    for capacity in CAPACITIES.iter().filter(|capacity| !settings.quick || capacity.kbps >= 10_000) {
        lab.set("line", &format!("rate={} kbit/s", capacity.kbps))?;
        lab.set("line", &format!("queue={}", capacity.queue))?;
        if capacity.udp {
            rows.push(udp(&lab, capacity, seconds)?);
        }
        if let Some(least) = capacity.tcp {
            rows.push(tcp(&lab, capacity, least, seconds)?);
        }
    }
    Ok(rows)
}

fn udp(lab: &Lab, capacity: &Capacity, seconds: u32) -> Result<Row, String> {
    let bits = f64::from(capacity.kbps) * 1e3;
    let goodput = if capacity.kbps <= 10_000 {
        goodput_by_arrivals(lab, bits, seconds)?
    } else {
        transfer::received(&lab.shell("a", &transfer::udp("b", seconds, bits * 1.05))?)?
    };
    let error = (goodput / (bits * UDP_SHARE) - 1.0) * 100.0;
    Ok(Row {
        what: format!("{} Mbit/s, UDP", bits / 1e6),
        goal: "goodput within 0.3 % of the rate's share".to_owned(),
        measured: format!("{:.4} Mbit/s, {error:+.2} %", goodput / 1e6),
        met: Some(error.abs() <= 0.3),
    })
}

/// At low rates one-second intervals hold too few packets: the time from the first to the last packet that arrives at
/// the other node counts, as tcpdump saw them there.
fn goodput_by_arrivals(lab: &Lab, bits: f64, seconds: u32) -> Result<f64, String> {
    let capture = "timeout 60 tcpdump -i eth0 -n -tt --time-stamp-precision=nano -Z root \
                   'udp and src host a and greater 1000' > /tmp/netloom-bench-capture-$NETLOOM_LAB 2>/dev/null & \
                   echo $!";
    lab.shell("b", capture)?;
    lab.shell("a", &format!("sleep 0.5; {}; sleep 0.2", transfer::udp("b", seconds, bits * 1.2)))?;
    let text = lab.shell(
        "b",
        "pkill -x tcpdump; sleep 0.3; cat /tmp/netloom-bench-capture-$NETLOOM_LAB; \
         rm /tmp/netloom-bench-capture-$NETLOOM_LAB",
    )?;
    let times: Vec<f64> = text.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect();
    match (times.first(), times.last()) {
        (Some(first), Some(last)) if last > first => Ok((times.len() - 1) as f64 * 1_470.0 * 8.0 / (last - first)),
        _ => Err("no datagram arrived".to_owned()),
    }
}

fn tcp(lab: &Lab, capacity: &Capacity, least: f64, seconds: u32) -> Result<Row, String> {
    let bits = f64::from(capacity.kbps) * 1e3;
    let goodput = transfer::received(&lab.shell("a", &transfer::tcp("b", seconds))?)?;
    let share = goodput / (bits * TCP_SHARE);
    Ok(Row {
        what: format!("{} Mbit/s, TCP", bits / 1e6),
        goal: format!("{:.0} to 100 % of the payload share", least * 100.0),
        measured: format!("{:.3} Mbit/s, {:.1} %", goodput / 1e6, share * 100.0),
        met: Some((least..=1.003).contains(&share)),
    })
}
