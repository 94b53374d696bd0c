// The journal of a results folder as `netloom ui` sends it, made of what `netloom journal` prints: for tests of the page alone.
import { netloom } from "./fixtures";

interface Row {
  link: string;
  direction: string;
  pipe: string | null;
  outcome: string;
  cause: string | null;
  arrived_ns: number;
  started_ns: number | null;
  sent_ns: number | null;
  due_ns: number | null;
  delivered_ns: number | null;
  dropped_ns: number | null;
  marked_ns: number | null;
  size_bytes: number;
  protocol: number | null;
  source: string | null;
  destination: string | null;
  source_port: number | null;
  destination_port: number | null;
  sequence: number | null;
}
const CAUSES: Record<string, number> = { loss: 2, queue: 3, early: 4, down: 5 };

export interface Kept {
  journal: Record<string, unknown>;
  packets: (url: URL) => Buffer;
}

export function journalOf(folder: string): Kept {
  return kept(
    netloom("journal", folder, "--format", "json")
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Row),
  );
}

interface Long {
  every: number;
  links: readonly string[];
  way: number;
}

/** The packet at this place of a long journal. */
function rowAt(place: number, { every, links, way }: Long): Row {
  const at = place * every;
  const drop = place % 97 === 0;
  return {
    link: links[place % links.length] ?? "",
    direction: "forward",
    pipe: null,
    outcome: drop ? "dropped" : "delivered",
    cause: drop ? "queue" : null,
    arrived_ns: at,
    started_ns: drop ? null : at + 2000,
    sent_ns: drop ? null : at + 3000,
    due_ns: drop ? null : at + 3000 + way,
    delivered_ns: drop ? null : at + 3000 + way,
    dropped_ns: drop ? at : null,
    marked_ns: null,
    size_bytes: 1500,
    protocol: 6,
    source: "10.0.0.1",
    destination: "10.0.0.2",
    source_port: 40_000,
    destination_port: 80 + (place % 3),
    sequence: place * 1448,
  };
}

const flowsOf = (count: number): object[] =>
  [0, 1, 2].map((flow) => ({
    flow,
    protocol: 6,
    source: "10.0.0.1",
    source_port: 40_000,
    destination: "10.0.0.2",
    destination_port: 80 + flow,
    packets: Math.floor(count / 3),
    bytes: count * 500,
  }));

/** A journal of so many packets over these links in turn, one every `every` ns; its rows are made when they are asked for. Each is on its way for `way` ns. */
export function long(count: number, every = 1000, links: readonly string[] = ["bottleneck"], way = 7000): Kept {
  const end = (count - 1) * every + 3000 + way;
  const blocks = Array.from({ length: Math.ceil(count / 4096) }, (_, block) => ({
    from_ns: block * 4096 * every,
    to_ns: Math.min(((block + 1) * 4096 - 1) * every + 3000 + way, end),
    packets: Math.min(4096, count - block * 4096),
    dropped: 42,
    marked: 0,
  }));
  const journal = {
    lab: "lab",
    state: "complete",
    packets: count,
    problem: null,
    from_ns: 0,
    to_ns: end,
    pipes: links.map((link) => ({ link, direction: "forward", pipe: null })),
    flows: flowsOf(count),
    flows_left_out: 0,
    blocks,
  };
  return {
    journal,
    packets: (url) => {
      const [from, to, limit] = [
        Number(url.searchParams.get("from_ns")),
        Number(url.searchParams.get("to_ns")),
        Number(url.searchParams.get("limit") ?? 20_000),
      ];
      const [first, last] = [
        Math.max(0, Math.ceil((from - 3000 - way) / every)),
        Math.min(count - 1, Math.floor(to / every)),
      ];
      const step = Math.max(1, Math.ceil((last - first + 1) / limit));
      const all = [];
      for (let place = first; place <= last; place += step) {
        const made = rowAt(place, { every, links, way });
        all.push({
          row: made,
          pipe: place % links.length,
          flow: place % 3,
          ended: made.delivered_ns ?? made.dropped_ns ?? NaN,
          place,
        });
      }
      return encode(all, last - first + 1);
    },
  };
}

/** A packet of a journal, with the numbers of its pipe and flow and the instant of its end. */
interface Numbered {
  row: Row;
  pipe: number;
  flow: number;
  ended: number;
}

/** Gives pipes and flows their numbers, in the order in which they come. */
function numbered(rows: Row[]): { all: Numbered[]; pipes: object[]; flows: object[] } {
  const pipes: { link: string; direction: string; pipe: string | null }[] = [];
  const flows: Record<string, unknown>[] = [];
  const [pipeNumbers, flowNumbers] = [new Map<string, number>(), new Map<string, number>()];
  const number = <T>(known: Map<string, number>, list: T[], key: string, make: () => T): number => {
    const at = known.get(key) ?? list.push(make()) - 1;
    known.set(key, at);
    return at;
  };
  const all = rows.map((row) => {
    const pipe = number(pipeNumbers, pipes, `${row.link} ${row.direction} ${row.pipe ?? ""}`, () => ({
      link: row.link,
      direction: row.direction,
      pipe: row.pipe,
    }));
    const flow =
      row.source === null
        ? 0xffffffff
        : number(
            flowNumbers,
            flows,
            [row.protocol, row.source, row.source_port, row.destination, row.destination_port].join(" "),
            () => ({
              flow: flows.length,
              protocol: row.protocol,
              source: row.source,
              source_port: row.source_port,
              destination: row.destination,
              destination_port: row.destination_port,
              packets: 0,
              bytes: 0,
            }),
          );
    const known = flows[flow];
    if (known) [known.packets, known.bytes] = [Number(known.packets) + 1, Number(known.bytes) + row.size_bytes];
    return { row, pipe, flow, ended: row.delivered_ns ?? row.dropped_ns ?? NaN };
  });
  return { all, pipes, flows };
}

/** What the index of a journal says of each 4,096 packets. */
function blocksOf(all: Numbered[], ends: number[]): { from_ns: number; to_ns: number; packets: number }[] {
  const blocks = [];
  for (let from = 0; from < all.length; from += 4096) {
    const some = all.slice(from, from + 4096);
    blocks.push({
      from_ns: some.reduce((least, { row }) => Math.min(least, row.arrived_ns), Infinity),
      to_ns: ends.slice(from, from + 4096).reduce((a, b) => Math.max(a, b), 0),
      packets: some.length,
      dropped: some.filter(({ row }) => row.outcome === "dropped").length,
      marked: 0,
    });
  }
  return blocks;
}

function kept(rows: Row[]): Kept {
  const { all, pipes, flows } = numbered(rows);
  const ends = all.map(({ row, ended }) => (Number.isNaN(ended) ? row.arrived_ns : ended));
  const blocks = blocksOf(all, ends);
  const journal = {
    lab: "lab",
    state: "complete",
    packets: rows.length,
    problem: null,
    from_ns: blocks.reduce((least, { from_ns }) => Math.min(least, from_ns), Infinity),
    to_ns: ends.reduce((a, b) => Math.max(a, b), 0),
    pipes,
    flows,
    flows_left_out: 0,
    blocks,
  };
  return {
    journal,
    packets: (url) => {
      const [from, to, limit] = [
        Number(url.searchParams.get("from_ns") ?? -Infinity),
        Number(url.searchParams.get("to_ns") ?? Infinity),
        Number(url.searchParams.get("limit") ?? 20_000),
      ];
      const flow = url.searchParams.get("flow");
      const found = all
        .map((one, place) => ({ ...one, place }))
        .filter(
          (one) => one.row.arrived_ns <= to && !(one.ended < from) && (flow === null || one.flow === Number(flow)),
        );
      const every = Math.max(1, Math.ceil(found.length / limit));
      return encode(
        found.filter((_, place) => place % every === 0),
        found.length,
      );
    },
  };
}

function encode(all: (Numbered & { place: number })[], found: number): Buffer {
  const n = all.length;
  const buffer = Buffer.alloc(32 + 70 * n);
  buffer.writeUInt32LE(0x314a4c4e, 0);
  buffer.writeUInt32LE(n, 4);
  buffer.writeDoubleLE(found, 8);
  all.forEach(({ row, pipe, flow, ended, place }, k) => {
    [row.arrived_ns, row.started_ns, row.sent_ns, row.due_ns, ended, row.marked_ns].forEach((value, column) => {
      buffer.writeDoubleLE(value ?? NaN, 32 + column * 8 * n + k * 8);
    });
    [place, pipe, flow, row.size_bytes, row.sequence ?? 0].forEach((value, column) => {
      buffer.writeUInt32LE(value >>> 0, 32 + 48 * n + column * 4 * n + k * 4);
    });
    buffer.writeUInt8(
      row.outcome === "delivered" ? 0 : row.outcome === "inside" ? 1 : (CAUSES[row.cause ?? "queue"] ?? 3),
      32 + 68 * n + k,
    );
    buffer.writeUInt8(row.sequence === null ? 0 : 1, 32 + 69 * n + k);
  });
  return buffer;
}
