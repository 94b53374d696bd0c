//! Lab files over `netloom ui`: read, written, checked and converted.

use crate::fixture::{Fixture, User};
use crate::page::Server;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

const LAB: &str = "# kept\nnodes: [a, b]\nlinks: {l: {ends: [a, b], rate: 10 Mbit/s}}\n";

fn served() -> (Fixture, Server) {
    let fixture = Fixture::new(User::Own);
    fixture.write("lab.yaml", LAB);
    let server = Server::start(&fixture, &["lab.yaml"]);
    (fixture, server)
}

fn put(server: &Server, path: &str, condition: (&str, &str), text: &str) -> crate::page::Answer {
    let cookie = format!("netloom-{}={}", server.port, server.token);
    server.send("PUT", path, &[("Cookie", &cookie), condition], text.as_bytes())
}

#[test]
fn a_file_that_changed_on_disk_is_not_lost() {
    let (fixture, server) = served();
    let read = server.ask("GET", "/api/files/lab.yaml", b"");
    assert_eq!((read.status, read.text().as_str()), (200, LAB));
    let etag = read.header("etag").unwrap().to_owned();
    // Without a word on what it is based on, nothing is written.
    assert_eq!(server.ask("PUT", "/api/files/lab.yaml", b"x").status, 428);
    fixture.write("lab.yaml", "# by somebody else\n");
    let refused = put(&server, "/api/files/lab.yaml", ("If-Match", &etag), "# by the page\n");
    assert_eq!(refused.status, 412);
    let there = refused.json();
    assert_eq!(there["text"], "# by somebody else\n");
    let tag = there["etag"].as_str().unwrap();
    let written = put(&server, "/api/files/lab.yaml", ("If-Match", tag), "# by both\n").good();
    assert_eq!(fs::read_to_string(fixture.work().join("lab.yaml")).unwrap(), "# by both\n");
    assert!(written["etag"].is_string());
    assert_eq!(put(&server, "/api/files/lab.yaml", ("If-None-Match", "*"), "x").status, 412);
    put(&server, "/api/files/new.yaml", ("If-None-Match", "*"), "# new\n").good();
    assert_eq!(put(&server, "/api/files/new.yaml", ("If-Match", "\"0\""), "x").status, 412);
}

#[test]
fn no_file_outside_the_folder_is_read_or_written() {
    let (fixture, server) = served();
    fs::write(fixture.path().join("secret.yaml"), "secret").unwrap();
    symlink("../secret.yaml", fixture.work().join("link.yaml")).unwrap();
    symlink("/", fixture.work().join("root")).unwrap();
    for path in [
        "../secret.yaml",
        "%2e%2e/secret.yaml",
        "..%2fsecret.yaml",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "link.yaml",
        "root/etc/passwd",
        "lab.yaml%00",
    ] {
        let answer = server.ask("GET", &format!("/api/files/{path}"), b"");
        assert!([403, 404].contains(&answer.status) && !answer.text().contains("root:"), "{path}: {answer:?}");
        let written = put(&server, &format!("/api/files/{path}"), ("If-None-Match", "*"), "x");
        assert!([403, 404].contains(&written.status), "{path}: {written:?}");
        let checked = server.ask(
            "POST",
            "/api/check",
            json!({ "path": path.replace("%2e", ".").replace("%2f", "/").replace("%00", "\0") }).to_string().as_bytes(),
        );
        assert!([403, 404].contains(&checked.status), "{path}: {checked:?}");
    }
    assert_eq!(fs::read_to_string(fixture.path().join("secret.yaml")).unwrap(), "secret");
}

#[test]
fn what_is_no_lab_file_is_neither_read_nor_written() {
    let (fixture, server) = served();
    for (path, text) in [
        (".env", "PASSWORD=nodes"),
        (".ssh/id_ed25519", "PRIVATE-KEY"),
        ("package.json", "{\"name\": \"x\", \"version\": \"1\"}"),
        ("secrets.yaml", "kind: Secret\ndata: {nodes: x}\n"),
    ] {
        let file = fixture.work().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let read = server.ask("GET", &format!("/api/files/{path}"), b"");
        assert_eq!(read.status, 403, "{path}: {}", read.text());
        let checked = server.ask("POST", "/api/check", json!({ "path": path }).to_string().as_bytes());
        assert!(checked.status == 403 && !checked.text().contains(text), "{path}: {}", checked.text());
        for command in ["run", "up", "sim"] {
            let job = json!({ "command": command, "path": path }).to_string();
            assert_eq!(server.ask("POST", "/api/jobs", job.as_bytes()).status, 403, "{path}");
        }
    }
    nix::unistd::mkfifo(&fixture.work().join("pipe.yaml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for path in [".bashrc", ".config/x.yaml", "run.sh", "pipe.yaml"] {
        let written = put(&server, &format!("/api/files/{path}"), ("If-None-Match", "*"), "nodes: [x]\n");
        assert_eq!(written.status, 403, "{path}: {}", written.text());
    }
    use std::os::unix::fs::FileTypeExt;
    assert!(fs::metadata(fixture.work().join("pipe.yaml")).unwrap().file_type().is_fifo());
    let listed = server.get("/api/files");
    let paths: Vec<&str> =
        listed["files"].as_array().unwrap().iter().filter_map(|file| file["path"].as_str()).collect();
    assert_eq!(paths, ["lab.yaml"]);
}

#[test]
fn pages_hear_of_files_that_change() {
    let (fixture, server) = served();
    let mut events = server.socket("/api/events");
    // A page is told what is there before it hears of what changes.
    events.until(|event| event["event"] == "files");
    fixture.write("lab.yaml", "# another\n");
    let changed = events.until(|event| event["event"] == "file");
    let read = server.ask("GET", "/api/files/lab.yaml", b"");
    assert_eq!(read.header("etag"), changed["etag"].as_str());
    fs::remove_file(fixture.work().join("lab.yaml")).unwrap();
    assert_eq!(events.until(|event| event["event"] == "file")["etag"], Value::Null);
    fixture.write("other.yaml", LAB);
    events.until(|event| event["event"] == "files");
    assert_eq!(server.get("/api/files")["files"][0]["path"], "other.yaml");
    server.interrupt();
    assert_eq!(events.closed().0, 1001);
}

#[test]
fn a_text_is_checked_as_if_it_stood_in_its_file() {
    let (_fixture, server) = served();
    let good = server.post("/api/check", &json!({ "path": "lab.yaml" }));
    assert_eq!((&good["ok"], &good["plan"]["name"]), (&json!(true), &json!("lab")), "{good}");
    assert_eq!(good["scene"]["nodes"].as_array().unwrap().len(), 2);
    let text = "nodes: {'<img src=x onerror=alert(1)>': {}}\n";
    let wrong = server.post("/api/check", &json!({ "path": "lab.yaml", "text": text }));
    assert_eq!(wrong["ok"], false);
    assert!(wrong["errors"][0]["line"] == 1 && wrong["tree"]["map"].is_array(), "{wrong}");
    let keys = server.get("/api/keys");
    assert!(keys["sections"]["link"]["keys"].as_array().unwrap().len() > 5, "{}", keys["sections"]["link"]);
    assert_eq!(server.get("/api/schema")["title"], "Netloom lab");
}

#[test]
fn networks_are_generated_converted_and_exported() {
    let (_fixture, server) = served();
    let generators = server.get("/api/generators");
    assert!(generators["generators"].as_array().unwrap().iter().any(|one| one["kind"] == "ring"));
    let ring = server.post("/api/generate", &json!({ "kind": "ring", "keys": { "n": "5" } }));
    assert_eq!(ring["scene"]["links"].as_array().unwrap().len(), 5 + 5, "a ring with a host at each router: {ring}");
    let text = ring["text"].as_str().unwrap();
    let dot = server.post("/api/export", &json!({ "path": "ring.yaml", "text": text, "to": "graphml" }));
    let back = server.post("/api/convert", &json!({ "name": "ring.graphml", "text": dot["text"] }));
    assert_eq!(back["format"], "graphml");
    let hostile = json!({ "kind": "ring", "keys": { "n": "5\nnodes: {}" } });
    assert_eq!(server.ask("POST", "/api/generate", hostile.to_string().as_bytes()).status, 400);
    let wrong = json!({ "kind": "ring", "keys": { "n": "-1" } });
    let refused = server.ask("POST", "/api/generate", wrong.to_string().as_bytes());
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert!(refused.json()["errors"][0]["message"].is_string());
    let broken = json!({ "name": "x.graphml", "text": "<graphml>" });
    assert_eq!(server.ask("POST", "/api/convert", broken.to_string().as_bytes()).status, 422);
}
