//! What terms about some packets of a pipe are.

use super::pipes::{of_distribution, of_flow};
use super::{Measurements, Value};
use crate::measure::{Flow, Mark, mark};
use netloom_figures::{Distribution, PipeReport};
use netloom_lab::{Function, Measured, PipeMetric, Term, Window};
use netloom_link::Subset;
use netloom_units::{Duration, Instant};

/// Some packets of a pipe, at an instant.
#[derive(Clone, Debug)]
pub(super) struct Part {
    mark: Mark,
    delay: Distribution,
    lateness: Distribution,
}

/// Those of a pipe that are counted for themselves.
pub(super) fn parts_of(at: Instant, report: &PipeReport) -> Vec<Part> {
    let part =
        |own: &PipeReport| Part { mark: mark(at, own), delay: own.delay.clone(), lateness: own.lateness.clone() };
    report.watched.iter().map(part).collect()
}

/// Some packets of a pipe, within a part of the run.
struct Between {
    flow: Flow,
    delay: Distribution,
    lateness: Distribution,
}

impl Measurements<'_> {
    /// A metric of some packets.
    pub(super) fn of_part(&self, pipe: usize, only: &Subset, metric: PipeMetric, term: &Term) -> Value {
        let Between { flow, delay, lateness } = self.part(pipe, only, term.window)?;
        let known = |value: Option<f64>| value.ok_or_else(|| "no such packet was delivered and measured".to_owned());
        let spread = |all: &Distribution, usual| known(of_distribution(all, term.steps().0.unwrap_or(usual)));
        let number = match metric {
            PipeMetric::Delay => spread(&delay, Function::Mean)?,
            PipeMetric::DelayP50 => spread(&delay, Function::Percentile(50.0))?,
            PipeMetric::DelayP99 => spread(&delay, Function::Percentile(99.0))?,
            PipeMetric::Lateness => spread(&lateness, Function::Mean)?,
            PipeMetric::LatenessP99 => spread(&lateness, Function::Percentile(99.0))?,
            _ => of_flow(&flow, metric)?,
        };
        Ok(Measured::Number(number))
    }

    /// How many of the packets that a term is about kernels exchanged by themselves, in words; none if none, or if it is limited to some.
    pub(super) fn chatter(&self, pipe: usize, metric: PipeMetric, term: &Term) -> Option<String> {
        let all = self.flow(pipe, term.window).ok()?;
        let own = self.part(pipe, &Subset::of_kernels(), term.window).ok()?.flow;
        let (count, of) = match metric {
            PipeMetric::Drops => (own.drops(), all.drops()),
            _ => (own.departed_packets, all.departed_packets),
        };
        let counts = matches!(metric, PipeMetric::Packets | PipeMetric::Drops);
        match count {
            0 => None,
            _ if count == of => {
                Some("all of them are what kernels exchange by themselves, as neighbour discovery".into())
            }
            _ if counts => Some(format!("{count} of them are what kernels exchange by themselves")),
            _ => None,
        }
    }

    fn part(&self, pipe: usize, only: &Subset, window: Option<Window>) -> Result<Between, String> {
        let place = self.plan.watched().get(pipe).and_then(|all| all.iter().position(|own| own == only));
        let unknown = || "these packets were not counted".to_owned();
        let place = place.ok_or_else(unknown)?;
        let at = |at: Duration| {
            let look = self.windows.get(&at).ok_or_else(|| format!("the run ended before {at}"))?;
            look.parts.get(&pipe).and_then(|parts| parts.get(place)).ok_or_else(unknown)
        };
        if let Some(Window { from, to }) = window {
            let (from, to) = (at(from)?, at(to)?);
            return Ok(Between {
                flow: Flow::between(&from.mark, &to.mark),
                delay: to.delay.since(&from.delay),
                lateness: to.lateness.since(&from.lateness),
            });
        }
        let all = self.last.pipes.get(pipe).map(|report| parts_of(self.last.at, report));
        let last = all.and_then(|all| all.into_iter().nth(place)).ok_or_else(unknown)?;
        // Everything counts from time zero on.
        let first = Mark { at: self.first[pipe].at, ..Mark::default() };
        Ok(Between { flow: Flow::between(&first, &last.mark), delay: last.delay, lateness: last.lateness })
    }
}
