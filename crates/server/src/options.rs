//! What a server is asked to serve.

use crate::certificate::Certificate;
use std::net::IpAddr;
use std::path::PathBuf;

/// What the command line says.
#[derive(Debug)]
pub struct Options {
    /// What the page shows first.
    pub opened: Option<Opened>,
    /// The folder whose lab files are read and written; none: there is none.
    pub folder: Option<PathBuf>,
    /// The folder that holds the results of all labs.
    pub results: PathBuf,
    /// The port; 0: any that is free.
    pub port: u16,
    /// For others on the network, too; none: for this machine alone.
    pub share: Option<Share>,
    /// Whether labs that the page brings up stay when the server ends.
    pub keep: bool,
    /// The program `netloom`, which brings labs up.
    pub program: PathBuf,
}

/// What the page shows first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// A lab file, in the folder.
    File(PathBuf),
    /// A lab that is up.
    Lab(String),
    /// A results folder.
    Results(PathBuf),
}

/// How a page is shared with others on the network.
#[derive(Debug)]
pub struct Share {
    /// The address at which it listens; an unspecified one: all of this machine.
    pub address: IpAddr,
    /// The names by which browsers may call this machine. Addresses need not be named.
    pub names: Vec<String>,
    /// What TLS shows.
    pub certificate: Certificate,
}
