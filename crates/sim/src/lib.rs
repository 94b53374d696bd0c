//! A lab in virtual time: its links with built-in sources and sinks instead of programs.
//!
//! This crate touches no system: it opens no file or socket, starts no thread or process and reads no clock. It drives
//! the same [`Fabric`](netloom_fabric::Fabric) as a run does, with the same three verbs, and jumps from one event to
//! the next. The same plan and seed give the same figures, to the last bit.
//!
//! Packets follow the plan's routes from node to node; a node forwards in no time. What happens at one instant happens
//! in this order: changes of links, packets that leave pipes (in the order of pipes), sources (in the order of the
//! plan), samples.
#![forbid(unsafe_code)]

mod flow;
mod meter;
mod model_plot;
mod network;
mod outcome;
mod receiver;
mod roaming;
mod route;
mod seen;
mod simulate;
mod source;
mod tag;
mod timeline;
mod window;

pub use flow::{FlowSpec, Hop};
pub use meter::Meter;
pub use model_plot::{MODEL_PLOT_GAP, MODEL_PLOT_PACKET, ModelPlot, model_plot};
pub use network::Network;
pub use outcome::{Outcome, PipeOutcome, Sample, SimError, SourceOutcome};
pub use simulate::{check, simulate};
