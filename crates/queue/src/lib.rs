//! The queue of experiments: commands that wait until the processors that they need are free, in turn with those of other users.
//! It must not know what an experiment is: it gets a command line, and keeps how that ended.
//!
//! There is no service. Each user's jobs are files of that user ([`Store`]); a [`worker`](work) of the user, which the next command
//! starts when there is none, lets one job after the other [wait for its turn](keep). Users meet in two places that need no trust:
//! the locks on processors (`host::processors::reserve`), which the kernel lifts with whoever holds them, and the [`line`],
//! in which everybody says since when they wait, as the file system has written it down. What others wrote is believed only as
//! far as whose it is; the worst that they can do is to let others wait for some seconds.

#![forbid(unsafe_code)]

mod error;
mod job;
mod keeper;
mod line;
mod store;
mod view;
mod worker;

pub use error::QueueError;
pub use job::{End, Order};
pub use keeper::keep;
pub use line::{Line, Other};
pub use store::{Cancelled, Store};
pub use view::{Job, State};
pub use worker::{is_worked, start_worker, work};
