//! The tables of nodes.

use super::container::{CONTAINER, CONTAINER_NAME};
use super::daemons::{CONFIGURATION, DAEMONS};
use super::files::{COLLECT, FILES};
use super::kinds::{DURATION, DURATION_OR_ZERO, ENVIRONMENT, LINK_REFERENCE, VARIABLE_NAMES, WITHHELD};
use super::measure::NODE_MEASURE_KIND;
use super::rules::RULES;
use super::services::{DHCP, DNS, FIREWALL, NAT};
use super::snooping::SNOOPING;
use super::timeline::{COMMAND, READY};
use super::vm::VM;
use super::{CONGESTION_NAME, Key, Kind, MAC, PORT, Quantity, SYSCTL_NAME, Section};

/// A user and perhaps a group, by name or number.
const IMAGE_USER: Kind = Kind::OneOf(&[
    Kind::Text("^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,31}(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,31})?$"),
    Kind::Integer { least: 0, most: u32::MAX as u64 - 1 },
]);

/// The number of a processor, or several from one to another.
const PROCESSORS: Kind =
    Kind::OneOf(&[Kind::Integer { least: 0, most: 1023 }, Kind::Text("^[0-9]{1,4}(-[0-9]{1,4})?$")]);

/// A node.
pub(crate) const NODE: Section = Section {
    name: "node",
    doc: "A machine with its own network stack, on which programs run.",
    groups: &[&[
        Key::new(
            "kind",
            Kind::Word(&["host", "router", "transit", "switch", "hub", "openflow", "external", "internet", "tunnel"]),
            "router",
            "host runs programs and forwards nothing, router forwards IPv4 and IPv6 as well, openflow is Open vSwitch in a node of \
             its own, internet is a router whose default route leads out into this machine's network, with addresses \
             translated. The others run no programs, and are inside the packet engine, fast and in no time: transit forwards \
             IPv4 and IPv6, switch forwards frames by the Ethernet addresses that it learns, hub repeats them at all other \
             ports, external is the wire of an interface of this machine, tunnel leads to a lab of another machine. Default: host.",
        ),
        Key::new(
            "stack",
            Kind::Word(&["namespace", "kernel"]),
            "kernel",
            "Whose network stack it has: namespace has that of this machine's kernel, in real time only; kernel runs a \
             Linux kernel of its own. Default: namespace in real time, kernel in dilated and virtual time.",
        ),
        Key::new(
            "vm",
            Kind::Section(&VM),
            "{kernel: vm/vmlinuz, initrd: vm/root.cpio.gz}",
            "A virtual machine, run by QEMU, in real and dilated time. Default: none.",
        ),
        Key::new(
            "memory",
            Kind::Quantity(Quantity::Size),
            "64 MB",
            "How much memory the kernel of a kernel node has, 32 MB to 1000 GB; what it does not use it does not take. \
             Default: 128 MB, and 1 MB for each interface beyond 32.",
        ),
        Key::new(
            "cpus",
            Kind::Positive,
            "0.5",
            "The processor time that its programs may use together, in cores of lab time, to a thousandth; in real and \
             dilated time. Default: no limit.",
        ),
        Key::new(
            "cpu",
            Kind::Section(&CPU),
            "{packet: 2 us, byte: 1 ns}",
            "How long its only processor is busy with each packet and each system call, in virtual time. Default: packets \
             take no time, system calls next to none.",
        ),
        Key::new(
            "pin",
            Kind::OneOf(&[PROCESSORS, Kind::List { items: &PROCESSORS, least: 1, most: None }]),
            "[0, 2-3]",
            "The processors of this machine that its programs run on, by their numbers; in the case of a kernel node, one of \
             them for its kernel with its programs, and in the case of a virtual machine, all its threads. Default: any.",
        ),
        Key::new(
            "routes",
            ROUTES,
            "none",
            "What routes it gets beside those of its own subnets: those of the shortest paths, one to each destination; ecmp, \
             all of the least cost, among which flows are spread; or none, for a routing daemon or its user to make them. \
             Default: as the lab's `routes`.",
        ),
        Key::new(
            "rules",
            RULES,
            "[{from: 10.0.0.1, link: uplink}]",
            "Policy routes: which packets take which way, whatever its other routes say. The first rule that fits holds.",
        ),
        Key::new(
            "multihomed",
            Kind::Flag,
            "true",
            "What has the address of one of its links leaves by that link, to the router there; behind its `rules`. Default: false: all \
             leaves by the shortest path.",
        ),
        Key::new(
            "offload",
            Kind::Flag,
            "false",
            "Whether frames come in as super-packets and with unfinished checksums, as kernels take them from each other. false: each \
             comes as on a wire, for programs that read raw frames and send them on: XDP, AF_XDP, packet sockets, packets of an OpenFlow \
             switch that its controller sends back. Of an external interface: the same of what leaves by it. Default: true; of an \
             OpenFlow switch with a controller: false.",
        ),
        Key::new(
            "daemons",
            DAEMONS,
            "[ospf, bfd]",
            "The routing protocols that a router speaks: ospf, ospf6, rip, ripng, bgp, isis, pim, ldp and bfd; static \
             leaves the other routes to FRR, too. FRR runs them, configured as the lab file describes the network.",
        ),
        Key::new(
            "as",
            Kind::Integer { least: 1, most: u32::MAX as u64 - 1 },
            "65001",
            "The autonomous system that a router with `bgp` belongs to, 1 to 4294967294.",
        ),
        Key::new(
            "frr",
            CONFIGURATION,
            "{text: router ospf}",
            "The configuration of FRR in place of the one that follows from the lab file: a path, or {text: ...}.",
        ),
        Key::new(
            "bird",
            CONFIGURATION,
            "{text: 'protocol device {}'}",
            "Runs BIRD in place of FRR, with this configuration: a path, or {text: ...}.",
        ),
        Key::new(
            "firewall",
            FIREWALL,
            "\"table inet filter {\\n}\\n\"",
            "Rules that are in force before its setup and services start: nftables, as a path or as several lines, or \
             {iptables: ..., ip6tables: ...} in the format of iptables-restore.",
        ),
        Key::new(
            "nat",
            Kind::Section(&NAT),
            "{outside: access}",
            "How a router translates addresses of IPv4 of what is behind it.",
        ),
        Key::new(
            "dhcp",
            Kind::OneOf(&[Kind::Flag, Kind::Section(&DHCP)]),
            "{lease: 10 min}",
            "Whether dnsmasq runs on it, lends addresses of IPv4 to the nodes on its links that ask, and answers their questions \
             for names; or how it does. Default: false.",
        ),
        Key::new(
            "dns",
            Kind::OneOf(&[Kind::Flag, Kind::Section(&DNS)]),
            "{domain: home}",
            "Whether dnsmasq runs on it and answers questions for the names of the lab, which all other nodes then ask; or how it does. \
             Default: false.",
        ),
        Key::new(
            "addresses",
            Kind::Word(&["dhcp"]),
            "dhcp",
            "Where its addresses come from: dhcp is a DHCP client on each of its links, for IPv4. Default: Netloom sets them.",
        ),
        Key::new(
            "ageing",
            DURATION,
            "10 s",
            "For how long a switch remembers an address of which it does not hear any more. Default: 300 s.",
        ),
        Key::new(
            "table",
            Kind::Integer { least: 1, most: 1_000_000 },
            "1024",
            "How many addresses a switch remembers at most, 1 to 1000000; what is for others goes out at all ports. Default: 8192.",
        ),
        Key::new(
            "static",
            Kind::Map { names: MAC, values: &LINK_REFERENCE },
            "{\"02:00:00:00:00:01\": uplink}",
            "Addresses that a switch does not learn, each with the link behind which it always is.",
        ),
        Key::new(
            "stp",
            Kind::OneOf(&[Kind::Flag, Kind::Section(&STP)]),
            "{priority: 4096}",
            "Whether a switch takes part in a rapid spanning tree (IEEE 802.1D-2004), so that switches may be joined in loops; or \
             how it does. Default: false.",
        ),
        Key::new(
            "snooping",
            Kind::OneOf(&[Kind::Flag, Kind::Section(&SNOOPING)]),
            "{fast_leave: true}",
            "Whether a switch sends multicast only where hosts have asked for it by IGMP or MLD, or a router is; or how. Default: false.",
        ),
        Key::new(
            "controller",
            Kind::Text("^tcp:[^:]+(:[0-9]+)?$"),
            "tcp:c0:6653",
            "The controller of an OpenFlow switch: the node that runs it, and the port at which it listens, 6653 if none is \
             given. Default: none.",
        ),
        Key::new(
            "fail_mode",
            Kind::Word(&["standalone", "secure"]),
            "secure",
            "What an OpenFlow switch does without its controller: standalone learns addresses as an ordinary switch does, \
             secure forwards only what its flows say. Default: standalone.",
        ),
        Key::new(
            "interface",
            Kind::Text("^[!-.0-9;-~]{1,15}$"),
            "eth1",
            "The interface of this machine whose wire an external node is, as `ip link` shows it.",
        ),
        Key::new(
            "mode",
            Kind::Word(&["share", "pass"]),
            "pass",
            "Who has the interface of an external node while the lab is up: with share the machine goes on using it, with pass the lab \
             has it alone, and it comes back as it was. Default: share.",
        ),
        Key::new(
            "vlan",
            Kind::Integer { least: 1, most: 4_094 },
            "100",
            "The VLAN of that interface that an external node is: its frames bear the tag there, and none in the lab. Default: all \
             frames that no other node takes.",
        ),
        Key::new(
            "promiscuous",
            Kind::Flag,
            "true",
            "Whether frames enter the lab that are neither for the other end of the link nor for several. Default: true if a \
             switch, a hub or another external node is there, else false.",
        ),
        Key::new(
            "force",
            Kind::Flag,
            "true",
            "Whether an external node may take an interface that is the machine's only way out. Default: false.",
        ),
        Key::new(
            "remote",
            Kind::Text("^[A-Za-z0-9.:_%-]{1,253}$"),
            "192.0.2.7",
            "The address or name of the machine to whose lab a tunnel leads; a tunnel there leads here.",
        ),
        Key::new(
            "port",
            Kind::Integer { least: 1, most: 65_535 },
            "29790",
            "The port of UDP of a tunnel, the same at both ends. Default: 29789.",
        ),
        Key::new(
            "vni",
            Kind::Integer { least: 1, most: 16_777_215 },
            "7",
            "The number of a tunnel, the same at both ends. Default: 1.",
        ),
        Key::new(
            "wait",
            DURATION,
            "10 s",
            "For how long a tunnel waits for its far end while the lab comes up; then that is an error. Default: 60 s.",
        ),
        Key::new(
            "congestion",
            Kind::Text(CONGESTION_NAME),
            "bbr",
            "The congestion control of its TCP connections: net.ipv4.tcp_congestion_control. Default: cubic.",
        ),
        Key::new(
            "sysctl",
            Kind::Map { names: SYSCTL_NAME, values: &Kind::Scalar },
            "{net.ipv4.tcp_sack: 0}",
            "Kernel settings of its network stack: names that begin with net.",
        ),
        Key::new(
            "capabilities",
            Kind::List { items: &Kind::Word(&WITHHELD), least: 1, most: None },
            "[sys_time]",
            "Capabilities (capabilities(7)) that its root has although they act on the whole machine, in a namespace node of a lab that \
             root starts. Default: none of them.",
        ),
        Key::new("env", ENVIRONMENT, "{LANG: C}", "Environment variables of all its programs."),
        Key::new(
            "setup",
            Kind::List { items: &COMMAND, least: 1, most: None },
            "[ip route add blackhole 10.9.0.0/16]",
            "Commands that must succeed before the services start, one after the other; those of different nodes run at the \
             same time.",
        ),
        Key::new(
            "inherit",
            VARIABLE_NAMES,
            "[PATH]",
            "Further environment variables of the command that starts the lab, which its programs get.",
        ),
        Key::new(
            "root",
            Kind::Word(&["machine", "overlay"]),
            "overlay",
            "The file system of its programs: machine is this machine's; overlay is a copy on write of it, which goes with \
             the lab. Default: overlay with `files` and in kernel nodes, else machine.",
        ),
        Key::new(
            "image",
            Kind::Text("\\S"),
            "debian:12",
            "A container image as its file system: the name of one in the cache, oci:FOLDER[:TAG], docker-archive:FILE[:NAME] or \
             rootfs:FOLDER.",
        ),
        Key::new(
            "entrypoint",
            COMMAND,
            "[sleep, infinity]",
            "What starts in the place of the image's entry point and command; none: nothing.",
        ),
        Key::new(
            "command",
            COMMAND,
            "[redis-server, --save, '']",
            "What the entry point is given in the place of the image's command.",
        ),
        Key::new(
            "user",
            IMAGE_USER,
            "postgres",
            "The user of the image's program: a name or number that the image knows, perhaps with a group behind a colon.",
        ),
        Key::new(
            "volumes",
            Kind::List { items: &Kind::Text("^[^:]+:/[^:]+(:r[ow])?$"), least: 0, most: None },
            "[/srv:/data, /etc/hosts:/etc/hosts.machine:ro]",
            "Files and folders of this machine that are seen in a node with an image: SOURCE:TARGET, and :ro if nothing may be \
             written there.",
        ),
        Key::new(
            "ready",
            Kind::Section(&READY),
            "{tcp: 5432}",
            "When the image's program is ready to be used; services wait for it.",
        ),
        Key::new(
            "container",
            Kind::OneOf(&[CONTAINER_NAME, Kind::Section(&CONTAINER)]),
            "web",
            "A container of docker or podman that runs already: it gets the lab's interfaces as long as the lab is up. In real time \
             only. Default: none.",
        ),
        Key::new(
            "files",
            FILES,
            "{/run/frr: empty, /var/lib/etcd: {keep: true}}",
            "Files and folders that are put into its file system, by their absolute paths there: `empty`, a path to copy from, \
             or a map.",
        ),
        Key::new(
            "collect",
            COLLECT,
            "[/var/log/frr/*.log]",
            "Files and folders that are copied to nodes/NODE/ of the results at the end of a run: absolute paths with *, ?, \
             [a-z] and **.",
        ),
        Key::new(
            "measure",
            NODE_MEASURE_KIND,
            "{tcp: 10 ms}",
            "What is measured inside it, in the place of what the lab's `measure` says; {} is nothing. Default: as the lab's `measure`.",
        ),
        Key::new(
            "expose",
            Kind::Map { names: PORT, values: &Kind::Integer { least: 1, most: 65535 } },
            "{8080: 80, 5353/udp: 53}",
            "Ports of this machine's loopback, TCP or with /udp, each with the port of the node to which it leads, past all \
             links; not in virtual time.",
        ),
    ]],
};

/// A switch's part in a spanning tree.
pub(crate) const STP: Section = Section {
    name: "stp",
    doc: "A switch's part in a rapid spanning tree, as IEEE 802.1D-2004 has it.",
    groups: &[&[
        Key::new(
            "priority",
            Kind::Integer { least: 0, most: 61_440 },
            "4096",
            "The switch with the lowest one is the root of the tree; of equal ones, that whose first port has the lowest hardware \
             address. A multiple of 4096, 0 to 61440. Default: 32768.",
        ),
        Key::new(
            "hello",
            DURATION,
            "1 s",
            "How often it says what it knows; a neighbour of which three are missing is gone. Whole seconds, 1 s to 10 s. \
             Default: 2 s.",
        ),
        Key::new(
            "max_age",
            DURATION,
            "15 s",
            "For how long the root's word counts, of which each switch on the way takes a second: a tree is no deeper. Whole \
             seconds, 6 s to 40 s. Default: 20 s.",
        ),
        Key::new(
            "forward_delay",
            DURATION,
            "20 s",
            "How long a port listens, and then learns, before it forwards where no neighbour answers. Whole seconds, 4 s to 30 s. \
             Default: 15 s.",
        ),
    ]],
};

/// Who makes routes.
pub(super) const ROUTES: Kind = Kind::Word(&["shortest", "ecmp", "none"]);

/// What packets and system calls cost in virtual time.
pub(crate) const CPU: Section = Section {
    name: "cpu",
    doc: "How long a node's only processor is busy with a packet that it receives or sends, and with what programs ask of \
          its kernel; computing takes time only with `branch`.",
    groups: &[&[
        Key::new(
            "packet",
            DURATION_OR_ZERO,
            "2 us",
            "The cost of a packet of any size; a super-packet counts as one. Default: 0.",
        ),
        Key::new(
            "byte",
            Kind::OneOf(&[Kind::Quantity(Quantity::TimePerByte), Kind::Zero]),
            "0.5 ns",
            "The cost of each byte of a packet from the IP header on, in whole picoseconds. Default: 0.",
        ),
        Key::new(
            "syscall",
            DURATION_OR_ZERO,
            "200 ns",
            "For each system call of a program, at most 1 ms; with 0, a program that waits in a loop of them waits for \
             ever. Default: 128 ns, and up to 5 us for a node that is busy for long without a pause.",
        ),
        Key::new(
            "switch",
            DURATION_OR_ZERO,
            "1 us",
            "The cost of a switch from one program or thread to another, at most 1 ms. Default: 128 ns.",
        ),
        Key::new(
            "branch",
            Kind::Quantity(Quantity::TimePerByte),
            "0.5 ns",
            "The cost of each conditional branch that a program executes, in whole picoseconds, at most 1 us; it needs a \
             processor that counts them, or `count: steps`. Default: computing takes no time.",
        ),
        Key::new(
            "count",
            Kind::Word(&["processor", "steps"]),
            "steps",
            "Who counts the branches of `branch`: the processor, or Netloom, which then stops programs after each \
             instruction; that takes about 10 us per instruction. Default: processor.",
        ),
    ]],
};
