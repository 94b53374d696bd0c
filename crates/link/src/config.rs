//! The description of a pipe.

use crate::{
    AirConfig, ConfigError, CorruptConfig, CrossConfig, DelayConfig, DuplicateConfig, FaultGround, LossConfig,
    OverheadConfig, PacketFault, PartitionSet, QueueConfig, RateConfig, ReorderConfig, ScheduleConfig, StateConfig,
};
use alloc::{boxed::Box, format, vec::Vec};
use netloom_units::{Bytes, Duration};

/// The description of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipeConfig {
    /// The rate at which the transmitter sends.
    pub rate: RateConfig,
    /// The link-layer overhead: what a packet is charged beyond its bytes from the IP header on.
    pub overhead: OverheadConfig,
    /// The propagation delay: how long a packet travels after its last bit was sent.
    pub delay: DelayConfig,
    /// The queue in which packets wait for the transmitter.
    pub queue: QueueConfig,
    /// The loss model: which packets are lost before they reach the queue.
    pub loss: LossConfig,
    /// The corruption: in which packets a bit is flipped.
    pub corrupt: CorruptConfig,
    /// The duplication: which packets are duplicated.
    pub duplicate: DuplicateConfig,
    /// The reordering: which packets overtake others.
    pub reorder: ReorderConfig,
    /// The schedule: changes of the pipe at known times.
    pub schedule: ScheduleConfig,
    /// The flapping of the pipe, and what a cut does.
    pub state: StateConfig,
    /// The cross traffic, which exists in this pipe only.
    pub cross: Vec<CrossConfig>,
    /// The partitions in force; none: no partition ever touches this pipe. What they keep out, a fabric does not let in.
    pub partition_set: Option<PartitionSet>,
    /// The needs of faults of single packets; none: none ever touches this pipe. A fabric treats packets by them before they enter.
    pub faults: Option<FaultGround>,
    /// The radio medium that stands in place of rate and queue, if the pipe is one.
    pub air: Option<Box<AirConfig>>,
}

impl PipeConfig {
    /// Checks that the models fit together; each model alone is checked where it is described. `mtu`: the largest
    /// packet in bytes from the IP header on.
    ///
    /// # Errors
    /// The key of the model that does not fit, and why.
    pub fn check(&self, mtu: Bytes) -> Result<(), ConfigError> {
        let largest = self.rate.check_largest(self.overhead.charged(mtu));
        largest.map_err(|wrong| ConfigError::new("rate", format!("{wrong}")))?;
        let misfit = self.schedule.limits().find(|limit| self.queue.with_limit(*limit).is_none());
        misfit.map_or(Ok(()), |limit| {
            let message = format!("the queue cannot have a limit of {limit}: leave `queue` out of the schedule");
            Err(ConfigError::new("schedule", message))
        })
    }

    /// Returns a lower bound of the delay: no packet travels through the pipe in less, unless the pipe is changed by hand. Zero
    /// where packets overtake one another and where a schedule changes the delay, without a proof.
    pub fn least_delay(&self) -> Duration {
        let is_steady = self.reorder == ReorderConfig::default() && !self.schedule.changes_delay();
        let of_rate = if self.schedule == ScheduleConfig::None { self.rate.least_delay() } else { Duration::ZERO };
        if is_steady { self.delay.least() + of_rate } else { Duration::ZERO }
    }
}

/// A change of a running pipe; what is none stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipeChange {
    /// The new rate.
    pub rate: Option<RateConfig>,
    /// The new overhead, for packets whose transmission starts from now on.
    pub overhead: Option<OverheadConfig>,
    /// The new propagation delay, for packets whose transmission ends from now on.
    pub delay: Option<DelayConfig>,
    /// The new queue; what waits is kept in order as far as the new limit allows.
    pub queue: Option<QueueConfig>,
    /// The new loss model.
    pub loss: Option<LossConfig>,
    /// The new corruption.
    pub corrupt: Option<CorruptConfig>,
    /// The new duplication.
    pub duplicate: Option<DuplicateConfig>,
    /// The new reordering.
    pub reorder: Option<ReorderConfig>,
    /// The new schedule; its times count from the change.
    pub schedule: Option<ScheduleConfig>,
    /// The new states; their times count from the change.
    pub state: Option<StateConfig>,
    /// The new cross traffic; it replaces all that there was.
    pub cross: Option<Vec<CrossConfig>>,
    /// The partitions of the timeline that are in force from now on.
    pub partition_set: Option<PartitionSet>,
    /// The partitions of clients that are in force from now on, beside those of the timeline.
    pub client_partitions: Option<PartitionSet>,
    /// Faults of single packets that begin now, beside those in force.
    pub faults: Vec<PacketFault>,
}

/// Calls a macro with the name of every field that both structures have, and that a lab file sets.
macro_rules! with_fields {
    ($call:ident) => {
        $call!(rate, overhead, delay, queue, loss, corrupt, duplicate, reorder, schedule, state, cross)
    };
}

impl PipeChange {
    /// Whether nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it changes what a radio medium does not have.
    pub fn is_of_wire(&self) -> bool {
        let Self { rate, overhead, delay, queue, reorder, schedule, cross, .. } = self;
        let models = [rate.is_some(), overhead.is_some(), delay.is_some(), queue.is_some(), reorder.is_some()];
        models.contains(&true) || schedule.is_some() || cross.is_some()
    }

    /// Returns `config` with this change made.
    #[must_use]
    pub fn applied_to(&self, config: &PipeConfig) -> PipeConfig {
        macro_rules! apply {
            ($($field:ident),*) => {
                PipeConfig {
                    $($field: self.$field.clone().unwrap_or_else(|| config.$field.clone()),)*
                    partition_set: self.partition_set.clone().or_else(|| config.partition_set.clone()),
                    faults: config.faults,
                    air: config.air.clone(),
                }
            };
        }
        with_fields!(apply)
    }

    /// Adds what `other` changes; where both change the same, `other` wins.
    pub fn merge(&mut self, other: Self) {
        macro_rules! merge {
            ($($field:ident),*) => {
                $(if other.$field.is_some() { self.$field = other.$field; })*
            };
        }
        with_fields!(merge);
        if other.partition_set.is_some() {
            self.partition_set = other.partition_set;
        }
        if other.client_partitions.is_some() {
            self.client_partitions = other.client_partitions;
        }
        self.faults.extend(other.faults);
    }
}
