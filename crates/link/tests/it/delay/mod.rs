//! Delays that are drawn: their distributions, their correlation, figure 13 of the GINE paper, and what overtaking does.
//!
//! Seeds are fixed, so each test gives the same result in every run; bounds are those of a test at the 1 % level.

mod correlation;
mod distributions;
mod figure_13;
mod overtaking;
mod parsing;

use netloom_link::{Correlation, DelayConfig, Distribution, DropLog, Order, Pipe, PipeConfig};
use netloom_packet::Pool;
use netloom_testing::loads::{Load, number};
use netloom_units::{Duration, Instant, Seed};

/// A delay of `distribution`, in which packets may overtake, so that each keeps what was drawn for it.
fn free(distribution: Distribution, correlation: &str) -> DelayConfig {
    let correlation: Correlation = correlation.parse().expect("a correlation");
    let config = DelayConfig { distribution, correlation, order: Order::Free };
    config.check().expect("the delay makes sense");
    config
}

/// The delays, in nanoseconds, of packets that are sent every `spacing`, in the order in which they were sent, and how
/// many of them overtook others.
fn sent_every(spacing: Duration, count: u32, delay: DelayConfig, seed: u64) -> (Vec<f64>, u64) {
    let config = PipeConfig { delay, ..PipeConfig::default() };
    let mut pipe = Pipe::new(&config, Duration::ZERO, Seed::new(seed));
    let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
    let mut delays = vec![0.0; count as usize];
    let mut sent = 0;
    loop {
        let next = (sent < count).then(|| Instant::ZERO + spacing * u64::from(sent));
        let wake = pipe.next_wake();
        let (Some(now), push) = next.map_or((wake, false), |at| match wake {
            Some(wake) if wake < at => (Some(wake), false),
            _ => (Some(at), true),
        }) else {
            break;
        };
        if push {
            pipe.push(now, Load::Plain(100).packet(&mut pool, sent), &mut drop_log);
            sent += 1;
        }
        while let Some(departure) = pipe.pop(now, &mut drop_log) {
            delays[number(&departure.packet) as usize] = departure.delay.as_nanos() as f64;
        }
    }
    (delays, pipe.counters().reordered.packets)
}

/// Delays of packets so far apart that none meets another.
fn draws(count: u32, delay: DelayConfig, seed: u64) -> Vec<f64> {
    sent_every(Duration::from_secs(3_600), count, delay, seed).0
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Nanoseconds of a millisecond.
const MS: f64 = 1e6;
