//! Sizes in whole bytes.

use crate::parse::{Family, ParseError, Unit};
use core::{fmt, str::FromStr};

pub(crate) const FAMILY: Family = Family {
    what: "a size",
    example: "64 kB",
    base: "bytes",
    units: &[
        Unit { name: "B", factor: 1 },
        Unit { name: "kB", factor: 1_000 },
        Unit { name: "MB", factor: 1_000_000 },
        Unit { name: "GB", factor: 1_000_000_000 },
        Unit { name: "KiB", factor: 1 << 10 },
        Unit { name: "MiB", factor: 1 << 20 },
        Unit { name: "GiB", factor: 1 << 30 },
    ],
    ambiguous: &[
        ("KB", "write kB for 1,000 bytes or KiB for 1,024"),
        ("K", "write kB for 1,000 bytes or KiB for 1,024"),
        ("k", "write kB for 1,000 bytes or KiB for 1,024"),
        ("M", "write MB for 1,000,000 bytes or MiB for 1,048,576"),
        ("b", "write B for bytes"),
    ],
};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Creates a size of this many bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns the number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FAMILY.display(self.0, &["B", "kB", "MB", "GB"], f)
    }
}

impl FromStr for Bytes {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        FAMILY.parse(text).map(Self)
    }
}
