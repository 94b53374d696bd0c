// Packets of a journal as the server sends them: columns that are read where they are. And the stretch of them that is at hand.
import { api, type Journal } from "../api";

export const FATES = [
  "delivered",
  "inside",
  "dropped: loss",
  "dropped: queue full",
  "dropped: early",
  "dropped: link down",
] as const;
const MAGIC = 0x314a4c4e;
const HEAD = 32;
const ROW = 70;

export interface Packets {
  n: number;
  found: number;
  unfinished: boolean;
  arrived: Float64Array;
  started: Float64Array;
  sent: Float64Array;
  due: Float64Array;
  ended: Float64Array;
  marked: Float64Array;
  number: Uint32Array;
  pipe: Uint32Array;
  flow: Uint32Array;
  size: Uint32Array;
  sequence: Uint32Array;
  fate: Uint8Array;
  flags: Uint8Array;
}

/** Reads an answer; what is shorter than it says is refused. */
export function decode(buffer: ArrayBuffer): Packets {
  const view = new DataView(buffer);
  if (buffer.byteLength < HEAD || view.getUint32(0, true) !== MAGIC)
    throw new Error("the server did not send packets of a journal");
  const n = view.getUint32(4, true);
  if (buffer.byteLength < HEAD + n * ROW) throw new Error(`the server announced ${n} packets and sent fewer`);
  const doubles = (column: number): Float64Array => new Float64Array(buffer, HEAD + column * 8 * n, n);
  const words = (column: number): Uint32Array => new Uint32Array(buffer, HEAD + 48 * n + column * 4 * n, n);
  const bytes = (column: number): Uint8Array => new Uint8Array(buffer, HEAD + 68 * n + column * n, n);
  return {
    n,
    found: view.getFloat64(8, true),
    unfinished: view.getUint32(16, true) === 1,
    arrived: doubles(0),
    started: doubles(1),
    sent: doubles(2),
    due: doubles(3),
    ended: doubles(4),
    marked: doubles(5),
    number: words(0),
    pipe: words(1),
    flow: words(2),
    size: words(3),
    sequence: words(4),
    fate: bytes(0),
    flags: bytes(1),
  };
}

export const isDrop = (fate: number): boolean => fate >= 2;

/** Packets that are asked for at a time. */
export const AT_HAND = 12_000;

/** The span around an instant that has about as many packets as are asked for. */
export function spanFor(journal: Journal, at: number): number {
  const whole = Math.max(journal.to_ns - journal.from_ns, 1);
  const near = journal.blocks.filter((block) => block.from_ns <= at && block.to_ns >= at);
  const blocks = near.length > 0 ? near : journal.blocks;
  const count = blocks.reduce((sum, block) => sum + block.packets, 0);
  const length = Math.max(
    blocks.reduce((most, block) => Math.max(most, block.to_ns), -Infinity) -
      blocks.reduce((least, block) => Math.min(least, block.from_ns), Infinity),
    1,
  );
  const density = count > 0 ? count / length : 0;
  return density === 0 ? whole : Math.min(whole, Math.max((AT_HAND * 0.5) / density, 1_000));
}

export interface Stretch {
  from: number;
  to: number;
  packets: Packets;
  instants: Float64Array;
}

/** Instants at which a packet arrives or ends, in order, each once. */
export function instantsOf(packets: Packets, from: number, to: number): Float64Array {
  const all = new Float64Array(packets.n * 2);
  let count = 0;
  for (let k = 0; k < packets.n; k += 1) {
    for (const at of [packets.arrived[k] ?? NaN, packets.ended[k] ?? NaN])
      if (at >= from && at <= to) all[count++] = at;
  }
  const sorted = all.subarray(0, count).sort();
  let kept = 0;
  for (let k = 0; k < count; k += 1) if (k === 0 || sorted[k] !== sorted[kept - 1]) sorted[kept++] = sorted[k] ?? 0;
  return sorted.slice(0, kept);
}

/** The first instant after `at` (or the last before it). */
export function next(instants: Float64Array, at: number, back: boolean): number | null {
  let [low, high] = [0, instants.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const is = instants[middle] ?? 0;
    if (back ? is < at : is <= at) low = middle + 1;
    else high = middle;
  }
  return instants[back ? low - 1 : low] ?? null;
}

/** Brings packets around the instant that is looked at, ahead of it where it can; the latest wish wins. */
export class Reader {
  stretch: Stretch | null = null;
  private asking: { from: number; to: number; abort: AbortController } | null = null;
  /** How long the last stretch took, in ms. */
  took = 0;

  constructor(
    private readonly id: string,
    private readonly journal: () => Journal,
    private readonly came: () => void,
    private readonly failed: (message: string) => void,
  ) {}

  /** Makes sure that an instant is there, and what comes after it at this speed. */
  want(at: number, ahead: number, trail: number): void {
    const has = (span: { from: number; to: number } | null, need: number): boolean =>
      span !== null && at - trail >= span.from - 1e-3 && at + need <= span.to + 1e-3;
    const { from_ns, to_ns } = this.journal();
    const end = Math.max(to_ns - at, 0);
    const soon = Math.min(ahead, end);
    if (has(this.stretch, soon) || (this.asking && has(this.asking, 0))) return;
    const span = Math.max(spanFor(this.journal(), at), ahead * 1.5, trail);
    void this.ask(Math.max(at - Math.max(trail, span * 0.25), from_ns - 1), Math.min(at + span, to_ns + 1));
  }

  private async ask(from: number, to: number): Promise<void> {
    this.asking?.abort.abort();
    const abort = new AbortController();
    this.asking = { from, to, abort };
    const began = performance.now();
    try {
      const buffer = await api.packets(
        this.id,
        `from_ns=${Math.floor(from)}&to_ns=${Math.ceil(to)}&limit=${AT_HAND * 2}&thin=true`,
        abort.signal,
      );
      const packets = decode(buffer);
      this.stretch = { from, to, packets, instants: instantsOf(packets, from, to) };
      this.took = performance.now() - began;
      this.asking = null;
      this.came();
    } catch (error) {
      if (abort.signal.aborted) return;
      this.asking = null;
      this.failed(error instanceof Error ? error.message : String(error));
    }
  }

  /** Forgets what is at hand: there is more. */
  renew(): void {
    this.stretch = null;
  }

  close(): void {
    this.asking?.abort.abort();
  }
}
