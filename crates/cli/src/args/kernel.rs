//! The command line of `netloom kernel`.

use clap::{Args, Subcommand};
use std::num::NonZero;
use std::path::PathBuf;

/// `netloom kernel`
#[derive(Debug, Subcommand)]
pub(crate) enum KernelCommand {
    /// Build a kernel from source and keep it in the user's cache folder, or for all users
    Build(KernelBuildArgs),
    /// Check a kernel that was built elsewhere, and copy it into the cache, or for all users
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
  sudo netloom kernel build --system

Without --source, netloom fetches the newest linux-source package of the package archive, without changing the system's
package lists. A build takes some minutes and 3.5 GB of disk; the kernel itself takes 20 MB. A kernel that
is in the cache, or there for all users, is not built again. The path of the kernel goes to standard output.")]
pub(crate) struct KernelBuildArgs {
    /// The folder of a kernel's source, or an archive of it; netloom changes neither
    #[arg(long, value_name = "PATH")]
    pub(crate) source: Option<PathBuf>,
    /// Build even if the cache has this kernel
    #[arg(long)]
    pub(crate) force: bool,
    /// Build for all users of this machine, in /var/cache/netloom/kernels; root only
    #[arg(long)]
    pub(crate) system: bool,
    /// How many compilers run at a time; default: one per processor
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// Print no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// `netloom kernel import`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom kernel import linux
  netloom kernel import /mnt/lab/kernels/linux-7.3.4
  sudo netloom kernel import --system linux

The same version of netloom must have built the kernel with `netloom kernel build`, on this machine or another. netloom
boots it once and copies it into the cache. The path of the copy goes to standard output.")]
pub(crate) struct KernelImportArgs {
    /// The kernel's binary, the file whose path `netloom kernel build` printed
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Copy it for all users of this machine, into /var/cache/netloom/kernels; root only
    #[arg(long)]
    pub(crate) system: bool,
    /// Print no progress
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
