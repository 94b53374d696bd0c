//! Runs a lab: from the plan to its end. This crate decides nothing about packets, which is the fabric's business, makes no
//! namespace, interface or process by itself, which is the host crate's, and judges nothing, which is the judge's.
//!
//! [`run`] plays a lab to its end, [`up`] leaves one there. Two processes share the work. The *guard* is the process that
//! the user started; it forks the *lab* process, in which everything else happens, and passes on what that tells
//! ([`Event`]). Each of the two cleans up if the other is killed. Beside it, [`simulate()`] and [`portrait()`] keep what the
//! simulation of links shows.

mod accounts;
mod assemble;
mod bridges;
mod capture_filters;
mod commands;
mod containers;
mod delays;
mod diversion;
mod driver;
mod environment;
mod exposed;
mod external;
mod files;
mod guard;
mod guard_link;
mod hosts;
mod images;
mod job;
mod kernels;
mod link_shell;
mod links;
mod logs;
mod memory;
mod message;
mod neighbors;
mod node;
mod port_name;
mod portrait;
mod preflight;
mod recording;
mod refusal;
mod request;
mod results_folder;
mod session;
mod shards;
mod simulate;
mod socket_buffers;
mod teller;
mod tunnel;
mod virtual_time;
mod vms;
mod way_out;

pub use capture_filters::{FilterProblem, filter_problems};
pub use containers::container_problems;
pub use diversion::{SshSession, ssh_session};
pub use exposed::ways_into;
pub use external::external_problems;
pub use guard::{run, up};
pub use images::image_problems;
pub use link_shell::{LinkLog, LinkShellEnd, LinkShellRequest, link_shell};
pub use logs::logs_of;
pub use memory::memory_warning;
pub use message::Event;
pub use neighbors::neighbor_warning;
pub use portrait::{PortraitRequest, portrait};
pub use preflight::{label_problem, missing_programs, pin_problems, user_problems};
pub use request::RunRequest;
pub use shards::{shards_json, shards_text};
pub use simulate::{SimRequest, simulate};
pub use tunnel::tunnel_problems;
pub use vms::vms_here;
pub use way_out::way_out;
