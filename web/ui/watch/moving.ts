// Packets on the map of a lab that is up: some of those that its pipes take, as the lab picks them. They wait at the entrance, move along the link, arrive, or fall off. Nothing moves
// for those who want it so, and no packets are asked for that would not be seen.
import type { Packets, SampledPacket } from "../control";
import type { Lab } from "../lab";
import type { MapCanvas } from "../map/canvas";
import { Dots, depth, FALL_MS, partOf, sizeOf, wayOf } from "../map/dots";
import type { Colours } from "../map/glyphs";
import { along, control, type Line } from "../map/model";
import { ROOM_FOR_DOTS } from "../map/still";
import { Pace } from "../pace";
import { type Accessor, createEffect, createMemo, createSignal, inSight, on, onCleanup } from "../view";
import type { FlowBook } from "./flows";

/** Packets of all links together that are drawn at a time. */
export const MOST = 1_500;
/** A packet that travels for less is drawn for so long, in ms of the page: a frame is shown every 16 ms, and people see what is there for longer. */
const LEAST_MS = 500;
/** How far the map is behind the lab, at least, in ms of the page: what the lab tells comes in steps, and is shown evenly. */
const BEHIND_MS = 400;
/** Packets of a pipe are drawn this far apart, in their own widths, so that they can be told apart: others are left out. */
const APART = 3;
/** And those that fall, in ms of the page. */
const FALLS_APART_MS = 300;
/** Lab time between two samples, and in labs with more pipes than that. */
const [EVERY_NS, MANY_PIPES, EVERY_OF_MANY_NS] = [100e6, 1_000, 250e6];
/** How far samples should be apart, in ms of the page. */
const WELL_MS = 100;
/** What waits longer, in ns of the lab, is not drawn any more. */
const LONGEST_NS = 60e9;
/** Packets that are drawn beside one another at an entrance; the bar of the queue says how many there are. */
const MOST_WAITING = 6;
/** Links of a small lab. Its dots move 26 times per second and not as often as the screen shows anything: that takes half of the processor time, and such a lab is watched for hours. */
const SMALL = 100;
/** With the wait for the next frame of the screen, some 26 frames per second. */
const SMALL_WAIT_MS = 36;
/** Numbers of a way: both ends, and what it bends to between them. */
const ROW = 6;

/** Half of the width of a packet, in pixels: smaller than in a replay, where there is nothing else to be seen. */
const liveSize = (scale: number): number => Math.max(1.5, Math.min(scale / 30, 4));

/** A packet in one pipe. Instants are lab time in ns; NaN: that never was, or is not known. */
interface Dot {
  pipe: number;
  packet: number;
  flow: number;
  bytes: number;
  entered: number;
  started: number;
  due: number;
  dropped: number;
  cause: string;
  seen: boolean;
  /** How long it is drawn on its way, in ns. */
  way: number;
}

export class Moving {
  private dots: Dot[] = [];
  private readonly drawn = new Dots();
  /** Lines of each pipe as they are on the canvas, as far as they are needed. */
  private readonly ways = new Map<number, Float32Array>();
  private version = -1;
  /** When the packet began its way that was drawn last, by its pipe, and when one was dropped. */
  private readonly begun = new Map<number, number>();
  private readonly fallen = new Map<number, number>();
  private readonly waiting = new Map<number, number>();
  /** The instant of the lab that is shown, up to which one it is known what happened, and how much of it passes in a ms of the page. */
  private head = NaN;
  private known = NaN;
  private rate = 1e6;
  private last = 0;
  /** Of the page: when the lab spoke last, and how often it does. */
  private heard = -Infinity;
  private gap = 100;
  private told = -Infinity;
  private readonly pace: Pace;
  /** Packets that were seen to fall. */
  fell = 0;

  constructor(
    private readonly lab: Lab,
    private readonly map: () => MapCanvas,
    private readonly book: FlowBook,
  ) {
    this.pace = new Pace(WELL_MS, EVERY_NS, () => lab.now()?.paused ?? false);
  }

  /** Asks for packets as long as `wanted` holds and there is somebody who sees them. */
  follow(wanted: Accessor<boolean>): void {
    const { control, topology } = this.lab;
    const query = window.matchMedia("(prefers-reduced-motion: reduce)");
    const [calm, setCalm] = createSignal(query.matches);
    const change = (): void => void setCalm(query.matches);
    query.addEventListener("change", change);
    onCleanup(() => query.removeEventListener("change", change));
    const drawn = createMemo(() => wanted() && !calm() && this.hasRoom());
    createEffect(() => {
      this.isDrawn = drawn();
      if (!this.isDrawn) this.clear();
    });
    // A lab of an older program has none.
    const asked = createMemo(
      () => (drawn() || this.book.watched().size > 0) && inSight() && (control.offers()?.includes("packets") ?? false),
    );
    const pipes = createMemo(() => topology()?.links.reduce((sum, link) => sum + link.pipes.length, 0) ?? 0);
    const least = (): number => (pipes() > MANY_PIPES ? EVERY_OF_MANY_NS : EVERY_NS);
    createEffect(
      on([asked, pipes], ([yes, count]) => {
        this.clear();
        this.pace.reset(least());
        this.isAsking = yes && count > 0;
        if (!this.isAsking) control.unsubscribe("packets");
      }),
    );
    createEffect(
      on([asked, pipes, this.pace.every], () => {
        if (this.isAsking)
          control.subscribe<Packets>("packets", { every_ns: this.pace.every() }, (sample) =>
            this.hear(sample, performance.now()),
          );
      }),
    );
    // Time that passes without a packet passes, too.
    createEffect(() => {
      const at = this.lab.now()?.at_ns;
      if (at !== undefined && !Number.isNaN(this.head)) this.reach(at, performance.now());
    });
  }

  private isAsking = false;
  private isDrawn = true;
  private readonly room = createSignal(true);
  private readonly hasRoom: Accessor<boolean> = this.room[0];

  private clear(): void {
    this.dots = [];
    this.head = this.known = NaN;
    this.begun.clear();
    this.fallen.clear();
    this.map().draw();
  }

  hear(sample: Packets, ms: number): void {
    // Time that goes back is that of another lab of the name.
    if (sample.at_ns < this.known - 1e9) this.clear();
    this.reach(sample.at_ns, ms);
    this.pace.heard(ms);
    this.book.note(sample.packets, ms);
    if (!this.isDrawn) return;
    for (const one of sample.packets) {
      // One that is lost on its way was told before.
      if (one.dropped && one.start_ns !== null && this.lose(one)) continue;
      if (this.dots.length >= MOST) continue;
      const dot = this.dot(one);
      if (this.isSeen(dot)) this.dots.push(dot);
    }
    if (this.dots.length > 0) this.map().draw();
  }

  /** Whether there is room for it behind the one before. */
  private isSeen(dot: Dot): boolean {
    const drop = !Number.isNaN(dot.dropped);
    const [before, at] = drop ? [this.fallen, dot.dropped] : [this.begun, dot.started];
    const ways = this.waysOf(dot.pipe);
    if (ways.length === 0) return false;
    const length =
      Math.hypot((ways[4] as number) - (ways[0] as number), (ways[5] as number) - (ways[1] as number)) || 1;
    const room = drop ? FALLS_APART_MS * this.rate : (dot.way * liveSize(this.map().scale) * 2 * APART) / length;
    // Not evenly: of flows that take turns, one would never be seen.
    if (at - (before.get(dot.pipe) ?? -Infinity) < room * (0.75 + Math.random() / 2)) return false;
    before.set(dot.pipe, at);
    return true;
  }

  private dot(one: SampledPacket): Dot {
    const [started, due] = [one.start_ns ?? NaN, one.due_ns ?? NaN];
    return {
      pipe: one.pipe,
      packet: one.packet,
      flow: this.book.of(one.flow),
      bytes: one.bytes / Math.max(one.segments, 1),
      entered: one.entered_ns,
      started,
      due,
      dropped: one.dropped?.at_ns ?? NaN,
      cause: one.dropped?.cause ?? "",
      seen: false,
      way: Math.max(due - started || 0, LEAST_MS * this.rate),
    };
  }

  private lose(one: SampledPacket): boolean {
    const known = this.dots.find((dot) => dot.packet === one.packet && dot.pipe === one.pipe);
    // It is as far then as it was, though it is drawn for longer.
    if (known && one.dropped)
      [known.dropped, known.cause] = [
        known.started + ((one.dropped.at_ns - known.started) * known.way) / (known.due - known.started || 1),
        one.dropped.cause,
      ];
    return known !== undefined;
  }

  /** Lab time has come so far. What is shown follows: at the pace of the lab in all clocks, and evenly through a step. */
  private reach(at: number, ms: number): void {
    this.pass(ms);
    if (ms - this.heard < 3_000) this.gap += (ms - this.heard - this.gap) * 0.2;
    this.heard = ms;
    if (Number.isNaN(this.head)) this.head = this.known = at;
    this.known = Math.max(this.known, at);
    const behind = Math.max(BEHIND_MS, this.gap * 1.5);
    if (this.known > this.head) this.rate = (this.known - this.head) / behind;
  }

  private pass(ms: number): void {
    this.head = Math.min(this.head + (ms - this.last) * this.rate, this.known);
    this.last = ms;
  }

  /** Draws what is on its way at an instant of the page. After how many ms it wants to go on, or null. */
  draw(pen: CanvasRenderingContext2D, c: Colours, ms: number): number | null {
    const map = this.map();
    if (map.scale < ROOM_FOR_DOTS === this.hasRoom()) this.room[1](map.scale >= ROOM_FOR_DOTS);
    if (this.dots.length === 0) return this.tell(ms);
    this.pass(ms);
    // Time that stands still shows what is inside at that instant, each at its place.
    const still = this.lab.now()?.paused === true && this.head >= this.known;
    this.place(still, liveSize(map.scale));
    this.drawn.paint(pen, c);
    this.drawn.paintFallen(pen, c, liveSize(map.scale));
    this.tell(ms);
    if (this.dots.length === 0 || still || !inSight()) return null;
    return map.graph.lines.length <= SMALL ? SMALL_WAIT_MS : 0;
  }

  /** Finds where each packet is, and forgets those that are nowhere any more. */
  private place(still: boolean, size: number): void {
    const { head, drawn, waiting } = this;
    const fall = FALL_MS * this.rate;
    drawn.clear();
    waiting.clear();
    let kept = 0;
    for (const dot of this.dots) {
      const due = still ? dot.due : dot.started + dot.way;
      const fallen = head >= dot.dropped ? (head - dot.dropped) / fall : null;
      const gone = fallen !== null ? fallen >= 1 : head >= due || head - dot.entered > LONGEST_NS + dot.way;
      if (gone) continue;
      this.dots[kept] = dot;
      kept += 1;
      if (head < dot.entered) continue;
      const ways = this.waysOf(dot.pipe);
      const part = partOf(fallen === null ? head : dot.dropped, dot.started, due, dot.dropped);
      let aside = 0;
      if (part === null && fallen === null) {
        const before = waiting.get(dot.pipe) ?? 0;
        waiting.set(dot.pipe, before + 1);
        if (before >= MOST_WAITING) continue;
        aside = before * (size * 2 + 1);
      }
      for (let at = 0; at < ways.length; at += ROW) {
        const [x, y] = pointOn(ways, at, part ?? 0, aside);
        if (fallen === null) drawn.add(dot.flow, x, y, sizeOf(size, dot.bytes));
        else drawn.fall(x, y + depth(fallen), fallen, dot.cause);
      }
      if (fallen !== null && !dot.seen) [dot.seen, this.fell] = [true, this.fell + 1];
    }
    this.dots.length = kept;
  }

  private waysOf(pipe: number): Float32Array {
    const map = this.map();
    if (this.version !== map.version) this.ways.clear();
    this.version = map.version;
    const known = this.ways.get(pipe);
    if (known) return known;
    const total = this.lab.flows()[pipe]?.total;
    if (!total) return new Float32Array(0);
    const { lines, back } = wayOf(map, total);
    const made = new Float32Array(lines.length * ROW);
    lines.forEach((line, place) => {
      made.set(stretch(map, line, back), place * ROW);
    });
    this.ways.set(pipe, made);
    return made;
  }

  /** Says in the page what is drawn, for those who look from outside; seldom, since an attribute costs more than a frame. */
  private tell(ms: number): null {
    if (ms - this.told < 250 && this.dots.length > 0) return null;
    this.told = ms;
    const { dataset } = this.map().element;
    const [dots, fell] = [String(this.dots.length), String(this.fell)];
    if (dataset.dots !== dots) dataset.dots = dots;
    if (dataset.fell !== fell) dataset.fell = fell;
    return null;
  }
}

/** The part of a line between the signs of its nodes, to the right of the way: both ends, and what it bends to. */
function stretch(map: MapCanvas, line: Line, back: boolean): number[] {
  const [a, b] = [map.graph.spots[line.a], map.graph.spots[line.b]];
  if (!a || !b) return [0, 0, 0, 0, 0, 0];
  const [[ax, ay], [bx, by]] = [map.place(a), map.place(b)];
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const [cx, cy] = line.bend === 0 ? [(ax + bx) / 2, (ay + by) / 2] : control(ax, ay, bx, by, line.bend);
  const gap = Math.min((map.nodeSize + 2) / length, 0.4);
  const [from, to] = back ? [1 - gap, gap] : [gap, 1 - gap];
  // Beside the line and not on it: its colour and words are to be seen.
  const side = (back ? -1 : 1) * (liveSize(map.scale) + Math.min(map.scale / 16, 5));
  const [dx, dy] = [(-(by - ay) / length) * side, ((bx - ax) / length) * side];
  const [fromX, fromY] = along(ax, ay, bx, by, line.bend, from);
  const [toX, toY] = along(ax, ay, bx, by, line.bend, to);
  // What the part between two points of such a curve bends to.
  const [one, two, three] = [(1 - from) * (1 - to), from * (1 - to) + to * (1 - from), from * to];
  return [
    fromX + dx,
    fromY + dy,
    one * ax + two * cx + three * bx + dx,
    one * ay + two * cy + three * by + dy,
    toX + dx,
    toY + dy,
  ];
}

/** A point of a way; `aside` pixels further from the line. */
function pointOn(ways: Float32Array, at: number, part: number, aside: number): [number, number] {
  const [ax, ay, cx, cy, bx, by] = [
    ways[at] as number,
    ways[at + 1] as number,
    ways[at + 2] as number,
    ways[at + 3] as number,
    ways[at + 4] as number,
    ways[at + 5] as number,
  ];
  const other = 1 - part;
  const [one, two, three] = [other * other, 2 * other * part, part * part];
  const [x, y] = [one * ax + two * cx + three * bx, one * ay + two * cy + three * by];
  if (aside === 0) return [x, y];
  const length = Math.hypot(bx - ax, by - ay) || 1;
  return [x - ((by - ay) / length) * aside, y + ((bx - ax) / length) * aside];
}
