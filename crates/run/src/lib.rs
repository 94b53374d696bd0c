//! Runs a lab: from the plan to its end. This crate decides nothing about packets, which is the fabric's business, makes no
//! namespace, interface or process by itself, which is the host crate's, and judges nothing, which is the judge's.
//!
//! [`run`] runs a lab to its end, [`up`] leaves one up. Two processes share the work. The *guard* is the process that
//! the user started; it forks the *lab* process, in which everything else happens, and passes on what that tells
//! ([`Event`]). Each of the two cleans up if the other is killed.

mod guard;
mod lab;
mod logs;
mod order;
mod session;

pub use guard::{run, up};
pub use logs::logs_of;
pub use netloom_parts::PartRequest;
pub use netloom_provision::images::ImagesHere;
pub use netloom_provision::machine_files::check as check_root;
pub use netloom_provision::parts::{cannot_be_parted as why_not_parts, facts as part_facts};
pub use netloom_provision::results_folder::provenance_here;
pub use netloom_provision::{
    Checked, Event, FilterProblem, MachineRoot, RunRequest, SshSession, check, filter_problems, memory_warning,
    missing_programs, neighbor_warning, pin_problems, shards_json, shards_text, ssh_session, user_problems, ways_into,
};
pub use netloom_simulate::{ModelPlotRequest, SimRequest, model_plot, simulate};
