//! What moves the packets and tells the time: the engine in real and dilated time, the scheduler in virtual time.

use crate::drive_error::DriveError;
use crate::virtual_time::VirtualTime;
use netloom_dataplane::{Engine, ExecutedEvent, IfLate, Sampled, ScheduledEvent};
use netloom_fabric::{PipeId, SwitchState, Tap, TapId, TraceObserver};
use netloom_figures::Snapshot;
use netloom_guest::schedule::Statistics;
use netloom_link::{Firing, PipeChange, PipeCounters, SampledPackets, StationCounters};
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
    pub(crate) fn change(&mut self, pipe: PipeId, change: PipeChange) -> Result<(), DriveError> {
        match self {
            Self::Engine(engine) => engine.change(pipe, change).map_err(DriveError::Engine),
            Self::Virtual(time) => {
                time.change(pipe, &change);
                Ok(())
            }
        }
    }

    /// Cuts a pipe or restores it.
    pub(crate) fn set_up(&mut self, pipe: PipeId, up: bool) -> Result<(), DriveError> {
        match self {
            Self::Engine(engine) => engine.set_up(pipe, up).map_err(DriveError::Engine),
            Self::Virtual(time) => {
                time.set_up(pipe, up);
                Ok(())
            }
        }
    }

    /// Cuts a pipe whose interfaces lose their carrier.
    pub(crate) fn unplug(&mut self, pipe: PipeId) -> Result<(), DriveError> {
        match self {
            Self::Engine(engine) => engine.unplug(pipe).map_err(DriveError::Engine),
            Self::Virtual(time) => {
                time.unplug(pipe);
                Ok(())
            }
        }
    }

    /// The kernel nodes at the entrances of a pipe hear that their link has a carrier from now on, or none.
    pub(crate) fn set_carrier(&mut self, pipe: PipeId, on: bool) -> Result<(), DriveError> {
        match self {
            Self::Engine(engine) => engine.set_carrier(pipe, on).map_err(DriveError::Engine),
            Self::Virtual(time) => {
                time.set_carrier(pipe, on);
                Ok(())
            }
        }
    }

    /// A node at a pipe's link stops, or runs again: while any has stopped, the pipe is cut.
    pub(crate) fn hold(&mut self, pipe: PipeId, stopped: bool) -> Result<(), DriveError> {
        match self {
            Self::Engine(engine) => engine.hold(pipe, stopped).map_err(DriveError::Engine),
            Self::Virtual(time) => {
                time.hold(pipe, stopped);
                Ok(())
            }
        }
    }

    /// Schedules events, which are executed at their instants whatever else is done then; false if they came too late, and were to be forgotten then.
    pub(crate) fn plan(&mut self, scheduled_events: Vec<ScheduledEvent>, if_late: IfLate) -> Result<bool, DriveError> {
        match self {
            Self::Engine(engine) => engine.plan(scheduled_events, if_late).map_err(DriveError::Engine),
            Self::Virtual(time) => {
                time.plan(scheduled_events);
                Ok(true)
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
    pub(crate) fn sample_packets(&mut self, step: Option<Duration>) -> Result<(), DriveError> {
        match self {
            Self::Engine(engine) => engine.sample_packets(step).map_err(DriveError::Engine),
            Self::Virtual(time) => {
                time.sample_packets(step);
                Ok(())
            }
        }
    }

    /// What has become of picked packets since the last call.
    pub(crate) fn sampled_packets(&mut self) -> Result<SampledPackets, DriveError> {
        match self {
            Self::Engine(engine) => engine.sampled_packets().map_err(DriveError::Engine),
            Self::Virtual(time) => Ok(time.sampled_packets()),
        }
    }

    /// Returns what faults of the timeline have done to packets since the last call.
    pub(crate) fn firings(&mut self) -> Result<Vec<Firing>, DriveError> {
        match self {
            Self::Engine(engine) => engine.firings().map_err(DriveError::Engine),
            Self::Virtual(time) => Ok(time.firings()),
        }
    }

    /// Shows `tap` every packet from now on.
    pub(crate) fn add_tap(&mut self, tap: Box<dyn Tap + Send>) -> Result<TapId, DriveError> {
        match self {
            Self::Engine(engine) => engine.add_tap(tap).map_err(DriveError::Engine),
            Self::Virtual(time) => Ok(time.add_tap(tap)),
        }
    }

    /// Drops a tap.
    pub(crate) fn remove_tap(&mut self, id: TapId) -> Result<(), DriveError> {
        match self {
            Self::Engine(engine) => engine.remove_tap(id).map_err(DriveError::Engine),
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
    ) -> Result<(), DriveError> {
        match self {
            Self::Engine(engine) => engine.set_trace_observers(trace_observers).map_err(DriveError::Engine),
            Self::Virtual(time) => {
                trace_observers.into_iter().for_each(|trace_observer| time.set_trace_observer(Some(trace_observer)));
                Ok(())
            }
        }
    }

    /// The trace observers take what there is, and go.
    pub(crate) fn remove_trace_observers(&mut self) -> Result<(), DriveError> {
        match self {
            Self::Engine(engine) => engine.remove_trace_observers().map_err(DriveError::Engine),
            Self::Virtual(time) => {
                time.set_trace_observer(None);
                Ok(())
            }
        }
    }

    /// What each pipe has counted, and when.
    pub(crate) fn counters(&mut self) -> Result<(Instant, Vec<PipeCounters>), DriveError> {
        match self {
            Self::Engine(engine) => engine.counters().map_err(DriveError::Engine),
            Self::Virtual(time) => Ok(time.counters()),
        }
    }

    /// Returns what each switch has counted at each of its ports.
    pub fn switch_states(&mut self) -> Result<Vec<SwitchState>, DriveError> {
        match self {
            Self::Engine(engine) => engine.switch_states().map_err(DriveError::Engine),
            Self::Virtual(time) => Ok(time.switch_states()),
        }
    }

    /// Returns what the stations of each pipe that is a radio medium have counted.
    pub fn stations(&mut self) -> Result<Vec<Vec<StationCounters>>, DriveError> {
        match self {
            Self::Engine(engine) => engine.stations().map_err(DriveError::Engine),
            Self::Virtual(time) => Ok(time.stations()),
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
    pub(crate) fn snapshot(&mut self) -> Result<Snapshot, DriveError> {
        match self {
            Self::Engine(engine) => engine.snapshot().map_err(DriveError::Engine),
            Self::Virtual(time) => Ok(time.snapshot()),
        }
    }
}
