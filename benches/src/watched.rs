//! What pages cost that watch a lab: the same lab with three of them and with none, in turns.

use crate::lab::Lab;
use crate::processes::usage;
use crate::row::{Goal, Row};
use crate::settings::Settings;
use crate::streams::ROOMY;
use crate::taken::{Taken, against};
use crate::transfer;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::{JoinHandle, spawn};

const PAGES: usize = 3;
/// Links of the lab, all of which a page watches.
const LINKS: usize = 10;
/// Of the goodput that nobody watches.
const OF_GOODPUT: f64 = 0.98;
const UNWATCHED: &str = "watched by nobody";
/// What a page asks for that shows plots, packets that move, and all TCP connections.
const SUBSCRIBE: [&str; 3] = [
    r#"{"request":"subscribe","events":"stats","every_ns":100000000}"#,
    r#"{"request":"subscribe","events":"packets","every_ns":100000000}"#,
    r#"{"request":"subscribe","events":"tcp","every_ns":250000000}"#,
];

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 2 } else { 5 };
    let idle: String = (1..LINKS).map(|number| format!("  idle{number}: {{ends: [a, b], rate: 1 Gbit/s}}\n")).collect();
    let links = format!("links:\n  line: {{ends: [a, b], rate: 1 Gbit/s, delay: 10 ms, queue: 4000 packets}}\n{idle}");
    let lab = Lab::up(settings, "watched", &format!("nodes: {{a: {ROOMY}, b: {ROOMY}}}\n{links}"))?;
    lab.shell("b", transfer::START_SERVER)?;
    let (mut watched, mut unwatched, mut server_share) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        unwatched.push(Taken::by(&lab, seconds)?);
        let pages = Pages::open(settings, &lab)?;
        let before = pages.server_seconds();
        watched.push(Taken::by(&lab, seconds)?);
        server_share.push((pages.server_seconds() - before) * 100.0 / f64::from(seconds));
    }
    let row = |what: &str, unit, of| against((what, unit), of, &watched, (UNWATCHED, &unwatched));
    Ok(vec![
        row("one stream, 1 Gbit/s, three pages watch", "Gbit/s", |taken| taken.gbit)?.goal(Goal::AtLeast(OF_GOODPUT)),
        row("the engine's thread per packet, three pages watch", "us", |taken| taken.engine_us)?,
        row("the lab per packet, three pages watch", "us", |taken| taken.all_us)?,
        Row::number("the server of the pages", "% of a processor", server_share)?
            .remark("counters of ten links and sampled packets, ten times a second, and TCP connections, to each page"),
    ])
}

/// Pages that watch, without a browser: what they are sent is read and forgotten.
struct Pages {
    server: Child,
    sockets: Vec<TcpStream>,
    readers: Vec<JoinHandle<()>>,
}

impl Pages {
    fn open(settings: &Settings, lab: &Lab) -> Result<Self, String> {
        let mut server = Command::new(&settings.netloom);
        server.arg("ui").arg(lab.file()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = server.spawn().map_err(|error| format!("starting netloom ui: {error}"))?;
        let mut line = String::new();
        let said = server.stdout.take().ok_or("netloom ui says nothing")?;
        BufReader::new(said).read_line(&mut line).map_err(|error| format!("netloom ui: {error}"))?;
        let mut pages = Self { server, sockets: Vec::new(), readers: Vec::new() };
        let place = line.trim().strip_prefix("http://").and_then(|rest| rest.split_once("/?token="));
        let (host, token) = place.ok_or_else(|| format!("netloom ui says no address: {line}"))?;
        let name = lab.file().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for _ in 0..PAGES {
            pages.watch(host, token, &format!("/api/labs/{name}/control"), &SUBSCRIBE)?;
            pages.watch(host, token, "/api/events", &[])?;
        }
        Ok(pages)
    }

    /// Opens a WebSocket, says all of this on it, and reads what comes.
    fn watch(&mut self, host: &str, token: &str, path: &str, all: &[&str]) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{path}: {error}");
        let mut stream = TcpStream::connect(host).map_err(failed)?;
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).map_err(failed)?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).map_err(failed)?;
        if !answer.ends_with(b" 101") {
            return Err(format!("{path}: {}", String::from_utf8_lossy(&answer)));
        }
        for said in all {
            // A text in one frame, with a mask of zeros.
            let length =
                u8::try_from(said.len()).ok().filter(|length| *length < 126).ok_or("too long for a short frame")?;
            stream.write_all(&[&[0x81, 0x80 | length, 0, 0, 0, 0], said.as_bytes()].concat()).map_err(failed)?;
        }
        let mut reader = stream.try_clone().map_err(failed)?;
        self.sockets.push(stream);
        self.readers.push(spawn(move || while reader.read(&mut [0; 65_536]).is_ok_and(|length| length > 0) {}));
        Ok(())
    }

    /// The processor time of the server so far.
    fn server_seconds(&self) -> f64 {
        let root = i32::try_from(self.server.id()).unwrap_or(0);
        usage(root).values().map(|usage| usage.seconds).sum()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        self.sockets.iter().for_each(|socket| drop(socket.shutdown(std::net::Shutdown::Both)));
        self.readers.drain(..).for_each(|reader| drop(reader.join()));
    }
}
