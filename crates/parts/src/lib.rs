//! The parts of a lab in virtual time that several processes play together, mostly on machines of their own: how they meet, and what they tell
//! one another. This crate knows neither lab files nor kernels, and starts no process.
//!
//! Every part has the whole lab file, and plays the whole session: what agents say, it hears of all nodes at the same instants of lab time,
//! so that it does the same as the others. It runs the kernels of its own nodes alone; see [`netloom_guest::schedule::Wire`]. So every part
//! has all results.
//!
//! The parts meet before the lab is forked ([`OtherParts::meet`]): each two have one connection, on which they compare what has to be the
//! same on all machines. Then [`Peers`] carries what schedulers tell.

#![forbid(unsafe_code)]

mod meeting;
mod part;
mod peers;
mod seal;

use part::Met;
pub use part::PartRequest;
pub use peers::Peers;

/// The other parts of a lab, which this process has met.
#[derive(Default)]
pub struct OtherParts {
    met: Vec<Met>,
}

impl OtherParts {
    /// Meets all other parts of a lab that is played in several, in the process from which the lab is forked. `more`: what has to be the same
    /// beside the facts of the request.
    ///
    /// # Errors
    /// Which part does not come, or is not of the same lab, with the difference in words.
    pub fn meet(
        &mut self,
        request: Option<&PartRequest>,
        more: impl Iterator<Item = (String, String)>,
    ) -> Result<(), String> {
        if let Some(request) = request {
            let facts = request.facts.clone().into_iter().chain(more).collect();
            self.met = meeting::meet(&PartRequest { facts, ..request.clone() })?;
        }
        Ok(())
    }

    /// Closes the connections in this process.
    pub fn let_go(&mut self) {
        self.met.clear();
    }

    /// Returns the connections, for the process that plays the part.
    pub fn peers(&mut self, request: &PartRequest) -> Peers {
        Peers::new(std::mem::take(&mut self.met), &request.names)
    }
}
