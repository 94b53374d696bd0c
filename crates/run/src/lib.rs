//! Runs a lab: from the plan to a judged result.
//!
//! [`run`] plays a lab to its end, [`up`] leaves one there. Two processes share the work. The *guard* is the process that
//! the user started; it forks the *lab* process, in which everything else happens, and passes on what that tells
//! ([`Event`]). Each of the two cleans up if the other is killed.
//!
//! This crate decides nothing about packets (that is the fabric's business) and makes no namespace, interface or
//! process by itself (that is the host crate's).

mod accounts;
mod assemble;
mod attempts;
mod capture;
mod chart;
mod commands;
pub mod doctor;
mod driver;
mod environment;
mod exposed;
mod files;
mod guard;
mod guard_link;
mod hosts;
mod job;
mod kernels;
mod links;
mod logs;
mod memory;
mod message;
mod node;
pub mod packet_times;
mod plots;
mod portrait;
mod preflight;
mod refusal;
pub mod render;
mod request;
mod results;
mod results_folder;
mod sampler;
mod session;
mod shards;
mod simulate;
mod tail;
mod teller;
mod virtual_time;

pub use attempts::put_side_by_side;
pub use exposed::ways_into;
pub use guard::{run, up};
pub use logs::{LogLine, Logs, Stream};
pub use memory::memory_warning;
pub use message::Event;
pub use plots::{PlotRequest, plot_results};
pub use portrait::{PortraitRequest, portrait};
pub use preflight::{missing_programs, user_problems};
pub use request::RunRequest;
pub use results::{PruneRequest, Results, ResultsState, list_results, prune_results};
pub use sampler::Busiest;
pub use shards::{shards_json, shards_text};
pub use simulate::{SimRequest, simulate};
