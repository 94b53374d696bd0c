//! `netloom ui`: who may ask, and what strangers get.

use crate::fixture::{Fixture, User};
use crate::page::Server;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const LAB: &str = "nodes: [a, b]\nlinks: {l: {ends: [a, b], rate: 10 Mbit/s}}\n";

fn served() -> (Fixture, Server) {
    let fixture = Fixture::new(User::Own).among_others();
    fixture.write("lab.yaml", LAB);
    let server = Server::start(&fixture, &["lab.yaml"]);
    (fixture, server)
}

#[test]
fn nothing_is_read_without_the_token() {
    let (_fixture, server) = served();
    for path in ["/", "/assets/x.js", "/api/state", "/api/files/lab.yaml", "/api/labs", "/nowhere"] {
        for headers in [vec![], vec![("Cookie", "netloom-1=x")], vec![("Authorization", "Bearer 0000")]] {
            let answer = server.send("GET", path, &headers, b"");
            assert_eq!(answer.status, 401, "{path} {headers:?}");
            assert!(!answer.text().contains("nodes"), "{}", answer.text());
        }
    }
    assert_eq!(server.send("GET", "/?token=0123", &[], b"").status, 401);
    assert_eq!(server.open("/api/events", &[]).err(), Some(401));
    // A token is for the first request alone, and not for what changes something.
    let path = format!("/api/jobs?token={}", server.token);
    assert_eq!(server.send("POST", &path, &[], b"{}").status, 401);
}

#[test]
fn the_token_becomes_a_cookie() {
    let (_fixture, server) = served();
    let answer = server.send("GET", &format!("/replay?at=5&token={}", server.token), &[], b"");
    assert_eq!((answer.status, answer.header("location")), (303, Some("/replay?at=5")));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with(&format!("netloom-{}={};", server.port, server.token)), "{cookie}");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    // Who follows a link on another site is led on by a page, since a redirect would lose a strict cookie.
    let path = format!("//evil.example/?token={}", server.token);
    let led = server.send("GET", &path, &[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")], b"");
    assert_eq!(led.status, 200);
    assert!(led.text().contains("url=/evil.example/\""), "{}", led.text());
    for asked in ["/\\evil.example/", "//evil.example/"] {
        let stayed = server.send("GET", &format!("{asked}?token={}", server.token), &[], b"");
        let place = stayed.header("location").unwrap();
        assert!(place.starts_with('/') && !place[1..].starts_with(['/', '\\']), "{place}");
    }
    let page = server.ask("GET", "/some/moment", b"");
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(server.ask("GET", "/assets/nothing.js", b"").status, 404);
    assert_eq!(server.ask("GET", "/api/nothing", b"").status, 404);
}

#[test]
fn other_sites_and_other_names_are_refused() {
    let (_fixture, server) = served();
    let cookie = format!("netloom-{}={}", server.port, server.token);
    let own = format!("http://127.0.0.1:{}", server.port);
    let with = |more: &[(&str, &str)], path: &str| {
        let mut headers = vec![("Cookie", cookie.as_str())];
        headers.extend(more);
        server.send("GET", path, &headers, b"").status
    };
    assert_eq!(with(&[("Origin", &own)], "/api/labs"), 200);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost"] {
        assert_eq!(with(&[("Origin", origin)], "/api/labs"), 403, "{origin}");
        let headers = [("cookie", cookie.as_str()), ("origin", origin)];
        assert_eq!(server.open("/api/events", &headers).err(), Some(403), "{origin}");
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(with(&[("Sec-Fetch-Site", site)], "/api/labs"), 403, "{site}");
    }
    // A link on another site may lead to the page.
    assert_eq!(with(&[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")], "/"), 200);
    let evil = format!("evil.example:{}", server.port);
    for host in ["evil.example", evil.as_str(), "192.0.2.1", "127.0.0.1"] {
        assert_eq!(with(&[("Host", host)], "/api/labs"), 421, "{host}");
    }
    let localhost = format!("localhost:{}", server.port);
    for (target, status) in [(localhost.as_str(), 200), (evil.as_str(), 421)] {
        assert_eq!(with(&[("Host", &localhost)], &format!("http://{target}/api/labs")), status, "{target}");
    }
    assert_eq!(with(&[("Host", &localhost)], "/api/labs"), 200);
    let twice = format!(
        "GET /api/labs HTTP/1.1\r\nHost: {localhost}\r\nHost: evil.example\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    );
    assert!((400..500).contains(&server.raw(&twice, b"").status));
}

#[test]
fn what_makes_no_sense_ends_no_server() {
    let (_fixture, server) = served();
    for request in
        ["\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "BREW /api/labs HTTP/1.1\r\nHost: x\r\n\r\n"]
    {
        let answer = server.raw(request, b"");
        assert!(answer.status == 0 || answer.status >= 400, "{request:?}: {}", answer.head);
    }
    let head = format!("GET /{} HTTP/1.1\r\n", "a".repeat(1 << 20));
    assert!(server.raw(&head, b"").status != 200);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (path, body) in [
        ("/api/check", deep.as_bytes()),
        ("/api/jobs", b"{}"),
        ("/api/convert", b"\xff"),
        ("/api/generate", b"{\"kind\": \"x\"}"),
    ] {
        let answer = server.ask("POST", path, body);
        assert_eq!(answer.status, 400, "{path}");
        assert!(answer.json()["message"].is_string());
    }
    assert_eq!(server.ask("POST", "/api/check", &vec![b'x'; 9 << 20]).status, 413);
    // Connections that say nothing are closed, and keep nobody else out meanwhile.
    let mut silent: Vec<TcpStream> =
        (0..200).map(|_| TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
    silent[0].write_all(b"GET / HTTP/1.1\r\n").unwrap();
    assert_eq!(server.get("/api/labs")["labs"].as_array().unwrap().len(), 0);
    let begun = Instant::now();
    silent[0].set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let _ = silent[0].read(&mut [0; 1]);
    assert!(begun.elapsed() < Duration::from_secs(50), "closed after {:?}", begun.elapsed());
    assert_eq!(server.get("/api/state")["role"], "edit");
}

#[test]
fn what_is_shared_has_a_token_for_each_role_and_tls() {
    let fixture = Fixture::new(User::Own);
    fixture.write("lab.yaml", LAB);
    let mut child = fixture
        .command(&["ui", "lab.yaml", "--share", "127.0.0.1"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut lines = Vec::new();
    for _ in 0..3 {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        lines.push(line.trim().to_owned());
    }
    assert!(lines.iter().all(|line| line.starts_with("https://127.0.0.1:")), "{lines:?}");
    let asked = |line: &str, method: &str, path: &str| {
        let (place, token) = line.split_once("/?token=").unwrap();
        let header = format!("Authorization: Bearer {token}");
        let done = std::process::Command::new("curl")
            .args([
                "-sk",
                "-o",
                "/dev/null",
                "-w",
                "%{http_code}",
                "-X",
                method,
                "-H",
                &header,
                "-d",
                "{}",
                &format!("{place}{path}"),
            ])
            .output()
            .unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    for (line, reads, terminal, writes) in
        [(&lines[0], "200", "400", "400"), (&lines[1], "200", "400", "403"), (&lines[2], "200", "403", "403")]
    {
        assert_eq!(asked(line, "GET", "/api/state"), reads);
        // It is no WebSocket, which who may is told.
        assert_eq!(asked(line, "GET", "/api/labs/x/nodes/y/terminal"), terminal);
        assert_eq!(asked(line, "POST", "/api/jobs"), writes);
    }
    let plain =
        Server { port: lines[0].split([':', '/']).nth(4).unwrap().parse().unwrap(), token: String::new(), child };
    assert_eq!(plain.ask("GET", "/", b"").status, 0, "nothing is said without TLS");
}

#[test]
fn what_is_no_file_lab_or_results_folder_is_refused() {
    let fixture = Fixture::new(User::Own);
    std::fs::create_dir(fixture.work().join("folder")).unwrap();
    let unknown = fixture.netloom(&["ui", "nothing"]).expect_code(2);
    assert!(unknown.stderr.contains("neither a file nor a results folder nor a lab that is up"), "{unknown:#?}");
    assert!(fixture.netloom(&["ui", "folder"]).expect_code(2).stderr.contains("no results folder"));
    fixture.netloom(&["ui", "--host", "x"]).expect_code(2);
    fixture.netloom(&["ui", "--share", "192.0.2.1"]).expect_code(4);
    let empty = fixture.write("empty.pem", "");
    let empty = empty.to_str().unwrap();
    let refused =
        fixture.netloom(&["ui", "--share", "127.0.0.1", "--certificate", empty, "--key", empty]).expect_code(2);
    assert!(refused.stderr.contains("has no certificate"), "{refused:#?}");
}
