//! A capture that a client watches while the lab runs.

use super::writer::Shared;
use super::{DriverTap, LIVE_HOLD, Pace, begin};
use netloom_lab::{CapturePlan, Plan};
use netloom_units::Instant;
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What goes to the reader at once.
const BUFFER: usize = 64 * 1_024;

/// See the module. Its writer ends when the tap does, and closes the reader's descriptor; a reader that does not read
/// keeps only the writer waiting.
pub struct LiveCapture {
    shared: Arc<Shared>,
}

impl LiveCapture {
    /// Starts to write what passes from now on to `out`; times count from `zero`. The tap is for the driver.
    pub fn start(plan: &Plan, capture: &CapturePlan, out: OwnedFd, zero: Instant) -> io::Result<(Self, DriverTap)> {
        let out = BufWriter::with_capacity(BUFFER, File::from(out));
        let (shared, _, tap) = begin(plan, std::slice::from_ref(capture), vec![(out, None)], (Pace::Real, LIVE_HOLD))?;
        shared.begin(zero);
        Ok((Self { shared }, tap))
    }

    /// No later packet is captured; how many packets the reader did not get.
    pub fn end(&self, at: Instant) -> u64 {
        self.shared.end(at);
        self.shared.lost.load(Ordering::Relaxed)
    }
}
