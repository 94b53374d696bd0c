//! The receiver of notes on what happens to packets inside pipes.

use crate::{Fabric, PipeId};
use netloom_units::Instant;

/// A trace observer: the driver lets it take the fabric's notes ([`Fabric::notes`]) again and again. A driver has none, mostly.
///
/// It is called between packets that are due, and must be quick: it passes the notes on and leaves the work to another thread.
pub trait TraceObserver {
    /// Whether it wants notes of this pipe.
    fn wants(&self, pipe: PipeId) -> bool;

    /// Whether it wants notes of attempts on the air of radio media, too.
    fn wants_attempts(&self) -> bool {
        false
    }

    /// It may take notes. What has left pipes by now has been handed over. All that happens before `now` has happened, but for
    /// what a driver in real time has not read yet; a pipe may still have put off noting it ([`Fabric::settle`]).
    fn take(&mut self, fabric: &mut Fabric, now: Instant);

    /// The same for the last time: it takes what is there.
    fn end(&mut self, fabric: &mut Fabric, now: Instant);
}
