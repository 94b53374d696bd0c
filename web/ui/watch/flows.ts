// Numbers of flows, by which packets on the map have their colour and shape: in the order in which they are seen.
import type { Setter } from "solid-js";
import type { SampledPacket } from "../control";
import { NO_FLOW } from "../map/dots";
import { createSignal, type Accessor } from "../view";

/** Flows that have a number; packets of further ones have none. */
const MOST = 4_096;
/** Flows that the map's legend names. */
const NAMED = 8;

export class FlowBook {
  private readonly numbers = new Map<string, number>();
  /** The first flows in words, for a legend. */
  readonly first: Accessor<readonly { flow: number; words: string }[]>;
  private readonly setFirst: Setter<readonly { flow: number; words: string }[]>;
  /** How many there are. */
  readonly size: Accessor<number>;
  private readonly setSize: Setter<number>;

  constructor() {
    const [first, setFirst] = createSignal<readonly { flow: number; words: string }[]>([]);
    const [size, setSize] = createSignal(0);
    [this.first, this.setFirst, this.size, this.setSize] = [first, setFirst, size, setSize];
  }

  of(flow: SampledPacket["flow"]): number {
    if (!flow) return NO_FLOW;
    const key = keyOf(flow.protocol, flow.source, flow.destination);
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    if (this.numbers.size >= MOST) return NO_FLOW;
    const number = this.numbers.size;
    this.numbers.set(key, number);
    if (number < NAMED) this.setFirst((all) => [...all, { flow: number, words: `${flow.protocol} ${flow.source} → ${flow.destination}` }]);
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
