//! The keys of the lab file itself, of nodes, of links and of the timeline. Those of what nodes and links have stand beside their decoders in
//! [`decode`](crate::decode), and those of models in [`models`](crate::models).

mod disk;
mod network;
mod node;
mod program_faults;
mod timeline;
mod top;

pub(crate) use disk::{DISK_ENTRY, Flipped, LostCall, TransferCall};
pub(crate) use network::{ADDRESSING, Addressed, DIRECTION, LinkKeys, LinkSettings, SETTINGS, TREATMENT};
pub(crate) use node::{NodeKeys, Routes};
pub(crate) use program_faults::{
    DrawnPriorities, FAIL_ENTRY, FailKeys, OOM_ENTRY, SCHEDULE_ENTRY, STARVE_ENTRY, ScheduleKeys, StarveKeys,
};
pub(crate) use timeline::{
    CLOCK_ENTRY, CONTINUE, CRASH, CUT, Condition, DOWN, DRAWN, FLAP_ENTRY, FREEZE, HEAL, KILL, LIMIT, LOG, MOST_THINGS,
    MOST_TIMES, MoveKeys, PACKET, PARTITION_SHAPE, PAUSE, PartitionKeys, RAMP, RAMP_ENTRY, REBOOT, RESET, RESTART, RUN,
    SET, SIGNAL, START_ENTRY, STOP_ENTRY, SetupKeys, Times, UP,
};
pub(crate) use top::{BypassOfAll, Loops, TOP};
