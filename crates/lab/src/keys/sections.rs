//! The tables.

use super::{ADDRESS, COMMAND_NAME, Key, Kind, LINK_NAME, NODE_NAME, Quantity, SYSCTL_NAME, Section, VARIABLE_NAME};

const RATE: Kind = Kind::OneOf(&[Kind::Quantity(Quantity::Rate), Kind::Word(&["unlimited"])]);
const DURATION: Kind = Kind::Quantity(Quantity::Duration);
const DURATION_OR_ZERO: Kind = Kind::OneOf(&[DURATION, Kind::Zero]);
const SHARE: Kind = Kind::Quantity(Quantity::Probability);
const LOSS: Kind = Kind::OneOf(&[SHARE, Kind::Zero]);
const QUEUE_KIND: Kind = Kind::OneOf(&[Kind::Quantity(Quantity::Limit), Kind::Section(&QUEUE)]);
const COMMAND: Kind = Kind::OneOf(&[Kind::Text("\\S"), Kind::List { items: &Kind::Scalar, least: 1, most: None }]);
const NODE_REFERENCE: Kind = Kind::Text(NODE_NAME);
const LINK_REFERENCE: Kind = Kind::Text(LINK_NAME);
const ENVIRONMENT: Kind = Kind::Map { names: VARIABLE_NAME, values: &Kind::Scalar };

/// The whole file.
pub(crate) const TOP: Section = Section {
    name: "lab",
    doc: "A network and what happens on it.",
    keys: &[
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
            "The number from which all chance is drawn; the same seed loses the same packets. Default: 1.",
        ),
        Key::new("clock", Kind::Word(&["real"]), "real", "How lab time passes: as ours does. Default: real."),
        Key::new(
            "precision",
            Kind::Word(&["eco", "balanced", "exact"]),
            "balanced",
            "How precisely packets are released: eco sleeps, balanced spins for the last microseconds, exact spins \
             always on a processor of its own. Default: balanced.",
        ),
        Key::new(
            "duration",
            DURATION,
            "15 s",
            "When the run ends at the latest, after time zero. Default: when all commands have ended.",
        ),
        Key::new("nodes", NODES, "{client: {}, r1: {kind: router}}", "The nodes by name, or a list of names.")
            .required(),
        Key::new(
            "links",
            Kind::Map { names: LINK_NAME, values: &Kind::Section(&LINK) },
            "{access: {ends: [client, r1], delay: 1 ms}}",
            "The links by name.",
        ),
        Key::new(
            "timeline",
            Kind::List {
                items: &Kind::OneOf(&[
                    Kind::Section(&RUN),
                    Kind::Section(&SET),
                    Kind::Section(&DOWN),
                    Kind::Section(&UP),
                ]),
                least: 0,
                most: None,
            },
            "[{at: 1 s, on: client, run: ping -c 3 server}]",
            "What happens and when. Time zero is when all services without a time are ready.",
        ),
        Key::new(
            "expect",
            Kind::List { items: &Kind::Text("\\S"), least: 0, most: None },
            "[ping.exit == 0]",
            "What the run is to show: <command or link>.<metric> <comparison> <value> [during A..B].",
        ),
        Key::new(
            "bounds",
            Kind::Section(&BOUNDS),
            "{lateness: 500 us}",
            "How far the network may stray from its description.",
        ),
    ],
};

const NODES: Kind = Kind::OneOf(&[
    Kind::Map { names: NODE_NAME, values: &Kind::Optional(&NODE) },
    Kind::List { items: &NODE_REFERENCE, least: 1, most: None },
]);

/// A node.
pub(crate) const NODE: Section = Section {
    name: "node",
    doc: "A machine with its own network stack, on which programs run.",
    keys: &[
        Key::new(
            "kind",
            Kind::Word(&["host", "router"]),
            "router",
            "host runs programs and forwards nothing, router forwards IPv4 and IPv6 as well. Default: host.",
        ),
        Key::new(
            "cpus",
            Kind::Positive,
            "0.5",
            "The processor time that its programs may use together, in cores, to a thousandth. Default: no limit.",
        ),
        Key::new(
            "sysctl",
            Kind::Map { names: SYSCTL_NAME, values: &Kind::Scalar },
            "{net.ipv4.tcp_congestion_control: reno}",
            "Kernel settings of its network stack: names that begin with net.",
        ),
        Key::new("env", ENVIRONMENT, "{LANG: C}", "Environment variables of all its programs."),
    ],
};

/// A link.
pub(crate) const LINK: Section = Section {
    name: "link",
    doc: "A link between two nodes. Its direction forward is from the first end to the second.",
    keys: &[
        Key::new(
            "ends",
            Kind::List { items: &Kind::OneOf(&[NODE_REFERENCE, Kind::Section(&END)]), least: 2, most: Some(2) },
            "[client, {node: r1, address: 10.0.0.1/24}]",
            "The two nodes that it joins.",
        )
        .required(),
        RATE_KEY,
        DELAY_KEY,
        QUEUE_KEY,
        LOSS_KEY,
        Key::new("forward", Kind::Section(&DIRECTION), "{rate: 16 Mbit/s}", "What differs from first to second end."),
        Key::new("backward", Kind::Section(&DIRECTION), "{rate: 1 Mbit/s}", "What differs from second to first end."),
        Key::new(
            "mtu",
            Kind::Integer { least: 68, most: 65_535 },
            "1500",
            "The largest IP packet in bytes, 68 to 65535; IPv6 needs 1280. Default: 1500.",
        ),
        Key::new(
            "coalesce",
            DURATION_OR_ZERO,
            "20 us",
            "Packets due within this time of one another may be handed out together, as a network card's interrupt \
             moderation does it; 0 turns it off. Default: 20 us.",
        ),
        Key::new(
            "cost",
            Kind::Integer { least: 1, most: 65_535 },
            "10",
            "What using the link costs the shortest-path routes, 1 to 65535. Default: 1.",
        ),
    ],
};

const RATE_KEY: Key = Key::new(
    "rate",
    RATE,
    "100 Mbit/s",
    "How fast it sends, counting bytes from the IP header on, or unlimited. Default: unlimited.",
);
const DELAY_KEY: Key = Key::new(
    "delay",
    DURATION_OR_ZERO,
    "20 ms",
    "Propagation delay of one direction, after the last bit is sent. Default: 0.",
);
const QUEUE_KEY: Key = Key::new(
    "queue",
    QUEUE_KIND,
    "100 packets",
    "How much may wait for the transmitter: packets, bytes or a time. Default: 1000 packets.",
);
const LOSS_KEY: Key = Key::new(
    "loss",
    LOSS,
    "0.1 %",
    "The probability with which each packet is lost, independently of all others. Default: 0.",
);

/// One direction of a link, or a change of a link.
pub(crate) const DIRECTION: Section = Section {
    name: "direction",
    doc: "What can be said about one direction of a link.",
    keys: &[RATE_KEY, DELAY_KEY, QUEUE_KEY, LOSS_KEY],
};

/// A queue.
pub(crate) const QUEUE: Section = Section {
    name: "queue",
    doc: "A queue.",
    keys: &[
        Key::new(
            "kind",
            Kind::Word(&["fifo"]),
            "fifo",
            "fifo: first in, first out; what finds it full is dropped. Default: fifo.",
        ),
        Key::new(
            "limit",
            Kind::Quantity(Quantity::Limit),
            "64 kB",
            "How much may wait: packets, bytes or a time. Default: 1000 packets.",
        ),
    ],
};

/// An end of a link.
pub(crate) const END: Section = Section {
    name: "end",
    doc: "An end of a link, with what is not to be chosen automatically.",
    keys: &[
        Key::new("node", NODE_REFERENCE, "r1", "The node.").required(),
        Key::new(
            "interface",
            Kind::Text("^[a-zA-Z0-9_.-]{1,15}$"),
            "wan0",
            "The interface's name in the node, at most 15 characters. Default: eth0, eth1 and so on.",
        ),
        Key::new(
            "address",
            Kind::OneOf(&[Kind::Text(ADDRESS), Kind::List { items: &Kind::Text(ADDRESS), least: 1, most: None }]),
            "[10.0.0.1/24, \"fd00::1/64\"]",
            "Its address with the prefix length, or several. Replaces the automatic address of that family.",
        ),
        Key::new(
            "mac",
            Kind::Text("^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$"),
            "\"02:00:00:00:00:01\"",
            "Its hardware address.",
        ),
    ],
};

const AT_KEY: Key = Key::new("at", DURATION_OR_ZERO, "1 s", "When, after time zero. Default: at time zero.");
const LINK_KEY: Key = Key::new("link", LINK_REFERENCE, "backbone", "The link.").required();

/// An entry of the timeline that starts a program.
pub(crate) const RUN: Section = Section {
    name: "run",
    doc: "Starts a program.",
    keys: &[
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
        Key::new("ready", Kind::Section(&READY), "{tcp: 5201}", "When it can be used; makes it a service."),
        Key::new(
            "service",
            Kind::Flag,
            "true",
            "Whether it is there for others: the run does not wait for its end, and stops it. Default: whether it has `ready`.",
        ),
        Key::new(
            "save",
            Kind::Text("^[a-zA-Z0-9_-][a-zA-Z0-9_. -]*$"),
            "iperf.json",
            "A file in the results folder that gets a copy of its standard output.",
        ),
        Key::new("for", DURATION, "5 s", "It is stopped after this time, which is no failure."),
        Key::new("env", ENVIRONMENT, "{LANG: C}", "Its environment variables, beside the node's."),
        Key::new("may_fail", Kind::Flag, "true", "Whether the run is good even if it fails. Default: false."),
    ],
};

/// An entry of the timeline that changes a link.
pub(crate) const SET: Section = Section {
    name: "set",
    doc: "Changes a link.",
    keys: &[
        AT_KEY,
        LINK_KEY,
        Key::new("set", Kind::Section(&DIRECTION), "{delay: 80 ms}", "What changes; all else stays.").required(),
        Key::new("direction", Kind::Word(&["forward", "backward"]), "forward", "Only this direction. Default: both."),
    ],
};

/// An entry of the timeline that cuts a link.
pub(crate) const DOWN: Section = Section {
    name: "down",
    doc: "Cuts a link: what arrives is dropped.",
    keys: &[
        AT_KEY,
        LINK_KEY,
        Key::new("down", Kind::OneOf(&[Kind::True, DURATION]), "500 ms", "For how long, or true: until `up`.")
            .required(),
    ],
};

/// An entry of the timeline that joins a link.
pub(crate) const UP: Section = Section {
    name: "up",
    doc: "Joins a link that was cut.",
    keys: &[AT_KEY, LINK_KEY, Key::new("up", Kind::True, "true", "Always true.").required()],
};

/// When a service can be used.
pub(crate) const READY: Section = Section {
    name: "ready",
    doc: "When a service can be used: exactly one of tcp, file, command and pause.",
    keys: &[
        Key::new("tcp", Kind::Integer { least: 1, most: 65_535 }, "5201", "A TCP port that listens in the node."),
        Key::new("file", Kind::Text("\\S"), "/tmp/ready", "A file that exists."),
        Key::new("command", COMMAND, "curl -s localhost", "A command that exits with 0 in the node."),
        Key::new("pause", DURATION, "1 s", "A time that has passed."),
        Key::new("timeout", DURATION, "10 s", "How long to wait; then the run fails. Default: 10 s."),
    ],
};

/// How far a run may stray from its description.
pub(crate) const BOUNDS: Section = Section {
    name: "bounds",
    doc: "How far a run may stray and still be as described.",
    keys: &[
        Key::new(
            "lateness",
            DURATION,
            "500 us",
            "99 % of a pipe's packets are handed out at most this much later than due. Default: 1 ms.",
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
            "The engine waits for a processor for at most this share of its time. Default: 10 %.",
        ),
    ],
};
