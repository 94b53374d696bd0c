//! The command line of `netloom workload`.

use super::run::wall_limit;
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// `netloom workload`
#[derive(Debug, Args)]
#[command(
    after_help = "Example, in the timeline of a lab of 30 s whose node `client` has `files: {/opt/test: ./test}`:
  - {on: client, run: netloom workload /opt/test --for 20s, as: workload}

The executables of the folder begin as their names say: first_ once before all others; parallel_driver_ beside others;
serial_driver_ while no other driver runs; singleton_driver_ as the only driver; anytime_ beside all of them; in the end eventually_,
after all others were killed, or finally_, after all others have ended. Names that begin with helper_ are left out. The exit code
is 1 if one of them ended with another code than 0."
)]
pub(crate) struct WorkloadArgs {
    /// The folder with the executables, or a folder of such folders, of which one is drawn
    pub(crate) folder: PathBuf,
    /// For how long drivers are begun, by the node's clock
    #[arg(long = "for", value_name = "TIME", value_parser = wall_limit)]
    pub(crate) lasts: Duration,
    /// How long drivers may take to end after that, before they are killed
    #[arg(long, value_name = "TIME", value_parser = wall_limit, default_value = "10s")]
    pub(crate) grace: Duration,
    /// How many parallel drivers run at once, at most
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) parallel: NonZeroUsize,
    /// The file for assertions of programs with an SDK of Antithesis (ANTITHESIS_SDK_LOCAL_OUTPUT)
    #[arg(long, value_name = "FILE")]
    pub(crate) assertions: Option<PathBuf>,
    /// The seed of what is chosen; default: a random number of the node, which in virtual time follows from the lab's seed
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}
