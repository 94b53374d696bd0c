//! What clients of the control socket ask.

use super::launch::Launch;
use super::processes::Purpose;
use super::{Session, collect};
use crate::driver::Driver;
use crate::environment;
use crate::exposed::ways_into;
use netloom_control::{ClientId, Exec, Incoming, LabInfo, NodeInfo, Reply, Request, Set};
use netloom_judge::{ExitCode, RunError};
use netloom_lab::{Direction, NodeKind, parse_change};
use netloom_link::PipeChange;
use netloom_units::Bytes;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::os::fd::OwnedFd;

/// Why a request is refused: the client's exit code, and a text.
pub(super) type Refusal = (ExitCode, String);

impl Session<'_> {
    pub(super) fn serve_client(&mut self, id: ClientId) -> Result<(), RunError> {
        self.server.serve(id);
        while let Some(incoming) = self.server.next(id) {
            match incoming {
                Incoming::Request(request, fds) => self.answer(id, request, fds)?,
                Incoming::Nonsense(error) => {
                    let message = format!("this is not a request of netloom: {error}");
                    self.server.reply(id, &refused((ExitCode::Usage, message)));
                }
                Incoming::Gone => {
                    self.processes.stop(self.links.now(), |purpose| purpose == Purpose::Client(id));
                    self.unwatch(id)?;
                }
            }
        }
        Ok(())
    }

    fn answer(&mut self, id: ClientId, request: Request, fds: Vec<OwnedFd>) -> Result<(), RunError> {
        let reply = match request {
            Request::Info => Reply::Info(self.info()),
            Request::Stats => Reply::Stats(self.links.stats()?),
            Request::Exec(exec) => self.exec(id, exec, fds).map_or_else(refused, |()| Reply::Started),
            Request::Set(set) => self.set(&set)?.map_or_else(refused, |()| Reply::Done),
            Request::Capture(wanted) => self.watch(id, &wanted, fds)?.map_or_else(refused, |()| Reply::Started),
            Request::Signal { signal } => {
                if let Some(key) = self.processes.key_of(Purpose::Client(id)) {
                    // A program that has just ended needs no signal; its end is about to be reported.
                    let _ = self.nodes[key.node].signal(key.process, signal);
                }
                return Ok(());
            }
            Request::Down => {
                self.server.reply(id, &Reply::Done);
                return self.end_on_request();
            }
        };
        self.server.reply(id, &reply);
        Ok(())
    }

    fn info(&self) -> LabInfo {
        let plan = &self.job.plan;
        let node = |node: &netloom_lab::NodePlan| NodeInfo {
            name: node.name.clone(),
            kind: node.kind.name().into(),
            addresses: node.interfaces.iter().flat_map(|i| i.addresses.iter().map(ToString::to_string)).collect(),
        };
        LabInfo {
            name: plan.name.clone(),
            mode: self.job.mode.name().into(),
            file: self.job.lab_file.clone(),
            pid: self.job.guard_pid,
            age_ns: self.links.now().as_nanos(),
            folder: self.job.folder.path().to_owned(),
            nodes: plan.nodes.iter().map(node).collect(),
            links: plan.links.len(),
            exposed: ways_into(plan),
            services: self.commands.iter().filter_map(|command| command.service(self.links.now())).collect(),
            longest_stop_ns: self.longest_end(),
            stalled: match self.links.driver() {
                Driver::Virtual(time) => time.stall(),
                Driver::Engine(_) => None,
            },
        }
    }

    /// How long its programs and its files may take to end it, at most, in nanoseconds of wall time.
    fn longest_end(&self) -> u64 {
        let lab = self.processes.longest_grace() + collect::longest(self.job);
        let real = self.job.plan.clock.dilation().unwrap_or_default().to_real(lab);
        u64::try_from(real.as_nanos()).unwrap_or(u64::MAX)
    }

    fn exec(&mut self, id: ClientId, exec: Exec, fds: Vec<OwnedFd>) -> Result<(), Refusal> {
        let Exec { node: name, argv, env, cwd, terminal, user } = exec;
        let node = self.find_node(&name)?;
        if argv.is_empty() {
            return Err((ExitCode::Usage, "exec needs a program".into()));
        }
        if self.job.plan.nodes[node].kind == NodeKind::Transit {
            return Err((ExitCode::Usage, format!("`{name}` is a transit router and runs no programs")));
        }
        let stdio: [OwnedFd; 3] =
            fds.try_into().map_err(|_| (ExitCode::Usage, "exec needs three file descriptors".to_owned()))?;
        if self.processes.key_of(Purpose::Client(id)).is_some() {
            return Err((ExitCode::Usage, "this connection has started a program already".into()));
        }
        let env = environment::of_program(&self.job.plan, node, user.as_deref(), &env);
        let argv = argv.into_iter().map(OsString::from).collect();
        let key = self
            .launch(Launch { node, argv, env, cwd, stdio, terminal, user })
            .map_err(|error| (ExitCode::Machine, error.to_string()))?;
        self.processes.add(key, Purpose::Client(id), self.links.now(), None, self.job.plan.stop);
        Ok(())
    }

    fn find_node(&self, name: &str) -> Result<usize, Refusal> {
        let nodes = &self.job.plan.nodes;
        nodes.iter().position(|node| node.name == name).ok_or_else(|| {
            let names: Vec<&str> = nodes.iter().take(NAMES_LISTED).map(|node| node.name.as_str()).collect();
            (ExitCode::NoSuchLab, format!("no node is called `{name}`: there are {}", names.join(", ")))
        })
    }

    fn find_link(&self, name: &str) -> Result<usize, Refusal> {
        self.links.find(name).ok_or_else(|| {
            let names: Vec<&str> =
                self.links.names().iter().take(NAMES_LISTED).map(|link| link.name.as_str()).collect();
            (ExitCode::NoSuchLab, format!("no link is called `{name}`: there are {}", names.join(", ")))
        })
    }

    /// The link with this name, of which clients want what only the engine can give them.
    pub(super) fn find_link_in_engine(&self, name: &str, wanted: &str) -> Result<usize, Refusal> {
        let link = self.find_link(name)?;
        if !self.links.names()[link].joined {
            return Ok(link);
        }
        let message = format!(
            "`{name}` is joined in the kernel, past the engine, and cannot be {wanted}: write `bypass: false` for it in the \
             lab file and start the lab again"
        );
        Err((ExitCode::Usage, message))
    }

    fn find_place(&self, set: &Set) -> Result<Place, Refusal> {
        let link = self.find_link_in_engine(&set.link, "changed")?;
        let direction = set.direction.as_deref().map(direction).transpose()?;
        let known = self.links.further_pipes(link, direction);
        match &set.pipe {
            Some(pipe) if !known.contains(&pipe.as_str()) => {
                let none = || "it has none".to_owned();
                let names = if known.is_empty() { none() } else { format!("there are {}", known.join(", ")) };
                Err((
                    ExitCode::NoSuchLab,
                    format!("`{pipe}` is neither a direction nor a further pipe of `{}`: {names}", set.link),
                ))
            }
            pipe => Ok(Place { link, direction, pipe: pipe.clone() }),
        }
    }

    /// All changes are understood before the first is made.
    fn set(&mut self, set: &Set) -> Result<Result<(), Refusal>, RunError> {
        let understood = self.find_place(set).and_then(|place| Ok((place, understand(&set.changes)?)));
        let (place, wanted) = match understood {
            Ok(all) => all,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mtu = Bytes::new(u64::from(self.job.plan.links[place.link].mtu));
        if let Err(wrong) = self.links.check(place.link, place.direction, place.pipe.as_deref(), &wanted.change, mtu) {
            return Ok(Err((ExitCode::Usage, wrong.to_string())));
        }
        if !wanted.change.is_empty() {
            self.change_link(&place, &wanted.change)?;
        }
        if let Some(up) = wanted.up {
            self.set_link_up(&place, up)?;
        }
        Ok(Ok(()))
    }

    fn change_link(&mut self, place: &Place, change: &PipeChange) -> Result<(), RunError> {
        self.links.change(place.link, place.direction, place.pipe.as_deref(), change)?;
        let link = self.links.names()[place.link].name.clone();
        self.tell(format!("{} changed", place.text(&link)));
        self.note("link changed", place.details(&link, json!({ "set": netloom_lab::describe_change(change) })))
    }

    /// Cuts a link, or a part of it, or joins it again.
    fn set_link_up(&mut self, place: &Place, up: bool) -> Result<(), RunError> {
        self.links.set_up(place.link, place.direction, place.pipe.as_deref(), up)?;
        let link = self.links.names()[place.link].name.clone();
        let state = if up { "up" } else { "down" };
        self.tell(format!("{} {state}", place.text(&link)));
        self.note(&format!("link {state}"), place.details(&link, json!({})))
    }
}

/// A link, a direction of it, or a further pipe.
pub(super) struct Place {
    pub(super) link: usize,
    direction: Option<Direction>,
    pipe: Option<String>,
}

impl Place {
    pub(super) fn new(link: usize, direction: Option<Direction>, pipe: Option<String>) -> Self {
        Self { link, direction, pipe }
    }

    /// For people, with the link's name.
    pub(super) fn text(&self, link: &str) -> String {
        let direction = self.direction.map_or_else(String::new, |direction| format!(" {direction}"));
        let pipe = self.pipe.as_ref().map_or_else(String::new, |pipe| format!(" {pipe}"));
        format!("{link}{direction}{pipe}")
    }

    /// `more`, with the place in front.
    pub(super) fn details(&self, link: &str, mut more: Value) -> Value {
        more["link"] = link.into();
        more["direction"] = self.direction.map(|direction| direction.to_string()).into();
        more["pipe"] = self.pipe.as_deref().into();
        more
    }
}

/// How many names a message lists.
const NAMES_LISTED: usize = 20;

/// What the keys and values of a request ask for.
#[derive(Default)]
struct Wanted {
    change: PipeChange,
    up: Option<bool>,
}

fn understand(changes: &[(String, String)]) -> Result<Wanted, Refusal> {
    let mut wanted = Wanted::default();
    for (key, value) in changes {
        match (key.as_str(), value.as_str()) {
            ("state", "up") => wanted.up = Some(true),
            ("state", "down") => wanted.up = Some(false),
            // A map or `none` is what a lab file can have there.
            ("state", other) if other != "none" && other.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                return Err((
                    ExitCode::Usage,
                    format!("`state={other}`: a link's state is up or down, or as in a lab file"),
                ));
            }
            _ => {
                let part = parse_change(key, value).map_err(|error| (ExitCode::Usage, error.to_string()))?;
                wanted.change.merge(part);
            }
        }
    }
    Ok(wanted)
}

pub(super) fn direction(name: &str) -> Result<Direction, Refusal> {
    match name {
        "forward" => Ok(Direction::Forward),
        "backward" => Ok(Direction::Backward),
        other => Err((ExitCode::Usage, format!("`{other}` is no direction: write forward or backward"))),
    }
}

fn refused((code, message): Refusal) -> Reply {
    Reply::Refused { code: code.number(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn changes_are_understood_together_and_written_as_in_a_lab_file() {
        let asked = pairs(&[("rate", "unlimited"), ("delay", "80 ms"), ("loss", "1 %"), ("state", "down")]);
        let wanted = understand(&asked).unwrap();
        assert_eq!(wanted.up, Some(false));
        assert_eq!(
            netloom_lab::describe_change(&wanted.change),
            json!({ "rate": "unlimited", "delay": "80 ms", "loss": "1 %" })
        );
    }

    /// `state` is a word for now, and a map for what the link does by itself; both can be asked for at once.
    #[test]
    fn a_state_is_a_word_or_a_map() {
        let flap = "{on_cut: lost, flap: {up: 10 s, down: 1 s}}";
        let wanted = understand(&pairs(&[("state", "down"), ("state", flap)])).unwrap();
        assert_eq!(wanted.up, Some(false));
        assert!(wanted.change.state.as_ref().is_some_and(|state| state.flap.is_some()));
        let none = understand(&pairs(&[("state", "none")])).unwrap();
        assert_eq!(none.change.state, Some(netloom_link::StateConfig::default()));
        assert_eq!(understand(&pairs(&[("state", "{flap: 1 s}")])).err().unwrap().0, ExitCode::Usage);
    }

    #[test]
    fn what_is_said_last_counts_and_what_is_wrong_is_refused() {
        let wanted = understand(&pairs(&[("delay", "1 ms"), ("delay", "2 ms")])).unwrap();
        assert_eq!(netloom_lab::describe_change(&wanted.change), json!({ "delay": "2 ms" }));
        for wrong in [("delay", "1"), ("dely", "1 ms"), ("state", "sideways")] {
            assert_eq!(understand(&pairs(&[wrong])).err().unwrap().0, ExitCode::Usage, "{wrong:?}");
        }
    }
}
