//! Labs over `netloom ui`: brought up, watched, worked with, taken down.

use crate::fixture::{Fixture, User};
use crate::page::{Server, Socket};
use crate::wait::wait_until;
use serde_json::{Value, json};
use std::io::{BufRead, Read};
use std::time::{Duration, Instant};
use tungstenite::Message;

const LAB: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {a: {}, b: {}}
links: {far: {ends: [a, b], rate: 10 Mbit/s, delay: 5 ms}}
";

fn up(user: User) -> (Fixture, Server) {
    let fixture = Fixture::new(user);
    fixture.write("star.yaml", LAB);
    fixture.netloom(&["up", "star.yaml"]).expect_code(0);
    let server = Server::start(&fixture, &["star"]);
    (fixture, server)
}

#[test]
fn a_lab_is_watched_and_changed_by_the_control_protocol() {
    for user in User::some() {
        let (fixture, server) = up(user);
        let state = server.get("/api/state");
        assert_eq!(
            (&state["opened"]["kind"], &state["opened"]["path"]),
            (&json!("lab"), &json!("star.yaml")),
            "{state}"
        );
        let labs = server.get("/api/labs");
        assert_eq!((&labs["labs"][0]["name"], &labs["labs"][0]["answers"]), (&json!("star"), &json!(true)));
        assert_eq!((&labs["labs"][0]["path"], &labs["labs"][0]["job"]), (&json!("star.yaml"), &Value::Null));
        assert!(labs["labs"][0]["results"].as_str().unwrap().starts_with("star:"), "{labs}");
        let mut control = server.socket("/api/labs/star/control");
        assert_eq!(control.ask(r#"{"request":"hello","version":1}"#)["lab"], "star");
        assert_eq!(
            control.ask(r#"{"id":1,"request":"subscribe","events":"stats","every_ns":50000000}"#)["reply"],
            "done"
        );
        control.until(|message| message["event"] == "stats");
        assert_eq!(control.ask(r#"{"request":"set","link":"far","changes":[["delay","80 ms"]]}"#)["reply"], "done");
        let shown =
            control.until(|message| message["event"] == "stats" && message["pipes"][0]["delay_ns"] == 80_000_000);
        assert!(shown["lost"].is_u64(), "{shown}");
        for request in ["exec", "capture", "socket", "console"] {
            assert_eq!(control.ask(&format!(r#"{{"request":"{request}"}}"#))["reply"], "refused", "{request}");
        }
        assert_eq!(control.ask("nonsense")["reply"], "refused");
        // A lab that was up before stays.
        server.interrupt();
        assert!(fixture.netloom(&["ps"]).expect_code(0).stdout.contains("star"));
        fixture.netloom(&["down"]).expect_code(0);
        fixture.assert_nothing_is_left("star");
    }
}

#[test]
fn a_lab_that_ends_while_it_is_watched_closes_its_sockets() {
    let (fixture, server) = up(User::Own);
    let mut events = server.socket("/api/events");
    events.until(|event| event["event"] == "labs" && event["labs"].as_array().unwrap().len() == 1);
    let mut control = server.socket("/api/labs/star/control");
    let mut terminal = server.socket("/api/labs/star/nodes/a/terminal?command=sleep&command=1000");
    assert_eq!(terminal.json()["started"], true);
    fixture.netloom(&["down"]).expect_code(0);
    assert_eq!(control.closed().0, 1000);
    assert_eq!(terminal.closed().0, 1000);
    events.until(|event| event["event"] == "labs" && event["labs"].as_array().unwrap().is_empty());
    for path in ["/api/labs/star/control", "/api/labs/..%2fstar/control", "/api/labs/star/nodes/a/terminal"] {
        assert_eq!(server.socket(path).closed().0, 4404, "{path}");
    }
    assert_eq!(server.ask("DELETE", "/api/labs/star", b"").status, 404);
    assert_eq!(server.ask("GET", "/api/labs/star/captures/far", b"").status, 404);
}

#[test]
fn a_terminal_runs_a_program_in_a_node() {
    for user in User::some() {
        let (fixture, server) = up(user);
        let mut terminal = server.socket("/api/labs/star/nodes/a/terminal?columns=100&rows=30");
        assert_eq!(terminal.json()["started"], true);
        terminal.write(b"stty size; echo node=$NETLOOM_NODE; exit 7\r");
        let (shown, code) = to_the_end(&mut terminal);
        assert!(shown.contains("30 100") && shown.contains("node=a"), "{shown}");
        assert_eq!(code, 7);
        let mut sized =
            server.socket("/api/labs/star/nodes/b/terminal?command=bash&command=-c&command=read%20x;%20stty%20size");
        sized.json();
        sized.say(r#"{"resize":{"columns":132,"rows":50}}"#);
        sized.write(b"\r");
        assert!(to_the_end(&mut sized).0.contains("50 132"));
        let mut absent = server.socket("/api/labs/star/nodes/a/terminal?command=no-such-program");
        assert!(absent.json()["refused"]["message"].as_str().unwrap().contains("program not found"));
        let mut nowhere = server.socket("/api/labs/star/nodes/x/terminal");
        assert!(nowhere.json()["refused"]["message"].is_string());
        // A terminal that is closed ends its program.
        let mut left = server.socket("/api/labs/star/nodes/a/terminal?command=sleep&command=54321");
        left.json();
        drop(left);
        let programs = || fixture.netloom(&["exec", "star", "a", "--", "ps", "-A", "-o", "args"]).stdout;
        wait_until("the end of the program", || !programs().contains("sleep 54321"));
        fixture.netloom(&["down"]).expect_code(0);
    }
}

/// With what it wrote meanwhile. Another page takes it over, one that has ended tells its code, and one that is left for good ends.
#[test]
fn a_page_that_comes_back_finds_its_shell() {
    let (fixture, server) = up(User::Own);
    let at = |query: &str| server.socket(&format!("/api/labs/star/nodes/a/terminal?{query}"));
    let listed = || server.get("/api/labs/star/terminals")["terminals"].clone();
    let until_left = |number: usize| {
        let begun = Instant::now();
        while listed().as_array().unwrap().iter().filter(|shell| shell["attached"] == false).count() != number {
            assert!(begun.elapsed() < Duration::from_secs(30), "{}", listed());
        }
    };
    let mut first = at("stay=true");
    let started = first.json();
    let id = started["shell"].as_str().unwrap().to_owned();
    assert_eq!(started["before"], 0);
    first.write(b"cd /tmp; x=kept; echo be''fore; (sleep 1; echo mean''while) &\r");
    shown_until(&mut first, "before");
    drop(first);
    until_left(1);
    assert_eq!(listed(), json!([{ "shell": id, "node": "a", "attached": false }]));
    let mut again = at(&format!("shell={id}&columns=90&rows=20"));
    assert!(again.json()["before"].as_u64().unwrap() > 0);
    let both = shown_until(&mut again, "meanwhile");
    assert!(both.contains("before"), "{both}");
    again.write(b"echo $x in $PWD; stty size\r");
    assert!(shown_until(&mut again, "20 90").contains("kept in /tmp"));
    let mut other = at(&format!("shell={id}"));
    assert_eq!(again.closed().0, 4409);
    other.json();
    // It ends while nobody is there.
    other.write(b"(sleep 0.5; kill -9 $$) & echo so''on\r");
    shown_until(&mut other, "soon");
    drop(other);
    until_left(1);
    std::thread::sleep(Duration::from_secs(1));
    let mut late = at(&format!("shell={id}"));
    let (shown, code) = to_the_end(&mut late);
    assert!(shown.contains("soon") && code == 137, "{code}: {shown}");
    // A page that closes it for good ends it.
    let mut closed = at("stay=true");
    let ended = closed.json()["shell"].as_str().unwrap().to_owned();
    closed.say(r#"{"end":true}"#);
    assert_eq!(closed.closed().0, 1000);
    let refused = at(&format!("shell={ended}")).json();
    assert!(refused["refused"]["message"].as_str().unwrap().contains("has ended"), "{refused}");
    assert_eq!(listed(), json!([]));
    // One that waits ends with its lab.
    let mut left = at("stay=true");
    left.json();
    drop(left);
    until_left(1);
    fixture.netloom(&["down"]).expect_code(0);
    until_left(0);
}

/// What a terminal shows until this is there.
fn shown_until(terminal: &mut Socket, wanted: &str) -> String {
    let mut shown = String::new();
    while !shown.contains(wanted) {
        match terminal.next() {
            Ok(Message::Binary(bytes)) => {
                shown.push_str(&String::from_utf8_lossy(&bytes));
                terminal.say(&json!({ "taken": bytes.len() }).to_string());
            }
            Ok(Message::Text(_)) => {}
            other => panic!("{other:?} after {shown}"),
        }
    }
    shown
}

fn to_the_end(terminal: &mut Socket) -> (String, i64) {
    let mut shown = String::new();
    loop {
        match terminal.next() {
            Ok(Message::Binary(bytes)) => {
                shown.push_str(&String::from_utf8_lossy(&bytes));
                terminal.say(&json!({ "taken": bytes.len() }).to_string());
            }
            Ok(Message::Text(text)) => {
                let message: Value = serde_json::from_str(&text).unwrap();
                if let Some(code) = message["exited"].as_i64() {
                    return (shown, code);
                }
            }
            other => panic!("{other:?} after {shown}"),
        }
    }
}

#[test]
fn a_program_that_floods_its_terminal_waits_and_can_be_interrupted() {
    let (fixture, server) = up(User::Own);
    let mut terminal =
        server.socket("/api/labs/star/nodes/a/terminal?command=bash&command=-c&command=cat%20/dev/zero;%20echo%20over");
    assert_eq!(terminal.json()["started"], true);
    let mut got = 0;
    // Without a word that it is shown, a window comes and no more.
    while got < 256 << 10 {
        let Ok(Message::Binary(bytes)) = terminal.next() else { panic!("no bytes") };
        got += bytes.len();
    }
    assert_eq!(got, 256 << 10);
    let memory = |pid: u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap().trim().to_owned();
        line.split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    std::thread::sleep(Duration::from_millis(300));
    let before = memory(server.child.id());
    terminal.say(r#"{"taken": 200000}"#);
    let mut more = 0;
    while more < 200_000 {
        let Ok(Message::Binary(bytes)) = terminal.next() else { panic!("no bytes") };
        more += bytes.len();
    }
    assert_eq!(more, 200_000);
    assert!(memory(server.child.id()) < before + 20_000, "memory grows");
    terminal.write(b"\x03");
    terminal.say(r#"{"taken": 1000000000}"#);
    let mut code = None;
    while code.is_none() {
        match terminal.next() {
            Ok(Message::Binary(bytes)) => terminal.say(&json!({ "taken": bytes.len() }).to_string()),
            Ok(Message::Text(text)) => code = serde_json::from_str::<Value>(&text).unwrap()["exited"].as_i64(),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(code, Some(128 + 2));
    fixture.netloom(&["down"]).expect_code(0);
}

#[test]
fn a_page_that_does_not_read_loses_samples_and_nobody_waits_for_it() {
    let (fixture, server) = up(User::Own);
    let mut slow = server.socket("/api/labs/star/control");
    assert_eq!(slow.ask(r#"{"id":1,"request":"subscribe","events":"stats","every_ns":10000000}"#)["reply"], "done");
    let mut other = server.socket("/api/labs/star/control");
    // Some 100 samples a second of about a kilobyte: the kernel's buffers are full after a while.
    let at = |reply: &Value| reply["at_ns"].as_u64().unwrap();
    let first = at(&other.ask(r#"{"request":"now"}"#));
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(6) {
        assert_eq!(other.ask(r#"{"request":"info"}"#)["reply"], "info");
        std::thread::sleep(Duration::from_millis(20));
    }
    let passed = Duration::from_nanos(at(&other.ask(r#"{"request":"now"}"#)) - first);
    assert!(passed > Duration::from_secs(5), "lab time stood still: {passed:?}");
    // It is still served, and hears how many samples it lost, if any.
    slow.until(|message| message["event"] == "stats" && message["lost"].is_u64());
    fixture.netloom(&["down"]).expect_code(0);
}

#[test]
fn packets_of_a_link_are_streamed() {
    let (fixture, server) = up(User::Own);
    let mut stream = server.stream("/api/labs/star/captures/far?at=sent&seconds=100");
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        stream.read_line(&mut line).unwrap();
    }
    fixture.netloom(&["exec", "star", "a", "--", "ping", "-c", "1", "-s", "1000", "b"]).expect_code(0);
    let mut bytes = Vec::new();
    while bytes.len() < 1_500 {
        let mut piece = [0; 4_096];
        let length = stream.read(&mut piece).unwrap();
        assert!(length > 0, "the stream has ended after {}", bytes.len());
        bytes.extend_from_slice(&piece[..length]);
    }
    assert!(bytes.windows(4).any(|four| four == [0x0a, 0x0d, 0x0d, 0x0a]), "no pcapng");
    drop(stream);
    let command = server.get("/api/labs/star/captures/far/command?direction=forward");
    assert_eq!(command["command"], "netloom capture star far.forward | wireshark -k -i -");
    assert_eq!(server.ask("GET", "/api/labs/star/captures/near", b"").status, 404);
    assert_eq!(server.ask("GET", "/api/labs/star/captures/far?direction=up", b"").status, 400);
    fixture.netloom(&["down"]).expect_code(0);
}

#[test]
fn a_lab_of_the_page_comes_up_and_ends_with_its_server() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("star.yaml", LAB);
        let server = Server::start(&fixture, &[]);
        let mut events = server.socket("/api/events");
        let job = server.post("/api/jobs", &json!({ "command": "up", "path": "star.yaml" }));
        assert_eq!((&job["state"], &job["lab"]), (&json!("going on"), &json!("star")));
        let over = events.until(|event| event["event"] == "job" && event["job"]["state"] == "over");
        assert_eq!(over["job"]["exit_code"], 0, "{over}");
        let results = over["job"]["results"].as_str().unwrap().to_owned();
        let up = events.until(|event| event["event"] == "labs" && event["labs"][0]["answers"] == true);
        assert_eq!((&up["labs"][0]["results"], &up["labs"][0]["job"]), (&json!(results), &job["id"]));
        let again = server.post("/api/jobs", &json!({ "command": "up", "path": "star.yaml" }));
        let failed = events.until(|event| event["job"]["id"] == again["id"] && event["job"]["state"] == "over");
        assert_eq!(failed["job"]["exit_code"], 7, "{failed}");
        let lines = server.get(&format!("/api/jobs/{}", again["id"]));
        assert!(lines["lines"].to_string().contains("star"), "{lines}");
        server.interrupt();
        fixture.assert_nothing_is_left("star");
        let kept = Server::start(&fixture, &["--keep"]);
        kept.post("/api/jobs", &json!({ "command": "up", "path": "star.yaml" }));
        kept.socket("/api/events").until(|event| event["event"] == "labs" && event["labs"][0]["answers"] == true);
        kept.interrupt();
        assert!(fixture.netloom(&["ps"]).expect_code(0).stdout.contains("star"));
        fixture.netloom(&["down"]).expect_code(0);
    }
}

#[test]
fn a_server_that_is_killed_leaves_no_lab_of_its_own() {
    let fixture = Fixture::new(User::Own);
    fixture.write("star.yaml", LAB);
    let mut server = Server::start(&fixture, &[]);
    server.post("/api/jobs", &json!({ "command": "up", "path": "star.yaml" }));
    server.socket("/api/events").until(|event| event["event"] == "labs" && event["labs"][0]["answers"] == true);
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    wait_until("the end of the lab", || !fixture.netloom(&["ps"]).expect_code(0).stdout.contains("star"));
    fixture.assert_nothing_is_left("star");
}

#[test]
fn a_lab_is_taken_down_with_its_verdict() {
    let (fixture, server) = up(User::Own);
    let down = server.ask("DELETE", "/api/labs/star", b"").good();
    assert_eq!((&down["killed"], &down["report"]["lab"]), (&json!(false), &json!("star")), "{down}");
    // Kernels may have said something by themselves by then.
    let is_idle = down["report"]["pipes"].as_array().unwrap().iter().all(|pipe| pipe["departed_packets"] == 0);
    assert_eq!(down["report"]["verdict"]["verdict"] == "not judged", is_idle, "{down}");
    drop(server);
    fixture.assert_nothing_is_left("star");
}

#[test]
fn others_reach_the_lab_that_is_shared_and_no_other() {
    let (fixture, alone) = up(User::Own);
    drop(alone);
    fixture.write("other.yaml", LAB);
    fixture.netloom(&["up", "other.yaml"]).expect_code(0);
    let mut child = fixture
        .command(&["ui", "star", "--share", "127.0.0.1"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let out = std::io::BufReader::new(child.stdout.take().unwrap());
    let links: Vec<String> = out.lines().take(3).map(Result::unwrap).collect();
    let asked = |link: &str, path: &str| {
        let (place, token) = link.split_once("/?token=").unwrap();
        let bearer = format!("Authorization: Bearer {token}");
        let done = std::process::Command::new("curl")
            .args(["-sk", "-w", " %{http_code}", "-H", &bearer, &format!("{place}{path}")])
            .output()
            .unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    let (own, theirs) = (&links[0], &links[1]);
    let labs = |link: &str| asked(link, "/api/labs").matches("\"answers\":true").count();
    assert_eq!((labs(own), labs(theirs)), (2, 1));
    for (path, status) in [
        ("/api/labs/star/captures/far/command", "200"),
        ("/api/labs/other/captures/far/command", "404"),
        ("/api/labs/other/captures/far?seconds=1", "404"),
        ("/api/files/star.yaml", "200"),
        ("/api/files/other.yaml", "403"),
    ] {
        let answer = asked(theirs, path);
        assert!(answer.ends_with(status), "{path}: {answer}");
    }
    // curl is told the key of the certificate that was made, and the token goes nowhere else.
    let command = asked(theirs, "/api/labs/star/captures/far/command");
    assert!(command.contains("--pinnedpubkey"), "{command}");
    assert!(!asked(theirs, "/api/results").contains("other:") && asked(own, "/api/results").contains("other:"));
    child.kill().unwrap();
    child.wait().unwrap();
    fixture.netloom(&["down", "--all"]).expect_code(0);
}

#[test]
fn lab_time_is_held_and_let_go_on() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("star.yaml", LAB);
    fixture.netloom(&["up", "star.yaml", "--clock", "virtual"]).expect_code(0);
    let server = Server::start(&fixture, &["star"]);
    let mut control = server.socket("/api/labs/star/control");
    assert_eq!(control.ask(r#"{"request":"now"}"#)["paused"], true);
    let there = control.ask(r#"{"request":"advance","by_ns":100000000}"#);
    assert_eq!((&there["since_zero_ns"], &there["paused"]), (&json!(100_000_000), &json!(true)));
    assert_eq!(control.ask(r#"{"request":"resume"}"#)["paused"], false);
    assert_eq!(control.ask(r#"{"request":"pause"}"#)["paused"], true);
    drop(server);
    fixture.netloom(&["down"]).expect_code(0);
}
