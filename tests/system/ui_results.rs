//! Results over `netloom ui`: listed, read in parts, replayed; also those that somebody has damaged.

use crate::fixture::{Fixture, User};
use crate::page::Server;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

const LAB: &str = "
nodes: [a, b]
links: {l: {ends: [a, b], rate: 10 Mbit/s, delay: 5 ms, queue: 10 packets}}
traffic:
  - {kind: constant, from: a, to: b, rate: 12 Mbit/s, size: 1200 B}
journal: all
";

fn simulated() -> (Fixture, Server) {
    let fixture = Fixture::new(User::Own);
    fixture.write("lab.yaml", LAB);
    let server = Server::start(&fixture, &["lab.yaml"]);
    let mut events = server.socket("/api/events");
    server.post("/api/jobs", &json!({ "command": "sim", "path": "lab.yaml", "seed": 7 }));
    let over = events.until(|event| event["event"] == "job" && event["job"]["state"] == "over");
    assert_eq!(over["job"]["exit_code"], 0, "{over}");
    (fixture, server)
}

fn journal(server: &Server, id: &str) -> Value {
    let begun = Instant::now();
    loop {
        let overview = server.get(&format!("/api/results/{id}/journal"));
        if overview["state"] != "reading" {
            return overview;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "it is never read: {overview}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_can_be_replayed() {
    let (fixture, server) = simulated();
    let list = server.get("/api/results");
    let one = &list["results"][0];
    assert_eq!(
        (&one["lab"], &one["has_journal"], &one["state"]),
        (&json!("lab"), &json!(true), &json!("over")),
        "{list}"
    );
    let id = one["id"].as_str().unwrap();
    let run = server.get(&format!("/api/results/{id}"));
    assert_eq!((&run["data"]["kind"], &run["scene"]["nodes"][0]["name"]), (&json!("sim"), &json!("a")));
    let overview = journal(&server, id);
    assert_eq!((&overview["state"], &overview["problem"]), (&json!("complete"), &Value::Null), "{overview}");
    let packets = overview["packets"].as_u64().unwrap();
    let counted = fixture.netloom(&["journal", "results/lab/latest", "--summary", "--json"]).expect_code(0);
    let counted: Value = serde_json::from_str(&counted.stdout).unwrap();
    let sum: u64 = counted.as_array().unwrap().iter().map(|pipe| pipe["packets"].as_u64().unwrap()).sum();
    assert_eq!(packets, sum);
    let found =
        server.ask("GET", &format!("/api/results/{id}/journal/packets?from_ns=1000000000&to_ns=1001000000"), b"");
    assert_eq!((found.status, &found.body[..4]), (200, &b"NLJ1"[..]));
    let count = u32::from_le_bytes(found.body[4..8].try_into().unwrap()) as usize;
    // 10 packets in the queue, one in transmission, and 5 ms of the wire.
    assert!((10..25).contains(&count), "{count}");
    assert_eq!(found.body.len(), 32 + 70 * count);
    let column = |number: usize, row: usize| {
        let at = 32 + 8 * (number * count + row);
        f64::from_le_bytes(found.body[at..at + 8].try_into().unwrap())
    };
    for row in 0..count {
        assert!(column(0, row) <= 1_001_000_000.0 && (column(4, row).is_nan() || column(4, row) >= 1_000_000_000.0));
    }
    let dropped = server.ask(
        "GET",
        &format!("/api/results/{id}/journal/packets?from_ns=0&to_ns=10000000000&happened=dropped"),
        b"",
    );
    assert!(u32::from_le_bytes(dropped.body[4..8].try_into().unwrap()) > 0);
    assert_eq!(server.ask("GET", &format!("/api/results/{id}/journal/packets?from_ns=x&to_ns=1"), b"").status, 400);
}

#[test]
fn files_come_in_parts_and_markup_in_an_origin_of_its_own() {
    let (fixture, server) = simulated();
    let id = server.get("/api/results")["results"][0]["id"].as_str().unwrap().to_owned();
    let folder = fixture.latest("lab");
    let whole = fs::read(folder.join("report.json")).unwrap();
    let cookie = format!("netloom-{}={}", server.port, server.token);
    let path = format!("/api/results/{id}/files/report.json");
    assert_eq!(server.ask("GET", &path, b"").body, whole);
    let part = server.send("GET", &path, &[("Cookie", &cookie), ("Range", "bytes=5-14")], b"");
    assert_eq!((part.status, part.body), (206, whole[5..15].to_vec()));
    let beyond = server.send("GET", &path, &[("Cookie", &cookie), ("Range", "bytes=99999999-")], b"");
    assert_eq!(beyond.status, 416);
    let report = server.ask("GET", &format!("/api/results/{id}/files/report.html"), b"");
    assert!(report.header("content-security-policy").unwrap().starts_with("sandbox"), "{}", report.head);
    // Of an origin that is nobody's, nothing is taken.
    let asked = server.send("GET", "/api/labs", &[("Cookie", &cookie), ("Origin", "null")], b"");
    assert_eq!(asked.status, 403);
    symlink("/etc/passwd", folder.join("secret")).unwrap();
    for outside in ["secret", "..%2f..%2f..%2flab.yaml", "../../lab.yaml", "%2fetc%2fpasswd", "plots", "none"] {
        let answer = server.ask("GET", &format!("/api/results/{id}/files/{outside}"), b"");
        assert!([403, 404].contains(&answer.status), "{outside}: {answer:?}");
    }
    for other in ["lab:latest", "..:lab", "lab:..", "lab:", ":", "lab", "given", "lab:%2e%2e", "lab%2f..:x", "%00:x"] {
        assert_eq!(server.ask("GET", &format!("/api/results/{other}"), b"").status, 404, "{other}");
    }
}

#[test]
fn a_damaged_results_folder_is_shown_as_far_as_it_is_sound() {
    let (fixture, server) = simulated();
    let whole = server.get("/api/results")["results"][0]["id"].as_str().unwrap().to_owned();
    let packets = journal(&server, &whole)["packets"].as_u64().unwrap();
    let folder = fixture.latest("lab");
    let journal_path = folder.join("journal.arrows");
    let bytes = fs::read(&journal_path).unwrap();
    fs::write(&journal_path, &bytes[..bytes.len() - 20]).unwrap();
    let cut = journal(&server, &whole);
    assert_eq!(cut["state"], "unfinished", "{cut}");
    assert!(cut["packets"].as_u64().unwrap() < packets && cut["problem"].is_string());
    let mut damaged = bytes.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xaa);
    fs::write(&journal_path, damaged).unwrap();
    assert_eq!(journal(&server, &whole)["state"], "damaged");
    fs::write(&journal_path, "nothing").unwrap();
    assert_eq!(server.ask("GET", &format!("/api/results/{whole}/journal"), b"").status, 422);
    fs::remove_file(&journal_path).unwrap();
    assert_eq!(server.ask("GET", &format!("/api/results/{whole}/journal"), b"").status, 404);
    fs::write(folder.join("samples.csv"), "time_s,link\n\0\0,,,\n").unwrap();
    fs::write(folder.join("report.json"), "{\"lab\": ").unwrap();
    fs::write(folder.join("lab.yaml"), "nodes: [").unwrap();
    let run = server.get(&format!("/api/results/{whole}"));
    assert!(!run["data"]["notes"].as_array().unwrap().is_empty(), "{}", run["data"]["notes"]);
    assert_eq!(run["scene"]["nodes"].as_array().unwrap().len(), 2, "as its plan has it");
    fs::write(folder.join("plan.json"), "{}").unwrap();
    assert!(server.ask("GET", &format!("/api/results/{whole}"), b"").status < 500);
    // A pipe in the place of a file would never end.
    fs::remove_file(folder.join("report.json")).unwrap();
    nix::unistd::mkfifo(&folder.join("report.json"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(server.ask("GET", &format!("/api/results/{whole}/files/report.json"), b"").status, 403);
    assert!(server.ask("GET", &format!("/api/results/{whole}"), b"").status < 500);
}

#[test]
fn a_results_folder_is_served_alone() {
    let (fixture, first) = simulated();
    drop(first);
    let folder = fixture.latest("lab");
    let server = Server::start(&fixture, &[folder.to_str().unwrap()]);
    let state = server.get("/api/state");
    assert_eq!((&state["opened"]["kind"], &state["folder"]), (&json!("results"), &Value::Null));
    let id = state["opened"]["id"].as_str().unwrap();
    assert!(id.starts_with("lab:"), "{id}");
    assert_eq!(server.get("/api/files")["files"], json!([]));
    assert_eq!(server.ask("GET", "/api/files/lab.yaml", b"").status, 404);
    // Elsewhere, under a name of its own.
    let elsewhere = fixture.work().join("elsewhere");
    fs::rename(folder.canonicalize().unwrap(), &elsewhere).unwrap();
    drop(server);
    let moved = Server::start(&fixture, &["elsewhere", "--results", "results"]);
    assert_eq!(moved.get("/api/state")["opened"]["id"], "given");
    assert_eq!(moved.get("/api/results/given")["data"]["lab"], "lab");
    assert_eq!(moved.get("/api/results")["results"][0]["id"], "given");
}
