// A lab that is played for a test: what `netloom` says over the control socket of a small lab that is up, with TCP connections and packets, so that a test knows what the page has to show.
import type { NodeConnections, NodeState, PacketRecord, SwitchRow, TcpConnection } from "../ui/protocol";

export interface Talk {
  send: (text: string) => void;
  onMessage: (hear: (text: string) => void) => void;
  onClose: (act: () => void) => void;
}

/** What a test can do with it, and what the page has asked for. */
export interface Played {
  /** Requests that have come, in their order. */
  asked: Record<string, unknown>[];
  /** Subscriptions that hold now, by what they are to. */
  held: Map<string, Record<string, unknown>>;
  capabilities: string[];
  /** Why a subscription is refused. */
  refuse: Record<string, string>;
  paused: boolean;
  clock: "real" | "virtual";
  /** How many times faster than the page's its time runs. */
  fast: (speed: number) => void;
  /** Changes what is told of connections. */
  connections: (nodes: NodeConnections[]) => NodeConnections[];
  /** The state of nodes that do not run. */
  off: Map<string, NodeState>;
  /** Why nodes cannot have faults: by node, the reasons by the kind of fault; null: they can. */
  faults: Map<string, Record<string, string | null>>;
  /** What is told of the ports of switches. */
  ports: Partial<SwitchRow>[];
  /** Packets that enter each tenth of a second. */
  packets: (at: number) => PacketRecord[];
  speak: (socket: Talk) => void;
}

const NAMES = ["client", "router", "server"];
const FACES: Record<string, [string, string, string][]> = {
  client: [["eth0", "access", "10.0.0.1/30"]],
  router: [
    ["eth0", "access", "10.0.0.2/30"],
    ["eth1", "bottleneck", "10.0.0.5/30"],
  ],
  server: [["eth0", "bottleneck", "10.0.0.6/30"]],
};
const PIPES = [
  ["access", "forward"],
  ["access", "backward"],
  ["bottleneck", "forward"],
  ["bottleneck", "backward"],
] as const;
export const CAPABILITIES = [
  "capture",
  "clock",
  "events",
  "exec",
  "fault",
  "packets",
  "restart",
  "set",
  "stats",
  "stop",
  "tcp",
  "time",
  "topology",
  "verdict",
];

const nodes = NAMES.map((name) => ({
  name,
  kind: name === "router" ? "router" : "host",
  stack: "",
  interfaces: (FACES[name] ?? []).map(([face, link, address]) => ({
    name: face,
    link,
    mac: "",
    mtu_bytes: 1500,
    addresses: [address],
  })),
}));
const links = [
  ["access", "client", "router"],
  ["bottleneck", "router", "server"],
].map(([name, a, b]) => ({
  name,
  ends: [a, b].map((node) => ({ node, interface: "" })),
  mtu_bytes: 1500,
  joined_in_kernel: false,
  pipes: ["forward", "backward"].map((direction) => ({
    direction,
    pipe: null,
    up: true,
    settings: { rate: "10 Mbit/s", delay: "20 ms" },
  })),
}));
export const SCENE = {
  nodes: nodes.map(({ name, kind }, number) => ({ name, kind, x: number, y: 0 })),
  links: links.map(({ name, ends }) => ({ name, ends: ends.map(({ node }) => node), words: [] })),
};
export const ROW = {
  name: "played",
  mode: "up",
  nodes: 3,
  clock: "real",
  path: "played.yaml",
  results: null,
  job: null,
};

/** A sender whose window grows and is cut, so that its curves have something to show. */
export function sender(
  connection: number,
  congestion: string,
  at: number,
  more: Partial<TcpConnection> = {},
): TcpConnection {
  const saw = (at * 12 + connection * 17) % 60;
  return {
    connection,
    local: `10.0.0.1:${40_000 + connection}`,
    remote: "10.0.0.6:5201",
    congestion,
    state: "established",
    ca_state: saw < 6 ? "recovery" : "open",
    app_limited: false,
    figures: {
      cwnd_packets: Math.round(30 + saw),
      ssthresh_packets: 42,
      srtt_us: 40_000 + saw * 800,
      min_rtt_us: 40_000,
      delivery_rate_bits_per_second: 9e6 + saw * 1e4,
      pacing_rate_bits_per_second: 1.1e7,
      bytes_acked: Math.round((at * 1e6) / connection),
      bytes_received: 0,
      bytes_sent: Math.round((at * 1.01e6) / connection),
      retransmissions: Math.floor(at / 2),
      ...(congestion === "bbr" ? { bbr_min_rtt_us: 40_000, bbr_pacing_gain: 1.25 } : {}),
    },
    ...more,
  };
}

export const receiver = (connection: number, at: number): TcpConnection => ({
  connection,
  local: "10.0.0.6:5201",
  remote: `10.0.0.1:${40_000 + connection}`,
  congestion: "cubic",
  state: "established",
  ca_state: "open",
  app_limited: true,
  figures: {
    cwnd_packets: 10,
    srtt_us: 41_000,
    bytes_acked: 0,
    bytes_received: Math.round((at * 1e6) / connection),
    retransmissions: 0,
  },
});

const ways = (link: string, direction: string): { from: string; to: string } => {
  const [from = "", to = ""] = link === "access" ? ["client", "router"] : ["router", "server"];
  return direction === "forward" ? { from, to } : { from: to, to: from };
};

let last = 0;
/** A packet that enters a pipe at this instant: it waits, is sent and travels. */
export function packet(
  pipe: number,
  at: number,
  port: number,
  { wait = 5e6, travel = 2e7, dropped = null as PacketRecord["dropped"], protocol = "tcp" } = {},
): PacketRecord {
  last += 1;
  const start = dropped ? null : at + wait;
  const ends = [`10.0.0.1:${port}`, "10.0.0.6:5201"];
  const [source, destination] = pipe % 2 === 0 ? ends : ends.reverse();
  return {
    pipe,
    packet: last,
    entered_ns: at,
    start_ns: start,
    sent_ns: start === null ? null : start + 1e6,
    due_ns: start === null ? null : start + 1e6 + travel,
    dropped,
    bytes: pipe % 2 === 0 ? 1500 : 52,
    segments: 1,
    flow: { source: source ?? "", destination: destination ?? "", protocol },
  };
}

/** The lab's time in milliseconds, which runs as fast as a test wants. */
class Clock {
  private began = Date.now();
  private base = 5_000;
  speed = 1;

  now(): number {
    return this.base + (Date.now() - this.began) * this.speed;
  }

  run(speed: number): void {
    [this.base, this.began, this.speed] = [this.now(), Date.now(), speed];
  }

  /** What stands in each event. */
  time(): object {
    return { at_ns: this.now() * 1e6, since_zero_ns: (this.now() - 5_000) * 1e6 };
  }
}

type Replies = Record<string, (asked: Record<string, unknown>) => object>;

const statsOf = (played: Played, clock: Clock): object => ({
  ...clock.time(),
  lost: 0,
  switches: played.ports,
  pipes: PIPES.map(([link, direction], pipe) => ({
    link,
    direction,
    pipe: null,
    ...ways(link, direction),
    joined_in_kernel: false,
    rate_bits_per_second: 1e7,
    delay_ns: 2e7,
    up: true,
    arrived_packets: 0,
    arrived_bytes: 0,
    departed_packets: clock.now(),
    departed_bytes: Math.round(clock.now() * (pipe % 2 ? 30 : 1150)),
    queued_packets: pipe === 2 ? 12 : 0,
    queued_bytes: 0,
    dropped_queue_packets: pipe === 2 ? Math.floor(clock.now() / 100) : 0,
    dropped_loss_packets: 0,
    dropped_early_packets: 0,
    dropped_down_packets: 0,
    marked_packets: 0,
  })),
});

function tcpOf(played: Played, clock: Clock, names: string[] | null): object {
  const at = clock.now() / 1000;
  const all: NodeConnections[] = [
    {
      node: "client",
      at_ns: clock.now() * 1e6,
      connections: [sender(1, "cubic", at), sender(2, "bbr", at)],
      left_out: 0,
      failure: null,
    },
    { node: "router", at_ns: clock.now() * 1e6, connections: [], left_out: 0, failure: null },
    {
      node: "server",
      at_ns: clock.now() * 1e6,
      connections: [receiver(1, at), receiver(2, at)],
      left_out: 0,
      failure: null,
    },
  ];
  return {
    ...clock.time(),
    lost: 0,
    nodes: played.connections(all.filter(({ node }) => !names || names.includes(node))),
  };
}

/** What is answered to requests that follow nothing. */
function repliesOf(played: Played, clock: Clock): Replies {
  const reply: Replies = {
    hello: () => ({
      reply: "hello",
      version: 1,
      minor: 7,
      program: "test",
      lab: "played",
      capabilities: played.capabilities,
    }),
    topology: () => ({
      reply: "topology",
      nodes: nodes.map((node) => ({
        ...node,
        state: played.off.get(node.name) ?? "running",
        ...(played.faults.has(node.name) ? { faults: played.faults.get(node.name) } : {}),
      })),
      links,
      exposed: [],
      services: [],
    }),
    stop: ({ node }) => {
      if (node === "router") return { reply: "refused", code: 2, message: "node `router` is at a shared medium" };
      played.off.set(String(node), "stopped");
      return { reply: "done" };
    },
    start: ({ node }) => {
      played.off.delete(String(node));
      return { reply: "done" };
    },
    info: () => ({ reply: "info", name: "played" }),
    now: () => ({
      reply: "now",
      ...clock.time(),
      clock: played.clock,
      paused: played.paused,
      dilation: 1,
      stalled: null,
    }),
    exercise: () => ({ reply: "exercise", title: "", text: "", tasks: [] }),
    verdict: () => ({ reply: "refused", code: 2, message: "none" }),
    pause: () => {
      played.paused = true;
      return reply.now?.({}) ?? {};
    },
    resume: () => {
      played.paused = false;
      return reply.now?.({}) ?? {};
    },
  };
  return reply;
}

/** The subscriptions of a connection: what is told, and how often. */
class Subscriptions {
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();
  private readonly ids = new Map<string, unknown>();

  constructor(
    private readonly played: Played,
    private readonly clock: Clock,
    private readonly socket: Talk,
  ) {}

  stop(events: string): void {
    clearTimeout(this.timers.get(events));
    this.timers.delete(events);
    this.played.held.delete(events);
  }

  stopAll(): void {
    for (const events of [...this.timers.keys()]) this.stop(events);
  }

  /** Something has happened in the lab. */
  happened(what: string, details: object): void {
    const { clock, ids } = this;
    this.socket.send(JSON.stringify({ id: ids.get("lab"), event: "lab", ...clock.time(), what, details }));
  }

  begin({ id, events, every_ns, request: _request, ...keys }: Record<string, unknown>): object {
    const { played, clock } = this;
    const what = String(events);
    const why = played.refuse[what];
    if (why !== undefined) return { reply: "refused", code: 2, message: why };
    this.stop(what);
    this.ids.set(what, id);
    played.held.set(what, { ...keys, every_ns });
    const tell: Record<string, () => object> = {
      stats: () => statsOf(played, clock),
      tcp: () => tcpOf(played, clock, (keys.nodes as string[] | undefined) ?? null),
      packets: () => ({ ...clock.time(), lost: 0, packets: played.packets(clock.now() * 1e6 - 1e8) }),
    };
    const of = tell[what];
    if (of) this.next(what, Number(every_ns) / 1e6, () => JSON.stringify({ id, event: what, ...of() }));
    return { reply: "done" };
  }

  private next(what: string, every: number, tell: () => string): void {
    const act = (): void => {
      if (!this.played.paused) this.socket.send(tell());
      this.next(what, every, tell);
    };
    this.timers.set(what, setTimeout(act, every / this.clock.speed));
  }
}

/** Answers what comes on a connection. */
function speak(played: Played, clock: Clock, socket: Talk): void {
  const subscriptions = new Subscriptions(played, clock, socket);
  const reply: Replies = {
    ...repliesOf(played, clock),
    unsubscribe: ({ events }) => {
      subscriptions.stop(String(events));
      return { reply: "done" };
    },
    subscribe: (asked) => subscriptions.begin(asked),
    partition: ({ entry }) => {
      if (String(entry).includes("soon"))
        return { reply: "refused", code: 2, message: "partition: expected a duration, found a text" };
      const [, inside = ""] = /partition: \[\[(.*?)\]\]/.exec(String(entry)) ?? [];
      subscriptions.happened("partition", { in_force: [`${inside.replaceAll(", ", " ")} | all others`], by: "client" });
      return { reply: "done" };
    },
    fault: ({ entry }) => {
      const [, kind, node] = /^\{(crash|freeze): (\w+)/.exec(String(entry)) ?? [];
      if (String(entry).includes("soon"))
        return { reply: "refused", code: 2, message: "fault: expected a duration, found a text" };
      if (kind && node) {
        played.off.set(node, kind === "crash" ? "crashed" : "frozen");
        subscriptions.happened(kind === "crash" ? "crashed" : "frozen", { node, lateness_ns: 0 });
      }
      const [, on, how, what] = /^\{on: (\w+), (fail|starve): (\w+|\{.*?\})/.exec(String(entry)) ?? [];
      if (on && how) subscriptions.happened(how, { node: on, what: `${how} ${what}`, lateness_ns: 0 });
      return { reply: "done" };
    },
    heal: () => {
      subscriptions.happened("partition", { in_force: [], by: "client" });
      return { reply: "done" };
    },
  };
  socket.onMessage((text) => {
    const asked = JSON.parse(text) as Record<string, unknown>;
    played.asked.push(asked);
    socket.send(JSON.stringify({ id: asked.id, ...(reply[String(asked.request)]?.(asked) ?? { reply: "done" }) }));
  });
  socket.onClose(() => subscriptions.stopAll());
}

export function lab(): Played {
  const clock = new Clock();
  const played: Played = {
    asked: [],
    held: new Map(),
    capabilities: [...CAPABILITIES],
    refuse: {},
    paused: false,
    clock: "real",
    fast: (wanted) => clock.run(wanted),
    connections: (told) => told,
    off: new Map(),
    faults: new Map(),
    ports: [],
    packets: (at) =>
      PIPES.flatMap((_, pipe) =>
        [0, 1, 2, 3].map((part) => packet(pipe, at + part * 25e6, 40_001 + (part % 2))),
      ).concat(packet(2, at, 40_001, { dropped: { at_ns: at, cause: "queue" } })),
    speak: (socket) => speak(played, clock, socket),
  };
  return played;
}
