//! The tables of nodes.

use crate::decode::attachments::{Exposed, ExternalKeys, TunnelKeys};
use crate::decode::capabilities::Capabilities;
use crate::decode::clock::ClockError;
use crate::decode::container::{Container, ContainerName};
use crate::decode::cpu::Processor;
use crate::decode::daemons::DaemonKeys;
use crate::decode::dhcp::{DhcpServer, NameServer};
use crate::decode::disk::Disk;
use crate::decode::elsewhere::{Names, NodeRoutes};
use crate::decode::files::{Files, Overlay, Pattern};
use crate::decode::firewall::FIREWALL;
use crate::decode::image::ImageKeys;
use crate::decode::machine::{Congestion, Cores, Dumps, Memory, Processors};
use crate::decode::machines::MachineName;
use crate::decode::measures::Place;
use crate::decode::nat::Nat;
use crate::decode::openflow::OpenFlowSpec;
use crate::decode::paths::Trail;
use crate::decode::rules::Rule;
use crate::decode::switch::SwitchSpec;
use crate::decode::variables::{Environment, Sysctls, Variables};
use crate::decode::vm::Vm;
use crate::forms::{Command, List, Placed, Said, Word, word_form};
use crate::keyed::sections;
use crate::plan::{MeasurePlan, NodeKind, Stack};
use crate::section::{Form, Kind};
use crate::spec::RoutesSpec;

word_form! {
    /// DHCP servers, from which addresses of IPv4 come.
    pub(crate) struct FromServers = () { "dhcp" = () }
}

sections! {
    /// A machine with its own network stack, on which programs run.
    pub(crate) struct NodeKeys = "node" {
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
        memory: Placed<Memory>, "64 MB";
        /// The processor time that its programs may use together, in cores of lab time, to a thousandth; in real and dilated time. Default:
        /// no limit.
        cpus: Placed<Cores>, "0.5";
        /// How long its only processor is busy with each packet and each system call, in virtual time. Default: packets take no time,
        /// system calls next to none.
        cpu: Processor, "{packet: 2 us, byte: 1 ns}";
        /// The processors of this machine that its programs run on, by their numbers; in the case of a kernel node, one of them for its
        /// kernel with its programs, and in the case of a virtual machine, all its threads. Default: any.
        pin: Processors, "[0, 2-3]";
        /// The machine that plays it, one of the lab's `machines`. Default: the lab is divided so that little crosses.
        machine: Placed<MachineName>, "b";
        /// The error of its clock (CLOCK_REALTIME), if it has a kernel of its own. Default: none, it shows the lab's time.
        clock: Placed<ClockError>, "{skew: -40 ms, drift: 200 ppm}";
        /// A disk of a kernel node or a virtual machine; what is on it survives the node's crashes, as far as it was flushed. Default: none.
        disk: Disk, "{at: /var/lib/etcd, size: 256 MB}";
        /// The room for core dumps of programs that crash in a kernel node, 100 kB to 250 MB, and at most half of its memory; they are copied to
        /// cores/NODE/ of the results. Default: there are none.
        cores: Placed<Dumps>, "64 MB";
        /// What routes it gets beside those of its own subnets: those of the shortest paths, one to each destination; ecmp, all of the
        /// least cost, among which flows are spread; or none, for a routing daemon or its user to make them. Default: as the lab's
        /// `routes`. Or a list: these and no others.
        routes: NodeRoutes, "[{to: 10.9.0.0/16, via: 10.0.0.2}]";
        /// The interfaces that names of nodes mean in it, where they are not the first ones. Default: those that are nearest.
        names: Names, "{db: eth1}";
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
        ..DaemonKeys::SECTION;
        /// Rules that are in force before its setup and services start: nftables, as a path or as several lines, or {iptables: ...,
        /// ip6tables: ...} in the format of iptables-restore.
        firewall = FIREWALL, "\"table inet filter {\\n}\\n\"";
        /// How a router translates addresses of IPv4 of what is behind it.
        nat = Nat::KIND, "{outside: access}";
        /// Whether dnsmasq runs on it, assigns addresses of IPv4 to the nodes on its links that ask, and answers their questions for names;
        /// or how it does. Default: false.
        dhcp: DhcpServer, "{lease: 10 min}";
        /// Whether dnsmasq runs on it and answers questions for the names of the lab, which all other nodes then ask; or how it does.
        /// Default: false.
        dns: NameServer, "{domain: home}";
        /// Where its addresses come from: dhcp is a DHCP client on each of its links, for IPv4. Default: Netloom sets them.
        addresses: Placed<FromServers>, "dhcp";
        ..SwitchSpec::SECTION;
        ..OpenFlowSpec::SECTION;
        ..ExternalKeys::SECTION;
        ..TunnelKeys::SECTION;
        /// The congestion control of its TCP connections: net.ipv4.tcp_congestion_control. Default: cubic.
        congestion: Placed<Congestion>, "bbr";
        /// Kernel settings of its network stack: names that begin with net.
        sysctl: Sysctls, "{net.ipv4.tcp_sack: 0}";
        /// Capabilities (capabilities(7)) that its root has although they act on the whole machine, in a namespace node of a lab that root
        /// starts. Default: none of them.
        capabilities: Capabilities, "[sys_time]";
        /// Environment variables of all its programs.
        env: Environment, "{LANG: C}";
        /// Commands that must succeed before the services start, one after the other; those of different nodes run at the same time.
        setup: List<Placed<Command>, 1>, "[ip route add blackhole 10.9.0.0/16]";
        /// Further environment variables of the command that starts the lab, which its programs get.
        inherit: Variables, "[PATH]";
        /// The file system of its programs: machine is this machine's; overlay is a copy on write of it, which goes with the lab. Default:
        /// overlay with `files` and in kernel nodes, else machine.
        root: Placed<Overlay>, "overlay";
        ..ImageKeys::SECTION;
        /// A container of docker or podman that runs already: it gets the lab's interfaces as long as the lab is up. In real time only.
        /// Default: none.
        container = Kind::OneOf(&[ContainerName::KIND, Container::KIND]), "web";
        /// Files and folders that are put into its file system, by their absolute paths there: `empty`, a path to copy from, or a map.
        files: Files, "{/run/frr: empty, /var/lib/etcd: {keep: true}}";
        /// Files and folders that are copied to nodes/NODE/ of the results at the end of a run: absolute paths with *, ?, [a-z] and **.
        collect: List<Pattern>, "[/var/log/frr/*.log]";
        /// What is measured inside it, in the place of what the lab's `measure` says; {} is nothing. Default: as the lab's `measure`.
        measure: Placed<MeasurePlan>, "{tcp: 10 ms}";
        /// Where it is, for radio media with access radio: metres to the east, to the north and above the ground (1.5 m if that is left out); or
        /// a latitude and a longitude in degrees. Default: nowhere.
        position: Place, "[5 m, -3 m]";
        /// The way that it goes from the beginning of the run on, instead of `position`: waypoints, between which it goes straight; or a map with
        /// waypoints that repeat, a circle, a generator, or a file. Before the first waypoint and behind the last it stands still.
        path: Trail, "[{at: 0 s, position: [5 m, 0 m]}, {at: 60 s, position: [90 m, 0 m]}]";
        /// Ports of this machine's loopback, TCP or with /udp, each with the port of the node to which it leads, past all links; not in
        /// virtual time.
        expose: Exposed, "{8080: 80, 5353/udp: 53}";
    }
}

/// Who makes routes.
pub(crate) type Routes = Word<RoutesSpec>;
