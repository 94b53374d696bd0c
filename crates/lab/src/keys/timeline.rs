//! The tables of the timeline's entries.

use super::files::USER;
use super::kinds::{DURATION, DURATION_OR_ZERO, ENVIRONMENT, LINK_REFERENCE, NODE_REFERENCE, SHARE_OR_ZERO};
use super::{COMMAND_NAME, Key, Kind, NODES_NAME, Quantity, Section};
use crate::models::CHANGE;

/// The events that one entry stands for, at most, and those of all that do.
pub(crate) const MOST_TIMES: u64 = 100_000;
pub(super) const COMMAND: Kind =
    Kind::OneOf(&[Kind::Text("\\S"), Kind::List { items: &Kind::Scalar, least: 1, most: None }]);
const NODES: Kind = Kind::Text(NODES_NAME);
const INSTANT: Kind = Kind::OneOf(&[DURATION, Kind::Zero, Kind::Section(&DRAWN)]);
const AT_KEY: Key = Key::new("at", INSTANT, "1 s", "When, after time zero; a map to draw it. Default: at time zero.");
const LENGTH: Kind = Kind::OneOf(&[DURATION, Kind::Section(&DRAWN)]);
const EVERY_KEY: Key = Key::new(
    "every",
    Kind::OneOf(&[DURATION, Kind::Section(&DRAWN)]),
    "5 s",
    "It happens again and again, so long after the time before; a map to draw each. Needs `times` or `until`.",
);
const TIMES_KEY: Key = Key::new(
    "times",
    Kind::Integer { least: 1, most: MOST_TIMES },
    "10",
    "How often it happens, with `every`. Default: until `until`.",
);
const UNTIL_KEY: Key =
    Key::new("until", DURATION, "60 s", "It does not happen after this time, with `every`. Default: `times` counts.");
const DIRECTION_KEY: Key =
    Key::new("direction", Kind::Word(&["forward", "backward"]), "forward", "Only this direction. Default: both.");
const CUT_PIPE_KEY: Key =
    Key::new("pipe", LINK_REFERENCE, "far", "Only the further pipe of this name. Default: all pipes of the link.");
const LINK_KEY: Key = Key::new("link", LINK_REFERENCE, "backbone", "The link.").required();

/// A span of time that is drawn from the seed.
pub(crate) const DRAWN: Section = Section {
    name: "drawn",
    doc: "A time that is drawn from the seed: one of uniform and mean.",
    groups: &[&[
        Key::new(
            "uniform",
            Kind::List { items: &DURATION_OR_ZERO, least: 2, most: Some(2) },
            "[1 s, 5 s]",
            "The least and the longest; all between are equally likely.",
        ),
        Key::new("mean", DURATION, "2 s", "The mean of an exponential distribution."),
    ]],
};

/// An entry of the timeline that starts a program.
pub(crate) const RUN: Section = Section {
    name: "run",
    doc: "Starts a program.",
    groups: &[&[
        Key::new(
            "on",
            Kind::OneOf(&[NODES, Kind::List { items: &NODES, least: 1, most: None }]),
            "client",
            "The node that it runs on, or several: a list, or a name with `*`, which stands for any letters.",
        )
        .required(),
        Key::new(
            "run",
            COMMAND,
            "iperf3 -c server -t 10",
            "A text for /bin/sh, or a list of a program and its arguments.",
        )
        .required(),
        Key::new(
            "at",
            INSTANT,
            "1 s",
            "When it starts, after time zero; a map to draw it. Default: a service before time zero, others at it.",
        ),
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        Key::new(
            "as",
            Kind::Text(COMMAND_NAME),
            "transfer",
            "Its name, for expectations and logs. Default: the program's.",
        ),
        Key::new(
            "after",
            Kind::OneOf(&[
                Kind::Text(COMMAND_NAME),
                Kind::List { items: &Kind::Text(COMMAND_NAME), least: 1, most: None },
            ]),
            "migration",
            "The command, or several, after which it starts: when that has ended successfully, or, if it is a service, when \
             it is ready. With `at` not before that time, either.",
        ),
        Key::new("delay", LENGTH, "500 ms", "How long it waits after what it starts `after`. Default: not at all."),
        Key::new("ready", Kind::Section(&READY), "{tcp: 5201}", "When it is ready to be used; makes it a service."),
        Key::new(
            "service",
            Kind::OneOf(&[Kind::Flag, Kind::Word(&["once"])]),
            "true",
            "Whether it is there for others: the run does not wait for its end, and stops it. once: it may end with 0, and \
             counts as ready then. Default: whether it has `ready`.",
        ),
        Key::new(
            "save",
            Kind::Text("^[a-zA-Z0-9_-][a-zA-Z0-9_. -]*$"),
            "iperf.json",
            "A file in the results folder that gets a copy of its standard output.",
        ),
        Key::new("for", LENGTH, "5 s", "It is stopped after this time; that is not a failure."),
        Key::new(
            "stop",
            DURATION,
            "10 s",
            "How long it has between SIGTERM and SIGKILL when it is stopped. Default: that of the lab.",
        ),
        Key::new("env", ENVIRONMENT, "{LANG: C}", "Its environment variables, beside the node's."),
        Key::new(
            "user",
            USER,
            "postgres",
            "The user that it runs as: a name that the node's /etc/passwd has, or a number. Default: root.",
        ),
        Key::new(
            "folder",
            Kind::Text("\\S"),
            "/var/lib/postgresql",
            "The folder that it starts in; a relative one counts from the folder that Netloom is started in, which is the \
             default.",
        ),
        Key::new("may_fail", Kind::Flag, "true", "Whether the run is good even if it fails. Default: false."),
    ]],
};

/// A command that makes the lab ready.
pub(crate) const SETUP: Section = Section {
    name: "setup",
    doc: "A command that must succeed before the services start.",
    groups: &[&[
        Key::new("on", NODE_REFERENCE, "server", "The node that it runs on.").required(),
        Key::new("run", COMMAND, "ip route add blackhole 10.9.0.0/16", "As in the timeline.").required(),
        Key::new("as", Kind::Text(COMMAND_NAME), "schema", "Its name, for messages and logs. Default: the program's."),
        Key::new("env", ENVIRONMENT, "{LANG: C}", "Its environment variables, beside the node's."),
    ]],
};

/// An entry of the timeline that changes a link.
pub(crate) const SET: Section = Section {
    name: "set",
    doc: "Changes a link.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        LINK_KEY,
        Key::new("set", Kind::Section(&CHANGE), "{delay: 80 ms}", "What changes; all other settings stay.").required(),
        DIRECTION_KEY,
        Key::new("pipe", LINK_REFERENCE, "far", "The further pipe of this name. Default: the link's own pipe."),
    ]],
};

/// An entry of the timeline that changes a link little by little.
pub(crate) const RAMP_ENTRY: Section = Section {
    name: "ramp_entry",
    doc: "Changes a link in steps from one value to another.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        LINK_KEY,
        Key::new(
            "ramp",
            Kind::Section(&RAMP),
            "{delay: [10 ms, 80 ms], over: 5 s}",
            "From which values to which, and in what time.",
        )
        .required(),
        DIRECTION_KEY,
        Key::new("pipe", LINK_REFERENCE, "far", "The further pipe of this name. Default: the link's own pipe."),
    ]],
};

/// Settings that go from one value to another.
pub(crate) const RAMP: Section = Section {
    name: "ramp",
    doc: "Settings that go from a first value to a last one, in equal steps.",
    groups: &[&[
        Key::new("delay", PAIR_OF_TIMES, "[10 ms, 80 ms]", "The first and the last delay, constant at each step."),
        Key::new("rate", PAIR_OF_RATES, "[100 Mbit/s, 1 Mbit/s]", "The first and the last rate."),
        Key::new("loss", PAIR_OF_SHARES, "[0, 5 %]", "The first and the last share of packets that are lost."),
        Key::new("over", DURATION, "5 s", "How long it takes from the first to the last.").required(),
        Key::new("step", DURATION, "50 ms", "The time of a step. Default: a hundredth, and 1 ms at least."),
    ]],
};
const PAIR_OF_TIMES: Kind = Kind::List { items: &DURATION_OR_ZERO, least: 2, most: Some(2) };
const PAIR_OF_RATES: Kind = Kind::List { items: &Kind::Quantity(Quantity::Rate), least: 2, most: Some(2) };
const PAIR_OF_SHARES: Kind = Kind::List { items: &SHARE_OR_ZERO, least: 2, most: Some(2) };

/// An entry of the timeline that marks an instant.
pub(crate) const LOG: Section = Section {
    name: "log",
    doc: "Marks an instant in the events and in all pictures.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        Key::new("log", Kind::Text("\\S"), "the rush hour begins", "What the mark says, on one line.").required(),
    ]],
};

const NAMES: Kind =
    Kind::OneOf(&[Kind::Text(COMMAND_NAME), Kind::List { items: &Kind::Text(COMMAND_NAME), least: 1, most: None }]);
const LINKS_OR_NODES: Kind =
    Kind::OneOf(&[LINK_REFERENCE, Kind::List { items: &LINK_REFERENCE, least: 1, most: None }]);
const NODE_LIST: Kind = Kind::OneOf(&[NODE_REFERENCE, Kind::List { items: &NODE_REFERENCE, least: 1, most: None }]);

/// An entry of the timeline that kills programs.
pub(crate) const KILL: Section = Section {
    name: "kill",
    doc: "Ends programs at once, by SIGKILL.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        Key::new("kill", NAMES, "client", "The command, or the node with all that runs in it; or a list of them.")
            .required(),
        Key::new(
            "for",
            LENGTH,
            "2 s",
            "They start again so long after; of a node, its services. Default: they do not.",
        ),
    ]],
};

/// An entry of the timeline that holds programs.
pub(crate) const PAUSE: Section = Section {
    name: "pause",
    doc: "Holds programs, by SIGSTOP.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        Key::new("pause", NAMES, "client", "The command, or the node with all that runs in it; or a list of them.")
            .required(),
        Key::new("for", LENGTH, "2 s", "How long. Default: until they are stopped."),
    ]],
};

/// An entry of the timeline that starts programs again.
pub(crate) const RESTART: Section = Section {
    name: "restart",
    doc: "Asks programs to end, and starts them again.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        Key::new("restart", NAMES, "client", "The command, or the node with its services; or a list of them.")
            .required(),
        Key::new(
            "for",
            LENGTH,
            "2 s",
            "They start again so long after they were asked to end. Default: when they have ended.",
        ),
    ]],
};

/// An entry of the timeline that starts nodes again.
pub(crate) const REBOOT: Section = Section {
    name: "reboot",
    doc: "Kills all programs of a node, cuts its links, and starts its services again.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        Key::new("reboot", NODE_LIST, "client", "The node, or a list of them.").required(),
        Key::new("for", LENGTH, "3 s", "How long it is away. Default: 1 s."),
    ]],
};

/// An entry of the timeline that stops nodes.
pub(crate) const STOP_ENTRY: Section = Section {
    name: "stop_entry",
    doc: "Stops a node: its links are cut, and its programs end.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        Key::new("stop", NODE_LIST, "client", "The node, or a list of them.").required(),
        Key::new("for", LENGTH, "3 s", "It starts again so long after. Default: by `start`, or not at all."),
    ]],
};

/// An entry of the timeline that starts nodes that were stopped.
pub(crate) const START_ENTRY: Section = Section {
    name: "start_entry",
    doc: "Starts a node that `stop` has stopped: addresses, routes, parameters, setup and services come back.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        Key::new("start", NODE_LIST, "client", "The node, or a list of them.").required(),
    ]],
};

/// An entry of the timeline that cuts links for a while.
pub(crate) const FLAP_ENTRY: Section = Section {
    name: "flap_entry",
    doc: "Cuts links for a while.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        Key::new("flap", LINKS_OR_NODES, "backbone", "The link, or a node with all of its links; or a list of them.")
            .required(),
        Key::new("for", LENGTH, "200 ms", "How long.").required(),
    ]],
};

/// An entry of the timeline that cuts a link.
pub(crate) const DOWN: Section = Section {
    name: "down",
    doc: "Cuts a link: what arrives is dropped.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        LINK_KEY,
        Key::new(
            "down",
            Kind::OneOf(&[Kind::True, DURATION, Kind::Section(&CUT)]),
            "500 ms",
            "For how long, or true: until `up`; a map to take the carrier away as well.",
        )
        .required(),
        DIRECTION_KEY,
        CUT_PIPE_KEY,
    ]],
};

/// How a link is cut.
pub(crate) const CUT: Section = Section {
    name: "cut",
    doc: "How a link is cut.",
    groups: &[&[
        Key::new(
            "carrier",
            Kind::Flag,
            "true",
            "Whether the interfaces at both ends lose their carrier, so that programs see the cut. Default: false.",
        ),
        Key::new("for", LENGTH, "500 ms", "For how long. Default: until `up`."),
    ]],
};

/// An entry of the timeline that restores a link.
pub(crate) const UP: Section = Section {
    name: "up",
    doc: "Restores a link that was cut.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        LINK_KEY,
        Key::new("up", Kind::True, "true", "Always true.").required(),
        DIRECTION_KEY,
        CUT_PIPE_KEY,
    ]],
};

/// An entry of the timeline that cuts the network into parts.
pub(crate) const PARTITION: Section = Section {
    name: "partition",
    doc: "Parts groups of nodes: members of different groups do not reach each other.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        Key::new(
            "partition",
            Kind::List { items: &Kind::List { items: &NODE_REFERENCE, least: 1, most: None }, least: 1, most: None },
            "[[client, r1], [server]]",
            "The groups. Nodes in none of them stay reachable from all; a group alone is parted from all other nodes.",
        )
        .required(),
        Key::new("for", LENGTH, "2 s", "For how long. Default: until `heal`."),
    ]],
};

/// An entry of the timeline that moves a node.
pub(crate) const MOVE: Section = Section {
    name: "move",
    doc: "Moves a node from one of its links to another.",
    groups: &[&[
        AT_KEY,
        Key::new(
            "move",
            NODE_REFERENCE,
            "mobile",
            "The node. It has an end at each link that it visits, and is at one of them at a time.",
        )
        .required(),
        Key::new("from", LINK_REFERENCE, "lan1", "The link that it leaves, which is cut at its end.").required(),
        Key::new("to", LINK_REFERENCE, "lan2", "The link that it gets to.").required(),
        Key::new(
            "carrier",
            Kind::Flag,
            "true",
            "Whether its interfaces lose and get their carrier, so that programs see the move. Default: false.",
        ),
    ]],
};

/// An entry of the timeline that ends partitions.
pub(crate) const HEAL: Section = Section {
    name: "heal",
    doc: "Restores all links that partitions have cut.",
    groups: &[&[
        AT_KEY,
        EVERY_KEY,
        TIMES_KEY,
        UNTIL_KEY,
        Key::new("heal", Kind::True, "true", "Always true.").required(),
    ]],
};

/// When a service can be used.
pub(crate) const READY: Section = Section {
    name: "ready",
    doc: "When a service can be used: exactly one of tcp, udp, file, command and pause.",
    groups: &[&[
        Key::new("tcp", Kind::Integer { least: 1, most: 65_535 }, "5201", "A TCP port that listens in the node."),
        Key::new(
            "udp",
            Kind::Integer { least: 1, most: 65_535 },
            "53",
            "A UDP port in the node that a socket is bound to, which takes datagrams from anybody. Whether its program reads them by then, \
             nobody can know.",
        ),
        Key::new("file", Kind::Text("\\S"), "/tmp/ready", "A file that exists."),
        Key::new("command", COMMAND, "curl -s localhost", "A command that exits with 0 in the node."),
        Key::new("pause", DURATION, "1 s", "A time that has passed."),
        Key::new("timeout", DURATION, "10 s", "How long to wait; then the run fails. Default: 10 s."),
    ]],
};
