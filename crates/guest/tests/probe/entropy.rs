use std::fmt::Write;

fn say(what: &str, bytes: &[u8]) {
    let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    });
    println!("\nprobe says: {what} {hex}");
}

#[test]
#[ignore = "runs in a process of its own, with the shim"]
fn entropy() {
    let mut bytes = [0u8; 61];
    // SAFETY: buffer and length belong together.
    assert_eq!(unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) }, 61);
    say("getrandom", &bytes);
    // SAFETY: as above.
    assert_eq!(unsafe { libc::getentropy(bytes.as_mut_ptr().cast(), bytes.len()) }, 0);
    say("getentropy", &bytes);
    // The caller's own seed, as from a clock or a process number: with a seed of ours it counts for nothing.
    // SAFETY: plain numbers go in and out.
    let numbers = unsafe {
        libc::srand(std::process::id());
        [libc::rand(), libc::rand(), libc::rand(), libc::rand()]
    };
    assert!(numbers.iter().all(|&number| number >= 0));
    say("rand", &numbers.map(i32::to_le_bytes).concat());
}
