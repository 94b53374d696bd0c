//! How many packets the engine moves, and what bounds it.

use super::{Found, better, fine};
use crate::trial::Outcome;
use netloom_judge::examination::{Check, Forwarding};
use netloom_judge::quantity::{grouped, rate};

/// Below this a gigabit link of full-size packets (81,274 per second, both directions) would be too much.
const ENOUGH_PACKETS: f64 = 170_000.0;
/// The share of a plain veth pair's speed below which something takes the processors from the engine.
const ENOUGH_RATIO: f64 = 0.5;
/// What goes through the engine passes two veth pairs. When it was faster than one by more than chance, that one stalled.
const STALLED_RATIO: f64 = 2.0;
/// More than three full-size packets cross as one: super-packets stay whole.
const WHOLE_BYTES: f64 = 4_500.0;
/// Half of what the engine asks for, in bytes, with which it lost nothing.
const BUFFER_BYTES: u64 = 32 << 20;

pub(super) fn all(found: &Found<'_>) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Outcome::Carried(forwarding, _) = found.trial {
        checks.extend([small(forwarding), stream(forwarding), super_packets(forwarding)]);
    }
    checks.extend(buffers(found));
    checks
}

fn small(forwarding: &Forwarding) -> Check {
    const NAME: &str = "small packets";
    let (lossless, flooded) = (forwarding.lossless_packets_per_second, forwarding.flooded_packets_per_second);
    let result = format!("{}/s without loss; {}/s came out of a flood", grouped(lossless), grouped(flooded));
    if lossless >= ENOUGH_PACKETS {
        return fine("packets", NAME, result);
    }
    better("packets", NAME, result, "end other programs (`top` shows them), and see the lines of time above")
}

fn stream(forwarding: &Forwarding) -> Check {
    const NAME: &str = "one TCP stream";
    let through = rate(forwarding.tcp_bits_per_second);
    let Some(ratio) = forwarding.ratio() else {
        return better("packets", NAME, through, "a plain veth pair carried nothing: run it again");
    };
    let plain = rate(forwarding.plain_tcp_bits_per_second);
    let result = format!("{through}, {ratio:.2} of the {plain} of a plain veth pair");
    if ratio > STALLED_RATIO {
        let change = "run it again when the machine is idle: the veth pair stalled, so that it measures nothing";
        return better("packets", NAME, result, change);
    }
    if ratio >= ENOUGH_RATIO {
        return fine("packets", NAME, result);
    }
    better("packets", NAME, result, "leave a processor to the engine: end other programs, or add processors")
}

fn super_packets(forwarding: &Forwarding) -> Check {
    const NAME: &str = "super-packets";
    let (sent, received) = (forwarding.mean_sent_bytes, forwarding.mean_received_bytes);
    let result = format!("{:.1} kB at a time to the engine, {:.1} kB from it", sent / 1e3, received / 1e3);
    if sent.min(received) >= WHOLE_BYTES {
        return fine("packets", NAME, result);
    }
    let change = "this kernel cuts packets before the engine sees them: check that veth offers \
                  tcp-segmentation-offload (`ethtool -k`)";
    better("packets", NAME, result, change)
}

/// Root takes what it needs.
fn buffers(found: &Found<'_>) -> Option<Check> {
    const NAME: &str = "socket buffers";
    let facts = found.facts;
    let (receive, send) = (facts.receive_buffer_bytes?, facts.send_buffer_bytes?);
    let least = receive.min(send);
    if found.rights.privileged {
        return Some(fine("packets", NAME, "as large as the engine asks for (privileged)"));
    }
    let result = format!("at most {:.1} MB for ordinary users", least as f64 / 1e6);
    Some(if least >= BUFFER_BYTES {
        fine("packets", NAME, result)
    } else {
        let change = format!("sudo sysctl -w net.core.rmem_max={0} net.core.wmem_max={0}", BUFFER_BYTES * 2);
        better("packets", NAME, result, change)
    })
}
