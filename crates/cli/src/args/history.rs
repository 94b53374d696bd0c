//! What judges histories of operations, and what writes them.

use super::run::wall_limit;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use netloom_history::{Isolation, Model, Order};
use netloom_units::Bytes;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// `netloom history`
#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Say whether a model explains a history: exit code 0 if it does, 1 if not, 9 if nobody knows
    Check(HistoryCheckArgs),
    /// Convert a history for another checker: elle-cli, or a program that uses Porcupine
    Convert(HistoryConvertArgs),
}

/// `netloom history check`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom history check history.jsonl --model register
  netloom history check history.jsonl --model cas --svg stale.svg
  netloom history check c1.jsonl c2.jsonl --model set-full --json | jq .verdict
  netloom history check history.jsonl --model append --isolation snapshot

Each line is an event as Jepsen has it:
  {\"process\": 3, \"type\": \"invoke\", \"f\": \"write\", \"key\": \"x\", \"value\": 5, \"time\": 1200345}
  {\"process\": 3, \"type\": \"ok\", \"time\": 1305789}
`info` in place of `ok` or `fail`, or no completion, says that nobody knows whether the operation took effect, or will.")]
pub(crate) struct HistoryCheckArgs {
    #[command(flatten)]
    pub(crate) files: HistoryFiles,
    /// The kind of object, and what operations on it may return
    #[arg(short, long, value_parser = model())]
    pub(crate) model: Model,
    /// The value before the first operation, as JSON: of registers (default: null) and counters (default: 0)
    #[arg(long, value_name = "JSON", value_parser = json)]
    pub(crate) initial: Option<Value>,
    /// The sum of all accounts (model bank); default: that of the first read
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) total: Option<i64>,
    /// Also contradict elements that are missed for a while (model set-full) or delivered twice (total-queue)
    #[arg(long)]
    pub(crate) strict: bool,
    /// The isolation that transactions promise (model append); default: serializable
    #[arg(long, value_name = "LEVEL", value_parser = isolation())]
    pub(crate) isolation: Option<Isolation>,
    /// Stop searching after this much wall time: the verdict is then unknown
    #[arg(long, value_name = "TIME", value_parser = wall_limit, default_value = "60s")]
    pub(crate) limit: Duration,
    /// The memory that the search may take: the verdict is unknown if that is too little
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1GB")]
    pub(crate) memory: Bytes,
    /// Draw the first contradiction as SVG; - is standard output, and not with --json
    #[arg(long, value_name = "OUT")]
    pub(crate) svg: Option<PathBuf>,
    /// Print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The files of a history.
#[derive(Debug, Args)]
pub(crate) struct HistoryFiles {
    /// The files: one counts in the order of its lines, several are merged by their times
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The order of events, if times of a file go back by more than a second
    #[arg(long, value_enum)]
    pub(crate) order: Option<OrderArg>,
}

/// The order of events.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OrderArg {
    /// Their lines
    Lines,
    /// Their times
    Times,
}

impl OrderArg {
    /// Returns the same for the reader.
    pub(crate) fn order(self) -> Order {
        match self {
            Self::Lines => Order::Lines,
            Self::Times => Order::Times,
        }
    }
}

/// `netloom history convert`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom history convert history.jsonl --to elle -o history.json
  netloom history convert history.jsonl --to porcupine | go run ./check

elle-cli reads the first with --model list-append or rw-register. The second is an array that encoding/json reads into a
[]porcupine.Operation, with the input {f, key, value} and the output as the history has it; the output null is of an
indeterminate operation.")]
pub(crate) struct HistoryConvertArgs {
    #[command(flatten)]
    pub(crate) files: HistoryFiles,
    /// For what
    #[arg(long, value_enum)]
    pub(crate) to: HistoryTarget,
    /// Write to this file; default: standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
}

/// The checker for which a history is converted.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum HistoryTarget {
    /// elle-cli, in JSON
    Elle,
    /// Programs that use Porcupine
    Porcupine,
}

/// `netloom op`
#[derive(Debug, Args)]
#[command(after_help = "Examples, in a script of a node whose environment has NETLOOM_HISTORY=history.jsonl:
  netloom op invoke write 5 -k x
  if redis-cli -h server set x 5; then netloom op ok write -k x; else netloom op info write -k x; fi
  netloom op invoke read -k x
  netloom op ok read \"$(redis-cli -h server get x)\" -k x

One call at a time belongs to a process, whose name is by default the node's and the number of the calling shell. Write
`fail` only if the operation certainly took no effect and never will; else write `info`.")]
pub(crate) struct OpArgs {
    /// The type of the event
    #[arg(value_enum, value_name = "TYPE")]
    pub(crate) kind: OpKind,
    /// The function that was called: read, write, cas, add, …
    #[arg(value_name = "F")]
    pub(crate) function: String,
    /// The value: JSON, or else a text
    #[arg(allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
    /// The object that it was called on: JSON, or else a text
    #[arg(short, long)]
    pub(crate) key: Option<String>,
    /// The file, which is made if it does not exist; default: $NETLOOM_HISTORY
    #[arg(short, long)]
    pub(crate) file: Option<PathBuf>,
    /// Who calls; default: $NETLOOM_PROCESS, or $NETLOOM_NODE and the number of the calling process
    #[arg(short, long)]
    pub(crate) process: Option<String>,
    /// Why it failed
    #[arg(long, value_name = "TEXT")]
    pub(crate) error: Option<String>,
}

/// A type of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OpKind {
    /// The operation begins
    Invoke,
    /// The operation took effect
    Ok,
    /// The operation took no effect, and never will
    Fail,
    /// Nobody knows whether it took effect, or will
    Info,
}

fn model() -> impl TypedValueParser<Value = Model> {
    PossibleValuesParser::new(Model::NAMES).map(|name| Model::named(&name).expect("it is one of these names"))
}

fn isolation() -> impl TypedValueParser<Value = Isolation> {
    PossibleValuesParser::new(Isolation::ALL.map(|(name, _)| name)).map(|name| {
        let found = Isolation::ALL.into_iter().find(|(known, _)| *known == name);
        found.expect("it is one of these names").1
    })
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))
}

fn size(text: &str) -> Result<Bytes, String> {
    text.parse().map_err(|error: netloom_units::ParseError| error.to_string())
}
