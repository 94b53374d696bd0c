//! What QEMU tells about a machine over QMP, its control protocol: a JSON value per line.
//!
//! Four requests and four events are what is needed of it, so that a line is read where it comes, without a library that has a
//! type for each of QEMU's thousand messages.

use crate::disk_server::DiskServer;
use crate::guest_agent::{DEVICE, GuestAgent};
use netloom_guest::node::{Heard, Machine};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

/// The longest line that is read, in bytes. QEMU's greeting has some hundred.
const LONGEST: usize = 1 << 20;

/// The lab's end of a machine's monitor.
#[derive(Debug)]
pub(crate) struct Monitor {
    /// Readable when there is something to hear, whether QEMU has connected or not.
    watch: Epoll,
    listener: UnixListener,
    stream: Option<UnixStream>,
    /// What has come of a line.
    line: Vec<u8>,
    processors: u32,
    /// Why the machine was shut down, in QEMU's words.
    reason: Option<String>,
    /// Where what is typed at the machine's console goes.
    console: OwnedFd,
    /// Of a machine whose own system is to start the lab's agent.
    guest_agent: Option<GuestAgent>,
    /// The server of the disk that the lab gives the machine.
    disk: Option<DiskServer>,
}

impl Monitor {
    /// Waits at this path for QEMU to connect. What is typed at the machine's console goes to `console`.
    pub(crate) fn listen(path: &Path, processors: u32, console: OwnedFd) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        let watch = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        watch.add(&listener, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        Ok(Self {
            watch,
            listener,
            stream: None,
            line: Vec::new(),
            processors,
            reason: None,
            console,
            guest_agent: None,
            disk: None,
        })
    }

    /// Asks the machine's guest agent, too, as soon as it comes.
    pub(crate) fn with(self, guest_agent: GuestAgent) -> Self {
        Self { guest_agent: Some(guest_agent), ..self }
    }

    /// The machine has this disk of the lab's.
    pub(crate) fn with_disk(self, disk: DiskServer) -> Self {
        Self { disk: Some(disk), ..self }
    }

    /// The machine's guest agent has opened its port.
    fn ask_guest_agent(&mut self) {
        let Some(agent) = &mut self.guest_agent else { return };
        // One that cannot be asked is like one that is not there: cloud-init may be.
        if let Ok(Some(fd)) = agent.ask() {
            let _ = self.watch.add(fd, EpollEvent::new(EpollFlags::EPOLLIN, 0));
        }
    }

    /// Takes in what the guest agent answers.
    fn hear_guest_agent(&mut self) {
        let Some(agent) = &mut self.guest_agent else { return };
        if !agent.hear()
            && let Some(fd) = agent.fd()
        {
            let _ = self.watch.delete(fd);
        }
    }

    /// Takes in everything that has come.
    fn take_in(&mut self) -> io::Result<Heard> {
        if self.stream.is_none() {
            let (stream, _) = match self.listener.accept() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Heard::Nothing),
                other => other?,
            };
            stream.set_nonblocking(true)?;
            self.watch.delete(&self.listener)?;
            self.watch.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
            // It tells of events behind this request only. The few bytes find room in a new connection.
            (&stream).write_all(format!("{}\n", json!({"execute": "qmp_capabilities"})).as_bytes())?;
            self.stream = Some(stream);
        }
        loop {
            let mut buffer = [0; 4096];
            let Some(stream) = &mut self.stream else { return Ok(Heard::End) };
            let length = match stream.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Heard::Nothing),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if length == 0 {
                return Ok(Heard::End);
            }
            for byte in &buffer[..length] {
                if *byte != b'\n' {
                    self.line.push(*byte);
                    continue;
                }
                let line = std::mem::take(&mut self.line);
                if let Some(why) = self.take(&line) {
                    return Ok(Heard::Over(why));
                }
            }
            if self.line.len() > LONGEST {
                return Err(io::Error::other("a line without an end"));
            }
        }
    }

    /// Takes a message; why it is over with the machine, if so.
    fn take(&mut self, line: &[u8]) -> Option<String> {
        let message: Value = serde_json::from_slice(line).ok()?;
        let data = &message["data"];
        match message["event"].as_str()? {
            "SHUTDOWN" => self.reason = data["reason"].as_str().map(str::to_owned),
            "VSERPORT_CHANGE" if data["open"] == true && data["id"] == DEVICE => self.ask_guest_agent(),
            "GUEST_PANICKED" => self.reason = Some("guest-panic".to_owned()),
            "BLOCK_IO_ERROR" if data["action"] == "stop" => {
                let why = data["reason"].as_str().unwrap_or("unknown");
                return Some(match data["nospace"].as_bool() {
                    Some(true) => "what it wrote to its disk found no more room in this machine's memory".to_owned(),
                    _ => format!("its disk failed: {why}"),
                });
            }
            _ => {}
        }
        None
    }
}

impl Machine for Monitor {
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.watch.0.as_fd())
    }

    fn processors(&self) -> u32 {
        self.processors
    }

    fn hear(&mut self) -> Heard {
        self.hear_guest_agent();
        self.take_in().unwrap_or(Heard::End)
    }

    fn console(&self) -> Option<BorrowedFd<'_>> {
        Some(self.console.as_fd())
    }

    fn entrance(&self) -> Option<String> {
        let asked = self.guest_agent.as_ref()?.outcome();
        Some(format!("cloud-init, on the disk labelled cidata, has not started netloom's agent, and {asked}"))
    }

    fn order_disk(&mut self, order: &str) -> Result<(), String> {
        self.disk.as_ref().map_or_else(|| Err("it has none".to_owned()), |disk| disk.order(order))
    }

    fn pause(&mut self, holds: bool) -> Result<(), String> {
        let _ = self.take_in();
        let Some(mut stream) = self.stream.as_ref() else {
            return Err("QEMU has not connected to its monitor".to_owned());
        };
        let order = json!({ "execute": if holds { "stop" } else { "cont" } });
        stream.write_all(format!("{order}\n").as_bytes()).map_err(|error| format!("telling QEMU: {error}"))
    }

    fn standing(&self) -> Option<String> {
        let connected = if self.stream.is_some() { "has connected" } else { "has not connected" };
        Some(format!("QEMU {connected} to its monitor"))
    }

    fn ending(&mut self, status: ExitStatus) -> String {
        // Its last words came before its end.
        let _ = self.take_in();
        match (self.reason.as_deref(), status.signal(), status.code()) {
            (Some("guest-shutdown"), ..) => "it was powered off from inside".to_owned(),
            (Some("guest-reset"), ..) => {
                "it was reset from inside, by a reboot or a panic, and a node does not come back".to_owned()
            }
            (Some("guest-panic"), ..) => "its kernel panicked".to_owned(),
            (_, Some(signal), _) => format!("QEMU was ended by signal {signal}"),
            (_, _, Some(0)) => "QEMU ended".to_owned(),
            _ => format!("QEMU gave up ({status})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::epoll::EpollTimeout;
    use std::io::{BufRead, BufReader};

    fn wait(monitor: &Monitor) {
        let mut events = [EpollEvent::empty()];
        monitor.watch.wait(&mut events, EpollTimeout::from(5_000_u16)).unwrap();
    }

    fn connected() -> (tempfile::TempDir, Monitor, UnixStream) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q");
        let mut monitor = Monitor::listen(&path, 1, std::fs::File::open("/dev/null").unwrap().into()).unwrap();
        assert_eq!(monitor.hear(), Heard::Nothing);
        let mut qemu = UnixStream::connect(&path).unwrap();
        qemu.write_all(b"{\"QMP\": {\"version\": {}}}\r\n").unwrap();
        wait(&monitor);
        assert_eq!(monitor.hear(), Heard::Nothing);
        let mut line = String::new();
        BufReader::new(&qemu).read_line(&mut line).unwrap();
        assert_eq!(line, "{\"execute\":\"qmp_capabilities\"}\n");
        (folder, monitor, qemu)
    }

    #[test]
    fn the_reason_of_a_shutdown_is_told() {
        for (said, told) in [
            ("guest-shutdown", "it was powered off from inside"),
            ("guest-reset", "it was reset from inside, by a reboot or a panic, and a node does not come back"),
        ] {
            let (_folder, mut monitor, mut qemu) = connected();
            writeln!(qemu, "{{\"event\": \"SHUTDOWN\", \"data\": {{\"guest\": true, \"reason\": \"{said}\"}}}}")
                .unwrap();
            drop(qemu);
            assert_eq!(monitor.ending(ExitStatus::from_raw(0)), told);
        }
        let (_folder, mut monitor, _qemu) = connected();
        assert_eq!(monitor.ending(ExitStatus::from_raw(9)), "QEMU was ended by signal 9");
        assert_eq!(monitor.ending(ExitStatus::from_raw(1 << 8)), "QEMU gave up (exit status: 1)");
    }

    #[test]
    fn a_disk_without_room_is_the_end_and_nonsense_is_not() {
        let (_folder, mut monitor, mut qemu) = connected();
        qemu.write_all(b"nonsense\n[]\n{\"event\": 7}\n{\"return\": {}}\n").unwrap();
        wait(&monitor);
        assert_eq!(monitor.hear(), Heard::Nothing);
        qemu.write_all(b"{\"event\": \"BLOCK_IO_ERROR\", \"data\": {\"action\": \"stop\", \"nospace\": true}}\n")
            .unwrap();
        wait(&monitor);
        assert!(matches!(monitor.hear(), Heard::Over(why) if why.contains("no more room")));
        drop(qemu);
        wait(&monitor);
        assert_eq!(monitor.hear(), Heard::End);
    }
}
