//! The settings of a direction of a link: one module per key.
//!
//! Each module has the key's table, a `decode` from the lab file to the model's description, and a `write` back to what
//! a lab file would have there; a description that is the default writes nothing. Plans, results and messages show what
//! `write` says, so that a user reads everywhere what could be written into a file.
//!
//! There is one language for users: the plan and all messages show a pipe as a lab file would have it, not as the
//! structures of the crate `link`. `lab` depends on `link` for the configuration of a pipe, since a parallel copy of
//! each model's parameters would have to be kept equal by hand.

pub(crate) mod chance;
mod change;
pub(crate) mod cross;
pub(crate) mod delay;
mod foreign;

pub(crate) mod filter;
pub(crate) mod loss;
pub(crate) mod overhead;
pub(crate) mod queue;
pub(crate) mod rate;
pub(crate) mod reorder;
pub(crate) mod schedule;
pub(crate) mod state;
pub(crate) mod words;

pub(crate) use change::{CHANGE, changes};
pub use change::{ChangeError, check_together, parse_change, parse_pipe};

use crate::errors::Errors;
use crate::fields::Fields;
use crate::foreign::Dialect;
use crate::section::{Group, Section};
use netloom_link::{PipeChange, PipeConfig};

/// The keys of a direction, in the order in which a packet meets what they describe.
pub(crate) const KEYS: Section = Section {
    name: "",
    doc: "",
    groups: &[
        Group::Key(rate::KEY),
        Group::Key(delay::KEY),
        Group::Key(queue::KEY),
        Group::Key(loss::KEY),
        Group::Key(chance::CORRUPT),
        Group::Key(chance::DUPLICATE),
        Group::Key(reorder::KEY),
        Group::Key(overhead::KEY),
        Group::Key(schedule::KEY),
        Group::Key(state::KEY),
        Group::Key(cross::KEY),
        Group::Key(foreign::NETEM),
        Group::Key(foreign::DUMMYNET),
        Group::Key(foreign::TBF),
    ],
};

/// The keys of a direction, each with an example and what it is for.
pub fn direction_keys() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    KEYS.keys().map(|key| (key.name, key.example, key.doc))
}

/// Keys of a direction with values in every form that they can take, for tests and tools that make up lab files. Files
/// that they name are found from the folder of this crate; a key comes once for each group of its models.
pub const EXAMPLES: &[(&str, &[&str])] = &[
    ("rate", rate::EXAMPLES),
    ("delay", delay::EXAMPLES),
    ("queue", queue::EXAMPLES),
    ("queue", queue::red::EXAMPLES),
    ("queue", queue::pie::EXAMPLES),
    ("queue", queue::dual_pi2::EXAMPLES),
    ("queue", queue::codel::EXAMPLES),
    ("queue", queue::divided::EXAMPLES),
    ("loss", loss::EXAMPLES),
    ("corrupt", chance::EXAMPLES),
    ("duplicate", chance::EXAMPLES),
    ("reorder", reorder::EXAMPLES),
    ("overhead", overhead::EXAMPLES),
    ("schedule", schedule::EXAMPLES),
    ("state", state::EXAMPLES),
    ("cross", cross::EXAMPLES),
];

/// A string stands for all that its tool says of a pipe, as it does there: what it does not name again, has its default from then on.
/// For netem that is all but the rate and its queue, which `tc qdisc change` leaves as they are.
fn complete(fields: &Fields<'_>, change: &mut PipeChange) {
    let PipeConfig { rate, delay, loss, corrupt, duplicate, reorder, .. } = PipeConfig::default();
    let [netem, dummynet, _] = Dialect::ALL.map(|dialect| fields.get(dialect.name()).is_some());
    if netem || dummynet {
        change.delay.get_or_insert(delay);
        change.loss.get_or_insert(loss);
    }
    if netem {
        change.corrupt.get_or_insert(corrupt);
        change.duplicate.get_or_insert(duplicate);
        change.reorder.get_or_insert(reorder);
    }
    if dummynet {
        change.rate.get_or_insert(rate);
    }
}

/// Declares the keys of a direction by their modules: how they are read and written.
macro_rules! direction {
    ($($key:ident: $module:ident),*) => {
        /// What a direction's keys say; what they do not say is left as it is.
        pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> PipeChange {
            let mut change = PipeChange {
                $($key: fields.get(stringify!($key)).and_then(|node| $module::decode(node, errors)),)*
                partition_set: None,
            };
            foreign::decode(fields, &mut change, errors);
            change
        }

        /// A change as keys and values of a lab file.
        pub(crate) fn written_change(change: &PipeChange) -> Vec<(&'static str, String)> {
            let keys = [$(change.$key.as_ref().map(|config| (stringify!($key), $module::write(config)))),*];
            keys.into_iter().flatten().collect()
        }

        /// What a direction's description says beside the defaults, as keys and values of a lab file.
        pub(crate) fn written(config: &PipeConfig) -> Vec<(&'static str, String)> {
            let plain = PipeConfig::default();
            let keys = [$((config.$key != plain.$key).then(|| (stringify!($key), $module::write(&config.$key)))),*];
            keys.into_iter().flatten().collect()
        }
    };
}

direction!(
    rate: rate,
    delay: delay,
    queue: queue,
    loss: loss,
    corrupt: chance,
    duplicate: chance,
    reorder: reorder,
    overhead: overhead,
    schedule: schedule,
    state: state,
    cross: cross
);

/// A text as YAML has it in double quotes, which is JSON's form.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
