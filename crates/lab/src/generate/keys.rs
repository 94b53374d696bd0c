//! The keys of each kind of network.

use super::Kind as Network;
use super::{data_center, internet, plain, random, scenarios};
use crate::keys::{DURATION, Key, Kind, LINK_NAME, NODE, SETTINGS, Section};
use crate::limits::MOST_NODES;

/// All kinds by name.
pub(super) const KINDS: &[(&str, Network)] = &[
    ("chain", (&CHAIN, plain::chain)),
    ("star", (&STAR, plain::star)),
    ("ring", (&RING, plain::ring)),
    ("tree", (&TREE, plain::tree)),
    ("grid", (&GRID, plain::grid)),
    ("torus", (&TORUS, plain::torus)),
    ("mesh", (&MESH, plain::mesh)),
    ("dumbbell", (&DUMBBELL, scenarios::dumbbell)),
    ("parking-lot", (&PARKING_LOT, scenarios::parking_lot)),
    ("fat-tree", (&FAT_TREE, data_center::fat_tree)),
    ("leaf-spine", (&LEAF_SPINE, data_center::leaf_spine)),
    ("waxman", (&WAXMAN, random::waxman)),
    ("barabasi-albert", (&BARABASI_ALBERT, random::barabasi_albert)),
    ("internet", (&INTERNET, internet::internet)),
];

/// The key of the lab file.
pub(crate) const GENERATE: Key = Key::new(
    "generate",
    Kind::OneOf(&[Kind::OneOf(ANY), Kind::Map { names: "^[a-zA-Z][a-zA-Z0-9]{0,9}$", values: &Kind::OneOf(ANY) }]),
    "{kind: ring, n: 5}",
    "A network of a well-known shape, or several by name: their nodes and links are added to those of the file.",
);

const ANY: &[Kind] = &[
    Kind::Section(&CHAIN),
    Kind::Section(&STAR),
    Kind::Section(&RING),
    Kind::Section(&TREE),
    Kind::Section(&GRID),
    Kind::Section(&TORUS),
    Kind::Section(&MESH),
    Kind::Section(&DUMBBELL),
    Kind::Section(&PARKING_LOT),
    Kind::Section(&FAT_TREE),
    Kind::Section(&LEAF_SPINE),
    Kind::Section(&WAXMAN),
    Kind::Section(&BARABASI_ALBERT),
    Kind::Section(&INTERNET),
];

/// What a kind of network is called, and what it says of its size.
macro_rules! network {
    ($constant:ident, $word:literal, $name:literal, $doc:literal, [$($key:expr),* $(,)?], $($group:ident),*) => {
        const $constant: Section = Section {
            name: $name,
            doc: $doc,
            groups: &[&[Key::new("kind", Kind::Word(&[$word]), $word, $doc).required(), $($key),*], $($group,)* SETTINGS_OF_ALL],
        };
    };
}

const fn number(name: &'static str, least: u64, example: &'static str, doc: &'static str) -> Key {
    Key::new(name, Kind::Integer { least, most: MOST_NODES as u64 }, example, doc).required()
}

const fn share(name: &'static str, example: &'static str, doc: &'static str) -> Key {
    Key::new(name, Kind::Positive, example, doc)
}

network!(
    CHAIN,
    "chain",
    "generate_chain",
    "Routers in a row: r1 to rn.",
    [
        number("n", 1, "10", "How many routers."),
        Key::new(
            "hosts_at",
            Kind::Word(&["edge", "all"]),
            "all",
            "Where hosts are: at both ends (edge), or at all routers. Default: edge.",
        ),
    ],
    HOSTS
);
network!(STAR, "star", "generate_star", "Hosts h1 to hn around a switch.", [number("n", 1, "8", "How many hosts.")],);
network!(
    RING,
    "ring",
    "generate_ring",
    "Routers in a circle: r1 to rn.",
    [number("n", 3, "5", "How many routers, 3 at least.")],
    HOSTS
);
network!(
    TREE,
    "tree",
    "generate_tree",
    "Levels of switches, with hosts below the last.",
    [
        Key::new("depth", Kind::Integer { least: 1, most: 16 }, "3", "How many levels of switches, 1 to 16.")
            .required(),
        number("fanout", 1, "8", "How many switches are below each, and by default hosts below each of the last."),
    ],
    HOSTS
);
network!(
    GRID,
    "grid",
    "generate_grid",
    "Routers in rows and columns: r1-1, r1-2 and so on.",
    [number("rows", 1, "3", "How many rows."), number("columns", 1, "4", "How many columns.")],
    HOSTS
);
network!(
    TORUS,
    "torus",
    "generate_torus",
    "A grid whose rows and columns are rings.",
    [number("rows", 3, "4", "How many rows, 3 at least."), number("columns", 3, "4", "How many columns, 3 at least."),],
    HOSTS
);
network!(
    MESH,
    "mesh",
    "generate_mesh",
    "Routers r1 to rn, each joined to all others.",
    [number("n", 2, "5", "How many routers, 2 at least.")],
    HOSTS
);
network!(
    DUMBBELL,
    "dumbbell",
    "generate_dumbbell",
    "Hosts left1 to leftn and right1 to rightn at both sides of a bottleneck from r1 to r2.",
    [number("n", 1, "3", "How many hosts there are at each side.")],
);
network!(
    PARKING_LOT,
    "parking-lot",
    "generate_parking_lot",
    "Bottlenecks in a row: from src0 to dst0 over all of them, from src1 to dst1 over the first, and so on.",
    [number("n", 1, "3", "How many bottlenecks.")],
);
network!(
    FAT_TREE,
    "fat-tree",
    "generate_fat_tree",
    "A fat tree of k-port switches: core1, agg1-1, edge1-1 (pod and number) and so on.",
    [Key::new("k", Kind::Integer { least: 2, most: 100 }, "4", "Ports of each switch, an even number.").required()],
    HOSTS
);
network!(
    LEAF_SPINE,
    "leaf-spine",
    "generate_leaf_spine",
    "Leaves, each joined to each spine: leaf1, spine1 and so on.",
    [number("leaves", 1, "4", "How many leaves."), number("spines", 1, "2", "How many spines.")],
    HOSTS
);
network!(
    WAXMAN,
    "waxman",
    "generate_waxman",
    "Routers at random places of a square, near ones joined more likely, with delays by distance (Waxman 1988).",
    [
        Key::new("n", Kind::Integer { least: 1, most: 10_000 }, "100", "How many routers, 1 to 10000.").required(),
        share("alpha", "0.15", "How far links reach, above 0 and at most 1. Default: 0.15."),
        share("beta", "0.4", "How many links there are, above 0 and at most 1. Default: as `degree` says."),
        share("degree", "4", "Instead of beta: how many neighbours a router has on the average. Default: 3."),
        Key::new("span", DURATION, "20 ms", "The delay from corner to corner of the square. Default: 20 ms."),
    ],
    HOSTS
);
network!(
    BARABASI_ALBERT,
    "barabasi-albert",
    "generate_barabasi_albert",
    "Routers of which each new one prefers those with many neighbours (Barabási and Albert 1999).",
    [
        number("n", 2, "100", "How many routers, 2 at least."),
        number("m", 1, "2", "How many of those before it a new router is joined to, less than n."),
    ],
    HOSTS
);
network!(
    INTERNET,
    "internet",
    "generate_internet",
    "Autonomous systems of one router each, in tiers: core1, transit1, stub1 and so on.",
    [
        number("tier1", 1, "4", "How many are at the top, all joined to one another."),
        number("transit", 0, "12", "How many transit providers."),
        number("stubs", 0, "40", "How many that buy from them and carry nothing for others."),
        Key::new(
            "homes",
            Kind::Integer { least: 1, most: 16 },
            "2",
            "From how many others a provider buys, and a stub at most. Default: 2.",
        ),
    ],
    HOSTS
);

const HOSTS: &[Key] = &[
    Key::new(
        "hosts_each",
        Kind::Integer { least: 0, most: MOST_NODES as u64 },
        "2",
        "How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.",
    ),
    Key::new(
        "hosts",
        Kind::Integer { least: 0, most: MOST_NODES as u64 },
        "50",
        "Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.",
    ),
];

const SETTINGS_OF_ALL: &[Key] = &[
    Key::new(
        "inner",
        Kind::OneOf(&[Kind::Word(&["host", "router", "transit", "switch", "hub"]), Kind::Section(&NODE)]),
        "switch",
        "The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.",
    ),
    Key::new("host", Kind::Section(&NODE), "{cpus: 0.5}", "The settings of the hosts."),
    Key::new("link", Kind::Section(&SETTINGS), "{rate: 100 Mbit/s, delay: 1 ms}", "The settings of all links."),
    Key::new(
        "tiers",
        Kind::Map { names: "^[a-z0-9]+$", values: &Kind::Section(&SETTINGS) },
        "{access: {rate: 10 Mbit/s}}",
        "What differs for the links of a tier; access are those of hosts.",
    ),
    Key::new(
        "links",
        Kind::Map { names: LINK_NAME, values: &Kind::Section(&SETTINGS) },
        "{h1-r1: {rate: 1 Mbit/s}}",
        "What differs for single links, by their names without that of the generated network.",
    ),
    Key::new(
        "seed",
        Kind::Integer { least: 0, most: u64::MAX },
        "7",
        "The seed of random networks. Default: the lab's.",
    ),
];
