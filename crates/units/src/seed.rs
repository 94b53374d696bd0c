//! One seed per run, and one derived from it for every element.

use core::{fmt, str::FromStr};

/// The seed of all random numbers of a run: the same seed gives the same run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seed(u64);

impl Seed {
    /// The seed with this number.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The seed's number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The seed of the element called `name`: elements draw independently, and adding one never changes another.
    ///
    /// The name is hashed with FNV-1a (64 bits), then both are mixed by the finalizer of SplitMix64 (Steele, Lea and
    /// Flood 2014), so that names that differ in one letter give unrelated seeds.
    #[must_use]
    pub fn derive(self, name: &str) -> Self {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self(mix(mix(self.0).wrapping_add(hash)))
    }
}

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Seed {
    type Err = core::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}
