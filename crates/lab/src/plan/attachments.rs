//! Ways between a lab and what is outside it: interfaces of this machine, tunnels, the way out, exposed ports, diverted traffic.

use crate::Match;
use crate::words::words;
use netloom_units::Duration;
use std::fmt;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// The wire of an interface of this machine, which ends in the lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalPlan {
    /// The interface's name on this machine.
    pub interface: String,
    /// The line of the lab file that names it.
    pub line: usize,
    /// The VLAN that it is, 1 to 4094; none: all frames that no other node of this interface takes, with their tags.
    pub vlan: Option<u16>,
    /// The use of the interface by this machine meanwhile.
    pub mode: ExternalMode,
    /// The hardware address at the other end of the node's link: only frames for it, or for several, enter the lab. None: all
    /// frames do (promiscuous).
    pub only: Option<[u8; 6]>,
    /// Whether it may be the machine's only way out.
    pub force: bool,
}

words! {
    /// The use of an interface by this machine while the lab is up.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ExternalMode {
        /// The machine goes on using the interface.
        #[default]
        Share = "share",
        /// The lab alone has the interface; it comes back as it was.
        Pass = "pass",
    }
}

/// A tunnel to a lab of another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunnelPlan {
    /// The other machine's address or name.
    pub remote: String,
    /// The line of the lab file that names it.
    pub line: usize,
    /// The port of UDP at both ends.
    pub port: u16,
    /// The number that both ends must have, 1 to 16777215.
    pub vni: u32,
    /// The time that a far end that is silent is waited for.
    pub wait: Duration,
    /// The key that both ends have; none: datagrams are neither authenticated nor encrypted.
    pub key: Option<KeyPlan>,
    /// The hardware addresses of what is behind it, as far as that is known.
    pub beyond: Vec<[u8; 6]>,
}

/// The key of a tunnel, or the place that it is read from. It is not printed.
#[derive(Clone, PartialEq, Eq)]
pub enum KeyPlan {
    /// The key.
    Bytes([u8; Self::LEN]),
    /// A file with it, as 64 hexadecimal digits; a relative path counts from the folder of the lab file.
    File(PathBuf),
}

impl KeyPlan {
    /// The length of a key, in bytes.
    pub const LEN: usize = 32;
    /// How to make one.
    pub const MADE_BY: &str = "`openssl rand -hex 32` prints one";

    /// Reads a key as text; none if it is no 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<[u8; Self::LEN]> {
        let digits = text.as_bytes();
        let mut bytes = [0; Self::LEN];
        if digits.len() != 2 * Self::LEN {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(bytes)
    }

    /// Writes a key as [`KeyPlan::parse`] reads it.
    pub fn text(bytes: &[u8; Self::LEN]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Debug for KeyPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(_) => f.write_str("Bytes(..)"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

impl TunnelPlan {
    /// The default port of UDP. It is assigned to nobody, and below those that kernels give to programs.
    pub const PORT: u16 = 29_789;
    /// The default number.
    pub const VNI: u32 = 1;
    /// The default time that a silent far end is waited for.
    pub const WAIT: Duration = Duration::from_secs(60);
}

/// The node of `kind: internet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InternetPlan {
    /// Its place.
    pub node: usize,
    /// The line of the lab file that says so.
    pub line: usize,
    /// Its address at which all nodes ask for names.
    pub resolver: Ipv4Addr,
}

impl InternetPlan {
    /// The name of its interface towards this machine's network, beside those of its links.
    pub const INTERFACE: &str = "uplink0";
}

/// A TCP or UDP port of this machine's loopback that leads to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExposePlan {
    /// Its line in the lab file.
    pub line: usize,
    /// The port of this machine, on 127.0.0.1 and ::1.
    pub port: u16,
    /// Whether both are of UDP.
    pub udp: bool,
    /// The node's port.
    pub to: u16,
}

impl ExposePlan {
    /// Where it leads, for people.
    pub(crate) fn way_to(&self, node: &str) -> String {
        format!("to {} port {} of {node}", if self.udp { "UDP" } else { "TCP" }, self.to)
    }

    /// The port of this machine, as in a lab file: `8080` or `5353/udp`.
    pub fn name(&self) -> String {
        format!("{}{}", self.port, if self.udp { "/udp" } else { "" })
    }
}

/// The traffic of this machine that goes through the first link of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct DiversionPlan {
    /// The packets that go forward; those with source and destination exchanged go backward.
    pub matching: Match,
    /// Whether nothing goes backward: the answers stay as they are.
    pub is_one_way: bool,
    /// The number of the queue by which the traffic is taken; none: any that is free.
    pub queue: Option<u16>,
}
