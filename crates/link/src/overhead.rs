//! Link-layer overhead: what a packet is charged on the transmitter beyond its bytes from the IP header on.
//!
//! | form | a packet of `size` is charged |
//! |---|---|
//! | none | `size`, as in the papers |
//! | frame | `size + bytes`, and at least `minimum` |
//! | cells | `cell` for every `payload` bytes that `size + bytes` begin |
//!
//! Sources: IEEE 802.3 (3.1.1 frame format, 4.4.2 interframe gap), ITU-T I.363.5 and I.361 (AAL5, cells of ATM),
//! `linklayer atm overhead N` of Linux `tc-stab`(8).

use crate::ConfigError;
use alloc::format;
use netloom_units::Bytes;

/// How many bytes a packet occupies on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverheadConfig {
    /// No overhead: as many bytes as the packet has from the IP header on, as in the papers.
    #[default]
    None,
    /// The overhead of a frame into which the packet is wrapped.
    Frame {
        /// The bytes that the frame adds.
        bytes: Bytes,
        /// The size of the shortest frame, `bytes` included.
        minimum: Bytes,
    },
    /// The overhead of cells: the packet is wrapped, padded and cut into them, as by ATM's adaptation layer 5.
    Cells {
        /// The bytes that are added before the packet is cut, the trailer of the adaptation layer included.
        bytes: Bytes,
        /// The bytes of the packet, and of what is added, that one cell carries.
        payload: Bytes,
        /// The size of a cell.
        cell: Bytes,
    },
}

impl OverheadConfig {
    /// Ethernet: preamble and start of frame 8 bytes, header 14, frame check sequence 4, interframe gap 12; a frame
    /// has at least 64 bytes beside preamble and gap.
    pub const ETHERNET: Self = Self::Frame { bytes: Bytes::new(8 + 14 + 4 + 12), minimum: Bytes::new(8 + 64 + 12) };

    /// ATM with nothing but the 8 bytes of AAL5's trailer: 48 bytes in each cell of 53.
    pub const ATM: Self = Self::Cells { bytes: Bytes::new(8), payload: Bytes::new(48), cell: Bytes::new(53) };

    /// Whether it makes sense.
    ///
    /// # Errors
    /// More than 65,535 bytes anywhere, cells without payload, or cells that carry more than they occupy.
    pub fn check(&self) -> Result<(), ConfigError> {
        match *self {
            Self::None => Ok(()),
            Self::Frame { bytes, minimum } => at_most("bytes", bytes).and(at_most("minimum", minimum)),
            Self::Cells { bytes, payload, cell } => {
                at_most("bytes", bytes).and(at_most("cell", cell))?;
                if payload == Bytes::new(0) {
                    return Err(ConfigError::new("payload", "a cell must carry at least one byte"));
                }
                if payload > cell {
                    let message = format!("a cell of {cell} cannot carry {payload}: write what it carries of it");
                    return Err(ConfigError::new("payload", message));
                }
                Ok(())
            }
        }
    }

    /// Returns the size that a packet of `size` from the IP header on is charged.
    pub fn charged(self, size: Bytes) -> Bytes {
        match self {
            Self::None => size,
            Self::Frame { bytes, minimum } => minimum.max(Bytes::new(size.get() + bytes.get())),
            // The last cell is padded (I.363.5, section 9.2.1.1): what is begun is charged whole.
            Self::Cells { bytes, payload, cell } => {
                Bytes::new((size.get() + bytes.get()).div_ceil(payload.get()) * cell.get())
            }
        }
    }
}

/// The longest packet is a sensible bound for what is added to one.
fn at_most(key: &'static str, bytes: Bytes) -> Result<(), ConfigError> {
    if bytes.get() <= 65_535 {
        return Ok(());
    }
    Err(ConfigError::new(key, format!("{bytes} are more than the longest packet has: at most 65.535 kB")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charged(overhead: OverheadConfig, size: u64) -> u64 {
        overhead.charged(Bytes::new(size)).get()
    }

    #[test]
    fn ethernet_adds_38_bytes_and_has_a_shortest_frame() {
        assert_eq!([46, 47, 1_500].map(|size| charged(OverheadConfig::ETHERNET, size)), [84, 85, 1_538]);
        assert_eq!([0, 1, 45].map(|size| charged(OverheadConfig::ETHERNET, size)), [84; 3]);
    }

    /// 40 bytes and the trailer fill one cell; a byte more begins the next. 1,508 bytes take 32 cells.
    #[test]
    fn cells_are_charged_whole() {
        assert_eq!(
            [0, 40, 41, 88, 89, 1_500].map(|size| charged(OverheadConfig::ATM, size)),
            [53, 53, 106, 106, 159, 1_696]
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let cells = |payload, cell| OverheadConfig::Cells {
            bytes: Bytes::new(8),
            payload: Bytes::new(payload),
            cell: Bytes::new(cell),
        };
        let key = |overhead: OverheadConfig| overhead.check().expect_err("it makes no sense").key;
        assert_eq!([cells(0, 53), cells(54, 53), cells(48, 70_000)].map(key), ["payload", "payload", "cell"]);
        let frame = |bytes, minimum| OverheadConfig::Frame { bytes: Bytes::new(bytes), minimum: Bytes::new(minimum) };
        assert_eq!([frame(65_536, 0), frame(0, 65_536)].map(key), ["bytes", "minimum"]);
        assert_eq!(
            [OverheadConfig::None, OverheadConfig::ETHERNET, OverheadConfig::ATM, cells(53, 53)].map(|o| o.check()),
            [Ok(()), Ok(()), Ok(()), Ok(())]
        );
    }
}
