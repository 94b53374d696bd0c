// What is said over the control socket of a lab. Written by `scripts/page-types` from `netloom schema --protocol`: change that, and run it again.

/** Netloom control protocol 1.8. */
export const PROTOCOL = "1.8";

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

/** What the lab tells a client that has subscribed to it. */
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

/** How far somebody who learns with a lab has come. */
export interface ExerciseReport {
  /** The tasks in their order; empty if the lab has no exercise. */
  tasks: TaskRow[];
  /** What it is about; empty lines part paragraphs. */
  text: string;
  /** What it is called. */
  title: string;
}

/** One expectation and whether it holds. */
export interface ExpectationRow {
  /** What was measured, against what was wanted. */
  explanation: string;
  /** The line in the lab file. */
  line: number;
  /** Whether it holds. */
  met: boolean;
  /** As written in the lab file. */
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

/** One bound that was not kept. */
export interface Finding {
  /** By how much more time would have to be slowed for it to fit; none if slowing would not help. */
  slowing: number | null;
  /** The pipe, node or part of netloom it is about. */
  subject: string;
  /** What was measured and what was described, in words. */
  text: string;
}

/** What a lab says to a client that has said hello. */
export interface Greeting {
  /** What the lab offers, by name. */
  capabilities: string[];
  /** The lab's name. */
  lab: string;
  /** Its minor version: everything that a lower one has is there, too. */
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
  /** Lab time since the engine started. */
  at_ns: number;
  /** More about it, such as the link and what was set. The keys depend on what happened. */
  details: Record<string, unknown>;
  /** The same since time zero; none before it. */
  since_zero_ns: number | null;
  /** What happened, for example `link changed`. */
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
  /** How long it has been there. */
  age_ns: number;
  /** The traffic of this machine that goes through its link, as `match` has it; none: that of its nodes does. */
  diverted: string | null;
  /** The ports of this machine that lead into nodes, in words. */
  exposed?: string[];
  /** The lab file. */
  file: string;
  /** Where its logs and results are. */
  folder: string;
  /** How many links it has. */
  links: number;
  /** How long it may take to end, at most, when it is asked to, in wall time. */
  longest_stop_ns?: number;
  /** `run` or `up`. */
  mode: string;
  /** Its name. */
  name: string;
  /** Its nodes. */
  nodes: NodeInfo[];
  /** Whether its time is held by a client, or since it came up in virtual time. */
  paused?: boolean;
  /** The process id of its supervisor, as seen from outside. */
  pid: number;
  /** Its services, in the order of the lab file. */
  services?: ServiceInfo[];
  /** That its time stands still though it should go on, in words; none while it goes on. */
  stalled?: string | null;
}

/** What the pipes of a lab counted so far. */
export interface LabStats {
  /** Lab time since the engine started. */
  at_ns: number;
  /** Every link's own pipes in the order of the lab file, forward before backward; then all further ones. */
  pipes: PipeStats[];
  /** Every port of every switch, in the order of the lab file. */
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
export type NodeState = "running" | "stopping" | "stopped" | "starting";

/** The time of a lab. */
export interface Now {
  /** Lab time since the engine started. */
  at_ns: number;
  /** `real`, `dilated` or `virtual`. */
  clock: string;
  /** How many seconds of wall time a second of the lab lasts; none in virtual time. */
  dilation: number | null;
  /** Whether time stands still because a client wants it to, or because the lab came up in virtual time. */
  paused?: boolean;
  /** The same since time zero, when all services were ready; none before. */
  since_zero_ns: number | null;
  /** That time stands still though it should go on, in words; none while it goes on. */
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

/** What a command or service wrote. */
export interface Output {
  /** Its name. */
  command: string;
  /** The lines, without their ends. What is no UTF-8 is replaced by U+FFFD. */
  lines: string[];
  /** The node that it runs on. */
  node: string;
  /** Whether the last one goes on in the next event of this command and stream, because it is long. */
  partial: boolean;
  /** Where it wrote. */
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

/** What has become of a packet in one pipe that was picked there: it was sent to its end, or dropped. One that is dropped on its way is
told for a second time then. All instants are lab time since the engine started. */
export interface PacketRecord {
  /** Its size from the IP header on; of all its segments. */
  bytes: number;
  /** Where it ended before; none if it was not dropped, or not yet. */
  dropped: PacketDrop | null;
  /** When it is due at the other end; none if it was not sent. */
  due_ns: number | null;
  /** When it came in. */
  entered_ns: number;
  /** Whose it is; none if it is not an IP packet. */
  flow: PacketFlow | null;
  /** What tells it from other packets of this pipe. */
  packet: number;
  /** The pipe's place in the list `pipes` of `stats`. */
  pipe: number;
  /** Of how many segments of a super-packet it consists. */
  segments: number;
  /** When its transmission ended; none if it was not sent. */
  sent_ns: number | null;
  /** When its transmission began; none if it was not sent. */
  start_ns: number | null;
}

/** What has become of picked packets, told at a chosen step. */
export interface PacketSample {
  /** Lab time since the engine started. */
  at_ns: number;
  /** How many records were left out before these, because the client had not read what was sent before, or asks too rarely. */
  lost: number;
  /** Those of one pipe in the order in which it was known what became of them. */
  packets: PacketRecord[];
  /** The same since time zero; none before it. */
  since_zero_ns: number | null;
}

/** A direction of a link, or a further pipe of one. */
export interface Pipe {
  /** `forward` or `backward`; `shared` of a shared medium. */
  direction: string;
  /** The name of a further pipe; none: the direction's own. */
  pipe: string | null;
  /** What is in force, with the keys and values of a lab file. */
  settings: Record<string, unknown>;
  /** Whether nobody has cut it. */
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

/** What one pipe counted so far. Packets are segments; bytes count from the IP header on. */
export interface PipeStats {
  /** Their bytes. */
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
  /** The propagation delay in force. */
  delay_ns: number;
  /** Their bytes. */
  departed_bytes: number;
  /** Packets that departed from it, at its far end. */
  departed_packets: number;
  /** `forward` or `backward`; `shared` of a shared medium. */
  direction: string;
  /** Dropped because the link was down. */
  dropped_down_packets: number;
  /** Dropped by the queue's discipline, though there was room. */
  dropped_early_packets: number;
  /** Dropped by the loss model. */
  dropped_loss_packets: number;
  /** Dropped because the queue was full. */
  dropped_queue_packets: number;
  /** Packets made beside those that came in. */
  duplicated_packets: number;
  /** The node where packets enter. */
  from: string;
  /** Packets that were inside at time zero. All other counters begin there; before time zero, they count from the lab's set-up. */
  in_flight_at_start_packets?: number;
  /** Packets that are inside now: they wait, are sent or travel. */
  in_flight_packets?: number;
  /** Whether the link is joined in the kernel, so that nothing of it is measured and all figures are zero. */
  joined_in_kernel?: boolean;
  /** The link's name. */
  link: string;
  /** Packets marked as having experienced congestion. */
  marked_packets: number;
  /** The name of a further pipe; none: the direction's own. */
  pipe: string | null;
  /** Their bytes. */
  queued_bytes: number;
  /** Packets in its queue now. */
  queued_packets: number;
  /** The rate in force; none: unlimited. */
  rate_bits_per_second: number | null;
  /** Packets that overtook others on purpose. */
  reordered_packets: number;
  /** The node where they leave. */
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

/** What the lab answers. */
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

/** What a client may ask of a running lab. */
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
  | (OpenSocket & { id?: Id; request: "socket"; })
  | (OpenConsole & { id?: Id; request: "console"; })
  | (Subscribe & { id?: Id; request: "subscribe"; })
  | (Unsubscribe & { id?: Id; request: "unsubscribe"; })
  | { id?: Id; request: "down"; };

/** What is to start again. */
export interface Restart {
  /** The name of a command or service of the timeline, or of a node, whose services are meant. */
  name: string;
}

/** What the pipes of a lab have counted, told at a chosen step. */
export interface Sample {
  /** Lab time since the engine started. */
  at_ns: number;
  /** How many samples were left out before this one, because the client had not read what was sent before. */
  lost: number;
  /** Every link's own pipes in the order of the lab file, forward before backward; then all further ones. */
  pipes: PipeStats[];
  /** Lab time since time zero; none before it. */
  since_zero_ns: number | null;
  /** Every port of every switch, in the order of the lab file. */
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

/** What a switch that looks at groups of multicast did at one of its ports since time zero, and what it knows of it in the end. */
export interface SnoopingRow {
  /** The first hundred of them. */
  groups: GroupRow[];
  /** Whether a router is behind this port, in any VLAN, so that all multicast goes there. */
  is_router_port: boolean;
  /** How often members of a group began to be behind this port, since the lab began. */
  joined_groups: number;
  /** How many groups have members behind this port. */
  known_groups: number;
  /** How often there were none any more, since the lab began. */
  left_groups: number;
  /** Messages of IGMP and MLD that came in here and were dropped because there was an error in them. */
  malformed_messages: number;
  /** The queriers behind this port that were elected. */
  queriers: string[];
  /** Queries that came in here. */
  received_queries: number;
  /** Reports of IGMP and MLD that came in here, leaves among them. */
  received_reports: number;
  /** Queries of the switch itself that went out here. */
  sent_queries: number;
  /** Frames that came in here and were dropped because nobody had asked for their group. */
  unasked_frames: number;
  /** How often a group was not noted here since the lab began, because there was no room. */
  unlearned_groups: number;
}

/** The verdict as it would be if the lab ended now, as far as the lab knows it: what happened inside nodes is judged at the end. */
export interface SoFar {
  /** Lab time since the engine started. */
  at_ns: number;
  /** What is expected of the run, and what holds of it so far; empty of a lab that is up and plays no timeline. */
  expectations: ExpectationRow[];
  /** How late packets are, pipe by pipe in the order of `stats`. */
  pipes: PipeLateness[];
  /** The same since time zero. */
  since_zero_ns: number;
  /** What speaks against the run so far. */
  verdict: Verdict;
}

/** A type of socket. */
export type SocketType = "stream" | "dgram" | "seqpacket" | "raw";

/** To which of its outputs a program writes. */
export type Stream = "stdout" | "stderr";

/** A subscription; a connection has one of each topic at most. */
export interface Subscribe {
  /** Of `output`: the names of commands and services; none: all of them. */
  commands?: string[] | null;
  /** What to be told of. */
  events: Topic;
  /** Of `stats`, `tcp` and `packets`: the lab time between two samples. */
  every_ns?: number | null;
  /** Of `lab` and `output`: whether to begin with what happened or was written before. */
  from_start?: boolean | null;
  /** Of `tcp`: the names of nodes; none: all that run programs. */
  nodes?: string[] | null;
  /** Of `output`: only this stream; none: both. */
  stream?: Stream | null;
}

/** What a switch did at one of its ports since time zero. The segments of a train are frames of their own. */
export interface SwitchRow {
  /** Of those that came in: dropped because the spanning tree does not let them through. */
  blocked_frames: number;
  /** Of those that came in: dropped because they were for somebody behind this very port. */
  filtered_frames: number;
  /** Of those that came in: went out at all other ports. */
  flooded_frames: number;
  /** Of those that came in: dropped because they were of a VLAN that is not carried here. */
  foreign_frames: number;
  /** The port. */
  interface: string;
  /** Addresses that were learned here. */
  learned_addresses: number;
  /** Its link. */
  link: string;
  /** Of these: nothing that counts. */
  malformed_bpdus: number;
  /** Of those that came in: dropped because they were no frames. */
  malformed_frames: number;
  /** Of these: were behind another port before. */
  moved_addresses: number;
  /** The switch. */
  node: string;
  /** Of those that came in: messages of the spanning tree. */
  received_bpdus: number;
  /** Came in here. */
  received_frames: number;
  /** Of those that came in: dropped because they were for bridges themselves. */
  reserved_frames: number;
  /** Of those that went out: messages of the spanning tree. */
  sent_bpdus: number;
  /** Went out here. */
  sent_frames: number;
  /** What it did with groups of multicast, if the switch looks at them. */
  snooping: SnoopingRow | null;
  /** Dropped because the link here carries only smaller ones. */
  too_big_frames: number;
  /** The port's part in the spanning tree, if the switch takes part in one. */
  tree: TreeRow | null;
  /** How often an address was not learned here, since the table was full. */
  unlearned_addresses: number;
}

/** A task of an exercise. */
export interface TaskRow {
  /** What must hold, all of it, and how far it did when it was looked at last. */
  checks: ExpectationRow[];
  /** What helps. */
  hints: string[];
  /** At how much lab time up to now its checks look; none: at all since time zero. */
  last_ns: number | null;
  /** Its line in the lab file. */
  line: number;
  /** When it was met, after time zero; none: it is to be done. */
  met_ns: number | null;
  /** Whether it is the one that is to be done next: later ones are looked at when it is met. */
  next: boolean;
  /** More about it; may be empty. */
  text: string;
  /** What is to be done, in a line. */
  title: string;
}

/** One end of a TCP connection. */
export interface TcpConnection {
  /** Whether its program gave it less to send than it could have sent. */
  app_limited: boolean;
  /** What its congestion control does, for example `recovery`. */
  ca_state: string;
  /** Its congestion control, for example `cubic`. */
  congestion: string;
  /** What tells it from all others that the node has had. */
  connection: number;
  /** What its kernel tells, by the names of columns of `tcp.csv`; what it does not tell, is not there. */
  figures: Record<string, number>;
  /** The node's own address and port. */
  local: string;
  /** Those of the other end. */
  remote: string;
  /** Its state, for example `established`. */
  state: string;
}

/** The TCP connections of nodes, told at a chosen step. */
export interface TcpSample {
  /** Lab time since the engine started. */
  at_ns: number;
  /** How many samples were left out before this one, because the client had not read what was sent before. */
  lost: number;
  /** Those of which anything is known, in the order of the lab file. */
  nodes: NodeConnections[];
  /** The same since time zero; none before it. */
  since_zero_ns: number | null;
}

/** What there is to be told of. */
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

/** A port's part in a spanning tree, in the end. */
export interface TreeRow {
  /** When it changed last, since the lab's clock began. */
  last_change_ns: number | null;
  /** What it is for: root, designated, alternate, backup or disabled. */
  role: string;
  /** What it does: discarding, learning or forwarding. */
  state: string;
  /** How often that has changed. */
  state_changes: number;
  /** How often it forgot its addresses because the tree had changed elsewhere. */
  topology_changes: number;
}

/** The end of a subscription. */
export interface Unsubscribe {
  /** Which one. */
  events: Topic;
}

/** Whether the network did what was described. */
export interface Verdict {
  /** Whether everything stayed within the bounds; none if nothing was measured that could be judged. */
  as_described: boolean | null;
  /** What was seen beside the findings and explains them; no finding by itself. */
  causes?: string[];
  /** The smallest whole dilation with which this machine would fit, as far as the figures tell; none if none is needed,
if slowing would not help, and in virtual time. */
  dilation: number | null;
  /** What did not, the worst first. */
  findings: Finding[];
  /** What `netloom doctor` says of the machine, where that explains the findings. */
  machine?: string | null;
  /** What could not be judged, and why. */
  notes: string[];
  /** The same in words: `as described`, `NOT as described` or `not judged`. */
  verdict?: string;
}
