// Flows of a lab that is up, as far as the packets tell that the lab picks: their numbers, by which packets on the map have their colour and shape, and which of them cross a link.
import type { Setter } from "solid-js";
import type { SampledPacket } from "../control";
import { NO_FLOW } from "../map/dots";
import { type Accessor, createSignal, onCleanup } from "../view";

/** Flows that have a number; packets of further ones have none. */
const MOST = 4_096;
/** Flows that the map's legend names. */
const NAMED = 8;
/** How long a flow is said to cross a link after a packet of it, in ms of the page. */
const LATELY_MS = 10_000;
/** Flows of a link that are listed; of more, those that were seen last. */
const LISTED = 40;

/** A flow: its number and its ends. */
export interface Numbered {
  flow: number;
  protocol: string;
  source: string;
  destination: string;
}
/** A flow on a pipe. */
export interface Crossing extends Numbered {
  key: string;
  pipe: number;
}

export class FlowBook {
  private readonly numbers = new Map<string, number>();
  /** The first flows, for a legend. */
  readonly first: Accessor<readonly Numbered[]>;
  private readonly setFirst: Setter<readonly Numbered[]>;
  /** How many there are. */
  readonly size: Accessor<number>;
  private readonly setSize: Setter<number>;

  /** Flows whose packets came lately through the pipes that are watched. */
  readonly lately: Accessor<readonly Crossing[]>;
  private readonly setLately: Setter<readonly Crossing[]>;
  readonly watched: Accessor<ReadonlySet<number>>;
  private readonly setWatched: Setter<ReadonlySet<number>>;
  private readonly crossings = new Map<string, Crossing & { at: number }>();

  constructor() {
    const [first, setFirst] = createSignal<readonly Numbered[]>([]);
    const [size, setSize] = createSignal(0);
    const [lately, setLately] = createSignal<readonly Crossing[]>([]);
    const [watched, setWatched] = createSignal<ReadonlySet<number>>(new Set());
    [this.first, this.setFirst, this.size, this.setSize] = [first, setFirst, size, setSize];
    [this.lately, this.setLately, this.watched, this.setWatched] = [lately, setLately, watched, setWatched];
  }

  /** Notes which flows come through these pipes, for as long as the view that calls this is there. */
  watch(pipes: readonly number[]): void {
    this.forget();
    this.setWatched(new Set(pipes));
    onCleanup(() => {
      this.forget();
      this.setWatched(new Set<number>());
    });
  }

  private forget(): void {
    this.crossings.clear();
    this.setLately([]);
  }

  /** Packets that the lab has picked, at an instant of the page. */
  note(packets: readonly SampledPacket[], ms: number): void {
    const watched = this.watched();
    if (watched.size === 0) return;
    for (const { pipe, flow } of packets) {
      if (!flow || !watched.has(pipe)) continue;
      const number = this.of(flow);
      const key = `${pipe} ${keyOf(flow.protocol, flow.source, flow.destination)}`;
      const known = this.crossings.get(key);
      if (known) known.at = ms;
      else
        this.crossings.set(key, {
          key,
          pipe,
          flow: number,
          protocol: flow.protocol,
          source: flow.source,
          destination: flow.destination,
          at: ms,
        });
    }
    const latest = [...this.crossings.values()]
      .filter(({ at }) => at > ms - LATELY_MS)
      .sort((one, other) => other.at - one.at)
      .slice(0, LISTED);
    this.crossings.clear();
    for (const one of latest) this.crossings.set(one.key, one);
    const now = latest.sort((one, other) => one.pipe - other.pipe || one.flow - other.flow);
    const before = this.lately();
    if (now.length !== before.length || now.some((one, place) => one !== before[place])) this.setLately(now);
  }

  of(flow: SampledPacket["flow"]): number {
    if (!flow) return NO_FLOW;
    const key = keyOf(flow.protocol, flow.source, flow.destination);
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    if (this.numbers.size >= MOST) return NO_FLOW;
    const number = this.numbers.size;
    this.numbers.set(key, number);
    if (number < NAMED)
      this.setFirst((all) => [
        ...all,
        { flow: number, protocol: flow.protocol, source: flow.source, destination: flow.destination },
      ]);
    this.setSize(number + 1);
    return number;
  }

  /** The number of a flow, if a packet of it was seen. */
  known(protocol: string, source: string, destination: string): number | null {
    this.size();
    return this.numbers.get(keyOf(protocol, source, destination)) ?? null;
  }
}

const keyOf = (protocol: string, source: string, destination: string): string => `${protocol} ${source} ${destination}`;
