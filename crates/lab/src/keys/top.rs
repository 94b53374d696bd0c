//! The tables of the whole file and of its bounds.

use super::disk::DISK_ENTRY;
use super::network::{ADDRESSING, Addressed, LinkKeys};
use super::node::{NodeKeys, Routes};
use super::program_faults::{FAIL_ENTRY, OOM_ENTRY, SCHEDULE_ENTRY, STARVE_ENTRY};
use super::timeline::{
    CLOCK_ENTRY, CONTINUE, CRASH, DOWN, FLAP_ENTRY, FREEZE, HEAL, KILL, LIMIT, LOG, MoveKeys, PACKET, PAUSE,
    PartitionKeys, RAMP_ENTRY, REBOOT, RESET, RESTART, RUN, SET, SIGNAL, START_ENTRY, STOP_ENTRY, SetupKeys, UP,
};
use crate::decode::clock::Dilated;
use crate::decode::daemons::Converged;
use crate::decode::elsewhere::ELSEWHERE;
use crate::decode::exercise::ExerciseSpec;
use crate::decode::hunt;
use crate::decode::machines::MACHINES;
use crate::decode::measure::Measure;
use crate::decode::measures::OriginForm;
use crate::decode::multicast::MULTICAST;
use crate::forms::{AboveZero, Filled, Placed, Whole, Word, word_form};
use crate::keyed::{Keyed, sections};
use crate::kinds::{COMMAND_NAME, LINK_NAME, NODE_NAME, NODE_REFERENCE, VARIABLE_NAMES};
use crate::plan::{Bounds, OnSpin, Precision, Shards};
use crate::section::{Form, Kind, Section};
use crate::spec::BypassSpec;
use crate::{capture, generate, journal, traffic, vary};
use netloom_units::{Duration, Probability};

word_form! {
    /// Whether switches and hubs may be joined in a loop.
    pub(crate) struct Loops = bool { "refused" = false, "allowed" = true }
}

word_form! {
    /// What holds for links that say nothing of it themselves.
    pub(crate) struct BypassOfAll = BypassSpec { "off" = BypassSpec::Never, "auto" = BypassSpec::Possible }
}

/// The entries of the timeline.
const ENTRIES: &[&Section] = &[
    &RUN,
    &SET,
    &RAMP_ENTRY,
    &LOG,
    &DOWN,
    &UP,
    &PartitionKeys::SECTION,
    &HEAL,
    &MoveKeys::SECTION,
    &KILL,
    &PAUSE,
    &CONTINUE,
    &SIGNAL,
    &RESTART,
    &REBOOT,
    &STOP_ENTRY,
    &START_ENTRY,
    &FLAP_ENTRY,
    &CLOCK_ENTRY,
    &FREEZE,
    &PACKET,
    &RESET,
    &CRASH,
    &LIMIT,
    &DISK_ENTRY,
    &FAIL_ENTRY,
    &STARVE_ENTRY,
    &SCHEDULE_ENTRY,
    &OOM_ENTRY,
];

sections! {
    /// A network and what happens on it.
    pub(crate) const TOP = "lab" {
        ..vary::VARIED;
        /// The lab's name: 1 to 32 of a-z, 0-9 and -. Default: the file's name without its extension.
        name = Kind::Text("^[a-z0-9-]{1,32}$"), "dumbbell";
        /// The seed of all random numbers: with the same seed, the same packets are lost. Default: 1.
        seed: Whole<u64, 0, { u64::MAX }>, "7";
        /// How lab time passes: real, as ours does; {dilation: N}, N times slower; virtual, from event to event. Default: real.
        clock = Kind::OneOf(&[Kind::Word(&["real", "virtual"]), Dilated::KIND]), "{dilation: 10}";
        /// What becomes of a program in virtual time that computes for long without a system call: wait until it makes one, however long
        /// that takes; or advance, let lab time go on meanwhile, so that the run cannot be repeated. Default: wait.
        on_spin: Word<OnSpin>, "advance";
        /// The day at whose beginning, in UTC, the wall clocks of kernel nodes start: up to 2042-12-31. Default: in virtual time the day
        /// after the kernel was built, else now.
        start = Kind::Text("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), "2026-11-22";
        /// Environment variables of the command that starts the lab, which all programs get. Default: none.
        inherit = VARIABLE_NAMES, "[PATH, SSH_AUTH_SOCK]";
        /// How precisely packets are released: eco sleeps, balanced spins for the last microseconds, exact spins always and takes a whole
        /// processor. Default: balanced.
        precision: Placed<Word<Precision>>, "balanced";
        /// How many threads the packet engine has, which share the links out among themselves: auto, as many as the machine can spare and
        /// the lab has independent parts for; or a number, for which links between transit routers are cut if need be. Default: auto.
        shards = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Integer { least: 1, most: Shards::MOST as u64 }]), "2";
        /// The machines among which the lab is divided, by name. Default: it is played on one.
        machines = MACHINES, "{a: {resources: {CPU: 4}}, b: {}}";
        /// The nodes that other machines play, by name, each with its interfaces: nodes here know their names, and what is behind tunnels.
        /// Names mean the first interface unless a node's `names` says otherwise. `netloom split` writes it. Default: none.
        elsewhere = ELSEWHERE, "{db: {eth0: {address: 10.0.0.2/30, mac: \"02:00:00:00:00:02\"}}}";
        /// Whether links that nothing impairs, changes or measures are joined in the kernel, past the engine: off or auto. Default: off.
        bypass: BypassOfAll, "auto";
        /// What routes the nodes get: shortest, those of the shortest paths, one to each destination; ecmp, all of the least cost, among
        /// which flows are spread; none. Default: shortest.
        routes: Routes, "ecmp";
        /// Trees of multicast along shortest paths, on which transit routers pass packets on. Default: none.
        multicast = Kind::list(&Kind::Section(&MULTICAST), 0), "[{group: 239.1.2.3, from: server, to: [a, b]}]";
        /// Whether ends of links get addresses that the file does not give: automatic or none; or which ones. Default: automatic.
        addresses = Kind::OneOf(&[Addressed::KIND, Kind::Section(&ADDRESSING)]), "{ipv4: 172.16.0.0/12, ipv6: none}";
        /// Whether nodes learn the Ethernet addresses of their neighbours by ARP and neighbour discovery; false: they have permanent
        /// entries. Default: true on LANs with more than 128 ends, else false.
        arp: bool, "true";
        /// Whether switches and hubs may be joined in a loop, in which broadcasts go round for ever: refused or allowed. Default: refused.
        loops: Loops, "allowed";
        /// What time zero waits for beside the services: converged, until every router has the routes that its daemons bring, at most 60 s
        /// or what {converged: 30 s} says. Default: nothing.
        ready = Kind::OneOf(&[Kind::Word(&["converged"]), Converged::KIND]), "converged";
        /// When the run ends at the latest, after time zero. Default: when all commands have ended.
        duration: AboveZero<Duration>, "15 s";
        ..generate::GENERATE;
        /// The nodes by name, or a list of names.
        nodes = NODES, "{client: {}, r1: {kind: router}}";
        /// The links by name.
        links = Kind::Map { names: LINK_NAME, values: &LinkKeys::KIND }, "{access: {ends: [client, r1], delay: 1 ms}}";
        /// Where nodes are in a picture: to the right, and down. A link has a length of about 1.
        layout = Kind::Map { names: NODE_NAME, values: &Kind::pair(&Kind::Coordinate)}, "{client: [0, 0], r1: [1, 0.5]}";
        /// Where positions in degrees have their zero: the latitude and the longitude of x = y = 0. Default: the first position of a node in degrees.
        origin: OriginForm, "[48.1374, 11.5755]";
        /// Commands that must succeed before the services start, one after the other, after those of the nodes.
        setup = Kind::list(&SetupKeys::KIND, 0), "[{on: server, run: createdb shop}]";
        /// How long programs have between SIGTERM and SIGKILL when they are stopped. Default: 1 s.
        stop: AboveZero<Duration>, "10 s";
        /// What happens and when. Time zero is when all services without a time are ready.
        timeline = Kind::list(&Kind::Sections(ENTRIES), 0),
            "[{at: 1 s, on: client, run: ping -c 3 server}]";
        ..traffic::KEY;
        ..capture::KEY;
        ..journal::KEY;
        /// What is measured inside every node that runs programs, unless the node says otherwise, and how often links are sampled. Default:
        /// links ten times a second.
        measure = Measure::KIND, "{tcp: 10 ms}";
        /// What must hold after the run, or over all runs of a sweep: <term> <comparison> <value or term> [during A..B] [over runs].
        expect = Kind::list(&Filled::KIND, 0), "[ping.exit == 0, p99(backbone.forward.delay) < 25 ms]";
        /// What is measured, by name, for reports and the tables of sweeps: <term> [in UNIT] [during A..B].
        figures = Kind::Map { names: COMMAND_NAME, values: &Filled::KIND }, "{goodput: ping.duration}";
        /// Tasks for those who learn with this lab, which are checked while it is up. Default: none.
        exercise = ExerciseSpec::KIND,
            "{text: Fill the queue., tasks: [{title: See it fill, check: backbone.forward.queue_max > 9 packets}]}";
        ..hunt::HUNTED;
        /// How far the network may stray from its description.
        bounds = Bounds::KIND, "{lateness: 500 us}";
    }
}

const NODES: Kind = Kind::OneOf(&[
    Kind::Map { names: NODE_NAME, values: &Kind::Optional(&NodeKeys::SECTION) },
    Kind::list(&NODE_REFERENCE, 1),
]);

sections! {
    /// How far a run may stray and still be as described.
    read Bounds = "bounds" {
        /// 99 % of a pipe's packets are delivered at most this much later than due. Default: 1 ms.
        lateness: Duration, "500 us";
        /// No packet of a pipe is delivered later than due by more than this. Default: ten times `lateness`.
        lateness_max: Duration, "20 ms" else Bounds::latest(lateness.unwrap_or(Bounds::default().lateness));
        /// The rate of a busy pipe differs from the described one by at most this. Default: 2 %.
        rate: Probability, "1 %";
        /// The mean delay of a pipe differs from the described one by at most this, or by `lateness` if that is more. Default: 1 %.
        delay: Probability, "1 %";
        /// Each kernel node, and an engine that serves kernel nodes, waits for a processor for at most this share of wall time. Default: 10
        /// %.
        starvation: Probability, "10 %";
        /// Each kernel node and virtual machine stands still for at most this long at a time, whatever the cause. Default: 100 ms; no limit
        /// with `starvation: 100 %`.
        standstill: Duration, "500 ms" else longest_standstill(starvation);
        /// Links are changed, cut and restored, windows of expectations begin and end, and the run ends at most this much later than
        /// described. Default: 10 ms.
        events: Duration, "1 ms";
        /// Programs with an `at` are started, and programs with a `for` are stopped, at most this much later than described. Default: 100
        /// ms.
        starts: Duration, "500 ms";
        /// Whether programs may give interfaces of described links another queue, MTU or state. Default: false.
        changes: bool, "true";
    }
}

/// Returns how long kernels may stand still: who lets them wait for a processor all the time has said so.
fn longest_standstill(starvation: Option<Probability>) -> Duration {
    if starvation == Some(Probability::ONE) { Duration::MAX } else { Bounds::default().standstill }
}
