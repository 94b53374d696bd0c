//! What moves the packets and tells the time: the engine in real and dilated time, the scheduler in virtual time.

use crate::virtual_time::VirtualTime;
use netloom_dataplane::{Engine, EngineError, ExecutedEvent, Sampled, ScheduledEvent};
use netloom_fabric::{PipeId, SwitchState, Tap, TapId, TraceObserver};
use netloom_figures::Snapshot;
use netloom_guest::schedule::Statistics;
use netloom_judge::RunError;
use netloom_link::{PipeChange, PipeCounters, SampledPackets};
use netloom_units::{Duration, Instant};

/// The engine of real and dilated time, or the scheduler of virtual time.
pub enum Driver {
    /// Packets are due at instants of a clock that runs by itself.
    Engine(Box<Engine>),
    /// Time goes on when the session lets it.
    Virtual(VirtualTime),
}

impl Driver {
    /// Lab time.
    pub(crate) fn now(&self) -> Instant {
        match self {
            Self::Engine(engine) => engine.now(),
            Self::Virtual(time) => time.now(),
        }
    }

    /// Changes a pipe with packets inside.
    pub(crate) fn change(&mut self, pipe: PipeId, change: PipeChange) -> Result<(), RunError> {
        match self {
            Self::Engine(engine) => engine.change(pipe, change).map_err(died),
            Self::Virtual(time) => {
                time.change(pipe, &change);
                Ok(())
            }
        }
    }

    /// Cuts a pipe or restores it.
    pub(crate) fn set_up(&mut self, pipe: PipeId, up: bool) -> Result<(), RunError> {
        match self {
            Self::Engine(engine) => engine.set_up(pipe, up).map_err(died),
            Self::Virtual(time) => {
                time.set_up(pipe, up);
                Ok(())
            }
        }
    }

    /// Cuts a pipe whose interfaces lose their carrier.
    pub(crate) fn unplug(&mut self, pipe: PipeId) -> Result<(), RunError> {
        match self {
            Self::Engine(engine) => engine.unplug(pipe).map_err(died),
            Self::Virtual(_) => unreachable!("carriers go in real time only"),
        }
    }

    /// A node at a pipe's link stops, or runs again: while any has stopped, the pipe is cut.
    pub(crate) fn hold(&mut self, pipe: PipeId, stopped: bool) -> Result<(), RunError> {
        match self {
            Self::Engine(engine) => engine.hold(pipe, stopped).map_err(died),
            Self::Virtual(time) => {
                time.hold(pipe, stopped);
                Ok(())
            }
        }
    }

    /// Schedules events, which are executed at their instants whatever else is done then.
    pub(crate) fn plan(&mut self, scheduled_events: Vec<ScheduledEvent>) -> Result<(), RunError> {
        match self {
            Self::Engine(engine) => engine.plan(scheduled_events).map_err(died),
            Self::Virtual(time) => {
                time.plan(scheduled_events);
                Ok(())
            }
        }
    }

    /// The events that were executed since the last call.
    pub(crate) fn executed(&mut self) -> Vec<ExecutedEvent> {
        match self {
            Self::Engine(engine) => engine.executed(),
            Self::Virtual(time) => time.executed(),
        }
    }

    /// The samples of pipes since the last call.
    pub(crate) fn samples(&mut self) -> Vec<Sampled> {
        match self {
            Self::Engine(engine) => engine.samples(),
            Self::Virtual(time) => time.samples(),
        }
    }

    /// From now on each pipe picks packets that come in at least so long after one another; or none any more.
    pub(crate) fn sample_packets(&mut self, step: Option<Duration>) -> Result<(), RunError> {
        match self {
            Self::Engine(engine) => engine.sample_packets(step).map_err(died),
            Self::Virtual(time) => {
                time.sample_packets(step);
                Ok(())
            }
        }
    }

    /// What has become of picked packets since the last call.
    pub(crate) fn sampled_packets(&mut self) -> Result<SampledPackets, RunError> {
        match self {
            Self::Engine(engine) => engine.sampled_packets().map_err(died),
            Self::Virtual(time) => Ok(time.sampled_packets()),
        }
    }

    /// Shows `tap` every packet from now on.
    pub(crate) fn add_tap(&mut self, tap: Box<dyn Tap + Send>) -> Result<TapId, RunError> {
        match self {
            Self::Engine(engine) => engine.add_tap(tap).map_err(died),
            Self::Virtual(time) => Ok(time.add_tap(tap)),
        }
    }

    /// Drops a tap.
    pub(crate) fn remove_tap(&mut self, id: TapId) -> Result<(), RunError> {
        match self {
            Self::Engine(engine) => engine.remove_tap(id).map_err(died),
            Self::Virtual(time) => {
                time.remove_tap(id);
                Ok(())
            }
        }
    }

    /// Of each thread that moves packets: which pipes are its own, by number. In virtual time there is one.
    pub(crate) fn own_pipes(&self) -> Vec<Vec<bool>> {
        match self {
            Self::Engine(engine) => engine.own_pipes(),
            Self::Virtual(_) => vec![Vec::new()],
        }
    }

    /// From now on these trace observers, one for each thread, take the notes of what happens in pipes.
    pub(crate) fn set_trace_observers(
        &mut self,
        trace_observers: Vec<Box<dyn TraceObserver + Send>>,
    ) -> Result<(), RunError> {
        match self {
            Self::Engine(engine) => engine.set_trace_observers(trace_observers).map_err(died),
            Self::Virtual(time) => {
                trace_observers.into_iter().for_each(|trace_observer| time.set_trace_observer(Some(trace_observer)));
                Ok(())
            }
        }
    }

    /// The trace observers take what there is, and go.
    pub(crate) fn remove_trace_observers(&mut self) -> Result<(), RunError> {
        match self {
            Self::Engine(engine) => engine.remove_trace_observers().map_err(died),
            Self::Virtual(time) => {
                time.set_trace_observer(None);
                Ok(())
            }
        }
    }

    /// What each pipe has counted, and when.
    pub(crate) fn counters(&mut self) -> Result<(Instant, Vec<PipeCounters>), RunError> {
        match self {
            Self::Engine(engine) => engine.counters().map_err(died),
            Self::Virtual(time) => Ok(time.counters()),
        }
    }

    /// Returns what each switch has counted at each of its ports.
    pub fn switch_states(&mut self) -> Result<Vec<SwitchState>, RunError> {
        match self {
            Self::Engine(engine) => engine.switch_states().map_err(died),
            Self::Virtual(time) => Ok(time.switch_states()),
        }
    }

    /// Returns what the scheduler of virtual time did so far; none in other time.
    pub fn statistics(&self) -> Option<Statistics> {
        match self {
            Self::Engine(_) => None,
            Self::Virtual(time) => Some(time.statistics()),
        }
    }

    /// Everything that was measured.
    pub(crate) fn snapshot(&mut self) -> Result<Snapshot, RunError> {
        match self {
            Self::Engine(engine) => engine.snapshot().map_err(died),
            Self::Virtual(time) => Ok(time.snapshot()),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn died(error: EngineError) -> RunError {
    RunError::Died(error.to_string())
}
