// Dots that move on links while a lab is watched: what the counters say, not packets one by one. Nothing moves for those who want it so.
import type { MapCanvas } from "../map/canvas";
import { along, control, type Look } from "../map/model";
import { ROOM_FOR_DOTS } from "../map/still";

const still = window.matchMedia("(prefers-reduced-motion: reduce)");
/** Dots of all links together: of more, every link has fewer. */
export const MOST = 1_500;
/** How long a dot takes for a link, in ms of the page. */
const WAY_MS = 1_600;
/** Links of a small lab. Its dots move 30 times per second and not as often as the screen shows anything: that takes half of the processor time, and such a lab is watched for hours. */
const SMALL = 100;
/** With the wait for the next frame of the screen, a thirtieth of a second. */
const SMALL_WAIT_MS = 24;
/** Numbers of a dot's way: both ends and what it bends to, and when it begins. */
const ROW = 7;

/** How many dots a rate makes: one for any, seven for 10,000 packets per second and more. */
export const dotsOf = (packets: number): number => (packets > 0 ? Math.min(1 + Math.floor(Math.log10(1 + packets) * 1.6), 7) : 0);

export class Moving {
  private ways = new Float32Array(0);
  private count = 0;
  private stale = true;
  private version = -1;

  /** There is a new sample. */
  renew(): void {
    this.stale = true;
  }

  /** Draws where dots are at an instant of the page. After how many ms they want to go on, or null. */
  draw(map: MapCanvas, looks: readonly Look[], pen: CanvasRenderingContext2D, colour: string, ms: number): number | null {
    if (map.scale < ROOM_FOR_DOTS || still.matches) return null;
    if (this.stale || this.version !== map.version) this.lay(map, looks);
    const { ways } = this;
    const half = map.scale < 40 ? 1.5 : 2;
    pen.fillStyle = colour;
    const now = ms / WAY_MS;
    for (let at = 0; at < this.count * ROW; at += ROW) {
      const part = (now + (ways[at + 6] as number)) % 1;
      const other = 1 - part;
      const [one, two, three] = [other * other, 2 * other * part, part * part];
      const x = one * (ways[at] as number) + two * (ways[at + 2] as number) + three * (ways[at + 4] as number);
      const y = one * (ways[at + 1] as number) + two * (ways[at + 3] as number) + three * (ways[at + 5] as number);
      // At whole pixels: such rectangles need no edges, which software is slow with.
      pen.fillRect(Math.round(x - half), Math.round(y - half), half * 2, half * 2);
    }
    if (this.count === 0 || document.visibilityState !== "visible") return null;
    return map.graph.lines.length <= SMALL ? SMALL_WAIT_MS : 0;
  }

  /** Finds the ways of all dots, once for each sample and each place of the map. */
  private lay(map: MapCanvas, looks: readonly Look[]): void {
    this.stale = false;
    this.version = map.version;
    const { lines, spots } = map.graph;
    const wanted = lines.map((line): [number, number] => { const look = looks[line.link]; return !look || look.down ? [0, 0] : [dotsOf(look.flow[0]), dotsOf(look.flow[1])]; });
    const all = wanted.reduce((sum, [there, back]) => sum + there + back, 0);
    const share = Math.min(1, MOST / Math.max(all, 1));
    this.ways = new Float32Array(Math.ceil(Math.min(all, MOST + 1)) * ROW);
    this.count = 0;
    const aside = map.scale < 40 ? 1.8 : 3.5;
    // What a link has too little of for a dot, the next one gets: so they are spread over all of the map.
    let left = 0.5;
    lines.forEach((line, place) => {
      const [a, b] = [spots[line.a], spots[line.b]];
      if (!a || !b) return;
      const [[ax, ay], [bx, by]] = [map.place(a), map.place(b)];
      const length = Math.hypot(bx - ax, by - ay) || 1;
      const [cx, cy] = line.bend === 0 ? [(ax + bx) / 2, (ay + by) / 2] : control(ax, ay, bx, by, line.bend);
      // From sign to sign.
      const gap = Math.min((map.nodeSize + 2) / length, 0.4);
      for (const way of [0, 1] as const) {
        left += (wanted[place]?.[way] ?? 0) * share;
        const dots = Math.floor(left);
        left -= dots;
        if (dots === 0) continue;
        const [from, to] = way === 0 ? [gap, 1 - gap] : [1 - gap, gap];
        const side = (way === 0 ? 1 : -1) * aside;
        const [dx, dy] = [(-(by - ay) / length) * side, ((bx - ax) / length) * side];
        const [fromX, fromY] = along(ax, ay, bx, by, line.bend, from);
        const [toX, toY] = along(ax, ay, bx, by, line.bend, to);
        // What the part between two points of such a curve bends to.
        const [midX, midY] = [(1 - from) * (1 - to) * ax + (from * (1 - to) + to * (1 - from)) * cx + from * to * bx, (1 - from) * (1 - to) * ay + (from * (1 - to) + to * (1 - from)) * cy + from * to * by];
        for (let dot = 0; dot < dots && (this.count + 1) * ROW <= this.ways.length; dot += 1) {
          this.ways.set([fromX + dx, fromY + dy, midX + dx, midY + dy, toX + dx, toY + dy, (dot / dots + line.link * 0.37) % 1], this.count * ROW);
          this.count += 1;
        }
      }
    });
  }
}
