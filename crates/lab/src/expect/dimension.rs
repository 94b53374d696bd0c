//! Units in which something is measured.

/// The unit in which something is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A bare number.
    Number,
    /// Bits per second.
    Rate,
    /// Nanoseconds.
    Duration,
    /// A share: 1 is all of it.
    Share,
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// A text.
    Text,
    /// A number or a text from a JSON document.
    Json,
}
