//! How a lab is divided into lab files for several machines.

use super::convert::{Foreign, lab_path};
use super::machines::path_time;
use clap::Args;
use netloom_lab::{MachinePlan, TunnelPlan};
use std::path::PathBuf;

/// `netloom split`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom split lab.yaml --machines 2 --address m1=192.0.2.1 --address m2=192.0.2.2 -o parts
  netloom split lab.yaml --path 2ms -o parts

OUT gets a lab file LAB-MACHINE.yaml for each machine, which only you may read: they have the keys of the tunnels between them. Copy each to its machine, and start all of them there with
`netloom up`, in any order: together they are the lab.")]
pub(crate) struct SplitArgs {
    /// The lab file, or a file or folder of another network tool
    #[arg(value_parser = lab_path())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) foreign: Foreign,
    /// Divide the lab among so many machines, in the place of the `machines` of the lab file: 1 to 64
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MachinePlan::MOST as u64))]
    pub(crate) machines: Option<u64>,
    /// How long a packet takes from one machine to another, in one direction
    #[arg(long, value_name = "TIME", value_parser = path_time, default_value = "500us")]
    pub(crate) path: netloom_units::Duration,
    /// The address or name of a machine, by which the others reach it; may be given several times
    #[arg(long, value_name = "MACHINE=ADDRESS", value_parser = address)]
    pub(crate) address: Vec<(String, String)>,
    /// The port of UDP between the first two machines; each further pair has the next
    #[arg(long, value_name = "PORT", default_value_t = TunnelPlan::PORT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// Give the tunnels no keys: nothing between the machines is authenticated or encrypted
    #[arg(long)]
    pub(crate) plain: bool,
    /// The folder to write to, which is made if it is not there
    #[arg(short, long, value_name = "OUT")]
    pub(crate) out: PathBuf,
}

/// `netloom split-partition`, which only the process that keeps a lab up over several machines calls.
#[derive(Debug, Args)]
pub(crate) struct SplitPartitionArgs {
    /// The lab file
    #[arg(value_parser = lab_path())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) foreign: Foreign,
    /// The number of machines, as the lab was divided
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MachinePlan::MOST as u64))]
    pub(crate) machines: Option<u64>,
    /// The time of the path, as the lab was divided
    #[arg(long, value_name = "TIME", value_parser = path_time, default_value = "500us")]
    pub(crate) path: netloom_units::Duration,
    /// The entry
    #[arg(long, value_name = "ENTRY")]
    pub(crate) entry: String,
    /// How many partitions by hand there were, with this one
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) number: usize,
}

fn address(text: &str) -> Result<(String, String), String> {
    let (name, address) = text.split_once('=').ok_or("write a machine, = and its address, for example a=192.0.2.1")?;
    let is_plain = address.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-_%".contains(&byte));
    if address.is_empty() || !is_plain {
        return Err(format!("\"{address}\" is no machine's address or name: write for example {name}=192.0.2.1"));
    }
    Ok((name.to_owned(), address.to_owned()))
}
