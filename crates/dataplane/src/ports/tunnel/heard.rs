//! Counts of what was heard of the far end.

use netloom_figures::Distribution;

/// The facts that were found out about the far end and the path from there, for the report.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// How long datagrams took on the path.
    pub(super) took: Distribution,
    /// Frames that were sent there, in all of its lives.
    pub(super) sent: u64,
    /// Frames of them that were cut into pieces.
    pub(super) cut: u64,
    /// Frames of earlier lives of the far end that came, were lost, came twice.
    pub(super) before: [u64; 3],
    /// Datagrams that were none of the far end's.
    pub(super) strays: u64,
    /// Datagrams that were not made with the key, or that came before.
    pub(super) forged: u64,
    pub(super) replayed: u64,
    /// How often it was silent for a while and came back.
    pub(super) gaps: u64,
    pub(super) silent_ns: u64,
    /// How often the clocks of both ends moved apart at once, in its earlier lives.
    pub(super) jumps: u64,
}
