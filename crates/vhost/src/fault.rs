//! What happens when a guest's memory goes: when its file is made shorter than what is mapped of it, or when the file system
//! of that file has no more room.
//!
//! To touch such memory is a bus error (SIGBUS, see mmap(2)), which would end this process, and with it all other guests. Here it
//! puts zeros in the place of the whole mapping, marks it as lost, and lets the access continue. Whoever serves the
//! guest looks at the mark and ends its port. A bus error anywhere else does what it did before.

use rustix::mm::munmap;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A mapping of a guest's memory, which is unmapped when this is dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    len: usize,
    entry: &'static Entry,
}

// SAFETY: the mapping belongs to this value alone and is not bound to a thread.
unsafe impl Send for Mapping {}

/// A mapping as the handler knows it. Entries are used again, and never freed: the handler may look at them at any time.
#[derive(Debug, Default)]
struct Entry {
    /// Zero if the entry is not in use.
    base: AtomicUsize,
    len: AtomicUsize,
    is_lost: AtomicBool,
    next: AtomicPtr<Entry>,
}

/// The entry that was made last.
static ENTRIES: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());

/// Held by whoever takes an entry or installs the handler, which does neither.
static TAKING: Mutex<()> = Mutex::new(());

/// What a bus error did before the handler was installed; none: it is not installed yet.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

impl Mapping {
    /// Takes over a mapping.
    ///
    /// # Safety
    /// It was made by `mmap` with this length, of a file and shared, and nobody else unmaps it.
    pub(crate) unsafe fn of(base: NonNull<u8>, len: usize) -> Self {
        let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
        if BEFORE.load(Ordering::Relaxed).is_null() {
            install();
        }
        let entry = entries().find(|entry| entry.base.load(Ordering::Acquire) == 0).unwrap_or_else(new_entry);
        entry.is_lost.store(false, Ordering::Relaxed);
        entry.len.store(len, Ordering::Relaxed);
        entry.base.store(base.as_ptr() as usize, Ordering::Release);
        Self { base, len, entry }
    }

    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Whether it has become zeros.
    pub(crate) fn is_lost(&self) -> bool {
        self.entry.is_lost.load(Ordering::Relaxed)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // First, since another mapping may come to lie here.
        self.entry.base.store(0, Ordering::Release);
        // SAFETY: the mapping has this length; spans are not kept longer than their memory.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.len) };
    }
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    // SAFETY: entries are never freed.
    let at = |place: &AtomicPtr<Entry>| unsafe { place.load(Ordering::Acquire).as_ref() };
    std::iter::successors(at(&ENTRIES), move |entry| at(&entry.next))
}

fn new_entry() -> &'static Entry {
    let entry: &'static Entry = Box::leak(Box::default());
    entry.next.store(ENTRIES.load(Ordering::Relaxed), Ordering::Relaxed);
    ENTRIES.store(ptr::from_ref(entry).cast_mut(), Ordering::Release);
    entry
}

fn install() {
    // SAFETY: for all fields of these structures zero is a value, the handler has the form that SA_SIGINFO asks for, and both
    // structures live through the call. The signal exists, so that the call cannot fail.
    unsafe {
        let before = Box::leak(Box::new(std::mem::zeroed::<libc::sigaction>()));
        libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut *before);
        BEFORE.store(before, Ordering::Release);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut());
    }
}

/// Makes system calls and touches atomics, as a signal handler may.
extern "C" fn on_bus_error(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel passes what is known of the signal.
    let address = unsafe { (*info).si_addr() } as usize;
    for entry in entries() {
        let (base, len) = (entry.base.load(Ordering::Acquire), entry.len.load(Ordering::Relaxed));
        // Read again: the length may be that of another mapping, which another thread has entered meanwhile.
        let is_here = (base..base + len).contains(&address) && entry.base.load(Ordering::Acquire) == base;
        if base != 0 && is_here && has_become_zeros(base, len) {
            entry.is_lost.store(true, Ordering::Relaxed);
            return;
        }
    }
    // SAFETY: what was there before can be there again. The access is repeated when this returns.
    unsafe { libc::sigaction(libc::SIGBUS, BEFORE.load(Ordering::Acquire), ptr::null_mut()) };
}

fn has_become_zeros(base: usize, len: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: all of it is a mapping that the caller knows, which was shared with another process: nobody refers to its bytes.
    let zeros = unsafe { libc::mmap(base as *mut c_void, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    zeros != libc::MAP_FAILED
}
