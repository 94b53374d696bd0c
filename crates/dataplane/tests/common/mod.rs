//! Kernels that tests play, and patience.

#[path = "../../../vhost/tests/ports/frontend.rs"]
#[allow(dead_code, reason = "the tests of ports use more of it")]
pub(crate) mod frontend;

use frontend::{FROM_GUEST, Frontend, OFFERED, SIZE, TO_GUEST};
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::time::Duration;

/// How long anything may take on a machine that is busy with other things, in milliseconds.
const PATIENCE: u32 = 20_000;

/// Does all that User-Mode Linux does when it boots.
pub(crate) fn boot(path: &Path) -> Frontend {
    let mut guest = Frontend::connect(path);
    guest.socket.set_nonblocking(false).expect("a socket");
    guest.send(3, 1, &[], &[]);
    guest.send(1, 1, &[], &[]);
    assert_eq!(guest.answer(1), OFFERED);
    command(&mut guest, 16, &8_u64.to_ne_bytes(), None);
    command(&mut guest, 2, &OFFERED.to_ne_bytes(), None);
    let (table, file) = (guest.memory_table(), guest.file.as_raw_fd());
    command(&mut guest, 5, &table, Some(file));
    for (queue, number) in [(TO_GUEST, 0_u32), (FROM_GUEST, 1)] {
        let state = |value: u16| [number, u32::from(value)].map(u32::to_ne_bytes).concat();
        let name = u64::from(number).to_ne_bytes();
        let (call, kick) = (guest.calls[queue].as_raw_fd(), guest.kicks[queue].as_raw_fd());
        command(&mut guest, 13, &name, Some(call));
        command(&mut guest, 8, &state(SIZE), None);
        command(&mut guest, 10, &state(0), None);
        command(&mut guest, 9, &Frontend::addresses(queue), None);
        command(&mut guest, 12, &name, Some(kick));
        command(&mut guest, 18, &state(1), None);
    }
    guest
}

fn command(guest: &mut Frontend, request: u32, payload: &[u8], file: Option<RawFd>) {
    guest.send(request, 9, payload, file.as_slice());
    assert_eq!(guest.answer(request), 0, "request {request}");
}

/// Looks again and again until there is something.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..PATIENCE {
        if let Some(found) = look() {
            return found;
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    panic!("{what} never came");
}
