//! Measures what leaves the pipes in virtual time, as the engine does in real time.

use netloom_dataplane::Meters;
use netloom_fabric::{Delivery, PortId, Tap, Way};
use netloom_packet::{Packet, Pool};
use netloom_units::Instant;
use std::cell::RefCell;
use std::rc::Rc;

/// See the module. In virtual time whatever is due is delivered at its instant.
pub(super) struct Gauge(pub(super) Rc<RefCell<Meters>>);

impl Tap for Gauge {
    fn packet(&mut self, _: PortId, _: Way, _: Instant, _: Instant, _: &Packet) {}

    fn watches_routers(&self) -> bool {
        false
    }

    fn minds_order(&self) -> bool {
        false
    }

    fn leaves(&mut self, delivery: &Delivery) {
        self.0.borrow_mut().record(delivery.pipe, &delivery.departure, delivery.departure.due);
    }

    fn settle(&mut self, _: &mut Pool) {}
}
