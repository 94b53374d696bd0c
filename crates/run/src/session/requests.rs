//! What clients of the control socket ask, and the answers.

mod consoles;
mod events;
mod exec;
mod faults;
mod heals;
mod hold;
mod outcome;
mod partitions;
mod place;
mod refusals;
mod set;
mod sockets;
mod state;
mod stats;
mod time;
mod topology;
mod watch;
mod withheld;

use super::carriers::Carriers;
use super::context::Context;
use super::programs::{Programs, Purpose, longest_packing};
use super::stops;
use events::Subscriptions;
use exec::{execute, signal};
use heals::Heals;
use hold::Hold;
use netloom_control::{ClientId, Incoming, LabInfo, NodeInfo, NodeName, Refused, Reply, Request, Server, greet};
use netloom_judge::expectations::Tasks;
use netloom_judge::{ExitCode, RunError};
use netloom_provision::driver::Driver;
use netloom_provision::exposed::ways_into;
use netloom_units::{Duration, Instant};
pub(super) use outcome::{Outcome, Told};
use partitions::ClientPartitions;
pub(super) use place::Place;
use refusals::{Refusal, find_node};
use set::change;
pub(super) use state::Requests;
use std::collections::BTreeMap;

impl Requests {
    /// Those that come to `server`. In virtual time, `is_paused` labs stand at time zero until a client lets them go on, and runs are
    /// held at `stop_at`, counted from time zero.
    pub(super) fn new(server: Server, is_paused: bool, stop_at: Option<Duration>) -> Self {
        let (hold, heals, partitions) = (Hold::new(is_paused, stop_at), Heals::default(), ClientPartitions::default());
        let (watched, subscriptions) = (BTreeMap::new(), Subscriptions::default());
        Self { server, watched, subscriptions, hold, heals, partitions }
    }

    /// The control socket.
    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// Lets the clients in that wait.
    pub(super) fn accept(&mut self, context: &mut Context<'_>) {
        if let Err(error) = self.server.accept() {
            context.report(format!("no more clients for now: accepting one: {error}"));
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
        [self.heals.next(), self.partitions.next()].into_iter().flatten().min()
    }

    /// Restores what clients have cut for so long, when that time has passed.
    pub(super) fn heal(
        &mut self,
        context: &mut Context<'_>,
        programs: &mut Programs,
        carriers: &mut Carriers,
    ) -> Result<(), RunError> {
        self.partitions.end_due(context)?;
        self.heals.restore(context, programs, carriers)
    }

    /// The partitions that are made while the lab runs.
    pub(super) fn partitions(&mut self) -> &mut ClientPartitions {
        &mut self.partitions
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
        if let Some(why) = withheld::why(&request, self.server.word(id), context) {
            self.server.reply(id, &refused((ExitCode::Usage, why)));
            return Ok(Outcome::GoesOn);
        }
        let (is_down, starts) = (request == Request::Down, matches!(request, Request::Start(_)));
        let reply = match request {
            Request::Hello(hello) => {
                greet(&hello, context.job.own_name(), CAPABILITIES).map_or_else(Reply::Refused, Reply::Hello)
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
            Request::Stats => Reply::Stats(stats::stats(&mut context.links, &context.job.plan)?),
            Request::Verdict => return Ok(Outcome::Tells(Told::Verdict)),
            Request::Restart(wanted) => programs.restart(context, &wanted.name)?.map_or_else(refused, |()| Reply::Done),
            Request::Stop(wanted) | Request::Start(wanted) => {
                match self.change_node(id, &wanted, starts, (context, programs, carriers))? {
                    Ok(()) => return Ok(Outcome::GoesOn),
                    Err(refusal) => refused(refusal),
                }
            }
            Request::Exercise => Reply::Exercise(tasks.report(&context.job.plan)),
            Request::Exec(exec) => execute(id, exec, fds, context, programs).map_or_else(refused, |()| Reply::Started),
            Request::Set(set) => {
                change(&set, context, programs, carriers, &mut self.heals)?.map_or_else(refused, |()| Reply::Done)
            }
            Request::Partition(wanted) => {
                self.partitions.add(&wanted.entry, context)?.map_or_else(refused, |()| Reply::Done)
            }
            Request::Fault(wanted) => match self.fault(&wanted.entry, context, programs, carriers)? {
                Ok(actions) if !actions.is_empty() => return Ok(Outcome::Plays(actions)),
                done => done.map_or_else(refused, |_| Reply::Done),
            },
            Request::Heal => self.partitions.heal(context)?.map_or_else(refused, |()| Reply::Done),
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
        let begun = stops::asked(context, programs, carriers, (Some(client), node, starts))?;
        if begun.is_ok() && !self.now(context).paused {
            self.server.postpone(client);
        } else if begun.is_ok() {
            programs.forget_changed(client);
            self.server.reply(client, &Reply::Done);
        }
        Ok(begun)
    }

    /// Tells clients that what they asked of nodes is done, or why not.
    pub(super) fn report_changed(&mut self, clients: Vec<(ClientId, Result<(), Refusal>)>) {
        for (client, changed) in clients {
            self.server.reply(client, &changed.map_or_else(refused, |()| Reply::Done));
        }
    }
}

fn info(context: &Context<'_>, programs: &Programs, paused: bool) -> LabInfo {
    let plan = &context.job.plan;
    let node = |(number, node): (usize, &netloom_lab::NodePlan)| NodeInfo {
        name: node.name.clone(),
        state: programs.shown_state(number),
        kind: node.kind.name().into(),
        addresses: node.interfaces.iter().flat_map(|i| i.addresses.iter().map(ToString::to_string)).collect(),
    };
    LabInfo {
        name: context.job.own_name().to_owned(),
        mode: context.job.mode.name().into(),
        file: context.job.lab_file.clone(),
        pid: context.order.guard_pid,
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

/// What this lab offers its clients, as `hello` tells them.
const CAPABILITIES: &[&str] = &[
    "capture",
    "clock",
    "console",
    "events",
    "exec",
    "exercise",
    "fault",
    "packets",
    "partition",
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

pub(super) fn refused((code, message): Refusal) -> Reply {
    Reply::Refused(Refused { code: code.number(), message, key: None })
}
