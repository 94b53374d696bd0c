//! The tables of the whole file and of its bounds.

use super::daemons::CONVERGED;
use super::exercise::EXERCISE;
use super::kinds::{DURATION, NODE_REFERENCE, SHARE, VARIABLE_NAMES};
use super::measure::MEASURE_KIND;
use super::multicast::MULTICAST_LIST;
use super::network::{ADDRESSES, ADDRESSING, LINK};
use super::node::{NODE, ROUTES};
use super::timeline::{
    DOWN, FLAP_ENTRY, HEAL, KILL, LOG, MOVE, PARTITION, PAUSE, RAMP_ENTRY, REBOOT, RESTART, RUN, SET, SETUP,
    START_ENTRY, STOP_ENTRY, UP,
};
use super::{COMMAND_NAME, Key, Kind, LINK_NAME, NODE_NAME, Section};
use crate::plan::Shards;
use crate::{capture, generate, journal, traffic, vary};
use netloom_units::Dilation;

/// The whole file.
pub(crate) const TOP: Section = Section {
    name: "lab",
    doc: "A network and what happens on it.",
    groups: &[
        vary::VARIED,
        &[
            Key::new(
                "name",
                Kind::Text("^[a-z0-9-]{1,32}$"),
                "dumbbell",
                "The lab's name: 1 to 32 of a-z, 0-9 and -. Default: the file's name without its extension.",
            ),
            Key::new(
                "seed",
                Kind::Integer { least: 0, most: u64::MAX },
                "7",
                "The seed of all random numbers: with the same seed, the same packets are lost. Default: 1.",
            ),
            Key::new(
                "clock",
                Kind::OneOf(&[Kind::Word(&["real", "virtual"]), Kind::Section(&CLOCK)]),
                "{dilation: 10}",
                "How lab time passes: real, as ours does; {dilation: N}, N times slower; virtual, from event to event. \
             Default: real.",
            ),
            Key::new(
                "on_spin",
                Kind::Word(&["wait", "advance"]),
                "advance",
                "What becomes of a program in virtual time that computes for long without a system call: wait until it makes \
             one, however long that takes; or advance, let lab time go on meanwhile, so that the run cannot be repeated. \
             Default: wait.",
            ),
            Key::new(
                "start",
                Kind::Text("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
                "2026-11-22",
                "The day at whose beginning, in UTC, the wall clocks of kernel nodes start: up to 2042-12-31. Default: in virtual \
             time the day after the kernel was built, else now.",
            ),
            Key::new(
                "inherit",
                VARIABLE_NAMES,
                "[PATH, SSH_AUTH_SOCK]",
                "Environment variables of the command that starts the lab, which all programs get. Default: none.",
            ),
            Key::new(
                "precision",
                Kind::Word(&["eco", "balanced", "exact"]),
                "balanced",
                "How precisely packets are released: eco sleeps, balanced spins for the last microseconds, exact spins \
             always and takes a whole processor. Default: balanced.",
            ),
            Key::new(
                "shards",
                Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Integer { least: 1, most: Shards::MOST as u64 }]),
                "2",
                "How many threads the packet engine has, which share the links out among themselves: auto, as many as the \
             machine can spare and the lab has independent parts for; or a number, for which links between transit routers \
             are cut if need be. Default: auto.",
            ),
            Key::new(
                "bypass",
                Kind::Word(&["off", "auto"]),
                "auto",
                "Whether links that nothing impairs, changes or measures are joined in the kernel, past the engine: off or \
             auto. Default: off.",
            ),
            Key::new(
                "routes",
                ROUTES,
                "ecmp",
                "What routes the nodes get: shortest, those of the shortest paths, one to each destination; ecmp, all of the least \
             cost, among which flows are spread; none. Default: shortest.",
            ),
            Key::new(
                "multicast",
                MULTICAST_LIST,
                "[{group: 239.1.2.3, from: server, to: [a, b]}]",
                "Trees of multicast along shortest paths, on which transit routers pass packets on. Default: none.",
            ),
            Key::new(
                "addresses",
                Kind::OneOf(&[ADDRESSES, Kind::Section(&ADDRESSING)]),
                "{ipv4: 172.16.0.0/12, ipv6: none}",
                "Whether ends of links get addresses that the file does not give: automatic or none; or which ones. Default: \
             automatic.",
            ),
            Key::new(
                "arp",
                Kind::Flag,
                "true",
                "Whether nodes learn the Ethernet addresses of their neighbours by ARP and neighbour discovery; false: they have \
             permanent entries. Default: true on LANs with more than 128 ends, else false.",
            ),
            Key::new(
                "loops",
                Kind::Word(&["refused", "allowed"]),
                "allowed",
                "Whether switches and hubs may be joined in a loop, in which broadcasts go round for ever: refused or allowed. \
             Default: refused.",
            ),
            Key::new(
                "ready",
                Kind::OneOf(&[Kind::Word(&["converged"]), Kind::Section(&CONVERGED)]),
                "converged",
                "What time zero waits for beside the services: converged, until every router has the routes that its daemons \
             bring, at most 60 s or what {converged: 30 s} says. Default: nothing.",
            ),
            Key::new(
                "duration",
                DURATION,
                "15 s",
                "When the run ends at the latest, after time zero. Default: when all commands have ended.",
            ),
            generate::GENERATE,
            Key::new("nodes", NODES, "{client: {}, r1: {kind: router}}", "The nodes by name, or a list of names."),
            Key::new(
                "links",
                Kind::Map { names: LINK_NAME, values: &Kind::Section(&LINK) },
                "{access: {ends: [client, r1], delay: 1 ms}}",
                "The links by name.",
            ),
            Key::new(
                "layout",
                Kind::Map {
                    names: NODE_NAME,
                    values: &Kind::List { items: &Kind::Coordinate, least: 2, most: Some(2) },
                },
                "{client: [0, 0], r1: [1, 0.5]}",
                "Where nodes are in a picture: to the right, and down. A link has a length of about 1.",
            ),
            Key::new(
                "setup",
                Kind::List { items: &Kind::Section(&SETUP), least: 0, most: None },
                "[{on: server, run: createdb shop}]",
                "Commands that must succeed before the services start, one after the other, after those of the nodes.",
            ),
            Key::new(
                "stop",
                DURATION,
                "10 s",
                "How long programs have between SIGTERM and SIGKILL when they are stopped. Default: 1 s.",
            ),
            Key::new(
                "timeline",
                Kind::List {
                    items: &Kind::OneOf(&[
                        Kind::Section(&RUN),
                        Kind::Section(&SET),
                        Kind::Section(&RAMP_ENTRY),
                        Kind::Section(&LOG),
                        Kind::Section(&DOWN),
                        Kind::Section(&UP),
                        Kind::Section(&PARTITION),
                        Kind::Section(&HEAL),
                        Kind::Section(&MOVE),
                        Kind::Section(&KILL),
                        Kind::Section(&PAUSE),
                        Kind::Section(&RESTART),
                        Kind::Section(&REBOOT),
                        Kind::Section(&STOP_ENTRY),
                        Kind::Section(&START_ENTRY),
                        Kind::Section(&FLAP_ENTRY),
                    ]),
                    least: 0,
                    most: None,
                },
                "[{at: 1 s, on: client, run: ping -c 3 server}]",
                "What happens and when. Time zero is when all services without a time are ready.",
            ),
            traffic::KEY,
            capture::KEY,
            journal::KEY,
            Key::new(
                "measure",
                MEASURE_KIND,
                "{tcp: 10 ms}",
                "What is measured inside every node that runs programs, unless the node says otherwise, and how often links are \
                 sampled. Default: links ten times a second.",
            ),
            Key::new(
                "expect",
                Kind::List { items: &Kind::Text("\\S"), least: 0, most: None },
                "[ping.exit == 0, p99(backbone.forward.delay) < 25 ms]",
                "What must hold after the run, or over all runs of a sweep: <term> <comparison> <value or term> [during A..B] [over runs].",
            ),
            Key::new(
                "figures",
                Kind::Map { names: COMMAND_NAME, values: &Kind::Text("\\S") },
                "{goodput: ping.duration}",
                "What is measured, by name, for reports and the tables of sweeps: <term> [in UNIT] [during A..B].",
            ),
            Key::new(
                "exercise",
                Kind::Section(&EXERCISE),
                "{text: Fill the queue., tasks: [{title: See it fill, check: backbone.forward.queue_max > 9 packets}]}",
                "Tasks for somebody who learns with this lab, which are checked while it is up. Default: none.",
            ),
            Key::new(
                "bounds",
                Kind::Section(&BOUNDS),
                "{lateness: 500 us}",
                "How far the network may stray from its description.",
            ),
        ],
    ],
};

const NODES: Kind = Kind::OneOf(&[
    Kind::Map { names: NODE_NAME, values: &Kind::Optional(&NODE) },
    Kind::List { items: &NODE_REFERENCE, least: 1, most: None },
]);

/// Dilated time.
pub(crate) const CLOCK: Section = Section {
    name: "clock",
    doc: "Lab time that is slower than wall time.",
    groups: &[&[Key::new(
        "dilation",
        Kind::Number { least: 1, most: Dilation::MOST },
        "2.5",
        "How many seconds of wall time a second of lab time lasts: 1 to 10000, with up to six decimals.",
    )
    .required()]],
};

/// How far a run may stray from its description.
pub(crate) const BOUNDS: Section = Section {
    name: "bounds",
    doc: "How far a run may stray and still be as described.",
    groups: &[&[
        Key::new(
            "lateness",
            DURATION,
            "500 us",
            "99 % of a pipe's packets are delivered at most this much later than due. Default: 1 ms.",
        ),
        Key::new(
            "lateness_max",
            DURATION,
            "20 ms",
            "No packet of a pipe is delivered later than due by more than this. Default: ten times `lateness`.",
        ),
        Key::new(
            "rate",
            SHARE,
            "1 %",
            "The rate of a busy pipe differs from the described one by at most this. Default: 2 %.",
        ),
        Key::new(
            "delay",
            SHARE,
            "1 %",
            "The mean delay of a pipe differs from the described one by at most this, or by `lateness` if that is more. \
             Default: 1 %.",
        ),
        Key::new(
            "starvation",
            SHARE,
            "10 %",
            "Each kernel node, and an engine that serves kernel nodes, waits for a processor for at most this share of \
             wall time. Default: 10 %.",
        ),
        Key::new(
            "standstill",
            DURATION,
            "500 ms",
            "Each kernel node and virtual machine stands still for at most this long at a time, whatever the cause. Default: \
             100 ms; no limit with `starvation: 100 %`.",
        ),
        Key::new(
            "events",
            DURATION,
            "1 ms",
            "Links are changed, cut and restored, windows of expectations begin and end, and the run ends at most this much \
             later than described. Default: 10 ms.",
        ),
        Key::new(
            "starts",
            DURATION,
            "500 ms",
            "Programs with an `at` are started, and programs with a `for` are stopped, at most this much later than \
             described. Default: 100 ms.",
        ),
        Key::new(
            "changes",
            Kind::Flag,
            "true",
            "Whether programs may give interfaces of described links another queue, MTU or state. Default: false.",
        ),
    ]],
};
