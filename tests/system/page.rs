//! A browser's side of `netloom ui`, without the page: requests and WebSockets over real sockets.

use crate::fixture::Fixture;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::http::HeaderValue;
use tungstenite::{Message, WebSocket};

/// A server that does not answer fails a test rather than holding it up.
const LONGEST_ANSWER: Duration = Duration::from_secs(60);

/// A server with the token that it has printed.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Server {
    /// Starts `netloom ui` with these arguments.
    pub(crate) fn start(fixture: &Fixture, arguments: &[&str]) -> Self {
        let words: Vec<&str> = ["ui"].iter().chain(arguments).copied().collect();
        let mut child = fixture.command(&words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (place, token) = line.trim().split_once("/?token=").unwrap_or_else(|| panic!("no address: {line}"));
        let port = place.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
        Self { child, port, token: token.to_owned() }
    }

    /// Sends these bytes and reads to the end of the answer.
    pub(crate) fn raw(&self, request: &str, body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LONGEST_ANSWER)).unwrap();
        // A server that refuses what it has read so far need not take the rest.
        let _ = stream.write_all(request.as_bytes()).and_then(|()| stream.write_all(body));
        Answer::read(stream)
    }

    /// A request with these headers, and those that it needs.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.raw(&self.head(method, path, headers, body.len()), body)
    }

    fn head(&self, method: &str, path: &str, headers: &[(&str, &str)], length: usize) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        head + "\r\n"
    }

    fn cookie(&self) -> String {
        format!("netloom-{}={}", self.port, self.token)
    }

    /// A request of the page.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        self.send(method, path, &[("Cookie", &self.cookie())], body)
    }

    /// What a request is answered with that succeeds.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        self.ask("GET", path, b"").good()
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", path, body.to_string().as_bytes()).good()
    }

    /// Begins to read an answer that does not end.
    pub(crate) fn stream(&self, path: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LONGEST_ANSWER)).unwrap();
        stream.write_all(self.head("GET", path, &[("Cookie", &self.cookie())], 0).as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        reader
    }

    /// A WebSocket of the page, or the status with which it is refused.
    pub(crate) fn open(&self, path: &str, headers: &[(&'static str, &str)]) -> Result<Socket, u16> {
        let mut request = format!("ws://127.0.0.1:{}{path}", self.port).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
        }
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LONGEST_ANSWER)).unwrap();
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
                Err(response.status().as_u16())
            }
            Err(error) => panic!("{path}: {error}"),
        }
    }

    #[track_caller]
    pub(crate) fn socket(&self, path: &str) -> Socket {
        self.open(path, &[("cookie", &self.cookie())]).unwrap_or_else(|status| panic!("{path}: {status}"))
    }

    /// Ends the server as Ctrl-C does.
    pub(crate) fn interrupt(mut self) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // Who is refused may find the connection reset behind the answer.
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let mut body = bytes.get(end + 4..).unwrap_or_default().to_vec();
        if head.to_lowercase().contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        Self { status, head, body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn good(&self) -> Value {
        assert!((200..300).contains(&self.status), "{}: {}", self.head, self.text());
        self.json()
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            break;
        }
        body.extend_from_slice(&bytes[end + 2..end + 2 + length]);
        bytes = &bytes[end + 4 + length..];
    }
    body
}

/// A WebSocket.
pub(crate) struct Socket(WebSocket<TcpStream>);

impl Socket {
    pub(crate) fn say(&mut self, text: &str) {
        // The server may just have said its last word, which is read next.
        let _ = self.0.send(Message::text(text));
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.0.send(Message::binary(bytes.to_vec())).unwrap();
    }

    /// The next message, or the code and reason with which the connection was closed.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Result<Message, (u16, String)> {
        loop {
            match self.0.read() {
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                Ok(Message::Close(frame)) => {
                    let frame = frame.map(|frame| (u16::from(frame.code), frame.reason.to_string()));
                    return Err(frame.unwrap_or_default());
                }
                Ok(message) => return Ok(message),
                Err(error) => panic!("no message: {error}"),
            }
        }
    }

    #[track_caller]
    pub(crate) fn json(&mut self) -> Value {
        match self.next() {
            Ok(Message::Text(text)) => serde_json::from_str(&text).unwrap(),
            other => panic!("no text: {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn ask(&mut self, request: &str) -> Value {
        self.say(request);
        loop {
            let message = self.json();
            if message.get("reply").is_some() {
                return message;
            }
        }
    }

    /// The first message that is wanted.
    #[track_caller]
    pub(crate) fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let message = self.json();
            if is_wanted(&message) {
                return message;
            }
            assert!(begun.elapsed() < LONGEST_ANSWER, "never: {message}");
        }
    }

    /// The code and reason with which it is closed.
    #[track_caller]
    pub(crate) fn closed(&mut self) -> (u16, String) {
        loop {
            if let Err(closed) = self.next() {
                return closed;
            }
        }
    }
}
