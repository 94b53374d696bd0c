//! Traffic of this machine that goes through a lab's links: what catches it, before the lab is made, and the rules that divert it.
//!
//! A queue of netfilter and raw sockets are opened in the machine's network namespace before the guard forks the lab,
//! which inherits them; the lab writes the rules (`netloom_host::firewall`) when its engine reads the queue. Guard
//! and lab both know the namespace and remove the rules; `lab.json` names them for the next command. Rules may divert
//! too much: the port applies the filter once more. Users and groups of a match are no part of the filter, since no
//! packet says them: rules find them (`owners`), and mark connections.

use crate::resource::{Ground, Making, Opening, Resource, Site};
use crate::setup_error::SetupError;
use netloom_dataplane::{Diverted, NetfilterQueue, Owners, PortConfig, RawSockets};
use netloom_divert::conditions;
use netloom_divert::owners::{self, Owned};
use netloom_host::KernelError;
use netloom_host::firewall::{self, Firewall};
use netloom_judge::RunError;
use netloom_lab::fabric::{pipe_id, port_id};
use netloom_lab::{DiversionPlan, Plan};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::num::NonZeroU16;
use std::rc::Rc;

pub use netloom_divert::{SshSession, ssh_session};

/// The first queue that is tried; programs that use queues take small numbers.
const FIRST_QUEUE: u16 = 19_968;
/// The last that is tried.
const LAST_QUEUE: u16 = 20_223;
/// What catches diverted traffic. It belongs to the network namespace in which it was made.
#[derive(Debug)]
struct DiversionSockets {
    queue: NetfilterQueue,
    sockets: RawSockets,
    rules: firewall::Diversion,
    /// Whose packets are meant, as the kernel tells it; none: everybody's.
    owners: Option<Owners>,
}

/// The traffic of this machine that goes through a lab.
#[derive(Default)]
pub struct Diversions {
    catch: Option<DiversionSockets>,
    /// The rules that divert it, once they are known.
    rules: Option<firewall::Diversion>,
    firewall: Option<Rc<Firewall>>,
}

impl Diversions {
    /// Returns where rules divert traffic to the lab; none if none is.
    pub fn firewall(&self) -> Option<Rc<Firewall>> {
        self.firewall.clone()
    }
}

impl Resource for Diversions {
    fn open(&mut self, opening: Opening, ground: &Ground<'_>) -> Result<(), RunError> {
        if opening == Opening::Outside {
            let (catch, firewall) = prepare(ground.plan)?.unzip();
            (self.catch, self.firewall) = (catch, firewall.map(Rc::new));
        }
        Ok(())
    }

    fn make(&mut self, making: Making, site: &mut Site<'_>) -> Result<(), SetupError> {
        match (making, &site.plan.diversion, &self.firewall) {
            (Making::Links, Some(described), _) => {
                let Some(catch) = self.catch.take() else { return Ok(()) };
                self.rules = Some(catch.rules());
                site.ports.push(catch.port(site.plan, described));
            }
            (Making::Running, _, Some(firewall)) => {
                self.rules.take().map_or(Ok(()), |rules| divert(firewall, &rules))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn let_go(&mut self) {
        self.catch = None;
    }
}

/// Takes a queue, if the plan needs one, and what its rules will be.
fn prepare(plan: &Plan) -> Result<Option<(DiversionSockets, Firewall)>, RunError> {
    let Some(diversion) = &plan.diversion else { return Ok(None) };
    let firewall = Firewall::here(&plan.name).map_err(|error| refused(&error))?;
    let owned = owners::find(&diversion.matching.owners).map_err(RunError::Machine)?;
    let queue = take_queue(&firewall, diversion.queue)?;
    let rules = rules(diversion, queue.number(), owned.as_ref());
    let sockets = RawSockets::open(rules.mark()).map_err(|error| {
        RunError::Machine(format!("open a raw socket for diverted traffic: {error}{}", advice(&error)))
    })?;
    let owners = owned.map(|owned| owned.told);
    Ok(Some((DiversionSockets { queue, sockets, rules, owners }, firewall)))
}

/// The rules that lead to a queue.
fn rules(plan: &DiversionPlan, queue: u16, owned: Option<&Owned>) -> firewall::Diversion {
    let (filter, is_one_way) = (&plan.matching.filter, plan.is_one_way);
    firewall::Diversion {
        queue,
        tag: new_tag(),
        tables: [false, true].map(|is_v6| conditions::tables(filter, is_one_way, is_v6)),
        nft: conditions::nft(filter, is_one_way),
        made: owned.map(|owned| firewall::Made {
            tables: [false, true].map(|is_v6| owned.joined(&owned.tables, &conditions::tables(filter, true, is_v6))),
            nft: owned.joined(&owned.nft, &conditions::nft(filter, true)),
            alone: is_one_way,
        }),
    }
}

/// Another one each time: the kernel goes on knowing the connections that rules marked which are no more.
fn new_tag() -> NonZeroU16 {
    let bits = RandomState::new().hash_one(std::process::id());
    let numbers = bits.to_ne_bytes();
    let tags = numbers.chunks_exact(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]]));
    tags.into_iter().find_map(NonZeroU16::new).unwrap_or(NonZeroU16::MIN)
}

/// A queue that neither a program nor a rule has: this one, or any.
fn take_queue(firewall: &Firewall, wanted: Option<u16>) -> Result<NetfilterQueue, RunError> {
    let taken = firewall.queues_of_rules();
    let is_free = |number: &u16| !taken.iter().any(|range| range.contains(number));
    let numbers = wanted.map_or(FIRST_QUEUE..=LAST_QUEUE, |number| number..=number);
    for number in numbers.filter(is_free) {
        match NetfilterQueue::open(number) {
            Ok(queue) => return Ok(queue),
            // Another program has it.
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
            Err(error) => {
                let message = format!("take queue {number} of netfilter: {error}{}", advice(&error));
                return Err(RunError::Machine(message));
            }
        }
    }
    Err(RunError::Machine(match wanted {
        Some(number) => {
            format!(
                "queue {number} of netfilter belongs to another program or rule: leave --queue-number out, or say another"
            )
        }
        None => format!("the queues {FIRST_QUEUE} to {LAST_QUEUE} of netfilter all belong to other programs or rules"),
    }))
}

fn advice(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            ": this takes the right to administer the network (CAP_NET_ADMIN): run it as root, or in a network namespace of your own"
        }
        Some(libc::EPROTONOSUPPORT | libc::EAFNOSUPPORT | libc::EINVAL | libc::EOPNOTSUPP) => {
            ": this kernel lacks a part (CONFIG_NETFILTER_NETLINK_QUEUE): try `modprobe nfnetlink_queue`"
        }
        _ => "",
    }
}

fn refused(error: &KernelError) -> RunError {
    RunError::Machine(error.to_string())
}

impl DiversionSockets {
    /// The rules that lead here.
    fn rules(&self) -> firewall::Diversion {
        self.rules.clone()
    }

    /// The ports of the engine that it is, at the ends of the plan's first link.
    fn port(self, plan: &Plan, diversion: &DiversionPlan) -> PortConfig {
        let pipes = plan.pipes().enumerate().map(|(place, pipe)| (pipe_id(place), pipe.config.clone()));
        let ends = &plan.links[0].ends;
        PortConfig::Diverted(Box::new(Diverted {
            ports: [port_id(ends[0].end), port_id(ends[1].end)],
            filter: diversion.matching.filter.clone(),
            owners: self.owners,
            is_one_way: diversion.is_one_way,
            pipes: pipes.collect(),
            queue: self.queue,
            sockets: self.sockets,
        }))
    }
}

/// Diverts the traffic.
fn divert(firewall: &Firewall, rules: &firewall::Diversion) -> Result<(), SetupError> {
    firewall.divert(rules).map_err(SetupError::Machine)
}
