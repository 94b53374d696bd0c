//! Whether the machine has the memory for what a lab describes.

use netloom_host::memory::{Available, available};
use netloom_lab::{PipePlan, Plan};
use netloom_link::{Division, QueueConfig};
use netloom_packet::SMALL_FRAME;
use netloom_units::{Limit, Rate};

/// What a packet on its way takes beside its buffer: its place in queue and delay line.
const PLACE: u64 = 192;
/// Of what is available, the engine takes this share at most. Its own growth is noticed a little late, and programs of the
/// lab's nodes need memory, too.
const SHARE: (u64, u64) = (3, 4);

/// By how many bytes the engine may grow; none where the kernel does not tell what it has.
pub(crate) fn engine_may_grow() -> Option<u64> {
    available().as_ref().map(share)
}

fn share(available: &Available) -> u64 {
    available.bytes / SHARE.1 * SHARE.0
}

/// Says so if full queues and delay lines would take more memory than the engine may use on this machine now.
pub fn memory_warning(plan: &Plan) -> Option<String> {
    let available = available()?;
    warning(plan, share(&available), &available.bound)
}

fn warning(plan: &Plan, most: u64, bound: &str) -> Option<String> {
    let pipes: Vec<_> = plan.pipes().map(|pipe| (full(plan, &pipe), pipe)).collect();
    let total = pipes.iter().fold(0, |sum: u64, (full, _)| sum.saturating_add(full.bytes()));
    if total <= most {
        return None;
    }
    let (largest, pipe) = pipes.iter().rev().max_by_key(|(full, _)| full.bytes())?;
    Some(format!(
        "full queues and delay lines would take {} of memory, and the engine may use {} (three quarters of {bound}): what \
         comes in beyond that is lost, and the run is then not as described. Most of it is link `{}` {}: {} packets in the \
         queue and {} on their way, {} each. A smaller `queue` or a shorter `delay` would fit",
        size(total),
        size(most),
        pipe.link_name,
        pipe.direction,
        largest.waiting,
        largest.travelling,
        size(largest.each),
    ))
}

/// What a pipe can hold, in the largest packets of its link.
#[derive(Debug, PartialEq, Eq)]
struct Full {
    waiting: u64,
    travelling: u64,
    /// What each of them takes, in bytes.
    each: u64,
}

impl Full {
    fn bytes(&self) -> u64 {
        self.waiting.saturating_add(self.travelling).saturating_mul(self.each)
    }
}

/// Without a rate nothing waits, and what travels is up to the senders, not to the description.
fn full(plan: &Plan, pipe: &PipePlan<'_>) -> Full {
    let mtu = u64::from(plan.links[pipe.link].mtu).max(1);
    let each = mtu.max(SMALL_FRAME as u64) + PLACE;
    let Some(rate) = pipe.config.rate.nominal() else { return Full { waiting: 0, travelling: 0, each } };
    let travelling = bytes_in(rate, pipe.config.delay.mean().as_nanos()) / mtu;
    Full { waiting: waiting(&pipe.config.queue, rate, mtu), travelling, each }
}

fn waiting(queue: &QueueConfig, rate: Rate, mtu: u64) -> u64 {
    let packets = |limit: &Limit| match limit {
        Limit::Packets(packets) => u64::from(*packets),
        Limit::Bytes(bytes) => bytes.get() / mtu,
        Limit::Time(span) => bytes_in(rate, span.as_nanos()) / mtu,
    };
    match queue {
        QueueConfig::DropTail(limit) | QueueConfig::DropHead(limit) => packets(limit),
        QueueConfig::Red(config) => packets(&config.limit),
        QueueConfig::Pie(config) => packets(&config.limit),
        QueueConfig::DualPi2(config) => packets(&config.limit),
        QueueConfig::Codel(config) => packets(&config.limit),
        QueueConfig::FqCodel(config) => u64::from(config.limit).min(config.memory.get() / mtu),
        QueueConfig::Drr(config) => divided(&config.division, packets),
        QueueConfig::Wf2q(division) => divided(division, packets),
        QueueConfig::Priority(classes) => classes.iter().map(|class| packets(&class.limit)).sum(),
    }
}

fn divided(division: &Division, packets: impl Fn(&Limit) -> u64) -> u64 {
    match division {
        Division::Flows { count, limit } => u64::from(*count).saturating_mul(packets(limit)),
        Division::Classes(classes) => classes.iter().map(|class| packets(&class.limit)).sum(),
    }
}

/// What a transmitter of this rate sends in so many nanoseconds, in bytes.
fn bytes_in(rate: Rate, ns: u64) -> u64 {
    let bits = u128::from(rate.as_bits_per_second()) * u128::from(ns) / 1_000_000_000;
    u64::try_from(bits / 8).unwrap_or(u64::MAX)
}

/// Bytes for people, in decimal units.
fn size(bytes: u64) -> String {
    let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let (scale, unit) = units.into_iter().find(|(scale, _)| bytes >= *scale).unwrap_or((1, "B"));
    format!("{:.1} {unit}", bytes as f64 / scale as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(link: &str) -> Plan {
        let text = format!("nodes: [a, b]\nlinks:\n  l: {{ends: [a, b], {link}}}\n");
        netloom_lab::parse(&text, "memory.yaml").expect("a lab that is right").plan
    }

    #[test]
    fn a_long_fat_link_is_told_with_its_arithmetic() {
        let plan = plan("rate: 10 Gbit/s, delay: 12 s, queue: 3 GB");
        let said = warning(&plan, 8_000_000_000, "memory").expect("48 GB are more than 8");
        assert!(
            said.contains("link `l` forward: 2000000 packets in the queue and 10000000 on their way, 2.2 kB each"),
            "{said}"
        );
        assert!(said.contains("would take 53.8 GB of memory, and the engine may use 8.0 GB"), "{said}");
    }

    #[test]
    fn ordinary_links_say_nothing() {
        assert_eq!(warning(&plan("rate: 1 Gbit/s, delay: 20 ms"), 100_000_000, "memory"), None);
        assert_eq!(warning(&plan("delay: 20 s"), 1_000_000, "memory"), None);
    }

    #[test]
    fn limits_of_all_kinds_are_counted_in_packets() {
        for (queue, packets) in [
            ("100 packets", 100),
            ("150 kB", 100),
            ("12 ms", 100),
            ("{kind: red, limit: 300 kB, min: 30 kB, max: 90 kB}", 200),
            ("{kind: fq_codel, limit: 500 packets, memory: 150 kB}", 100),
            ("{kind: wf2q, flows: 16, limit: 10 packets}", 160),
            ("{kind: priority, classes: {web: {match: {port: 80}, limit: 50 packets}, rest: {limit: 15 kB}}}", 60),
        ] {
            let plan = plan(&format!("rate: 100 Mbit/s, queue: {queue}"));
            let pipe = plan.pipes().next().expect("a link has pipes");
            assert_eq!(full(&plan, &pipe).waiting, packets, "{queue}");
        }
    }
}
