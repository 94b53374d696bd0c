// What is said over the control socket of a lab. Written by `scripts/page-types` from `netloom schema --protocol`: change that, and run it again.

/** Netloom control protocol 1.13. */
export const PROTOCOL = "1.13";

/** A step of lab time. */
export interface Advance {
  /** Its length. */
  by_ns: number;
  /** Whether it ends at the instant at which the program of this connection has ended, if that is earlier. */
  until_exit?: boolean | null;
}

/** A capture of a link that lasts until the connection ends. */
export interface Capture {
  /** `sent`, `delivered`, or a node at an end of the link; none: both ends. */
  at?: string | null;
  /** `forward` or `backward`; none: both. */
  direction?: string | null;
  /** `ethernet`, or of a radio medium `radiotap`: what is on the air, with headers of 802.11; none: `ethernet`. */
  headers?: string | null;
  /** The link's name. */
  link: string;
  /** So much of each packet is wanted, from the Ethernet header on; none: all. */
  snaplen_bytes?: number | null;
}

/** An end of a link. */
export interface End {
  /** Its interface. */
  interface: string;
  /** The node. */
  node: string;
}

/** An event that the lab sends to a client that has subscribed to it. */
export type Event =
  | (Happened & { event: "lab"; id?: Id; })
  | (Sample & { event: "stats"; id?: Id; })
  | (TcpSample & { event: "tcp"; id?: Id; })
  | (PacketSample & { event: "packets"; id?: Id; })
  | (Output & { event: "output"; id?: Id; })
  | { because: string; event: "ended"; events: Topic; id?: Id; };

/** A program to run in a node. */
export interface Exec {
  /** The program and its arguments. */
  argv: string[];
  /** Where it starts; the root folder if nothing else is said. */
  cwd?: string | null;
  /** Added to the environment of the lab. */
  env?: [string, string][] | null;
  /** The node's name. */
  node: string;
  /** Whether standard input is a terminal that the program shall control. */
  terminal?: boolean | null;
  /** The user that it runs as, by name or number; none: the node's root. */
  user?: string | null;
}

/** The progress of somebody who learns with a lab. */
export interface ExerciseReport {
  /** The tasks in their order; empty if the lab has no exercise. */
  tasks: TaskRow[];
  /** The introduction to the exercise; empty lines separate paragraphs. */
  text: string;
  /** The title of the exercise. */
  title: string;
}

/** One expectation and whether it holds. */
export interface ExpectationRow {
  /** The explanation in words: what was measured, and what was wanted. */
  explanation: string;
  /** The expectation's line in the lab file. */
  line: number;
  /** Whether the expectation holds. */
  met: boolean;
  /** The expectation, as written in the lab file. */
  text: string;
}

/** A port of this machine that leads into a node. */
export interface ExposedPort {
  /** The node. */
  node: string;
  /** The port on this machine's loopback. */
  port: number;
  /** The port in the node. */
  to: number;
  /** Whether it is one of UDP. */
  udp?: boolean;
}

/** A family of sockets. */
export type Family = "inet" | "inet6";

/** A disturbance of programs or nodes. */
export interface Fault {
  /** An entry of the timeline as a lab file has it, without the keys that say when: `{on: n1, clock: {step: 3 s}}`, or one of `freeze`,
`limit`, `kill`, `pause`, `continue`, `signal`, `fail`, `starve`, `schedule` and `oom`. */
  entry: string;
}

/** One bound that was not kept. */
export interface Finding {
  /** The factor by which lab time would have to be slowed further for the bound to be kept; null if slowing would not help. */
  slowing: number | null;
  /** The pipe, node or part of Netloom that the finding is about. */
  subject: string;
  /** The finding in words: what was measured, and what was described. */
  text: string;
}

/** The answer of a lab to a client that has sent `hello`. */
export interface Greeting {
  /** The names of the features that the lab offers. */
  capabilities: string[];
  /** The lab's name. */
  lab: string;
  /** The minor version of the protocol. It includes everything that lower minor versions have. */
  minor: number;
  /** The version of the program. */
  program: string;
  /** The major version of the protocol. */
  version: number;
}

/** A group with members behind a port. */
export interface GroupRow {
  /** Its address. */
  group: string;
  /** For how long it is remembered from then on, unless a member reports again. */
  remaining_ns: number;
  /** The VLAN, if the switch looks at tags. */
  vlan: number | null;
}

/** Something that happened in a lab. */
export interface Happened {
  /** The lab time since the engine started, in nanoseconds. */
  at_ns: number;
  /** Details of the event, such as the link and what was set. The keys depend on `what`. */
  details: Record<string, unknown>;
  /** The lab time since time zero, in nanoseconds; null before time zero. */
  since_zero_ns: number | null;
  /** The kind of the event, for example `link changed`. */
  what: string;
}

/** Which version of the protocol a client speaks. */
export interface Hello {
  /** The major version. */
  version: number;
}

/** A client's name for a request: a whole number, or a string of 128 bytes at most. */
export type Id = number | string;

/** An interface of a node. */
export interface Interface {
  /** The addresses that the lab gave it, each with the length of its subnet's prefix. */
  addresses: string[];
  /** The link that it is an end of. */
  link: string;
  /** Its hardware address. */
  mac: string;
  /** The largest IP packet that it sends. */
  mtu_bytes: number;
  /** Its name inside the node. */
  name: string;
}

/** A running lab. */
export interface LabInfo {
  /** The age of the lab, as lab time since the engine started, in nanoseconds. */
  age_ns: number;
  /** The traffic of this machine that goes through the lab's link, as `match` has it; absent if only the traffic of the lab's nodes does. */
  diverted: string | null;
  /** The ports of this machine that lead into nodes, in words. */
  exposed?: string[];
  /** The path of the lab file. */
  file: string;
  /** The folder of the lab's logs and results. */
  folder: string;
  /** The number of links of the lab. */
  links: number;
  /** The longest time that the lab may take to end once it is asked to, in nanoseconds of wall time. */
  longest_stop_ns?: number;
  /** The mode of the lab: `run` or `up`. */
  mode: string;
  /** The name of the lab. */
  name: string;
  /** The nodes of the lab. */
  nodes: NodeInfo[];
  /** Whether lab time is paused by a client, or since the lab came up in virtual time. */
  paused?: boolean;
  /** The process id of the lab's supervisor, as seen from outside the lab. */
  pid: number;
  /** The services of the lab, in the order of the lab file. */
  services?: ServiceInfo[];
  /** The reason, in words, why lab time stands still though it should go on; null while it goes on. */
  stalled?: string | null;
}

/** The counters of a lab's pipes and switches so far. */
export interface LabStats {
  /** The lab time since the engine started, in nanoseconds. */
  at_ns: number;
  /** The counters of the pipes: every link's own ones in the order of the lab file, forward before backward; then all further ones. */
  pipes: PipeStats[];
  /** The counters of every station of every radio medium since time zero, in the order of the lab file. */
  stations?: StationRow[];
  /** The counters of every port of every switch, in the order of the lab file. */
  switches?: SwitchRow[];
}

/** A link. */
export interface Link {
  /** Its ends; forward is from the first to the second. */
  ends: End[];
  /** Whether it is joined in the kernel (`bypass`), past the engine. */
  joined_in_kernel: boolean;
  /** The largest IP packet on it. */
  mtu_bytes: number;
  /** Its name. */
  name: string;
  /** Its pipes: forward, backward, then the further ones. */
  pipes: Pipe[];
}

/** A node. */
export interface Node {
  /** The kinds of faults that nodes have, as entries of the timeline, each with the reason why this node cannot have it; null: it can. */
  faults?: Record<string, string | null>;
  /** Its interfaces, in the order of the links. */
  interfaces: Interface[];
  /** `host`, `router`, `transit`, `switch` or `hub`. */
  kind: string;
  /** Its name. */
  name: string;
  /** Whose network stack it has. */
  stack: string;
  /** Whether it runs. */
  state?: NodeState;
}

/** The TCP connections of a node. */
export interface NodeConnections {
  /** When they were so: lab time since the engine started. Where a kernel is asked and not waited for, that is earlier than the event. */
  at_ns: number;
  /** At most a hundred. */
  connections: TcpConnection[];
  /** Why its kernel does not tell; none if it does. */
  failure: string | null;
  /** How many more there are: those that have carried least. */
  left_out: number;
  /** The node's name. */
  node: string;
}

/** A node of a running lab. */
export interface NodeInfo {
  /** Its addresses, interface by interface. */
  addresses: string[];
  /** `host`, `router`, `transit`, `switch`, `hub`, `openflow`, or `outside` for what is none of the lab's. */
  kind: string;
  /** Its name. */
  name: string;
  /** Whether it runs. */
  state?: NodeState;
}

/** A node. */
export interface NodeName {
  /** Its name. */
  node: string;
}

/** Whether a node runs. */
export type NodeState = "running" | "stopping" | "stopped" | "crashed" | "frozen" | "starting";

/** The time of a lab. */
export interface Now {
  /** The lab time since the engine started, in nanoseconds. */
  at_ns: number;
  /** The kind of clock: `real`, `dilated` or `virtual`. */
  clock: string;
  /** The number of seconds of wall time that a second of lab time lasts; null in virtual time. */
  dilation: number | null;
  /** Whether lab time stands still because a client wants it to, or because the lab came up in virtual time. */
  paused?: boolean;
  /** The lab time since time zero, when all services were ready, in nanoseconds; null before time zero. */
  since_zero_ns: number | null;
  /** The reason, in words, why lab time stands still though it should go on; null while it goes on. */
  stalled: string | null;
}

/** The console of a node. */
export interface OpenConsole {
  /** The node's name. */
  node: string;
}

/** A socket to be opened inside a node: whatever is done with it happens in the node's network. */
export interface OpenSocket {
  /** Its own address and port, for example `0.0.0.0:80` or `[::]:80`; none: it is not bound. */
  bind?: string | null;
  /** The address and port that it is connected to; none: it is not. */
  connect?: string | null;
  /** The family; IPv4 if nothing is said. */
  family?: Family | null;
  /** How many connections may wait until they are accepted; none: it does not listen. */
  listen?: number | null;
  /** The node's name. */
  node: string;
  /** The number of the protocol, such as 1 for ICMP; 0: the usual one of family and type. */
  protocol?: number | null;
  /** The type. */
  type: SocketType;
}

/** Lines that a command or service wrote. */
export interface Output {
  /** The name of the command or service. */
  command: string;
  /** The lines, without their ends. Bytes that are not UTF-8 are replaced by U+FFFD. */
  lines: string[];
  /** The node that the command or service runs on. */
  node: string;
  /** Whether the last line goes on in the next event of this command and stream, because it is long. */
  partial: boolean;
  /** The output stream to which it wrote. */
  stream: Stream;
}

/** The drop of a packet. */
export interface PacketDrop {
  /** When. */
  at_ns: number;
  /** Why, as journals have it: `loss`, `queue`, `early` or `down`. */
  cause: string;
}

/** Whose packet it is, by its headers. */
export interface PacketFlow {
  /** The destination's, likewise. */
  destination: string;
  /** The protocol above IP as `match` of a lab file has it: by name, for example `tcp`, or else by number. */
  protocol: string;
  /** The source's address, with the port where the protocol has them: `10.0.0.1:40000` or `[fd00::1]:40000`. */
  source: string;
}

/** The record of a packet that was sampled in one pipe: it was sent to its end, or dropped. A packet that is dropped after that, on its
way, has a second record. All instants are lab time since the engine started, in nanoseconds. */
export interface PacketRecord {
  /** The size of the packet from the IP header on, in bytes; of all its segments together. */
  bytes: number;
  /** The drop of the packet; null if it was not dropped, or not yet. */
  dropped: PacketDrop | null;
  /** When the packet is due at the other end; null if it was not sent. */
  due_ns: number | null;
  /** When the packet entered the pipe. */
  entered_ns: number;
  /** The flow that the packet belongs to; null if it is not an IP packet. */
  flow: PacketFlow | null;
  /** A number that distinguishes the packet from the other sampled packets of this pipe. */
  packet: number;
  /** The pipe's place in the list `pipes` of `stats`. */
  pipe: number;
  /** The number of segments of a super-packet that the packet consists of. */
  segments: number;
  /** When the transmission of the packet ended; null if it was not sent. */
  sent_ns: number | null;
  /** When the transmission of the packet began; null if it was not sent. */
  start_ns: number | null;
}

/** Records of sampled packets, sent at an interval that the client chose. */
export interface PacketSample {
  /** The lab time since the engine started, in nanoseconds. */
  at_ns: number;
  /** The number of records that were left out before these, because the client had not read what was sent before, or asks too rarely. */
  lost: number;
  /** The records. Those of one pipe are in the order in which it was known what became of the packets. */
  packets: PacketRecord[];
  /** The lab time since time zero, in nanoseconds; null before time zero. */
  since_zero_ns: number | null;
}

/** Nodes that are to be parted. */
export interface Partition {
  /** An entry of the timeline as a lab file has it, without the keys that say when: `{partition: [[a], [b]], slow: 200 ms}`. */
  entry: string;
}

/** A direction of a link, or a further pipe of one. */
export interface Pipe {
  /** The direction of the pipe: `forward` or `backward`; `shared` for a shared medium. */
  direction: string;
  /** The name of a further pipe; null for the direction's own. */
  pipe: string | null;
  /** The settings in force, with the keys and values of a lab file. */
  settings: Record<string, unknown>;
  /** Whether nobody has cut the pipe. */
  up: boolean;
}

/** By how much later than due packets of a pipe were delivered, since the engine started. */
export interface PipeLateness {
  /** `forward` or `backward`; `shared` of a shared medium. */
  direction: string;
  /** The link's name. */
  link: string;
  /** The largest. */
  max_ns: number | null;
  /** The median; none without packets, and of pipes that end at a transit device, where packets go on in computed time. */
  p50_ns: number | null;
  /** The 99th percentile. */
  p99_ns: number | null;
  /** How many packets were delivered and measured. */
  packets: number;
  /** The name of a further pipe; none: the direction's own. */
  pipe: string | null;
}

/** The counters of one pipe so far. Packets are segments; bytes count from the IP header on. */
export interface PipeStats {
  /** Attempts to send on a radio medium. */
  air_attempts?: number;
  /** How long the radio medium was busy, in nanoseconds. */
  air_busy_ns?: number;
  /** The attempts that collided with those of other stations. */
  air_collisions?: number;
  /** Packets, or several under one header, that an attempt failed to get across; each was sent again or given up. */
  air_retries?: number;
  /** Bytes of the packets that arrived at the pipe. */
  arrived_bytes: number;
  /** Packets that arrived at the pipe. */
  arrived_packets: number;
  /** Packets that had a bit flipped. */
  corrupted_packets: number;
  /** Their bytes. */
  cross_arrived_bytes: number;
  /** Packets of the cross traffic that were generated. */
  cross_arrived_packets: number;
  /** Their bytes. */
  cross_departed_bytes: number;
  /** Packets of the cross traffic that were sent. */
  cross_departed_packets: number;
  /** Packets of the cross traffic that were dropped for any cause. */
  cross_dropped_packets: number;
  /** The propagation delay in force, in nanoseconds. */
  delay_ns: number;
  /** Bytes of the packets that departed from the pipe. */
  departed_bytes: number;
  /** Packets that departed from the pipe, at its far end. */
  departed_packets: number;
  /** The direction of the pipe: `forward` or `backward`; `shared` for a shared medium. */
  direction: string;
  /** Packets that were lost on the air: after their last retry, or to everybody in a collision. */
  dropped_air_packets?: number;
  /** Packets that were dropped because the link was down. */
  dropped_down_packets: number;
  /** Packets that were dropped by the queue's discipline, though there was room. */
  dropped_early_packets: number;
  /** Packets that a fault of the timeline dropped. */
  dropped_fault_packets?: number;
  /** Packets that were dropped by the loss model. */
  dropped_loss_packets: number;
  /** Packets that were dropped because a partition was between the nodes from which and for which they were. */
  dropped_partition_packets?: number;
  /** Packets that were dropped because the queue was full. */
  dropped_queue_packets: number;
  /** Packets made beside those that came in. */
  duplicated_packets: number;
  /** The node where packets enter the pipe. */
  from: string;
  /** Packets that were inside the pipe at time zero. All other counters begin there; before time zero, they count from the lab's set-up. */
  in_flight_at_start_packets?: number;
  /** Packets that are inside the pipe now: they wait, are sent or travel. */
  in_flight_packets?: number;
  /** Whether the link is joined in the kernel, so that nothing of it is measured and all figures are zero. */
  joined_in_kernel?: boolean;
  /** The link's name. */
  link: string;
  /** Packets marked as having experienced congestion. */
  marked_packets: number;
  /** The name of a further pipe; null for the direction's own. */
  pipe: string | null;
  /** Bytes of the packets that are in the pipe's queue now. */
  queued_bytes: number;
  /** Packets that are in the pipe's queue now. */
  queued_packets: number;
  /** The rate in force, in bits per second; null if it is unlimited. */
  rate_bits_per_second: number | null;
  /** Packets that overtook others on purpose. */
  reordered_packets: number;
  /** The node where packets leave the pipe. */
  to: string;
  /** Whether nobody has cut the link; one that flaps by itself may be down all the same. */
  up: boolean;
}

/** Why a request is refused. Nothing of it was done, and the connection goes on. */
export interface Refused {
  /** The exit code that a command ends with for this reason. */
  code: number;
  /** The key of the request that is wrong, if it is a single one, for example `argv[0]`. */
  key: string | null;
  /** Why, and what would be right. */
  message: string;
}

/** A reply of the lab to a request. */
export type Reply =
  | (Greeting & { id?: Id; reply: "hello"; })
  | (LabInfo & { id?: Id; reply: "info"; })
  | (Topology & { id?: Id; reply: "topology"; })
  | (Now & { id?: Id; reply: "now"; })
  | (LabStats & { id?: Id; reply: "stats"; })
  | (SoFar & { id?: Id; reply: "verdict"; })
  | (ExerciseReport & { id?: Id; reply: "exercise"; })
  | { id?: Id; reply: "started"; }
  | { code: number; id?: Id; reply: "exited"; }
  | { id?: Id; reply: "socket"; }
  | { id?: Id; log: string; reply: "console"; }
  | { id?: Id; reply: "done"; }
  | (Refused & { id?: Id; reply: "refused"; });

/** A request of a client to a running lab. */
export type Request =
  | (Hello & { id?: Id; request: "hello"; })
  | { id?: Id; request: "info"; }
  | { id?: Id; request: "topology"; }
  | { id?: Id; request: "now"; }
  | (Advance & { id?: Id; request: "advance"; })
  | { id?: Id; request: "pause"; }
  | { id?: Id; request: "resume"; }
  | { id?: Id; request: "stats"; }
  | { id?: Id; request: "verdict"; }
  | (Restart & { id?: Id; request: "restart"; })
  | (NodeName & { id?: Id; request: "stop"; })
  | (NodeName & { id?: Id; request: "start"; })
  | { id?: Id; request: "exercise"; }
  | (Exec & { id?: Id; request: "exec"; })
  | (Capture & { id?: Id; request: "capture"; })
  | (SignalProgram & { id?: Id; request: "signal"; })
  | (Set & { id?: Id; request: "set"; })
  | (Partition & { id?: Id; request: "partition"; })
  | { id?: Id; request: "heal"; }
  | (Fault & { id?: Id; request: "fault"; })
  | (OpenSocket & { id?: Id; request: "socket"; })
  | (OpenConsole & { id?: Id; request: "console"; })
  | (Subscribe & { id?: Id; request: "subscribe"; })
  | (Unsubscribe & { id?: Id; request: "unsubscribe"; })
  | { id?: Id; request: "down"; };

/** The command, service or node whose programs are to start again. */
export interface Restart {
  /** The name of a command or service of the timeline, or of a node, whose services are meant. */
  name: string;
}

/** The counters of a lab's pipes and switches, sampled at an interval that the client chose. */
export interface Sample {
  /** The lab time since the engine started, in nanoseconds. */
  at_ns: number;
  /** The number of samples that were left out before this one, because the client had not read what was sent before. */
  lost: number;
  /** The counters of the pipes: every link's own ones in the order of the lab file, forward before backward; then all further ones. */
  pipes: PipeStats[];
  /** The lab time since time zero, in nanoseconds; null before time zero. */
  since_zero_ns: number | null;
  /** The counters of every station of every radio medium since time zero, in the order of the lab file. */
  stations?: StationRow[];
  /** The counters of every port of every switch, in the order of the lab file. */
  switches?: SwitchRow[];
}

/** A service of a running lab. */
export interface ServiceInfo {
  /** How long ago it ended, in lab time. */
  ended_since_ns: number | null;
  /** Its exit code, if it has ended by itself. */
  exit_code: number | null;
  /** Its name. */
  name: string;
  /** The node it runs on. */
  node: string;
  /** The signal that has ended it. */
  signal: number | null;
  /** How it is. */
  state: ServiceState;
}

/** How a service is. */
export type ServiceState = "waiting" | "starting" | "ready" | "done" | "stopped" | "dead";

/** A change of a link. */
export interface Set {
  /** Keys and values as in a lab file; `state` may also be `up` or `down`, and `down` and `up` are as on the timeline. */
  changes: [string, string][];
  /** `forward` or `backward`; none: both. */
  direction?: string | null;
  /** The link's name. */
  link: string;
  /** The name of a further pipe; none: the link's own, or all of them if it is about the state. */
  pipe?: string | null;
}

/** A signal for a program. */
export interface SignalProgram {
  /** The signal's number. */
  signal: number;
}

/** The counters of multicast snooping at one port of a switch since time zero, and the groups and routers behind the port as last known. */
export interface SnoopingRow {
  /** The first hundred of the groups that have members behind this port. */
  groups: GroupRow[];
  /** Whether a router is behind this port, in any VLAN, so that all multicast goes there. */
  is_router_port: boolean;
  /** How often a group began to have members behind this port, since the lab began. */
  joined_groups: number;
  /** The number of groups that have members behind this port. */
  known_groups: number;
  /** How often a group ceased to have members behind this port, since the lab began. */
  left_groups: number;
  /** Messages of IGMP and MLD that came in at this port and were dropped because there was an error in them. */
  malformed_messages: number;
  /** The addresses of the elected queriers that are behind this port. */
  queriers: string[];
  /** Queries of IGMP and MLD that came in at this port. */
  received_queries: number;
  /** Reports of IGMP and MLD, leaves among them, that came in at this port. */
  received_reports: number;
  /** Queries of the switch itself that went out at this port. */
  sent_queries: number;
  /** Frames that came in at this port and were dropped because nobody had asked for their group. */
  unasked_frames: number;
  /** How often a group was not noted at this port because there was no room, since the lab began. */
  unlearned_groups: number;
}

/** The verdict as it would be if the lab ended now, as far as the lab knows it: what happened inside nodes is judged at the end. */
export interface SoFar {
  /** The lab time since the engine started, in nanoseconds. */
  at_ns: number;
  /** The expectations of the run, each with whether it holds so far; empty in the mode `up`, which runs no timeline. */
  expectations: ExpectationRow[];
  /** The lateness of packets, pipe by pipe in the order of `stats`. */
  pipes: PipeLateness[];
  /** The lab time since time zero, in nanoseconds. */
  since_zero_ns: number;
  /** The verdict on the run so far. */
  verdict: Verdict;
}

/** A type of socket. */
export type SocketType = "stream" | "dgram" | "seqpacket" | "raw";

/** A station of a radio medium, since time zero. */
export interface StationRow {
  /** How long the station had the medium, in nanoseconds: its transmissions, what comes in front of them and their answers, with the
spaces between them. Collisions on a medium where all hear one another are nobody's. */
  airtime_ns: number;
  /** Attempts to send. */
  attempts: number;
  /** The stations that were with an access point at the end. */
  clients?: number;
  /** The attempts that collided with those of other stations. */
  collisions: number;
  /** Their bytes from the IP header on. */
  delivered_bytes: number;
  /** Packets that the station sent and that arrived at their next station. */
  delivered_packets: number;
  /** Packets that were lost on the air: after the last retry, or to everybody in a collision. */
  dropped_air_packets: number;
  /** Packets that found the station's queue full. */
  dropped_queue_packets: number;
  /** How often a terminal of a cell that had data went to another one, or a station of 802.11 to another access point. */
  handovers?: number;
  /** The name of the medium's link. */
  link: string;
  /** The mean over all attempts of the rate of their data; none without an attempt. */
  mean_rate_bits_per_second: number | null;
  /** The name of the station's node. */
  node: string;
  /** Packets, or several under one header, that an attempt failed to get across; each was sent again or given up. */
  retries: number;
}

/** To which of its outputs a program writes. */
export type Stream = "stdout" | "stderr";

/** A subscription; a connection has one of each topic at most. */
export interface Subscribe {
  /** The names of the commands and services whose output is wanted; null for all of them. Only for `output`. */
  commands?: string[] | null;
  /** The topic of the subscription. */
  events: Topic;
  /** The lab time between two samples, in nanoseconds. Required for `stats`, `tcp` and `packets`; other topics do not take it. */
  every_ns?: number | null;
  /** Whether to begin with what happened or was written before the subscription. Only for `lab` and `output`. */
  from_start?: boolean | null;
  /** The names of the nodes whose connections are wanted; null for all that run programs. Only for `tcp`. */
  nodes?: string[] | null;
  /** The output stream that is wanted; null for both. Only for `output`. */
  stream?: Stream | null;
}

/** A switch's counters at one of its ports since time zero; those of addresses and of `tree` count since the lab began. The segments of a
train are frames of their own. */
export interface SwitchRow {
  /** Frames that came in at this port and were dropped because the spanning tree does not let this port forward, or the one where they
would leave. */
  blocked_frames: number;
  /** Frames that came in at this port and were dropped because their destination is behind this very port. */
  filtered_frames: number;
  /** Frames that came in at this port and went out at all other ports. */
  flooded_frames: number;
  /** Frames that came in at this port and were dropped because they were of a VLAN that is not carried here. */
  foreign_frames: number;
  /** The name of the port. */
  interface: string;
  /** Addresses that were learned at this port. */
  learned_addresses: number;
  /** The name of the port's link. */
  link: string;
  /** Messages of the spanning tree (BPDUs) that came in at this port and were ignored because they were malformed or of an unknown kind. */
  malformed_bpdus: number;
  /** Frames that came in at this port and were dropped because they were shorter than an Ethernet header, or came from no address or from
that of a group. */
  malformed_frames: number;
  /** Addresses that were learned at this port and were behind another port before. */
  moved_addresses: number;
  /** The name of the switch. */
  node: string;
  /** Messages of the spanning tree (BPDUs) that came in at this port. */
  received_bpdus: number;
  /** Frames that came in at this port. */
  received_frames: number;
  /** Frames that came in at this port and were dropped because they were for bridges themselves. */
  reserved_frames: number;
  /** Messages of the spanning tree (BPDUs) that went out at this port. */
  sent_bpdus: number;
  /** Frames that went out at this port. */
  sent_frames: number;
  /** The port's counters of multicast snooping; absent if the switch does not look at groups. */
  snooping: SnoopingRow | null;
  /** Frames that were to go out at this port and were dropped because they were larger than the MTU of its link. */
  too_big_frames: number;
  /** The port's part in the spanning tree; absent if the switch takes part in none. */
  tree: TreeRow | null;
  /** How often an address was not learned at this port because the table was full. */
  unlearned_addresses: number;
}

/** A task of an exercise. */
export interface TaskRow {
  /** The conditions of the task, which must all hold, with what the last look at them found. */
  checks: ExpectationRow[];
  /** The hints that help with the task. */
  hints: string[];
  /** The span of lab time up to now that the checks look at, in nanoseconds; null if they look at all since time zero. */
  last_ns: number | null;
  /** The task's line in the lab file. */
  line: number;
  /** When the task was met, in nanoseconds of lab time after time zero; null if it is still to be done. */
  met_ns: number | null;
  /** Whether the task is the next one to be done. The checks of later tasks are not looked at before it is met. */
  next: boolean;
  /** Further text about the task; may be empty. */
  text: string;
  /** The title of the task: what is to be done, in a line. */
  title: string;
}

/** One end of a TCP connection. */
export interface TcpConnection {
  /** Whether the program gave the connection less to send than it could have sent. */
  app_limited: boolean;
  /** The state of the congestion control, for example `recovery`. */
  ca_state: string;
  /** The congestion control algorithm, for example `cubic`. */
  congestion: string;
  /** A number that distinguishes the connection from all others that the node has had. */
  connection: number;
  /** The figures that the kernel reports, by the names of columns of `tcp.csv`. A figure that it does not report is absent. */
  figures: Record<string, number>;
  /** The node's own address and port. */
  local: string;
  /** The address and port of the other end. */
  remote: string;
  /** The state of the connection, for example `established`. */
  state: string;
}

/** The TCP connections of nodes, sampled at an interval that the client chose. */
export interface TcpSample {
  /** The lab time since the engine started, in nanoseconds. */
  at_ns: number;
  /** The number of samples that were left out before this one, because the client had not read what was sent before. */
  lost: number;
  /** The nodes of which anything is known, in the order of the lab file, with their connections. */
  nodes: NodeConnections[];
  /** The lab time since time zero, in nanoseconds; null before time zero. */
  since_zero_ns: number | null;
}

/** A topic of events that a client can subscribe to. */
export type Topic = "lab" | "stats" | "tcp" | "packets" | "output";

/** Everything that is connected. */
export interface Topology {
  /** The ports of this machine's loopback that lead into nodes. */
  exposed: ExposedPort[];
  /** The links, in the order of the lab file. */
  links: Link[];
  /** The nodes, in the order of the lab file. */
  nodes: Node[];
  /** The services, in the order of the lab file. */
  services: ServiceInfo[];
}

/** A port's part in a spanning tree, as last known. */
export interface TreeRow {
  /** When the port's state changed last, in nanoseconds of lab time since the lab's clock began; null if it never did. */
  last_change_ns: number | null;
  /** The port's role: root, designated, alternate, backup or disabled. */
  role: string;
  /** The port's state: discarding, learning or forwarding. */
  state: string;
  /** The number of changes of the port's state. */
  state_changes: number;
  /** How often the port forgot its addresses because the tree had changed elsewhere. */
  topology_changes: number;
}

/** The end of a subscription. */
export interface Unsubscribe {
  /** Which one. */
  events: Topic;
}

/** The verdict on a run: whether the network did what was described. */
export interface Verdict {
  /** Whether everything stayed within the bounds; none if nothing was measured that could be judged. */
  as_described: boolean | null;
  /** Observations that explain the findings, and are no findings by themselves. */
  causes?: string[];
  /** The smallest whole dilation with which this machine would fit, as far as the figures show; null if none is needed, if slowing would
not help, and in virtual time. */
  dilation: number | null;
  /** The bounds that were not kept, the worst first. */
  findings: Finding[];
  /** The result of `netloom doctor` on this machine, or the advice to run it, where that explains the findings; null otherwise. */
  machine?: string | null;
  /** Remarks that are no findings, above all on what could not be judged, and why. */
  notes: string[];
  /** By how much one-way delays over tunnels to other machines are off at most, by what is known of the clocks; null: there is no tunnel. */
  one_way_bound_ns?: number | null;
  /** The same in words: `as described`, `NOT as described` or `not judged`. */
  verdict?: string;
}
