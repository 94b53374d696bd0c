//! DHCP servers and their clients.

use crate::fixture::{Fixture, User, is_root, ran};
use std::fs;

const BOUNDS: &str =
    "bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 10 s, starts: 60 s}";

/// What the commands of this name have printed.
fn printed(fixture: &Fixture, lab: &str, command: &str, stream: &str) -> String {
    let end = format!("-{command}.{stream}");
    let mut logs = fs::read_dir(fixture.latest(lab).join("logs")).unwrap().flatten();
    let log =
        logs.find(|log| log.path().to_string_lossy().ends_with(&end)).unwrap_or_else(|| panic!("{command}: no log"));
    fs::read_to_string(log.path()).unwrap()
}

/// A client behind a router, one with several routes, one that gets any address, and a server outside.
fn network() -> String {
    let show = "ip -4 -o addr show dev eth0 | sed 's/.*inet //; s/ .*//'; ip -4 route; cat /etc/resolv.conf";
    format!(
        "
nodes:
  gw: {{kind: router, dhcp: {{domain: home, links: lan}}}}
  other: {{kind: router, dhcp: {{links: cell, reserve: false, range: [10.0.0.21, 10.0.0.21]}}}}
  a: {{addresses: dhcp}}
  b: {{}}
  guest: {{addresses: dhcp}}
  far: {{}}
  near: {{}}
links:
  lan: {{ends: [gw, other, a, {{node: b, address: dhcp}}], delay: 1 ms}}
  net: {{ends: [gw, far]}}
  cell: {{ends: [{{node: other, address: 10.0.0.20/29}}, guest, near]}}
timeline:
  - {{on: a, run: \"{show}\", as: show-a}}
  - {{on: guest, run: \"{show}\", as: show-guest}}
  - {{on: b, run: python3 ask.py, as: names}}
  - {{on: a, run: ping -4 -c 1 -W 5 far, as: ping-far}}
  - {{on: b, run: ping -4 -c 1 -W 5 a, as: ping-a}}
  - {{on: guest, run: ping -4 -c 1 -W 5 far, as: ping-guest}}
expect:
  - ping-far.exit == 0
  - ping-a.exit == 0
  - ping-guest.exit == 0
"
    )
}

/// Asks the name server of /etc/resolv.conf itself, since /etc/hosts knows the names, too.
const ASK: &str = r#"
import socket, struct
server = [line.split()[1] for line in open("/etc/resolv.conf") if line.startswith("nameserver")][0]
asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asking.settimeout(5)
for name in ["far", "a.home", "nobody", "nobody.home", "nobody.example"]:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    asking.sendto(struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1", (server, 53))
    answer = asking.recv(512)
    found = struct.unpack("!H", answer[6:8])[0]
    print(name, ".".join(map(str, answer[-4:])) if found else answer[3] & 15)
"#;

const SHOWN: [&str; 2] = [
    "10.0.0.3/29\n10.0.0.0/29 dev eth0 proto kernel scope link src 10.0.0.3 \n10.0.0.8/30 via 10.0.0.1 dev eth0 \n10.0.0.16/29 via 10.0.0.2 dev eth0 \nnameserver 10.0.0.1\nsearch home\n",
    "10.0.0.21/29\ndefault via 10.0.0.20 dev eth0 \n10.0.0.16/29 dev eth0 proto kernel scope link src 10.0.0.21 \nnameserver 10.0.0.20\n",
];
/// No such name: response code 3 (RFC 1035, section 4.1.1).
const NAMES: &str = "far 10.0.0.10\na.home 10.0.0.3\nnobody 3\nnobody.home 3\nnobody.example 3\n";

fn check(fixture: &Fixture, lab: &str) {
    assert_eq!([printed(fixture, lab, "show-a", "stdout"), printed(fixture, lab, "show-guest", "stdout")], SHOWN);
    assert_eq!(printed(fixture, lab, "names", "stdout"), NAMES);
    assert!(printed(fixture, lab, "dhcp-a", "stderr").contains("asks for an address of eth0"));
}

#[test]
fn clients_get_addresses_routes_and_names_from_their_servers() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("ask.py", ASK);
        fixture.write("lent.yaml", &format!("{BOUNDS}{}", network()));
        let before = fs::read("/etc/resolv.conf").ok();
        let run = ran(fixture.netloom(&["run", "lent.yaml"])).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        assert!(!run.stdout.contains("did to its network"), "{run:#?}");
        check(&fixture, "lent");
        assert_eq!(fs::read("/etc/resolv.conf").ok(), before);
        fixture.assert_nothing_is_left("lent");
    }
}

#[test]
fn in_virtual_time_leases_are_the_same_in_each_run() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    fixture.write("ask.py", ASK);
    fixture.write("lent.yaml", &network());
    let mut seen = Vec::new();
    for _ in 0..2 {
        let run =
            ran(fixture.netloom(&["run", "lent.yaml", "--clock", "virtual", "--wall-limit", "200s"])).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        check(&fixture, "lent");
        let logs = ["dnsmasq-gw", "dhcp-a", "dhcp-guest"].map(|command| printed(&fixture, "lent", command, "stderr"));
        seen.push(logs);
    }
    assert_eq!(seen[0], seen[1]);
    fixture.assert_nothing_is_left("lent");
}

#[test]
fn a_client_without_a_server_fails_and_is_named() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let text = "
nodes: {gw: {kind: router, dhcp: true, firewall: \"table inet f { chain i { type filter hook input priority 0; policy drop;\\n}\\n}\\n\"}, a: {addresses: dhcp}}
links: {lan: {ends: [gw, a]}}
timeline: [{on: a, run: sleep 1}]
";
    fixture.write("none.yaml", text);
    let run = ran(fixture.netloom(&["run", "none.yaml", "--clock", "virtual", "--wall-limit", "200s"])).expect_code(1);
    let wanted = "service `dhcp-a` did not become ready in time: no DHCP server or router gave it an address";
    assert!(run.stderr.contains(wanted), "{run:#?}");
    assert!(run.stderr.contains("broadcasting discover"), "its last words: {run:#?}");
    fixture.assert_nothing_is_left("none");
}

/// A lease of two minutes is renewed after one; who cannot renew it is without an address until the link is there again.
#[test]
fn a_lease_that_is_not_renewed_is_lost_and_got_again() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let text = "
nodes: {gw: {kind: router, dhcp: {lease: 2 min}}, a: {addresses: dhcp}, b: {addresses: dhcp}}
links: {lan: {ends: [gw, a, b], delay: 1 ms}}
timeline:
  - {at: 30 s, link: lan-b, down: true}
  - {at: 240 s, link: lan-b, up: true}
  - {at: 200 s, on: a, run: ip -4 -o addr show dev eth0, as: kept}
  - {at: 200 s, on: b, run: ip -4 -o addr show dev eth0; cat /etc/resolv.conf, as: lost}
  - {at: 250 s, on: b, run: ping -4 -c 1 gw, as: again}
expect: [again.exit == 0]
";
    fixture.write("lease.yaml", text);
    let run = ran(fixture.netloom(&["run", "lease.yaml", "--clock", "virtual", "--wall-limit", "200s"])).expect_code(0);
    assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
    assert!(printed(&fixture, "lease", "kept", "stdout").contains(" 10.0.0.2/29 "));
    assert_eq!(printed(&fixture, "lease", "lost", "stdout"), "");
    assert!(printed(&fixture, "lease", "dhcp-b", "stderr").contains("eth0 has lost its lease"));
    let told = "the programs of node b did to its network: eth0 lost its address 10.0.0.3, and got 10.0.0.3 later";
    assert!(run.stdout.contains(told), "{run:#?}");
    fixture.assert_nothing_is_left("lease");
}

/// What clients of an advertising router have of IPv6.
fn check_advertised(fixture: &Fixture) {
    let shown = printed(fixture, "told", "show", "stdout");
    assert!(shown.contains("inet6 fd00:6e6c::ff:fe00:7/64 scope global dynamic"), "{shown}");
    assert!(shown.contains("default via fe80::ff:fe00:1 dev eth0 proto ra"), "{shown}");
}

const ADVERTISED: &str = "
nodes: {gw: {kind: router, dhcp: {advertise: true}}, a: {addresses: dhcp}, b: {}, far: {}}
links:
  lan: {ends: [{node: gw, mac: '02:00:00:00:00:01'}, {node: a, mac: '02:00:00:00:00:07'}, b]}
  net: {ends: [gw, far]}
timeline:
  - {on: a, run: ip -6 addr show dev eth0; ip -6 route, as: show}
  - {on: a, run: ping -6 -c 1 -W 5 far, as: out}
  - {on: far, run: ping -6 -c 1 -W 5 a, as: in}
  - {on: b, run: ping -6 -c 1 -W 5 a, as: beside}
expect: [out.exit == 0, in.exit == 0, beside.exit == 0]
";

#[test]
fn addresses_of_ipv6_come_from_router_advertisements() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("told.yaml", &format!("{BOUNDS}{ADVERTISED}"));
        let run = ran(fixture.netloom(&["run", "told.yaml"])).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        assert!(!run.stdout.contains("did to its network"), "{run:#?}");
        check_advertised(&fixture);
        fixture.assert_nothing_is_left("told");
    }
}

#[test]
fn in_virtual_time_router_advertisements_are_the_same_in_each_run() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    fixture.write("told.yaml", ADVERTISED);
    let mut seen = Vec::new();
    for _ in 0..2 {
        let run =
            ran(fixture.netloom(&["run", "told.yaml", "--clock", "virtual", "--wall-limit", "200s"])).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        check_advertised(&fixture);
        seen.push(
            ["show", "out", "dnsmasq-gw"]
                .map(|command| ["stdout", "stderr"].map(|stream| printed(&fixture, "told", command, stream))),
        );
    }
    assert_eq!(seen[0], seen[1]);
    fixture.assert_nothing_is_left("told");
}

/// Asks the first name server for addresses of both families and for the name of an address (RFC 1035, section 4.1).
const LOOK_UP: &str = r#"
import ipaddress, socket, struct
server = [line.split()[1] for line in open("/etc/resolv.conf") if line.startswith("nameserver")][0]
asking = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_DGRAM)
asking.settimeout(5)
def ask(name, kind):
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    asking.sendto(struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, kind, 1), (server, 53))
    answer = asking.recv(512)
    found, start = struct.unpack("!H", answer[6:8])[0], 12 + len(labels) + 5 + 2 + 8
    return answer[start + 2:] if found else None
def told(data):
    return ipaddress.ip_address(data) if data else None
for name in ["far", "a.lab", "nobody"]:
    print(name, told(ask(name, 1)), told(ask(name, 28)))
for address in ["10.0.0.10", "fd00:6e6c:0:1::2"]:
    data, parts = ask(ipaddress.ip_address(address).reverse_pointer, 12), []
    while data and data[0] and data[0] < 64:
        parts.append(data[1:1 + data[0]].decode())
        data = data[1 + data[0]:]
    print(address, ".".join(parts))
"#;

const NAMED: &str = "
nodes: {ns: {dns: {domain: lab}}, a: {}, r: {kind: router}, far: {}}
links: {lan: {ends: [ns, r, a], delay: 1 ms}, net: {ends: [r, far]}}
timeline:
  - {on: a, run: python3 ask.py, as: near}
  - {on: far, run: python3 ask.py, as: away}
  - {on: ns, run: python3 ask.py, as: own}
";

const ANSWERS: &str = "far 10.0.0.10 fd00:6e6c:0:1::2\na.lab 10.0.0.3 fd00:6e6c::3\nnobody None None\n10.0.0.10 far.lab\nfd00:6e6c:0:1::2 far.lab\n";

#[test]
fn a_name_server_of_the_lab_knows_all_names_without_dhcp() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("ask.py", LOOK_UP);
        fixture.write("named.yaml", &format!("{BOUNDS}{NAMED}"));
        let run = ran(fixture.netloom(&["run", "named.yaml"])).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        for command in ["near", "away", "own"] {
            assert_eq!(printed(&fixture, "named", command, "stdout"), ANSWERS, "{command}");
        }
        fixture.assert_nothing_is_left("named");
    }
}

#[test]
fn kernel_nodes_ask_a_name_server_of_the_lab_in_virtual_time() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    fixture.write("ask.py", LOOK_UP);
    fixture.write("named.yaml", NAMED);
    let run = ran(fixture.netloom(&["run", "named.yaml", "--clock", "virtual", "--wall-limit", "200s"])).expect_code(0);
    assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
    for command in ["near", "away", "own"] {
        assert_eq!(printed(&fixture, "named", command, "stdout"), ANSWERS, "{command}");
    }
    fixture.assert_nothing_is_left("named");
}

/// With IPv6 alone there is no DHCP: the kernel makes the address, and the name server is the one that the router says.
const IPV6_ONLY: &str = "
addresses: {ipv4: none}
nodes: {gw: {kind: router, dhcp: {advertise: true, lease: 2 min, domain: lab}}, a: {addresses: dhcp}, far: {}}
links:
  lan: {ends: [{node: gw, mac: '02:00:00:00:00:01'}, {node: a, mac: '02:00:00:00:00:07'}], delay: 1 ms}
  net: {ends: [gw, far]}
timeline:
  - {on: a, run: ip -6 addr show dev eth0; ip -6 route; cat /etc/resolv.conf, as: show}
  - {on: a, run: ping -6 -c 1 -W 5 far, as: out}
expect: [out.exit == 0]
";

fn check_ipv6_only(fixture: &Fixture) {
    let shown = printed(fixture, "six", "show", "stdout");
    for wanted in [
        "inet6 fd00:6e6c::ff:fe00:7/64 scope global dynamic",
        "default via fe80::ff:fe00:1 dev eth0 proto ra",
        "nameserver fd00:6e6c::1\nsearch lab\n",
    ] {
        assert!(shown.contains(wanted), "{wanted}\n{shown}");
    }
}

#[test]
fn routers_advertise_themselves_where_there_is_only_ipv6() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("six.yaml", &format!("{BOUNDS}{IPV6_ONLY}"));
        let run = ran(fixture.netloom(&["run", "six.yaml"])).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        assert!(!run.stdout.contains("did to its network"), "{run:#?}");
        check_ipv6_only(&fixture);
        fixture.assert_nothing_is_left("six");
    }
}

/// A prefix that is to be believed for two minutes is advertised often enough to stay.
#[test]
fn an_advertised_prefix_stays_in_virtual_time() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    fixture.write("six.yaml", &format!("{IPV6_ONLY}duration: 700 s\n"));
    let run = ran(fixture.netloom(&["run", "six.yaml", "--clock", "virtual", "--wall-limit", "200s"])).expect_code(0);
    assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
    assert!(!run.stdout.contains("lost its address"), "{run:#?}");
    check_ipv6_only(&fixture);
    fixture.assert_nothing_is_left("six");
}

/// A server that does not answer any more, though it is still there: the link is up, and nothing of this is in the lab file.
#[test]
fn a_lease_that_is_lost_for_good_is_not_what_was_described() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let text = "
nodes: {gw: {kind: router, dhcp: {lease: 2 min, advertise: true}}, a: {addresses: dhcp}}
links: {lan: {ends: [gw, a], delay: 1 ms}}
timeline:
  - {at: 10 s, on: gw, run: kill -STOP $(cat /run/dnsmasq/dnsmasq.pid)}
  - {at: 300 s, on: a, run: ip -o addr show dev eth0 scope global, as: left}
";
    fixture.write("lost.yaml", text);
    let run = ran(fixture.netloom(&["run", "lost.yaml", "--clock", "virtual", "--wall-limit", "200s"])).expect_code(5);
    for wanted in ["eth0 lost its address 10.0.0.2 and got no other", "eth0 lost its address fd00:6e6c::"] {
        assert!(run.stdout.contains(wanted), "{run:#?}");
    }
    assert_eq!(printed(&fixture, "lost", "left", "stdout"), "");
    fixture.assert_nothing_is_left("lost");
}
