//! QEMU's guest agent, where a machine's system runs it: asked once, to start netloom's own agent ("QEMU Guest Agent Protocol
//! Reference").

use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// The longest answer that is read, in bytes. It is a number, or a sentence.
const LONGEST: usize = 1 << 16;

/// The name of the device by which the guest agent finds its way out, and of the one here.
pub(crate) const PORT: &str = "org.qemu.guest_agent.0";
pub(crate) const DEVICE: &str = "guest-agent";

/// The lab's end of the way to a machine's guest agent.
#[derive(Debug)]
pub(crate) struct GuestAgent {
    listener: UnixListener,
    stream: Option<UnixStream>,
    /// What a shell of the machine is to do.
    order: String,
    answer: Vec<u8>,
    /// What came of it, in words.
    said: Option<String>,
}

impl GuestAgent {
    /// Waits at this path for QEMU to connect.
    pub(crate) fn listen(path: &Path, order: String) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, stream: None, order, answer: Vec::new(), said: None })
    }

    /// Gives the order to a guest agent that has just come. What can be read from then on is its answer.
    pub(crate) fn ask(&mut self) -> io::Result<Option<BorrowedFd<'_>>> {
        if self.stream.is_some() {
            return Ok(None);
        }
        let (stream, _) = self.listener.accept()?;
        stream.set_nonblocking(true)?;
        let arguments = json!({"path": "/bin/sh", "arg": ["-c", self.order]});
        let request = json!({"execute": "guest-exec", "arguments": arguments});
        // A thousand bytes find room in a new connection.
        (&stream).write_all(format!("{request}\n").as_bytes())?;
        self.stream = Some(stream);
        Ok(self.fd())
    }

    /// Takes in the answer, without waiting; false when nothing more is to come.
    pub(crate) fn hear(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let Some(stream) = &mut self.stream else { return true };
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(length) if self.answer.len() + length <= LONGEST => self.answer.extend_from_slice(&buffer[..length]),
                Ok(_) => return false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let is_all = error.kind() == io::ErrorKind::WouldBlock;
                    if let Some(end) = self.answer.iter().position(|byte| *byte == b'\n') {
                        self.said = told(&self.answer[..end]);
                        return false;
                    }
                    return is_all;
                }
            }
        }
    }

    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    /// What came of asking it, in words that can stand behind a comma.
    pub(crate) fn outcome(&self) -> String {
        match (&self.said, &self.stream) {
            (Some(said), _) => format!("its guest agent refused to: {said}"),
            (None, Some(_)) => "its guest agent was asked to".to_owned(),
            (None, None) => "no guest agent of QEMU came up".to_owned(),
        }
    }
}

/// Why it did not do it, if so.
fn told(line: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(line).ok()?;
    answer["error"]["desc"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    #[test]
    fn it_is_asked_once_and_its_answer_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g");
        let mut agent = GuestAgent::listen(&path, "say \"so\"".into()).unwrap();
        assert_eq!(agent.outcome(), "no guest agent of QEMU came up");
        let mut qemu = UnixStream::connect(&path).unwrap();
        assert!(agent.ask().unwrap().is_some() && agent.ask().unwrap().is_none());
        let mut line = String::new();
        BufReader::new(&qemu).read_line(&mut line).unwrap();
        let asked: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&asked["execute"], &asked["arguments"]["arg"][1]), (&json!("guest-exec"), &json!("say \"so\"")));
        assert!(agent.hear());
        qemu.write_all(b"{\"error\": {\"class\": \"CommandNotFound\", \"desc\": \"disabled\"}}\n").unwrap();
        assert!(!agent.hear());
        assert_eq!(agent.outcome(), "its guest agent refused to: disabled");
    }
}
