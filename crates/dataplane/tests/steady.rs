//! In steady state the engine allocates nothing for a packet.

mod fixture;

use fixture::frontend::{FROM_GUEST, TO_GUEST};
use fixture::{booted, engine, snapshot_when, wait_for};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, which counts what all threads but the test's own ask it for: the engine's.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static IS_TEST: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: everything is left to the system's allocator; the counter is a plain number that needs no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !IS_TEST.get() && !places_the_engine() {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the caller keeps to the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the contract of `GlobalAlloc::dealloc`, and `alloc` is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Whether the calling thread is the one that reads, ten times a second, where the engine had best run.
fn places_the_engine() -> bool {
    let mut name = [0_u8; 16];
    // SAFETY: the kernel writes 16 bytes at most, and nothing is allocated.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name.starts_with(b"netloom-place\0")
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const FRAMES: u64 = 400;
/// The histograms of lateness and delay grow when something is later than ever before.
const LATER_THAN_EVER: u64 = 20;

#[test]
fn the_engine_allocates_nothing_for_a_packet() {
    IS_TEST.set(true);
    let (mut engine, paths) = engine(1);
    let [mut left, mut right] = booted(&paths);
    let mut cross = |count: u64| {
        for _ in 0..count {
            right.make_room(2_000);
            left.transmit(&[0; 12], &[7; 100]);
            left.kick(FROM_GUEST);
            wait_for("the frame", || right.take(TO_GUEST));
            wait_for("the buffer", || left.take(FROM_GUEST));
        }
    };
    cross(FRAMES);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    cross(FRAMES);
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    assert!(allocations < LATER_THAN_EVER, "{allocations} allocations for {FRAMES} frames");
    snapshot_when(&mut engine, "the record", |snapshot| snapshot.pipes[0].delay.count() == 2 * FRAMES);
}
