//! Which ways packets take.

use crate::fixture::{Fixture, User, is_root};

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
    for user in User::some() {
        for kind in ["router", "transit"] {
            let fixture = Fixture::new(user);
            fixture.write("send.py", SEND);
            fixture.write("paths.yaml", &diamond("", kind));
            fixture.netloom(&["run", "paths.yaml"]).expect_code(0);
            fixture.assert_nothing_is_left("paths");
        }
    }
}

#[test]
fn kernels_of_nodes_spread_flows_the_same_way_each_time() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    fixture.write("send.py", SEND);
    fixture.write("paths.yaml", &diamond("clock: virtual", "router"));
    let runs = [(), ()].map(|()| {
        fixture.netloom(&["run", "paths.yaml"]).expect_code(0);
        fixture.json("paths", "pipes.json")
    });
    assert_eq!(runs[0], runs[1]);
}

/// Joins a group without naming an interface, and ends when five datagrams of the group have come.
const RECEIVE: &str = "
import socket, struct, sys
group = sys.argv[1]
is_v6 = ':' in group
own = socket.socket(socket.AF_INET6 if is_v6 else socket.AF_INET, socket.SOCK_DGRAM)
own.bind((group, 5000))
if is_v6:
    own.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, socket.inet_pton(socket.AF_INET6, group) + struct.pack('I', 0))
else:
    own.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + struct.pack('I', 0))
own.settimeout(20)
open(sys.argv[2], 'w').close()
print(sorted(own.recv(100).decode() for _ in range(5)))
own.settimeout(1)
try:
    print('one more', own.recv(100))
except socket.timeout:
    print('no more')
";

const SPEAK: &str = "
import socket, sys
for group in sys.argv[1:]:
    is_v6 = ':' in group
    own = socket.socket(socket.AF_INET6 if is_v6 else socket.AF_INET, socket.SOCK_DGRAM)
    own.setsockopt(socket.IPPROTO_IPV6 if is_v6 else socket.IPPROTO_IP, socket.IPV6_MULTICAST_HOPS if is_v6 else socket.IP_MULTICAST_TTL, 8)
    for number in range(5):
        own.sendto(str(number).encode(), (group, 5000))
";

/// The sender and one of the receivers have another link, which comes first; two receivers are on a LAN.
fn multicast(top: &str) -> String {
    let receivers: String = ["a", "b", "c"]
        .iter()
        .flat_map(|node| ["239.1.2.3", "ff3e::1"].map(|group| (node, group)))
        .map(|(node, group)| {
            let ready = format!("{node}{}", group.len());
            format!("  - {{on: {node}, run: python3 receive.py {group} {ready}, as: in-{ready}, service: once, ready: {{file: {ready}}}}}\n")
        })
        .collect();
    let expected: String = ["a9", "a7", "b9", "b7", "c9", "c7"]
        .map(|name| {
            format!(
                "  - in-{name}.stdout contains \"no more\"\n  - in-{name}.stdout contains \"'0', '1', '2', '3', '4'\"\n"
            )
        })
        .concat();
    format!(
        "name: groups
{top}
bounds: {{lateness: 100 s, events: 100 s, starts: 100 s, starvation: 100 %}}
nodes: {{s: , r1: {{kind: transit}}, r2: {{kind: transit}}, a: , b: , c: , other: {{kind: transit}}}}
links:
  aside: {{ends: [s, other], cost: 100}}
  beside: {{ends: [a, other], cost: 100}}
  l1: {{ends: [s, r1], delay: 1 ms}}
  l2: {{ends: [r1, r2], delay: 2 ms}}
  l3: {{ends: [r1, a]}}
  lan: {{ends: [r2, b, c]}}
multicast:
  - {{group: 239.1.2.3, from: s, to: [a, b, c]}}
  - {{group: \"ff3e::1\", from: s, to: [a, b, c]}}
timeline:
{receivers}  - {{on: s, run: python3 speak.py 239.1.2.3 ff3e::1}}
  - {{at: 2 s, on: s, run: [\"true\"], as: end}}
expect:
{expected}"
    )
}

#[test]
fn packets_for_a_group_reach_every_receiver_once() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("receive.py", RECEIVE);
        fixture.write("speak.py", SPEAK);
        fixture.write("groups.yaml", &multicast(""));
        fixture.netloom(&["run", "groups.yaml"]).expect_code(0);
        fixture.assert_nothing_is_left("groups");
    }
}

#[test]
fn packets_for_a_group_reach_kernel_nodes_in_virtual_time() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    fixture.write("receive.py", RECEIVE);
    fixture.write("speak.py", SPEAK);
    fixture.write("groups.yaml", &multicast("clock: virtual"));
    fixture.netloom(&["run", "groups.yaml"]).expect_code(0);
}

/// A host with two links sends by the second what has that link's address, and by rules what they say.
#[test]
fn a_multihomed_host_leaves_by_the_link_of_its_address() {
    for (user, clock) in User::some().into_iter().map(|user| (user, "real")).chain([(User::all()[0], "virtual")]) {
        let fixture = if clock == "real" { Fixture::new(user) } else { Fixture::with_kernel(user) };
        fixture.write(
            "homes.yaml",
            &format!(
                "name: homes
clock: {clock}
bounds: {{lateness: 100 s, events: 100 s, starts: 100 s, starvation: 100 %}}
nodes:
  h: {{multihomed: true, rules: [{{to: 10.9.0.0/30, link: two}}, {{fwmark: 7, link: three}}]}}
  r: {{kind: transit}}
  s:
  t:
links:
  one: {{ends: [h, r]}}
  two: {{ends: [h, r]}}
  three: {{ends: [h, r]}}
  back: {{ends: [r, s]}}
  far: {{ends: [{{node: r, address: 10.9.0.1/30}}, {{node: t, address: 10.9.0.2/30}}]}}
timeline:
  - {{on: h, run: ping -4 -c 20 -i 0.01 s, as: plain}}
  - {{on: h, run: ping -4 -c 30 -i 0.01 -I 10.0.0.5 s, as: second}}
  - {{on: h, run: 'ping -6 -c 30 -i 0.01 -I fd00:6e6c:0:1::1 s', as: second6}}
  - {{on: h, run: ping -4 -c 10 -i 0.01 t, as: ruled}}
  - {{on: h, run: ping -4 -m 7 -c 40 -i 0.01 s, as: marked}}
expect:
  - one.forward.packets >= 20
  - one.forward.packets < 30
  - two.forward.packets >= 70
  - two.forward.packets < 80
  - three.forward.packets >= 40
  - three.forward.packets < 50
"
            ),
        );
        fixture.netloom(&["run", "homes.yaml"]).expect_code(0);
        fixture.assert_nothing_is_left("homes");
    }
}

/// The example: one connection over two links.
#[test]
fn a_connection_of_multipath_tcp_takes_two_links() {
    let loose =
        "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}\n";
    let example = include_str!("../../examples/mptcp.yaml");
    let runs = User::some().into_iter().map(|user| (user, "real")).chain([(User::all()[0], "virtual")]);
    for (user, clock) in runs {
        let fixture = if clock == "real" { Fixture::new(user) } else { Fixture::with_kernel(user) };
        // On a busy machine TCP is slow: in real time only that both links are used is asked for.
        let rates = [("> 12", "> 0.5"), ("> 7 Mbit/s", "> 100 kbit/s"), ("> 4 Mbit/s", "> 100 kbit/s")];
        let any_rate = rates.into_iter().fold(example.to_owned(), |text, (rate, low)| text.replace(rate, low));
        assert_ne!(any_rate, example);
        fixture.write("mptcp.yaml", &format!("{}{loose}", if clock == "real" { &any_rate } else { example }));
        fixture.netloom(&["run", "mptcp.yaml", "--clock", clock]).expect_code(0);
    }
}

/// In virtual time, in which the sender is never late: what is asked for is that nothing is lost.
#[test]
fn a_dispatcher_sends_a_stream_over_two_providers() {
    let runs = [(); 2].map(|()| {
        let fixture = Fixture::with_kernel(User::all()[0]);
        fixture.write("gine.yaml", include_str!("../../examples/papers/gine/multipath.yaml"));
        fixture.netloom(&["run", "gine.yaml", "--clock", "virtual"]).expect_code(0);
        fixture.json("gine-multipath", "pipes.json")
    });
    assert_eq!(runs[0], runs[1]);
}
