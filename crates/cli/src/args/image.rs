//! The command line of `netloom image`.

use super::convert::{Foreign, lab_path};
use super::run::clock;
use clap::{Args, Subcommand};
use netloom_lab::Clock;
use netloom_units::Duration;
use std::path::PathBuf;

/// `netloom image`
#[derive(Debug, Subcommand)]
pub(crate) enum ImageCommand {
    /// Unpack a container image into the user's cache folder, once
    Import(ImageImportArgs),
    /// Fetch a container image from its registry, and unpack it into the user's cache folder
    Pull(ImagePullArgs),
    /// List the images in the cache
    #[command(after_help = "Examples:\n  netloom image list\n  netloom image list --json | jq -r '.[].id'")]
    List(ImageListArgs),
    /// Remove images from the cache
    Remove(ImageRemoveArgs),
    /// Write an image of the cache to standard output, as one file for the cache of another machine
    #[command(hide = true)]
    Pack(ImagePackArgs),
    /// Put such a file into the cache. It is trusted: the image's digests cannot confirm it
    #[command(hide = true)]
    Take(ImageTakeArgs),
    /// Print the images that the nodes of a lab file have on this machine, unpacked, as JSON
    #[command(hide = true)]
    Find(ImageFindArgs),
}

/// `netloom image import`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom image import oci:debian-12 --name debian:12
  netloom image import oci:layouts/tools:1.0
  docker save debian:12 -o debian.tar && netloom image import docker-archive:debian.tar
  skopeo copy docker://debian:12 oci:debian-12:12 && netloom image import oci:debian-12:12

The digests of all parts are checked. What is in the cache is not unpacked again. The digest of the image's configuration, its
ID, goes to standard output. The cache is $XDG_CACHE_HOME/netloom/images, or ~/.cache/netloom/images.")]
pub(crate) struct ImageImportArgs {
    /// `oci:FOLDER[:TAG]`, an OCI layout, or `docker-archive:FILE[:NAME]`, what `docker save` wrote
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// What the image is called in lab files; default: its name where it comes from
    #[arg(short, long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// `netloom image pull`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom image pull debian:12
  netloom image pull quay.io/frrouting/frr:9.1.0
  netloom image pull debian@sha256:0123…
  netloom image pull 127.0.0.1:5000/tools:1.0

Of an image for several platforms, the one for this machine is fetched. What is in the cache is not fetched again, and what has come
before the network failed is not fetched twice. Registries are asked over HTTPS; on this machine also without TLS. Credentials are those of
`docker login` and `podman login`, with the programs that keep them. The image's ID goes to standard output.")]
pub(crate) struct ImagePullArgs {
    /// `NAME[:TAG]` or `NAME@DIGEST`, as for `docker pull`
    #[arg(value_name = "IMAGE")]
    pub(crate) image: String,
    /// What the image is called in lab files; default: its own name
    #[arg(short, long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Ask registries on other machines without encryption: anybody on the way can read credentials and change what has no digest
    #[arg(long)]
    pub(crate) plain_http: bool,
    /// How long to wait for a registry that sends nothing
    #[arg(long, value_name = "DURATION", default_value = "30 s", value_parser = patience)]
    pub(crate) patience: Duration,
    /// Print no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

fn patience(text: &str) -> Result<Duration, String> {
    let patience = text.parse::<Duration>().map_err(|error| error.to_string())?;
    if patience < Duration::from_millis(1) { Err("write 1 ms or more".to_owned()) } else { Ok(patience) }
}

/// `netloom image list`
#[derive(Debug, Args)]
pub(crate) struct ImageListArgs {
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `netloom image remove`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom image remove debian:12
  netloom image remove sha256:0123456789ab
  netloom image remove $(netloom image list --json | jq -r '.[].id')

An image goes with the last of its names, or by its digest with all of them. One that a lab uses stays.")]
pub(crate) struct ImageRemoveArgs {
    /// Names or digests, as `netloom image list` shows them
    #[arg(value_name = "IMAGE", required = true)]
    pub(crate) images: Vec<String>,
}

/// `netloom image pack`
#[derive(Debug, Args)]
pub(crate) struct ImagePackArgs {
    /// A name or a digest, as `netloom image list` shows it
    #[arg(value_name = "IMAGE")]
    pub(crate) image: String,
}

/// `netloom image take`
#[derive(Debug, Args)]
pub(crate) struct ImageTakeArgs {
    /// The file that `netloom image pack` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// `netloom image find`
#[derive(Debug, Args)]
pub(crate) struct ImageFindArgs {
    /// The lab file; of a sweep, all points
    #[arg(value_parser = lab_path())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) foreign: Foreign,
    /// The clock in place of the file's
    #[arg(long, value_parser = clock)]
    pub(crate) clock: Option<Clock>,
}
