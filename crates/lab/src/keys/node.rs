//! The tables of nodes.

use super::timeline::Condition;
use crate::decode::container::{Container, ContainerName};
use crate::decode::cpu::Cpu;
use crate::decode::daemons::{CONFIGURATION, Number};
use crate::decode::dhcp::{Dhcp, Dns};
use crate::decode::files::{COLLECT, FILES, Overlay};
use crate::decode::firewall::FIREWALL;
use crate::decode::image::ImageUser;
use crate::decode::nat::Nat;
use crate::decode::openflow::FailMode;
use crate::decode::rules::Rule;
use crate::decode::snooping::Snooping;
use crate::decode::vm::Vm;
use crate::forms::{AboveZero, Command, Count, Filled, List, Placed, Said, Whole, Word};
use crate::keyed::sections;
use crate::kinds::{CONGESTION_NAME, ENVIRONMENT, LINK_REFERENCE, MAC, PORT, SYSCTL_NAME, VARIABLE_NAMES, WITHHELD};
use crate::plan::{Daemon, ExternalMode, MeasurePlan, NodeKind, Stack, TreeSettings};
use crate::section::{Form, Kind};
use crate::spec::RoutesSpec;
use netloom_units::{Bytes, Duration};

/// The number of a processor, or several from one to another.
const PROCESSORS: Kind =
    Kind::OneOf(&[Kind::Integer { least: 0, most: 1023 }, Kind::Text("^[0-9]{1,4}(-[0-9]{1,4})?$")]);

sections! {
    /// A machine with its own network stack, on which programs run.
    pub(crate) const NODE = "node" {
        /// host runs programs and forwards nothing, router forwards IPv4 and IPv6 as well, openflow is Open vSwitch in a node of its own,
        /// internet is a router whose default route leads out into this machine's network, with addresses translated. The others run no
        /// programs, and are inside the packet engine, fast and in no time: transit forwards IPv4 and IPv6, switch forwards frames by the
        /// Ethernet addresses that it learns, hub repeats them at all other ports, external is the wire of an interface of this machine,
        /// tunnel leads to a lab of another machine. Default: host.
        kind: Word<NodeKind>, "router";
        /// Whose network stack it has: namespace has that of this machine's kernel, in real time only; kernel runs a Linux kernel of its
        /// own. Default: namespace in real time, kernel in dilated and virtual time.
        stack: Placed<Word<Stack>>, "kernel";
        /// A virtual machine, run by QEMU, in real and dilated time. Default: none.
        vm = Vm::KIND, "{kernel: vm/vmlinuz, initrd: vm/root.cpio.gz}";
        /// How much memory the kernel of a kernel node has, 32 MB to 1000 GB; what it does not use it does not take. Default: 128 MB, and 1
        /// MB for each interface beyond 32.
        memory: Bytes, "64 MB";
        /// The processor time that its programs may use together, in cores of lab time, to a thousandth; in real and dilated time. Default:
        /// no limit.
        cpus = Kind::Positive, "0.5";
        /// How long its only processor is busy with each packet and each system call, in virtual time. Default: packets take no time,
        /// system calls next to none.
        cpu = Cpu::KIND, "{packet: 2 us, byte: 1 ns}";
        /// The processors of this machine that its programs run on, by their numbers; in the case of a kernel node, one of them for its
        /// kernel with its programs, and in the case of a virtual machine, all its threads. Default: any.
        pin = Kind::OneOf(&[PROCESSORS, Kind::list(&PROCESSORS, 1)]), "[0, 2-3]";
        /// What routes it gets beside those of its own subnets: those of the shortest paths, one to each destination; ecmp, all of the
        /// least cost, among which flows are spread; or none, for a routing daemon or its user to make them. Default: as the lab's
        /// `routes`.
        routes: Routes, "none";
        /// Policy routes: which packets take which way, whatever its other routes say. The first rule that fits holds.
        rules: List<Rule>, "[{from: 10.0.0.1, link: uplink}]";
        /// What has the address of one of its links leaves by that link, to the router there; behind its `rules`. Default: false: all
        /// leaves by the shortest path.
        multihomed: Said, "true";
        /// Whether frames come in as super-packets and with unfinished checksums, as kernels take them from each other. false: each comes
        /// as on a wire, for programs that read raw frames and send them on: XDP, AF_XDP, packet sockets, packets of an OpenFlow switch
        /// that its controller sends back. Of an external interface: the same of what leaves by it. Default: true; of an OpenFlow switch
        /// with a controller: false.
        offload: bool, "false";
        /// The routing protocols that a router speaks: ospf, ospf6, rip, ripng, bgp, isis, pim, ldp and bfd; static leaves the other routes
        /// to FRR, too. FRR runs them, configured as the lab file describes the network.
        daemons = Kind::list(&Word::<Daemon>::KIND, 1), "[ospf, bfd]";
        /// The autonomous system that a router with `bgp` belongs to, 1 to 4294967294.
        as: Number, "65001";
        /// The configuration of FRR in place of the one that follows from the lab file: a path, or {text: ...}.
        frr = CONFIGURATION, "{text: router ospf}";
        /// Runs BIRD in place of FRR, with this configuration: a path, or {text: ...}.
        bird = CONFIGURATION, "{text: 'protocol device {}'}";
        /// Rules that are in force before its setup and services start: nftables, as a path or as several lines, or {iptables: ...,
        /// ip6tables: ...} in the format of iptables-restore.
        firewall = FIREWALL, "\"table inet filter {\\n}\\n\"";
        /// How a router translates addresses of IPv4 of what is behind it.
        nat = Nat::KIND, "{outside: access}";
        /// Whether dnsmasq runs on it, assigns addresses of IPv4 to the nodes on its links that ask, and answers their questions for names;
        /// or how it does. Default: false.
        dhcp = Kind::OneOf(&[Kind::Flag, Dhcp::KIND]), "{lease: 10 min}";
        /// Whether dnsmasq runs on it and answers questions for the names of the lab, which all other nodes then ask; or how it does.
        /// Default: false.
        dns = Kind::OneOf(&[Kind::Flag, Dns::KIND]), "{domain: home}";
        /// Where its addresses come from: dhcp is a DHCP client on each of its links, for IPv4. Default: Netloom sets them.
        addresses = Kind::Word(&["dhcp"]), "dhcp";
        /// For how long a switch remembers an address without hearing from it. Default: 300 s.
        ageing: AboveZero<Duration>, "10 s";
        /// How many addresses a switch remembers at most, 1 to 1000000; what is for others goes out at all ports. Default: 8192.
        table: Count<1, 1_000_000>, "1024";
        /// Addresses that a switch does not learn, each with the link behind which it always is.
        static = Kind::Map { names: MAC, values: &LINK_REFERENCE }, "{\"02:00:00:00:00:01\": uplink}";
        /// Whether a switch takes part in a rapid spanning tree (IEEE 802.1D-2004), so that switches may be joined in loops; or how it
        /// does. Default: false.
        stp = Kind::OneOf(&[Kind::Flag, TreeSettings::KIND]), "{priority: 4096}";
        /// Whether a switch sends multicast only where hosts have asked for it by IGMP or MLD, or a router is; or how. Default: false.
        snooping = Kind::OneOf(&[Kind::Flag, Snooping::KIND]), "{fast_leave: true}";
        /// The controller of an OpenFlow switch: the node that runs it, and the port at which it listens, 6653 if none is given. Default:
        /// none.
        controller = Kind::Text("^tcp:[^:]+(:[0-9]+)?$"), "tcp:c0:6653";
        /// What an OpenFlow switch does without its controller: standalone learns addresses as an ordinary switch does, secure forwards
        /// only what its flows say. Default: standalone.
        fail_mode: FailMode, "secure";
        /// The interface of this machine whose wire an external node is, as `ip link` shows it.
        interface = Kind::Text("^[!-.0-9;-~]{1,15}$"), "eth1";
        /// Who has the interface of an external node while the lab is up: with share the machine goes on using it, with pass the lab has it
        /// alone, and it comes back as it was. Default: share.
        mode: Placed<Word<ExternalMode>>, "pass";
        /// The VLAN of that interface that an external node is: its frames bear the tag there, and none in the lab. Default: all frames
        /// that no other node takes.
        vlan: Placed<Whole<u16, 1, 4_094>>, "100";
        /// Whether frames enter the lab that are neither for the other end of the link nor for several. Default: true if a switch, a hub or
        /// another external node is there, else false.
        promiscuous: Placed<bool>, "true";
        /// Whether an external node may take an interface that is the machine's only way out. Default: false.
        force: bool, "true";
        /// The address or name of the machine to whose lab a tunnel leads; a tunnel there leads here.
        remote = Kind::Text("^[A-Za-z0-9.:_%-]{1,253}$"), "192.0.2.7";
        /// The port of UDP of a tunnel, the same at both ends. Default: 29789.
        port: Placed<Whole<u16, 1, 65_535>>, "29790";
        /// The number of a tunnel, the same at both ends. Default: 1.
        vni: Whole<u32, 1, 16_777_215>, "7";
        /// For how long a tunnel waits for its far end while the lab comes up; then that is an error. Default: 60 s.
        wait: AboveZero<Duration>, "10 s";
        /// The congestion control of its TCP connections: net.ipv4.tcp_congestion_control. Default: cubic.
        congestion = Kind::Text(CONGESTION_NAME), "bbr";
        /// Kernel settings of its network stack: names that begin with net.
        sysctl = Kind::Map { names: SYSCTL_NAME, values: &Kind::Scalar }, "{net.ipv4.tcp_sack: 0}";
        /// Capabilities (capabilities(7)) that its root has although they act on the whole machine, in a namespace node of a lab that root
        /// starts. Default: none of them.
        capabilities = Kind::list(&Kind::Word(&WITHHELD), 1), "[sys_time]";
        /// Environment variables of all its programs.
        env = ENVIRONMENT, "{LANG: C}";
        /// Commands that must succeed before the services start, one after the other; those of different nodes run at the same time.
        setup = Kind::list(&Command::KIND, 1), "[ip route add blackhole 10.9.0.0/16]";
        /// Further environment variables of the command that starts the lab, which its programs get.
        inherit = VARIABLE_NAMES, "[PATH]";
        /// The file system of its programs: machine is this machine's; overlay is a copy on write of it, which goes with the lab. Default:
        /// overlay with `files` and in kernel nodes, else machine.
        root: Placed<Overlay>, "overlay";
        /// A container image as its file system: the name of one in the cache, oci:FOLDER[:TAG], docker-archive:FILE[:NAME] or
        /// rootfs:FOLDER.
        image: Filled, "debian:12";
        /// What starts in the place of the image's entry point and command; none: nothing.
        entrypoint: Command, "[sleep, infinity]";
        /// What the entry point is given in the place of the image's command.
        command: Command, "[redis-server, --save, '']";
        /// The user of the image's program: a name or number that the image knows, perhaps with a group behind a colon.
        user: ImageUser, "postgres";
        /// Files and folders of this machine that are seen in a node with an image: SOURCE:TARGET, and :ro if nothing may be written there.
        volumes = Kind::list(&Kind::Text("^[^:]+:/[^:]+(:r[ow])?$"), 0), "[/srv:/data, /etc/hosts:/etc/hosts.machine:ro]";
        /// When the image's program is ready to be used; services wait for it.
        ready = Condition::KIND, "{tcp: 5432}";
        /// A container of docker or podman that runs already: it gets the lab's interfaces as long as the lab is up. In real time only.
        /// Default: none.
        container = Kind::OneOf(&[ContainerName::KIND, Container::KIND]), "web";
        /// Files and folders that are put into its file system, by their absolute paths there: `empty`, a path to copy from, or a map.
        files = FILES, "{/run/frr: empty, /var/lib/etcd: {keep: true}}";
        /// Files and folders that are copied to nodes/NODE/ of the results at the end of a run: absolute paths with *, ?, [a-z] and **.
        collect = COLLECT, "[/var/log/frr/*.log]";
        /// What is measured inside it, in the place of what the lab's `measure` says; {} is nothing. Default: as the lab's `measure`.
        measure: Placed<MeasurePlan>, "{tcp: 10 ms}";
        /// Ports of this machine's loopback, TCP or with /udp, each with the port of the node to which it leads, past all links; not in
        /// virtual time.
        expose = Kind::Map { names: PORT, values: &Kind::Integer { least: 1, most: 65535 } }, "{8080: 80, 5353/udp: 53}";
    }

}

/// Who makes routes.
pub(crate) type Routes = Word<RoutesSpec>;
