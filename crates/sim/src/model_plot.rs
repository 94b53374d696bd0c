//! A model plot of a pipe: what its models do to packets, one model at a time, so that users can look before they run.

use netloom_link::{Departure, DropLog, LossConfig, Pipe, PipeConfig, RateConfig, ReorderConfig, ScheduleConfig};
use netloom_packet::{Packet, Pool, VirtioHeader};
use netloom_units::{Duration, Instant, Limit, Seed};

/// The packets of a model plot have this length from the IP header on, as most packets of a transfer do.
pub const MODEL_PLOT_PACKET: usize = 1_500;
/// How far apart the packets are whose delay or loss is looked at, as in GINE's figure 13.
pub const MODEL_PLOT_GAP: Duration = Duration::from_millis(10);
/// How many packets a saturated pipe may send.
const MOST_SENT: u64 = 3_000_000;
/// How many packets wait in a saturated pipe.
const BACKLOG: u32 = 64;
/// Into how many spans the time of a saturated pipe is cut.
const SPANS: u64 = 400;

/// A model plot of a pipe: what its models do to packets, one model at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelPlot {
    /// The delay of each packet in turn; empty with a constant delay and no reordering.
    pub delays: Vec<Duration>,
    /// Whether each packet in turn is lost; empty if the pipe has no loss model.
    pub losses: Vec<bool>,
    /// The rate of the pipe while there is always something to send: the middle of a span in seconds, and bits per second. Empty
    /// without a schedule if the rate is constant or unlimited.
    pub rates: Vec<(f64, f64)>,
}

/// Computes the model plot of a pipe: `packets` packets for delay and loss, and `span` for the rate. What does not vary is left out.
pub fn model_plot(config: &PipeConfig, seed: Seed, packets: u32, span: Duration) -> ModelPlot {
    let mut model_plot = ModelPlot::default();
    let plain = PipeConfig::default();
    if config.delay.is_constant().is_none() || config.reorder != ReorderConfig::default() {
        let only = PipeConfig { delay: config.delay.clone(), reorder: config.reorder, ..plain.clone() };
        model_plot.delays = delays(&only, seed, packets);
    }
    if config.loss != LossConfig::None {
        let only = PipeConfig { loss: config.loss.clone(), ..plain.clone() };
        model_plot.losses = losses(&only, seed, packets);
    }
    let is_steady = matches!(config.rate, RateConfig::Unlimited | RateConfig::Constant(_));
    if !is_steady || config.schedule != ScheduleConfig::None {
        let only = PipeConfig {
            rate: config.rate.clone(),
            overhead: config.overhead,
            schedule: config.schedule.clone(),
            queue: netloom_link::QueueConfig::DropTail(Limit::Packets(BACKLOG)),
            ..plain
        };
        model_plot.rates = rates(&only, seed, span);
    }
    model_plot
}

fn packet(pool: &mut Pool) -> Packet {
    pool.packet(VirtioHeader::COMPLETE, &[0; 14 + MODEL_PLOT_PACKET])
}

/// The instants at which packets are sent, each with its place.
fn instants(packets: u32) -> impl Iterator<Item = (usize, Instant)> {
    (0..packets).map(|number| (number as usize, Instant::ZERO + MODEL_PLOT_GAP * u64::from(number)))
}

/// The packets are told apart by their bytes, in which their number stands.
fn delays(config: &PipeConfig, seed: Seed, packets: u32) -> Vec<Duration> {
    let (mut pipe, mut pool, mut drop_log) = (Pipe::new(config, Duration::ZERO, seed), Pool::default(), DropLog::new());
    let mut delays = Vec::new();
    let mut leave = |from: &mut Pipe, end: Instant| {
        while let Some(wake) = from.next_wake().filter(|wake| *wake < end) {
            while let Some(Departure { packet: left, due, .. }) = from.pop(wake, &mut drop_log) {
                let number = left.bytes().last_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
                delays.push((number, due.since(Instant::ZERO + MODEL_PLOT_GAP * number)));
            }
        }
    };
    let mut lost = DropLog::new();
    for (number, at) in instants(packets) {
        leave(&mut pipe, at);
        let mut bytes = [0; 22];
        bytes[14..].copy_from_slice(&(number as u64).to_be_bytes());
        pipe.push(at, pool.packet(VirtioHeader::COMPLETE, &bytes), &mut lost);
    }
    leave(&mut pipe, Instant::MAX);
    delays.sort_unstable_by_key(|(number, _)| *number);
    delays.into_iter().map(|(_, delay)| delay).collect()
}

fn losses(config: &PipeConfig, seed: Seed, packets: u32) -> Vec<bool> {
    let (mut pipe, mut pool, mut drop_log) = (Pipe::new(config, Duration::ZERO, seed), Pool::default(), DropLog::new());
    let lost = |(_, at): (usize, Instant)| {
        pipe.push(at, packet(&mut pool), &mut drop_log);
        while let Some(departure) = pipe.pop(at, &mut drop_log) {
            pool.recycle(departure.packet);
        }
        let lost = !drop_log.is_empty();
        drop_log.drain(..).for_each(|dropped| pool.recycle(dropped.packet));
        lost
    };
    instants(packets).map(lost).collect()
}

fn rates(config: &PipeConfig, seed: Seed, span: Duration) -> Vec<(f64, f64)> {
    let (mut pipe, mut pool, mut drop_log) = (Pipe::new(config, Duration::ZERO, seed), Pool::default(), DropLog::new());
    for _ in 0..BACKLOG {
        pipe.push(Instant::ZERO, packet(&mut pool), &mut drop_log);
    }
    let step = Duration::from_nanos((span.as_nanos() / SPANS).max(1));
    let mut bits = vec![0_u64; usize::try_from(SPANS).expect("a small number")];
    let mut sent = 0;
    let end = Instant::ZERO + span;
    while let Some(wake) = pipe.next_wake().filter(|wake| *wake < end && sent < MOST_SENT) {
        while let Some(departure) = pipe.pop(wake, &mut drop_log) {
            sent += 1;
            let place = usize::try_from(departure.due.since(Instant::ZERO).as_nanos() / step.as_nanos());
            if let Some(sum) = place.ok().and_then(|place| bits.get_mut(place)) {
                *sum += departure.packet.size().get() * 8;
            }
            pool.recycle(departure.packet);
            pipe.push(departure.due, packet(&mut pool), &mut drop_log);
        }
        drop_log.drain(..).for_each(|dropped| pool.recycle(dropped.packet));
    }
    let seconds = step.as_secs_f64();
    bits.iter().zip(0_u32..).map(|(sum, number)| ((f64::from(number) + 0.5) * seconds, *sum as f64 / seconds)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(key: &str, value: &str) -> PipeConfig {
        netloom_lab::parse_change(key, value).expect("a value of the lab file").applied_to(&PipeConfig::default())
    }

    fn of(key: &str, value: &str) -> ModelPlot {
        model_plot(&config(key, value), Seed::new(1), 2_000, Duration::from_secs(2))
    }

    #[test]
    fn what_does_not_vary_is_left_out() {
        assert_eq!(of("delay", "20 ms"), ModelPlot::default());
        assert_eq!(of("rate", "20 Mbit/s"), ModelPlot::default());
    }

    #[test]
    fn delays_are_those_of_the_model() {
        let seen = of("delay", "{kind: uniform, from: 5 ms, to: 9 ms, order: free}").delays;
        assert_eq!(seen.len(), 2_000);
        assert!(seen.iter().all(|delay| (Duration::from_millis(5)..=Duration::from_millis(9)).contains(delay)));
    }

    #[test]
    fn losses_come_one_by_one() {
        let seen = of("loss", "{kind: every, n: 4}").losses;
        assert_eq!(seen[..8], [false, false, false, true, false, false, false, true]);
    }

    /// 1 Mbit/s, then 2 Mbit/s: half of the spans each, and 12,000 bits per packet of rounding.
    #[test]
    fn rates_follow_a_schedule() {
        let steps = "{steps: [{at: 0, rate: 1 Mbit/s}, {at: 1 s, rate: 2 Mbit/s}]}";
        let seen = of("schedule", steps).rates;
        let mean = |spans: &[(f64, f64)]| spans.iter().map(|(_, rate)| rate).sum::<f64>() / spans.len() as f64;
        assert!((mean(&seen[..200]) - 1e6).abs() < 2e4, "{}", mean(&seen[..200]));
        assert!((mean(&seen[200..]) - 2e6).abs() < 2e4, "{}", mean(&seen[200..]));
    }
}
