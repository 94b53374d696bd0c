//! The command line of `netloom kernel`.

use clap::{Args, Subcommand};
use std::num::NonZero;
use std::path::PathBuf;

/// `netloom kernel`
#[derive(Debug, Subcommand)]
pub(crate) enum KernelCommand {
    /// Build a kernel from source and keep it in the user's cache folder
    Build(KernelBuildArgs),
    /// Keep a kernel that was built elsewhere, after a look at it
    Import(KernelImportArgs),
    /// List the kernels that were built
    #[command(after_help = "Examples:\n  netloom kernel list\n  netloom kernel list --json | jq -r '.[0].path'")]
    List(KernelListArgs),
}

/// `netloom kernel build`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom kernel build
  netloom kernel build --source linux-7.3.4.tar.xz
  netloom kernel build --source ~/src/linux --force

Without --source the newest linux-source package is fetched that the package archive has, beside the system's own
package lists. It takes some minutes and 3.5 GB of disk while it lasts; the kernel itself takes 20 MB. A kernel that
is there already is not built again. The path of the kernel goes to standard output.")]
pub(crate) struct KernelBuildArgs {
    /// The folder of a kernel's source, or an archive of it; neither is written to
    #[arg(long, value_name = "PATH")]
    pub(crate) source: Option<PathBuf>,
    /// Build although that kernel is there
    #[arg(long)]
    pub(crate) force: bool,
    /// How many compilers run at a time; without it one per processor
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// Say nothing while it works
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// `netloom kernel import`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom kernel import linux
  netloom kernel import /mnt/lab/kernels/linux-7.3.4

The kernel must have been built by `netloom kernel build` of this version of netloom, on this machine or another: it says
so itself. It is booted once, and copied into the cache. Its path there goes to standard output.")]
pub(crate) struct KernelImportArgs {
    /// The kernel's binary, the file whose path `netloom kernel build` printed
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Say nothing while it works
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// `netloom kernel list`
#[derive(Debug, Args)]
pub(crate) struct KernelListArgs {
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
