//! In virtual time, samples of TCP connections that shift nothing.

use super::Edits;

/// An agent that takes samples is a program: it wakes its kernel, sets timers and takes a little lab time. So the kernel tells its deputy
/// (`shim/samples.c`) a function that hands over the state of all connections while no time passes.
pub(super) const SAMPLES: Edits = Edits {
    file: "net/ipv4/tcp_diag.c",
    edits: &[(
        "static int __init tcp_diag_init(void)\n",
        concat!(include_str!("../../../../kernel/samples/tcp_diag.c"), "static int __init tcp_diag_init(void)\n"),
    )],
    without: "in virtual time, samples of TCP connections shift packets by microseconds with this kernel",
};
