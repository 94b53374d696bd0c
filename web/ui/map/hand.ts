// The pointer on a map: what is pressed, carried, looked at, drawn around; fingers that enlarge.
import { announce } from "../../components/download";
import { counted } from "../../components/format";
import type { Camera } from "./camera";
import { type Spot, within } from "./model";

export interface Chosen {
  nodes: Set<string>;
  links: Set<string>;
}

/** A node or link of the map. */
export interface Place {
  node?: string;
  link?: string;
}

export interface HandOptions {
  /** What is said of a node or link under the pointer. */
  words: (what: Place) => string;
  /** A node was moved to another place. */
  move?: (moved: Map<string, [number, number]>) => void;
  /** A press in the middle of nothing, or of what is drawn over the map; true: it was meant. */
  hit?: (x: number, y: number) => boolean;
}

/** What a hand needs of the map that it is on. */
interface Surface {
  canvas: HTMLCanvasElement;
  /** What says what is under the pointer. */
  tip: HTMLElement;
  camera: Camera;
  chosen: Chosen;
  options: HandOptions;
  /** How much larger than usual signs and words are. */
  enlarged: () => number;
  find: (x: number, y: number) => Place;
  zoom: (factor: number, x: number, y: number) => void;
  choose: (nodes: Iterable<string>, links: Iterable<string>, open?: boolean) => void;
  draw: () => void;
  /** The map itself was moved, or something on it. */
  moved: (isMap: boolean) => void;
}

/** What the pointer went down on, until it goes up. */
interface Held {
  x: number;
  y: number;
  found: Place;
  /** Whether it is chosen beside others. */
  more: boolean;
  /** Whether the pointer has moved so far that nothing is pressed, but something carried. */
  far: boolean;
  /** Where the map was. */
  mapX: number;
  mapY: number;
  /** Nodes that are carried, and where they were. */
  nodes: Map<string, [number, number]>;
}

export class Hand {
  lassoing = false;
  private lasso: [number, number][] = [];
  private held: Held | null = null;
  /** Where each finger is. */
  private readonly fingers = new Map<number, [number, number]>();

  constructor(private readonly map: Surface) {
    this.listen();
  }

  beginLasso(): void {
    this.lassoing = true;
    this.map.canvas.style.cursor = "crosshair";
    announce("lasso: draw around nodes; Escape ends it");
  }

  forgetLasso(): void {
    this.lassoing = false;
    this.lasso = [];
  }

  /** Draws the lasso. */
  paint(pen: CanvasRenderingContext2D, colour: string): void {
    if (this.lasso.length < 2) return;
    pen.beginPath();
    this.lasso.forEach(([x, y], place) => {
      place ? pen.lineTo(x, y) : pen.moveTo(x, y);
    });
    pen.closePath();
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.setLineDash([5, 4]);
    pen.stroke();
    pen.setLineDash([]);
  }

  private listen(): void {
    const { canvas, tip } = this.map;
    canvas.addEventListener("pointerdown", (event) => this.pointerDown(event));
    canvas.addEventListener("pointermove", (event) => this.pointerMove(event));
    canvas.addEventListener("pointerup", (event) => this.pointerUp(event));
    canvas.addEventListener("pointercancel", (event) => {
      this.fingers.delete(event.pointerId);
      this.held = null;
    });
    canvas.addEventListener("pointerleave", () => {
      tip.hidden = true;
    });
    canvas.addEventListener("dblclick", (event) => {
      const found = this.map.find(...this.pointOf(event));
      if (found.node !== undefined) this.map.choose([found.node], [], true);
      else if (found.link !== undefined) this.map.choose([], [found.link], true);
    });
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      this.map.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0016)), ...this.pointOf(event));
    };
    canvas.addEventListener("wheel", wheel, { passive: false });
  }

  /** Where on the canvas an event was. */
  private pointOf(event: MouseEvent): [number, number] {
    const box = this.map.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / this.map.enlarged(), (event.clientY - box.top) / this.map.enlarged()];
  }

  private pointerDown(event: PointerEvent): void {
    this.map.canvas.setPointerCapture(event.pointerId);
    const [x, y] = this.pointOf(event);
    this.fingers.set(event.pointerId, [x, y]);
    if (this.lassoing) {
      this.lasso = [[x, y]];
      return;
    }
    if (this.fingers.size > 1 || event.button > 1) return;
    const found = this.map.find(x, y);
    this.held = {
      x,
      y,
      found,
      more: event.shiftKey || event.ctrlKey || event.metaKey,
      far: false,
      mapX: this.map.camera.x,
      mapY: this.map.camera.y,
      nodes: this.carried(found.node),
    };
  }

  /** The nodes that move with the one that is held, and where they are: all that are chosen, if it is one of them. */
  private carried(node: string | undefined): Map<string, [number, number]> {
    const nodes = new Map<string, [number, number]>();
    if (node === undefined || !this.map.options.move) return nodes;
    for (const name of this.map.chosen.nodes.has(node) ? this.map.chosen.nodes : [node]) {
      const spot = this.spotOf(name);
      if (spot) nodes.set(name, [spot.x, spot.y]);
    }
    return nodes;
  }

  private pointerMove(event: PointerEvent): void {
    const [x, y] = this.pointOf(event);
    const was = this.fingers.get(event.pointerId);
    if (was && this.fingers.size === 2) this.pinch(event.pointerId, was, [x, y]);
    if (was) this.fingers.set(event.pointerId, [x, y]);
    if (this.lassoing && this.lasso.length > 0) {
      this.lasso.push([x, y]);
      this.map.draw();
    } else if (this.held) this.drag(this.held, x, y);
    else if (event.pointerType === "mouse") this.hover(x, y);
  }

  /** Enlarges with two fingers, about the middle of them. */
  private pinch(finger: number, was: [number, number], now: [number, number]): void {
    const other = [...this.fingers].find(([id]) => id !== finger)?.[1] ?? was;
    const apart = (at: [number, number]): number => Math.hypot(at[0] - other[0], at[1] - other[1]);
    this.map.zoom(apart(now) / (apart(was) || 1), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    this.held = null;
  }

  /** Moves the nodes that are held, or the map. */
  private drag(held: Held, x: number, y: number): void {
    if (Math.hypot(x - held.x, y - held.y) > 4) held.far = true;
    if (!held.far) return;
    const { camera } = this.map;
    const carries = held.nodes.size > 0;
    if (carries) this.carry(held.nodes, (x - held.x) / camera.scale, (y - held.y) / camera.scale);
    else [camera.x, camera.y] = [held.mapX + x - held.x, held.mapY + y - held.y];
    this.map.moved(!carries);
  }

  private pointerUp(event: PointerEvent): void {
    const { held } = this;
    this.fingers.delete(event.pointerId);
    if (this.lassoing && this.lasso.length > 0) this.endLasso();
    else if (held?.far && held.nodes.size > 0) this.map.options.move?.(this.placesOf(held.nodes.keys()));
    else if (held && !held.far) this.pressed(held);
    this.held = null;
  }

  private placesOf(names: Iterable<string>): Map<string, [number, number]> {
    const places = new Map<string, [number, number]>();
    for (const name of names) {
      const spot = this.spotOf(name);
      places.set(name, [spot?.x ?? 0, spot?.y ?? 0]);
    }
    return places;
  }

  private carry(nodes: Map<string, [number, number]>, dx: number, dy: number): void {
    for (const [name, [x, y]] of nodes) {
      const spot = this.spotOf(name);
      if (spot) [spot.x, spot.y] = [x + dx, y + dy];
    }
  }

  private spotOf(name: string): Spot | undefined {
    const { graph } = this.map.camera;
    return graph.spots[graph.byNode.get(name) ?? -1];
  }

  private pressed(from: Held): void {
    if (this.map.options.hit?.(from.x, from.y)) return;
    const { node, link } = from.found;
    const nodes = new Set(from.more ? this.map.chosen.nodes : []);
    const links = new Set(from.more ? this.map.chosen.links : []);
    if (node !== undefined && !nodes.delete(node)) nodes.add(node);
    if (link !== undefined && !links.delete(link)) links.add(link);
    this.map.choose(nodes, links);
  }

  private endLasso(): void {
    const inside = this.map.camera.graph.spots
      .filter((spot) => spot.name !== "" && within(this.map.camera.place(spot), this.lasso))
      .map(({ name }) => name);
    this.lasso = [];
    this.lassoing = false;
    this.map.canvas.style.cursor = "";
    announce(`chosen: ${counted(inside.length, "node")}`);
    this.map.choose(inside, []);
  }

  private hover(x: number, y: number): void {
    const found = this.map.find(x, y);
    const is = found.node !== undefined || found.link !== undefined;
    this.map.canvas.style.cursor = this.lassoing ? "crosshair" : is ? "pointer" : "grab";
    this.map.tip.hidden = !is;
    if (!is) return;
    this.map.tip.textContent = this.map.options.words(found);
    const place = (at: number, room: number, least: number): number =>
      Math.min(at * this.map.enlarged() + 14, room * this.map.enlarged() - least);
    this.map.tip.style.transform = `translate(${place(x, this.map.camera.width, 230)}px, ${place(y, this.map.camera.height, 60)}px)`;
  }
}
