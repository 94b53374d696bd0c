//! What a kernel does that knows of no registers beyond AVX: it sets the first 832 bytes of a program's vector state.

use std::ptr;

/// `NT_X86_XSTATE` of `elf.h`.
const XSTATE: usize = 0x202;
/// x87, SSE, the header and AVX (Intel SDM volume 1, figure 13-1 and section 13.5.2).
const UP_TO_AVX: usize = 832;
/// The first register of SSE, and the word that says which components are in use.
const XMM0: usize = 160;
const IN_USE: usize = 512;

fn request(kind: libc::c_uint, child: libc::pid_t, area: &mut [u8]) -> usize {
    let mut vector = libc::iovec { iov_base: area.as_mut_ptr().cast(), iov_len: area.len() };
    // SAFETY: the vector describes `area`, which outlives the call.
    let failed = unsafe { libc::ptrace(kind, child, XSTATE, &raw mut vector) };
    assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    vector.iov_len
}

#[test]
#[ignore = "runs in a process of its own, with the shim"]
fn xstate() {
    // SAFETY: the child only calls functions that are async-signal-safe.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above; the child never returns into the test harness.
        unsafe {
            libc::ptrace(libc::PTRACE_TRACEME, 0, ptr::null_mut::<u8>(), ptr::null_mut::<u8>());
            libc::raise(libc::SIGSTOP);
            libc::_exit(0);
        }
    }
    let mut status = 0;
    // SAFETY: the status is a variable of ours.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFSTOPPED(status));

    let mut before = vec![0; 32768];
    let whole = request(libc::PTRACE_GETREGSET, child, &mut before);
    println!("\nprobe says: {whole}");
    let part = UP_TO_AVX.min(whole);
    let mut area = before[..part].to_vec();
    area[IN_USE] |= 0b11;
    for (number, byte) in area[XMM0..XMM0 + 16].iter_mut().enumerate() {
        *byte = 0xa0 + u8::try_from(number).unwrap();
    }
    request(libc::PTRACE_SETREGSET, child, &mut area);

    let mut after = vec![0; 32768];
    assert_eq!(request(libc::PTRACE_GETREGSET, child, &mut after), whole);
    assert_eq!(after[XMM0..XMM0 + 16], area[XMM0..XMM0 + 16]);
    // SAFETY: the child is ours, and waited for.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, &raw mut status, 0);
    }
}
