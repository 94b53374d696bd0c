//! The taps of a thread, and taps that several threads share.

use netloom_fabric::{Delivery, PortId, Tap, TapId, Way};
use netloom_link::{AirPpdu, Fate};
use netloom_packet::{Packet, Pool};
use netloom_units::Instant;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Those of a thread.
pub(crate) type Taps = Vec<(TapId, Box<dyn Tap + Send>)>;

/// A tap for each of so many threads, all of which show their packets to this one; a single thread has it for itself. It
/// is dropped with the last of them.
pub(crate) fn for_each(tap: Box<dyn Tap + Send>, threads: usize) -> Vec<Box<dyn Tap + Send>> {
    if threads == 1 {
        return vec![tap];
    }
    let shared = Arc::new(Mutex::new(tap));
    (0..threads).map(|_| Box::new(Turn(Arc::clone(&shared))) as Box<dyn Tap + Send>).collect()
}

/// A tap that several threads have in common. It is quick, so the turns are short.
struct Turn(Arc<Mutex<Box<dyn Tap + Send>>>);

impl Turn {
    fn take(&self) -> MutexGuard<'_, Box<dyn Tap + Send>> {
        // A thread that panicked ends the engine; the others go on until they are told to stop.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tap for Turn {
    fn packet(&mut self, port: PortId, way: Way, first: Instant, last: Instant, packet: &Packet) {
        self.take().packet(port, way, first, last, packet);
    }

    fn watches_routers(&self) -> bool {
        self.take().watches_routers()
    }

    fn wants_fates(&self) -> bool {
        self.take().wants_fates()
    }

    fn fate(&mut self, fate: &Fate) {
        self.take().fate(fate);
    }

    fn wants_frames(&self) -> bool {
        self.take().wants_frames()
    }

    fn frame(&mut self, ppdu: &AirPpdu) {
        self.take().frame(ppdu);
    }

    fn enters(&mut self, port: PortId, at: Instant, packet: &Packet) {
        self.take().enters(port, at, packet);
    }

    fn leaves(&mut self, delivery: &Delivery) {
        self.take().leaves(delivery);
    }

    fn settle(&mut self, pool: &mut Pool) {
        self.take().settle(pool);
    }
}
