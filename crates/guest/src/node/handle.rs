use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use netloom_host::KernelError;
use netloom_host::node::{
    AgentClient, DiskOrder, Identity, NodeError, NodeEvent, ProcessId, Program, Reply, Request, Spawn, SpawnError,
    Standard,
};
use netloom_host::sealed::{SealedProcess, console_says, last_lines};
use netloom_host::terminal::pass_through;
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::signal::{Signal, kill};
use nix::sys::timerfd::TimerFd;

use super::agent_messages::AgentMessages;
use super::boot::{Boot, BootError};
use super::channel::Channel;
use super::connections::Connections;
use super::machine::{Machine, UserMode};
use super::sink::Sink;
use super::source::Source;
use super::streams::{Joined, Terminal, Token, Watch, same_file, standard};
use super::template::{Late, Template};

/// How long an agent may take to answer, in real time. It takes microseconds, but its kernel may have a hundredth of a
/// processor.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// How many lines of a console a message shows.
const LINES: usize = 8;

/// A node that is a kernel of its own. Dropping it ends the kernel.
pub struct KernelNode {
    pub(super) name: String,
    /// Its process; none if that is in another part of the lab.
    pub(super) kernel: Option<SealedProcess>,
    pub(super) machine: Box<dyn Machine>,
    console: PathBuf,
    pub(super) agent_messages: AgentMessages,
    pub(super) watch: Watch,
    pub(super) joined: BTreeMap<ProcessId, Joined>,
    /// When programs ended, until the caller asks.
    pub(super) endings: BTreeMap<ProcessId, netloom_units::Instant>,
    pub(super) replies: VecDeque<Reply>,
    pub(super) events: VecDeque<NodeEvent>,
    /// Rung when there are events that the channel does not tell of any more.
    doorbell: EventFd,
    /// Runs while a program has a terminal.
    pub(super) look: Option<TimerFd>,
    notes: Vec<String>,
    /// The sessions of programs whose ends have not been reported.
    sessions: BTreeMap<ProcessId, u32>,
    /// Where samples go that are taken inside, if they are wanted.
    pub(super) samples: Option<io::Result<File>>,
    pub(super) connections: Connections,
    pub(super) is_up: bool,
    /// Why it is over with the kernel.
    pub(super) over: Option<String>,
    /// How long its agent may take to answer.
    patience: Duration,
}

/// A program that was asked for and that the agent has not reported yet.
#[derive(Debug)]
pub struct Spawning {
    joined: Joined,
    program: Box<Program>,
}

impl KernelNode {
    /// Starts a kernel; it boots while other things are done. `prepare` gives its program the shim and whatever else
    /// belongs to the lab's clock.
    ///
    /// # Errors
    /// What the machine refused.
    pub fn start(
        boot: &Boot,
        channel: Box<dyn Channel>,
        prepare: &mut dyn FnMut(&mut Command),
    ) -> Result<Self, NodeError> {
        let kernel = boot.start(prepare).map_err(|error| match error {
            BootError::Refused(error) => NodeError::Refused { node: boot.name.clone(), error },
            other => NodeError::Kernel { node: boot.name.clone(), what: other.to_string() },
        })?;
        Self::attend(&boot.name, kernel, Box::new(UserMode), &boot.console, channel)
    }

    /// Starts a kernel as a copy of a template; see [`Template`].
    ///
    /// # Errors
    /// Why there is no copy, in words: the kernel may still boot by itself.
    pub fn copy(template: &Template, boot: &Boot, channel: Box<dyn Channel>, late: &Late<'_>) -> Result<Self, String> {
        let kernel = template.copy(boot, late)?;
        Self::attend(&boot.name, kernel, Box::new(UserMode), &boot.console, channel).map_err(|error| error.to_string())
    }

    /// Takes over a kernel that boots in a process of this kind, whose consoles that file shows.
    ///
    /// # Errors
    /// What the machine refused.
    pub fn attend(
        name: &str,
        kernel: SealedProcess,
        machine: Box<dyn Machine>,
        console: &Path,
        channel: Box<dyn Channel>,
    ) -> Result<Self, NodeError> {
        Self::attend_any(name, Some(kernel), machine, console, channel)
    }

    /// Takes over a kernel that runs in another part of the lab, on another machine mostly: only its agent is heard here.
    ///
    /// # Errors
    /// What the machine refused.
    pub fn elsewhere(name: &str, channel: Box<dyn Channel>) -> Result<Self, NodeError> {
        Self::attend_any(name, None, Box::new(UserMode), Path::new("/dev/null"), channel)
    }

    fn attend_any(
        name: &str,
        kernel: Option<SealedProcess>,
        machine: Box<dyn Machine>,
        console: &Path,
        channel: Box<dyn Channel>,
    ) -> Result<Self, NodeError> {
        let refused = |error: io::Error| NodeError::Refused {
            node: name.to_owned(),
            error: KernelError::from_io("watch its kernel", &error),
        };
        let doorbell = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .map_err(|error| refused(error.into()))?;
        let agent_messages = AgentMessages::new(channel);
        let mut watch = Watch::new().map_err(refused)?;
        let fixed = [(agent_messages.as_fd(), Token::Channel), (doorbell.as_fd(), Token::Doorbell)];
        let process = kernel.as_ref().map(|kernel| (kernel.as_fd(), Token::Kernel));
        let told = machine.fd().map(|fd| (fd, Token::Machine));
        fixed
            .into_iter()
            .chain(process)
            .chain(told)
            .try_for_each(|(fd, token)| watch.add(fd, token).map(drop))
            .map_err(refused)?;
        Ok(Self {
            name: name.to_owned(),
            kernel,
            machine,
            console: console.to_owned(),
            agent_messages,
            watch,
            joined: BTreeMap::new(),
            endings: BTreeMap::new(),
            replies: VecDeque::new(),
            events: VecDeque::new(),
            doorbell,
            look: None,
            notes: Vec::new(),
            sessions: BTreeMap::new(),
            samples: None,
            connections: Connections::default(),
            is_up: false,
            over: None,
            patience: ANSWER_WITHIN,
        })
    }

    /// Waits until the agent inside takes requests, for at most `within` of real time.
    ///
    /// # Errors
    /// [`NodeError::Kernel`] when the kernel has ended or is late.
    pub fn await_up(&mut self, within: Duration) -> Result<(), NodeError> {
        self.await_until(within, "its kernel did not come up in time", |node| node.is_up.then_some(()))
    }

    /// Whether the agent inside takes requests, without waiting. The descriptor of [`KernelNode::as_fd`](AsFd::as_fd)
    /// becomes readable when there may be news.
    ///
    /// # Errors
    /// [`NodeError::Kernel`] when the kernel has ended.
    pub fn is_up(&mut self) -> Result<bool, NodeError> {
        if let Err(error) = self.serve() {
            self.give_up(&error);
        }
        if self.over.is_some() { Err(self.is_over()) } else { Ok(self.is_up) }
    }

    /// Why the node is late, with the last lines of its console.
    pub fn lateness(&self, within: Duration) -> NodeError {
        let entrance = self.machine.entrance().map_or_else(String::new, |what| format!(": {what}"));
        let lines = console_says(&self.console, LINES);
        let process = self.kernel.as_ref().and_then(SealedProcess::doing);
        let process = process.map_or_else(String::new, |doing| format!("; {doing}"));
        let machine = self.machine.standing().map_or_else(String::new, |standing| format!("; {standing}"));
        let what =
            format!("its kernel did not come up within {} s{entrance}{process}{machine}{lines}", within.as_secs());
        NodeError::Kernel { node: self.name.clone(), what }
    }

    /// Whether its console has shown nothing at all, and neither has the program that runs the kernel.
    pub fn is_silent(&self) -> bool {
        !self.is_up && std::fs::metadata(&self.console).is_ok_and(|console| console.len() == 0)
    }

    /// Tells the agent what the node is to be.
    ///
    /// # Errors
    /// [`NodeError::Kernel`].
    pub fn begin_become(&mut self, identity: Identity) -> Result<(), NodeError> {
        self.ask(Request::Become(Box::new(identity)))
    }

    /// Waits for what [`KernelNode::begin_become`] began.
    ///
    /// # Errors
    /// What the guest's kernel refused, or [`NodeError::Kernel`].
    pub fn finish_become(&mut self) -> Result<(), NodeError> {
        let prepared = self.expect_prepared()?;
        self.notes.extend(prepared);
        Ok(())
    }

    /// Whether what was begun can be finished without waiting, be it that the kernel has ended.
    pub fn has_answered(&mut self) -> bool {
        if let Err(error) = self.serve() {
            self.give_up(&error);
        }
        self.over.is_some() || !self.replies.is_empty()
    }

    /// How long the agent may take to answer, in real time: a minute, unless this says otherwise. A node whose agent takes
    /// longer is over.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// The node's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The node does without something else, in words.
    pub fn note(&mut self, what: String) {
        self.notes.push(what);
    }

    /// Returns what the node had to do without, in words.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Disturbs its disk, whether that is a device of its kernel or outside of it.
    ///
    /// # Errors
    /// See [`AgentClient`]; also the refusal of the device.
    pub fn disturb_disk(&mut self, order: DiskOrder) -> Result<(), NodeError> {
        let Some(left) = AgentClient::disturb_disk(self, order)? else { return Ok(()) };
        self.machine.order_disk(&left).map_err(|why| NodeError::Refused {
            node: self.name.clone(),
            error: KernelError::new("disturb the disk of the node", 0).with_detail(why),
        })
    }

    /// Holds the machine that its kernel runs on, or lets it go on. `with_clocks`: its clocks stand still meanwhile; else they go on.
    ///
    /// # Errors
    /// The refusal of the machine.
    pub fn hold(&mut self, holds: bool, with_clocks: bool) -> Result<(), NodeError> {
        let held = if with_clocks {
            self.machine.pause(holds)
        } else if let Some(kernel) = &self.kernel {
            let signal = if holds { Signal::SIGSTOP } else { Signal::SIGCONT };
            kill(kernel.pid(), signal).map_err(|errno| errno.to_string())
        } else {
            Err("it runs in another part of the lab".to_owned())
        };
        held.map_err(|why| NodeError::Refused {
            node: self.name.clone(),
            error: KernelError::new(if holds { "hold the machine" } else { "let the machine go on" }, 0)
                .with_detail(why),
        })
    }

    /// The kernel's process, as the caller sees it; none if it runs in another part of the lab.
    pub fn pid(&self) -> Option<netloom_host::Pid> {
        self.kernel.as_ref().map(SealedProcess::pid)
    }

    /// Starts a program in a session and process group of its own. Its streams are joined to the given descriptors as
    /// long as [`KernelNode::next_event`] is called whenever there is something.
    ///
    /// # Errors
    /// See [`SpawnError`].
    ///
    /// # Panics
    /// If `argv` is empty.
    pub fn spawn(&mut self, spawn: Spawn) -> Result<ProcessId, SpawnError> {
        let begun = self.begin_spawn(spawn)?;
        self.finish_spawn(begun)
    }

    /// Asks for a program to be started, and does not wait until it is. What was begun has to be finished, in this order,
    /// before anything else is asked.
    ///
    /// # Errors
    /// See [`SpawnError`].
    ///
    /// # Panics
    /// If `argv` is empty.
    pub fn begin_spawn(&mut self, spawn: Spawn) -> Result<Spawning, SpawnError> {
        assert!(!spawn.argv.is_empty(), "a program has a name");
        let Spawn { argv, env, clear_env, cwd, stdin, stdout, stderr, tty, user } = spawn;
        let mut joined = Joined::default();
        let mut streams = [standard(&stdin), standard(&stdout), standard(&stderr)];
        if tty {
            streams = [Standard::Joined, Standard::Joined, Standard::Same];
            let terminal = pass_through(&stdin)
                .and_then(|()| stdin.try_clone().map_err(|error| KernelError::from_io("copy a descriptor", &error)));
            let refused = |error| SpawnError::Node(NodeError::Refused { node: self.name.clone(), error });
            joined.terminal = Some(Terminal::new(terminal.map_err(refused)?));
        } else if streams[2] == Standard::Joined && same_file(&stdout, &stderr) {
            streams[2] = Standard::Same;
        }
        let window = joined.terminal.as_ref().and_then(Terminal::window);
        let program = Box::new(Program { argv, env, clear_env, cwd, tty, user });
        let request = Request::Spawn { program: program.clone(), streams: Some(streams), window };
        self.ask(request).map_err(SpawnError::Node)?;
        let wanted = |standard: Standard| standard == Standard::Joined;
        joined.input = wanted(streams[0]).then(|| Source::new(stdin));
        let outputs = [(streams[1], stdout), (streams[2], stderr)];
        let numbered = outputs.into_iter().zip(super::streams::OUTPUTS);
        let sinks = numbered.filter(|((standard, _), _)| wanted(*standard));
        joined.outputs = sinks.map(|((_, fd), stream)| (stream, Sink::new(fd))).collect();
        Ok(Spawning { joined, program })
    }

    /// Waits for what [`KernelNode::begin_spawn`] began.
    ///
    /// # Errors
    /// See [`SpawnError`].
    pub fn finish_spawn(&mut self, spawning: Spawning) -> Result<ProcessId, SpawnError> {
        let Spawning { joined, program } = spawning;
        let (process, session) = self.expect_started(&program)?;
        self.sessions.insert(process, session);
        self.join(process, joined).map_err(|error| SpawnError::Node(self.failure(&error)))?;
        Ok(process)
    }

    /// The session in which a program was started, as the node's kernel numbers them.
    pub fn session_of(&self, process: ProcessId) -> Option<u32> {
        self.sessions.get(&process).copied()
    }

    /// Whatever happened next, without waiting; also passes on what programs read and write. The descriptor of
    /// [`KernelNode::as_fd`](AsFd::as_fd) is readable when there is something to do.
    pub fn next_event(&mut self) -> Option<NodeEvent> {
        if let Err(error) = self.serve() {
            self.give_up(&error);
        }
        let event = self.events.pop_front();
        if let Some(NodeEvent::Exited { process, .. }) = &event {
            self.sessions.remove(process);
        }
        if event.is_none() {
            // An empty doorbell is as good as a silent one.
            let _ = self.doorbell.read();
        }
        event
    }

    /// When a program that has ended did so, in lab time, if the kernel's channel knows; returned once.
    pub fn take_ending(&mut self, process: ProcessId) -> Option<netloom_units::Instant> {
        self.endings.remove(&process)
    }

    /// Why the node is over, with the last lines of its console; none while it lives.
    pub fn obituary(&self) -> Option<String> {
        self.over.as_ref().map(|why| format!("{why}{}", last_lines(&self.console, LINES)))
    }

    fn await_until<T>(
        &mut self,
        within: Duration,
        late: &str,
        mut done: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<T, NodeError> {
        let end = Instant::now() + within;
        loop {
            if let Err(error) = self.take_in() {
                self.give_up(&error);
            }
            if let Some(found) = done(self) {
                self.ring();
                return Ok(found);
            }
            if self.over.is_some() {
                self.ring();
                return Err(self.is_over());
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                // What it says later would be taken for the answer to another question.
                self.cut_off(format!("{late} ({} s)", within.as_secs()));
                return Err(self.is_over());
            }
            // Who has no process here has a channel that waits for nothing else.
            let ending = self.kernel.as_ref().map_or_else(|| self.doorbell.as_fd(), |kernel| kernel.as_fd());
            if let Err(error) = self.agent_messages.wait(ending, left) {
                self.give_up(&error);
            }
        }
    }

    /// Makes the node's descriptor readable for what has been taken in beside an answer.
    pub(super) fn ring(&self) {
        if !self.events.is_empty() {
            // A doorbell that cannot be rung has been rung often enough.
            let _ = self.doorbell.write(1);
        }
    }

    /// The channel fails when the kernel has gone, or the other way round.
    fn failure(&mut self, error: &io::Error) -> NodeError {
        self.give_up(error);
        self.is_over()
    }

    fn is_over(&self) -> NodeError {
        NodeError::Kernel { node: self.name.clone(), what: self.obituary().unwrap_or_default() }
    }
}

impl AgentClient for KernelNode {
    const WHO: &'static str = "its agent";

    fn node(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, request: Request) -> Result<(), NodeError> {
        if self.over.is_some() {
            return Err(self.is_over());
        }
        self.agent_messages.ask(request).map_err(|error| self.failure(&error))
    }

    fn reply(&mut self) -> Result<Reply, NodeError> {
        self.await_until(self.patience, "its kernel does not answer", |node| node.replies.pop_front())
    }

    /// After SIGKILL, what the program had written and was not read yet is lost.
    fn signal(&mut self, process: ProcessId, signal: i32) -> Result<(), NodeError> {
        self.ask(Request::Signal { process, signal })?;
        self.expect_done()?;
        if signal == libc::SIGKILL {
            self.give_up_output(process);
        }
        Ok(())
    }
}

impl AsFd for KernelNode {
    /// Readable when [`KernelNode::next_event`] has something to do; only to be polled.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watch.as_fd()
    }
}

impl std::fmt::Debug for KernelNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let programs: Vec<OsString> = self.joined.keys().map(|process| process.get().to_string().into()).collect();
        f.debug_struct("KernelNode").field("name", &self.name).field("programs", &programs).finish_non_exhaustive()
    }
}
