//! Processors and memory as text.

use netloom_units::Bytes;

/// Processors with two decimals.
pub(super) fn processors(thousandths: u64) -> String {
    format!("{}.{:02}", thousandths / 1_000, thousandths % 1_000 / 10)
}

/// A size in megabytes.
pub(super) fn size(bytes: Bytes) -> String {
    format!("{} MB", bytes.get().div_ceil(1_000_000))
}
