//! The keys of each kind of network.

use super::Kind as Network;
use super::builder::Everywhere;
use super::{cloud, constellation, data_center, internet, plain, random, scenarios};
use crate::forms::{AboveZero, Count, Whole};
use crate::keyed::sections;
use crate::keys::{NodeKeys, SETTINGS};
use crate::kinds::LINK_NAME;
use crate::limits::MOST_NODES;
use crate::section::{Form, Kind, Section, keys};
use netloom_units::Duration;

/// All kinds, each with what makes it.
pub(super) const KINDS: &[Network] = &[
    (&CHAIN, plain::chain),
    (&STAR, plain::star),
    (&RING, plain::ring),
    (&TREE, plain::tree),
    (&GRID, plain::grid),
    (&TORUS, plain::torus),
    (&MESH, plain::mesh),
    (&DUMBBELL, scenarios::dumbbell),
    (&PARKING_LOT, scenarios::parking_lot),
    (&FAT_TREE, data_center::fat_tree),
    (&LEAF_SPINE, data_center::leaf_spine),
    (&WAXMAN, random::waxman),
    (&BARABASI_ALBERT, random::barabasi_albert),
    (&INTERNET, internet::internet),
    (&CLOUD, cloud::cloud),
    (&CONSTELLATION, constellation::constellation),
];

/// A number of nodes or links, at least so many.
type Nodes<const LEAST: u64> = Count<LEAST, { MOST_NODES as u64 }>;

/// All kinds, of which one is meant.
const ANY: Kind = Kind::OneOf(&[Kind::Sections(&SECTIONS)]);
pub(super) const SECTIONS: [&Section; KINDS.len()] = {
    let mut sections = [KINDS[0].0; KINDS.len()];
    let mut place = 0;
    while place < KINDS.len() {
        sections[place] = KINDS[place].0;
        place += 1;
    }
    sections
};

/// The key of the lab file.
pub(crate) const GENERATE: Section = keys! {
    /// A network of a well-known shape, or several by name: their nodes and links are added to those of the file.
    generate = Kind::OneOf(&[ANY, Kind::Map { names: "^[a-zA-Z][a-zA-Z0-9]{0,9}$", values: &ANY }]),
        "{kind: ring, n: 5}";
};

sections! {
    /// Routers in a row: r1 to rn.
    const CHAIN = "generate_chain" {
        kind "chain";
        /// How many routers.
        n: Nodes<1>, required "10";
        /// Where hosts are: at both ends (edge), or at all routers. Default: edge.
        hosts_at: Everywhere, "all";
        ..WITH_HOSTS;
    }

    /// Hosts h1 to hn around a switch.
    const STAR = "generate_star" {
        kind "star";
        /// How many hosts.
        n: Nodes<1>, required "8";
        ..SETTINGS_OF_ALL;
    }

    /// Routers in a circle: r1 to rn.
    const RING = "generate_ring" {
        kind "ring";
        /// How many routers, 3 at least.
        n: Nodes<3>, required "5";
        ..WITH_HOSTS;
    }

    /// Levels of switches, with hosts below the last.
    const TREE = "generate_tree" {
        kind "tree";
        /// How many levels of switches, 1 to 16.
        depth: Whole<u8, 1, 16>, required "3";
        /// How many switches are below each, and by default hosts below each of the last.
        fanout: Nodes<1>, required "8";
        ..WITH_HOSTS;
    }

    /// Routers in rows and columns: r1-1, r1-2 and so on.
    const GRID = "generate_grid" {
        kind "grid";
        /// How many rows.
        rows: Nodes<1>, required "3";
        /// How many columns.
        columns: Nodes<1>, required "4";
        ..WITH_HOSTS;
    }

    /// A grid whose rows and columns are rings.
    const TORUS = "generate_torus" {
        kind "torus";
        /// How many rows, 3 at least.
        rows: Nodes<3>, required "4";
        /// How many columns, 3 at least.
        columns: Nodes<3>, required "4";
        ..WITH_HOSTS;
    }

    /// Routers r1 to rn, each joined to all others.
    const MESH = "generate_mesh" {
        kind "mesh";
        /// How many routers, 2 at least.
        n: Nodes<2>, required "5";
        ..WITH_HOSTS;
    }

    /// Hosts left1 to leftn and right1 to rightn at both sides of a bottleneck from r1 to r2.
    const DUMBBELL = "generate_dumbbell" {
        kind "dumbbell";
        /// How many hosts there are at each side.
        n: Nodes<1>, required "3";
        ..SETTINGS_OF_ALL;
    }

    /// Bottlenecks in a row: from src0 to dst0 over all of them, from src1 to dst1 over the first, and so on.
    const PARKING_LOT = "generate_parking_lot" {
        kind "parking-lot";
        /// How many bottlenecks.
        n: Nodes<1>, required "3";
        ..SETTINGS_OF_ALL;
    }

    /// A fat tree of k-port switches: core1, agg1-1, edge1-1 (pod and number) and so on.
    const FAT_TREE = "generate_fat_tree" {
        kind "fat-tree";
        /// Ports of each switch, an even number.
        k: Whole<u8, 2, 100>, required "4";
        ..WITH_HOSTS;
    }

    /// Leaves, each joined to each spine: leaf1, spine1 and so on.
    const LEAF_SPINE = "generate_leaf_spine" {
        kind "leaf-spine";
        /// How many leaves.
        leaves: Nodes<1>, required "4";
        /// How many spines.
        spines: Nodes<1>, required "2";
        ..WITH_HOSTS;
    }

    /// Routers at random places of a square, near ones joined more likely, with delays by distance (Waxman 1988).
    const WAXMAN = "generate_waxman" {
        kind "waxman";
        /// How many routers, 1 to 10000.
        n: Whole<u16, 1, 10_000>, required "100";
        /// How far links reach, above 0 and at most 1. Default: 0.15.
        alpha = Kind::Positive, "0.15";
        /// How many links there are, above 0 and at most 1. Default: as `degree` says.
        beta = Kind::Positive, "0.4";
        /// Instead of beta: how many neighbours a router has on the average. Default: 3.
        degree = Kind::Positive, "4";
        /// The delay from corner to corner of the square. Default: 20 ms.
        span: AboveZero<Duration>, "20 ms";
        ..WITH_HOSTS;
    }

    /// Routers of which each new one prefers those with many neighbours (Barabási and Albert 1999).
    const BARABASI_ALBERT = "generate_barabasi_albert" {
        kind "barabasi-albert";
        /// How many routers, 2 at least.
        n: Nodes<2>, required "100";
        /// How many of those before it a new router is joined to, less than n.
        m: Nodes<1>, required "2";
        ..WITH_HOSTS;
    }

    /// Autonomous systems of one router each, in tiers: core1, transit1, stub1 and so on.
    const INTERNET = "generate_internet" {
        kind "internet";
        /// How many are at the top, all joined to one another.
        tier1: Nodes<1>, required "4";
        /// How many transit providers.
        transit: Nodes<0>, required "12";
        /// How many that buy from them and carry nothing for others.
        stubs: Nodes<0>, required "40";
        /// From how many others a provider buys, and a stub at most. Default: 2.
        homes: Whole<u8, 1, 16>, "2";
        ..WITH_HOSTS;
    }
}

sections! {
    /// Regions of a public cloud, each a router with hosts, with the round trips that its provider publishes.
    const CLOUD = "generate_cloud" {
        kind "cloud";
        /// Whose cloud it is. Default: azure.
        provider = Kind::Word(cloud::PROVIDER_NAMES), "azure";
        /// The regions, by the names of the provider's table; each is the name of its router, too.
        regions = Kind::list(&Kind::Text("^[a-z0-9]+$"), 1), required "[eastus, westeurope, japaneast]";
        ..WITH_HOSTS;
    }
}

sections! {
    /// Ground stations that reach one another over satellites with laser links.
    const CONSTELLATION = "generate_constellation" {
        /// Ground stations that reach one another over satellites with laser links: a Walker shell, or satellites of a file.
        kind is "constellation";
        /// How many orbital planes; with satellites and altitude, or instead of them tle.
        planes: Count<1, 1_000>, "34";
        /// How many satellites each plane has.
        satellites: Count<1, 1_000>, "34";
        /// How high they are above the equator's radius, 100 km to 100000 km.
        altitude = Kind::Text("^[0-9.]+ ?km$"), "630 km";
        /// Instead of planes, satellites and altitude: a file with two lines of elements for each satellite, whose orbits follow by SGP4.
        tle = Kind::Text("."), "orbits/starlink.tle";
        /// When the lab begins above the satellites of a file, in UTC. Default: the latest epoch of the file.
        start = Kind::Text("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"), "2026-11-01T12:00:00Z";
        /// The angle between planes and the equator in degrees, above 0 and at most 180. Default: 53.
        inclination = Kind::Positive, "51.9";
        /// How planes are shifted against one another: Walker's F, less than the planes, or alternate: each second by half of the distance of two
        /// satellites. Default: 0.
        phasing = Kind::OneOf(&[Kind::Word(&["alternate"]), Kind::Integer { least: 0, most: 999 }]), "alternate";
        /// How many degrees a satellite has to be above the horizon of a station. Default: 25.
        elevation = Kind::Positive, "30";
        /// Instead of elevation: how far a satellite may be from a station.
        range = Kind::Text("^[0-9.]+ ?km$"), "1260 km";
        /// The ground stations, each with its latitude and longitude in degrees.
        stations = Kind::Map { names: "^[a-zA-Z][a-zA-Z0-9-]*$", values: &Kind::List { items: &Kind::Coordinate, least: 2, most: Some(2) } },
            required "{paris: [48.86, 2.35], luanda: [-8.84, 13.23]}";
        /// Which satellites are joined by lasers: each with four neighbours (grid), or none, so that both stations of a path see one satellite.
        /// Default: grid.
        lasers: constellation::Lasers, "none";
        /// How long delays are described; afterwards they stay as they are.
        for: AboveZero<Duration>, required "60 s";
        /// How often the paths are chosen, or instantly: as soon as another one is shorter, or the one in use is interrupted. Default: 15 s; with
        /// an access when terminals change satellites.
        routes = Kind::OneOf(&[Kind::Word(&["instantly"]), Duration::KIND]), "5 s";
        /// How long after its choice a path is used, as if a routing daemon had to find out. Default: 0 s.
        convergence: AboveZero<Duration>, "2 s";
        /// How stations reach satellites: at any time, or as Starlink's terminals, which change satellites together. Default: at any time.
        access = Kind::OneOf(&[Kind::Word(&["starlink"]), constellation::Starlink::KIND]), "starlink";
        /// The time between two points of a delay, between which it changes linearly. Default: 1 s.
        step: AboveZero<Duration>, "500 ms";
        ..SETTINGS_OF_ALL;
    }
}

sections! {
    /// The keys of kinds whose edge devices have hosts.
    const WITH_HOSTS = "" {
        ..HOSTS;
        ..SETTINGS_OF_ALL;
    }
}

const HOSTS: Section = keys! {
    /// How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
    hosts_each: Nodes<0>, "2";
    /// Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
    hosts: Nodes<0>, "50";
};

/// The settings that all kinds have.
pub(super) const SETTINGS_OF_ALL: Section = keys! {
    /// The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
    inner = Kind::OneOf(&[Kind::Word(&["host", "router", "transit", "switch", "hub"]), NodeKeys::KIND]), "switch";
    /// The settings of the hosts.
    host = NodeKeys::KIND, "{cpus: 0.5}";
    /// The settings of all links.
    link = Kind::Section(&SETTINGS), "{rate: 100 Mbit/s, delay: 1 ms}";
    /// What differs for the links of a tier; access are those of hosts.
    tiers = Kind::Map { names: "^[a-z0-9]+$", values: &Kind::Section(&SETTINGS) }, "{access: {rate: 10 Mbit/s}}";
    /// What differs for single links, by their names without that of the generated network.
    links = Kind::Map { names: LINK_NAME, values: &Kind::Section(&SETTINGS) }, "{h1-r1: {rate: 1 Mbit/s}}";
    /// The seed of random networks. Default: the lab's.
    seed: Whole<u64, 0, { u64::MAX }>, "7";
};
