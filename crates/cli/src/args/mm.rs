//! The command lines of mahimahi's link shells.

use clap::{Args, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::Path;

/// `netloom mm`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom mm delay 40 ping -c 3 192.0.2.1
  netloom mm loss uplink 0.1
  netloom mm link cell.up cell.down --uplink-log=up.log -- ./upload
  netloom mm delay 20 netloom mm link cell.up cell.down --uplink-queue=droptail --uplink-queue-args=packets=60
  ln -s \"$(command -v netloom)\" ~/bin/mm-delay; mm-delay 40

Called as mm-delay, mm-loss or mm-link, by a link of that name, netloom is that command.")]
pub(crate) struct MmArgs {
    #[command(subcommand)]
    pub(crate) command: MmCommand,
}

/// Which of them.
#[derive(Debug, Subcommand)]
pub(crate) enum MmCommand {
    /// A delay each way, as mm-delay
    Delay {
        /// Milliseconds
        milliseconds: u64,
        /// The program and its arguments; default: $SHELL
        #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
        argv: Vec<OsString>,
    },
    /// Random loss one way, as mm-loss
    Loss {
        /// Which way
        way: Way,
        /// The share of packets that is lost, from 0 to 1
        rate: String,
        /// The program and its arguments; default: $SHELL
        #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
        argv: Vec<OsString>,
    },
    /// A link that delivers packets at the times of traces, as mm-link
    #[command(after_help = LINK_HELP)]
    Link {
        #[arg(
            help = "UPLINK-TRACE DOWNLINK-TRACE [OPTION]... [--] [COMMAND]",
            value_name = "WORDS",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        words: Vec<OsString>,
    },
}

/// A direction of mm-loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// Out
    Uplink,
    /// In
    Downlink,
}

/// The words of a command line; called by a name of mahimahi's, netloom is that command.
pub(crate) fn called_by(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let name = words.first().map(|word| Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned());
    let command = name.as_deref().and_then(|name| name.strip_prefix("mm-"));
    if let Some(command @ ("delay" | "loss" | "link")) = command {
        words.splice(1..1, ["mm".into(), command.into()]);
    }
    words
}

const LINK_HELP: &str = "\
Options, before the command:
  --uplink-log=FILE, --downlink-log=FILE      write a log as mm-link does
  --once                                      deliver nothing when a trace is over; otherwise it is repeated
  --uplink-queue=TYPE, --downlink-queue=TYPE  infinite (default), droptail, drophead, codel or pie
  --uplink-queue-args=ARGS, --downlink-queue-args=ARGS
                                              \"packets=60, bytes=90000\"; codel: target, interval; pie: qdelay_ref,
                                              max_burst, in milliseconds
  --meter-uplink, --meter-uplink-delay, --meter-downlink, --meter-downlink-delay, --meter-all
                                              taken, and nothing is shown";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_program_may_be_mahimahis() {
        let called = |line: &str| {
            let words = called_by(line.split(' ').map(OsString::from));
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(called("/usr/bin/mm-delay 40 ls -l"), "/usr/bin/mm-delay mm delay 40 ls -l");
        assert_eq!(called("mm-link up down"), "mm-link mm link up down");
        assert_eq!(called("netloom run x"), "netloom run x");
        assert_eq!(called("mm-meter ls"), "mm-meter ls");
    }
}
