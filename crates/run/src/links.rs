//! The links of a running lab: what is in force on them, and the engine that makes it so.

use crate::control::PipeStats;
use crate::direction::{direction_of, pipe_id, pipe_number};
use crate::{Effects, LabStats, RunError};
use netloom_dataplane::{Engine, EngineError, Snapshot};
use netloom_lab::Direction;
use netloom_link::{PipeChange, PipeConfig, PipeCounters};
use netloom_units::{Duration, Instant, Rate};

/// Name and ends of a link.
#[derive(Clone, Debug)]
pub(crate) struct LinkName {
    pub(crate) name: String,
    /// The node at each end.
    pub(crate) ends: [String; 2],
}

impl LinkName {
    /// Where packets of `direction` enter and leave.
    pub(crate) fn path(&self, direction: Direction) -> (&str, &str) {
        let [first, second] = &self.ends;
        match direction {
            Direction::Forward => (first, second),
            Direction::Backward => (second, first),
        }
    }
}

/// What is in force on one pipe.
#[derive(Clone, Debug)]
pub(crate) struct PipeState {
    pub(crate) config: PipeConfig,
    pub(crate) up: bool,
    /// Whether the delay was changed since the lab started.
    pub(crate) delay_changed: bool,
}

impl PipeState {
    /// The delay of every packet since the lab started, if it was always the same.
    pub(crate) fn steady_delay(&self) -> Option<Duration> {
        self.config.delay.is_constant().filter(|_| !self.delay_changed)
    }
}

/// See the module.
pub(crate) struct Links {
    engine: Engine,
    names: Vec<LinkName>,
    pipes: Vec<PipeState>,
}

impl Links {
    /// Takes over a running engine whose pipes are `configs`.
    pub(crate) fn new(engine: Engine, names: Vec<LinkName>, configs: Vec<PipeConfig>) -> Self {
        let state = |config| PipeState { config, up: true, delay_changed: false };
        Self { engine, names, pipes: configs.into_iter().map(state).collect() }
    }

    /// The engine's time.
    pub(crate) fn now(&self) -> Instant {
        self.engine.now()
    }

    pub(crate) fn link_names(&self) -> Vec<String> {
        self.names.iter().map(|link| link.name.clone()).collect()
    }

    pub(crate) fn names(&self) -> &[LinkName] {
        &self.names
    }

    pub(crate) fn pipes(&self) -> &[PipeState] {
        &self.pipes
    }

    /// The number of the link with this name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|link| link.name == name)
    }

    /// Changes one direction of a link, or both.
    pub(crate) fn change(
        &mut self,
        link: usize,
        direction: Option<Direction>,
        change: &PipeChange,
    ) -> Result<(), RunError> {
        for pipe in pipes_of(link, direction) {
            self.engine.change(pipe_id(pipe), change.clone()).map_err(died)?;
            let state = &mut self.pipes[pipe];
            state.delay_changed |= change.delay.as_ref().is_some_and(|delay| *delay != state.config.delay);
            state.config = change.applied_to(&state.config);
        }
        Ok(())
    }

    /// Cuts a direction of a link, or both, or joins it again.
    pub(crate) fn set_up(&mut self, link: usize, direction: Option<Direction>, up: bool) -> Result<(), RunError> {
        for pipe in pipes_of(link, direction) {
            self.engine.set_up(pipe_id(pipe), up).map_err(died)?;
            self.pipes[pipe].up = up;
        }
        Ok(())
    }

    /// Time zero: what was measured before is forgotten, and what pipes do by themselves begins anew, since lab files
    /// count its times from here.
    pub(crate) fn begin(&mut self) -> Result<(), RunError> {
        let plain = PipeConfig::default();
        for (pipe, PipeState { config, .. }) in self.pipes.iter().enumerate() {
            let again = PipeChange {
                schedule: Some(config.schedule.clone()).filter(|schedule| *schedule != plain.schedule),
                state: Some(config.state.clone()).filter(|state| *state != plain.state),
                cross: Some(config.cross.clone()).filter(|cross| *cross != plain.cross),
                ..PipeChange::default()
            };
            if !again.is_empty() {
                self.engine.change(pipe_id(pipe), again).map_err(died)?;
            }
        }
        self.engine.reset_meters().map_err(died)
    }

    /// What every pipe has counted, and when.
    pub(crate) fn counters(&mut self) -> Result<(Instant, Vec<PipeCounters>), RunError> {
        self.engine.counters().map_err(died)
    }

    /// All that the engine has measured.
    pub(crate) fn snapshot(&mut self) -> Result<Snapshot, RunError> {
        self.engine.snapshot().map_err(died)
    }

    /// What every pipe has counted, for a client.
    pub(crate) fn stats(&mut self) -> Result<LabStats, RunError> {
        let (at, counters) = self.counters()?;
        let pipes = counters.iter().enumerate().map(|(pipe, counted)| self.pipe_stats(pipe, counted)).collect();
        Ok(LabStats { at_ns: at.as_nanos(), pipes })
    }

    fn pipe_stats(&self, pipe: usize, counted: &PipeCounters) -> PipeStats {
        let (link, state) = (&self.names[pipe / 2], &self.pipes[pipe]);
        let direction = direction_of(pipe);
        let (from, to) = link.path(direction);
        PipeStats {
            link: link.name.clone(),
            direction: direction.to_string(),
            from: from.to_owned(),
            to: to.to_owned(),
            rate_bits_per_second: state.config.rate.nominal().map(Rate::as_bits_per_second),
            delay_ns: state.config.delay.mean().as_nanos(),
            up: state.up,
            arrived_packets: counted.arrived.packets,
            arrived_bytes: counted.arrived.bytes,
            departed_packets: counted.departed.packets,
            departed_bytes: counted.departed.bytes,
            queued_packets: counted.queued.packets,
            queued_bytes: counted.queued.bytes,
            dropped_queue_packets: counted.dropped.queue.packets,
            dropped_loss_packets: counted.dropped.loss.packets,
            dropped_early_packets: counted.dropped.early.packets,
            dropped_down_packets: counted.dropped.down.packets,
            effects: Effects::since(&PipeCounters::default(), counted),
        }
    }
}

/// The numbers of a link's pipes.
fn pipes_of(link: usize, direction: Option<Direction>) -> impl Iterator<Item = usize> {
    Direction::BOTH
        .into_iter()
        .filter(move |this| direction.is_none_or(|only| only == *this))
        .map(move |d| pipe_number(link, d))
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn died(error: EngineError) -> RunError {
    RunError::Died(error.to_string())
}
