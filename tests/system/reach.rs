//! Ports of this machine that lead into nodes.

use crate::fixture::{Fixture, User, is_root, lab_of};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

/// A megabyte, in which no part is like another.
fn megabyte() -> Vec<u8> {
    (0..1_000_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Echoes each connection when the other side has sent all of it.
const ECHO: &str = "import socketserver\n\
class Echo(socketserver.StreamRequestHandler):\n    def handle(self): self.wfile.write(self.rfile.read())\n\
class Server(socketserver.ThreadingTCPServer):\n    request_queue_size = 300\n    allow_reuse_address = True\n\
Server((HOST, 7), Echo).serve_forever()\n";

/// Ports of this machine that are free just now: three of them, and of both families.
fn free_ports() -> [u16; 3] {
    let free = || {
        loop {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            if TcpListener::bind((Ipv6Addr::LOCALHOST, port)).is_ok_and(|other| other.local_addr().is_ok()) {
                return (listener, port);
            }
        }
    };
    // All are held until all are found.
    [free(), free(), free()].map(|(_, port)| port)
}

fn lab(fixture: &Fixture, stack: &str, [http, echo, nobody]: [u16; 3]) -> String {
    fixture.write("echo.py", &ECHO.replace("HOST", "\"10.0.0.1\""));
    fs::create_dir_all(fixture.work().join("site")).unwrap();
    fs::write(fixture.work().join("site/data"), megabyte()).unwrap();
    format!(
        "name: reach\nbounds: {{lateness: 100 s, rate: 100 %, delay: 100 %, starts: 100 s, events: 100 s, starvation: 100 %}}\nnodes:\n  a: {{stack: {stack}, \
         expose: {{{http}: 80, {echo}: 7, {nobody}: 81}}}}\n  b: {{stack: {stack}}}\n\
         links: {{l: {{ends: [{{node: a, address: 10.0.0.1/24}}, {{node: b, address: 10.0.0.2/24}}], rate: 1 Mbit/s}}}}\n\
         timeline:\n  - {{on: a, run: python3 -m http.server --directory site 80, ready: {{tcp: 80}}}}\n  \
         - {{on: a, run: python3 echo.py, ready: {{tcp: 7}}}}\n"
    )
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    // Whatever should have come has not, after so long.
    stream.set_read_timeout(Some(Duration::from_secs(50))).unwrap();
    stream
}

/// What comes back when all has been sent, over a connection whose one half is closed by then.
fn echoed(mut stream: TcpStream, sent: &[u8]) -> Vec<u8> {
    let mut writer = stream.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            writer.write_all(sent).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        back
    })
}

fn fetched(mut stream: TcpStream) -> Vec<u8> {
    stream.write_all(b"GET /data HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let head = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
    answer.split_off(head + 4)
}

/// Whether a connection ends without having said anything.
fn is_turned_away(port: u16) -> bool {
    match connect(port).read(&mut [0]) {
        Ok(length) => length == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

fn play(fixture: &Fixture, stack: &str, connections: u32) {
    let ports @ [http, echo, nobody] = free_ports();
    fixture.write("reach.yaml", &lab(fixture, stack, ports));
    let up = fixture.netloom(&["up", "reach.yaml"]).expect_code(0);
    let says = format!("localhost:{http} leads to port 80 of a");
    assert!(up.stderr.contains(&says), "{up:#?}");
    assert!(fixture.netloom(&["ps"]).expect_code(0).stdout.contains(&says));
    let data = megabyte();
    assert!(fetched(connect(http)) == data);
    assert!(fetched(TcpStream::connect((Ipv6Addr::LOCALHOST, http)).unwrap()) == data);
    assert!(echoed(connect(echo), &data) == data);
    assert!(is_turned_away(nobody), "nobody listens at port 81");
    // All are open at the same time, and the first waits for the last.
    let open: Vec<TcpStream> = (0..connections).map(|_| connect(echo)).collect();
    for (number, stream) in open.into_iter().enumerate().rev() {
        let text = format!("this is connection {number}");
        assert_eq!(echoed(stream, text.as_bytes()), text.as_bytes());
    }
    let mut left = connect(echo);
    left.write_all(b"x").unwrap();
    // A kernel whose processor was busy all the time is no fault here.
    let down = fixture.netloom(&["down", "reach"]);
    assert!(matches!(down.code, Some(0 | 5)), "{down:#?}");
    fixture.assert_nothing_is_left("reach");
    match left.read(&mut [0]) {
        Ok(length) => assert_eq!(length, 0),
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    for port in ports {
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err(), "port {port} leads nowhere");
    }
}

#[test]
fn a_port_of_this_machine_leads_into_a_namespace_node() {
    for user in User::some() {
        play(&Fixture::new(user), "namespace", 200);
    }
}

#[test]
fn a_port_of_this_machine_leads_into_a_kernel_node() {
    play(&Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own }), "kernel", 40);
}

/// Answers each datagram with its text in reverse, and first says who has sent it.
const MIRROR: &str = "import socket, sys\n\
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.bind((HOST, 53))\nopen('mirror.ready', 'w')\n\
while True:\n    data, client = s.recvfrom(65535)\n    s.sendto(data[::-1], client)\n";

/// A port of UDP that is free just now, of both families.
fn free_udp_port() -> u16 {
    loop {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        if UdpSocket::bind((Ipv6Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

/// A client on this machine.
struct Client {
    socket: UdpSocket,
    /// All answers that it may get.
    expected: Vec<Vec<u8>>,
}

impl Client {
    fn of(to: IpAddr, port: u16) -> Self {
        let from: IpAddr = if to.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
        let socket = UdpSocket::bind((from, 0)).unwrap();
        socket.connect((to, port)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        Self { socket, expected: Vec::new() }
    }

    /// Sends a datagram until it comes back in reverse: where a machine is busy, some are lost, or answered late. But none is
    /// changed, and none is another's.
    fn mirrors(&mut self, sent: &[u8]) {
        let expected: Vec<u8> = sent.iter().rev().copied().collect();
        self.expected.push(expected.clone());
        let mut buffer = vec![0; 65_535];
        for _ in 0..10 {
            self.socket.send(sent).unwrap();
            loop {
                match self.socket.recv(&mut buffer) {
                    Ok(length) if buffer[..length] == expected => return,
                    Ok(length) => assert!(self.expected.iter().any(|one| *one == buffer[..length]), "{length} bytes"),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::WouldBlock);
                        break;
                    }
                }
            }
        }
        panic!("no answer to {} bytes", sent.len());
    }
}

/// Clients each have their own answers, datagrams of all lengths arrive whole, and the ports go with the lab.
fn mirror(fixture: &Fixture, stack: &str, clock: &str, clients: u32) {
    let (port, nobody) = (free_udp_port(), free_udp_port());
    // Not at the loopback, which is tried first.
    fixture.write("mirror.py", &MIRROR.replace("HOST", "'10.0.0.1'"));
    fixture.write(
        "mirror.yaml",
        &format!(
            "name: mirror\nclock: {clock}\n\
             bounds: {{lateness: 100 s, rate: 100 %, delay: 100 %, starts: 100 s, events: 100 s, starvation: 100 %}}\n\
             nodes:\n  a: {{stack: {stack}, expose: {{{port}/udp: 53, {nobody}/udp: 54}}}}\n  b: {{stack: {stack}}}\n\
             links: {{l: {{ends: [{{node: a, address: 10.0.0.1/24}}, {{node: b, address: 10.0.0.2/24}}]}}}}\n\
             timeline: [{{on: a, run: python3 mirror.py, ready: {{file: mirror.ready}}}}]\n"
        ),
    );
    let up = fixture.netloom(&["up", "mirror.yaml"]).expect_code(0);
    assert!(up.stderr.contains(&format!("localhost:{port}/udp leads to port 53 of a")), "{up:#?}");
    let localhost = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()];
    let mut own = Client::of(localhost[0], port);
    for length in [1, 0, 1_472, 9_000, 65_507] {
        own.mirrors(&megabyte()[..length]);
    }
    Client::of(localhost[1], port).mirrors(b"over IPv6");
    let mut all: Vec<Client> = (0..clients).map(|_| Client::of(localhost[0], port)).collect();
    for (number, client) in all.iter_mut().enumerate() {
        client.mirrors(format!("this is client {number}").as_bytes());
    }
    // Where there are more clients than places, the first had to make way, and comes back.
    all[0].mirrors(b"once more");
    Client::of(localhost[0], nobody).socket.send(b"nobody listens").unwrap();
    own.mirrors(b"and that harms nobody");
    let down = fixture.netloom(&["down", "mirror"]);
    assert!(matches!(down.code, Some(0 | 5)), "{down:#?}");
    fixture.assert_nothing_is_left("mirror");
    UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
}

#[test]
fn datagrams_from_this_machine_reach_a_namespace_node_and_answers_come_back() {
    for user in User::some() {
        mirror(&Fixture::new(user), "namespace", "real", 300);
    }
}

#[test]
fn datagrams_from_this_machine_reach_a_kernel_node_and_answers_come_back() {
    mirror(&Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own }), "kernel", "real", 5);
}

#[test]
fn a_port_that_is_taken_is_told_before_anything_is_made() {
    let fixture = Fixture::new(User::Own);
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    fixture
        .write("reach.yaml", &format!("nodes:\n  a: {{expose: {{{port}: 80}}}}\ntimeline: [{{on: a, run: 'true'}}]\n"));
    let run = fixture.netloom(&["run", "reach.yaml"]).expect_code(4);
    let expected =
        format!("reach.yaml:2: key `expose`: open port {port} of 127.0.0.1 on this machine: Address already in use");
    assert!(run.stderr.contains(&expected), "{run:#?}");
    assert!(!fixture.latest("reach").exists(), "nothing was made");
    drop(taken);
    fixture.netloom(&["run", "reach.yaml", "-q"]).expect_code(0);
    fixture.assert_nothing_is_left("reach");
}

/// The lab is killed in the middle of it: the port goes with it.
#[test]
fn ports_are_closed_whoever_is_killed() {
    let fixture = Fixture::new(User::Own);
    for whom in ["pid", "lab"] {
        let ports @ [http, ..] = free_ports();
        fixture.write("reach.yaml", &lab(&fixture, "namespace", ports));
        fixture.netloom(&["up", "reach.yaml", "-q"]).expect_code(0);
        let info: serde_json::Value =
            serde_json::from_str(&fixture.netloom(&["ps", "--json"]).expect_code(0).stdout).unwrap();
        let guard = i32::try_from(info[0]["pid"].as_i64().unwrap()).unwrap();
        let killed = if whom == "lab" { lab_of(guard).expect("a lab process") } else { guard };
        let pid = nix::unistd::Pid::from_raw(killed);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
        fixture.assert_nothing_is_left("reach");
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, http)).is_err(), "after {whom} was killed");
    }
}
