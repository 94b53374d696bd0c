//! A cable between two kernels that are booted by hand, to try and to measure ports without a lab.
//!
//! `cable SOCKET SOCKET RATE DELAY DILATION EPOCH`: the kernels connect to the two sockets (User-Mode Linux:
//! `virtio_uml.device=SOCKET:1`); rate (0: no limit) and delay are those of the lab, and the epoch is what
//! `CLOCK_MONOTONIC` shows, in nanoseconds, when the kernels' time is zero. Ends when both kernels have powered off, and
//! prints what crossed and how late.

use netloom_dataplane::{Engine, EngineConfig, PortConfig, Precision};
use netloom_fabric::{Fabric, PipeSpec, PortId};
use netloom_figures::Snapshot;
use netloom_link::{DelayConfig, Distribution, PipeConfig, QueueConfig, RateConfig};
use netloom_units::{Dilation, Duration, Limit, Rate, Seed};
use netloom_vhost::Listener;
use std::error::Error;
use std::path::Path;
use std::time::Duration as RealDuration;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [first, second, rate, delay, dilation, epoch] = &arguments[..] else {
        return Err("usage: cable SOCKET SOCKET RATE DELAY DILATION EPOCH".into());
    };
    let rate = if rate == "0" { RateConfig::Unlimited } else { RateConfig::Constant(rate.parse::<Rate>()?) };
    let config = PipeConfig {
        rate,
        delay: DelayConfig {
            distribution: Distribution::Constant(delay.parse::<Duration>()?),
            ..DelayConfig::default()
        },
        queue: QueueConfig::DropTail(Limit::Packets(10_000)),
        ..PipeConfig::default()
    };
    let pipe = |name: &str, from: u32, to: u32| PipeSpec {
        name: name.to_owned(),
        config: config.clone(),
        coalesce: Duration::from_micros(20),
        from: PortId(from),
        filter: None,
        medium: Vec::new(),
        to: PortId(to),
    };
    let fabric = Fabric::new(Seed::new(1), &[pipe("forward", 0, 1), pipe("backward", 1, 0)]);
    let guest = |port: u32, path: &str| -> std::io::Result<PortConfig> {
        Ok(PortConfig::Guest { port: PortId(port), listener: Listener::bind(Path::new(path))?, has_share: false })
    };
    let mut engine = Engine::start(
        fabric,
        EngineConfig {
            precision: Precision::Balanced,
            processors: Vec::new(),
            dilation: dilation.parse::<Dilation>()?,
            epoch: Some(RealDuration::from_nanos(epoch.parse()?)),
            memory: None,
            ports: vec![guest(0, first)?, guest(1, second)?],
        },
    )?;
    loop {
        std::thread::park_timeout(RealDuration::from_millis(100));
        let snapshot = engine.snapshot()?;
        if snapshot.engine.ended_ports.len() == 2 {
            tell(&snapshot);
            engine.stop()?;
            return Ok(());
        }
    }
}

fn tell(snapshot: &Snapshot) {
    for (name, pipe) in ["forward", "backward"].iter().zip(&snapshot.pipes) {
        let lateness = |q: f64| pipe.lateness.quantile(q).map_or(0.0, Duration::as_micros_f64);
        println!(
            "{name}: {} in, {} out; late by {:.1} us at the median, {:.1} us at 99 %, {:.1} us at most",
            pipe.counters.arrived.packets,
            pipe.counters.departed.packets,
            lateness(0.5),
            lateness(0.99),
            lateness(1.0),
        );
    }
    println!("{:?}", snapshot.engine);
}
