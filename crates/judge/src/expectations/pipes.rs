//! What terms about pipes are.

use super::watches::{Sample, is_longest_queue};
use super::{Measurements, Value};
use crate::measure::{Flow, Mark};
use netloom_figures::Distribution;
use netloom_lab::{Function, Measured, PipeMetric, Term, Window};
use netloom_units::Duration;
use std::borrow::Cow;

impl Measurements<'_> {
    pub(super) fn of_pipe(&self, pipe: usize, metric: PipeMetric, term: &Term) -> Value {
        let window = term.window;
        let flow = self.flow(pipe, window)?;
        let known = |value: Option<f64>| value.ok_or_else(|| flow.why_unmeasured());
        if is_longest_queue(term) {
            return Ok(Measured::Number(self.queue_max(pipe, window) as f64));
        }
        if let Some(function) = term.steps().0 {
            let value = match metric {
                PipeMetric::Delay | PipeMetric::Lateness => {
                    known(of_distribution(&self.spread(pipe, metric, window), function))?
                }
                _ => self.of_series(pipe, metric, function, window)?,
            };
            return Ok(Measured::Number(value));
        }
        let percentile = |of: PipeMetric, share: f64| {
            known(of_distribution(&self.spread(pipe, of, window), Function::Percentile(share)))
        };
        let number = match metric {
            PipeMetric::Delay => known(flow.delay_ns)?,
            PipeMetric::DelayP50 => percentile(PipeMetric::Delay, 50.0)?,
            PipeMetric::DelayP99 => percentile(PipeMetric::Delay, 99.0)?,
            PipeMetric::Lateness => known(of_distribution(&self.spread(pipe, metric, window), Function::Mean))?,
            PipeMetric::LatenessP99 => percentile(PipeMetric::Lateness, 99.0)?,
            PipeMetric::Queue | PipeMetric::QueueMax => self.queue_max(pipe, window) as f64,
            PipeMetric::AirRate | PipeMetric::Clients | PipeMetric::Handovers => {
                return self.of_stations(pipe, None, metric, window);
            }
            PipeMetric::Utilization => flow.throughput() / self.rate(pipe)?,
            _ => of_flow(&flow, metric)?,
        };
        Ok(Measured::Number(number))
    }

    /// What happened in a pipe, or in a part of the run.
    pub(super) fn flow(&self, pipe: usize, window: Option<Window>) -> Result<Flow, String> {
        Ok(Flow::between(&self.mark(pipe, window.map(|w| w.from))?, &self.mark_at_end(pipe, window)?))
    }

    /// The described rate, in bits per second.
    fn rate(&self, pipe: usize) -> Result<f64, String> {
        let rate = self.pipes[pipe].config.rate.nominal().ok_or("its rate is unlimited")?;
        Ok(rate.as_bits_per_second() as f64)
    }

    /// What one number the steps between samples make.
    fn of_series(
        &self,
        pipe: usize,
        metric: PipeMetric,
        function: Function,
        window: Option<Window>,
    ) -> Result<f64, String> {
        let end = self.duration();
        let mut samples = self.watches.series(pipe).to_vec();
        if samples.first().is_none_or(|first| !first.at.is_zero()) {
            samples.insert(0, Sample::new(Duration::ZERO, &self.first[pipe].counters));
        }
        if samples.last().is_none_or(|last| last.at < end) {
            samples.push(Sample::new(end, &self.ends[pipe].counters));
        }
        let window = window.unwrap_or(Window { from: Duration::ZERO, to: end });
        let rate = if metric == PipeMetric::Utilization { self.rate(pipe)? } else { 1.0 };
        let mut steps: Vec<(f64, f64)> = samples
            .windows(2)
            .filter_map(|two| {
                let [one, other] = two else { return None };
                let lasting = other.at.min(window.to).as_secs_f64() - one.at.max(window.from).as_secs_f64();
                let seconds = other.at.as_secs_f64() - one.at.as_secs_f64();
                let per_second = |before: u64, after: u64| after.saturating_sub(before) as f64 * 8.0 / seconds;
                let value = match metric {
                    PipeMetric::Queue => one.queued_packets as f64,
                    PipeMetric::Offered => per_second(one.arrived_bytes, other.arrived_bytes),
                    _ => per_second(one.departed_bytes, other.departed_bytes) / rate,
                };
                (lasting > 0.0).then_some((value, lasting))
            })
            .collect();
        function.of_weighted(&mut steps).ok_or_else(|| "it was never looked at".into())
    }

    /// The distribution of delay or lateness.
    fn spread(&self, pipe: usize, metric: PipeMetric, window: Option<Window>) -> Cow<'_, Distribution> {
        let all = &self.last.pipes[pipe];
        let of = |(delay, lateness)| if metric == PipeMetric::Delay { delay } else { lateness };
        let Some(window) = window else { return Cow::Borrowed(of((&all.delay, &all.lateness))) };
        let at = |at: Duration| self.windows.get(&at).and_then(|look| look.spreads.get(&pipe)).map(|(d, l)| of((d, l)));
        match (at(window.from), at(window.to)) {
            (Some(from), Some(to)) => Cow::Owned(to.since(from)),
            _ => Cow::Owned(Distribution::default()),
        }
    }

    fn queue_max(&self, pipe: usize, window: Option<Window>) -> u64 {
        match window {
            Some(window) => self.watches.peak(pipe, window),
            None => self.last.pipes[pipe].counters.queue_peak,
        }
    }

    /// The mark at the beginning of a window, or of the run.
    fn mark(&self, pipe: usize, at: Option<Duration>) -> Result<Mark, String> {
        let Some(at) = at else { return Ok(self.first[pipe]) };
        self.windows.get(&at).map(|look| look.marks[pipe]).ok_or_else(|| format!("the run ended before {at}"))
    }

    fn mark_at_end(&self, pipe: usize, window: Option<Window>) -> Result<Mark, String> {
        match window {
            Some(window) => self.mark(pipe, Some(window.to)),
            None => Ok(self.ends[pipe]),
        }
    }
}

/// The metrics that follow from counters alone.
pub(super) fn of_flow(flow: &Flow, metric: PipeMetric) -> Result<f64, String> {
    Ok(match metric {
        PipeMetric::Throughput => flow.throughput(),
        PipeMetric::Offered => flow.offered(),
        PipeMetric::Drops => flow.drops() as f64,
        PipeMetric::Marks => flow.effects.marked_packets as f64,
        PipeMetric::Loss => flow.loss().ok_or("no packet arrived")?,
        PipeMetric::Packets => flow.departed_packets as f64,
        PipeMetric::Bytes => flow.departed_bytes as f64,
        PipeMetric::Airtime => flow.effects.air_busy_ns as f64 / (flow.seconds * 1e9),
        PipeMetric::Collisions => flow.effects.air_collisions as f64,
        PipeMetric::Retries => flow.effects.air_retries as f64,
        PipeMetric::Attempts => flow.effects.air_attempts as f64,
        PipeMetric::AirDrops => flow.dropped_air as f64,
        PipeMetric::CollisionAirtime => flow.air_collided_ns as f64 / (flow.seconds * 1e9),
        _ => unreachable!("other metrics do not follow from counters"),
    })
}

/// What a function makes of all packets.
pub(super) fn of_distribution(all: &Distribution, function: Function) -> Option<f64> {
    let value = match function {
        Function::Mean => all.mean(),
        Function::Percentile(share) => all.quantile(share / 100.0),
        Function::Min => all.min(),
        Function::Max => all.max(),
        Function::Deviation => all.deviation(),
        Function::Sum | Function::Count | Function::Jain => None,
    };
    value.map(|value| value.as_nanos() as f64)
}

impl Flow {
    /// Why there is no delay and no lateness.
    fn why_unmeasured(&self) -> String {
        let why = if self.departed_packets > 0 {
            "a transit router is at its end, where packets go on in computed time and nothing is measured"
        } else {
            "no packet was delivered"
        };
        why.into()
    }
}
