//! What serves a page for the browser.

use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;

/// `netloom ui`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom ui                              the lab files of the current folder
  netloom ui lab.yaml                     draw and run this one
  netloom ui star                         watch a lab that is up
  netloom ui results/star/latest          replay a run
  netloom ui --share 192.168.1.5          for a classroom, over TLS: the lab files of the folder, and their labs
  netloom ui star --share 192.168.1.5     the same, of this lab alone

The address that is printed has a token: whoever opens it may do what you may. Ctrl-C ends the server, and the labs that
were brought up from the page, unless --keep is given. Labs that were up before stay.")]
pub(crate) struct UiArgs {
    /// The lab file, the lab that is up, or the results folder to show; default: the lab files of the current folder
    #[arg(value_name = "FILE|LAB|RESULTS")]
    pub(crate) what: Option<PathBuf>,
    /// The folder that holds the results of all labs; default: `results` beside the lab files
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
    /// The port to listen at; 0: any that is free
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Leave labs and runs that were started from the page as they are when the server ends
    #[arg(long)]
    pub(crate) keep: bool,
    /// Serve others on the network, too, at this address of this machine (0.0.0.0: at all), over TLS
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) share: Option<IpAddr>,
    /// A name by which browsers may call this machine; may be given several times
    #[arg(long, value_name = "NAME", requires = "share")]
    pub(crate) host: Vec<String>,
    /// The certificate of this machine as PEM; default: one is made
    #[arg(long, value_name = "FILE", requires = "share", requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// The key of the certificate as PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
}
