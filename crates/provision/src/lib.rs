//! What a lab is made of: nodes on this machine's kernel, kernels of their own, virtual machines, containers, images,
//! links and their engine, and all that leads out of the lab. Each kind of node or attachment is a room here.
//!
//! This crate decides nothing about packets, which is the fabric's business, makes no namespace, interface or process by itself, which is
//! the host crate's, and knows neither the timeline of a lab nor its clients nor its verdict, which are the session's.

pub mod accounts;
pub mod assemble;
pub mod bare;
mod booting;
mod bridges;
pub mod capture_filters;
mod chrony;
pub mod containers;
pub mod cpu_shares;
mod disks;
pub mod diversion;
pub mod drive_error;
pub mod driver;
pub mod environment;
pub mod exposed;
mod external;
pub mod files;
pub mod guard_link;
pub mod hosts;
pub mod images;
pub mod job;
pub mod kernels;
pub mod links;
pub mod machine_files;
pub mod measure;
mod memory;
pub mod message;
pub mod neighbors;
pub mod node;
mod node_end;
pub mod parts;
pub mod port_name;
pub mod preflight;
pub mod progress_writer;
pub mod reboots;
pub mod recording;
pub mod refusal;
mod request;
pub mod resource;
pub mod resources;
pub mod results_folder;
pub mod setup_error;
pub mod shards;
pub mod socket_buffers;
mod tunnel;
pub mod virtual_time;
pub mod vms;
pub mod way_out;

pub use capture_filters::{FilterProblem, filter_problems};
pub use diversion::{SshSession, ssh_session};
pub use exposed::ways_into;
pub use memory::memory_warning;
pub use message::Event;
pub use neighbors::neighbor_warning;
pub use preflight::{missing_programs, pin_problems, user_problems};
pub use request::{MachineRoot, RunRequest};
pub use resources::{Checked, check};
pub use shards::{shards_json, shards_text};
