//! Random numbers of an end of a tunnel, and the clock that it reads.

use std::fs;
use std::io::{self, Read};

/// Returns what nobody guesses.
pub(super) fn random<const LEN: usize>() -> io::Result<[u8; LEN]> {
    let mut bytes = [0; LEN];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Returns what is the same only where `CLOCK_MONOTONIC` is: this boot of the kernel, and how far the time namespace is shifted; zero if that
/// cannot be read.
pub(super) fn clock_identity() -> u64 {
    let Ok(boot) = fs::read("/proc/sys/kernel/random/boot_id") else { return 0 };
    // Kernels without time namespaces have no such file.
    let shift = fs::read("/proc/self/timens_offsets").unwrap_or_default();
    // FNV-1a, 64 bits (draft-eastlake-fnv, section 2).
    boot.iter()
        .chain(&shift)
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
