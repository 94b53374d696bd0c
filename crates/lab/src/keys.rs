//! The keys of the lab file itself, of nodes, of links and of the timeline. Those of what nodes and links have stand beside their decoders in
//! [`decode`](crate::decode), and those of models in [`models`](crate::models).

mod network;
mod node;
mod timeline;
mod top;

pub(crate) use network::{ADDRESSING, Addressed, DIRECTION, LINK, SETTINGS, TREATMENT};
pub(crate) use node::{NODE, Routes};
pub(crate) use timeline::{
    CUT, Condition, DOWN, DRAWN, FLAP_ENTRY, HEAL, KILL, LOG, MOST_TIMES, MOVE, PARTITION, PAUSE, RAMP, RAMP_ENTRY,
    REBOOT, RESTART, RUN, SET, SETUP, START_ENTRY, STOP_ENTRY, Times, UP,
};
pub(crate) use top::{BoundKeys, BypassOfAll, Loops, TOP};
