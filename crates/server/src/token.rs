//! What tokens allow, and how they are made.

use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use std::io;

/// The role of a browser: what it may do. Each role may do what those before it may, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Read: labs, their counters, files, results.
    Look,
    /// Work with labs that are up: change links, open terminals, capture.
    Use,
    /// Write lab files, bring labs up and take them down.
    Edit,
}

impl Role {
    /// All roles, the least first.
    pub const ALL: [Self; 3] = [Self::Look, Self::Use, Self::Edit];

    /// Returns the role's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Use => "use",
            Self::Edit => "edit",
        }
    }
}

/// 160 bits as 40 digits.
pub(crate) fn random() -> io::Result<String> {
    let mut bytes = [0_u8; 20];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
