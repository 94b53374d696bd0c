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
pub(crate) mod fault;
pub(crate) mod filter;
mod foreign;
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

/// The keys of a direction, each with an example and what it is for.
pub fn direction_keys() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    KEYS.keys().map(|key| (key.name, key.example, key.doc))
}

/// A string stands for all that its tool says of a pipe, as it does there: what it does not name again, has its default from then on.
/// For netem that is all but the rate and its queue, which `tc qdisc change` leaves as they are.
pub(crate) fn complete(fields: &Fields<'_>, change: &mut PipeChange) {
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

/// Declares the keys of a direction: of each its module, which reads and writes it, its declaration, and examples of all that it can say.
/// Behind them stand keys that are strings for other tools.
macro_rules! direction {
    ($($key:ident: $module:ident, $declared:ident, [$($examples:path),+];)* ..$($more:path),*) => {
        /// The keys of a direction, in the order in which a packet meets what they describe.
        pub(crate) const KEYS: Section = Section {
            name: "",
            doc: "",
            groups: &[$(Group::Key($module::$declared),)* $(Group::Key($more)),*],
        };

        /// Keys of a direction with values in every form that they can take, for tests and tools that make up lab files. Files
        /// that they name are found from the folder of this crate; a key comes once for each group of its models.
        pub const EXAMPLES: &[(&str, &[&str])] = &[$($((stringify!($key), $examples),)+)*];

        /// What a direction's keys say; what they do not say is left as it is.
        pub(crate) fn decode(fields: &Fields<'_>, errors: &mut Errors) -> PipeChange {
            let mut change = PipeChange {
                $($key: fields.get(stringify!($key)).and_then(|node| $module::decode(node, errors)),)*
                partition_set: None,
                client_partitions: None,
                faults: Vec::new(),
            };
            foreign::decode(fields, &mut change, errors);
            change
        }

        /// A change as keys and values of a lab file.
        pub(crate) fn written_change(change: &PipeChange) -> Vec<(&'static str, String)> {
            let keys = [$(change.$key.as_ref().map(|config| (stringify!($key), $module::write(config)))),*];
            keys.into_iter().flatten().chain(change.faults.iter().flat_map(fault::written)).collect()
        }

        /// What a direction's description says beside the defaults, as keys and values of a lab file.
        pub(crate) fn written(config: &PipeConfig) -> Vec<(&'static str, String)> {
            let plain = PipeConfig::default();
            let keys = [$((config.$key != plain.$key).then(|| (stringify!($key), $module::write(&config.$key)))),*];
            keys.into_iter().flatten().collect()
        }
    };
}

direction! {
    rate: rate, KEY, [rate::EXAMPLES];
    delay: delay, KEY, [delay::EXAMPLES];
    queue: queue, KEY, [
        queue::EXAMPLES,
        queue::red::EXAMPLES,
        queue::pie::EXAMPLES,
        queue::dual_pi2::EXAMPLES,
        queue::codel::EXAMPLES,
        queue::divided::EXAMPLES
    ];
    loss: loss, KEY, [loss::EXAMPLES];
    corrupt: chance, CORRUPT, [chance::EXAMPLES];
    duplicate: chance, DUPLICATE, [chance::EXAMPLES];
    reorder: reorder, KEY, [reorder::EXAMPLES];
    overhead: overhead, KEY, [overhead::EXAMPLES];
    schedule: schedule, KEY, [schedule::EXAMPLES];
    state: state, KEY, [state::EXAMPLES];
    cross: cross, KEY, [cross::EXAMPLES];
    ..foreign::NETEM, foreign::DUMMYNET, foreign::TBF
}

/// A text as YAML has it in double quotes, which is JSON's form.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
