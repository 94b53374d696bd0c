//! What clients of the control socket ask, and the answers.

mod consoles;
mod events;
mod exec;
mod heals;
mod sockets;
mod time;
mod topology;
mod watch;

use super::carriers::{Carriers, has_carriers};
use super::context::Context;
use super::programs::{Programs, Purpose, longest_packing};
use super::stops;
use crate::driver::Driver;
use crate::exposed::ways_into;
use crate::links::Links;
use events::Subscriptions;
use exec::{execute, signal};
use heals::Heals;
use netloom_control::{ClientId, Incoming, LabInfo, NodeInfo, NodeName, Refused, Reply, Request, Server, Set, greet};
use netloom_fabric::TapId;
use netloom_judge::expectations::Tasks;
use netloom_judge::{ExitCode, RunError};
use netloom_lab::{Dialect, Direction, Plan, parse_change, parse_cut};
use netloom_link::PipeChange;
use netloom_results::capture::LiveCapture;
use netloom_units::{Bytes, Duration, Instant};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use time::Hold;

/// Why a request is refused: the client's exit code, and a text.
type Refusal = (ExitCode, String);

/// The clients of a lab that is up.
pub(super) struct Requests {
    server: Server,
    /// What clients watch.
    watched: BTreeMap<ClientId, (LiveCapture, TapId)>,
    subscriptions: Subscriptions,
    hold: Hold,
    /// When what they have cut for so long is restored.
    heals: Heals,
}

/// What follows from a request for the lab as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The lab goes on.
    GoesOn,
    /// The lab is to end.
    Ends,
    /// The client waits for what all of the lab has to be asked for.
    Tells(Told),
}

/// What all of the lab has to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// What speaks against it so far.
    Verdict,
}

impl Requests {
    /// Those that come to `server`. In virtual time, `is_paused` labs stand at time zero until a client lets them go on.
    pub(super) fn new(server: Server, is_paused: bool) -> Self {
        let (hold, heals) = (Hold::new(is_paused), Heals::default());
        Self { server, watched: BTreeMap::new(), subscriptions: Subscriptions::default(), hold, heals }
    }

    /// The control socket.
    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// Lets the clients in that wait.
    pub(super) fn accept(&mut self, context: &mut Context<'_>) {
        if let Err(error) = self.server.accept() {
            context.tell(format!("no more clients for now: accepting one: {error}"));
        }
    }

    /// Sends what waits for a client, and takes in some of what it has sent.
    pub(super) fn serve(&mut self, id: ClientId) {
        self.server.serve(id);
    }

    /// The next thing that a client has brought.
    pub(super) fn next(&mut self, id: ClientId) -> Option<Incoming> {
        self.server.next(id)
    }

    /// Answers the request that a client waits for.
    pub(super) fn reply(&mut self, id: ClientId, reply: &Reply) {
        self.server.reply(id, reply);
    }

    /// When something is restored next that a client has cut for so long.
    pub(super) fn next_heal(&self) -> Option<Instant> {
        self.heals.next()
    }

    /// Restores what clients have cut for so long, when that time has passed.
    pub(super) fn heal(
        &mut self,
        context: &mut Context<'_>,
        programs: &mut Programs,
        carriers: &mut Carriers,
    ) -> Result<(), RunError> {
        self.heals.restore(context, programs, carriers)
    }

    /// The timeline has changed the state of a part of a link: cuts by hand do not end after that.
    pub(super) fn note_switched(&mut self, pipes: &[usize]) {
        self.heals.forget(pipes);
    }

    /// Tells a client that its program has ended.
    pub(super) fn has_ended(&mut self, id: ClientId, code: i32) {
        self.server.reply(id, &Reply::Exited { code });
    }

    /// Does what a client asks for, and answers.
    pub(super) fn answer(
        &mut self,
        id: ClientId,
        incoming: Incoming,
        context: &mut Context<'_>,
        programs: &mut Programs,
        carriers: &mut Carriers,
        tasks: &Tasks,
    ) -> Result<Outcome, RunError> {
        let (request, fds) = match incoming {
            Incoming::Request(request, fds) => (request, fds),
            Incoming::Gone => return self.let_go(id, context, programs),
        };
        let is_down = request == Request::Down;
        let reply = match request {
            Request::Hello(hello) => {
                greet(&hello, &context.job.plan.name, CAPABILITIES).map_or_else(Reply::Refused, Reply::Hello)
            }
            Request::Info => Reply::Info(info(context, programs, self.now(context).paused)),
            Request::Topology => Reply::Topology(topology::topology(context, programs)),
            Request::Now => Reply::Now(self.now(context)),
            Request::Advance(wanted) => {
                let runs = programs.processes.key_of(Purpose::Client(id)).is_some();
                match self.advance(id, wanted, runs, context) {
                    Ok(()) => return Ok(Outcome::GoesOn),
                    Err(refused) => Reply::Refused(refused),
                }
            }
            Request::Pause => self.pause(true, context).map_or_else(Reply::Refused, Reply::Now),
            Request::Resume => self.pause(false, context).map_or_else(Reply::Refused, Reply::Now),
            Request::Stats => Reply::Stats(context.links.stats(&context.job.plan)?),
            Request::Verdict => return Ok(Outcome::Tells(Told::Verdict)),
            Request::Restart(wanted) => {
                let restarted = programs.restart(context, &wanted.name)?;
                if restarted.is_ok() {
                    context.intervene(false, &format!("service {} restarted", wanted.name));
                }
                restarted.map_or_else(refused, |()| Reply::Done)
            }
            Request::Stop(wanted) => match self.change_node(id, &wanted, false, (context, programs, carriers))? {
                Ok(()) => return Ok(Outcome::GoesOn),
                Err(refusal) => refused(refusal),
            },
            Request::Start(wanted) => match self.change_node(id, &wanted, true, (context, programs, carriers))? {
                Ok(()) => return Ok(Outcome::GoesOn),
                Err(refusal) => refused(refusal),
            },
            Request::Exercise => Reply::Exercise(tasks.report(&context.job.plan)),
            Request::Exec(exec) => execute(id, exec, fds, context, programs).map_or_else(refused, |()| Reply::Started),
            Request::Set(set) => {
                change(&set, context, programs, carriers, &mut self.heals)?.map_or_else(refused, |()| Reply::Done)
            }
            Request::Capture(wanted) => {
                self.watch(id, &wanted, fds, context)?.map_or_else(refused, |()| Reply::Started)
            }
            Request::Signal(wanted) => signal(id, &wanted, programs).map_or_else(refused, |()| Reply::Done),
            Request::Subscribe(wanted) => {
                self.subscribe(id, &wanted, context, programs)?.map_or_else(Reply::Refused, |()| Reply::Done)
            }
            Request::Unsubscribe(wanted) => {
                self.unsubscribe(id, wanted.events, context)?.map_or_else(Reply::Refused, |()| Reply::Done)
            }
            Request::Socket(wanted) => {
                let opened = sockets::open(&wanted, &context.job.plan, programs);
                return self.hand_over(id, opened.map(|socket| (Reply::Socket, socket)));
            }
            Request::Console(wanted) => return self.hand_over(id, consoles::open(&wanted, context.job, programs)),
            Request::Down => Reply::Done,
        };
        self.server.reply(id, &reply);
        Ok(if is_down { Outcome::Ends } else { Outcome::GoesOn })
    }
}

impl Requests {
    /// A client has gone: what it ran ends, and nothing is kept for it.
    fn let_go(
        &mut self,
        id: ClientId,
        context: &mut Context<'_>,
        programs: &mut Programs,
    ) -> Result<Outcome, RunError> {
        if let Some(key) = programs.processes.key_of(Purpose::Client(id)) {
            programs.nodes[key.node].forsake(key.process);
        }
        programs.processes.stop(context.links.now(), |purpose| purpose == Purpose::Client(id));
        self.unwatch(id, context)?;
        self.forget_subscriptions(id, context)?;
        self.hold.forget(id);
        programs.forget_changed(id);
        Ok(Outcome::GoesOn)
    }

    /// Stops a node, or starts it: the reply comes when that is done, or at once if time stands still.
    fn change_node(
        &mut self,
        client: ClientId,
        wanted: &NodeName,
        starts: bool,
        (context, programs, carriers): (&mut Context<'_>, &mut Programs, &mut Carriers),
    ) -> Result<Result<(), Refusal>, RunError> {
        let node = match find_node(&context.job.plan, &wanted.node) {
            Ok(node) => node,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let begun = stops::asked(context, programs, carriers, (client, node, starts))?;
        if begun.is_ok() && !self.now(context).paused {
            self.server.postpone(client);
        } else if begun.is_ok() {
            programs.forget_changed(client);
            self.server.reply(client, &Reply::Done);
        }
        Ok(begun)
    }

    /// Tells clients that what they asked of nodes is done.
    pub(super) fn tell_changed(&mut self, clients: Vec<ClientId>) {
        clients.into_iter().for_each(|client| self.server.reply(client, &Reply::Done));
    }
}

fn info(context: &Context<'_>, programs: &Programs, paused: bool) -> LabInfo {
    let plan = &context.job.plan;
    let node = |(number, node): (usize, &netloom_lab::NodePlan)| NodeInfo {
        name: node.name.clone(),
        state: programs.state_of(number),
        kind: node.kind.name().into(),
        addresses: node.interfaces.iter().flat_map(|i| i.addresses.iter().map(ToString::to_string)).collect(),
    };
    LabInfo {
        name: plan.name.clone(),
        mode: context.job.mode.name().into(),
        file: context.job.lab_file.clone(),
        pid: context.job.guard_pid,
        age_ns: context.links.now().as_nanos(),
        folder: context.job.folder.path().to_owned(),
        nodes: plan.nodes.iter().enumerate().map(node).collect(),
        links: plan.links.len(),
        exposed: ways_into(plan),
        diverted: plan.diversion.as_ref().map(|diversion| netloom_lab::write_match(&diversion.matching)),
        services: programs.commands.iter().filter_map(|command| command.service(context.links.now())).collect(),
        longest_stop_ns: u64::try_from(longest_end(context, programs).as_nanos()).unwrap_or(u64::MAX),
        stalled: match context.links.driver() {
            Driver::Virtual(time) => time.stall(),
            Driver::Engine(_) => None,
        },
        paused,
    }
}

/// How long its programs and its files may take to end it, at most, in wall time.
pub(super) fn longest_end(context: &Context<'_>, programs: &Programs) -> std::time::Duration {
    let lab = programs.longest_stop() + longest_packing(context.job);
    context.job.plan.clock.dilation().unwrap_or_default().to_real(lab)
}

fn find_node(plan: &Plan, name: &str) -> Result<usize, Refusal> {
    let nodes = &plan.nodes;
    nodes.iter().position(|node| node.name == name).ok_or_else(|| {
        let names: Vec<&str> = nodes.iter().take(NAMES_LISTED).map(|node| node.name.as_str()).collect();
        (ExitCode::NoSuchLab, format!("no node is called `{name}`: there are {}", names.join(", ")))
    })
}

fn find_link(links: &Links, name: &str) -> Result<usize, Refusal> {
    links.find(name).ok_or_else(|| {
        let names: Vec<&str> = links.names().iter().take(NAMES_LISTED).map(|link| link.name.as_str()).collect();
        (ExitCode::NoSuchLab, format!("no link is called `{name}`: there are {}", names.join(", ")))
    })
}

/// The link with this name, of which clients want what only the engine can give them.
fn find_link_in_engine(links: &Links, name: &str, wanted: &str) -> Result<usize, Refusal> {
    let link = find_link(links, name)?;
    if !links.names()[link].joined {
        return Ok(link);
    }
    let message = format!(
        "`{name}` is joined in the kernel, past the engine, and cannot be {wanted}: write `bypass: false` for it in the \
         lab file and start the lab again"
    );
    Err((ExitCode::Usage, message))
}

fn find_place(links: &Links, set: &Set) -> Result<Place, Refusal> {
    let link = find_link_in_engine(links, &set.link, "changed")?;
    let direction = set.direction.as_deref().map(|name| direction(links, link, name)).transpose()?;
    let known = links.further_pipes(link, direction);
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
fn change(
    set: &Set,
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
    heals: &mut Heals,
) -> Result<Result<(), Refusal>, RunError> {
    let understood = find_place(&context.links, set).and_then(|place| Ok((place, understand(&set.changes)?)));
    let (place, wanted) = match understood {
        Ok(all) => all,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let described = &context.job.plan.links[place.link];
    if let Some(why) = described.refuses(&wanted.change) {
        return Ok(Err((ExitCode::Usage, format!("link `{}`: {why}", set.link))));
    }
    let mtu = Bytes::new(u64::from(described.mtu));
    if let Err(wrong) = context.links.check(place.link, place.direction, place.pipe.as_deref(), &wanted.change, mtu) {
        return Ok(Err((ExitCode::Usage, wrong.to_string())));
    }
    if let Some(why) =
        wanted.state.filter(|state| *state == State::Unplugged).and_then(|_| stays_plugged(context, &place))
    {
        return Ok(Err((ExitCode::Usage, why)));
    }
    if !wanted.change.is_empty() {
        change_link(context, &place, &wanted.change)?;
    }
    if let Some(state) = wanted.state {
        set_link_state(context, &place, state)?;
        let pipes = place.switched(&context.links);
        match wanted.lasting {
            Some(lasting) => heals.add(context.links.now() + lasting, place.clone(), pipes),
            None => heals.forget(&pipes),
        }
        // A cable is plugged in as a whole.
        if state != State::Down && has_carriers(&context.job.plan, place.link) {
            carriers.switch(context, programs, place.link, state == State::Up, None)?;
        }
    }
    Ok(Ok(()))
}

fn change_link(context: &mut Context<'_>, place: &Place, change: &PipeChange) -> Result<(), RunError> {
    context.links.change(place.link, place.direction, place.pipe.as_deref(), change)?;
    let link = context.links.names()[place.link].name.clone();
    let set = netloom_lab::describe_change(change);
    context.intervene(true, &format!("{} set to {set}", place.text(&link)));
    context.tell(format!("{} changed", place.text(&link)));
    context.note("link changed", place.details(&link, json!({ "set": set })))
}

/// Why the interfaces of a link cannot lose their carrier, if so.
fn stays_plugged(context: &Context<'_>, place: &Place) -> Option<String> {
    let plan = &context.job.plan;
    if place.direction.is_some() || place.pipe.is_some() {
        return Some("down: an interface has one carrier for all: name the link without direction and pipe".into());
    }
    let mut nodes = plan.links[place.link].ends.iter().map(|end| &plan.nodes[end.node]);
    let node = &nodes.find(|node| node.stack.is_own())?.name;
    Some(format!(
        "down: node `{node}` has a kernel of its own, whose interfaces always have a carrier: write down=true, or give \
         the node `stack: namespace` in real time"
    ))
}

/// Cuts a link, or a part of it, or restores it.
fn set_link_state(context: &mut Context<'_>, place: &Place, state: State) -> Result<(), RunError> {
    match state {
        State::Unplugged if has_carriers(&context.job.plan, place.link) => context.links.unplug(place.link)?,
        _ => context.links.set_up(place.link, place.direction, place.pipe.as_deref(), state == State::Up)?,
    }
    note_state(context, place, state)
}

/// Notes and tells that a link, or a part of it, is cut or restored.
fn note_state(context: &mut Context<'_>, place: &Place, state: State) -> Result<(), RunError> {
    let link = context.links.names()[place.link].name.clone();
    let state = if state == State::Up { "up" } else { "down" };
    context.intervene(true, &format!("{} {state}", place.text(&link)));
    context.tell(format!("{} {state}", place.text(&link)));
    context.note(&format!("link {state}"), place.details(&link, json!({})))
}

/// A link, a direction of it, or a further pipe.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) link: usize,
    direction: Option<Direction>,
    pipe: Option<String>,
}

impl Place {
    pub(super) fn new(link: usize, direction: Option<Direction>, pipe: Option<String>) -> Self {
        Self { link, direction, pipe }
    }

    /// The numbers of its pipes, as far as they are cut and restored with it.
    fn switched(&self, links: &Links) -> Vec<usize> {
        links.switched(self.link, self.direction, self.pipe.as_deref())
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

/// What this lab offers its clients, as `hello` tells them.
const CAPABILITIES: &[&str] = &[
    "capture",
    "clock",
    "console",
    "events",
    "exec",
    "exercise",
    "packets",
    "restart",
    "set",
    "socket",
    "stats",
    "stop",
    "tcp",
    "time",
    "topology",
    "until_exit",
    "verdict",
];
/// How many names a message lists.
const NAMES_LISTED: usize = 20;

/// What the keys and values of a request ask for.
#[derive(Default)]
struct Wanted {
    change: PipeChange,
    state: Option<State>,
    /// How long it is cut; none: until it is restored.
    lasting: Option<Duration>,
}

/// What a link or a part of it is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Up,
    Down,
    /// Down, and its interfaces without carrier.
    Unplugged,
}

fn understand(changes: &[(String, String)]) -> Result<Wanted, Refusal> {
    let mut wanted = Wanted::default();
    // A string of another tool says what is usual, and keys beside it what is not.
    let is_string = |key: &str| Dialect::ALL.iter().any(|dialect| dialect.name() == key);
    let (strings, keys): (Vec<_>, Vec<_>) = changes.iter().partition(|(key, _)| is_string(key));
    for (key, value) in strings.into_iter().chain(keys) {
        match (key.as_str(), value.as_str()) {
            ("state", "up") | ("up", "true") => (wanted.state, wanted.lasting) = (Some(State::Up), None),
            ("state", "down") => (wanted.state, wanted.lasting) = (Some(State::Down), None),
            ("up", _) => return Err((ExitCode::Usage, "up: write up=true; down=true cuts a link".into())),
            ("down", cut) => {
                let cut = parse_cut(cut).map_err(|error| (ExitCode::Usage, error.to_string()))?;
                wanted.state = Some(if cut.carrier { State::Unplugged } else { State::Down });
                wanted.lasting = cut.duration;
            }
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

fn direction(links: &Links, link: usize, name: &str) -> Result<Direction, Refusal> {
    if links.is_shared(link) {
        let medium = &links.names()[link].name;
        return Err((
            ExitCode::Usage,
            format!("`{medium}` is a shared medium, which has no directions: leave the direction out"),
        ));
    }
    match name {
        "forward" => Ok(Direction::Forward),
        "backward" => Ok(Direction::Backward),
        other => Err((ExitCode::Usage, format!("`{other}` is not a direction: write forward or backward"))),
    }
}

fn refused((code, message): Refusal) -> Reply {
    Reply::Refused(Refused { code: code.number(), message, key: None })
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
        assert_eq!(wanted.state, Some(State::Down));
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
        assert_eq!(wanted.state, Some(State::Down));
        assert!(wanted.change.state.as_ref().is_some_and(|state| state.flap.is_some()));
        let none = understand(&pairs(&[("state", "none")])).unwrap();
        assert_eq!(none.change.state, Some(netloom_link::StateConfig::default()));
        assert_eq!(understand(&pairs(&[("state", "{flap: 1 s}")])).err().unwrap().0, ExitCode::Usage);
    }

    /// The words of the timeline.
    #[test]
    fn a_link_is_cut_and_restored_as_on_the_timeline() {
        let state = |key, value| understand(&pairs(&[(key, value)])).map(|wanted| wanted.state);
        assert_eq!(state("down", "true"), Ok(Some(State::Down)));
        assert_eq!(state("down", "{carrier: true}"), Ok(Some(State::Unplugged)));
        assert_eq!(state("down", "{carrier: false}"), Ok(Some(State::Down)));
        assert_eq!(state("up", "true"), Ok(Some(State::Up)));
        let lasting =
            |value| understand(&pairs(&[("down", value)])).map(|wanted| (wanted.state, wanted.lasting)).unwrap();
        assert_eq!(lasting("true"), (Some(State::Down), None));
        assert_eq!(lasting("500 ms"), (Some(State::Down), Some(Duration::from_millis(500))));
        assert_eq!(lasting("{carrier: true, for: 1 s}"), (Some(State::Unplugged), Some(Duration::from_millis(1_000))));
        let wrong = |key, value| state(key, value).unwrap_err().1;
        assert_eq!(wrong("down", "false"), "down: write `up: true` to restore a link");
        assert!(wrong("down", "{carier: true}").contains("carrier"));
        assert_eq!(wrong("up", "false"), "up: write up=true; down=true cuts a link");
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
