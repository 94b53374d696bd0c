//! The command line of `netloom results`.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// `netloom results`
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  netloom results
  netloom results --lab dumbbell --json | jq -r '.[] | select(.as_described == false).folder'
  netloom results plot results/dumbbell/latest
  netloom results prune --keep 5 --older-than 7d --dry-run"
)]
pub(crate) struct ResultsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ResultsCommand>,
    #[command(flatten)]
    pub(crate) which: WhichResults,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The results folder, and the labs to look at.
#[derive(Debug, Args)]
pub(crate) struct WhichResults {
    /// The folder that holds the results of all labs
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Only those of this lab; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) lab: Vec<String>,
}

/// The subcommands of `netloom results`.
#[derive(Debug, Subcommand)]
pub(crate) enum ResultsCommand {
    /// Draw what the links of a run or simulation carried, from its samples
    Plot(ResultsPlotArgs),
    /// Remove old results
    Prune(PruneArgs),
}

/// `netloom results plot`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom results plot results/dumbbell/latest
  netloom results plot results/dumbbell/latest backbone access1
  netloom results plot results/large/latest --most 100

The pictures go to the folder plots of the results: by default of the 16 pipes that carried most, and of the TCP
connections that sent most. A run draws the same at its end with --plots.")]
pub(crate) struct ResultsPlotArgs {
    /// The folder of a run or simulation
    pub(crate) folder: PathBuf,
    /// Only these links
    #[arg(value_name = "LINK")]
    pub(crate) links: Vec<String>,
    /// Draw at most N pictures; the pipes that carried most come first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) most: Option<u16>,
    /// Print the list of pictures as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `netloom results prune`
#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("rule").required(true).multiple(true).args(["keep", "older_than"]),
    after_help = "Examples:
  netloom results prune --keep 5
  netloom results prune --older-than 7d --lab dumbbell
  netloom results prune --keep 1 --older-than 12h --dry-run

With both rules, only results that neither rule keeps are removed. Never removed: what `latest` points to, runs that
still go on, kept files of nodes (RESULTS/LAB/keep), and everything else that is not the folder of a run."
)]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    pub(crate) which: WhichResults,
    /// Keep the newest N of each lab
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Keep what began less than TIME ago, for example 7d or 12h
    #[arg(long, value_name = "TIME", value_parser = age)]
    pub(crate) older_than: Option<Duration>,
    /// Print what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print what was removed as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a time with a unit, which may be days.
fn age(text: &str) -> Result<Duration, String> {
    const DAY: u64 = 86_400;
    if let Some(days) = text.strip_suffix('d') {
        let seconds = days.trim().parse::<u64>().ok().and_then(|days| days.checked_mul(DAY));
        return seconds.map(Duration::from_secs).ok_or_else(|| "write whole days, for example 7d".to_owned());
    }
    let time: netloom_units::Duration = text.parse().map_err(|error| format!("{error}; or whole days, like 7d"))?;
    Ok(Duration::from_nanos(time.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    #[test]
    fn ages_have_units() {
        assert_eq!(age("7d"), Ok(Duration::from_secs(604_800)));
        assert_eq!(age("12 h"), Ok(Duration::from_secs(43_200)));
        for wrong in ["7", "d", "1.5d", "-1d", "99999999999999999d", "soon"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn nothing_is_pruned_without_a_rule() {
        let prune = |words: &[&str]| {
            let cli = Cli::try_parse_from(["netloom", "results", "prune"].iter().chain(words)).ok()?;
            let Command::Results(args) = cli.command else { panic!("results were asked for") };
            let Some(ResultsCommand::Prune(args)) = args.command else { panic!("to prune was asked for") };
            Some((args.keep, args.older_than.is_some()))
        };
        assert_eq!(prune(&[]), None);
        assert_eq!(prune(&["--dry-run"]), None);
        assert_eq!(prune(&["--keep", "3"]), Some((Some(3), false)));
        assert_eq!(prune(&["--keep", "3", "--older-than", "1d"]), Some((Some(3), true)));
    }
}
