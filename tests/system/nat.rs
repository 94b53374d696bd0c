//! Routers that translate addresses.

use crate::fixture::{Fixture, User, is_root, ran};
use std::fs;
use std::path::Path;

const BOUNDS: &str =
    "bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 10 s, starts: 60 s}";

/// Answers at two ports: with the sender's address, from its other port, or from another server's address.
const SERVER: &str = r#"
import select, socket, sys
ports = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
for number, port in enumerate(ports):
    port.bind(("", 1000 + number))
while True:
    for port in select.select(ports, [], [])[0]:
        data, sender = port.recvfrom(100)
        word, *rest = data.decode().split()
        if word == "who":
            port.sendto(f"{sender[0]}:{sender[1]}".encode(), sender)
        elif word == "port":
            ports[1].sendto(b"port", sender)
        elif word == "address":
            port.sendto(f"for {sender[0]} {sender[1]}".encode(), (socket.gethostbyname(sys.argv[1]), 1000))
        elif word == "for":
            port.sendto(b"address", (rest[0], int(rest[1])))
"#;

/// Finds mapping and filtering as RFC 5780 does (sections 4.3 and 4.4), and prints both, and whether its port was kept.
const CLIENT: &str = r#"
import socket
def open_at(port):
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.bind(("", port))
    opened.settimeout(1)
    return opened
first, second = (socket.gethostbyname(name) for name in ("s", "t"))
mine = open_at(5000)
def seen(address, port):
    mine.sendto(b"who", (address, port))
    return mine.recv(100).decode()
one, port, address = seen(first, 1000), seen(first, 1001), seen(second, 1000)
mapping = "endpoint-independent" if one == port == address else "address-dependent" if one == port else "address-and-port-dependent"
mine = open_at(6000)
seen(first, 1000)
def arrives(word):
    mine.sendto(word.encode(), (first, 1000))
    try:
        return mine.recv(100).decode() == word
    except TimeoutError:
        return False
filtering = "endpoint-independent" if arrives("address") else "address-dependent" if arrives("port") else "address-and-port-dependent"
print(mapping, filtering, "kept" if one.endswith(":5000") else "changed")
"#;

/// A home of two hosts for each kind of translation, and two servers outside.
#[test]
fn mapping_and_filtering_are_those_of_rfc_4787() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let kinds = [
        ("full", "kind: full-cone", "endpoint-independent endpoint-independent"),
        ("part", "filtering: address-dependent", "endpoint-independent address-dependent"),
        ("usual", "mapping: endpoint-independent", "endpoint-independent address-and-port-dependent"),
        ("sym", "kind: symmetric", "address-and-port-dependent address-and-port-dependent"),
    ];
    let (mut nodes, mut links, mut timeline) = (String::new(), String::new(), String::new());
    for (name, nat, _) in kinds {
        nodes +=
            &format!("  a-{name}: {{}}\n  b-{name}: {{}}\n  {name}: {{kind: router, nat: {{outside: net, {nat}}}}}\n");
        links += &format!("  lan-{name}: {{ends: [a-{name}, b-{name}, {name}], delay: 1 ms}}\n");
        for (host, at) in [("a", "1 s"), ("b", "5 s")] {
            timeline += &format!("  - {{at: {at}, on: {host}-{name}, run: python3 client.py, as: of-{host}-{name}}}\n");
        }
    }
    let text = format!(
        "nodes:\n  s: {{}}\n  t: {{}}\n{nodes}links:\n  net: {{ends: [s, t, full, part, usual, sym], delay: 5 ms}}\n{links}timeline:
  - {{on: s, run: exec python3 server.py t, as: at-s, service: true}}
  - {{on: t, run: exec python3 server.py s, as: at-t, service: true}}
{timeline}"
    );
    fixture.write("server.py", SERVER);
    fixture.write("client.py", CLIENT);
    fixture.write("kinds.yaml", &text);
    let run = ran(fixture.netloom(&["run", "kinds.yaml", "--clock", "virtual", "--wall-limit", "200s"])).expect_code(0);
    assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
    let logs = fixture.latest("kinds").join("logs");
    let printed = |command: &str| {
        let end = format!("-{command}.stdout");
        let mut own = fs::read_dir(&logs).unwrap().flatten().filter(|log| log.path().to_string_lossy().ends_with(&end));
        fs::read_to_string(own.next().unwrap().path()).unwrap()
    };
    for (name, _, wanted) in kinds {
        // The first keeps its port where there is one for all destinations; the second, with the same one, gets another.
        let first = if name == "sym" { "changed" } else { "kept" };
        assert_eq!(printed(&format!("of-a-{name}")), format!("{wanted} {first}\n"));
        assert_eq!(printed(&format!("of-b-{name}")), format!("{wanted} changed\n"));
    }
    fixture.assert_nothing_is_left("kinds");
}

#[test]
fn what_is_behind_a_router_is_reached_by_forwarded_ports_alone() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        let connect =
            "import socket,sys; print(socket.create_connection((sys.argv[1], int(sys.argv[2])), 5).recv(100).decode())";
        let serve = "import socket; s = socket.create_server((\"\", 80));\nwhile True: c, who = s.accept(); c.send(who[0].encode()); c.close()";
        fixture.write("connect.py", connect);
        fixture.write("serve.py", serve);
        let text = format!(
            "
{BOUNDS}
nodes:
  a: {{}}
  web: {{}}
  gw: {{kind: router, nat: {{outside: wan, forward: [{{port: 8080, to: 'web:80'}}]}}}}
  isp: {{kind: router}}
  s: {{}}
links: {{lan: {{ends: [a, web, gw]}}, wan: {{ends: [gw, isp]}}, net: {{ends: [isp, s]}}}}
timeline:
  - {{on: web, run: exec python3 serve.py, as: web-server, ready: {{tcp: 80}}}}
  - {{on: s, run: exec python3 serve.py, as: server, ready: {{tcp: 80}}}}
  - {{on: a, run: python3 connect.py s 80, as: out}}
  - {{on: s, run: python3 connect.py gw 8080, as: forwarded}}
  - {{on: a, run: python3 connect.py 10.0.0.9 8080, as: around}}
  - {{on: s, run: getent ahostsv4 web, as: name, may_fail: true}}
  - {{on: isp, run: if ip -4 route get 10.0.0.2; then exit 9; fi; ip route add 10.0.0.0/29 via 10.0.0.9; ping -c 1 -W 5 10.0.0.2, as: past, may_fail: true}}
  - {{on: a, run: ping -4 -c 1 s, as: ping}}
expect:
  - ping.exit == 0
  - out.stdout contains \"10.0.0.9\"
  - forwarded.stdout contains \"10.0.0.14\"
  - around.stdout contains \"10.0.0.9\"
  - name.exit == 2
  - past.exit == 1
  - past.stdout contains \"Net Unreachable\"
"
        );
        fixture.write("home.yaml", &text);
        let run = ran(fixture.netloom(&["run", "home.yaml"])).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        fixture.assert_nothing_is_left("home");
    }
}

#[test]
fn the_example_of_a_home_has_one_way_in() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/home-network.yaml");
    fixture.write("home-network.yaml", &fs::read_to_string(path).unwrap());
    let run = ran(fixture.netloom(&["run", "home-network.yaml", "--clock", "virtual", "--wall-limit", "200s"]))
        .expect_code(0);
    assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
}
