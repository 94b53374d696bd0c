"""The keys of nodes, links, commands and labs, for type checkers and editors: nothing runs here.

Written by `scripts/python-models` from `netloom schema`: change that, and run it again.
"""

# ruff: noqa: E501, D200, D212

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from ._settings import Limit, Name, Rate, Share, Size, Time
from .models import (
    Addresses,
    BarabasiAlbert,
    BitErrorLoss,
    Bounds,
    CellTrace,
    Chain,
    Chance,
    Cloud,
    CoDel,
    Configuration,
    ConstantDelay,
    Constellation,
    Container,
    Convergence,
    CorrelatedLoss,
    Cpu,
    CrossConstant,
    CrossOnOff,
    CrossPcap,
    CrossPoisson,
    DeliveryTrace,
    Dhcp,
    Dilated,
    Disk,
    Dns,
    Drawn,
    Drr,
    DualPi2,
    Dumbbell,
    EveryLoss,
    Exercise,
    ExponentialDelay,
    FarEnd,
    FarInterface,
    FatTree,
    Fifo,
    File,
    FqCodel,
    GammaDelay,
    GilbertElliottLoss,
    GilbertLoss,
    Grid,
    HistogramDelay,
    Hunt,
    Internet,
    Iptables,
    Journal,
    LeafSpine,
    Machine,
    MarkovLoss,
    Match,
    Measure,
    MediumCell,
    MediumWifi,
    Mesh,
    Multicast,
    Nat,
    NodeClock,
    NodeMeasure,
    NormalDelay,
    Overhead,
    PacketsLoss,
    Parameter,
    ParetoDelay,
    ParetoNormalDelay,
    ParkingLot,
    PathCircle,
    PathFile,
    PathGaussMarkov,
    PathGroup,
    PathManhattan,
    PathRandomWaypoint,
    PathWaypoint,
    PathWaypoints,
    PatternLoss,
    Pie,
    Pipe,
    Position,
    Priority,
    RateSlots,
    Ready,
    Red,
    Reorder,
    ReplayLoss,
    Ring,
    Route,
    Rule,
    SamplesDelay,
    Schedule,
    Snooping,
    SpanningTree,
    Star,
    State,
    Sweep,
    TableDelay,
    TokenBucket,
    Torus,
    Tree,
    TunnelKey,
    UniformDelay,
    VirtualMachine,
    Vlans,
    Waxman,
    Wf2q,
)


class NodeKeys(TypedDict, total=False):
    """A machine with its own network stack, on which programs run."""

    addresses: Literal["dhcp"] | None
    """
    Where its addresses come from: dhcp is a DHCP client on each of its links, for IPv4. Default: Netloom sets them.
    """
    ageing: Time | None
    """For how long a switch remembers an address without hearing from it. Default: 300 s."""
    as_: int | None
    """The autonomous system that a router with `bgp` belongs to, 1 to 4294967294."""
    beyond: Sequence[FarEnd] | None
    """
    What is behind a tunnel: interfaces of nodes that are `elsewhere`, all those in the same subnets. They are
    neighbours as those of a link inside the lab. Default: it is not known, and neighbours are learned.
    """
    bird: str | Configuration | None
    """Runs BIRD in place of FRR, with this configuration: a path, or {text: ...}."""
    capabilities: Sequence[Literal["audit_control", "audit_read", "block_suspend", "mac_admin", "mac_override", "mknod", "sys_boot", "sys_module", "sys_rawio", "sys_time", "sys_tty_config", "syslog", "wake_alarm"]] | None
    """
    Capabilities (capabilities(7)) that its root has although they act on the whole machine, in a namespace node of a
    lab that root starts. Default: none of them.
    """
    clock: NodeClock | None
    """
    The error of its clock (CLOCK_REALTIME), if it has a kernel of its own. Default: none, it shows the lab's time.
    """
    collect: Sequence[str] | None
    """
    Files and folders that are copied to nodes/NODE/ of the results at the end of a run: absolute paths with *, ?,
    [a-z] and **.
    """
    command: str | Sequence[str | float | bool] | None
    """What the entry point is given in the place of the image's command."""
    congestion: str | None
    """The congestion control of its TCP connections: net.ipv4.tcp_congestion_control. Default: cubic."""
    container: str | Container | None
    """
    A container of docker or podman that runs already: it gets the lab's interfaces as long as the lab is up. In real
    time only. Default: none.
    """
    controller: str | None
    """
    The controller of an OpenFlow switch: the node that runs it, and the port at which it listens, 6653 if none is
    given. Default: none.
    """
    cores: Size | None
    """
    The room for core dumps of programs that crash in a kernel node, 100 kB to 250 MB, and at most half of its memory;
    they are copied to cores/NODE/ of the results. Default: there are none.
    """
    cpu: Cpu | None
    """
    How long its only processor is busy with each packet and each system call, in virtual time. Default: packets take
    no time, system calls next to none.
    """
    cpus: float | None
    """
    The processor time that its programs may use together, in cores of lab time, to a thousandth; in real and dilated
    time. Default: no limit.
    """
    daemons: Sequence[Literal["ospf", "ospf6", "rip", "ripng", "bgp", "isis", "pim", "ldp", "bfd", "static"]] | None
    """
    The routing protocols that a router speaks: ospf, ospf6, rip, ripng, bgp, isis, pim, ldp and bfd; static leaves
    the other routes to FRR, too. FRR runs them, configured as the lab file describes the network.
    """
    dhcp: bool | Dhcp | None
    """
    Whether dnsmasq runs on it, assigns addresses of IPv4 to the nodes on its links that ask, and answers their
    questions for names; or how it does. Default: false.
    """
    disk: Disk | None
    """
    A disk of a kernel node or a virtual machine; what is on it survives the node's crashes, as far as it was flushed.
    Default: none.
    """
    dns: bool | Dns | None
    """
    Whether dnsmasq runs on it and answers questions for the names of the lab, which all other nodes then ask; or how
    it does. Default: false.
    """
    entrypoint: str | Sequence[str | float | bool] | None
    """What starts in the place of the image's entry point and command; none: nothing."""
    env: Mapping[str, str | float | bool] | None
    """Environment variables of all its programs."""
    expose: Mapping[str, int] | None
    """
    Ports of this machine's loopback, TCP or with /udp, each with the port of the node to which it leads, past all
    links; not in virtual time.
    """
    fail_mode: Literal["standalone", "secure"] | None
    """
    What an OpenFlow switch does without its controller: standalone learns addresses as an ordinary switch does,
    secure forwards only what its flows say. Default: standalone.
    """
    files: Mapping[str, Literal["empty"] | str | File] | None
    """
    Files and folders that are put into its file system, by their absolute paths there: `empty`, a path to copy from,
    or a map.
    """
    firewall: str | Iptables | None
    """
    Rules that are in force before its setup and services start: nftables, as a path or as several lines, or
    {iptables: ..., ip6tables: ...} in the format of iptables-restore.
    """
    force: bool | None
    """Whether an external node may take an interface that is the machine's only way out. Default: false."""
    frr: str | Configuration | None
    """The configuration of FRR in place of the one that follows from the lab file: a path, or {text: ...}."""
    image: str | None
    """
    A container image as its file system: the name of one in the cache, oci:FOLDER[:TAG], docker-archive:FILE[:NAME]
    or rootfs:FOLDER.
    """
    inherit: Sequence[str] | None
    """Further environment variables of the command that starts the lab, which its programs get."""
    interface: str | None
    """The interface of this machine whose wire an external node is, as `ip link` shows it."""
    key: str | TunnelKey | None
    """
    The key of a tunnel, the same at both ends, as 64 hexadecimal digits, or {file: ...} with a file that has them:
    its datagrams are authenticated and encrypted. Default: none, and they are not.
    """
    machine: str | None
    """The machine that plays it, one of the lab's `machines`. Default: the lab is divided so that little crosses."""
    measure: NodeMeasure | None
    """
    What is measured inside it, in the place of what the lab's `measure` says; {} is nothing. Default: as the lab's
    `measure`.
    """
    memory: Size | None
    """
    How much memory the kernel of a kernel node has, 32 MB to 1000 GB; what it does not use it does not take. Default:
    128 MB, and 1 MB for each interface beyond 32.
    """
    mode: Literal["share", "pass"] | None
    """
    Who has the interface of an external node while the lab is up: with share the machine goes on using it, with pass
    the lab has it alone, and it comes back as it was. Default: share.
    """
    multihomed: bool | None
    """
    What has the address of one of its links leaves by that link, to the router there; behind its `rules`. Default:
    false: all leaves by the shortest path.
    """
    names: Mapping[str, str] | None
    """
    The interfaces that names of nodes mean in it, where they are not the first ones. Default: those that are nearest.
    """
    nat: Nat | None
    """How a router translates addresses of IPv4 of what is behind it."""
    offload: bool | None
    """
    Whether frames come in as super-packets and with unfinished checksums, as kernels take them from each other.
    false: each comes as on a wire, for programs that read raw frames and send them on: XDP, AF_XDP, packet sockets,
    packets of an OpenFlow switch that its controller sends back. Of an external interface: the same of what leaves by
    it. Default: true; of an OpenFlow switch with a controller: false.
    """
    path: Sequence[PathWaypoint] | PathWaypoints | PathCircle | PathRandomWaypoint | PathGaussMarkov | PathManhattan | PathGroup | PathFile | None
    """
    The way that it goes from the beginning of the run on, instead of `position`: waypoints, between which it goes
    straight; or a map with waypoints that repeat, a circle, a generator, or a file. Before the first waypoint and
    behind the last it stands still.
    """
    pin: int | str | Sequence[int | str] | None
    """
    The processors of this machine that its programs run on, by their numbers; in the case of a kernel node, one of
    them for its kernel with its programs, and in the case of a virtual machine, all its threads. Default: any.
    """
    port: int | None
    """The port of UDP of a tunnel, the same at both ends. Default: 29789."""
    position: Sequence[str] | Position | None
    """
    Where it is, for radio media with access radio: metres to the east, to the north and above the ground (1.5 m if
    that is left out); or a latitude and a longitude in degrees. Default: nowhere.
    """
    promiscuous: bool | None
    """
    Whether frames enter the lab that are neither for the other end of the link nor for several. Default: true if a
    switch, a hub or another external node is there, else false.
    """
    ready: Ready | None
    """When the image's program is ready to be used; services wait for it."""
    remote: str | None
    """The address or name of the machine to whose lab a tunnel leads; a tunnel there leads here."""
    root: Literal["machine", "overlay"] | None
    """
    The file system of its programs: machine is this machine's; overlay is a copy on write of it, which goes with the
    lab. Default: overlay with `files` and in kernel nodes, else machine.
    """
    routes: Literal["shortest", "ecmp", "none"] | Sequence[Route] | None
    """
    What routes it gets beside those of its own subnets: those of the shortest paths, one to each destination; ecmp,
    all of the least cost, among which flows are spread; or none, for a routing daemon or its user to make them.
    Default: as the lab's `routes`. Or a list: these and no others.
    """
    rules: Sequence[Rule] | None
    """Policy routes: which packets take which way, whatever its other routes say. The first rule that fits holds."""
    setup: Sequence[str | Sequence[str | float | bool]] | None
    """
    Commands that must succeed before the services start, one after the other; those of different nodes run at the
    same time.
    """
    snooping: bool | Snooping | None
    """
    Whether a switch sends multicast only where hosts have asked for it by IGMP or MLD, or a router is; or how.
    Default: false.
    """
    stack: Literal["namespace", "kernel"] | None
    """
    Whose network stack it has: namespace has that of this machine's kernel, in real time only; kernel runs a Linux
    kernel of its own. Default: namespace in real time, kernel in dilated and virtual time.
    """
    static: Mapping[str, Name] | None
    """Addresses that a switch does not learn, each with the link behind which it always is."""
    stp: bool | SpanningTree | None
    """
    Whether a switch takes part in a rapid spanning tree (IEEE 802.1D-2004), so that switches may be joined in loops;
    or how it does. Default: false.
    """
    sysctl: Mapping[str, str | float | bool] | None
    """Kernel settings of its network stack: names that begin with net."""
    table: int | None
    """
    How many addresses a switch remembers at most, 1 to 1000000; what is for others goes out at all ports. Default:
    8192.
    """
    user: str | int | None
    """The user of the image's program: a name or number that the image knows, perhaps with a group behind a colon."""
    vlan: int | None
    """
    The VLAN of that interface that an external node is: its frames bear the tag there, and none in the lab. Default:
    all frames that no other node takes.
    """
    vm: VirtualMachine | None
    """A virtual machine, run by QEMU, in real and dilated time. Default: none."""
    vni: int | None
    """The number of a tunnel, the same at both ends. Default: 1."""
    volumes: Sequence[str] | None
    """
    Files and folders of this machine that are seen in a node with an image: SOURCE:TARGET, and :ro if nothing may be
    written there.
    """
    wait: Time | None
    """For how long a tunnel waits for its far end while the lab comes up; then that is an error. Default: 60 s."""


class LinkKeys(TypedDict, total=False):
    """A link between nodes. Its direction forward is from the first end to the second."""

    addresses: Literal["automatic", "none"] | None
    """
    Whether its ends get addresses that the file does not give: automatic or none. Default: as the lab's `addresses`.
    """
    area: int | str | None
    """The OSPF area of the link at routers with `ospf` or `ospf6`: a number, or written like 0.0.0.1. Default: 0."""
    bypass: bool | Literal["auto"] | None
    """
    Whether it is joined in the kernel, past the engine, which then measures nothing of it: true, false, or auto, if
    nothing about it needs the engine. Default: as the lab's `bypass`.
    """
    coalesce: Time | Literal[0] | None
    """
    Packets due within this time of one another may be delivered together, as a network card's interrupt moderation
    does it; 0 turns it off. Default: 20 us.
    """
    corrupt: Share | Literal[0] | Chance | None
    """The probability with which one bit of a packet is flipped, alone or with a correlation. Default: 0."""
    cost: int | None
    """The cost of the link for shortest-path routes, 1 to 65535. Default: 1."""
    cross: Literal["none"] | Sequence[CrossConstant | CrossPoisson | CrossOnOff | CrossPcap] | None
    """Traffic that exists in this direction only and uses its queue and rate: a list of sources. Default: none."""
    delay: Time | Literal[0] | ConstantDelay | UniformDelay | NormalDelay | ExponentialDelay | ParetoDelay | ParetoNormalDelay | GammaDelay | TableDelay | HistogramDelay | SamplesDelay | None
    """Propagation delay of one direction, after the last bit is sent: a time, or a distribution. Default: 0."""
    dummynet: str | float | bool | None
    """A string for `ipfw pipe … config`, instead of other keys; `netloom link --dummynet` shows what it means."""
    duplicate: Share | Literal[0] | Chance | None
    """The probability with which a packet is duplicated, alone or with a correlation. Default: 0."""
    loss: Share | Literal[0] | CorrelatedLoss | BitErrorLoss | GilbertLoss | GilbertElliottLoss | MarkovLoss | EveryLoss | PacketsLoss | PatternLoss | ReplayLoss | None
    """The probability with which each packet is lost, independently of all others, or another model. Default: 0."""
    medium: Literal["shared"] | MediumWifi | MediumCell | None
    """
    One medium for all ends, two or more: what one sends waits for it, takes time on it, and is heard by all others.
    Its settings are those of the medium; there are no directions. Or a radio medium, for which its ends contend.
    Default: a pipe for each direction.
    """
    mtu: int | None
    """The largest IP packet in bytes, 68 to 65535; IPv6 needs 1280. Default: 1500."""
    netem: str | float | bool | None
    """A string for `tc … netem`, instead of other keys; `netloom link --netem` shows what it means."""
    overhead: Literal["none", "ethernet", "atm"] | Overhead | None
    """
    What a packet is charged on the link beyond its bytes from the IP header on: none, ethernet, atm, or bytes and
    cells. Default: none.
    """
    pipes: Mapping[str, Pipe] | None
    """Further pipes for some of the traffic, by name: the first whose `match` holds takes a packet."""
    profile: Literal["dial-up", "2g", "edge", "3g-slow", "3g", "3g-fast", "lte", "lte-walking", "lte-driving", "5g", "dsl", "cable", "fibre", "wifi-home", "starlink", "geo"] | None
    """
    A typical link by name, whose keys hold where no other key says something else. The first end is the user's:
    forward is the uplink. Default: none.
    """
    queue: Limit | Fifo | Red | Pie | DualPi2 | CoDel | FqCodel | Drr | Wf2q | Priority | None
    """
    How much may wait for the transmitter: packets, bytes or a time; or a map with the discipline as its `kind`.
    Default: 1000 packets.
    """
    rate: Rate | Literal["unlimited"] | TokenBucket | DeliveryTrace | CellTrace | RateSlots | None
    """
    How fast it sends, counting bytes from the IP header on: a rate, a token bucket, a trace or two, slots, or
    unlimited. Default: unlimited.
    """
    reorder: Share | Literal[0] | Reorder | None
    """
    The probability with which a packet travels for a shorter time and overtakes others, alone or with more. Default:
    0.
    """
    schedule: Literal["none"] | Schedule | None
    """Changes at known times: steps, here or in a CSV file. Default: none."""
    state: Literal["none"] | State | None
    """Flapping, and what a cut does to packets on the wire. Default: none."""
    tbf: str | float | bool | None
    """A string for `tc … tbf`, instead of other keys; `netloom link --tbf` shows what it means."""
    vlans: int | Vlans | None
    """
    The VLANs that it carries between switches, or between a switch and a node: a number, whose frames have no tag
    here, or a trunk. Default: what is not tagged belongs to VLAN 1 at switches that have VLANs.
    """


class DirectionKeys(TypedDict, total=False):
    """The settings of one direction of a link."""

    corrupt: Share | Literal[0] | Chance | None
    """The probability with which one bit of a packet is flipped, alone or with a correlation. Default: 0."""
    cross: Literal["none"] | Sequence[CrossConstant | CrossPoisson | CrossOnOff | CrossPcap] | None
    """Traffic that exists in this direction only and uses its queue and rate: a list of sources. Default: none."""
    delay: Time | Literal[0] | ConstantDelay | UniformDelay | NormalDelay | ExponentialDelay | ParetoDelay | ParetoNormalDelay | GammaDelay | TableDelay | HistogramDelay | SamplesDelay | None
    """Propagation delay of one direction, after the last bit is sent: a time, or a distribution. Default: 0."""
    dummynet: str | float | bool | None
    """A string for `ipfw pipe … config`, instead of other keys; `netloom link --dummynet` shows what it means."""
    duplicate: Share | Literal[0] | Chance | None
    """The probability with which a packet is duplicated, alone or with a correlation. Default: 0."""
    loss: Share | Literal[0] | CorrelatedLoss | BitErrorLoss | GilbertLoss | GilbertElliottLoss | MarkovLoss | EveryLoss | PacketsLoss | PatternLoss | ReplayLoss | None
    """The probability with which each packet is lost, independently of all others, or another model. Default: 0."""
    netem: str | float | bool | None
    """A string for `tc … netem`, instead of other keys; `netloom link --netem` shows what it means."""
    overhead: Literal["none", "ethernet", "atm"] | Overhead | None
    """
    What a packet is charged on the link beyond its bytes from the IP header on: none, ethernet, atm, or bytes and
    cells. Default: none.
    """
    pipes: Mapping[str, Pipe] | None
    """Further pipes for some of the traffic, by name: the first whose `match` holds takes a packet."""
    queue: Limit | Fifo | Red | Pie | DualPi2 | CoDel | FqCodel | Drr | Wf2q | Priority | None
    """
    How much may wait for the transmitter: packets, bytes or a time; or a map with the discipline as its `kind`.
    Default: 1000 packets.
    """
    rate: Rate | Literal["unlimited"] | TokenBucket | DeliveryTrace | CellTrace | RateSlots | None
    """
    How fast it sends, counting bytes from the IP header on: a rate, a token bucket, a trace or two, slots, or
    unlimited. Default: unlimited.
    """
    reorder: Share | Literal[0] | Reorder | None
    """
    The probability with which a packet travels for a shorter time and overtakes others, alone or with more. Default:
    0.
    """
    schedule: Literal["none"] | Schedule | None
    """Changes at known times: steps, here or in a CSV file. Default: none."""
    state: Literal["none"] | State | None
    """Flapping, and what a cut does to packets on the wire. Default: none."""
    tbf: str | float | bool | None
    """A string for `tc … tbf`, instead of other keys; `netloom link --tbf` shows what it means."""


class CommandKeys(TypedDict, total=False):
    """Starts a program."""

    after: Name | Sequence[Name] | None
    """
    The command, or several, after which it starts: when that has ended successfully, or, if it is a service, when it
    is ready. With `at` not before that time, either.
    """
    as_: Name | None
    """Its name, for expectations and logs. Default: the program's."""
    at: Time | Literal[0] | Drawn | None
    """When it starts, after time zero; a map to draw it. Default: a service before time zero, others at it."""
    delay: Time | Drawn | None
    """How long it waits after what it starts `after`. Default: not at all."""
    env: Mapping[str, str | float | bool] | None
    """Its environment variables, beside the node's."""
    every: Time | Drawn | None
    """It happens again and again, so long after the time before; a map to draw each. Needs `times` or `until`."""
    folder: str | None
    """
    The folder that it starts in; a relative one counts from the folder that Netloom is started in, which is the
    default.
    """
    for_: Time | Drawn | None
    """It is stopped after this time; that is not a failure."""
    may_fail: bool | None
    """Whether the run is good even if it fails. Default: false."""
    on_restart: Literal["also", "only", "never"] | None
    """
    Whether the service starts when its node starts again after a stop or a crash. only: it starts then, and not at
    the beginning. Default: also.
    """
    ready: Ready | None
    """When it is ready to be used; makes it a service."""
    save: str | None
    """A file in the results folder that gets a copy of its standard output."""
    service: bool | Literal["once"] | None
    """
    Whether it is there for others: the run does not wait for its end, and stops it. once: it may end with 0, and
    counts as ready then. Default: whether it has `ready`.
    """
    stop: Time | None
    """How long it has between SIGTERM and SIGKILL when it is stopped. Default: that of the lab."""
    times: int | None
    """How often it happens, with `every`. Default: until `until`."""
    until: Time | None
    """It does not happen after this time, with `every`. Default: `times` counts."""
    user: str | int | None
    """The user that it runs as: a name that the node's /etc/passwd has, or a number. Default: root."""


class SetupKeys(TypedDict, total=False):
    """A command that must succeed before the services start."""

    as_: Name | None
    """Its name, for messages and logs. Default: the program's."""
    env: Mapping[str, str | float | bool] | None
    """Its environment variables, beside the node's."""
    on: Name | None
    """The node that it runs on."""
    run: str | Sequence[str | float | bool] | None
    """As in the timeline."""


class EndKeys(TypedDict, total=False):
    """An end of a link, with settings that are otherwise chosen automatically."""

    address: str | Literal["dhcp"] | Sequence[str | Literal["dhcp"]] | None
    """
    Its address with the prefix length, or several; dhcp, if it comes from a server. Replaces the automatic address of
    that family.
    """
    interface: str | None
    """The interface's name in the node, at most 15 characters. Default: eth0, eth1 and so on."""
    mac: str | None
    """Its hardware address."""
    node: Name | None
    """The node."""


class CaptureKeys(TypedDict, total=False):
    """A capture of the packets of a link, or at the ports of a node; `link`, `node` or both are needed."""

    at: Literal["sent", "delivered"] | Name | None
    """
    Each packet once, where it is sent or where it is delivered; or a node at an end of the link, and what passes
    there. Default: at both ends.
    """
    direction: Literal["forward", "backward"] | None
    """Only this direction. Default: both."""
    file: str | None
    """The file's name in the folder `captures`. Default: the names of node and link, and `.pcapng`."""
    filter: str | None
    """Only packets that this expression wants, which tcpdump translates (pcap-filter(7)). Default: all."""
    headers: Literal["ethernet", "radiotap"] | None
    """
    The headers that are kept of a radio medium: `ethernet`, those of packets at its stations, or `radiotap`, those of
    what is on the air, with every attempt. Default: ethernet.
    """
    match: Match | None
    """Only these packets. Default: all."""
    node: Name | None
    """Only at ports of this node, of whatever kind. Default: at all ends of the link."""
    ring: Size | None
    """Only the last packets are kept, as many as have room in so much: 1 MB and above. Default: all."""
    snaplen: Size | None
    """How much of each packet is kept, from the Ethernet header on: 14 B to 256 KiB. Default: all."""


class LabKeys(TypedDict, total=False):
    """What a lab has beside nodes, links and what happens."""

    addresses: Literal["automatic", "none"] | Addresses | None
    """
    Whether ends of links get addresses that the file does not give: automatic or none; or which ones. Default:
    automatic.
    """
    arp: bool | None
    """
    Whether nodes learn the Ethernet addresses of their neighbours by ARP and neighbour discovery; false: they have
    permanent entries. Default: true on LANs with more than 128 ends, else false.
    """
    bounds: Bounds | None
    """How far the network may stray from its description."""
    bypass: Literal["off", "auto"] | None
    """
    Whether links that nothing impairs, changes or measures are joined in the kernel, past the engine: off or auto.
    Default: off.
    """
    clock: Literal["real", "virtual"] | Dilated | None
    """
    How lab time passes: real, as ours does; {dilation: N}, N times slower; virtual, from event to event. Default:
    real.
    """
    duration: Time | None
    """When the run ends at the latest, after time zero. Default: when all commands have ended."""
    elsewhere: Mapping[str, Mapping[str, FarInterface | object]] | None
    """
    The nodes that other machines play, by name, each with its interfaces: nodes here know their names, and what is
    behind tunnels. Names mean the first interface unless a node's `names` says otherwise. `netloom split` writes it.
    Default: none.
    """
    exercise: Exercise | None
    """Tasks for those who learn with this lab, which are checked while it is up. Default: none."""
    generate: Chain | Star | Ring | Tree | Grid | Torus | Mesh | Dumbbell | ParkingLot | FatTree | LeafSpine | Waxman | BarabasiAlbert | Internet | Cloud | Constellation | Mapping[str, Chain | Star | Ring | Tree | Grid | Torus | Mesh | Dumbbell | ParkingLot | FatTree | LeafSpine | Waxman | BarabasiAlbert | Internet | Cloud | Constellation] | None
    """A network of a well-known shape, or several by name: their nodes and links are added to those of the file."""
    hunt: Hunt | None
    """What `netloom hunt` searches: faults with which something that must hold does not. A run ignores it."""
    inherit: Sequence[str] | None
    """Environment variables of the command that starts the lab, which all programs get. Default: none."""
    journal: Literal["all"] | Sequence[Name] | Journal | None
    """
    Links of which journal.arrows in the results tells what happened to each packet: all, or a list of links and
    directions, or a map that says more.
    """
    layout: Mapping[str, Sequence[float]] | None
    """Where nodes are in a picture: to the right, and down. A link has a length of about 1."""
    loops: Literal["refused", "allowed"] | None
    """
    Whether switches and hubs may be joined in a loop, in which broadcasts go round for ever: refused or allowed.
    Default: refused.
    """
    machines: Mapping[str, Machine | object] | None
    """The machines among which the lab is divided, by name. Default: it is played on one."""
    measure: Measure | None
    """
    What is measured inside every node that runs programs, unless the node says otherwise, and how often links are
    sampled. Default: links ten times a second.
    """
    multicast: Sequence[Multicast] | None
    """Trees of multicast along shortest paths, on which transit routers pass packets on. Default: none."""
    on_spin: Literal["wait", "advance"] | None
    """
    What becomes of a program in virtual time that computes for long without a system call: wait until it makes one,
    however long that takes; or advance, let lab time go on meanwhile, so that the run cannot be repeated. Default:
    wait.
    """
    origin: Sequence[float] | None
    """
    Where positions in degrees have their zero: the latitude and the longitude of x = y = 0. Default: the first
    position of a node in degrees.
    """
    precision: Literal["eco", "balanced", "exact"] | None
    """
    How precisely packets are released: eco sleeps, balanced spins for the last microseconds, exact spins always and
    takes a whole processor. Default: balanced.
    """
    ready: Literal["converged"] | Convergence | None
    """
    What time zero waits for beside the services: converged, until every router has the routes that its daemons bring,
    at most 60 s or what {converged: 30 s} says. Default: nothing.
    """
    repeat: int | None
    """How often `netloom sweep` runs each point, each time with another seed. Default: 1."""
    routes: Literal["shortest", "ecmp", "none"] | None
    """
    What routes the nodes get: shortest, those of the shortest paths, one to each destination; ecmp, all of the least
    cost, among which flows are spread; none. Default: shortest.
    """
    seed: int | None
    """The seed of all random numbers: with the same seed, the same packets are lost. Default: 1."""
    shards: Literal["auto"] | int | None
    """
    How many threads the packet engine has, which share the links out among themselves: auto, as many as the machine
    can spare and the lab has independent parts for; or a number, for which links between transit routers are cut if
    need be. Default: auto.
    """
    start: str | None
    """
    The day at whose beginning, in UTC, the wall clocks of kernel nodes start: up to 2042-12-31. Default: in virtual
    time the day after the kernel was built, else now.
    """
    stop: Time | None
    """How long programs have between SIGTERM and SIGKILL when they are stopped. Default: 1 s."""
    sweep: Sweep | None
    """How `netloom sweep` counts and packs the runs."""
    vary: Mapping[str, Sequence[object] | Parameter] | None
    """What differs between the runs of `netloom sweep`: parameters by name, each with its values."""
