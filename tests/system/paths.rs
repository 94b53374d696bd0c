//! Which ways packets take.

use crate::bed::{Bed, User, is_root};

/// One datagram of each of 64 flows, of both families.
const SEND: &str = "
import socket, sys
for family, _, _, _, address in socket.getaddrinfo(sys.argv[1], 9, type=socket.SOCK_DGRAM):
    for port in range(2000, 2064):
        with socket.socket(family, socket.SOCK_DGRAM) as own:
            own.bind(('', port))
            own.sendto(b'x' * 100, address)
";

/// Two ways of equal length between two routers of this kind.
fn diamond(top: &str, kind: &str) -> String {
    format!(
        "name: paths
{top}
routes: ecmp
bounds: {{lateness: 100 s, events: 100 s, starts: 100 s, starvation: 100 %}}
nodes: {{a: , b: , r1: {{kind: {kind}}}, r2: {{kind: {kind}}}}}
links:
  left: {{ends: [a, r1]}}
  upper: {{ends: [r1, r2], delay: 1 ms}}
  lower: {{ends: [r1, r2], delay: 1 ms}}
  right: {{ends: [r2, b]}}
timeline:
  - {{on: a, run: python3 send.py b}}
  - {{on: b, run: python3 send.py a}}
  - {{at: 1 s, on: a, run: [\"true\"], as: end}}
expect:
  - upper.forward.packets >= 32
  - lower.forward.packets >= 32
  - upper.backward.packets >= 32
  - lower.backward.packets >= 32
  - right.forward.packets >= 128
  - left.backward.packets >= 128
"
    )
}

/// In each direction there are 64 flows of either family, and 32 of these 128 at least take each way: with a fair choice fewer would
/// once in 10^8 runs, and with the seed of the lab no run differs.
#[test]
fn flows_spread_over_ways_of_equal_length() {
    for user in User::all() {
        for kind in ["router", "transit"] {
            let bed = Bed::new(user);
            bed.write("send.py", SEND);
            bed.write("paths.yaml", &diamond("", kind));
            bed.netloom(&["run", "paths.yaml"]).expect_code(0);
            bed.assert_nothing_is_left("paths");
        }
    }
}

#[test]
fn kernels_of_nodes_spread_flows_the_same_way_each_time() {
    let bed = Bed::with_kernel(if is_root() { User::Nobody } else { User::Own });
    bed.write("send.py", SEND);
    bed.write("paths.yaml", &diamond("clock: virtual", "router"));
    let runs = [(), ()].map(|()| {
        bed.netloom(&["run", "paths.yaml"]).expect_code(0);
        bed.json("paths", "pipes.json")
    });
    assert_eq!(runs[0], runs[1]);
}
