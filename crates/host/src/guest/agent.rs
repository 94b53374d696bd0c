//! The agent's loop. It has one thread and does everything in the order of messages and process numbers, so that the
//! same messages at the same instants of virtual time lead to the same answers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;

use super::input::{Fed, Input};
use super::message::{FromGuest, LONGEST_CHUNK, Stream, ToGuest};
use super::output::{Output, Read};
use super::socket::ControlSocket;
use super::{cores, devices, disk, launch, stdio};
use crate::measure::{MeasureConfig, Measured, Sampler, TcpState};
use crate::node::agent::KILLED_WITHIN;
use crate::node::clock;
use crate::node::dispatch::{self, Place, State, Streams};
use crate::node::groups::Groups;
use crate::node::protocol::{Identity, ProcessId, Program, Reply, Request, Standard};
use crate::node::watch::Watch;
use crate::node::{NodeConfig, SocketConfig, configure};
use crate::{KernelError, files};

/// How long the contents of a terminal may be on their way after its program has ended. They take microseconds, but a
/// background process that keeps the terminal open would keep the end of the program from being reported.
const TERMINAL_REST: Duration = Duration::from_millis(50);

pub(super) struct Agent {
    state: State<'static>,
    socket: ControlSocket,
    signals: SignalFd,
    /// The folder in which programs start that name none.
    cwd: PathBuf,
    outputs: BTreeMap<(ProcessId, Stream), Output>,
    inputs: BTreeMap<ProcessId, Input>,
    /// Programs that have ended while their output was still on its way: status and CPU time.
    ended: BTreeMap<ProcessId, (i32, u64)>,
    stopping: Option<Stopping>,
    /// From the moment on when the node is configured, if anything is to be measured; or why nothing is.
    sampler: Option<Result<Sampler, KernelError>>,
}

/// All programs have got a signal and are to end.
#[derive(Debug, Clone, Copy)]
struct Stopping {
    until: Instant,
    killed: bool,
}

/// What a descriptor that is waited for belongs to.
#[derive(Debug, Clone, Copy)]
enum Source {
    Signals,
    Socket,
    Output(ProcessId, Stream),
    Input(ProcessId),
    Sampler,
}

impl Agent {
    pub(super) fn new(socket: ControlSocket, signals: SignalFd, place: Place) -> Self {
        Self {
            state: State::new(place, Cow::Owned(NodeConfig::default())),
            socket,
            signals,
            cwd: PathBuf::from("/"),
            outputs: BTreeMap::new(),
            inputs: BTreeMap::new(),
            ended: BTreeMap::new(),
            stopping: None,
            sampler: None,
        }
    }

    /// Serves the lab process until that wants the kernel to power off.
    pub(super) fn run(mut self) -> io::Result<()> {
        self.socket.send(&FromGuest::Up)?;
        loop {
            for source in self.wait()? {
                match source {
                    Source::Signals => self.reap()?,
                    Source::Output(process, stream) => self.pass_on(process, stream)?,
                    Source::Input(process) => self.feed(process)?,
                    Source::Sampler => self.sample()?,
                    Source::Socket => {
                        while let Some(message) = self.socket.receive()? {
                            if !self.take(message)? {
                                return Ok(());
                            }
                        }
                    }
                }
            }
            self.report_endings()?;
            self.go_on_stopping()?;
        }
    }

    fn wait(&self) -> io::Result<Vec<Source>> {
        let mut sources = vec![Source::Signals];
        let mut fds = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        for ((process, stream), output) in self.outputs.iter().filter(|(_, output)| output.is_wanted()) {
            sources.push(Source::Output(*process, *stream));
            fds.push(PollFd::new(output.fd(), PollFlags::POLLIN));
        }
        for (process, input) in &self.inputs {
            // Without events, poll(2) still reports that the reader of a pipe has gone. For a terminal it reports more than that.
            if input.is_waiting() || !input.is_terminal {
                let events = if input.is_waiting() { PollFlags::POLLOUT } else { PollFlags::empty() };
                sources.push(Source::Input(*process));
                fds.push(PollFd::new(input.fd(), events));
            }
        }
        for timer in self.sampler.iter().flatten().flat_map(Sampler::fds) {
            sources.push(Source::Sampler);
            fds.push(PollFd::new(timer, PollFlags::POLLIN));
        }
        // Last, so that what programs did before a request is reported before its answer.
        sources.push(Source::Socket);
        fds.push(PollFd::new(self.socket.as_fd(), PollFlags::POLLIN));
        match poll(&mut fds, self.timeout()) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = fds.iter().zip(sources).filter(|(fd, _)| fd.any() == Some(true));
        Ok(ready.map(|(_, source)| source).collect())
    }

    fn timeout(&self) -> PollTimeout {
        let outputs = self.outputs.values().filter_map(Output::deadline);
        let Some(first) = outputs.chain(self.stopping.map(|stopping| stopping.until)).min() else {
            return PollTimeout::NONE;
        };
        // Rounded up, so that the last wait does not become a busy loop.
        let span = first.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
        PollTimeout::try_from(span).unwrap_or(PollTimeout::MAX)
    }

    /// Does what the lab process says; false if that is to power off.
    fn take(&mut self, message: ToGuest) -> io::Result<bool> {
        match message {
            // Nobody waits for it.
            ToGuest::Request(Request::Connections) => self.socket.send(&FromGuest::Connections(TcpState::ask()))?,
            ToGuest::Request(request) => self.answer(request)?,
            ToGuest::Input { process, bytes } => {
                if let Some(input) = self.inputs.get_mut(&process) {
                    input.push(&bytes);
                    self.feed(process)?;
                }
            }
            ToGuest::InputEnds { process } => {
                if let Some(input) = self.inputs.get_mut(&process) {
                    input.end();
                    self.feed(process)?;
                }
            }
            ToGuest::Taken { process, stream, bytes } => {
                if let Some(output) = self.outputs.get_mut(&(process, stream)) {
                    output.grant(bytes);
                }
            }
            ToGuest::Unwanted { process, stream } => drop(self.outputs.remove(&(process, stream))),
            ToGuest::Resize { process, window } => {
                if let Some(input) = self.inputs.get(&process).filter(|input| input.is_terminal) {
                    // The terminal may have gone in the meantime.
                    let _ = crate::terminal::set_window_size(input.fd(), stdio::size(window));
                }
            }
            ToGuest::PowerOff => return Ok(false),
        }
        Ok(true)
    }

    /// What is measured begins behind the answer, so that this one leaves at the same instant whether anything is or not.
    fn answer(&mut self, request: Request) -> io::Result<()> {
        let configures = request == Request::Configure;
        let Some(reply) = dispatch::answer(self, request, Vec::new())? else { return Ok(()) };
        let measures = configures && reply == Reply::Done;
        self.socket.send(&FromGuest::Reply(reply))?;
        if measures {
            self.sampler = self.state.config.measure.map(|config| Sampler::begin(config, true));
        }
        Ok(())
    }

    fn sample(&mut self) -> io::Result<()> {
        let Some(Ok(sampler)) = &mut self.sampler else { return Ok(()) };
        sampler.take(self.state.programs.running());
        sampler.chunk().map_or(Ok(()), |bytes| self.socket.send(&FromGuest::Samples { bytes }))
    }

    /// A program without a folder starts where the lab process would start it. Netloom itself starts as the agent did.
    fn with_surroundings(&self, mut program: Program) -> Program {
        if let (Place::Machine { folder }, Some("/proc/self/exe")) = (&self.state.place, program.argv[0].to_str()) {
            program.argv.splice(..1, launch::words(folder).map(PathBuf::into_os_string));
        }
        program.cwd.get_or_insert_with(|| self.cwd.clone());
        program
    }

    fn pass_on(&mut self, process: ProcessId, stream: Stream) -> io::Result<()> {
        let Some(output) = self.outputs.get_mut(&(process, stream)) else { return Ok(()) };
        match output.read()? {
            Read::Bytes(bytes) => self.socket.send(&FromGuest::Output { process, stream, bytes }),
            Read::Nothing => Ok(()),
            Read::End => {
                self.outputs.remove(&(process, stream));
                self.socket.send(&FromGuest::OutputEnds { process, stream })
            }
        }
    }

    fn feed(&mut self, process: ProcessId) -> io::Result<()> {
        let Some(input) = self.inputs.get_mut(&process) else { return Ok(()) };
        let gone = !input.is_waiting() && !input.is_terminal;
        let fed = if gone { Fed::Unwanted } else { input.feed() };
        if let Fed::Done(_) | Fed::Unwanted = fed {
            let terminal = self.inputs.remove(&process).is_some_and(|removed| removed.is_terminal);
            if terminal {
                // Both ends of a terminal go together: that hangs it up.
                self.outputs.remove(&(process, Stream::Output));
            }
        }
        match fed {
            Fed::Taken(0) | Fed::Done(_) => Ok(()),
            Fed::Taken(bytes) => self.socket.send(&FromGuest::InputTaken { process, bytes }),
            Fed::Unwanted => self.socket.send(&FromGuest::InputUnwanted { process }),
        }
    }

    fn reap(&mut self) -> io::Result<()> {
        if !dispatch::Agent::reap_all(self)? && self.stopping.take().is_some() {
            return self.has_stopped();
        }
        Ok(())
    }

    /// Reports the programs that have ended and whose output has been sent.
    fn report_endings(&mut self) -> io::Result<()> {
        if self.ended.is_empty() {
            return Ok(());
        }
        let now = Instant::now();
        let outputs = &self.outputs;
        let settled = |process: ProcessId| {
            let all = outputs.range((process, Stream::Output)..=(process, Stream::Error));
            all.into_iter().all(|(_, output)| output.is_settled(now))
        };
        let told: Vec<ProcessId> = self.ended.keys().copied().filter(|process| settled(*process)).collect();
        for process in told {
            let Some((status, cpu_ns)) = self.ended.remove(&process) else { continue };
            self.socket.send(&FromGuest::Exited { process, status, cpu_ns })?;
        }
        Ok(())
    }

    fn begin_stop(&mut self, grace: Duration) -> Result<(), KernelError> {
        // A stopped process handles SIGTERM only after SIGCONT.
        [Signal::SIGTERM, Signal::SIGCONT].into_iter().try_for_each(|signal| self.state.signal_all(signal as i32))?;
        self.stopping = Some(Stopping { until: Instant::now() + grace, killed: false });
        Ok(())
    }

    /// All programs have ended.
    fn has_stopped(&mut self) -> io::Result<()> {
        if self.state.config.disk.as_ref().is_some_and(|disk| disk.keep) {
            // The kernel is about to be gone.
            nix::unistd::sync();
        }
        self.socket.send(&FromGuest::Reply(Reply::Done))
    }

    fn go_on_stopping(&mut self) -> io::Result<()> {
        let Some(Stopping { until, killed }) = self.stopping else { return Ok(()) };
        let now = Instant::now();
        if !dispatch::Agent::reap_all(self)? || (until <= now && killed) {
            self.stopping = None;
            return self.has_stopped();
        }
        if until <= now {
            self.stopping = Some(Stopping { until: now + KILLED_WITHIN, killed: true });
            if let Err(error) = self.state.signal_all(Signal::SIGKILL as i32) {
                self.stopping = None;
                return self.socket.send(&FromGuest::Reply(Reply::Refused(error)));
            }
        }
        Ok(())
    }
}

impl dispatch::Agent<'static> for Agent {
    fn state(&mut self) -> &mut State<'static> {
        &mut self.state
    }

    fn become_node(&mut self, identity: Identity) -> Reply {
        self.cwd = identity.cwd;
        match identity.config.limits.then(Groups::open).transpose() {
            Ok(groups) => self.state.groups = groups,
            Err(error) => return Reply::Refused(error),
        }
        self.state.config = Cow::Owned(identity.config);
        let config = &self.state.config;
        let named = nix::unistd::sethostname(&config.name)
            .map_err(|error| KernelError::from_io("set the host name", &error.into()));
        let set = named.and_then(|()| config.clock.map_or(Ok(()), |order| clock::set(&order)));
        let laid = set.and_then(|()| files::enter_in_kernel(&config.files, &config.name));
        let laid = laid.and_then(|()| config.disk.as_ref().map_or(Ok(()), |own| disk::mount(own, &self.state.place)));
        let laid = laid.and_then(|()| config.cores.map_or(Ok(()), cores::take));
        match laid.and_then(|()| configure::prepare_guest(config)) {
            Ok(notes) => Reply::Prepared { notes },
            Err(error) => Reply::Refused(error),
        }
    }

    fn configure(&mut self) -> Result<(), KernelError> {
        let order: devices::Order =
            if let Place::Machine { .. } = self.state.place { devices::by_address } else { devices::in_order };
        devices::adopt(&self.state.config.interfaces, order)?;
        configure::configure(&self.state.config, false)?;
        self.state.watch = Some(Watch::begin(&self.state.config, false)?);
        Ok(())
    }

    fn spawn(&mut self, program: Program, streams: Streams) -> Reply {
        let program = self.with_surroundings(program);
        let Streams { made, window, .. } = streams;
        let made =
            if program.tty { stdio::terminal(window) } else { stdio::pipes(made.unwrap_or([Standard::Null; 3])) };
        let stdio::Made { theirs, input, outputs } = match made {
            Ok(made) => made,
            Err(error) => return Reply::Refused(error),
        };
        let reply = self.state.start(&program, Vec::<OwnedFd>::from(theirs));
        if let Reply::Started { process, .. } = reply {
            self.inputs.extend(input.map(|input| (process, input)));
            self.outputs.extend(outputs.into_iter().map(|(stream, output)| ((process, stream), output)));
        }
        reply
    }

    fn open_socket(&mut self, _wanted: &SocketConfig) -> Result<(), KernelError> {
        Err(KernelError::new("open a socket for use outside of the node", 0)
            .with_detail("no descriptor leaves a kernel"))
    }

    /// Does nothing: what is measured here is a part of the configuration.
    fn measure(&mut self, _config: MeasureConfig, _file: Option<OwnedFd>) -> Result<(), KernelError> {
        Err(KernelError::new("measure into a file", 0).with_detail("no descriptor comes into a kernel"))
    }

    fn end_measure(&mut self) -> io::Result<Measured> {
        let (rest, measured) = match self.sampler.take() {
            Some(Ok(sampler)) => sampler.end(),
            failed => return Ok(Measured::nothing(failed.and_then(Result::err).as_ref())),
        };
        for bytes in rest.chunks(LONGEST_CHUNK).map(<[u8]>::to_vec) {
            self.socket.send(&FromGuest::Samples { bytes })?;
        }
        Ok(measured)
    }

    fn stop(&mut self, grace: Duration) -> Option<Reply> {
        self.begin_stop(grace).err().map(Reply::Refused)
    }

    fn reap_all(&mut self) -> io::Result<bool> {
        while self.signals.read_signal()?.is_some() {}
        let limit = Instant::now() + TERMINAL_REST;
        let (outputs, ended) = (&mut self.outputs, &mut self.ended);
        let groups = &self.state.groups;
        Ok(self.state.programs.reap(|process, status, cpu| {
            groups.iter().for_each(|own| own.remove(process));
            ended.insert(process, (status, cpu.ran_ns));
            for stream in [Stream::Output, Stream::Error] {
                if let Some(output) = outputs.get_mut(&(process, stream)) {
                    output.program_ended(limit);
                }
            }
        }))
    }
}
