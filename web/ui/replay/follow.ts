// The way of one packet through all pipes of the journal.
import { api } from "../api";
import { NO_FLOW } from "../map/dots";
import { decode, type Packets } from "./packets";

export interface Hop {
  pipe: number;
  number: number;
  arrived: number;
  started: number;
  sent: number;
  due: number;
  ended: number;
  marked: number;
  fate: number;
}

/** Around the packet, how long it may have been on its way before and after, in ns. */
const AROUND = 30e9;

export const hopAt = (packets: Packets, k: number): Hop => ({
  pipe: packets.pipe[k] ?? 0,
  number: packets.number[k] ?? 0,
  arrived: packets.arrived[k] ?? NaN,
  started: packets.started[k] ?? NaN,
  sent: packets.sent[k] ?? NaN,
  due: packets.due[k] ?? NaN,
  ended: packets.ended[k] ?? NaN,
  marked: packets.marked[k] ?? NaN,
  fate: packets.fate[k] ?? 0,
});

/** Joins the pipes that a packet was in: it comes into the next one when the one before hands it over. Of candidates at the same distance, the first in the journal's order. */
export function chain(packets: Packets, number: number): Hop[] {
  const at = packets.number.indexOf(number);
  if (at < 0) return [];
  const same = (k: number): boolean =>
    packets.size[k] === packets.size[at] &&
    packets.flow[k] === packets.flow[at] &&
    ((packets.flags[k] ?? 0) & 1) === ((packets.flags[at] ?? 0) & 1) &&
    (((packets.flags[at] ?? 0) & 1) === 0 || packets.sequence[k] === packets.sequence[at]);
  const alike: number[] = [];
  for (let k = 0; k < packets.n; k += 1) if (same(k)) alike.push(k);
  const hops = [hopAt(packets, at)];
  const used = new Set(hops.map((hop) => hop.pipe));
  /** How far apart the two instants may be: engines hand over in batches. */
  const slack = 5e6;
  const find = (distance: (k: number) => number): number | null => {
    let [best, least] = [null as number | null, slack];
    for (const k of alike) {
      if (used.has(packets.pipe[k] ?? 0)) continue;
      const far = distance(k);
      if (far >= -1e3 && Math.abs(far) < least) [best, least] = [k, Math.abs(far)];
    }
    return best;
  };
  for (let last = hops[0]; last && last.fate === 0; ) {
    const end = last.ended;
    const k = find((one) => (packets.arrived[one] ?? NaN) - end);
    if (k === null) break;
    last = hopAt(packets, k);
    used.add(last.pipe);
    hops.push(last);
  }
  for (let first = hops[0]; first; ) {
    const begin = first.arrived;
    const k = find((one) => ((packets.fate[one] ?? 0) === 0 ? begin - (packets.ended[one] ?? NaN) : NaN));
    if (k === null) break;
    first = hopAt(packets, k);
    used.add(first.pipe);
    hops.unshift(first);
  }
  return hops;
}

/** Asks for the packets of its flow around it. */
export async function follow(id: string, packets: Packets, k: number): Promise<Hop[]> {
  const flow = packets.flow[k] ?? NO_FLOW;
  const number = packets.number[k] ?? 0;
  if (flow === NO_FLOW) return chain(packets, number);
  const at = packets.arrived[k] ?? 0;
  // Nearby first: a busy flow has more packets than one answer.
  for (const around of [2e9, 2e8, 2e7]) {
    const some = decode(
      await api.packets(
        id,
        `from_ns=${Math.floor(at - Math.min(around, AROUND))}&to_ns=${Math.ceil(at + Math.min(around, AROUND))}&flow=${flow}&limit=100000`,
      ),
    );
    if (some.found > some.n) continue;
    const found = chain(some, number);
    if (found.length > 0) return found;
  }
  return chain(packets, number);
}
