// TCP connections of nodes of a lab that is up: asked for while somebody looks at them, and kept for a while. Memory is bounded.
import type { Control, Connections as Sample, TcpConnection } from "./control";
import { Pace } from "./pace";
import { Ring } from "./ring";
import { type Accessor, createEffect, createSignal, inSight, on, onCleanup } from "./view";

/** Samples of a connection that are kept: two and a half minutes at four per second. */
export const MOST_SAMPLES = 600;
/** Connections that are kept; of more, those that have carried most. */
export const MOST_CONNECTIONS = 200;
/** Lab time between two samples, and for each node of a large lab. */
const EVERY_NS = 250e6;
const EVERY_NODE_NS = 5e6;
/** Nodes of which it is said why they tell nothing. */
const MOST_FAILURES = 5;
/** How long a connection that has ended is still shown, in ms. */
const ENDED_MS = 60_000;
export const CURVES = ["window", "threshold", "rtt", "least", "delivered", "again"] as const;
export type Curve = (typeof CURVES)[number];

/** A connection as the page knows it. */
export interface Known {
  key: string;
  node: string;
  /** What was told of it last. */
  now: TcpConnection;
  /** What it had acknowledged and has received lately, in bit/s; null as long as that is not known. */
  sends: number | null;
  receives: number | null;
  ended: boolean;
  /** When it was told of last, in ms of the page. */
  heard: number;
  curves: Ring;
}

/** A connection as seen from the end that sends. */
export const endsOf = (local: string, remote: string): string => `${local} ${remote}`;

/** Bytes that it has carried in all. */
export const carried = ({ now: { figures } }: Pick<Known, "now">): number =>
  (figures.bytes_acked ?? 0) + (figures.bytes_received ?? 0);

/** Who sends comes before who receives the same. */
const rank = ({ now: { figures } }: Pick<Known, "now">): number =>
  (figures.bytes_acked ?? 0) * 2 + (figures.bytes_received ?? 0);
const us = (value: number | undefined): number | undefined => (value === undefined ? undefined : value * 1e3);
/** What a counter has grown by per second. */
const grown = (now: number | undefined, before: number | undefined, seconds: number): number | null =>
  now === undefined || before === undefined || !(seconds > 0) ? null : Math.max(now - before, 0) / seconds;

export class Connections {
  /** All that are known, who sent most first, and those that have ended last. */
  readonly all: Accessor<readonly Known[]>;
  /** Why there are none to be had; empty if there are. */
  readonly refused: Accessor<string>;
  /** Which nodes tell nothing, and why: a line of each. */
  readonly failures: Accessor<string>;
  /** Whether a sample has come since somebody looks. */
  readonly heard: Accessor<boolean>;
  /** Connections that there are, too, and that are not shown. */
  readonly leftOut: Accessor<number>;
  /** The connection that was chosen, by its key or its ends. */
  readonly picked: Accessor<string | null>;
  private readonly set;
  private readonly known = new Map<string, Known>();
  private readonly lookers = new Set<{ nodes: readonly string[] | null }>();
  private asked = "";
  private due = false;
  /** When nodes were told of last, in ns: what they tell next is compared with that. */
  private readonly before = new Map<string, number>();
  private last = -Infinity;
  private readonly pace: Pace;
  private isAsking = false;

  constructor(
    private readonly control: Control,
    private readonly nodes: () => number,
    isPaused: Accessor<boolean>,
  ) {
    const [all, setAll] = createSignal<readonly Known[]>([]);
    const [refused, setRefused] = createSignal("");
    const [heard, setHeard] = createSignal(false);
    const [leftOut, setLeftOut] = createSignal(0);
    const [failures, setFailures] = createSignal("");
    const [picked, setPicked] = createSignal<string | null>(null);
    [this.all, this.refused, this.failures, this.heard, this.leftOut, this.picked] = [
      all,
      refused,
      failures,
      heard,
      leftOut,
      picked,
    ];
    this.set = { setAll, setRefused, setFailures, setHeard, setLeftOut, setPicked };
    createEffect(on([inSight, control.offers], () => this.plan()));
    this.pace = new Pace(EVERY_NS / 1e6, EVERY_NS, isPaused);
    createEffect(
      on(this.pace.every, () => {
        if (this.isAsking) this.subscribe();
      }),
    );
  }

  /** Chooses a connection by its key, or by its ends if it is not known yet, wherever it is shown. */
  pick(key: string): void {
    this.set.setPicked(key);
  }

  /** Asks for the connections of these nodes, or all, for as long as the view that calls this is there. */
  look(nodes: readonly string[] | null): void {
    const one = { nodes };
    this.lookers.add(one);
    this.plan();
    onCleanup(() => {
      this.lookers.delete(one);
      this.plan();
    });
  }

  /** Soon, since one view often comes where another goes. */
  private plan(): void {
    if (this.due) return;
    this.due = true;
    queueMicrotask(() => {
      this.due = false;
      this.ask();
    });
  }

  private ask(): void {
    const offers = this.control.offers();
    const lookers = [...this.lookers];
    const wanted =
      lookers.length === 0 || !inSight() || offers === null
        ? ""
        : JSON.stringify(
            lookers.some(({ nodes }) => nodes === null)
              ? null
              : [...new Set(lookers.flatMap(({ nodes }) => nodes ?? []))].sort(),
          );
    if (wanted === this.asked) return;
    this.asked = wanted;
    this.isAsking = false;
    this.before.clear();
    this.set.setHeard(false);
    this.set.setRefused("");
    this.control.unsubscribe("tcp");
    if (wanted === "") return;
    if (!offers?.includes("tcp")) {
      this.set.setRefused(
        "This lab reports no TCP connections while it is up: it is over several machines in virtual time, or an older version of Netloom has brought it up.",
      );
      return;
    }
    this.pace.reset(wanted === "null" ? Math.max(EVERY_NS, this.nodes() * EVERY_NODE_NS) : EVERY_NS);
    this.isAsking = true;
    this.subscribe();
  }

  private subscribe(): void {
    const nodes = JSON.parse(this.asked) as string[] | null;
    this.control.subscribe<Sample>(
      "tcp",
      { every_ns: this.pace.every(), ...(nodes ? { nodes } : {}) },
      (sample) => this.hear(sample),
      (why) => this.set.setRefused(why),
    );
  }

  private hear(sample: Sample): void {
    const ms = performance.now();
    this.pace.heard(ms);
    // Time that goes back is that of another lab of the name.
    if (sample.at_ns < this.last) this.clear();
    this.last = sample.at_ns;
    const zero = sample.since_zero_ns === null ? 0 : sample.at_ns - sample.since_zero_ns;
    const rows = sample.nodes.flatMap((of) =>
      of.connections.map((now) => ({ of, key: `${of.node} ${now.connection}`, now })),
    );
    const kept =
      rows.length > MOST_CONNECTIONS
        ? rows.sort((one, other) => rank(other) - rank(one)).slice(0, MOST_CONNECTIONS)
        : rows;
    const present = new Set(kept.map(({ key }) => key));
    // Of a node that tells not all, it is not known which ones have ended.
    const whole = new Set(
      kept.length === rows.length
        ? sample.nodes.filter(({ left_out, failure }) => left_out === 0 && failure === null).map(({ node }) => node)
        : [],
    );
    for (const one of this.known.values()) if (!present.has(one.key) && whole.has(one.node)) one.ended = true;
    for (const { of, key, now } of kept) this.take(key, of.node, now, of.at_ns, zero, ms);
    for (const { node, at_ns } of sample.nodes) this.before.set(node, at_ns);
    this.forget(ms);
    this.set.setLeftOut(rows.length - kept.length + sample.nodes.reduce((sum, { left_out }) => sum + left_out, 0));
    this.set.setFailures(
      sample.nodes
        .flatMap(({ node, failure }) => (failure === null ? [] : [`${node}: ${failure}`]))
        .slice(0, MOST_FAILURES)
        .join("\n"),
    );
    this.set.setHeard(true);
    this.set.setAll(
      [...this.known.values()].sort((one, other) => Number(one.ended) - Number(other.ended) || rank(other) - rank(one)),
    );
  }

  private clear(): void {
    this.known.clear();
    this.before.clear();
  }

  private take(key: string, node: string, now: TcpConnection, at: number, zero: number, ms: number): void {
    const was = this.known.get(key);
    const before = this.before.get(node) ?? NaN;
    const one: Known = was ?? {
      key,
      node,
      now,
      sends: null,
      receives: null,
      ended: false,
      heard: ms,
      curves: new Ring(MOST_SAMPLES, CURVES.length),
    };
    const fresh = !(before >= at);
    if (fresh) {
      const of = (name: string): number | null => grown(now.figures[name], was?.now.figures[name], (at - before) / 1e9);
      const bits = (name: string): number | null => {
        const bytes = of(name);
        return bytes === null ? null : bytes * 8;
      };
      const { figures } = now;
      const values = [
        figures.cwnd_packets,
        figures.ssthresh_packets,
        us(figures.srtt_us),
        us(figures.min_rtt_us),
        figures.delivery_rate_bits_per_second,
        of("retransmissions"),
      ];
      // Between two looks nothing was seen.
      if (Number.isNaN(before) && one.curves.count > 0)
        one.curves.add(one.curves.last + 1e-6, (all, place) => all.fill(NaN, place, place + CURVES.length));
      one.curves.add((at - zero) / 1e9, (all, place) =>
        all.set(
          values.map((value) => value ?? NaN),
          place,
        ),
      );
      [one.sends, one.receives] = [bits("bytes_acked"), bits("bytes_received")];
    }
    Object.assign(one, { now, ended: false, heard: ms });
    this.known.set(key, one);
  }

  private forget(ms: number): void {
    const silent = [...this.known.values()]
      .filter(({ heard }) => heard < ms)
      .sort((one, other) => one.heard - other.heard);
    let many = this.known.size - MOST_CONNECTIONS;
    for (const { key, heard } of silent) {
      if (many <= 0 && heard > ms - ENDED_MS) break;
      this.known.delete(key);
      many -= 1;
    }
  }
}

/** The one that has carried most lately; of those that are alike, who sends. */
export function busiest(all: readonly Known[]): Known | null {
  const use = ({ sends, receives }: Known): number => (sends ?? 0) * 2 + (receives ?? 0);
  return all
    .filter(({ ended }) => !ended)
    .reduce<Known | null>((best, one) => (best === null || use(one) > use(best) ? one : best), null);
}

/** A curve of a connection. */
export const curveOf = (one: Known, curve: Curve): { t: number[]; y: (number | null)[] } =>
  one.curves.of(CURVES.indexOf(curve));
