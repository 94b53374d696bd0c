//! The tables of the timeline's entries.

use super::files::USER;
use super::kinds::{DURATION, DURATION_OR_ZERO, ENVIRONMENT, LINK_REFERENCE, NODE_REFERENCE};
use super::{COMMAND_NAME, Key, Kind, Section};
use crate::models::CHANGE;

pub(super) const COMMAND: Kind =
    Kind::OneOf(&[Kind::Text("\\S"), Kind::List { items: &Kind::Scalar, least: 1, most: None }]);
const AT_KEY: Key = Key::new("at", DURATION_OR_ZERO, "1 s", "When, after time zero. Default: at time zero.");
const DIRECTION_KEY: Key =
    Key::new("direction", Kind::Word(&["forward", "backward"]), "forward", "Only this direction. Default: both.");
const CUT_PIPE_KEY: Key =
    Key::new("pipe", LINK_REFERENCE, "far", "Only the further pipe of this name. Default: all pipes of the link.");
const LINK_KEY: Key = Key::new("link", LINK_REFERENCE, "backbone", "The link.").required();

/// An entry of the timeline that starts a program.
pub(crate) const RUN: Section = Section {
    name: "run",
    doc: "Starts a program.",
    groups: &[&[
        Key::new("on", NODE_REFERENCE, "client", "The node that it runs on.").required(),
        Key::new(
            "run",
            COMMAND,
            "iperf3 -c server -t 10",
            "A text for /bin/sh, or a list of a program and its arguments.",
        )
        .required(),
        Key::new(
            "at",
            DURATION_OR_ZERO,
            "1 s",
            "When it starts, after time zero. Default: a service before time zero, others at it.",
        ),
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
        Key::new("for", DURATION, "5 s", "It is stopped after this time; that is not a failure."),
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
        LINK_KEY,
        Key::new("set", Kind::Section(&CHANGE), "{delay: 80 ms}", "What changes; all other settings stay.").required(),
        DIRECTION_KEY,
        Key::new("pipe", LINK_REFERENCE, "far", "The further pipe of this name. Default: the link's own pipe."),
    ]],
};

/// An entry of the timeline that cuts a link.
pub(crate) const DOWN: Section = Section {
    name: "down",
    doc: "Cuts a link: what arrives is dropped.",
    groups: &[&[
        AT_KEY,
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
        Key::new("for", DURATION, "500 ms", "For how long. Default: until `up`."),
    ]],
};

/// An entry of the timeline that restores a link.
pub(crate) const UP: Section = Section {
    name: "up",
    doc: "Restores a link that was cut.",
    groups: &[&[
        AT_KEY,
        LINK_KEY,
        Key::new("up", Kind::True, "true", "Always true.").required(),
        DIRECTION_KEY,
        CUT_PIPE_KEY,
    ]],
};

/// An entry of the timeline that cuts the network into parts.
pub(crate) const PARTITION: Section = Section {
    name: "partition",
    doc: "Cuts all links between nodes of different groups.",
    groups: &[&[
        AT_KEY,
        Key::new(
            "partition",
            Kind::List { items: &Kind::List { items: &NODE_REFERENCE, least: 1, most: None }, least: 1, most: None },
            "[[client, r1], [server]]",
            "The groups. All other nodes form one more group.",
        )
        .required(),
        Key::new("for", DURATION, "2 s", "For how long. Default: until `heal`."),
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
    groups: &[&[AT_KEY, Key::new("heal", Kind::True, "true", "Always true.").required()]],
};

/// When a service can be used.
pub(crate) const READY: Section = Section {
    name: "ready",
    doc: "When a service can be used: exactly one of tcp, file, command and pause.",
    groups: &[&[
        Key::new("tcp", Kind::Integer { least: 1, most: 65_535 }, "5201", "A TCP port that listens in the node."),
        Key::new("file", Kind::Text("\\S"), "/tmp/ready", "A file that exists."),
        Key::new("command", COMMAND, "curl -s localhost", "A command that exits with 0 in the node."),
        Key::new("pause", DURATION, "1 s", "A time that has passed."),
        Key::new("timeout", DURATION, "10 s", "How long to wait; then the run fails. Default: 10 s."),
    ]],
};
