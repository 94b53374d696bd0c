//! What each role may ask, from one table: a route that is not in it fails these tests.

use super::*;
use crate::air_logs::AirLogs;
use crate::air_maps::AirMaps;
use crate::connections::Connections;
use crate::jobs::Jobs;
use crate::journals::Journals;
use crate::lab_files::LabFiles;
use crate::listen::listen;
use crate::names::Names;
use crate::results_index::ResultsIndex;
use crate::scope::Scope;
use crate::shares::{Limits, Shares};
use crate::turns::Turns;
use crate::visitors::Visitors;
use crate::world::World;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use std::collections::BTreeSet;
use std::fs;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

/// A request, its route, its body, and with which status it is answered to each role: look, use, edit. 400 of a GET: it is no WebSocket, and whoever may ask gets that answer.
struct Row {
    method: &'static str,
    route: &'static str,
    asked: &'static str,
    body: &'static str,
    statuses: [u16; 3],
}

const fn row(
    method: &'static str,
    route: &'static str,
    asked: &'static str,
    body: &'static str,
    statuses: [u16; 3],
) -> Row {
    Row { method, route, asked, body, statuses }
}

/// Who may read may be answered with one status, whoever it is.
const fn all(status: u16) -> [u16; 3] {
    [status; 3]
}

const CHECK: &str = r#"{"path": "lab.yaml"}"#;
const CHECK_OF_HIDDEN: &str = r#"{"path": ".env"}"#;
const CHECK_OF_TEXT: &str = r#"{"path": "lab.yaml", "text": "nodes: [a]"}"#;

/// The decisions: each route, and what is behind it for whom.
const TABLE: &[Row] = &[
    row("GET", "/api/state", "/api/state", "", all(200)),
    row("GET", "/api/events", "/api/events", "", all(400)),
    row("GET", "/api/labs", "/api/labs", "", all(200)),
    row("GET", "/api/labs/{lab}/control", "/api/labs/none/control", "", all(400)),
    row("GET", "/api/files", "/api/files", "", all(200)),
    row("GET", "/api/files/{*path}", "/api/files/lab.yaml", "", all(200)),
    row("GET", "/api/files/{*path}", "/api/files/..%2fsecret.yaml", "", all(403)),
    row("GET", "/api/files/{*path}", "/api/files/.env", "", all(403)),
    row("GET", "/api/files/{*path}", "/api/files/none.yaml", "", all(404)),
    row("POST", "/api/check", "/api/check", CHECK, all(200)),
    row("POST", "/api/check", "/api/check", CHECK_OF_TEXT, [403, 403, 200]),
    row("POST", "/api/check", "/api/check", CHECK_OF_HIDDEN, all(403)),
    row("GET", "/api/schema", "/api/schema", "", all(200)),
    row("GET", "/api/schema/protocol", "/api/schema/protocol", "", all(200)),
    row("GET", "/api/keys", "/api/keys", "", all(200)),
    row("GET", "/api/lessons", "/api/lessons", "", all(200)),
    row("GET", "/api/formats", "/api/formats", "", all(200)),
    row("GET", "/api/generators", "/api/generators", "", all(200)),
    row("GET", "/api/jobs", "/api/jobs", "", all(200)),
    row("GET", "/api/jobs/{id}", "/api/jobs/7", "", all(404)),
    row("GET", "/api/results", "/api/results", "", all(200)),
    row("GET", "/api/results/{id}", "/api/results/x:y", "", all(404)),
    row("GET", "/api/results/{id}/files/{*path}", "/api/results/x:y/files/report.json", "", all(404)),
    row("GET", "/api/results/{id}/journal", "/api/results/x:y/journal", "", all(404)),
    row("GET", "/api/results/{id}/air", "/api/results/x:y/air?from_ns=0&to_ns=1", "", all(404)),
    row("GET", "/api/results/{id}/map", "/api/results/x:y/map?at_ns=0", "", all(404)),
    row("GET", "/api/results/{id}/journal/packets", "/api/results/x:y/journal/packets?from_ns=0&to_ns=1", "", all(404)),
    row("GET", "/api/labs/{lab}/nodes/{node}/terminal", "/api/labs/none/nodes/a/terminal", "", [403, 400, 400]),
    row("GET", "/api/labs/{lab}/terminals", "/api/labs/none/terminals", "", [403, 404, 200]),
    row("GET", "/api/labs/{lab}/captures/{link}", "/api/labs/none/captures/l", "", [403, 404, 404]),
    row("GET", "/api/labs/{lab}/captures/{link}/command", "/api/labs/none/captures/l/command", "", [403, 404, 200]),
    row("DELETE", "/api/labs/{lab}", "/api/labs/none", "", [403, 403, 404]),
    row("PUT", "/api/files/{*path}", "/api/files/lab.yaml", "nodes: []", [403, 403, 428]),
    row("POST", "/api/convert", "/api/convert", "{}", [403, 403, 400]),
    row("POST", "/api/export", "/api/export", "{}", [403, 403, 400]),
    row("POST", "/api/format", "/api/format", "{}", [403, 403, 400]),
    row("POST", "/api/generate", "/api/generate", "{}", [403, 403, 400]),
    row("POST", "/api/jobs", "/api/jobs", "{}", [403, 403, 400]),
    row("DELETE", "/api/jobs/{id}", "/api/jobs/7", "", [403, 403, 404]),
    row("GET", "/api/visitors", "/api/visitors", "", [403, 403, 200]),
    row("DELETE", "/api/visitors/{id}", "/api/visitors/70", "", [403, 403, 404]),
    row("POST", "/api/links/{role}", "/api/links/teacher", "{}", [403, 403, 400]),
];

/// Files of a server, and what it answers.
struct Asked {
    _folder: TempDir,
    app: Arc<App>,
    service: TowerToHyperService<Router>,
    /// Of a server that ends it would be true.
    _end: watch::Sender<bool>,
}

const LAB: &str = "nodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n";

impl Asked {
    fn new() -> Self {
        Self::with(Scope::Folder)
    }

    fn with(scope: Scope) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let labs = folder.path().join("labs");
        fs::create_dir(&labs).unwrap();
        fs::write(labs.join("lab.yaml"), LAB).unwrap();
        fs::write(folder.path().join("secret.yaml"), LAB).unwrap();
        fs::write(labs.join("other.yaml"), LAB).unwrap();
        fs::write(labs.join(".env"), "PASSWORD=nodes").unwrap();
        let (end, ending) = watch::channel(false);
        let results_index = ResultsIndex::new(&folder.path().join("results"), None);
        let few = Limits { all: 2, role: 1, address: 1, one: 1 };
        let at = std::net::IpAddr::from([127, 0, 0, 1]);
        let app = Arc::new(App {
            names: Names { scheme: "http", port: 8_000, is_shared: true, names: Vec::new(), at, pin: None },
            visitors: Arc::new(Visitors::new(&Role::ALL).unwrap()),
            opened: None,
            scope,
            labs: Some(Arc::new(LabFiles::open(&labs, results_index.root()).unwrap())),
            results_index,
            journals: Journals::default(),
            air_maps: AirMaps::default(),
            air_logs: AirLogs::default(),
            jobs: Arc::new(Jobs::new("/nonexistent/netloom".into(), false)),
            world: World::new(),
            connections: Connections::new(),
            sockets: Shares::new("WebSockets", few),
            terminals: Shares::new("terminals", few),
            captures: Shares::new("captures", few),
            shells: Arc::default(),
            others: Arc::new(Semaphore::new(1)),
            turns: Turns::new(),
            ending,
        });
        let service = TowerToHyperService::new(router(Arc::clone(&app)));
        Self { _folder: folder, app, service, _end: end }
    }

    fn token(&self, role: Role) -> String {
        self.app.visitors.links().into_iter().find(|(own, _)| *own == role).map(|(_, token)| token).unwrap()
    }

    async fn status(&self, row: &Row, method: &Method, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method(method).uri(row.asked);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "127.0.0.1:8000");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.service.call(request.body(Body::from(row.body)).unwrap()).await.unwrap();
        let status = response.status();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST) {
            let body = to_bytes(response.into_body(), 1 << 16).await.unwrap();
            let text = String::from_utf8_lossy(&body);
            assert!(
                *method == Method::HEAD || text.starts_with(r#"{"message":"#),
                "{} {}: {text}",
                row.method,
                row.asked
            );
            assert!(!text.contains("nodes"), "{} {}: {text}", row.method, row.asked);
        }
        status.as_u16()
    }
}

fn method(row: &Row) -> Method {
    row.method.parse().unwrap()
}

#[test]
fn every_route_has_a_decision_for_each_role() {
    let decided: BTreeSet<(&str, &str)> = TABLE.iter().map(|row| (row.method, row.route)).collect();
    let served: BTreeSet<(&str, &str)> = routes().iter().map(|route| (route.method, route.path)).collect();
    assert_eq!(served, decided, "a route and this table differ: decide in TABLE what each role may");
    assert_eq!(served.len(), routes().len(), "a route stands twice");
    for route in routes() {
        let least = TABLE.iter().filter(|row| (row.method, row.route) == (route.method, route.path));
        let refused = least.map(|row| row.statuses.iter().filter(|status| **status == 403).count()).min().unwrap();
        // Who is refused by the route itself, and not by what was asked of it.
        let by_role = Role::ALL.iter().filter(|role| **role < route.least).count();
        assert_eq!(refused, by_role, "{} {}", route.method, route.path);
    }
}

#[tokio::test]
async fn each_role_is_answered_as_the_table_says() {
    let asked = Asked::new();
    for row in TABLE {
        for (role, status) in Role::ALL.into_iter().zip(row.statuses) {
            let bearer = format!("Bearer {}", asked.token(role));
            let given = asked.status(row, &method(row), &[("authorization", &bearer)]).await;
            assert_eq!(given, status, "{} {} as {}", row.method, row.asked, role.name());
            let cookie = format!("netloom-8000={}", asked.token(role));
            let own = [("cookie", cookie.as_str()), ("origin", "http://127.0.0.1:8000")];
            assert_eq!(asked.status(row, &method(row), &own).await, status, "{} {}", row.method, row.asked);
            // A HEAD needs what its GET needs.
            if row.method == "GET" && status == 403 {
                assert_eq!(asked.status(row, &Method::HEAD, &own).await, 403, "HEAD {}", row.asked);
            }
        }
    }
}

#[tokio::test]
async fn strangers_are_refused_at_every_route() {
    let asked = Asked::new();
    let bearer = format!("Bearer {}", asked.token(Role::Edit));
    let own = ("authorization", bearer.as_str());
    let wrong_bearer = format!("Bearer {}", "0".repeat(40));
    let other_port = format!("netloom-8001={}", asked.token(Role::Edit));
    let refusals: &[(u16, &[(&str, &str)])] = &[
        (401, &[]),
        (401, &[("authorization", &wrong_bearer)]),
        (401, &[("authorization", &asked.token(Role::Edit))]),
        (401, &[("cookie", "netloom-8000=0")]),
        (401, &[("cookie", &other_port)]),
        (421, &[own, ("host", "evil.example:8000")]),
        (421, &[own, ("host", "127.0.0.1:8001")]),
        (421, &[own, ("host", "")]),
        (403, &[own, ("origin", "http://evil.example")]),
        (403, &[own, ("origin", "null")]),
        (403, &[own, ("origin", "http://127.0.0.1:8001")]),
        (403, &[own, ("sec-fetch-site", "cross-site")]),
        (403, &[own, ("sec-fetch-site", "same-site")]),
        (403, &[own, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]),
    ];
    // What is no route, and the page itself but for links that lead to it, too.
    let more = [row("GET", "", "/api/nothing", "", all(0)), row("PATCH", "", "/api/files/lab.yaml", "", all(0))];
    for row in TABLE.iter().chain(&more) {
        for (status, headers) in refusals {
            let given = asked.status(row, &method(row), headers).await;
            assert_eq!(given, *status, "{} {} with {headers:?}", row.method, row.asked);
        }
    }
    for path in ["/", "/assets/index.js", "/replay/moment"] {
        let row = row("GET", "", path, "", all(0));
        for (status, headers) in refusals.iter().filter(|(_, headers)| headers.len() < 3) {
            assert_eq!(asked.status(&row, &Method::GET, headers).await, *status, "{path} with {headers:?}");
        }
    }
}

#[tokio::test]
async fn what_is_refused_has_done_nothing() {
    let asked = Asked::new();
    let bearer = format!("Bearer {}", asked.token(Role::Use));
    let headers = [("authorization", bearer.as_str()), ("if-none-match", "*")];
    let new = row("PUT", "", "/api/files/new.yaml", "nodes: [x]", all(403));
    assert_eq!(asked.status(&new, &Method::PUT, &headers).await, 403);
    let read = row("GET", "", "/api/files/new.yaml", "", all(404));
    assert_eq!(asked.status(&read, &Method::GET, &headers).await, 404);
    let edit = format!("Bearer {}", asked.token(Role::Edit));
    let allowed = [("authorization", edit.as_str()), ("if-none-match", "*")];
    assert_eq!(asked.status(&new, &Method::PUT, &allowed).await, 200);
    assert_eq!(asked.status(&read, &Method::GET, &headers).await, 200);
}

#[tokio::test]
async fn others_reach_what_is_shared_and_nothing_else() {
    let asked = Asked::with(Scope::Lab { name: "lab".into(), file: Some("lab.yaml".into()) });
    let other = r#"{"path": "other.yaml"}"#;
    let rows = [
        row("GET", "", "/api/files/lab.yaml", "", all(200)),
        row("GET", "", "/api/files/other.yaml", "", [403, 403, 200]),
        row("POST", "", "/api/check", CHECK, all(200)),
        row("POST", "", "/api/check", other, [403, 403, 200]),
    ];
    for row in &rows {
        for (role, status) in Role::ALL.into_iter().zip(row.statuses) {
            let bearer = format!("Bearer {}", asked.token(role));
            let given = asked.status(row, &method(row), &[("authorization", &bearer)]).await;
            assert_eq!(given, status, "{} {} as {}", row.method, row.asked, role.name());
        }
    }
}

#[tokio::test]
async fn a_target_that_names_another_machine_is_refused() {
    let asked = Asked::new();
    let bearer = format!("Bearer {}", asked.token(Role::Edit));
    for (target, status) in [
        ("http://127.0.0.1:8000/api/labs", 200),
        ("http://evil.example:8000/api/labs", 421),
        ("http://evil.example/api/labs", 421),
        ("http://127.0.0.1:8000@evil.example/api/labs", 421),
    ] {
        let row = row("GET", "", target, "", all(status));
        assert_eq!(asked.status(&row, &Method::GET, &[("authorization", &bearer)]).await, status, "{target}");
    }
}

#[tokio::test]
async fn who_comes_by_a_link_says_a_name_and_can_be_sent_away() {
    let asked = Asked::new();
    let call = async |uri: &str, cookie: &str| {
        let request = Request::builder().uri(uri).header("host", "127.0.0.1:8000").header("cookie", cookie);
        asked.service.call(request.body(Body::empty()).unwrap()).await.unwrap()
    };
    let link = format!("/?token={}", asked.token(Role::Use));
    let page = call(&link, "").await;
    assert!(page.status() == StatusCode::OK && page.headers().get("set-cookie").is_none());
    let text = to_bytes(page.into_body(), 1 << 16).await.unwrap();
    assert!(String::from_utf8_lossy(&text).contains("Your name"));
    assert_eq!(call(&format!("{link}&name=%00"), "").await.status(), StatusCode::BAD_REQUEST);
    let entered = call(&format!("{link}&name=Ada+L."), "").await;
    assert_eq!(entered.status(), StatusCode::SEE_OTHER);
    let cookie = entered.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    assert!(!cookie.contains(&asked.token(Role::Use)), "the token is their own");
    // By the link again, they are who they were.
    assert_eq!(call(&link, &cookie).await.status(), StatusCode::SEE_OTHER);
    let state = to_bytes(call("/api/state", &cookie).await.into_body(), 1 << 16).await.unwrap();
    let state: serde_json::Value = serde_json::from_slice(&state).unwrap();
    assert_eq!((&state["name"], &state["role"]), (&"Ada L.".into(), &"use".into()));
    let id = asked.app.visitors.described()[0]["id"].as_u64().unwrap();
    asked.app.visitors.send_away(id).unwrap();
    assert_eq!(call("/api/state", &cookie).await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn others_send_no_long_bodies() {
    let asked = Asked::new();
    let long = "x".repeat(LONGEST_OF_OTHERS + 1);
    for (role, status) in Role::ALL.into_iter().zip([413, 413, 400]) {
        let request = Request::builder().method("POST").uri("/api/check").header("host", "127.0.0.1:8000");
        let request = request.header("authorization", format!("Bearer {}", asked.token(role)));
        let response = asked.service.call(request.body(Body::from(long.clone())).unwrap()).await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{}", role.name());
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let slow = Body::from_stream(futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let request = Request::builder().method("POST").uri("/api/check").body(slow).unwrap();
    let refusal = whole(Role::Look, request, Duration::from_millis(10)).await.unwrap_err();
    assert_eq!(refusal.into_response().status(), StatusCode::REQUEST_TIMEOUT);
}

/// What is answered to a request over a connection of its own.
async fn over(place: std::net::SocketAddr, request: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(place).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 12];
    let read = tokio::time::timeout(Duration::from_secs(30), stream.read_exact(&mut answer)).await.unwrap();
    let answer = read.map_or_else(|error| error.to_string(), |_| String::from_utf8_lossy(&answer).into_owned());
    (stream, answer)
}

#[tokio::test]
async fn slow_bodies_and_silent_connections_keep_nobody_out() {
    let asked = Asked::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap();
    let connections = Arc::clone(&asked.app.connections);
    let served = listen(listener, None, router(Arc::clone(&asked.app)), connections, asked.app.ending.clone());
    tokio::spawn(served);
    let request = |method: &str, path: &str, role: Role, more: &str| {
        let token = asked.token(role);
        format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAuthorization: Bearer {token}\r\n{more}\r\n")
    };
    let slow = request("POST", "/api/check", Role::Look, "Content-Length: 60000\r\n") + "{";
    let mut held = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(place).await.unwrap();
        stream.write_all(slow.as_bytes()).await.unwrap();
        held.push(stream);
    }
    for _ in 0..200 {
        held.push(TcpStream::connect(place).await.unwrap());
    }
    for _ in 0..3 {
        let (stream, answer) = over(place, &request("GET", "/api/state", Role::Edit, "")).await;
        assert_eq!(answer, "HTTP/1.1 200");
        held.push(stream);
    }
    let (_refused, answer) = over(place, &request("GET", "/api/state", Role::Look, "")).await;
    assert_eq!(answer, "HTTP/1.1 429");
    // Another role, and so another student, has a share of their own.
    assert_eq!(over(place, &request("GET", "/api/state", Role::Use, "")).await.1, "HTTP/1.1 200");
}
