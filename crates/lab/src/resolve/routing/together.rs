//! The same work for each of many nodes, by all processors together.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Nodes that a thread takes at once. A lab of no more needs no further thread.
const AT_ONCE: usize = 64;

/// Does `work` for each of `items`, which is told its place. Each thread has room of its own, used for one after the other.
///
/// Where the kernel makes no further thread, those that there are do it all.
pub(super) fn each<T: Send, R: Default>(items: &mut [T], work: impl Fn(usize, &mut T, &mut R) + Sync) {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len().div_ceil(AT_ONCE));
    let parts = Mutex::new(items.chunks_mut(AT_ONCE).enumerate());
    let take = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let labour = || {
        let mut room = R::default();
        while let Some((part, own)) = take() {
            for (place, item) in (part * AT_ONCE..).zip(own) {
                work(place, item, &mut room);
            }
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> =
            (1..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, labour).ok()).collect();
        labour();
        others.into_iter().for_each(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
    });
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn each_is_worked_on_once_and_knows_its_place() {
        for count in [0, 1, 64, 65, 1_000] {
            let mut items = vec![0; count];
            each(&mut items, |place, item: &mut usize, room: &mut usize| {
                *room += 1;
                *item += place;
            });
            assert_eq!(items, (0..count).collect::<Vec<_>>());
        }
    }
}
