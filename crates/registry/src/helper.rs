//! Programs that keep credentials (<https://github.com/docker/docker-credential-helpers>): `docker-credential-NAME get`.

use serde::Deserialize;
use std::io::{self, Read, Write};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long a helper may take: it may ask the user something.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes that it may say.
const LONGEST: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    username: String,
    secret: String,
}

/// The name and secret that a helper keeps for a server; none if it keeps none.
pub(crate) fn ask(helper: &str, server: &str) -> Result<Option<(String, String)>, String> {
    let program = format!("docker-credential-{helper}");
    if !helper.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)) {
        return Err(format!("`{}` is no name of a program for credentials", helper.escape_debug()));
    }
    let output = run(&program, server).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            format!("the program {program}, which keeps the credentials, is not in PATH: install it, or log in again")
        }
        _ => format!("run {program}, which keeps the credentials: {error}"),
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stdout);
        // The words are part of the protocol.
        if said.contains("credentials not found") {
            return Ok(None);
        }
        let said = if said.trim().is_empty() { output.status.to_string() } else { said.trim().to_owned() };
        return Err(format!("{program} gives no credentials for {server}: {said}"));
    }
    // The text may hold a secret, and is not shown.
    let answer: Answer = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("{program} answers with something other than credentials"))?;
    Ok(Some((answer.username, answer.secret)))
}

fn run(program: &str, server: &str) -> io::Result<Output> {
    let mut child = Command::new(program).arg("get").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    // One that does not read what it is asked may answer all the same.
    let _ = child.stdin.take().expect("it is piped").write_all(server.as_bytes());
    let stdout = child.stdout.take().expect("it is piped");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut said = Vec::new();
        let read = stdout.take(LONGEST).read_to_end(&mut said);
        // Nobody may wait any more.
        let _ = sender.send(read.map(|_| said));
    });
    let said = receiver.recv_timeout(PATIENCE);
    if said.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    let late =
        |_| io::Error::new(io::ErrorKind::TimedOut, format!("it has printed nothing for {} s", PATIENCE.as_secs()));
    Ok(Output { status, stdout: said.map_err(late)??, stderr: Vec::new() })
}
