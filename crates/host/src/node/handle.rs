//! The lab process's side of a node.

mod measure;

use std::borrow::Borrow;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::Pid;

use super::agent;
use super::client::AgentClient;
use super::config::{Hosts, NodeConfig};
use super::errors::{NodeError, SpawnError};
use super::fresh::Fresh;
use super::joined::Attendant;
use super::packets::{Event, receive, send};
use super::protocol::{Identity, ProcessId, Program, Reply, Request};
use super::socket::SocketConfig;
use crate::clone::{Cloned, assert_one_thread, clone_process};
use crate::error::{Attempted, KernelError};
use crate::fds::try_receive_with_fds;
use crate::files::{self, HOSTS};
use crate::memory;
use crate::mount::clone_tree;
use crate::netlink::Home;
use crate::shortage;

/// A node of the running lab. Dropping it ends the node and everything in it.
#[derive(Debug)]
pub struct Node {
    name: String,
    first: First,
    control: OwnedFd,
    events: OwnedFd,
    notes: Vec<String>,
    gone: bool,
}

/// What a node lives with.
#[derive(Debug)]
enum First {
    /// Its init, a child of this process.
    Init(Pid),
    /// A container that was there before, with this network.
    Container(File),
}

/// A program to be started in a node.
#[derive(Debug)]
pub struct Spawn {
    /// The program, looked up in PATH unless it contains a slash, and its arguments; not empty.
    pub argv: Vec<OsString>,
    /// Variables set on top of the environment. PATH gains the system's folders, and `NETLOOM_LAB` and
    /// `NETLOOM_NODE` are always set.
    pub env: Vec<(OsString, OsString)>,
    /// Whether the environment starts out empty rather than as that of the lab process.
    pub clear_env: bool,
    /// The working directory; that of the lab process when there is none.
    pub cwd: Option<PathBuf>,
    /// Standard input.
    pub stdin: OwnedFd,
    /// Standard output.
    pub stdout: OwnedFd,
    /// Standard error.
    pub stderr: OwnedFd,
    /// Whether standard input is a terminal that the program is to control.
    pub tty: bool,
    /// The user that it runs as: a name that the node's `/etc/passwd` has, or a number; the node's root when there is
    /// none.
    pub user: Option<String>,
}

/// Something that happened in a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeEvent {
    /// A program that [`Node::spawn`] started has ended.
    Exited {
        /// Which one.
        process: ProcessId,
        /// How it ended.
        status: ExitStatus,
        /// The CPU time of its first thread.
        cpu: Duration,
    },
    /// The node's init has died, and everything in the node with it. Comes once, and nothing comes after it.
    Gone,
}

impl Node {
    /// Makes all nodes and waits until their namespaces are ready for interfaces. They get ready side by side.
    ///
    /// # Errors
    /// The first refusal, by the kernel or by a node's init. The nodes made so far are ended.
    ///
    /// # Panics
    /// If the process has more than one thread: locks held by the others would stay locked in the nodes forever.
    pub fn create_all<C: Borrow<NodeConfig>>(configs: impl IntoIterator<Item = C>) -> Result<Vec<Self>, NodeError> {
        assert_one_thread("nodes are");
        // Freed memory and the configurations of other nodes would be copied into the page tables of every node.
        memory::give_back();
        let configs = configs.into_iter();
        let fresh = Fresh::for_nodes(configs.size_hint().1);
        let make = |config: C| Ok((Self::fork(config.borrow(), &fresh)?, config.borrow().cgroup.clone()));
        let made: Vec<(Self, Option<PathBuf>)> = configs.map(make).collect::<Result<_, NodeError>>()?;
        // One right after the other: the first change to a control group waits some 10 ms for the whole kernel to
        // take note, and those that follow at once need not.
        for (node, group) in &made {
            let joined = group.as_ref().map_or(Ok(()), |group| crate::cgroup::join(group, node.pid()));
            joined.map_err(|error| NodeError::Refused { node: node.name.clone(), error })?;
        }
        let mut nodes: Vec<Self> = made.into_iter().map(|(node, _)| node).collect();
        for node in &mut nodes {
            node.notes = node.expect_prepared()?;
        }
        Ok(nodes)
    }

    /// Shows the container images of nodes that are to be made, as far as the kernel does not do so in each of them: by processes that
    /// end with the caller.
    ///
    /// # Errors
    /// The kernel's refusal, or the words of the program that shows images.
    pub fn show_images<C: Borrow<NodeConfig>>(configs: impl IntoIterator<Item = C>) -> Result<(), NodeError> {
        let shown = |config: C| {
            let config = config.borrow();
            files::show_image(&config.name, &config.files)
                .map_err(|error| NodeError::Refused { node: config.name.clone(), error })
        };
        let begun: Vec<_> = configs.into_iter().map(shown).collect::<Result<_, _>>()?;
        begun.into_iter().flatten().try_for_each(|showing| {
            let node = showing.node().to_owned();
            showing.finish().map_err(|error| NodeError::Refused { node, error })
        })
    }

    /// Makes one node, see [`Node::create_all`].
    ///
    /// # Errors
    /// As for [`Node::create_all`].
    ///
    /// # Panics
    /// As for [`Node::create_all`].
    pub fn create(config: &NodeConfig) -> Result<Self, NodeError> {
        Ok(Self::create_all([config])?.remove(0))
    }

    fn fork(config: &NodeConfig, fresh: &Fresh) -> Result<Self, NodeError> {
        let refused = |error| NodeError::Refused { node: config.name.clone(), error };
        let pair = || {
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
                .attempted(|| "make a socket pair")
        };
        let (control, agent_control) = pair().map_err(refused)?;
        let (events, agent_events) = pair().map_err(refused)?;
        let Cloned { pid, .. } =
            clone_process(libc::CLONE_NEWPID, move || agent::run(config, fresh, agent_control, agent_events))
                .attempted(|| "make a process")
                .map_err(shortage::of_processes)
                .map_err(refused)?;
        let first = First::Init(pid);
        Ok(Self { name: config.name.clone(), first, control, events, notes: Vec::new(), gone: false })
    }

    /// Makes a node of a container that was joined. It cannot have processors or a control group of its own, nor files.
    ///
    /// # Errors
    /// The first refusal, by the kernel or in the container.
    pub fn join(attendant: Attendant, config: &NodeConfig) -> Result<Self, NodeError> {
        let Attendant { control, events, network } = attendant;
        let (name, first) = (config.name.clone(), First::Container(network));
        let mut node = Self { name, first, control, events, notes: Vec::new(), gone: false };
        let hosts = match &config.hosts {
            Some(Hosts::File(file)) => file.as_path(),
            _ => Path::new(HOSTS),
        };
        let tree = File::open(hosts).and_then(|file| clone_tree(file.as_fd(), true));
        let tree = tree.map_err(|error| node.failure("show the lab's names", &error))?;
        // Where the agent is.
        let identity = Identity { config: config.clone(), cwd: "/".into() };
        node.ask_with(&Request::Become(Box::new(identity)), &[tree.as_fd()])?;
        node.notes = node.expect_prepared()?;
        Ok(node)
    }

    /// The process id of the node's init as the caller sees it; it names the node's namespaces.
    ///
    /// # Panics
    /// If the node is a container.
    pub fn pid(&self) -> Pid {
        match self.first {
            First::Init(pid) => pid,
            First::Container(_) => panic!("a container has no init of ours"),
        }
    }

    /// Its network namespace, as long as this value lives.
    pub fn home(&self) -> Home {
        match &self.first {
            First::Init(pid) => Home::Process(*pid),
            First::Container(network) => Home::Descriptor(network.as_raw_fd()),
        }
    }

    /// Describes how the node ended, in words, when it is gone.
    pub fn obituary(&self) -> String {
        match self.first {
            First::Init(_) => format!("the init process of node `{}` was killed", self.name),
            First::Container(_) => format!(
                "the container of node `{}` ended or was restarted, or netloom's agent in it was killed",
                self.name
            ),
        }
    }

    /// The node's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the node had to do without, in words.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Starts a program in a session and process group of its own.
    ///
    /// # Errors
    /// See [`SpawnError`].
    ///
    /// # Panics
    /// If `argv` is empty.
    pub fn spawn(&mut self, spawn: Spawn) -> Result<ProcessId, SpawnError> {
        assert!(!spawn.argv.is_empty(), "a program has a name");
        let Spawn { argv, env, clear_env, cwd, stdin, stdout, stderr, tty, user } = spawn;
        let program = Program { argv, env, clear_env, cwd, tty, user };
        let request = Request::Spawn { program: Box::new(program.clone()), streams: None, window: None };
        self.ask_with(&request, &[stdin.as_fd(), stdout.as_fd(), stderr.as_fd()]).map_err(SpawnError::Node)?;
        self.expect_started(&program).map(|(process, _)| process)
    }

    /// Which of the interfaces that the node was configured with can send. Of a veth pair between two nodes, the end that was brought up first
    /// can only when the kernel has noticed that the other end is up, too, which it does in the background: until then
    /// it silently drops what is sent.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn running(&mut self) -> Result<Vec<String>, NodeError> {
        self.ask(Request::Running)?;
        match self.reply()? {
            Reply::Running(running) => Ok(running),
            other => Err(self.unexpected(other)),
        }
    }

    /// Asks whether the node's addresses can be used, which with many of them takes the kernel a while. From the first time
    /// on that they can, the node watches what its programs do to its network. Ask it when all nodes have been configured:
    /// whatever is done to any network of the machine takes longer with each that is watched.
    ///
    /// # Errors
    /// [`NodeError::Gone`].
    pub fn begin_settle(&mut self) -> Result<(), NodeError> {
        self.ask(Request::Settle)
    }

    /// The answer to [`Node::begin_settle`]. Nothing else may be asked in between.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn finish_settle(&mut self) -> Result<bool, NodeError> {
        self.expect_answer()
    }

    /// Opens a socket in the node, for use outside of it.
    ///
    /// # Errors
    /// The kernel's refusal, or [`NodeError::Gone`].
    pub fn open_socket(&mut self, config: &SocketConfig) -> Result<OwnedFd, NodeError> {
        self.ask(Request::Socket(*config))?;
        match self.answer()? {
            (Reply::Socket, fds) if fds.len() == 1 => Ok(fds.into_iter().next().expect("there is one")),
            (other, _) => Err(self.unexpected(other)),
        }
    }

    /// Ends the node, and does not wait for it: the kernel ends whatever runs in it when its init goes. The agent of a container
    /// notices by its sockets. Nothing can be asked of it any more; it is gone when this value is dropped.
    pub fn begin_end(&mut self) {
        if let First::Init(pid) = self.first {
            let _ = kill(pid, Signal::SIGKILL);
        }
    }

    /// Whatever happened next, without waiting. The descriptor of [`Node::as_fd`](AsFd::as_fd) is readable when there
    /// is something.
    pub fn next_event(&mut self) -> Option<NodeEvent> {
        if self.gone {
            return None;
        }
        let mut buffer = [0; 256];
        let length = match try_receive_with_fds(&self.events, &mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
            received => received.map_or(0, |received| received.length),
        };
        match serde_json::from_slice(&buffer[..length]) {
            Ok(Event::Exited { process, status, cpu_ns }) => Some(NodeEvent::Exited {
                process,
                status: ExitStatus::from_raw(status),
                cpu: Duration::from_nanos(cpu_ns),
            }),
            Err(_) => {
                self.gone = true;
                Some(NodeEvent::Gone)
            }
        }
    }

    /// Sends a request together with descriptors.
    fn ask_with(&self, request: &Request, fds: &[BorrowedFd<'_>]) -> Result<(), NodeError> {
        send(&self.control, request, fds).map_err(|error| self.failure("ask the node's first process", &error))
    }

    /// A reply with the descriptors that came along.
    fn answer(&self) -> Result<(Reply, Vec<OwnedFd>), NodeError> {
        match receive(&self.control) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Err(NodeError::Gone { node: self.name.clone() }),
            Err(error) => Err(self.failure("read from the node's first process", &error)),
        }
    }

    fn failure(&self, attempted: &str, error: &io::Error) -> NodeError {
        let node = self.name.clone();
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => NodeError::Gone { node },
            _ => NodeError::Refused { node, error: KernelError::from_io(attempted, error) },
        }
    }
}

impl AgentClient for Node {
    const WHO: &'static str = "its first process";

    fn node(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, request: Request) -> Result<(), NodeError> {
        self.ask_with(&request, &[])
    }

    fn reply(&mut self) -> Result<Reply, NodeError> {
        Ok(self.answer()?.0)
    }
}

impl AsFd for Node {
    /// Readable when [`Node::next_event`] has something; only to be polled.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.begin_end();
        if let First::Init(pid) = self.first {
            reap(pid);
        }
    }
}

/// The init is this process's child, so its number cannot have passed to another process before this.
fn reap(pid: Pid) {
    while let Err(nix::errno::Errno::EINTR) = nix::sys::wait::waitpid(pid, None) {}
}
