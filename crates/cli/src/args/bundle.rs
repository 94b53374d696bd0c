//! The command line of `netloom bundle`.

use clap::Args;
use std::path::PathBuf;

/// `netloom bundle`
#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("instead").args(["list", "verify", "unpack"]),
    after_help = "Examples:
  netloom bundle results/dumbbell/latest
  netloom bundle sweeps/queues -o queues.tar.zst
  netloom bundle results/dumbbell/latest --with-root
  netloom bundle --list queues.tar.zst
  netloom bundle --verify queues.tar.zst && echo whole
  netloom bundle --unpack queues.tar.zst -o queues

The same results give the same bytes. A bundle is a tar archive, packed with zstd; its first file, bundle.json, has the
SHA-256 digests of all others. One that is damaged says where, and --unpack gives all that is whole before."
)]
pub(crate) struct BundleArgs {
    /// The folder of a run, simulation or sweep; with --list, --verify and --unpack a bundle
    #[arg(value_name = "RESULTS|BUNDLE")]
    pub(crate) what: PathBuf,
    /// The file to write, or the folder to unpack to; neither may be there. Default: named after the results
    #[arg(short, long, value_name = "PATH", conflicts_with_all = ["list", "verify"])]
    pub(crate) out: Option<PathBuf>,
    /// Pack the files of this machine that kernel nodes read, too, so that a rerun needs no programs
    #[arg(long, conflicts_with_all = ["list", "verify", "unpack"])]
    pub(crate) with_root: bool,
    /// List the files of the bundle, as its manifest has them
    #[arg(long)]
    pub(crate) list: bool,
    /// Compare all files of the bundle with their digests
    #[arg(long)]
    pub(crate) verify: bool,
    /// Unpack the bundle
    #[arg(long)]
    pub(crate) unpack: bool,
    /// Print what is in the bundle as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
