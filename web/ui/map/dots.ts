// Packets on a map, of a lab that is up and of a run that is replayed: where on their link they are, colour and shape of their flow, and how they fall when they are dropped.
import { h } from "../../components/dom";
import type { MapCanvas } from "./canvas";
import type { Colours } from "./glyphs";
import type { Line } from "./model";
import type { Pen } from "./pen";

/** The number of packets that belong to no flow. */
export const NO_FLOW = 0xffffffff;
export const FONT = '600 10.5px system-ui, "Liberation Sans", Arial, sans-serif';
/** How long a dropped packet is seen to fall, in ms of the page. */
export const FALL_MS = 700;

const SHAPES = 3;
/** The colours of flows, by their places in the palette; the grey one is for packets without a flow. */
const COLOURS = [0, 1, 2, 3, 4, 6, 7];

/** Colour and shape of a flow: flows that follow one another differ in both, and 21 of them in one of the two. */
export const flowStyle = (flow: number): { colour: number; shape: number } =>
  flow === NO_FLOW ? { colour: 5, shape: 0 } : { colour: COLOURS[flow % COLOURS.length] ?? 0, shape: flow % SHAPES };

/** What a flow looks like, for lists. */
export function swatch(flow: number): HTMLElement {
  const { colour, shape } = flowStyle(flow);
  return h("span", { class: `flow shape${shape}`, style: `background:var(--s${colour})`, "aria-hidden": "true" });
}

/** Half of the width of a packet with much in it, in pixels. */
export const dotSize = (scale: number): number => Math.max(2, Math.min(5, scale / 26));
export const sizeOf = (size: number, bytes: number): number => size * (bytes > 600 ? 1 : 0.65);

export interface Way {
  lines: Line[];
  back: boolean;
}

/** The lines of a pipe, and which way it goes. */
export const wayOf = (map: MapCanvas, { link, direction }: { link: string; direction: string }): Way => ({
  lines: (map.graph.byLink.get(link) ?? [])
    .map((place) => map.graph.lines[place])
    .filter((line): line is Line => line !== undefined),
  back: direction === "backward",
});

/** How far along its pipe a packet is, from 0 to 1; null: it waits or is not on its way. What is not known is NaN. */
export function partOf(at: number, started: number, due: number, ended: number): number | null {
  if (!(at >= started)) return null;
  const end = Number.isNaN(due) ? ended : due;
  if (!(end > started)) return 1;
  return Math.min((at - started) / (end - started), 1);
}

/** What is drawn in a frame: packets one by one, since many shapes in one path take software ten times as long, which has to find where they cross. */
export class Dots {
  private readonly groups: number[][] = Array.from({ length: 8 * SHAPES }, () => []);
  private readonly fallen: { x: number; y: number; part: number; cause: string }[] = [];

  clear(): void {
    for (const group of this.groups) group.length = 0;
    this.fallen.length = 0;
  }

  add(flow: number, x: number, y: number, size: number): void {
    const { colour, shape } = flowStyle(flow);
    this.groups[colour * SHAPES + shape]?.push(x, y, size);
  }

  /** One that was dropped; `part` of its fall is behind it. */
  fall(x: number, y: number, part: number, cause: string): void {
    this.fallen.push({ x, y, part, cause });
  }

  paint(pen: CanvasRenderingContext2D, c: Colours): void {
    this.groups.forEach((group, key) => {
      if (group.length === 0) return;
      pen.fillStyle = c.series[Math.floor(key / SHAPES)] ?? c.ink;
      for (let at = 0; at < group.length; at += 3)
        shapeAt(pen, key % SHAPES, group[at] as number, group[at + 1] as number, group[at + 2] as number);
    });
  }

  /** Crosses that fade, and the cause once at each place. */
  paintFallen(pen: CanvasRenderingContext2D, c: Colours, size: number): void {
    if (this.fallen.length === 0) return;
    pen.font = FONT;
    pen.textAlign = "center";
    pen.strokeStyle = pen.fillStyle = c.bad;
    pen.lineWidth = 2;
    const told = new Set<string>();
    for (const { x, y, part, cause } of this.fallen) {
      pen.globalAlpha = Math.max(0.15, 1 - part * 0.9);
      pen.beginPath();
      pen.moveTo(x - size, y - size);
      pen.lineTo(x + size, y + size);
      pen.moveTo(x + size, y - size);
      pen.lineTo(x - size, y + size);
      pen.stroke();
      const where = `${Math.round(x / 70)} ${Math.round(y / 16)}`;
      if (part >= 0.6 || told.has(where)) continue;
      told.add(where);
      pen.fillText(cause, x, y + size + 12);
    }
    pen.globalAlpha = 1;
  }
}

/** How far below its link a packet has fallen, in pixels. */
export const depth = (part: number): number => part * part * 46;

/** Draws a packet in the shape of its flow; the colour is the pen's. */
export function shapeAt(pen: Pen, shape: number, x: number, y: number, size: number): void {
  if (shape === 0) {
    pen.fillRect(Math.round(x - size), Math.round(y - size), Math.round(size * 2), Math.round(size * 2));
    return;
  }
  pen.beginPath();
  if (shape === 1) pen.arc(x, y, size * 1.1, 0, 2 * Math.PI);
  else {
    pen.moveTo(x, y - size * 1.3);
    pen.lineTo(x + size * 1.2, y + size);
    pen.lineTo(x - size * 1.2, y + size);
    pen.closePath();
  }
  pen.fill();
}
