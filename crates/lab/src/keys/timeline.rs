//! The tables of the timeline's entries.

use crate::decode::files::User;
use crate::decode::variables::Environment;
use crate::forms::{
    AboveZero, Command, CommandName, Filled, LinkName, Maybe, NodeName, OneOrMore, OrZero, Placed, Said, Whole, Word,
    word_form,
};
use crate::keyed::{WrittenKeys, sections};
use crate::kinds::{COMMAND_REFERENCE, ENVIRONMENT, LINK_REFERENCE, NODE_REFERENCE, NODES_NAME};
use crate::models::CHANGE;
use crate::models::fault::{self, Choice};
use crate::plan::{ClockChange, Direction, Keep, LeapSecond, OnRestart, Signal, Standstill};
use crate::section::{Form, Kind, Section, keys};
use crate::spec::Side;
use netloom_units::{Bytes, Drift, Duration, Probability, Rate, SignedDuration};
use std::fmt;

/// The events that one entry stands for, at most, and those of all that do.
pub(crate) const MOST_TIMES: u64 = 100_000;
pub(super) const NODES: Kind = Kind::Text(NODES_NAME);
const INSTANT: Kind = Kind::OneOf(&[Duration::KIND, Kind::Zero, Kind::Section(&DRAWN)]);
pub(super) const LENGTH: Kind = Kind::OneOf(&[Duration::KIND, Kind::Section(&DRAWN)]);
const AT: Section = keys! {
    /// When, after time zero; a map to draw it. Default: at time zero.
    at = INSTANT, "1 s";
};
const AGAIN: Section = keys! {
    /// It happens again and again, so long after the time before; a map to draw each. Needs `times` or `until`.
    every = LENGTH, "5 s";
    /// How often it happens, with `every`. Default: until `until`.
    times: Times, "10";
    /// It does not happen after this time, with `every`. Default: `times` counts.
    until: AboveZero<Duration>, "60 s";
};
/// How often an entry happens.
pub(crate) type Times = Whole<u64, 1, MOST_TIMES>;
const DIRECTION: Section = keys! {
    /// Only this direction. Default: both.
    direction: Word<Direction>, "forward";
};
const CUT_PIPE: Section = keys! {
    /// Only the further pipe of this name. Default: all pipes of the link.
    pipe = LINK_REFERENCE, "far";
};
const LINK: Section = keys! {
    /// The link.
    link = LINK_REFERENCE, required "backbone";
};

sections! {
    /// The keys that say when an entry happens, and whether again.
    pub(super) const WHEN = "" {
        ..AT;
        ..AGAIN;
    }

    /// A time that is drawn from the seed: one of uniform and mean.
    pub(crate) const DRAWN = "drawn" {
        /// The least and the longest; all between are equally likely.
        uniform = Kind::pair(&OrZero::<Duration>::KIND), "[1 s, 5 s]";
        /// The mean of an exponential distribution.
        mean: AboveZero<Duration>, "2 s";
    }

    /// Starts a program.
    pub(crate) const RUN = "run" {
        /// The node that it runs on, or several: a list, or a name with `*`, which stands for any letters.
        on = Kind::OneOf(&[NODES, Kind::list(&NODES, 1)]), required "client";
        /// A text for /bin/sh, or a list of a program and its arguments.
        run : Command, required "iperf3 -c server -t 10";
        /// When it starts, after time zero; a map to draw it. Default: a service before time zero, others at it.
        at = INSTANT, "1 s";
        ..AGAIN;
        /// Its name, for expectations and logs. Default: the program's.
        as: CommandName, "transfer";
        /// The command, or several, after which it starts: when that has ended successfully, or, if it is a service, when it is ready. With
        /// `at` not before that time, either.
        after: OneOrMore<CommandName>, "migration";
        /// How long it waits after what it starts `after`. Default: not at all.
        delay = LENGTH, "500 ms";
        /// When it is ready to be used; makes it a service.
        ready = Condition::KIND, "{tcp: 5201}";
        /// Whether it is there for others: the run does not wait for its end, and stops it. once: it may end with 0, and counts as ready
        /// then. Default: whether it has `ready`.
        service = Kind::OneOf(&[Kind::Flag, Kind::Word(&["once"])]), "true";
        /// Whether the service starts when its node starts again after a stop or a crash. only: it starts then, and not at the beginning.
        /// Default: also.
        on_restart: Word<OnRestart>, "only";
        /// A file in the results folder that gets a copy of its standard output.
        save = Kind::Text("^[a-zA-Z0-9_-][a-zA-Z0-9_. -]*$"), "iperf.json";
        /// It is stopped after this time; that is not a failure.
        for = LENGTH, "5 s";
        /// How long it has between SIGTERM and SIGKILL when it is stopped. Default: that of the lab.
        stop: AboveZero<Duration>, "10 s";
        /// Its environment variables, beside the node's.
        env = ENVIRONMENT, "{LANG: C}";
        /// The user that it runs as: a name that the node's /etc/passwd has, or a number. Default: root.
        user: User, "postgres";
        /// The folder that it starts in; a relative one counts from the folder that Netloom is started in, which is the default.
        folder: Filled, "/var/lib/postgresql";
        /// Whether the run is good even if it fails. Default: false.
        may_fail: bool, "true";
    }

    /// A command that must succeed before the services start.
    pub(crate) struct SetupKeys = "setup" {
        /// The node that it runs on.
        on: NodeName, required "server";
        /// As in the timeline.
        run: Command, required "ip route add blackhole 10.9.0.0/16";
        /// Its name, for messages and logs. Default: the program's.
        r#as: CommandName, "schema";
        /// Its environment variables, beside the node's.
        env: Environment, "{LANG: C}" else Vec::new();
    }

    /// Changes a link.
    pub(crate) const SET = "set" {
        ..WHEN;
        ..LINK;
        /// What changes; all other settings stay.
        set = Kind::Section(&CHANGE), required "{delay: 80 ms}";
        ..DIRECTION;
        /// The further pipe of this name. Default: the link's own pipe.
        pipe = LINK_REFERENCE, "far";
    }

    /// Treats single packets that enter a link, picked by filter and ordinal.
    pub(crate) const PACKET = "packet_entry" {
        ..WHEN;
        ..LINK;
        /// Which packets.
        packet = Choice::KIND, required "{match: {to_port: 80}, nth: 3}";
        /// What becomes of them: they are dropped, followed by a copy, corrupted in one bit, marked as having experienced congestion if their
        /// sender is capable of it, or lose that mark; or they are TCP segments, in the place of which both ends get a reset.
        do = fault::ACTION, required "drop";
        /// For how long packets are picked. Default: to the end of the run.
        for: AboveZero<Duration>, "2 s";
        ..DIRECTION;
        /// The further pipe of this name. Default: the link's own pipe.
        pipe = LINK_REFERENCE, "far";
    }

    /// Ends TCP connections that go over a link: their ends get resets.
    pub(crate) const RESET = "reset_entry" {
        ..WHEN;
        ..LINK;
        /// The filter that connections match in either direction; true for all.
        reset = fault::CONNECTIONS, required "{to_port: 5432}";
        /// Only the end that this direction leads to gets a reset. Default: both ends.
        direction: Word<Direction>, "forward";
        /// The further pipe of this name. Default: the link's own pipe.
        pipe = LINK_REFERENCE, "far";
    }

    /// Changes a link in steps from one value to another.
    pub(crate) const RAMP_ENTRY = "ramp_entry" {
        ..WHEN;
        ..LINK;
        /// From which values to which, and in what time.
        ramp = Kind::Section(&RAMP), required "{delay: [10 ms, 80 ms], over: 5 s}";
        ..DIRECTION;
        /// The further pipe of this name. Default: the link's own pipe.
        pipe = LINK_REFERENCE, "far";
    }

    /// Settings that go from a first value to a last one, in equal steps.
    pub(crate) const RAMP = "ramp" {
        /// The first and the last delay, constant at each step.
        delay = PAIR_OF_TIMES, "[10 ms, 80 ms]";
        /// The first and the last rate.
        rate = PAIR_OF_RATES, "[100 Mbit/s, 1 Mbit/s]";
        /// The first and the last share of packets that are lost.
        loss = PAIR_OF_SHARES, "[0, 5 %]";
        /// How long it takes from the first to the last.
        over: AboveZero<Duration>, required "5 s";
        /// The time of a step. Default: a hundredth, and 1 ms at least.
        step: AboveZero<Duration>, "50 ms";
    }
}
const PAIR_OF_TIMES: Kind = Kind::pair(&OrZero::<Duration>::KIND);
const PAIR_OF_RATES: Kind = Kind::pair(&Rate::KIND);
const PAIR_OF_SHARES: Kind = Kind::pair(&OrZero::<Probability>::KIND);

sections! {
    /// Marks an instant in the events and in all pictures.
    pub(crate) const LOG = "log" {
        ..WHEN;
        /// What the mark says, on one line.
        log: Filled, required "the rush hour begins";
    }
}

/// A node, or a pattern of several.
const NODE_OR_PATTERN: Kind = Kind::OneOf(&[NODE_REFERENCE, NODES]);
pub(super) const NODE_PATTERNS: Kind = Kind::OneOf(&[NODE_REFERENCE, NODES, Kind::list(&NODE_OR_PATTERN, 1)]);

word_form! {
    /// Whether nodes that a partition does not name are each parted from all others.
    pub(crate) struct IsolatesOthers = bool { "isolated" = true, "joined" = false }
}

/// A command or a node, or a pattern of nodes.
const NAME_OR_PATTERN: Kind = Kind::OneOf(&[COMMAND_REFERENCE, NODES]);
const NAMES: Kind = Kind::OneOf(&[COMMAND_REFERENCE, NODES, Kind::list(&NAME_OR_PATTERN, 1)]);
/// A link or a node, or a pattern of nodes.
const END_OR_PATTERN: Kind = Kind::OneOf(&[LINK_REFERENCE, NODES]);
const LINKS_OR_NODES: Kind = Kind::OneOf(&[LINK_REFERENCE, NODES, Kind::list(&END_OR_PATTERN, 1)]);

sections! {
    /// Ends programs at once, by SIGKILL.
    pub(crate) const KILL = "kill" {
        ..WHEN;
        /// The command, or the node with all that runs in it, or a pattern of nodes; or a list of them.
        kill = NAMES, required "client";
        /// Only processes with this command line, its words with one space between them; `*` stands for any letters. Default: all.
        process: Filled, "\"postgres: checkpointer *\"";
        /// They start again so long after; of a node, its services. Default: they do not.
        for = LENGTH, "2 s";
    }

    /// Holds programs, by SIGSTOP.
    pub(crate) const PAUSE = "pause" {
        ..WHEN;
        /// The command, or the node with all that runs in it, or a pattern of nodes; or a list of them.
        pause = NAMES, required "client";
        /// Only processes with this command line, its words with one space between them; `*` stands for any letters. Default: all.
        process: Filled, "\"postgres: checkpointer *\"";
        /// How long. Default: until they are stopped.
        for = LENGTH, "2 s";
    }

    /// Lets programs go on that are paused, by SIGCONT.
    pub(crate) const CONTINUE = "continue" {
        ..WHEN;
        /// The command, or the node with all that runs in it, or a pattern of nodes; or a list of them.
        continue = NAMES, required "client";
        /// Only processes with this command line, its words with one space between them; `*` stands for any letters. Default: all.
        process: Filled, "\"postgres: checkpointer *\"";
    }

    /// Sends programs a signal.
    pub(crate) const SIGNAL = "signal" {
        ..WHEN;
        /// The signal. Those that end or hold programs for certain are `kill`, `pause` and `continue`.
        signal: Word<Signal>, required "SIGHUP";
        /// The command, or the node with all that runs in it, or a pattern of nodes; or a list of them.
        to = NAMES, required "client";
        /// Only processes with this command line, its words with one space between them; `*` stands for any letters. Default: all.
        process: Filled, "\"postgres: checkpointer *\"";
    }

    /// Asks programs to end, and starts them again.
    pub(crate) const RESTART = "restart" {
        ..WHEN;
        /// The command, or the node with its services, or a pattern of nodes; or a list of them.
        restart = NAMES, required "client";
        /// They start again so long after they were asked to end. Default: when they have ended.
        for = LENGTH, "2 s";
    }

    /// Kills all programs of a node, cuts its links, and starts its services again.
    pub(crate) const REBOOT = "reboot" {
        ..WHEN;
        /// The node, or a name with `*`, which stands for any letters; or a list of them.
        reboot = NODE_PATTERNS, required "client";
        /// How long it is away. Default: 1 s.
        for = LENGTH, "3 s";
    }

    /// Stops a node: its links are cut, and its programs end.
    pub(crate) const STOP_ENTRY = "stop_entry" {
        ..WHEN;
        /// The node, or a name with `*`, which stands for any letters; or a list of them.
        stop = NODE_PATTERNS, required "client";
        /// It starts again so long after. Default: by `start`, or not at all.
        for = LENGTH, "3 s";
    }

    /// Starts a node that `stop` has stopped: addresses, routes, parameters, setup and services come back.
    pub(crate) const START_ENTRY = "start_entry" {
        ..WHEN;
        /// The node, or a name with `*`, which stands for any letters; or a list of them.
        start = NODE_PATTERNS, required "client";
    }

    /// The kernel of a node is gone at once, as in a power cut: what its programs had not written to its disk is lost, and of that which no flush
    /// has made durable, what the rule says.
    pub(crate) const CRASH = "crash" {
        ..WHEN;
        /// The node, or a name with `*`, which stands for any letters; or a list of them.
        crash = NODE_PATTERNS, required "client";
        /// What is on its disk beside what a flush has made durable: flushed, nothing; all writes; some of them, by chance; or torn, all but
        /// the end of the last. Default: flushed.
        keep: Word<Keep>, "some";
        /// It boots again so long after. Default: by `start`, or not at all.
        for = LENGTH, "1 s";
    }

    /// Cuts links for a while.
    pub(crate) const FLAP_ENTRY = "flap_entry" {
        ..WHEN;
        /// The link, or a node with all of its links, or a pattern of nodes; or a list of them.
        flap = LINKS_OR_NODES, required "backbone";
        /// How long.
        for = LENGTH, required "200 ms";
    }

    /// Cuts a link: what arrives is dropped.
    pub(crate) const DOWN = "down" {
        ..WHEN;
        ..LINK;
        /// For how long, or true: until `up`; a map to take the carrier away as well.
        down = Kind::OneOf(&[Kind::True, Duration::KIND, Kind::Section(&CUT)]), required "500 ms";
        ..DIRECTION;
        ..CUT_PIPE;
    }

    /// How a link is cut.
    pub(crate) const CUT = "cut" {
        /// Whether the interfaces at both ends lose their carrier, so that programs see the cut. Default: false.
        carrier: bool, "true";
        /// For how long. Default: until `up`.
        for = LENGTH, "500 ms";
    }

    /// Restores a link that was cut.
    pub(crate) const UP = "up" {
        ..WHEN;
        ..LINK;
        /// Always true.
        up = Kind::True, required "true";
        ..DIRECTION;
        ..CUT_PIPE;
    }

    /// Parts nodes: packets between them are dropped, slowed or held, whatever joins the nodes.
    pub(crate) struct PartitionKeys = "partition" {
        ..WHEN;
        /// Groups of nodes, or a shape. Nodes of different groups are parted, but for those that share a group. Nodes in none reach all
        /// others; a group alone is parted from all other nodes.
        partition = Kind::OneOf(&[Kind::list(&Kind::list(&NODE_OR_PATTERN, 1), 1), Kind::Section(&PARTITION_SHAPE)]), required "[[client, r1], [server]]";
        /// What holds for nodes that are not named: joined, they reach all others; isolated, each of them is parted from all others.
        /// Default: joined.
        others: IsolatesOthers, "isolated" else false;
        /// Only one direction: to, what others send to the first group; from, what the first group sends to others. Default: both.
        direction: Placed<Word<Side>>, "to";
        /// Packets are not dropped, but held for this time, and go on in their order.
        slow: AboveZero<Duration>, "200 ms";
        /// Whether packets are not dropped, but held until the nodes are joined again, and go on in their order then. Default: false.
        jam: bool, "true" else false;
        /// Pairs of parted nodes whose address resolution gets through, since others need them as neighbours. Default: as follows from the
        /// links; between nodes that are `elsewhere`, none.
        neighbors = Kind::list(&Kind::pair(&NODE_REFERENCE), 0), "[[client, r1]]";
        /// For how long. Default: until `heal`.
        for = LENGTH, "2 s";
    }

    /// The shape of a partition: exactly one of halves, minority, isolate, bridge, ring, random and leader.
    pub(crate) const PARTITION_SHAPE = "partition_shape" {
        /// The nodes: the first half of them is parted from the rest.
        halves = NODE_PATTERNS, "[client, r1]";
        /// The nodes: fewer than half of them, drawn from the seed, are parted from the rest.
        minority = NODE_PATTERNS, "[client, r1, server]";
        /// The node that is parted from the others; one draws it from the seed.
        isolate = NODE_REFERENCE, "client";
        /// The nodes among which one is isolated, or is the leader. Default: all nodes.
        of = NODE_PATTERNS, "[client, r1]";
        /// The nodes: two halves are parted, and both reach the node between them.
        bridge = NODE_PATTERNS, "[client, r1, server]";
        /// The nodes: each reaches its neighbours in the ring of all, as many as make a majority with itself, and no two reach the same.
        ring = NODE_PATTERNS, "n*";
        /// The nodes: they are in two groups, drawn from the seed.
        random = NODE_PATTERNS, "[client, r1]";
        /// A command that runs when it is time, and the first line of whose output names the node that is parted from the others: by its name, or
        /// by an address of it.
        leader: Command, "redis-cli -h s1 -p 26379 sentinel get-master-addr-by-name store";
        /// The node on which that command runs.
        on = NODE_REFERENCE, "client";
    }

    /// Moves a node from one of its links to another.
    pub(crate) struct MoveKeys = "move" {
        ..AT;
        /// The node. It has an end at each link that it visits, and is at one of them at a time.
        r#move: NodeName, required "mobile";
        /// The link that it leaves, which is cut at its end.
        from: LinkName, required "lan1";
        /// The link that it gets to.
        to: LinkName, required "lan2";
        /// Whether its interfaces lose and get their carrier, so that programs see the move. Default: false.
        carrier: Said, "true" else None;
    }

    /// Ends all partitions.
    pub(crate) const HEAL = "heal" {
        ..WHEN;
        /// Always true.
        heal = Kind::True, required "true";
    }

    /// When a service can be used: exactly one of tcp, udp, file, command and pause.
    pub(crate) struct Condition = "ready" {
        /// A TCP port that listens in the node.
        tcp: Whole<u16, 1, 65_535>, "5201";
        /// A UDP port in the node that a socket is bound to, which takes datagrams from anybody. Whether its program reads them by then,
        /// nobody can know.
        udp: Whole<u16, 1, 65_535>, "53";
        /// A file that exists.
        file: Filled, "/tmp/ready";
        /// A command that exits with 0 in the node.
        command : Command, "curl -s localhost";
        /// A time that has passed.
        pause: Duration, "1 s";
        /// How long to wait; then the run fails. Default: 10 s.
        timeout: AboveZero<Duration>, "10 s";
    }
}

sections! {
    /// Freezes a node for a while, as a virtual machine that is paused: its kernel and programs do nothing, and its CLOCK_MONOTONIC stands
    /// still. When it goes on, its CLOCK_REALTIME jumps. In virtual time, with a kernel of its own.
    pub(crate) const FREEZE = "freeze" {
        ..WHEN;
        /// The node, or a name with `*`, which stands for any letters; or a list of them.
        freeze = NODE_PATTERNS, required "client";
        /// How long.
        for = LENGTH, required "5 s";
        /// pause: its CLOCK_MONOTONIC stands still, as in a virtual machine that is paused; or stall: its clocks go on, and all that was due
        /// happens late, at the end. Default: pause.
        kind: Word<Standstill>, "stall";
    }

    /// Changes clocks of nodes (CLOCK_REALTIME) that have a kernel of their own.
    pub(crate) const CLOCK_ENTRY = "clock_entry" {
        ..WHEN;
        /// The node, or several: a list, or a name with `*`, which stands for any letters.
        on = Kind::OneOf(&[NODES, Kind::list(&NODES, 1)]), required "client";
        /// What changes.
        clock = ClockChange::KIND, required "{step: 3 s}";
    }

    /// What changes of a clock.
    for ClockChange = "clock_change" {
        /// By how much it is set forward at once; back with a minus sign.
        step: Maybe<SignedDuration>, "-3 s" else None;
        /// How much faster than lab time it runs from then on; slower with a minus sign. At most 10 %.
        drift: Maybe<OrZero<Drift>>, "200 ppm" else None;
        /// A leap second at the end of the clock's day in UTC: insert shows its last second twice, delete leaves it out.
        leap: Maybe<Word<LeapSecond>>, "insert" else None;
    }
}

/// A number of things, or as many as there are.
const AT_MOST: Kind = Kind::OneOf(&[Kind::Integer { least: 1, most: MOST_THINGS }, Kind::Word(&["unlimited"])]);
/// The most processes that Linux has (`PID_MAX_LIMIT`), and more descriptors than any process opens.
pub(crate) const MOST_THINGS: u64 = 4_194_304;

sections! {
    /// Limits what programs may use from then on.
    pub(crate) const LIMIT = "limit_entry" {
        ..WHEN;
        /// The command, or the node with all that runs in it, or a pattern of nodes; or a list of them.
        limit = NAMES, required "client";
        /// The memory of all its processes together, in a kernel node: the kernel takes back what it can, and kills a process when that is not
        /// enough.
        memory = Kind::OneOf(&[Bytes::KIND, Kind::Word(&["unlimited"])]), "64 MB";
        /// How many processes and threads there may be, in a kernel node: none can be started beyond.
        pids = AT_MOST, "20";
        /// How many descriptors each of its processes may open: the soft limit, up to the hard one.
        fds = AT_MOST, "100";
    }
}

impl fmt::Display for ClockChange {
    /// As the lab file has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.write_map())
    }
}
