//! The kinds of faults that `netloom hunt` draws.

use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::{AboveZero, List, OneOrMore, Whole, Word};
use crate::keyed::sections;
use crate::keys::MOST_THINGS;
use crate::kinds::{LINK_NAME, NODES_NAME};
use crate::models::fault::Question;
use crate::models::filter::Sharing;
use crate::names::name_of;
use crate::plan::{
    BadDisk, ClockFaults, FaultShape, FaultTreatment, Keep, LimitFaults, NameFaults, NodeFault, PacketFaults, Signal,
    SinglePackets, SingleTreatment,
};
use crate::scalar::{flag, word};
use crate::section::{Form, Kind, Section, keys};
use crate::spec::{Among, FaultSpec, NodesSpec};
use crate::words::Words;
use crate::yaml::{Content, Node, flow};
use netloom_link::DnsFault;
use netloom_units::{Bytes, Drift, Duration, Probability};

/// The nodes of a lab, at most, as far as they can be faulty at once.
pub(super) const MOST_NODES: u64 = 100_000;

const NODE: Kind = Kind::Text(NODES_NAME);
/// `on`, a name or pattern, or a list of them.
pub(super) const NODES: Kind = Kind::OneOf(&[NODE, Kind::list(&NODE, 1)]);
const LINKS: Kind = Kind::OneOf(&[Kind::Text(LINK_NAME), Kind::list(&Kind::Text(LINK_NAME), 1)]);
const ON: Kind = Kind::Word(&["on"]);
const SHAPES: Kind = Kind::list(&Word::<FaultShape>::KIND, 1);
const SHARES: Kind = Kind::OneOf(&[ON, Kind::pair(&Probability::KIND)]);
const DELAYS: Kind = Kind::OneOf(&[ON, Kind::pair(&Duration::KIND)]);
const DNS_WAYS: Kind = Kind::list(&Word::<DnsFault>::KIND, 1);
const THINGS: Kind = Kind::OneOf(&[ON, Kind::pair(&Things::KIND)]);
type Things = Whole<u64, 1, MOST_THINGS>;

/// The keys that all faults of nodes have.
const BY_NODES: Section = keys! {
    /// The nodes. Default: those under test.
    nodes = NODES, "[client, server]";
    /// How many nodes have it at once, at most. Default: as many as may be faulty.
    at_most: Whole<usize, 1, MOST_NODES>, "1";
    /// How long it lasts: the least and the longest. Default: 1 ms to 50 s.
    for = Kind::pair(&AboveZero::<Duration>::KIND), "[1 s, 10 s]";
};

sections! {
    /// The kinds of faults that a hunt draws.
    pub(crate) const FAULTS = "hunt_faults" {
        /// Single packets are held, dropped, duplicated or corrupted: on, or a map.
        packet = Kind::OneOf(&[ON, Kind::Section(&SINGLE)]), "{match: {protocol: tcp}, do: [drop, hold]}";
        /// Packets are lost, delayed, reordered, duplicated or corrupted for a while: on, or a map.
        packets = Kind::OneOf(&[ON, Kind::Section(&PACKETS)]), "{loss: [1 %, 30 %], delay: [1 ms, 2 s]}";
        /// Name servers fail for a while, as those who ask over a link see it: on, a list of ways, or a map.
        dns = Kind::OneOf(&[ON, DNS_WAYS, Kind::Section(&NAMES)]), "[servfail, nxdomain]";
        /// Links are cut for a while: on, all links at the nodes under test; or names of links.
        cut = LINKS, "on";
        /// All TCP connections over a link are reset: on, all links at the nodes under test; or names of links.
        reset = LINKS, "on";
        /// Nodes do not reach each other for a while: on, a list of shapes, or a map.
        partition = Kind::OneOf(&[ON, SHAPES, Kind::Section(&PARTITIONS)]), "[isolate, halves]";
        /// Programs are held for a while: on, nodes, or a map.
        pause = Kind::OneOf(&[NODES, Kind::Section(&NODE_FAULT)]), "on";
        /// Nodes stand still for a while, as virtual machines that are paused: on, nodes, or a map.
        freeze = Kind::OneOf(&[NODES, Kind::Section(&NODE_FAULT)]), "on";
        /// Clocks of nodes are wrong for a while: on, nodes, or a map.
        clock = Kind::OneOf(&[NODES, Kind::Section(&CLOCKS)]), "{step: 1 s}";
        /// Programs may use little for a while: on, nodes, or a map.
        limit = Kind::OneOf(&[NODES, Kind::Section(&LIMITS)]), "{fds: [20, 100]}";
        /// Disks serve their nodes badly for a while: on, a list of ways, or a map.
        disk = Kind::OneOf(&[ON, Kind::list(&Word::<BadDisk>::KIND, 1), Kind::Section(&DISKS)]), "[full]";
        /// Programs get a signal.
        signal = Kind::Section(&SIGNALS), "{to: server, signals: [SIGHUP]}";
        /// Programs are killed, and services start again after a while: on, nodes, or a map.
        kill = Kind::OneOf(&[NODES, Kind::Section(&NODE_FAULT)]), "on";
        /// Nodes are rebooted: on, nodes, or a map.
        reboot = Kind::OneOf(&[NODES, Kind::Section(&NODE_FAULT)]), "on";
        /// Nodes crash, and boot again after a while: on, nodes, or a map.
        crash = Kind::OneOf(&[NODES, Kind::Section(&CRASHES)]), "{nodes: server, keep: [flushed, torn], for: [1 s, 5 s]}";
    }

    /// The partitions that a hunt draws.
    pub(crate) const PARTITIONS = "hunt_partition" {
        /// The nodes. Default: those under test.
        nodes = NODES, "[client, server]";
        /// The shapes. Default: all for which there are enough nodes.
        shapes: List<Word<FaultShape>, 1>, "[isolate, halves]";
        /// What becomes of the packets. Default: all three.
        packets: List<Word<FaultTreatment>, 1>, "[drop, slow]";
    }

    /// What a hunt does to single packets.
    pub(crate) const SINGLE = "hunt_packet" {
        /// The links. Default: those at the nodes under test.
        links = LINKS, "on";
        /// The filter of the packets. Default: all packets.
        match = Sharing::KIND, "{protocol: tcp, to_port: 5432}";
        /// What becomes of them. Default: all four.
        do: OneOrMore<Word<SingleTreatment>>, "[drop, hold]";
        /// How long they are held: the least and the longest. Default: 1 ms to 2 s.
        hold = DELAYS, "[10 ms, 1 s]";
    }

    /// What a hunt does to the packets of a link: of each kind the least and the most, or on.
    pub(crate) const PACKETS = "hunt_packets" {
        /// The links. Default: those at the nodes under test.
        links = LINKS, "on";
        /// The filter of the packets. Default: all packets.
        match = Sharing::KIND, "{protocol: tcp, to_port: 5432}";
        /// The share of packets that are lost; on: 1 % to 50 %.
        loss = SHARES, "[1 %, 30 %]";
        /// The delay in place of the link's own, or with `match` beside it; on: 1 ms to 2 s.
        delay = DELAYS, "[1 ms, 2 s]";
        /// The share of packets that overtake others; on: 1 % to 50 %.
        reorder = SHARES, "on";
        /// The share of packets that come twice; on: 1 % to 50 %.
        duplicate = SHARES, "on";
        /// The share of packets of which a bit is flipped; on: 1 % to 50 %.
        corrupt = SHARES, "[1 %, 5 %]";
    }

    /// How name servers fail in a hunt.
    pub(crate) const NAMES = "hunt_dns" {
        /// The links that the messages cross. Default: those at the nodes under test.
        links = LINKS, "on";
        /// The names, each with those below it, of which one is drawn. Default: all names at once.
        question: OneOrMore<Question>, "[db.lab, api.lab]";
        /// What those who ask get. Default: all six.
        do: OneOrMore<Word<DnsFault>>, "[servfail, stale]";
    }

    /// A fault of nodes.
    pub(crate) const NODE_FAULT = "hunt_nodes" {
        ..BY_NODES;
    }

    /// How clocks of nodes are wrong: of each kind the largest error, in both directions.
    pub(crate) const CLOCKS = "hunt_clock" {
        ..BY_NODES;
        /// By how much they are set at the instant, and back in the end.
        step: AboveZero<Duration>, "1 s";
        /// By how much they are wrong from time zero on.
        skew: AboveZero<Duration>, "500 ms";
        /// How much faster or slower than lab time they run. At most 10 %.
        drift: Drift, "200 ppm";
    }

    /// How little programs may use: of each kind the least and the most, or on.
    pub(crate) const LIMITS = "hunt_limit" {
        ..BY_NODES;
        /// The memory of all processes of a node together.
        memory = Kind::pair(&Bytes::KIND), "[16 MB, 64 MB]";
        /// The number of processes and threads; on: 1 to 100.
        pids = THINGS, "[1, 20]";
        /// The number of descriptors that each process may open; on: 3 to 100.
        fds = THINGS, "[10, 100]";
    }

    /// How disks serve their nodes.
    pub(crate) const DISKS = "hunt_disk" {
        ..BY_NODES;
        /// There is no space left on them.
        full = Kind::Flag, "true";
    }

    /// The crashes that a hunt draws.
    pub(crate) const CRASHES = "hunt_crash" {
        ..BY_NODES;
        /// What is on the disk beside what a flush has made durable, one of these; then only nodes with a disk crash. Default: all four.
        keep: OneOrMore<Word<Keep>>, "[flushed, some, torn]";
    }

    /// The signals that a hunt sends.
    pub(crate) const SIGNALS = "hunt_signal" {
        /// The nodes. Default: those under test.
        to = NODES, "server";
        /// The signals.
        signals: List<Word<Signal>, 1>, required "[SIGHUP]";
    }
}

/// The shares of packets that `on` means.
const USUAL_SHARES: [Probability; 2] = [percent(1), percent(50)];
/// The delays that `on` means.
const USUAL_DELAYS: [Duration; 2] = [Duration::from_millis(1), Duration::from_secs(2)];
/// The steps of clocks that `on` means.
const USUAL_STEP: Duration = Duration::from_secs(10);
/// The numbers of processes that `on` means.
const USUAL_PIDS: [u64; 2] = [1, 100];
/// The numbers of descriptors that `on` means: from those that every process has.
const USUAL_FDS: [u64; 2] = [3, 100];

const fn percent(share: u64) -> Probability {
    match Probability::from_parts_per_trillion(share * 10_000_000_000) {
        Some(probability) => probability,
        None => Probability::ONE,
    }
}

/// The drift that `on` means: ten times what the worst oscillators have.
fn usual_drift() -> Option<Drift> {
    Drift::from_ppt(1_000_000_000)
}

pub(super) fn faults(node: &Node, errors: &mut Errors) -> Vec<FaultSpec> {
    if node.text() == Some("none") {
        return Vec::new();
    }
    let Some(fields) = Fields::open(node, &FAULTS, errors) else { return Vec::new() };
    // From the simplest kind on.
    let kinds = FAULTS.keys().filter_map(|key| Some((key.name, fields.get(key.name)?)));
    kinds.filter_map(|(kind, own)| fault(kind, own, errors)).collect()
}

/// The fault of a kind, which is a key of [`FAULTS`].
fn fault(kind: &str, own: &Node, errors: &mut Errors) -> Option<FaultSpec> {
    let links = |found: &mut Errors| among(Some(own), "a link", found);
    match kind {
        "packet" => return single(own, errors).map(FaultSpec::Packet),
        "packets" => return packets(own, errors).map(FaultSpec::Packets),
        "dns" => return names(own, errors),
        "cut" => return Some(FaultSpec::Cut(links(errors))),
        "reset" => return Some(FaultSpec::Reset(links(errors))),
        "partition" => return partition(own, errors),
        "signal" => return signal(own, errors),
        "disk" => return disk(own, errors),
        _ => {}
    }
    let section = match kind {
        "clock" => &CLOCKS,
        "limit" => &LIMITS,
        "crash" => &CRASHES,
        _ => &NODE_FAULT,
    };
    let is_map = matches!(own.content, Content::Map(_));
    let fields = if is_map { Some(Fields::open(own, section, errors)?) } else { None };
    let mut nodes = match &fields {
        Some(fields) => nodes_of(fields, own, errors),
        None => NodesSpec::at(own, among(Some(own), "a node", errors)),
    };
    let fault = match kind {
        "pause" => NodeFault::Pause,
        "freeze" => NodeFault::Freeze,
        "kill" => NodeFault::Kill,
        "reboot" => NodeFault::Reboot,
        "clock" => NodeFault::Clock(clock(fields.as_ref(), errors)),
        "limit" => NodeFault::Limit(limit(fields.as_ref(), errors)),
        _ => {
            let keep = fields.as_ref().and_then(|fields| fields.form::<OneOrMore<Word<Keep>>>("keep", errors));
            nodes.keep = fields.as_ref().and_then(|fields| fields.get("keep")).map(|place| place.spanned(()));
            NodeFault::Crash(keep.filter(|rules| !rules.is_empty()).unwrap_or_else(every))
        }
    };
    Some(FaultSpec::Node(nodes, fault))
}

/// The keys that all faults of nodes have.
fn nodes_of(fields: &Fields<'_>, own: &Node, errors: &mut Errors) -> NodesSpec {
    let nodes = among(fields.get("nodes"), "a node", errors);
    let most = fields.form::<Whole<usize, 1, MOST_NODES>>("at most", errors);
    let lasts = fields.get("for").and_then(|span| between::<AboveZero<Duration>>(span, None, "a time", errors));
    NodesSpec { most, lasts, ..NodesSpec::at(own, nodes) }
}

impl NodesSpec {
    /// A fault at this place, which is about these nodes.
    fn at(place: &Node, nodes: Among) -> Self {
        Self { place: place.spanned(()), nodes, most: None, lasts: None, keep: None }
    }
}

fn clock(fields: Option<&Fields<'_>>, errors: &mut Errors) -> ClockFaults {
    let usual = ClockFaults { step: Some(USUAL_STEP), skew: None, drift: usual_drift() };
    let Some(fields) = fields else { return usual };
    let step = fields.form::<AboveZero<Duration>>("step", errors);
    let skew = fields.form::<AboveZero<Duration>>("skew", errors);
    let drift = fields.form::<Drift>("drift", errors);
    if let (Some(own), Some(place)) = (drift, fields.get("drift"))
        && own.as_ppt() <= 0
    {
        errors.push(place.error("this is the largest drift in both directions: write it above 0"));
    }
    let named = ClockFaults { step, skew, drift };
    if named == ClockFaults::default() { usual } else { named }
}

fn limit(fields: Option<&Fields<'_>>, errors: &mut Errors) -> LimitFaults {
    let usual = LimitFaults { memory: None, pids: Some(USUAL_PIDS), fds: Some(USUAL_FDS) };
    let Some(fields) = fields else { return usual };
    let memory = fields.get("memory").and_then(|own| between::<Bytes>(own, None, "a size", errors));
    let mut things = |name, most| {
        let own = fields.get(name)?;
        between::<Things>(own, Some(most), "a number", errors)
    };
    let named = LimitFaults { memory, pids: things("pids", USUAL_PIDS), fds: things("fds", USUAL_FDS) };
    if named == LimitFaults::default() { usual } else { named }
}

fn disk(node: &Node, errors: &mut Errors) -> Option<FaultSpec> {
    let ways = match &node.content {
        Content::Map(_) => {
            let fields = Fields::open(node, &DISKS, errors)?;
            // `{full, slow}` is a map of keys without values.
            let is_said = |way: &Node, found: &mut Errors| match way.content {
                Content::Empty => true,
                _ => keep(flag(way), found).unwrap_or(false),
            };
            let named = BadDisk::WORDS.iter();
            let named = named.filter(|(name, _)| fields.get(name).is_some_and(|way| is_said(way, errors)));
            let ways: Vec<BadDisk> = named.map(|(_, way)| *way).collect();
            let nodes = nodes_of(&fields, node, errors);
            let ways = if ways.is_empty() { every() } else { ways };
            return Some(FaultSpec::Node(nodes, NodeFault::Disk(ways)));
        }
        Content::List(_) => List::<Word<BadDisk>, 1>::read(node, errors)?,
        _ if is_on(node) => every(),
        _ => {
            return errors.reject(node.expected("`on`, a list of ways like [full], or a map"));
        }
    };
    Some(FaultSpec::Node(NodesSpec::at(node, None), NodeFault::Disk(ways)))
}

/// All values that have a word.
fn every<T: Words>() -> Vec<T> {
    T::WORDS.iter().map(|(_, value)| value.clone()).collect()
}

fn partition(node: &Node, errors: &mut Errors) -> Option<FaultSpec> {
    let (mut named, mut treatments, mut nodes) = (None, None, None);
    match &node.content {
        Content::Map(_) => {
            let fields = Fields::open(node, &PARTITIONS, errors)?;
            named = fields.get("shapes");
            treatments = fields.form::<List<Word<FaultTreatment>, 1>>("packets", errors);
            nodes = among(fields.get("nodes"), "a node", errors);
        }
        Content::List(_) => named = Some(node),
        _ if is_on(node) => {}
        _ => {
            return errors.reject(node.expected("`on`, a list of shapes like [isolate, halves], or a map"));
        }
    }
    let read = |item: &Node| word(item, FaultShape::WORDS).map(|shape| item.spanned(shape));
    let items = named.map_or(&[][..], |own| list(own, errors));
    let shapes = items.iter().filter_map(|item| keep(read(item), errors)).collect();
    Some(FaultSpec::Partition { nodes, shapes, treatments: treatments.unwrap_or_else(every) })
}

/// The filter under `match`, as a lab file has it.
fn matching(fields: &Fields<'_>, errors: &mut Errors) -> Option<String> {
    let node = fields.get("match")?;
    Sharing::read(node, errors).map(|_| flow(node))
}

fn single(node: &Node, errors: &mut Errors) -> Option<SinglePackets<Among>> {
    if is_on(node) {
        return Some(SinglePackets::usual());
    }
    let fields = Fields::open(node, &SINGLE, errors)?;
    let usual = SinglePackets::usual();
    let treatments = fields.form::<OneOrMore<Word<SingleTreatment>>>("do", errors).filter(|own| !own.is_empty());
    let hold = fields.get("hold").and_then(|own| between::<Duration>(own, Some(USUAL_DELAYS), "a time", errors));
    Some(SinglePackets {
        links: among(fields.get("links"), "a link", errors),
        matching: matching(&fields, errors),
        treatments: treatments.unwrap_or(usual.treatments),
        hold: hold.unwrap_or(usual.hold),
    })
}

impl SinglePackets<Among> {
    /// Returns what happens to single packets unless the lab file says otherwise.
    pub(crate) fn usual() -> Self {
        Self { links: None, matching: None, treatments: every(), hold: USUAL_DELAYS }
    }
}

fn packets(node: &Node, errors: &mut Errors) -> Option<PacketFaults<Among>> {
    if is_on(node) {
        return Some(PacketFaults::usual());
    }
    let fields = Fields::open(node, &PACKETS, errors)?;
    let mut shares = |name: &str| {
        let own = fields.get(name)?;
        between::<Probability>(own, Some(USUAL_SHARES), "a share", errors)
    };
    let (loss, reorder) = (shares("loss"), shares("reorder"));
    let (duplicate, corrupt) = (shares("duplicate"), shares("corrupt"));
    let delay = fields.get("delay").and_then(|own| between::<Duration>(own, Some(USUAL_DELAYS), "a time", errors));
    let links = among(fields.get("links"), "a link", errors);
    let matching = matching(&fields, errors);
    let is_empty = [loss, reorder, duplicate, corrupt].iter().all(Option::is_none) && delay.is_none();
    if is_empty {
        return Some(PacketFaults { links, matching, ..PacketFaults::usual() });
    }
    Some(PacketFaults { links, matching, loss, delay, reorder, duplicate, corrupt })
}

impl PacketFaults<Among> {
    /// Returns what happens to packets unless the lab file says otherwise.
    pub(crate) fn usual() -> Self {
        let shares = Some(USUAL_SHARES);
        Self { loss: shares, delay: Some(USUAL_DELAYS), reorder: shares, duplicate: shares, ..Self::default() }
    }
}

fn names(node: &Node, errors: &mut Errors) -> Option<FaultSpec> {
    let (mut links, mut questions, mut ways) = (None, Vec::new(), None);
    match &node.content {
        Content::Map(_) => {
            let fields = Fields::open(node, &NAMES, errors)?;
            links = among(fields.get("links"), "a link", errors);
            questions = fields.form::<OneOrMore<Question>>("question", errors).unwrap_or_default();
            ways = fields.form::<OneOrMore<Word<DnsFault>>>("do", errors).filter(|own| !own.is_empty());
        }
        Content::List(_) => ways = Some(List::<Word<DnsFault>, 1>::read(node, errors)?),
        _ if is_on(node) => {}
        _ => {
            return errors.reject(node.expected("`on`, a list of ways like [servfail, nxdomain], or a map"));
        }
    }
    Some(FaultSpec::Dns(NameFaults { links, questions, ways: ways.unwrap_or_else(every) }))
}

impl FaultSpec {
    /// Returns how name servers fail unless the lab file says otherwise.
    pub(crate) fn usual_names() -> Self {
        Self::Dns(NameFaults { links: None, questions: Vec::new(), ways: every() })
    }
}

/// The least and the most of something; `usual` is what `on` means.
fn between<F: Form<Value: Copy + PartialOrd>>(
    node: &Node,
    usual: Option<[F::Value; 2]>,
    what: &str,
    errors: &mut Errors,
) -> Option<[F::Value; 2]> {
    if is_on(node) && usual.is_some() {
        return usual;
    }
    let Content::List(items) = &node.content else {
        let on = if usual.is_some() { "`on`, or " } else { "" };
        return errors.reject(node.expected(&format!("{on}the least and the most, each {what}")));
    };
    let values: Vec<F::Value> = items.iter().filter_map(|item| F::read(item, errors)).collect();
    match (&values[..], items.len()) {
        ([least, most], 2) if least <= most => Some([*least, *most]),
        ([_, _], 2) => errors.reject(node.error("the first of both is the least: write them in the other order")),
        (_, 2) => None,
        (_, count) => {
            errors.reject(node.error(format!("these are the least and the most, so two values, and not {count}")))
        }
    }
}

fn signal(node: &Node, errors: &mut Errors) -> Option<FaultSpec> {
    let fields = Fields::open(node, &SIGNALS, errors)?;
    let nodes = NodesSpec::at(node, among(fields.get("to"), "a node", errors));
    let signals = fields.form::<List<Word<Signal>, 1>>("signals", errors)?;
    if let (true, Some(own)) = (signals.is_empty(), fields.get("signals")) {
        errors.push(own.error("name one signal at least, for example [SIGHUP]"));
    }
    Some(FaultSpec::Node(nodes, NodeFault::Signal(signals)))
}

/// Names, patterns of names or `on`; none if nothing is said, or `on`.
pub(super) fn among(node: Option<&Node>, what: &'static str, errors: &mut Errors) -> Among {
    let own = node.filter(|own| !is_on(own))?;
    Some(own.items().iter().filter_map(|item| keep(name_of(what)(item), errors)).collect())
}

fn is_on(node: &Node) -> bool {
    node.text() == Some("on")
}
