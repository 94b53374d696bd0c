//! How the parts of a lab meet: the greeting on each connection.

use crate::part::{Met, PartRequest};
use crate::seal::{SALT, Sealed};
use ring::error::Unspecified;
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long parts wait for one another.
const WITHIN: Duration = Duration::from_secs(60);
/// How often they look.
const STEP: Duration = Duration::from_millis(20);
/// How long a greeting may take.
const GREETING: Duration = Duration::from_secs(5);
/// The beginning of greetings: the last byte is the version.
const MAGIC: [u8; 4] = *b"NLP\x03";

/// The place where this part is reached.
enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// The reason why there is no connection.
enum Refused {
    /// The other end was not one of the parts.
    Stranger,
    /// The parts do not belong together, for this reason in words.
    Difference(String),
}

/// Meets all other parts: those before this one are called, those behind it call.
pub(super) fn meet(request: &PartRequest) -> Result<Vec<Met>, String> {
    let end = Instant::now() + WITHIN;
    let own = &request.addresses[request.here];
    let listener = Listener::at(own)
        .map_err(|error| format!("part {}: listening at {own}: {error}", name(request, request.here)))?;
    let mut met: Vec<Met> = Vec::new();
    for part in 0..request.here {
        met.push(call(request, part, end)?);
    }
    while met.len() + 1 < request.names.len() {
        let stream = match listener.accept() {
            Ok(stream) => stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < end => {
                thread::sleep(STEP);
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let is_missing = |part: &usize| *part != request.here && met.iter().all(|met| met.part != *part);
                let missing = (0..request.names.len()).filter(is_missing).map(|part| name(request, part));
                return Err(format!(
                    "within {} s, these parts have not come: {}",
                    WITHIN.as_secs(),
                    missing.collect::<Vec<_>>().join(", ")
                ));
            }
            Err(error) => return Err(format!("waiting for other parts at {own}: {error}")),
        };
        match greet(request, stream, None) {
            Ok(other) if met.iter().all(|met| met.part != other.part) => met.push(other),
            Ok(other) => return Err(format!("two processes say that they are part {}", name(request, other.part))),
            Err(Refused::Stranger) => {}
            Err(Refused::Difference(what)) => return Err(what),
        }
    }
    met.sort_by_key(|met| met.part);
    Ok(met)
}

fn name(request: &PartRequest, part: usize) -> String {
    format!("`{}`", request.names[part])
}

impl Listener {
    fn at(address: &str) -> io::Result<Self> {
        if !address.starts_with('/') {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            return Ok(Self::Tcp(listener));
        }
        let path = Path::new(address);
        // What a part that was killed has left behind.
        if fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket())
            && UnixStream::connect(path).is_err()
        {
            fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self::Unix(listener))
    }

    fn accept(&self) -> io::Result<UnixStream> {
        match self {
            Self::Tcp(listener) => as_stream(listener.accept()?.0),
            Self::Unix(listener) => Ok(listener.accept()?.0),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(listener) = self
            && let Ok(address) = listener.local_addr()
            && let Some(path) = address.as_pathname()
        {
            // It is of no use to anybody; the next part that listens there removes it otherwise.
            let _ = fs::remove_file(path);
        }
    }
}

fn as_stream(stream: TcpStream) -> io::Result<UnixStream> {
    stream.set_nodelay(true)?;
    Ok(OwnedFd::from(stream).into())
}

/// Calls a part until it answers.
fn call(request: &PartRequest, part: usize, end: Instant) -> Result<Met, String> {
    let address = &request.addresses[part];
    loop {
        let stream = if address.starts_with('/') {
            UnixStream::connect(address)
        } else {
            TcpStream::connect(address).and_then(as_stream)
        };
        let why = match stream {
            Ok(stream) => match greet(request, stream, Some(part)) {
                Ok(met) => return Ok(met),
                Err(Refused::Stranger) => "who is there is none".to_owned(),
                Err(Refused::Difference(what)) => return Err(what),
            },
            Err(error) => error.to_string(),
        };
        if Instant::now() >= end {
            let within = WITHIN.as_secs();
            return Err(format!("part {} at {address} has not come within {within} s: {why}", name(request, part)));
        }
        thread::sleep(STEP);
    }
}

/// Says who this is, hears who the other one is, and compares what has to be the same. `expected`: who it has to be.
fn greet(request: &PartRequest, mut stream: UnixStream, expected: Option<usize>) -> Result<Met, Refused> {
    let stranger = |_: io::Error| Refused::Stranger;
    stream.set_nonblocking(false).map_err(stranger)?;
    stream.set_read_timeout(Some(GREETING)).map_err(stranger)?;
    stream.set_write_timeout(Some(GREETING)).map_err(stranger)?;
    let salt = salt().map_err(|error| Refused::Difference(format!("drawing random numbers: {error}")))?;
    let here = u8::try_from(request.here).expect("there are at most 64 machines");
    let hello = [&MAGIC[..], &[here], &salt].concat();
    stream.write_all(&hello).map_err(stranger)?;
    let mut theirs = [0; MAGIC.len() + 1 + SALT];
    stream.read_exact(&mut theirs).map_err(stranger)?;
    let part = usize::from(theirs[MAGIC.len()]);
    if theirs[..3] != MAGIC[..3] || part >= request.names.len() || part == request.here {
        return Err(Refused::Stranger);
    }
    let who = name(request, part);
    if theirs[3] != MAGIC[3] {
        return Err(Refused::Difference(format!("part {who} is played by another version of Netloom")));
    }
    if expected.is_some_and(|expected| expected != part) {
        let address = &request.addresses[expected.unwrap_or(part)];
        return Err(Refused::Difference(format!(
            "at {address} is part {who}, and not {}",
            name(request, expected.unwrap_or(part))
        )));
    }
    let far: [u8; SALT] = theirs[MAGIC.len() + 1..].try_into().expect("as long as a salt");
    let mut sealed = Sealed::new(&request.key, &salt, &far);
    let facts = serde_json::to_vec(&request.facts).expect("texts are JSON");
    sealed.sends.write(&mut stream, &facts).map_err(stranger)?;
    let told = sealed.takes.read(&mut stream).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Refused::Difference(format!("part {who} has another key")),
        _ => Refused::Difference(format!(
            "part {who} went away during the greeting: it has another key, or its run was refused"
        )),
    })?;
    let told: BTreeMap<String, String> = serde_json::from_slice(&told).map_err(|_| Refused::Stranger)?;
    match difference(&request.facts, &told, &who) {
        Some(what) => Err(Refused::Difference(what)),
        None => Ok(Met { part, stream, sealed }),
    }
}

/// Says what is not the same here and there, in words.
fn difference(here: &BTreeMap<String, String>, there: &BTreeMap<String, String>, who: &str) -> Option<String> {
    let names = here.keys().chain(there.keys());
    let missing = "unknown".to_owned();
    let value = |facts: &BTreeMap<String, String>, name: &String| facts.get(name).unwrap_or(&missing).clone();
    let mut differences: Vec<String> = names
        .filter(|name| here.get(*name) != there.get(*name))
        .map(|name| format!("{name}: {} here, {} there", value(here, name), value(there, name)))
        .collect();
    differences.dedup();
    differences.sort();
    differences.dedup();
    if differences.is_empty() {
        return None;
    }
    let all = differences.join("; ");
    Some(format!("part {who} would not give the same results, since not everything is the same there: {all}"))
}

fn salt() -> Result<[u8; SALT], Unspecified> {
    let mut salt = [0; SALT];
    SystemRandom::new().fill(&mut salt).map(|()| salt)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(here: usize, folder: &Path, key: u8, kernel: &str) -> PartRequest {
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let addresses = names.iter().map(|name| folder.join(name).display().to_string()).collect();
        let facts = BTreeMap::from([("the kernel".to_owned(), kernel.to_owned())]);
        PartRequest { here, own_name: "lab".into(), names, addresses, homes: vec![0, 1, 2], key: [key; 32], facts }
    }

    fn meetings(of: impl Fn(usize) -> PartRequest + Sync) -> Vec<Result<Vec<usize>, String>> {
        thread::scope(|scope| {
            let meets = |here| {
                let of = &of;
                scope.spawn(move || meet(&of(here)).map(|met| met.iter().map(|met| met.part).collect()))
            };
            let all: Vec<_> = (0..3).map(meets).collect();
            all.into_iter().map(|part| part.join().expect("it ends")).collect()
        })
    }

    #[test]
    fn parts_of_one_lab_meet() {
        let folder = tempfile::tempdir().unwrap();
        let met = meetings(|here| request(here, folder.path(), 1, "linux"));
        assert_eq!(met, [Ok(vec![1, 2]), Ok(vec![0, 2]), Ok(vec![0, 1])]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no socket is left");
    }

    #[test]
    fn parts_that_differ_are_told_the_difference() {
        let folder = tempfile::tempdir().unwrap();
        let pair = |here: usize, key: u8, kernel: &str| {
            let mut request = request(here, folder.path(), key, kernel);
            request.names.pop();
            request.addresses.pop();
            request
        };
        let both = |one: PartRequest, other: PartRequest| {
            thread::scope(|scope| {
                let all = [one, other].map(|request| scope.spawn(move || meet(&request).map(drop)));
                all.map(|part| part.join().expect("it ends").expect_err("they differ"))
            })
        };
        let [here, there] = both(pair(0, 1, "7.3"), pair(1, 1, "7.4"));
        assert!(here.contains("part `b`") && here.contains("the kernel: 7.3 here, 7.4 there"), "{here}");
        assert!(there.contains("part `a`") && there.contains("the kernel: 7.4 here, 7.3 there"), "{there}");
        let told = both(pair(0, 1, "7.3"), pair(1, 2, "7.3"));
        assert!(told.iter().any(|told| told.contains("another key")), "{told:?}");
    }
}
