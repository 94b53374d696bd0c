//! Link-layer overhead: what a packet is charged on the transmitter beyond its bytes from the IP header on.

use netloom_units::Bytes;

/// How many bytes a packet occupies on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverheadConfig {
    /// As many as it has from the IP header on, as in the papers.
    #[default]
    None,
}

impl OverheadConfig {
    /// What a packet of `size` from the IP header on is charged.
    pub(crate) fn charged(self, size: Bytes) -> Bytes {
        match self {
            Self::None => size,
        }
    }
}
