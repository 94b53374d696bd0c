// Where each packet is at an instant, drawn on the map: it waits at the entrance, moves along the link, arrives, or falls off.
import type { MapCanvas } from "../map/canvas";
import { Dots, depth, dotSize, FONT, NO_FLOW, partOf, sizeOf, type Way } from "../map/dots";
import type { Colours } from "../map/glyphs";
import type { Line } from "../map/model";
import { FATES, isDrop, type Packets } from "./packets";

export interface Shown {
  k: number;
  x: number;
  y: number;
}
export interface Scene {
  at: number;
  trail: number;
  packets: Packets;
  chosen: number | null;
  followed: Set<number>;
}

/** Packets that are drawn at a time; of more, as many as can be told apart. */
const MOST = 4_000;

/** How far along its pipe a packet is, from 0 to 1; null: it waits or is not on its way. */
export function progress(packets: Packets, k: number, at: number): number | null {
  return partOf(at, packets.started[k] ?? NaN, packets.due[k] ?? NaN, packets.ended[k] ?? NaN);
}

/** Where a packet is at an instant: on a line, or fallen beside it. */
export interface Place {
  line: Line;
  part: number;
  back: boolean;
  fallen: number;
}

export function placesOf(
  scene: Scene,
  ways: Way[],
  each: (k: number, place: Place) => void,
  waits: (pipe: number) => void,
): void {
  const { packets, at, trail } = scene;
  let drawn = 0;
  for (let k = 0; k < packets.n && drawn < MOST; k += 1) {
    const arrived = packets.arrived[k] ?? NaN;
    if (!(arrived <= at)) continue;
    const ended = packets.ended[k] ?? NaN;
    const drop = isDrop(packets.fate[k] ?? 0);
    const gone = ended <= at;
    if (gone && (!drop || at - ended > trail)) continue;
    const pipe = packets.pipe[k] ?? 0;
    const way = ways[pipe];
    if (!way) continue;
    const part = progress(packets, k, gone ? ended : at);
    if (!gone && part === null) {
      waits(pipe);
      continue;
    }
    for (const line of way.lines) {
      drawn += 1;
      each(k, { line, part: part ?? 0.06, back: way.back, fallen: gone ? (at - ended) / Math.max(trail, 1) : 0 });
    }
  }
}

export function pointOf(map: MapCanvas, place: Place): [number, number] {
  // Ends of the line are below the signs of the nodes.
  const part = 0.06 + place.part * 0.88;
  const [x, y] = map.on(place.line, place.back ? 1 - part : part, place.back ? -5 : 5);
  return [x, y + depth(place.fallen)];
}

const dots = new Dots();

/** Draws a moment; what is drawn, for pressing on it. */
export function drawScene(
  map: MapCanvas,
  scene: Scene,
  ways: Way[],
  pen: CanvasRenderingContext2D,
  c: Colours,
): Shown[] {
  const shown: Shown[] = [];
  const waiting = new Map<number, number>();
  const { packets } = scene;
  const size = dotSize(map.scale);
  dots.clear();
  placesOf(
    scene,
    ways,
    (k, place) => {
      const [x, y] = pointOf(map, place);
      shown.push({ k, x, y });
      if (place.fallen > 0) dots.fall(x, y, place.fallen, (FATES[packets.fate[k] ?? 0] ?? "").replace("dropped: ", ""));
      else dots.add(packets.flow[k] ?? NO_FLOW, x, y, sizeOf(size, packets.size[k] ?? 0));
    },
    (pipe) => waiting.set(pipe, (waiting.get(pipe) ?? 0) + 1),
  );
  dots.paint(pen, c);
  drawQueues(map, waiting, ways, pen, c);
  dots.paintFallen(pen, c, size);
  drawFollowed(scene, shown, pen, c, size);
  return shown;
}

function drawFollowed(scene: Scene, shown: Shown[], pen: CanvasRenderingContext2D, c: Colours, size: number): void {
  if (scene.chosen === null && scene.followed.size === 0) return;
  pen.strokeStyle = c.link;
  pen.lineWidth = 2.2;
  for (const { k, x, y } of shown) {
    const number = scene.packets.number[k] ?? -1;
    if (number !== scene.chosen && !scene.followed.has(number)) continue;
    pen.beginPath();
    pen.arc(x, y, size + 5, 0, 2 * Math.PI);
    pen.stroke();
  }
}

/** Queues as stacks at the entrances of links: a slice is a packet, up to 40; then the number alone tells. */
function drawQueues(
  map: MapCanvas,
  waiting: Map<number, number>,
  ways: Way[],
  pen: CanvasRenderingContext2D,
  c: Colours,
): void {
  pen.font = FONT;
  pen.textAlign = "center";
  for (const [pipe, count] of waiting) {
    const way = ways[pipe];
    const line = way?.lines[0];
    if (!way || !line) continue;
    const [x, y] = map.on(line, way.back ? 0.84 : 0.16, way.back ? -16 : 16);
    const slices = Math.min(count, 40);
    const high = Math.max(1, Math.min(3, 60 / slices));
    pen.fillStyle = c.series[4] ?? c.caution;
    for (let slice = 0; slice < slices; slice += 1)
      pen.fillRect(x - 6, y - slice * high, 12, Math.max(high - 0.8, 0.7));
    pen.fillStyle = c.ink;
    pen.fillText(String(count), x, y + 13);
  }
}

/** The packet that is nearest to a point, if one is near. */
export function nearest(shown: readonly Shown[], x: number, y: number): number | null {
  let [best, least] = [null as number | null, 144];
  for (const one of shown) {
    const square = (one.x - x) ** 2 + (one.y - y) ** 2;
    if (square < least) [best, least] = [one.k, square];
  }
  return best;
}
