//! What a server is asked to serve.

use crate::certificate::Certificate;
use std::net::IpAddr;
use std::path::PathBuf;

/// The options of the server, as the command line gives them.
#[derive(Debug)]
pub struct Options {
    /// The view that the page shows first; none if the command line names none.
    pub opened: Option<Opened>,
    /// The folder whose lab files are read and written; none: there is none.
    pub folder: Option<PathBuf>,
    /// The folder that holds the results of all labs.
    pub results: PathBuf,
    /// The TCP port; 0: any that is free.
    pub port: u16,
    /// The settings for others on the network; none: the server is for this machine alone.
    pub share: Option<Share>,
    /// Whether labs that the page brings up stay when the server ends.
    pub keep: bool,
    /// The program `netloom`, which brings labs up.
    pub program: PathBuf,
}

/// The view that the page shows first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// A lab file, in the folder.
    File(PathBuf),
    /// A lab that is up.
    Lab(String),
    /// A results folder.
    Results(PathBuf),
}

/// The settings by which a page is shared with others on the network.
#[derive(Debug)]
pub struct Share {
    /// The address at which the server listens; an unspecified one: all of this machine.
    pub address: IpAddr,
    /// The names by which browsers may call this machine. Addresses need not be named.
    pub names: Vec<String>,
    /// The certificate and key that TLS uses.
    pub certificate: Certificate,
}
