//! One command behind a link, without a lab: its network reaches the caller's through two pipes.
//!
//! The plan has two nodes: `inside` is the network namespace of the command, `outside` the network that netloom was started
//! in. Forward is from the inside out. Engine and verdict are those of a lab; nothing is kept of it.
//!
//! No lab is forked: the command stays a child of netloom itself with the user's terminal, and netloom's own process
//! enters the engine's network namespace. A guard that stays in the caller's network makes the rules there, and
//! removes them when a socket says that the link has gone. Where the caller may not change its network, netloom first
//! makes a user namespace, from which pasta leads out. The command keeps capabilities over it (ambient ones), so a
//! link inside a link needs no further user namespace and does not count against the kernel's limit.

mod logs;

pub use logs::LinkLog;
use logs::PREFIX;
use netloom_dataplane::{IfLate, PortConfig};
use netloom_fabric::PortId;
use netloom_figures::Snapshot;
use netloom_host::KernelError;
use netloom_host::signals::Signals;
use netloom_host::uplink::{Started, Uplink};
use netloom_host::watcher::Watcher;
use netloom_judge::measure::{Mark, engine_evidence, marks, pipe_evidence, pipe_rows};
use netloom_judge::verdict::{Evidence, InterfaceDrops, NodeEvidence, judge};
use netloom_judge::{Report, RunError};
use netloom_lab::fabric::port_id;
use netloom_lab::{Plan, Precision};
use netloom_link::PipeConfig;
use netloom_provision::accounts::Accounts;
use netloom_provision::assemble::{own_processors, start_engine};
use netloom_provision::links::Links;
use netloom_provision::port_name::interface_of;
use netloom_provision::shards::Sharing;
use netloom_results::{MahimahiLog, MahimahiLogs};
use netloom_units::Seed;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use std::ffi::OsString;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The largest packet of the link, as of Ethernet.
const MTU: u32 = 1_500;

/// Where programs find the address of the outermost link's outer end.
const BASE: &str = "MAHIMAHI_BASE";

/// How often a look is taken at whether the engine lives.
const LOOK_MS: u16 = 1_000;

/// A request to run a command behind a link.
pub struct LinkShellRequest {
    /// The descriptions of the way out and of the way in: keys and values of a lab file.
    pub ways: [Vec<(String, String)>; 2],
    /// The seed from which all chance is drawn.
    pub seed: Seed,
    /// How precisely packets are released.
    pub precision: Precision,
    /// The program and its arguments; at least the program.
    pub argv: Vec<OsString>,
    /// The description of the link in the shell's prompt.
    pub label: String,
    /// The logs to write, out and in.
    pub logs: [Option<LinkLog>; 2],
    /// Whether nothing is delivered any more when a trace is over.
    pub once: bool,
}

/// How a command behind a link ended.
pub struct LinkShellEnd {
    /// The command's exit code; 128 and the signal's number if a signal ended it.
    pub code: u8,
    /// Why the command was not started, if it was not.
    pub not_started: Option<String>,
    /// The measurements on the link, and whether they were as described.
    pub report: Report,
}

/// Runs a command behind a link until it ends. The calling process must have one thread only.
///
/// # Errors
/// When the link cannot be made, or dies.
pub fn link_shell(request: LinkShellRequest) -> Result<LinkShellEnd, RunError> {
    let LinkShellRequest { ways: [out, back], seed, precision, argv, label, logs, once } = request;
    let pipes = [logs::pipe("uplink", &out)?, logs::pipe("downlink", &back)?];
    let logs = logs::logs(logs, &pipes, once);
    let signals = Signals::hold(&[Signal::SIGQUIT]);
    let signals = signals.map_err(|error| RunError::Machine(format!("holding signals back: {error}")))?;
    let ports = [0, 1].map(|port| interface_of(PortId(port)));
    let machine = |error: KernelError| RunError::Machine(error.to_string());
    // Before there is anything that it would put back.
    let watcher = Watcher::fork(None).map_err(machine)?;
    let made = Uplink::make([&ports[0], &ports[1]], MTU).map_err(machine);
    let uplink = match made {
        Ok(uplink) => uplink,
        Err(error) => {
            watcher.dismiss();
            return Err(error);
        }
    };
    let mut shell = Shell { plan: plan(&uplink.name(), pipes, seed, precision), uplink, signals };
    let outcome = shell.run(&argv, &label, logs, once);
    // The command has ended, and its link with it: the caller's network is put back whatever became of them.
    let closed = shell.uplink.close().map_err(machine);
    watcher.dismiss();
    outcome.and_then(|end| closed.map(|()| end))
}

/// Two nodes and a link. Of several links one inside the other each has a name of its own, and so chance of its own.
fn plan(link: &str, pipes: [PipeConfig; 2], seed: Seed, precision: Precision) -> Plan {
    let text = format!("nodes: {{inside: {{}}, outside: {{}}}}\nlinks: {{{link}: {{ends: [inside, outside]}}}}\n");
    let mut plan = netloom_lab::parse(&text, "link-shell.yaml").expect("the text is right").plan;
    plan.links[0].pipes = pipes;
    (plan.seed, plan.precision) = (seed, precision);
    plan
}

struct Shell {
    plan: Plan,
    uplink: Uplink,
    signals: Signals,
}

impl Shell {
    fn run(
        &mut self,
        argv: &[OsString],
        label: &str,
        logs: Vec<MahimahiLog>,
        once: bool,
    ) -> Result<LinkShellEnd, RunError> {
        let mut notes = vec!["what lies beyond the link, which keeps its own time".to_owned()];
        let sharing = Sharing::here(&self.plan);
        let claims = own_processors(&self.plan, sharing.count(), &mut notes)?;
        let own = claims.iter().map(|claim| claim.processor).collect();
        let mut links = start_engine(&self.plan, &sharing, self.ports(), own, None)?;
        self.uplink.await_ready().map_err(|error| RunError::Machine(error.to_string()))?;
        let logs = self.begin_logs(logs, once, &mut links)?;
        let (first, began) = self.begin(&mut links)?;
        let environment = environment(label, &self.uplink);
        let (code, not_started) = match self.uplink.start(argv, &environment) {
            Ok(started) => (exit_code(self.attend(started, &mut links)?), None),
            Err(error) => {
                let (code, why) = not_started(&argv[0].to_string_lossy(), &error);
                (code, Some(why))
            }
        };
        self.uplink.begin_close();
        let report = Report { exit_code: code, ..self.report(&mut links, &first, &began, notes)? };
        // With it goes the tap that the logs are written from.
        drop(links);
        logs.map_or(Ok(()), MahimahiLogs::finish)?;
        Ok(LinkShellEnd { code, not_started, report })
    }

    fn begin_logs(
        &self,
        logs: Vec<MahimahiLog>,
        once: bool,
        links: &mut Links,
    ) -> Result<Option<MahimahiLogs>, RunError> {
        if once {
            links.plan(logs::ends(&self.plan.links[0].pipes), IfLate::Execute)?;
        }
        if logs.is_empty() {
            return Ok(None);
        }
        let (logs, tap) = MahimahiLogs::start(logs)?;
        links.add_tap(tap)?;
        Ok(Some(logs))
    }

    fn ports(&self) -> Vec<PortConfig> {
        let ends = self.plan.ends().map(|end| port_id(end.end));
        let port = |(port, ifindex)| PortConfig::Interface { port, ifindex, whole: false };
        ends.zip(self.uplink.ports()).map(port).collect()
    }

    fn begin(&mut self, links: &mut Links) -> Result<(Vec<Mark>, Accounts), RunError> {
        let snapshot = links.snapshot()?;
        Ok((marks(&snapshot), Accounts::now(&snapshot.engine, Vec::new(), Vec::new(), None)))
    }

    /// Waits until the command has ended. Signals for this process are meant for it; what keys of the terminal send, it
    /// gets itself.
    fn attend(&self, mut started: Started, links: &mut Links) -> Result<ExitStatus, RunError> {
        let died = |error: io::Error| RunError::Died(format!("waiting for the command: {error}"));
        loop {
            let mut fds = [started.as_fd(), self.signals.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
            match poll(&mut fds, PollTimeout::from(LOOK_MS)) {
                Ok(0) => links.counters().map(drop)?,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(died(errno.into())),
            }
            while let Some((signal, by_kernel)) = self.signals.next_with_origin() {
                if !by_kernel {
                    started.signal(signal).map_err(died)?;
                }
            }
            if let Some(status) = started.ended().map_err(died)? {
                return Ok(status);
            }
        }
    }

    fn report(
        &mut self,
        links: &mut Links,
        first: &[Mark],
        began: &Accounts,
        notes: Vec<String>,
    ) -> Result<Report, RunError> {
        let last = links.snapshot()?;
        let spent = Accounts::now(&last.engine, Vec::new(), Vec::new(), None).since(began);
        let counters = self.uplink.counters().map_err(|error| RunError::Died(error.to_string()))?;
        let losses = links.port_losses(&last)?;
        let drops = InterfaceDrops {
            interface: "uplink".into(),
            sending: counters.tx_dropped + counters.tx_errors,
            receiving: counters.rx_lost,
        };
        let dropped = if drops.is_none() { Vec::new() } else { vec![drops] };
        let inside = NodeEvidence { name: "inside".into(), dropped, ..NodeEvidence::default() };
        let evidence = Evidence {
            clock: self.plan.clock,
            precision: self.plan.precision,
            examination: netloom_doctor::of_this_machine(),
            pipes: pipe_evidence(links.names(), links.pipes(), &last),
            engine: engine_evidence(&last, &spent, &losses),
            nodes: vec![inside],
            notes,
            ..Evidence::default()
        };
        let mut verdict = judge(&self.plan.bounds.into(), &evidence);
        // The world beyond the link cannot be slowed.
        verdict.dilation = None;
        Ok(Report {
            lab: self.plan.name.clone(),
            duration_ns: duration_ns(first, &last),
            pipes: pipe_rows(links.names(), links.pipes(), first, &last),
            effort: Some(spent.effort(self.plan.clock, std::iter::empty())),
            losses,
            verdict,
            warnings: self.uplink.unheard().iter().copied().map(unheard).collect(),
            ..Report::default()
        })
    }
}

fn duration_ns(first: &[Mark], last: &Snapshot) -> u64 {
    first.first().map_or(0, |mark| last.at.since(mark.at).as_nanos())
}

/// What tells programs of the link: the variables that scripts for mahimahi know. The outermost link's address stays, and
/// what shells say before their prompt grows.
fn environment(label: &str, uplink: &Uplink) -> Vec<(String, String)> {
    let known = |name| std::env::var(name).ok();
    let prefix = format!("{}[{label}] ", known(PREFIX).unwrap_or_default());
    let prompt = format!("{prefix}$ ");
    let of_bash = format!("PS1=\"${PREFIX}$PS1\"; unset PROMPT_COMMAND");
    let base = known(BASE).unwrap_or_else(|| uplink.gateway().to_string());
    let all = [(BASE, base), (PREFIX, prefix), ("PS1", prompt), ("PROMPT_COMMAND", of_bash)];
    all.map(|(key, value)| (key.to_owned(), value)).into()
}

/// That a name server cannot be asked from behind the link.
fn unheard(server: IpAddr) -> String {
    format!(
        "the name server {server} of this machine's /etc/resolv.conf cannot be asked behind the link: its address cannot be had there"
    )
}

/// As shells have it.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code & 0xff).expect("masked to eight bits")
}

fn not_started(program: &str, error: &io::Error) -> (u8, String) {
    match error.kind() {
        io::ErrorKind::NotFound => (127, format!("there is no program `{program}`")),
        _ => (126, format!("`{program}` cannot be started: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_lab::parse_pipe;

    #[test]
    fn links_inside_links_draw_from_chance_of_their_own() {
        let lossy = || parse_pipe(&[("loss".into(), "10 %".into())]).unwrap();
        let seed = Seed::new(7);
        let [one, other] = ["netloom0", "netloom1000"]
            .map(|name| plan(name, [lossy(), PipeConfig::default()], seed, Precision::Balanced));
        let name = |plan: &Plan| plan.pipes().next().map(|pipe| pipe.to_string());
        assert_eq!(name(&one), Some("netloom0.forward".into()));
        assert_ne!(name(&one), name(&other));
        assert_eq!((one.seed, one.links[0].pipes[0].clone()), (seed, lossy()));
        assert_eq!(one.ends().count(), 2);
    }

    #[test]
    fn exit_codes_are_those_of_shells() {
        assert_eq!(exit_code(ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(exit_code(ExitStatus::from_raw(9)), 137);
        assert_eq!(not_started("x", &io::Error::from_raw_os_error(libc::ENOENT)).0, 127);
        assert_eq!(not_started("x", &io::Error::from_raw_os_error(libc::EACCES)).0, 126);
    }
}
