//! What a kernel node does whenever it is looked after: it takes in what the agent says, and passes on what programs
//! read and write.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use netloom_host::guest::message::{FromGuest, Stream, ToGuest};
use netloom_host::node::{NodeEvent, ProcessId};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use super::handle::KernelNode;
use super::machine::Heard;
use super::sink::Written;
use super::source::Read;
use super::streams::{Joined, OUTPUTS, Token};

/// How often to look whether the window of a terminal has changed: nothing else tells the lab process of it.
const LOOK: Duration = Duration::from_millis(250);

/// How many programs may be begun before the first of them is joined: a lab has fewer commands.
const MOST_BEGUN: usize = 10_000;

impl KernelNode {
    /// Where to write what is typed at its serial console, without waiting; none if its kernel reads nothing there.
    pub fn console(&self) -> Option<io::Result<OwnedFd>> {
        self.machine.console().map(|fd| fd.try_clone_to_owned())
    }

    /// Does everything that can be done without waiting.
    pub(super) fn serve(&mut self) -> io::Result<()> {
        for token in self.watch.ready() {
            match token {
                Token::Channel => self.take_in()?,
                Token::Kernel | Token::Doorbell => {}
                Token::Machine => self.hear()?,
                Token::Look => self.look_at_terminals()?,
                Token::Input(process) => self.read_input(process)?,
                Token::Output(process, stream) => self.write_output(process, stream)?,
            }
        }
        // Last words may have come with the end.
        self.take_in()?;
        self.note_end();
        Ok(())
    }

    /// What is watched over the machine, if not the agent.
    fn hear(&mut self) -> io::Result<()> {
        let heard = self.machine.hear();
        if heard != Heard::Nothing
            && let Some(fd) = self.machine.fd()
        {
            // It has nothing more to say, and would be readable for ever.
            self.watch.remove(fd);
        }
        if let Heard::Over(why) = heard {
            self.cut_off(why);
        }
        Ok(())
    }

    /// Takes in all that the agent has said.
    pub(super) fn take_in(&mut self) -> io::Result<()> {
        while let Some(message) = self.agent_messages.receive()? {
            self.handle(message)?;
        }
        Ok(())
    }

    fn handle(&mut self, message: FromGuest) -> io::Result<()> {
        match message {
            FromGuest::Up => self.is_up = true,
            FromGuest::Reply(reply) => self.replies.push_back(reply),
            FromGuest::Output { process, stream, bytes } => {
                let Some(joined) = self.known(process) else { return Ok(()) };
                let fits = match joined.outputs.get_mut(&stream) {
                    Some(sink) => sink.push(&bytes),
                    // It was closed, and the agent does not know yet.
                    None if joined.is_joined => true,
                    None => joined.keep_early(stream, &bytes),
                };
                if !fits {
                    return Err(io::Error::other("it sends more of a program's output than was asked for"));
                }
                self.write_output(process, stream)?;
            }
            FromGuest::Samples { bytes } => self.keep(&bytes),
            FromGuest::Connections(told) => self.connections.are(told),
            FromGuest::OutputEnds { process, stream } => {
                let Some(joined) = self.known(process) else { return Ok(()) };
                match joined.outputs.get_mut(&stream) {
                    Some(sink) => sink.end(),
                    None if joined.is_joined => {}
                    None => drop(joined.early_ends.insert(stream)),
                }
                self.write_output(process, stream)?;
            }
            FromGuest::InputTaken { process, bytes } => {
                if let Some(source) = self.joined.get_mut(&process).and_then(|joined| joined.input.as_mut()) {
                    source.grant(bytes);
                }
                self.watch_input(process)?;
            }
            FromGuest::InputUnwanted { process } => self.drop_input(process),
            FromGuest::Exited { process, status, cpu_ns } => {
                let (status, cpu) = (ExitStatus::from_raw(status), Duration::from_nanos(cpu_ns));
                let at = self.agent_messages.heard_at();
                let Some(joined) = self.known(process) else { return Ok(()) };
                joined.ended = Some(NodeEvent::Exited { process, status, cpu });
                self.endings.extend(at.map(|at| (process, at)));
                self.drop_input(process);
                self.report_end(process);
            }
        }
        Ok(())
    }

    /// Writes samples down. The first that the disk does not take are the last: what is behind a gap cannot be read.
    fn keep(&mut self, bytes: &[u8]) {
        if let Some(Ok(file)) = &mut self.samples
            && let Err(error) = file.write_all(bytes)
        {
            self.samples = Some(Err(error));
        }
    }

    /// A program that runs, or one that was just started: the first message about it may come before its streams are
    /// joined, right behind the reply. None if nobody has begun so many.
    fn known(&mut self, process: ProcessId) -> Option<&mut Joined> {
        let is_new = !self.joined.contains_key(&process);
        let begun = || self.joined.values().filter(|joined| !joined.is_joined).count();
        if is_new && begun() >= MOST_BEGUN {
            return None;
        }
        Some(self.joined.entry(process).or_default())
    }

    /// Joins a program that has just been started.
    pub(super) fn join(&mut self, process: ProcessId, mut joined: Joined) -> io::Result<()> {
        if let Some(early) = self.joined.remove(&process) {
            for (stream, sink) in &mut joined.outputs {
                // As much as fits a window was kept.
                let _ = early.early.get(stream).is_none_or(|bytes| sink.push(bytes));
                if early.early_ends.contains(stream) {
                    sink.end();
                }
            }
            joined.ended = early.ended;
        }
        if joined.terminal.is_some() {
            self.begin_looking()?;
        }
        if joined.ended.is_some() {
            joined.input = None;
        }
        joined.is_joined = true;
        self.joined.insert(process, joined);
        OUTPUTS.into_iter().try_for_each(|stream| self.write_output(process, stream))?;
        self.watch_input(process)?;
        self.report_end(process);
        self.ring();
        Ok(())
    }

    fn write_output(&mut self, process: ProcessId, stream: Stream) -> io::Result<()> {
        let Some(joined) = self.joined.get_mut(&process) else { return Ok(()) };
        let killed = joined.killed;
        let Some(sink) = joined.outputs.get_mut(&stream) else { return Ok(()) };
        if killed {
            sink.discard();
        }
        let written = sink.flush();
        let report = sink.report();
        if written == Written::Some && !sink.watched {
            sink.watched = self.watch.add(sink.fd(), Token::Output(process, stream))?;
        }
        if written != Written::Some && sink.watched {
            self.watch.remove(sink.fd());
            sink.watched = false;
        }
        if written == Written::Refused || sink.is_over() {
            joined.outputs.remove(&stream);
        }
        if written == Written::Refused {
            self.agent_messages.send(&ToGuest::Unwanted { process, stream })?;
        } else if let Some(bytes) = report {
            self.agent_messages.send(&ToGuest::Taken { process, stream, bytes })?;
        }
        self.report_end(process);
        Ok(())
    }

    /// Tells that a program has ended, when everything that it wrote has been written.
    fn report_end(&mut self, process: ProcessId) {
        let Some(joined) = self.joined.get_mut(&process) else { return };
        let waits = !joined.is_joined || !joined.is_written();
        if !waits && let Some(event) = joined.ended.take() {
            joined.told = true;
            joined.terminal = None;
            self.events.push_back(event);
        }
        if joined.told && joined.outputs.is_empty() {
            self.joined.remove(&process);
        }
        if self.joined.values().all(|other| other.terminal.is_none()) {
            self.stop_looking();
        }
    }

    /// A program was killed: its end must not wait for its output to be read.
    pub(super) fn give_up_output(&mut self, process: ProcessId) {
        if let Some(joined) = self.joined.get_mut(&process) {
            joined.killed = true;
        }
        for stream in OUTPUTS {
            if let Err(error) = self.write_output(process, stream) {
                self.give_up(&error);
            }
        }
        self.ring();
    }

    /// Lets go of a program's input and outputs: nobody writes the one or reads the others any more. That need not wait for
    /// the program, whose time may stand still.
    pub fn forsake(&mut self, process: ProcessId) {
        self.drop_input(process);
        let mut unwanted = vec![ToGuest::InputEnds { process }];
        if let Some(joined) = self.joined.get_mut(&process) {
            joined.terminal = None;
            for (stream, sink) in std::mem::take(&mut joined.outputs) {
                if sink.watched {
                    self.watch.remove(sink.fd());
                }
                unwanted.push(ToGuest::Unwanted { process, stream });
            }
        }
        if let Err(error) = unwanted.iter().try_for_each(|message| self.agent_messages.send(message)) {
            self.give_up(&error);
        }
        self.report_end(process);
        self.ring();
    }

    fn read_input(&mut self, process: ProcessId) -> io::Result<()> {
        self.report_window(process)?;
        loop {
            let source = self.joined.get_mut(&process).and_then(|joined| joined.input.as_mut());
            let Some(source) = source.filter(|source| source.is_open()) else { break };
            let once = !source.always_ready;
            match source.read() {
                Read::Bytes(bytes) => self.agent_messages.send(&ToGuest::Input { process, bytes })?,
                Read::Nothing => break,
                Read::End => {
                    self.drop_input(process);
                    self.agent_messages.send(&ToGuest::InputEnds { process })?;
                }
            }
            if once {
                break;
            }
        }
        self.watch_input(process)
    }

    /// Watches a program's input while the agent takes more of it.
    fn watch_input(&mut self, process: ProcessId) -> io::Result<()> {
        let Some(source) = self.joined.get_mut(&process).and_then(|joined| joined.input.as_mut()) else {
            return Ok(());
        };
        if source.is_open() && !source.watched && !source.always_ready {
            source.watched = self.watch.add(source.fd(), Token::Input(process))?;
            source.always_ready = !source.watched;
        } else if !source.is_open() && source.watched {
            self.watch.remove(source.fd());
            source.watched = false;
        }
        if source.is_open() && source.always_ready { self.read_input(process) } else { Ok(()) }
    }

    fn drop_input(&mut self, process: ProcessId) {
        if let Some(source) = self.joined.get_mut(&process).and_then(|joined| joined.input.take()) {
            self.watch.remove(source.fd());
        }
    }

    fn look_at_terminals(&mut self) -> io::Result<()> {
        if let Some(look) = &self.look {
            // It has just expired, so that this does not wait.
            look.wait()?;
        }
        let all: Vec<ProcessId> = self.joined.keys().copied().collect();
        all.into_iter().try_for_each(|process| self.report_window(process))
    }

    fn report_window(&mut self, process: ProcessId) -> io::Result<()> {
        let terminal = self.joined.get_mut(&process).and_then(|joined| joined.terminal.as_mut());
        let Some(window) = terminal.and_then(super::streams::Terminal::resized) else { return Ok(()) };
        self.agent_messages.send(&ToGuest::Resize { process, window })
    }

    fn begin_looking(&mut self) -> io::Result<()> {
        if self.look.is_none() {
            let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)?;
            timer.set(Expiration::Interval(TimeSpec::from_duration(LOOK)), TimerSetTimeFlags::empty())?;
            self.watch.add(std::os::fd::AsFd::as_fd(&timer), Token::Look)?;
            self.look = Some(timer);
        }
        Ok(())
    }

    fn stop_looking(&mut self) {
        if let Some(timer) = self.look.take() {
            self.watch.remove(std::os::fd::AsFd::as_fd(&timer));
        }
    }
}
