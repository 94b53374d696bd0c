// What of a map does not move: lines, signs, names, and what is said of links. It is painted when something of it changes, and frames copy it. Names and words lie above what moves.
//
// Each line is a stroke of its own: where software draws, many lines in one path take a hundred times as long as one by one, since it has to find where they cross.
import type { Camera } from "./camera";
import { type Colours, type Sprites, widthOfBadge } from "./glyphs";
import { control, type Line, type Look } from "./model";

export interface Marked {
  nodes: ReadonlySet<string>;
  links: ReadonlySet<string>;
  /** The place of the node that keys are at, or -1. */
  spot: number;
  /** The line, or -1. */
  line: number;
  /** Nodes that do not run, and what they do instead. */
  off: ReadonlyMap<string, string>;
}

export const PLAIN: Look = { grade: 0, dropping: false, down: false, label: "", queue: [0, 0] };
/** Below this scale, dots and queues would cover the map. */
export const ROOM_FOR_DOTS = 12;

/** A name, or the words of a link, with its place on the canvas. */
export interface Name {
  sprite: HTMLCanvasElement;
  x: number;
  y: number;
}

/** Paints all but names and words, and says which of them there is room for. */
export function paintStill(
  pen: CanvasRenderingContext2D,
  camera: Camera,
  looks: readonly Look[],
  marked: Marked,
  c: Colours,
  sprites: Sprites,
): Name[] {
  const { ratio } = camera;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = c.paper;
  // Up to the last pixel, of which a part may be in sight.
  pen.fillRect(0, 0, camera.width + 1, camera.height + 1);
  paintLines(pen, camera, looks, marked, c);
  paintQueues(pen, camera, looks, c);
  paintNodes(pen, camera, marked, c, sprites);
  return placeWords(pen, camera, looks, marked, sprites);
}

export function paintNames(pen: CanvasRenderingContext2D, names: readonly Name[], ratio: number): void {
  for (const { sprite, x, y } of names) put(pen, sprite, x, y, ratio);
}

function paintLines(
  pen: CanvasRenderingContext2D,
  camera: Camera,
  looks: readonly Look[],
  marked: Marked,
  c: Colours,
): void {
  const { graph } = camera;
  const thin = camera.scale < 20 ? 0.6 : 1;
  const styles = new Map<string, Line[]>();
  const chosen: Line[] = [];
  graph.lines.forEach((line, place) => {
    const look = looks[line.link] ?? PLAIN;
    const key = look.down ? "d" : `${look.grade}${look.dropping ? "x" : ""}`;
    const group = styles.get(key);
    if (group) group.push(line);
    else styles.set(key, [line]);
    if (marked.links.has(line.name) || marked.line === place) chosen.push(line);
  });
  pen.lineCap = "round";
  pen.strokeStyle = c.link;
  pen.globalAlpha = 0.28;
  pen.lineWidth = 12;
  trace(pen, camera, chosen);
  pen.globalAlpha = 1;
  // The busiest lie on top.
  for (const key of [...styles.keys()].sort()) {
    const down = key === "d";
    const grade = down ? 0 : Number(key[0]);
    pen.lineCap = down ? "round" : "butt";
    pen.strokeStyle = down ? c.bad : (c.use[grade] ?? c.soft);
    pen.lineWidth = (1.8 + grade * 0.8) * thin;
    pen.setLineDash(down ? [2, 6] : key.endsWith("x") ? [9, 5] : []);
    trace(pen, camera, styles.get(key) ?? []);
  }
  pen.setLineDash([]);
}

function trace(pen: CanvasRenderingContext2D, camera: Camera, lines: readonly Line[]): void {
  const { spots } = camera.graph;
  for (const line of lines) {
    const [a, b] = [spots[line.a], spots[line.b]];
    if (!a || !b) continue;
    const [[ax, ay], [bx, by]] = [camera.place(a), camera.place(b)];
    const margin = 20 + Math.abs(line.bend) * Math.hypot(bx - ax, by - ay) * 0.25;
    if (
      Math.max(ax, bx) < -margin ||
      Math.max(ay, by) < -margin ||
      Math.min(ax, bx) > camera.width + margin ||
      Math.min(ay, by) > camera.height + margin
    )
      continue;
    pen.beginPath();
    pen.moveTo(ax, ay);
    if (line.bend === 0) pen.lineTo(bx, by);
    else pen.quadraticCurveTo(...control(ax, ay, bx, by, line.bend), bx, by);
    pen.stroke();
  }
}

/** What waits, as a bar beside the place where it enters the link; logarithmic, full at 1,000 packets. Where there is little room, bars have no frame, and few packets no bar. */
function paintQueues(pen: CanvasRenderingContext2D, camera: Camera, looks: readonly Look[], c: Colours): void {
  if (camera.scale < ROOM_FOR_DOTS) return;
  const [wide, tall, least, aside] =
    camera.scale >= 90 ? [6, 22, 1, 10] : camera.scale >= 40 ? [4, 14, 2, 6] : [3, 9, 10, 4];
  for (const line of camera.graph.lines) {
    const look = looks[line.link];
    if (!look) continue;
    for (const way of [0, 1] as const) {
      const queue = look.queue[way];
      if (queue < least) continue;
      const [px, py] = camera.on(line, way === 0 ? 0.2 : 0.8, way === 0 ? aside : -aside);
      if (!camera.sees(px, py, tall)) continue;
      const [x, y] = [Math.round(px - wide / 2), Math.round(py - tall / 2)];
      const high = Math.max(Math.round(Math.min(Math.log10(1 + queue) / 3, 1) * tall), 1);
      if (camera.scale >= 90) {
        pen.fillStyle = c.soft;
        pen.fillRect(x - 1, y - 1, wide + 2, tall + 2);
        pen.fillStyle = c.ground;
        pen.fillRect(x, y, wide, tall - high);
      }
      pen.fillStyle = c.series[4] ?? c.caution;
      pen.fillRect(x, y + tall - high, wide, high);
    }
  }
}

function paintNodes(pen: CanvasRenderingContext2D, camera: Camera, marked: Marked, c: Colours, sprites: Sprites): void {
  const { graph, ratio } = camera;
  const size = camera.nodeSize;
  graph.spots.forEach((spot, place) => {
    const [x, y] = camera.place(spot);
    if (!camera.sees(x, y, 40)) return;
    const chosen = marked.nodes.has(spot.name);
    if (chosen || place === marked.spot) {
      pen.beginPath();
      pen.arc(x, y, size + 6, 0, 2 * Math.PI);
      pen.globalAlpha = chosen ? 0.3 : 0.12;
      pen.fillStyle = c.link;
      pen.fill();
      pen.globalAlpha = 1;
      pen.lineWidth = 2;
      pen.strokeStyle = c.link;
      pen.stroke();
    }
    const sprite = sprites.node(spot.kind, size, marked.off.has(spot.name));
    put(pen, sprite, x - sprite.width / ratio / 2, y - sprite.height / ratio / 2, ratio);
  });
}

/** Copies a picture to whole pixels of the screen: between them it would be blurred. */
function put(pen: CanvasRenderingContext2D, sprite: HTMLCanvasElement, x: number, y: number, ratio: number): void {
  pen.drawImage(
    sprite,
    Math.round(x * ratio) / ratio,
    Math.round(y * ratio) / ratio,
    sprite.width / ratio,
    sprite.height / ratio,
  );
}

/** Which pixels are taken by words: squares of a few pixels. */
class Taken {
  static readonly SQUARE = 6;
  private readonly columns: number;
  private readonly squares: Uint8Array;

  constructor(width: number, height: number) {
    this.columns = Math.ceil(width / Taken.SQUARE) + 1;
    this.squares = new Uint8Array(this.columns * (Math.ceil(height / Taken.SQUARE) + 1));
  }

  /** Takes a rectangle, unless a part of it is taken and `always` does not hold. */
  take(x: number, y: number, width: number, height: number, always: boolean): boolean {
    const [left, right] = [
      Math.max(Math.floor(x / Taken.SQUARE), 0),
      Math.min(Math.ceil((x + width) / Taken.SQUARE), this.columns),
    ];
    const [top, bottom] = [
      Math.max(Math.floor(y / Taken.SQUARE), 0),
      Math.min(Math.ceil((y + height) / Taken.SQUARE), Math.floor(this.squares.length / this.columns)),
    ];
    for (let row = top; row < bottom && !always; row += 1)
      for (let column = left; column < right; column += 1) if (this.squares[row * this.columns + column]) return false;
    for (let row = top; row < bottom; row += 1)
      this.squares.fill(1, row * this.columns + left, row * this.columns + Math.max(right, left));
    return true;
  }
}

/** The name of a node, and its state if it does not run. */
export const nameOf = (name: string, off: ReadonlyMap<string, string>): string => {
  const state = off.get(name);
  return state === undefined ? name : `${name}: ${state}`;
};

/** Where words of links and names of nodes go, where there is room: what is chosen first, then signs with many links, then the rest. */
function placeWords(
  pen: CanvasRenderingContext2D,
  camera: Camera,
  looks: readonly Look[],
  marked: Marked,
  sprites: Sprites,
): Name[] {
  const { graph, ratio } = camera;
  const names: Name[] = [];
  const size = camera.nodeSize;
  const taken = new Taken(camera.width, camera.height);
  for (const spot of graph.spots) {
    const [x, y] = camera.place(spot);
    // Its last square is left to its own name, which begins below it.
    if (camera.sees(x, y, size))
      taken.take(x - size * 0.7, y - size * 0.7, size * 1.4, Math.max(size * 1.4 - Taken.SQUARE, 1), true);
  }
  const first = (place: number): boolean => place === marked.spot || marked.nodes.has(graph.spots[place]?.name ?? "");
  const name = (place: number, always: boolean): void => {
    const spot = graph.spots[place];
    if (!spot || spot.name === "") return;
    const [x, y] = camera.place(spot);
    if (!camera.sees(x, y, 60)) return;
    const sprite = sprites.text(nameOf(spot.name, marked.off), marked.nodes.has(spot.name));
    const [width, height] = [sprite.width / ratio, sprite.height / ratio];
    if (taken.take(x - width / 2 + 3, y + size + 2, width - 6, height - 4, always))
      names.push({ sprite, x: x - width / 2, y: y + size + 1 });
  };
  const order = graph.spots.map((_, place) => place);
  order.filter(first).forEach((place) => {
    name(place, true);
  });
  const words = (chosen: boolean): void => {
    for (const [link, places] of graph.byLink) {
      if (marked.links.has(link) !== chosen) continue;
      const line = graph.lines[places[0] ?? -1];
      const look = line ? (looks[line.link] ?? PLAIN) : PLAIN;
      const text = look.down ? "✕ down" : look.label;
      if (!line || !text) continue;
      const [x, y] = camera.on(line, places.length > 1 ? 0.9 : 0.5);
      if (!camera.sees(x, y, 60)) continue;
      const half = widthOfBadge(pen, text) / 2;
      if (!taken.take(x - half, y - 8, half * 2, 16, chosen)) continue;
      const sprite = sprites.badge(text, half * 2, chosen, look.down);
      names.push({ sprite, x: x - sprite.width / ratio / 2, y: y - sprite.height / ratio / 2 });
    }
  };
  words(true);
  if (camera.scale > 20)
    order
      .filter((place) => !first(place))
      .sort((a, b) => (graph.spots[b]?.links.length ?? 0) - (graph.spots[a]?.links.length ?? 0))
      .forEach((place) => {
        name(place, false);
      });
  if (camera.scale > 45) words(false);
  return names;
}
