//! The runs whose maps in metres pages look at, read once.

use netloom_lab::{Plan, RoamPlan};
use std::sync::{Arc, Mutex, PoisonError};

/// A run, and who is with whom in it, which takes a while to be found out.
pub(crate) struct Known {
    id: String,
    pub(crate) plan: Plan,
    pub(crate) roams: Vec<RoamPlan>,
}

/// The runs that pages have asked about last: they ask again and again while time goes on.
#[derive(Default)]
pub(crate) struct AirMaps(Mutex<Vec<Arc<Known>>>);

/// So many runs are remembered.
const MOST: usize = 4;

impl AirMaps {
    /// A run, which is read if it is not remembered.
    pub(crate) fn get(&self, id: &str, read: impl FnOnce() -> Option<Plan>) -> Option<Arc<Known>> {
        let find = |all: &[Arc<Known>]| all.iter().find(|known| known.id == id).cloned();
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = find(&lock()) {
            return Some(known);
        }
        let plan = read()?;
        let made = Arc::new(Known { id: id.to_owned(), roams: plan.roams(), plan });
        let mut all = lock();
        all.insert(0, Arc::clone(&made));
        all.truncate(MOST);
        Some(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_read_once() {
        let maps = AirMaps::default();
        let plan = |name: &str| {
            netloom_lab::parse("nodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n", name).ok().map(|lab| lab.plan)
        };
        assert!(maps.get("x", || None).is_none());
        assert!(maps.get("x", || plan("x.yaml")).is_some());
        assert!(maps.get("x", || None).is_some());
        for number in 0..MOST {
            maps.get(&number.to_string(), || plan("y.yaml"));
        }
        assert!(maps.get("x", || None).is_none());
    }
}
