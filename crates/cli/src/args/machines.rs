//! How a lab is run over the machines of a cluster.

use clap::{Args, ValueEnum};
use netloom_lab::placement::Host;
use netloom_lab::{MachinePlan, TunnelPlan};
use std::path::PathBuf;

/// What belongs to a run over several machines.
#[derive(Debug, Args)]
pub(crate) struct Machines {
    /// Run the parts of the lab on the machines of a cluster of Ray: `ray` for that of RAY_ADDRESS, its address, or hosts of which Ray makes one over SSH
    #[arg(
        long,
        value_name = "CLUSTER",
        group = "divided",
        value_parser = cluster,
        conflicts_with_all = ["name", "from", "auto_dilate", "stop_at", "follow", "plots", "provenance"]
    )]
    pub(crate) on: Option<String>,
    #[command(flatten)]
    pub(crate) division: Division,
    /// Where a part of a lab waits for the other parts, before time zero and at the end
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub(crate) gate: Option<PathBuf>,
    /// Bring a part of a lab up, and stay with it until it is asked to end
    #[arg(long, requires = "gate", hide = true)]
    pub(crate) stay: bool,
    /// The results folder of a run that was played elsewhere: it is shown, and nothing runs
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub(crate) played: Option<PathBuf>,
}

/// The options of a lab that is up over several machines.
#[derive(Debug, Args)]
pub(crate) struct UpMachines {
    /// Bring the parts of the lab up on the machines of a cluster of Ray: `ray` for that of RAY_ADDRESS, its address, or hosts of which Ray makes one over SSH
    #[arg(long, value_name = "CLUSTER", group = "divided", value_parser = cluster, conflicts_with_all = ["name", "from", "follow"])]
    pub(crate) on: Option<String>,
    #[command(flatten)]
    pub(crate) division: Division,
}

/// The options of a command that plays a part of a lab in virtual time.
#[derive(Debug, Args)]
pub(crate) struct PartOf {
    /// In virtual time, play the nodes of this machine alone, together with such commands for all other machines of the lab
    #[arg(long, value_name = "MACHINE", requires_all = ["at", "key"], group = "divided", conflicts_with_all = ["on", "auto_dilate", "stop_at", "follow"])]
    pub(crate) part: Option<String>,
    /// With --part, where the command for a machine is reached: its address and a port of TCP, or the absolute path of a Unix socket; once
    /// for each machine
    #[arg(long, value_name = "MACHINE=ADDRESS", requires = "part", value_parser = place)]
    pub(crate) at: Vec<(String, String)>,
    /// With --part, the file with the key of 64 hexadecimal digits that all parts have
    #[arg(long, value_name = "FILE", requires = "part")]
    pub(crate) key: Option<PathBuf>,
}

fn place(text: &str) -> Result<(String, String), String> {
    let wrong = || "write a machine, = and where it is reached, for example a=192.0.2.1:29788".to_owned();
    let (name, address) = text.split_once('=').ok_or_else(wrong)?;
    let has_port = address.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if has_port || address.starts_with('/') { Ok((name.to_owned(), address.to_owned())) } else { Err(wrong()) }
}

/// How a lab is divided among the machines of a cluster.
#[derive(Debug, Args)]
pub(crate) struct Division {
    /// With --on or --part, divide the lab among so many machines, in the place of the `machines` of the lab file: 1 to 64
    #[arg(long, value_name = "N", requires = "divided", value_parser = clap::value_parser!(u64).range(1..=MachinePlan::MOST as u64))]
    pub(crate) machines: Option<u64>,
    /// With --on, how long a packet takes from one machine to another, in one direction
    #[arg(long, value_name = "TIME", requires = "on", value_parser = path_time, default_value = "500us")]
    pub(crate) path: netloom_units::Duration,
    /// With --on, the first port between machines: of UDP, and each further pair of machines has the next; in virtual time of TCP, and each further machine
    #[arg(long, value_name = "PORT", requires = "on", default_value_t = TunnelPlan::PORT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// With --on, encrypt and authenticate nothing between the machines
    #[arg(long, requires = "on")]
    pub(crate) plain: bool,
    /// With --on, what follows if a machine is lost
    #[arg(long, value_enum, value_name = "WHAT", requires = "on", default_value_t = OnLoss::End)]
    pub(crate) on_loss: OnLoss,
}

/// What follows the loss of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnLoss {
    /// The lab ends on all machines
    End,
    /// The others go on without its nodes
    Continue,
}

/// Parses `--on`.
pub(super) fn cluster(text: &str) -> Result<String, String> {
    let is_address =
        text.starts_with("ray://") || text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if text == "ray" || is_address || are_hosts(text) {
        return Ok(text.to_owned());
    }
    Err("write `ray`, or the address of a cluster of Ray: HOST:6379, or ray://HOST:10001, or hosts where you have accounts: \
         USER@HOST1,HOST2"
        .into())
}

/// Whether these are hosts, of which Ray makes a cluster: two or more, each with a user or without.
fn are_hosts(text: &str) -> bool {
    let is_word = |word: &str| {
        let is_of_names = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !word.is_empty() && !word.starts_with('-') && word.chars().all(is_of_names)
    };
    let is_host =
        |word: &str| word.split_once('@').map_or(is_word(word), |(user, host)| is_word(user) && is_word(host));
    text.contains(',') && text.split(',').all(is_host)
}

/// The machines of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Hosts(pub(crate) Vec<Host>);

/// Reads the machines of a cluster.
pub(super) fn hosts(text: &str) -> Result<Hosts, String> {
    serde_json::from_str(text).map(Hosts).map_err(|error| error.to_string())
}

/// Reads the time that a packet takes.
pub(super) fn path_time(text: &str) -> Result<netloom_units::Duration, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not a time: write for example 200us or 15ms"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_an_address_or_hosts() {
        for right in ["ray", "ray://h:10001", "h:6379", "h1,h2", "me@h1,h2,h3.example.org", "192.0.2.1,192.0.2.2"] {
            assert_eq!(cluster(right).as_deref(), Ok(right));
        }
        for wrong in ["h1", "h1,", ",h2", "h1,-oProxyCommand=x", "h1 ,h2", "a@b@c,d", "h1,h2;reboot", ""] {
            assert!(cluster(wrong).is_err(), "{wrong}");
        }
    }
}
