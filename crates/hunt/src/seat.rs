//! Processors for runs: hunts that go on at the same time take other ones, as long as there are enough.

use netloom_host::processors;
use std::fs::File;
use std::path::Path;

/// The place where the kernel describes processors.
const DESCRIBED: &str = "/sys/devices/system/cpu";

/// A processor on which the runs of a slot stay, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Seat {
    /// Its number.
    pub(crate) processor: usize,
    /// A lock on what describes the processor, which leaves nothing behind and dies with us; none if all processors had been taken.
    _lock: Option<File>,
}

impl Seat {
    /// Takes the first of the processors that this process may use and that no other hunt has taken, or the one whose turn it is if all are taken; none if
    /// there is only one.
    pub(crate) fn take(turn: usize) -> Option<Self> {
        Self::among(&processors::allowed().unwrap_or_default(), turn, Path::new(DESCRIBED))
    }

    fn among(allowed: &[usize], turn: usize, described: &Path) -> Option<Self> {
        if allowed.len() < 2 {
            return None;
        }
        // Labs claim the folder above it, and the queue reserves another file in that: neither is in the way.
        let free = allowed.iter().find_map(|&processor| {
            let folder = File::open(described.join(format!("cpu{processor}/topology"))).ok()?;
            folder.try_lock().ok()?;
            Some(Self { processor, _lock: Some(folder) })
        });
        free.or_else(|| Some(Self { processor: allowed[turn % allowed.len()], _lock: None }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_later_sits_elsewhere() {
        let described = tempfile::tempdir().unwrap();
        let allowed = [1, 2, 5];
        for processor in allowed {
            std::fs::create_dir_all(described.path().join(format!("cpu{processor}/topology"))).unwrap();
        }
        let take = |turn| Seat::among(&allowed, turn, described.path()).unwrap();
        let places = |seats: &[Seat]| seats.iter().map(|seat| seat.processor).collect::<Vec<_>>();
        let mut seats: Vec<Seat> = (0..5).map(take).collect();
        assert_eq!(places(&seats), [1, 2, 5, 1, 2], "the last two by their turn");
        seats.remove(1);
        seats.push(take(0));
        assert_eq!(places(&seats), [1, 5, 1, 2, 2], "it is free again");
        assert!(Seat::among(&[5], 0, described.path()).is_none(), "an only processor is everybody's");
        let unknown = Seat::among(&[7, 8], 3, described.path()).unwrap();
        assert_eq!(unknown.processor, 8, "of which the kernel tells nothing");
    }
}
