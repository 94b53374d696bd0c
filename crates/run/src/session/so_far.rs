//! What speaks against a run that goes on.

use super::stage::Stage;
use super::state::{Known, Session};
use netloom_control::{PipeLateness, Refused, Reply, SoFar};
use netloom_figures::Snapshot;
use netloom_judge::expectations::so_far;
use netloom_judge::measure::{engine_evidence, pipe_evidence};
use netloom_judge::verdict::{Evidence, judge};
use netloom_judge::{ExitCode, PortLoss, RunError, Spent, TunnelRow};
use netloom_provision::job::Mode;
use netloom_units::{Duration, Instant};

/// It takes a look at everything, so that clients which ask more often get what was found before; lab time.
const FRESH: Duration = Duration::from_millis(250);

impl Session<'_> {
    /// The verdict as it would be now.
    pub(super) fn verdict_so_far(&mut self) -> Result<Reply, RunError> {
        let now = self.context.links.now();
        let Stage::Running(run_state) = &self.context.stage else {
            let message = "there is no verdict yet: the lab has not begun, or is ending".to_owned();
            return Ok(Reply::Refused(Refused { code: ExitCode::Usage.number(), message, key: None }));
        };
        if let Known(Some((at, found))) = &self.known
            && now.since(*at) < FRESH
        {
            return Ok(Reply::Verdict(found.clone()));
        }
        let (zero, first, began) = (run_state.zero, run_state.first.clone(), run_state.began.clone());
        let last = self.context.links.snapshot()?;
        self.take_samples()?;
        let spent = self.accounts(&last).since(&began);
        let losses = self.context.links.port_losses(&last)?;
        let plan = &self.context.job.plan;
        let expectations = match self.context.job.mode {
            Mode::Run => self.with_measurements(&last, &first, so_far),
            Mode::Up => Vec::new(),
        };
        let found = SoFar {
            at_ns: last.at.as_nanos(),
            since_zero_ns: last.at.since(zero).as_nanos(),
            verdict: judge(&plan.bounds.into(), &self.evidence_so_far(&last, &spent, &losses, zero)),
            expectations,
            pipes: self.lateness(&last),
        };
        self.known = Known(Some((now, found.clone())));
        Ok(Reply::Verdict(found))
    }

    /// Without what happened inside nodes, which they are asked for at the end.
    fn evidence_so_far(&self, last: &Snapshot, spent: &Spent, losses: &[PortLoss], zero: Instant) -> Evidence {
        let (job, links) = (&self.context.job, &self.context.links);
        Evidence {
            clock: job.plan.clock,
            precision: job.plan.precision,
            examination: self.context.order.examination.clone(),
            pipes: pipe_evidence(links.names(), links.pipes(), last),
            engine: engine_evidence(last, spent, losses),
            nodes: Vec::new(),
            events: self.context.punctuality.clone(),
            tunnels: TunnelRow::of_plan(&job.plan, &last.engine.tunnels, zero),
            interventions: self.context.interventions.list(),
            overflows: self.context.overflows_since(),
            notes: self.context.notes.clone(),
        }
    }

    fn lateness(&self, last: &Snapshot) -> Vec<PipeLateness> {
        let ns = |duration: Option<Duration>| duration.map(Duration::as_nanos);
        let pipe = |((link, place), report): ((String, netloom_judge::PipePlace), &netloom_figures::PipeReport)| {
            PipeLateness {
                link,
                direction: place.direction.to_string(),
                pipe: place.pipe,
                packets: report.lateness.count(),
                p50_ns: ns(report.lateness.quantile(0.5)),
                p99_ns: ns(report.lateness.quantile(0.99)),
                max_ns: ns(report.lateness.max()),
            }
        };
        self.context.links.places().into_iter().zip(&last.pipes).map(pipe).collect()
    }
}
