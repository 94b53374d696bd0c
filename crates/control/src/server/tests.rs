use super::*;
use netloom_fuzz::{fuzz, mutated};
use netloom_host::fds::send_with_fds;
use proptest::collection::vec;
use proptest::prelude::*;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};

fn connected() -> (Server, UnixStream, ClientId) {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::listen(&folder.path().join("socket")).unwrap();
    let client = UnixStream::connect(folder.path().join("socket")).unwrap();
    server.accept().unwrap();
    let (id, _, _) = server.connections().next().unwrap();
    (server, client, id)
}

/// What the only connection is polled for.
fn awaited(server: &Server) -> Awaited {
    server.connections().next().unwrap().2
}

/// All that a client has brought.
fn read(server: &mut Server, id: ClientId) -> Vec<Incoming> {
    let mut all = Vec::new();
    loop {
        let before = all.len();
        server.serve(id);
        all.extend(std::iter::from_fn(|| server.next(id)));
        if all.len() == before {
            return all;
        }
    }
}

/// A program that waits for the socket's file connects the moment it sees it.
#[test]
fn a_socket_that_can_be_seen_takes_connections() {
    let folder = tempfile::tempdir().unwrap();
    for turn in 0..200 {
        let path = folder.path().join(format!("{turn}.sock"));
        let client = std::thread::spawn({
            let path = path.clone();
            move || {
                while !path.exists() {
                    std::hint::spin_loop();
                }
                UnixStream::connect(&path).map(drop)
            }
        });
        let _server = Server::listen(&path).unwrap();
        client.join().unwrap().unwrap();
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 200);
}

#[test]
fn requests_and_the_end_come_in_order_and_what_is_wrong_is_refused_between() {
    let (mut server, mut client, id) = connected();
    client
        .write_all(b"{\"request\":\"info\"}\nnonsense\n{\"id\":7,\"request\":\"exek\"}\n{\"request\":\"down\"}\n")
        .unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let incoming = read(&mut server, id);
    let [Incoming::Request(Request::Info, _), Incoming::Request(Request::Down, _), Incoming::Gone] = &incoming[..]
    else {
        panic!("{incoming:?}");
    };
    assert_eq!(server.connections().count(), 0);
    let answers: Vec<String> = BufReader::new(client).lines().map(Result::unwrap).collect();
    assert!(answers[0].contains("this is no JSON"), "{answers:?}");
    assert!(answers[1].starts_with("{\"id\":7,\"reply\":\"refused\"") && answers[1].contains("`exec`?"), "{answers:?}");
}

/// The client may ask for something else while its program runs.
#[test]
fn answers_repeat_the_identifier_of_their_request() {
    let (mut server, mut client, id) = connected();
    for (line, reply) in [
        ("{\"id\":\"e\",\"request\":\"exec\",\"node\":\"a\",\"argv\":[\"true\"]}\n", Reply::Started),
        ("{\"id\":\"c\",\"request\":\"capture\",\"link\":\"l\"}\n", Reply::Started),
        ("{\"id\":2,\"request\":\"down\"}\n", Reply::Done),
        ("{\"request\":\"down\"}\n", Reply::Done),
    ] {
        client.write_all(line.as_bytes()).unwrap();
        assert_eq!(read(&mut server, id).len(), 1);
        server.reply(id, &reply);
    }
    server.reply(id, &Reply::Exited { code: 3 });
    drop(server);
    let answers: Vec<String> = BufReader::new(client).lines().map(Result::unwrap).collect();
    let wanted = [
        "{\"id\":\"e\",\"reply\":\"started\"}",
        "{\"id\":\"c\",\"reply\":\"started\"}",
        "{\"id\":2,\"reply\":\"done\"}",
        "{\"reply\":\"done\"}",
        "{\"id\":\"e\",\"reply\":\"exited\",\"code\":3}",
    ];
    assert_eq!(answers, wanted);
}

#[test]
fn descriptors_go_with_the_request_that_wants_them() {
    let (mut server, client, id) = connected();
    let exec = crate::protocol::Exec {
        node: "a".into(),
        argv: vec!["true".into()],
        env: Vec::new(),
        cwd: "/".into(),
        terminal: false,
        user: None,
    };
    let line = [to_line(&Request::Info), to_line(&Request::Exec(exec))].concat();
    send_with_fds(&client, &line, &[client.as_fd(); 3]).unwrap();
    let counts: Vec<usize> = read(&mut server, id)
        .iter()
        .map(|incoming| if let Incoming::Request(_, fds) = incoming { fds.len() } else { usize::MAX })
        .collect();
    assert_eq!(counts, [0, 3]);
}

#[test]
fn a_reply_that_the_client_does_not_take_waits() {
    let (mut server, client, id) = connected();
    let reply = Reply::Refused(Refused::usage("x".repeat(1_000_000)));
    server.reply(id, &reply);
    assert_eq!(awaited(&server), Awaited::Room);
    let reader = std::thread::spawn(move || BufReader::new(client).lines().next().unwrap().unwrap().len());
    while awaited(&server) == Awaited::Room {
        server.serve(id);
    }
    assert!(reader.join().unwrap() > 1_000_000);
}

#[test]
fn descriptors_that_no_request_takes_are_closed() {
    let (mut server, client, id) = connected();
    let (_, theirs) = UnixStream::pair().unwrap();
    for (line, kept) in [(&to_line(&Request::Info)[..], 0), (b"nonsense\n", 0), (b"{\"request\":", 16)] {
        send_with_fds(&client, line, &[theirs.as_fd(); 16]).unwrap();
        read(&mut server, id);
        assert_eq!(server.connections[&id].fds.len(), kept);
    }
    send_with_fds(&client, b"\"info\"", &[theirs.as_fd(); 1]).unwrap();
    assert!(matches!(read(&mut server, id)[..], [Incoming::Gone]));
    let said: Vec<String> = BufReader::new(&client).lines().map(Result::unwrap).collect();
    assert!(said.last().is_some_and(|last| last.contains("more descriptors than any request takes")), "{said:?}");
}

/// It asks and asks, and never reads an answer.
#[test]
fn a_client_that_never_reads_holds_up_itself_alone() {
    let (mut server, mut client, id) = connected();
    client.set_nonblocking(true).unwrap();
    let request = to_line(&Request::Stats);
    let reply = Reply::Refused(Refused::usage("x".repeat(100_000)));
    let mut answered = 0;
    for _ in 0..10_000 {
        let _ = client.write(&request);
        server.serve(id);
        while server.next(id).is_some() {
            server.reply(id, &reply);
            answered += 1;
        }
    }
    let Connection { unsent, lines, .. } = &server.connections[&id];
    assert!(unsent.len() <= 2 * 100_000 && lines.pending() <= 2 * AT_ONCE, "{} bytes wait", unsent.len());
    assert!(answered < 1_000, "{answered} answers");
    // It comes to its senses.
    client.set_nonblocking(false).unwrap();
    let reader = std::thread::spawn(move || BufReader::new(client).lines().map_while(Result::ok).count());
    loop {
        let connection = &server.connections[&id];
        if connection.unsent.is_empty() && connection.lines.pending() < request.len() {
            break;
        }
        server.serve(id);
        while server.next(id).is_some() {
            server.reply(id, &reply);
            answered += 1;
        }
    }
    drop(server);
    assert_eq!(reader.join().unwrap(), answered);
}

/// What it asks meanwhile waits, and its end is noticed.
#[test]
fn a_request_that_is_answered_later_holds_up_those_behind_it() {
    let (mut server, mut client, id) = connected();
    client.write_all(b"{\"id\":1,\"request\":\"advance\",\"by_ns\":5}\n{\"request\":\"info\"}\n").unwrap();
    server.serve(id);
    assert!(matches!(server.next(id), Some(Incoming::Request(Request::Advance(_), _))));
    server.postpone(id);
    assert!(read(&mut server, id).is_empty() && awaited(&server) == Awaited::Nothing);
    server.report(id, None, &Event::Ended { events: crate::protocol::Topic::Lab, because: "x".into() });
    assert!(read(&mut server, id).is_empty() && awaited(&server) == Awaited::Nothing);
    server.reply(id, &Reply::Done);
    assert!(matches!(read(&mut server, id)[..], [Incoming::Request(Request::Info, _)]));
    client.write_all(b"{\"request\":\"pause\"}\n{\"request\":\"down\"}\n").unwrap();
    server.reply(id, &Reply::Done);
    server.serve(id);
    assert!(matches!(server.next(id), Some(Incoming::Request(Request::Pause, _))));
    server.postpone(id);
    client.set_nonblocking(true).unwrap();
    assert_eq!(BufReader::new(&client).lines().map_while(Result::ok).last().unwrap(), "{\"reply\":\"done\"}");
    drop(client);
    assert!(matches!(read(&mut server, id)[..], [Incoming::Gone]), "it is not there for `down` any more");
}

/// Each comes with the first byte of its reply, also where replies wait.
#[test]
fn descriptors_come_with_their_replies() {
    let (mut server, client, id) = connected();
    let long = Reply::Refused(Refused::usage("x".repeat(1_000_000)));
    let (mut ours, theirs) = io::pipe().unwrap();
    for reply in [&long, &Reply::Socket, &long, &Reply::Socket, &Reply::Socket] {
        match reply {
            Reply::Socket => server.reply_with(id, reply, theirs.try_clone().unwrap().into()),
            _ => server.reply(id, reply),
        }
    }
    drop(theirs);
    let (mut lines, mut fds, mut read) = (Lines::default(), VecDeque::new(), 0);
    while read < 5 {
        server.serve(id);
        let mut buffer = [0; 50_000];
        let received = netloom_host::fds::receive_with_fds(&client, &mut buffer).unwrap();
        fds.extend(received.fds);
        lines.feed(&buffer[..received.length]);
        while let Some(line) = lines.pop_line() {
            if line == b"{\"reply\":\"socket\"}\n" {
                // It is there when its line is.
                let fd: OwnedFd = fds.pop_front().unwrap();
                File::from(fd).write_all(&[read]).unwrap();
            }
            read += 1;
        }
    }
    let mut written = Vec::new();
    ours.read_to_end(&mut written).unwrap();
    assert_eq!(written, [1, 3, 4], "nobody keeps the descriptors");
}

/// What it has subscribed to is sent when it has taken what was sent before.
#[test]
fn a_client_is_clear_when_it_has_taken_everything() {
    let (mut server, client, id) = connected();
    assert!(server.is_clear(id) && !server.is_clear(id + 1));
    let event = Event::Ended { events: crate::protocol::Topic::Lab, because: "x".repeat(10_000) };
    let mut told = 0;
    while server.is_clear(id) {
        server.report(id, Some(&Id::Number(5)), &event);
        told += 1;
    }
    assert!(server.connections[&id].unsent.len() <= 11_000 && told > 2);
    let reader = std::thread::spawn(move || {
        let lines = BufReader::new(client).lines().map_while(Result::ok);
        lines.inspect(|line| assert!(line.starts_with("{\"id\":5,\"event\":\"ended\""), "{line}")).count()
    });
    while !server.is_clear(id) {
        server.serve(id);
    }
    drop(server);
    assert_eq!(reader.join().unwrap(), told);
}

#[test]
fn a_client_that_goes_away_while_an_answer_waits_is_gone() {
    let (mut server, client, id) = connected();
    server.reply(id, &Reply::Refused(Refused::usage("x".repeat(1_000_000))));
    drop(client);
    assert!(matches!(read(&mut server, id)[..], [Incoming::Gone]));
}

#[test]
fn endless_requests_are_sent_away() {
    let (mut server, mut client, id) = connected();
    let writer = std::thread::spawn(move || {
        let _ = client.write_all(&vec![b'x'; LONGEST_REQUEST + 2 * AT_ONCE]);
        let mut said = String::new();
        let _ = BufReader::new(client).read_line(&mut said);
        said
    });
    while !matches!(read(&mut server, id).last(), Some(Incoming::Gone)) {}
    assert!(writer.join().unwrap().contains("a request of more than 4 MiB"));
}

/// What clients ask, some of it nonsense.
const LINES: [&str; 13] = [
    "{\"request\":\"info\"}\n",
    "{\"request\":\"stats\"}\n{\"request\":\"down\"}\n",
    "{\"request\":\"exec\",\"node\":\"a\",\"argv\":[\"ls\"],\"env\":[[\"A\",\"1\"]],\"cwd\":\"/\",\"terminal\":true,\"user\":null}\n",
    "{\"request\":\"capture\",\"link\":\"l\",\"direction\":\"forward\",\"at\":\"sent\",\"snaplen_bytes\":96}\n",
    "{\"request\":\"signal\",\"signal\":-2147483648}\n",
    "{\"request\":\"set\",\"link\":\"l\",\"direction\":null,\"pipe\":null,\"changes\":[[\"rate\",\"1 Mbit/s\"]]}\n",
    "{\"request\":\"subscribe\",\"events\":\"stats\",\"every_ns\":18446744073709551615}\n",
    "{\"request\":\"unsubscribe\",\"events\":\"output\"}\n",
    "{\"request\":\"socket\",\"node\":\"a\",\"type\":\"raw\",\"protocol\":1,\"bind\":\"[::1]:80\"}\n",
    "{\"request\":\"advance\",\"by_ns\":18446744073709551615}\n",
    "[[[[[[[[\n",
    "\n",
    "\u{0}",
];

/// Whatever a client writes, it is a request, or refused, or the end; and it is answered until it goes.
#[test]
fn fuzz_requests_of_clients() {
    let lines = LINES.map(str::to_owned).to_vec();
    let written = prop_oneof![3 => mutated(lines).prop_map(String::into_bytes), 1 => vec(any::<u8>(), 1..50)];
    let inputs = vec((written, 0..4_usize, any::<bool>()), 0..30);
    fuzz("requests-of-clients", 300, &inputs, |pieces| {
        let (mut server, client, id) = connected();
        let (_, other) = UnixStream::pair().unwrap();
        for (bytes, fds, is_answered) in pieces {
            // Where nothing is left of a line, nothing can carry descriptors.
            if !bytes.is_empty() {
                send_with_fds(&client, &bytes, &vec![other.as_fd(); fds]).unwrap();
            }
            for incoming in read(&mut server, id) {
                assert!(!matches!(incoming, Incoming::Gone) || server.connections.is_empty());
                if is_answered {
                    server.reply(id, &Reply::Done);
                }
            }
            if server.connections.is_empty() {
                return;
            }
            assert!(server.connections[&id].fds.len() <= MAX_FDS);
        }
        drop(client);
        assert!(matches!(read(&mut server, id).last(), Some(Incoming::Gone)));
    });
}
