//! What reads journals.

use clap::{Args, ValueEnum};
use netloom_lab::{Match, parse_match};
use netloom_units::Duration;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// `netloom journal`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom journal results/dumbbell/latest --summary
  netloom journal results/dumbbell/latest --link backbone.forward --dropped
  netloom journal results/dumbbell/latest --match 'tcp port 5201' --during '2 s..5 s' --format csv > packets.csv
  netloom journal results/roaming/latest --attempts --dropped
  netloom journal journal.arrows --format json | jq 'select(.cause == \"queue\") | .dropped_ns'
  netloom journal results/dumbbell/latest --link backbone.forward --format mahimahi > uplink.log

A run keeps a journal if its lab file has `journal: all`, or names links there. pandas, polars and DuckDB read the file
directly; the manual says how. Times are lab time since time zero.")]
pub(crate) struct JournalArgs {
    /// The folder of the results, or the journal
    #[arg(value_name = "RESULTS|FILE")]
    pub(crate) file: PathBuf,
    /// Only packets of this link, or of one direction of it; may be given several times
    #[arg(short, long, value_name = "LINK[.DIRECTION]")]
    pub(crate) link: Vec<String>,
    /// Only these packets, for example 'from 10.0.1.1 tcp port 80'
    #[arg(short = 'm', long = "match", value_name = "MATCH", value_parser = matching)]
    pub(crate) filter: Option<Match>,
    /// Only packets that came in within this span
    #[arg(short, long, value_name = "FROM..TO", value_parser = span)]
    pub(crate) during: Option<RangeInclusive<i64>>,
    /// Only packets that were dropped (with --marked: that were dropped or marked)
    #[arg(long)]
    pub(crate) dropped: bool,
    /// Only packets that the queue marked as having experienced congestion
    #[arg(long)]
    pub(crate) marked: bool,
    /// Attempts to send packets over the air instead of packets: of labs whose journal has `attempts: true`
    #[arg(short, long, conflicts_with_all = ["summary", "marked"])]
    pub(crate) attempts: bool,
    /// One row per pipe: packets, drops by cause, delays
    #[arg(short, long)]
    pub(crate) summary: bool,
    /// How to print
    #[arg(short, long, value_enum, default_value_t = JournalFormat::Table)]
    pub(crate) format: JournalFormat,
    /// Print as JSON: with --summary a list, else one object per line
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Print at most N packets
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<u64>,
}

/// How `netloom journal` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JournalFormat {
    /// As a table
    Table,
    /// With the names of the file's columns
    Csv,
    /// One object per line
    Json,
    /// As mahimahi's mm-link logs one direction of a link
    Mahimahi,
}

fn matching(text: &str) -> Result<Match, String> {
    let found = parse_match(text).map_err(|error| error.to_string())?;
    if !found.owners.users.is_empty() || !found.owners.groups.is_empty() {
        return Err("match: packets in a journal have no user or group: leave them out".into());
    }
    Ok(found)
}

fn span(text: &str) -> Result<RangeInclusive<i64>, String> {
    let wrong = |why: String| format!("{why}: write for example \"2 s..5 s\"");
    let (from, to) = text.split_once("..").ok_or_else(|| wrong("no `..`".into()))?;
    let bound = |bound: &str, open: i64| match bound.trim() {
        "" => Ok(open),
        "0" => Ok(0),
        given => {
            let span: Duration = given.parse().map_err(|error| wrong(format!("{error}")))?;
            i64::try_from(span.as_nanos()).map_err(|_| wrong(format!("{span} is too long")))
        }
    };
    let (from, to) = (bound(from, i64::MIN)?, bound(to, i64::MAX)?);
    if from > to {
        return Err(wrong("it ends before it begins".into()));
    }
    Ok(from..=to)
}
