//! The cases of the goals, which run when none is named.

use crate::case::{Case, case};
use crate::{
    accuracy, capacity, chains, diverted, emulators, exactness, external, halves, hunts, images, journal, many, parts,
    random, routing, scale, shells, streams, switches, tunnel, vms, watched,
};

pub(crate) const CASES: [Case; 29] = [
    case("streams", "TCP through one link, with and without limits", 140, streams::run),
    case("packets-per-second", "The most small packets per second that one link carries", 70, exactness::packets),
    case("journal", "A journal of every packet at 1 Gbit/s, beside none", 45, journal::run),
    case("watched", "A lab that three pages in a browser watch, beside nobody", 45, watched::run),
    case("exactness", "How far the delay of each packet is off", 80, exactness::delays),
    case("shape", "Traffic of the machine itself through pipes, beside none", 120, diverted::run),
    case("shells", "Commands behind links, and inside one another", 60, shells::run),
    case("external", "A network card whose wire ends in a lab, beside a link between nodes", 90, external::run),
    case("tunnel", "Two labs joined by a tunnel, over a path that takes time and varies", 90, tunnel::run),
    case("parts", "A lab in virtual time in two parts on two machines, beside one piece", 150, parts::run),
    case("halves", "A thousand nodes in two halves on two machines, beside one piece", 150, halves::run),
    case("hunts", "Runs with drawn faults, in a minute", 300, hunts::run),
    case("vms", "A virtual machine, beside QEMU with a tap device", 200, vms::run),
    case("delay", "GINE table 2: round-trip times over a constant one-way delay", 110, accuracy::run),
    case("capacity", "GINE table 3: goodput over a line of given capacity", 80, capacity::run),
    case("chain", "vimage figure 6: a chain of routers, against plain veth pairs", 55, chains::kernels),
    case("transit", "GINE figures 11 and 12: a chain of transit routers", 75, chains::transit),
    case("switches", "A chain of ten switches, beside one link", 55, switches::chain),
    case("bridge", "A switch in the kernel, beside a bridge made by ip", 75, switches::bridge),
    case("pipes", "A thousand pipes at once", 35, many::pipes),
    case("idle", "What a lab takes while nobody uses it", 25, many::idle),
    case("nodes", "A thousand routers and two thousand links", 25, many::nodes),
    case("random", "A random graph of a thousand routers, beside the kernel alone", 60, random::run),
    case("waxman", "Waxman graphs of 1,000 and 10,000 transit routers", 90, random::waxman),
    case("ospf", "Twenty routers with real daemons", 30, routing::run),
    case("tree", "A tree of 73 switches and 512 hosts, beside Mininet", 90, switches::tree),
    case("star", "Setting up and removing 100 nodes around one router", 8, scale::run),
    case("images", "Nodes with container images, and unpacking beside tar", 90, images::run),
    case("emulators", "The same on other emulators, where they are installed", 60, emulators::run),
];
