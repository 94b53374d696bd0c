//! Faults of single packets: kernels take the resets, and what is silent stays silent.

use crate::fixture::{Fixture, User};

/// Serves forever: tells at each end of a connection how that was.
const SERVER: &str = "
import socket, sys, threading

def serve(connection, port):
    try:
        while connection.recv(65536):
            connection.sendall(b'y' * 10)
        print(port, 'closed', flush=True)
    except ConnectionResetError:
        print(port, 'reset', flush=True)

def listen(port):
    server = socket.create_server(('', port))
    while True:
        connection, _ = server.accept()
        threading.Thread(target=serve, args=(connection, port)).start()

for port in map(int, sys.argv[2:]):
    threading.Thread(target=listen, args=(port,)).start()
listen(int(sys.argv[1]))
";

/// Connects, asks so often, waits, and tells how that went.
const CLIENT: &str = "
import socket, sys
port, times = int(sys.argv[1]), int(sys.argv[2])
connection = socket.create_connection(('b', port), 3)
connection.settimeout(1.5)
try:
    for _ in range(times):
        connection.sendall(b'x' * 1000)
        connection.recv(65536)
    connection.recv(1)
    print('closed')
except ConnectionResetError:
    print('reset')
except TimeoutError:
    print('silent')
";

/// Port 80 is reset while it is idle, 81 at its third segment with payload, 82 behind 5 KB, and 83 is silent behind its handshake. 85
/// loses packets, and is none the worse for it.
const LAB: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: [a, b]
links: {l: {ends: [a, b], rate: 100 Mbit/s, delay: 2 ms}}
timeline:
  - {on: b, run: python3 server.py 80 81 82 83 85, as: server, ready: {tcp: 80}}
  - {link: l, direction: forward, packet: {match: {to_port: 81}, tcp: data, of: flow, nth: 3}, do: reset}
  - {link: l, direction: forward, packet: {match: {to_port: 82}, after: 5 kB, of: flow}, do: reset}
  - {link: l, packet: {match: {port: 83}, after: handshake, count: all}, do: drop}
  - {link: l, direction: forward, packet: {match: {to_port: 85}, tcp: data, nth: 2}, do: drop}
  - {link: l, direction: forward, packet: {match: {to_port: 85}, tcp: data, nth: 4}, do: duplicate}
  - {link: l, direction: forward, packet: {match: {to_port: 85}, tcp: data, nth: 6}, do: {corrupt: 60}}
  - {link: l, direction: forward, packet: {match: {to_port: 85}, tcp: data, nth: 8}, do: {hold: 40 ms}}
  - {at: 100 ms, on: a, run: python3 client.py 80 1, as: idle, save: idle.txt}
  - {at: 100 ms, on: a, run: python3 client.py 81 9, as: third, save: third.txt}
  - {at: 100 ms, on: a, run: python3 client.py 82 9, as: limit, save: limit.txt}
  - {at: 100 ms, on: a, run: python3 client.py 83 1, as: silent, save: silent.txt}
  - {at: 100 ms, on: a, run: python3 client.py 85 20, as: worn, save: worn.txt}
  - {at: 1 s, link: l, reset: {to_port: 80}}
";

fn assert_reset(fixture: &Fixture, clock: &str) {
    let run = fixture.netloom(&["run", "faults.yaml", "--clock", clock]).expect_code(0);
    assert!(!run.stdout.contains("NOT as described"), "{clock}: {run:#?}");
    let said = |file: &str| std::fs::read_to_string(fixture.latest("faults").join(file)).unwrap().trim().to_owned();
    for (file, wanted) in [
        ("idle.txt", "reset"),
        ("third.txt", "reset"),
        ("limit.txt", "reset"),
        ("silent.txt", "silent"),
        ("worn.txt", "silent"),
    ] {
        assert_eq!(said(file), wanted, "{clock}: {file}");
    }
    let logs = fixture.latest("faults").join("logs");
    let log = std::fs::read_dir(logs).unwrap().map(|entry| entry.unwrap().path());
    let server = log
        .filter(|path| path.to_string_lossy().ends_with("b-server.stdout"))
        .map(|path| std::fs::read_to_string(path).unwrap());
    let server: String = server.collect();
    assert!(["80 reset", "81 reset", "82 reset"].iter().all(|line| server.contains(line)), "{clock}: {server}");
    let events = std::fs::read_to_string(fixture.latest("faults").join("events.jsonl")).unwrap();
    let fired = events.lines().filter(|line| line.contains("\"packet fault\""));
    // One reset at each of two ports, two ends of an idle connection, four for port 85, and what is silent is sent again and again.
    assert!(fired.count() > 9, "{clock}: {events}");
    let rows = fixture.json("faults", "pipes.json");
    let dropped: u64 = rows.as_array().unwrap().iter().map(|row| row["dropped_fault_packets"].as_u64().unwrap()).sum();
    assert!(dropped >= 5, "{clock}: {rows:#}");
}

#[test]
fn kernels_accept_resets_and_connections_survive_the_rest() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("server.py", SERVER);
    fixture.write("client.py", CLIENT);
    fixture.write("faults.yaml", LAB);
    ["real", "virtual"].iter().for_each(|clock| assert_reset(&fixture, clock));
    // In virtual time, all of it comes again.
    let events = |own: &Fixture| std::fs::read_to_string(own.latest("faults").join("events.jsonl")).unwrap();
    let faults = |text: String| {
        text.lines().filter(|line| line.contains("\"packet fault\"")).map(str::to_owned).collect::<Vec<_>>()
    };
    let before = faults(events(&fixture));
    assert_reset(&fixture, "virtual");
    assert_eq!(faults(events(&fixture)), before);
    fixture.assert_nothing_is_left("faults");
}

/// Asks a name server for an address over UDP, and prints the code of the response and its addresses in their order.
const ASK: &str = "
import socket, struct, sys
name = sys.argv[1]
asked = b''.join(bytes([len(label)]) + label.encode() for label in name.split('.')) + b'\\0'
asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asking.settimeout(5)
asking.sendto(struct.pack('>6H', 7, 0x0100, 1, 0, 0, 0) + asked + struct.pack('>2H', 1, 1), ('ns', 53))
said = asking.recv(4096)
count, at = struct.unpack('>H', said[6:8])[0], 12 + len(asked) + 4
addresses = []
for _ in range(count):
    addresses.append(socket.inet_ntoa(said[at + 12:at + 16]))
    at += 16
print(said[3] & 15, *addresses)
";

/// A name server that knows these addresses of `db.lab`, and gives them in this order.
const SERVE: &str = "#!/bin/sh
for address in $@; do records=\"$records --host-record=db.lab,$address\"; done
exec dnsmasq -k -R -h -u root --no-round-robin $records
";

/// The server's records change at 6.5 s.
const NAMES: &str = "
clock: virtual
nodes: {c: {}, ns: {}}
links: {l: {ends: [c, ns], delay: 5 ms}}
timeline:
  - {on: ns, run: './names 10.1.1.1 10.1.1.2', as: server, service: true, ready: {tcp: 53}}
  - {at: 1 s, on: c, run: python3 ask.py db.lab, as: plain}
  - {at: 2 s, link: l, packet: {match: {to_port: 53}}, do: {dns: servfail}}
  - {at: 2 s, on: c, run: python3 ask.py db.lab, as: failed}
  - {at: 3 s, link: l, packet: {question: db.lab, count: all}, do: {dns: nxdomain}, for: 500 ms}
  - {at: 3 s, on: c, run: python3 ask.py db.lab, as: nobody}
  - {at: 3.2 s, on: c, run: python3 ask.py other.lab, as: other}
  - {at: 4 s, link: l, packet: {}, do: {dns: empty}}
  - {at: 4 s, on: c, run: python3 ask.py db.lab, as: nothing}
  - {at: 5 s, link: l, packet: {count: all}, do: {dns: reverse}, for: 500 ms}
  - {at: 5 s, on: c, run: python3 ask.py db.lab, as: reverse}
  - {at: 6 s, link: l, packet: {count: all}, do: {dns: stale}, for: 2 s}
  - {at: 6 s, on: c, run: python3 ask.py db.lab, as: before}
  - {at: 6.5 s, kill: server}
  - {at: 6.6 s, on: ns, run: ./names 10.9.9.9, as: second, service: true}
  - {at: 7 s, on: c, run: python3 ask.py db.lab, as: stale}
  - {at: 9 s, on: c, run: python3 ask.py db.lab, as: fresh}
";

#[test]
fn names_fail_vanish_and_grow_old() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("ask.py", ASK);
    let names = fixture.write("names", SERVE);
    netloom_testing::programs::make_executable(&names);
    fixture.write("names.yaml", NAMES);
    fixture.netloom(&["run", "names.yaml", "-q"]).expect_code(0);
    let said = |name: &str| {
        let found = std::fs::read_dir(fixture.latest("names").join("logs"))
            .unwrap()
            .flatten()
            .find(|entry| entry.file_name().to_string_lossy().ends_with(&format!("-{name}.stdout")));
        std::fs::read_to_string(found.unwrap().path()).unwrap()
    };
    for (name, wanted) in [
        ("plain", "0 10.1.1.1 10.1.1.2"),
        ("failed", "2"),
        ("nobody", "3"),
        ("nothing", "0"),
        ("reverse", "0 10.1.1.2 10.1.1.1"),
        ("before", "0 10.1.1.1 10.1.1.2"),
        ("stale", "0 10.1.1.1 10.1.1.2"),
        ("fresh", "0 10.9.9.9"),
    ] {
        assert_eq!(said(name).trim(), wanted, "{name}");
    }
    // The server does not know it, and nobody else answers in its place.
    assert_eq!(said("other").trim(), "5");
    fixture.assert_nothing_is_left("names");
}
