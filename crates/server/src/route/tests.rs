//! What each role may ask, from one table: a route that is not in it fails these tests.

use super::*;
use crate::folder::Folder;
use crate::jobs::Jobs;
use crate::journals::Journals;
use crate::names::Names;
use crate::shelf::Shelf;
use crate::token::Tokens;
use crate::world::World;
use axum::body::Body;
use axum::http::{Method, StatusCode};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use std::collections::BTreeSet;
use std::fs;
use tempfile::TempDir;
use tokio::sync::{Semaphore, watch};

/// A request, its route, its body, and with which status it is answered to each role: look, use, edit. 400 of a GET: it is no WebSocket, which who may is told.
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
    row("POST", "/api/check", "/api/check", CHECK, all(200)),
    row("POST", "/api/check", "/api/check", CHECK_OF_TEXT, [403, 403, 200]),
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
    row("GET", "/api/results/{id}/journal/packets", "/api/results/x:y/journal/packets?from_ns=0&to_ns=1", "", all(404)),
    row("GET", "/api/labs/{lab}/nodes/{node}/terminal", "/api/labs/none/nodes/a/terminal", "", [403, 400, 400]),
    row("GET", "/api/labs/{lab}/captures/{link}", "/api/labs/none/captures/l", "", [403, 404, 404]),
    row("GET", "/api/labs/{lab}/captures/{link}/command", "/api/labs/none/captures/l/command", "", [403, 200, 200]),
    row("DELETE", "/api/labs/{lab}", "/api/labs/none", "", [403, 403, 404]),
    row("PUT", "/api/files/{*path}", "/api/files/lab.yaml", "nodes: []", [403, 403, 428]),
    row("POST", "/api/convert", "/api/convert", "{}", [403, 403, 400]),
    row("POST", "/api/export", "/api/export", "{}", [403, 403, 400]),
    row("POST", "/api/format", "/api/format", "{}", [403, 403, 400]),
    row("POST", "/api/generate", "/api/generate", "{}", [403, 403, 400]),
    row("POST", "/api/jobs", "/api/jobs", "{}", [403, 403, 400]),
    row("DELETE", "/api/jobs/{id}", "/api/jobs/7", "", [403, 403, 404]),
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
        let folder = tempfile::tempdir().unwrap();
        let labs = folder.path().join("labs");
        fs::create_dir(&labs).unwrap();
        fs::write(labs.join("lab.yaml"), LAB).unwrap();
        fs::write(folder.path().join("secret.yaml"), LAB).unwrap();
        let (end, ending) = watch::channel(false);
        let app = Arc::new(App {
            names: Names { scheme: "http", port: 8_000, is_shared: false, names: Vec::new() },
            tokens: Tokens::new(&Role::ALL).unwrap(),
            opened: None,
            folder: Some(Arc::new(Folder::open(&labs).unwrap())),
            shelf: Shelf::new(&folder.path().join("results"), None),
            journals: Journals::default(),
            jobs: Arc::new(Jobs::new("/nonexistent/netloom".into(), false)),
            world: World::new(),
            sockets: Arc::new(Semaphore::new(1)),
            terminals: Arc::new(Semaphore::new(1)),
            readers: Arc::new(Semaphore::new(1)),
            ending,
        });
        let service = TowerToHyperService::new(router(Arc::clone(&app)));
        Self { _folder: folder, app, service, _end: end }
    }

    fn token(&self, role: Role) -> String {
        self.app.tokens.iter().find(|(own, _)| *own == role).map(|(_, token)| token.to_owned()).unwrap()
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
            let body = axum::body::to_bytes(response.into_body(), 1 << 16).await.unwrap();
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
        (421, &[own, ("host", "192.0.2.1:8000")]),
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
