//! What captures packets, and reads captures.

use clap::Args;
use std::path::PathBuf;

/// `netloom capture`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom capture dumbbell backbone -w backbone.pcapng
  netloom capture dumbbell backbone.forward --snaplen 128 | tcpdump -n -r -
  netloom capture dumbbell backbone --at sent | tshark -r - -z io,stat,1
  netloom capture wifi air --headers radiotap | wireshark -k -i -

Times are lab time since time zero. Ctrl-C ends it.")]
pub(crate) struct CaptureArgs {
    /// The lab
    pub(crate) lab: String,
    /// The link, or one direction of it
    #[arg(value_name = "LINK[.DIRECTION]")]
    pub(crate) link: String,
    /// Where to capture: each packet once as it is sent or delivered, or all that pass this node; default: both ends
    #[arg(long, value_name = "sent|delivered|NODE")]
    pub(crate) at: Option<String>,
    /// What is in front of packets: ethernet, or of a radio medium radiotap, for all that is on the air
    #[arg(long, value_name = "HEADERS", value_parser = ["ethernet", "radiotap"])]
    pub(crate) headers: Option<String>,
    /// The pcapng file to write; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) write: PathBuf,
    /// Keep the first BYTES bytes of each packet
    #[arg(short, long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(14..=262_144))]
    pub(crate) snaplen: Option<u64>,
}

/// `netloom packets`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom packets results/dumbbell/latest/captures/backbone.pcapng
  netloom packets backbone.pcapng --at server:eth0 --plot packets.svg
  netloom packets backbone.pcapng --json | jq '.[0].times_ns[:10]'

One row per direction of a connection and interface. Only packets with data count; times begin at the SYN.")]
pub(crate) struct PacketsArgs {
    /// The capture, a pcapng file
    pub(crate) file: PathBuf,
    /// Only the packets at this interface, which the capture calls NODE:INTERFACE
    #[arg(long, value_name = "INTERFACE")]
    pub(crate) at: Option<String>,
    /// Draw the number of packets over time as SVG; - is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Print as JSON, with the time of every packet
    #[arg(long)]
    pub(crate) json: bool,
}
