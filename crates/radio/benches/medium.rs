//! How many frames a second of wall time computes: `cargo bench -p netloom-radio`. Each row is the best of some rounds.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use netloom_radio::{
    AccessCategory, Aggregation, Channel, Destination, Frame, Medium, MediumConfig, Mode, Phy, PhyConfig, Standard,
    StationConfig, StationId, Width,
};
use netloom_units::{Bytes, Instant, Seed};

const ROUNDS: u32 = 5;
/// Frames of a round.
const FRAMES: u64 = 100_000;
/// Frames in each queue.
const BACKLOG: u64 = 256;

fn main() {
    println!("802.11ax at 80 MHz, MCS 11, saturated; frames of 1,500 bytes per second of wall time");
    for stations in [1, 10, 50] {
        println!(
            "{stations:>3} stations: {:>9.0} with aggregates, {:>9.0} without",
            rate(stations, true),
            rate(stations, false)
        );
    }
}

fn rate(senders: u32, has_aggregates: bool) -> f64 {
    (0..ROUNDS).map(|_| round(senders, has_aggregates)).fold(0.0, f64::max)
}

fn round(senders: u32, has_aggregates: bool) -> f64 {
    let channel = Channel::new(36).expect("there is such a channel");
    let layer = PhyConfig { width: Width::Mhz80, ..PhyConfig::new(Standard::Ax, channel) };
    let usual = MediumConfig::new(Phy::new(&layer).expect("the layer exists"));
    let config = if has_aggregates { usual } else { MediumConfig { aggregation: Aggregation::NONE, ..usual } };
    let describe = |number| StationConfig { name: format!("station{number}"), link: Mode::mcs(11).into() };
    let stations: Vec<_> = (0..=senders).map(describe).collect();
    let mut medium = Medium::new(&config, &stations, Seed::new(1)).expect("the description is right");
    let to = Destination::Station(StationId(senders));
    let frame = || Frame { to, size: Bytes::new(1_500), category: AccessCategory::BestEffort, payload: 0_u64 };
    for station in 0..senders {
        (0..BACKLOG).for_each(|_| medium.enqueue(Instant::ZERO, StationId(station), frame()));
    }
    let (mut found, mut count) = (Vec::new(), 0);
    let begin = std::time::Instant::now();
    while count < FRAMES {
        let wake = medium.next_wake().expect("queues are never empty");
        medium.advance(wake, |outcome| found.push(outcome));
        count += found.len() as u64;
        found.drain(..).for_each(|outcome| medium.enqueue(wake, outcome.from, outcome.frame));
    }
    count as f64 / begin.elapsed().as_secs_f64()
}
