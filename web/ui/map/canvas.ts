// The map on a canvas: places, lines and what moves on them; moved, enlarged and chosen from by pointer and keys.
import { h } from "../../components/dom";
import { announce } from "../../components/download";
import { onTheme } from "../../components/theme";
import { Camera } from "./camera";
import { type Colours, colours, Sprites } from "./glyphs";
import { type Chosen, Hand, type HandOptions } from "./hand";
import { type Graph, type Line, type Look, toward } from "./model";
import { Near } from "./near";
import { type Name, paintNames, paintStill } from "./still";

export interface MapOptions extends HandOptions {
  label: string;
  choose: (chosen: Chosen, open: boolean) => void;
  /** Draws what moves, above all that does not. After how many ms it wants to go on, or null. */
  over?: (map: MapCanvas, pen: CanvasRenderingContext2D, colours: Colours) => number | null;
  key?: (event: KeyboardEvent) => boolean;
}

/** In the presenter's view: projectors are looked at from afar. */
const ENLARGED = 1.6;

const KEYS =
  "arrows go from node to node, Tab through the links of a node, Enter opens, space chooses, plus and minus enlarge, 0 shows all, L begins a lasso";

export class MapCanvas {
  readonly element: HTMLElement;
  readonly chosen: Chosen = { nodes: new Set(), links: new Set() };
  private readonly camera = new Camera();
  private readonly canvas = h("canvas", { "aria-hidden": "true" });
  /** What does not move; frames copy it. */
  private readonly still = h("canvas");
  private readonly tip = h("div", { class: "maptip", role: "presentation", hidden: true });
  private readonly pen = this.canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
  private readonly stillPen = this.still.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
  private c: Colours = colours();
  private sprites = new Sprites(this.c, 1);
  private looks: readonly Look[] = [];
  /** Nodes that do not run, and what they do instead. */
  off: ReadonlyMap<string, string> = new Map();
  private names: readonly Name[] = [];
  private near: Near | null = null;
  private asked = 0;
  private waiting: ReturnType<typeof setTimeout> | undefined;
  /** Whether something has changed that does not move by itself. */
  private stale = true;
  private fitted = false;
  /** How much larger than usual signs and words are. */
  private enlarged = 1;
  private at = 0;
  private atLine = -1;
  private focused = false;
  private readonly hand: Hand;
  private readonly resize: ResizeObserver;
  private readonly forget: () => void;
  frames = 0;

  constructor(private readonly options: MapOptions) {
    this.element = h(
      "div",
      {
        class: "mapcanvas",
        tabindex: 0,
        role: "group",
        "aria-roledescription": "map",
        "aria-label": `${options.label}: ${KEYS}`,
      },
      this.canvas,
      this.tip,
    );
    this.resize = new ResizeObserver(() => this.measure());
    this.resize.observe(this.element);
    let alive = true;
    onTheme(() => alive && this.recolour());
    this.forget = () => {
      alive = false;
    };
    this.hand = this.makeHand();
    this.listen();
  }

  destroy(): void {
    this.resize.disconnect();
    cancelAnimationFrame(this.asked);
    clearTimeout(this.waiting);
    this.forget();
  }

  get graph(): Graph {
    return this.camera.graph;
  }

  get scale(): number {
    return this.camera.scale;
  }

  /** Of what is in sight, in the units of `place`. */
  get width(): number {
    return this.camera.width;
  }

  get height(): number {
    return this.camera.height;
  }

  get nodeSize(): number {
    return this.camera.nodeSize;
  }

  /** A number that is another whenever places on the canvas are. */
  version = 0;

  show(graph: Graph): void {
    const names = (of: Graph): string => of.spots.map(({ name }) => name).join("\n");
    const other = names(graph) !== names(this.graph);
    this.camera.graph = graph;
    this.looks = [];
    this.at = Math.min(this.at, Math.max(0, graph.spots.length - 1));
    for (const name of this.chosen.nodes) if (!graph.byNode.has(name)) this.chosen.nodes.delete(name);
    for (const name of this.chosen.links) if (!graph.byLink.has(name)) this.chosen.links.delete(name);
    if (other && !this.moved) this.fitted = false;
    if (!this.fitted) this.fit();
    this.renew(true);
  }

  /** How each link looks, in the order of the graph's links. */
  look(looks: readonly Look[]): void {
    const before = this.looks;
    this.looks = looks;
    const same = before.length === looks.length && looks.every((look, place) => alike(look, before[place]));
    if (same) this.draw();
    else this.renew();
  }

  /** Says which nodes do not run, and what they do instead. */
  mark(off: ReadonlyMap<string, string>): void {
    this.off = off;
    this.element.dataset.off = [...off].map(([name, state]) => `${name} ${state}`).join(", ");
    this.renew();
  }

  private moved = false;

  /** Shows all of it. */
  fit(): void {
    if (!this.camera.fit()) return;
    this.fitted = true;
    this.moved = false;
    this.renew(true);
  }

  zoom(factor: number, x = this.camera.width / 2, y = this.camera.height / 2): void {
    this.camera.zoom(factor, x, y);
    this.moved = true;
    this.renew(true);
  }

  choose(nodes: Iterable<string>, links: Iterable<string>, open = false): void {
    this.chosen.nodes.clear();
    this.chosen.links.clear();
    for (const name of nodes) this.chosen.nodes.add(name);
    for (const name of links) this.chosen.links.add(name);
    const [first] = this.chosen.nodes;
    const place = first === undefined ? undefined : this.graph.byNode.get(first);
    if (place !== undefined) this.at = place;
    this.renew();
    this.options.choose(this.chosen, open);
  }

  beginLasso(): void {
    this.hand.beginLasso();
  }

  place(spot: { x: number; y: number }): [number, number] {
    return this.camera.place(spot);
  }

  /** The place on the map in the middle of what is in sight. */
  middle(): [number, number] {
    return this.camera.under(this.camera.width / 2, this.camera.height / 2);
  }

  /** The place on the map of a point on the canvas. */
  under(x: number, y: number): [number, number] {
    return this.camera.under(x, y);
  }

  /** Where on a line something is; `aside` pixels to the right of the way from `a` to `b`. */
  on(line: Line, part: number, aside = 0): [number, number] {
    return this.camera.on(line, part, aside);
  }

  /** Draws soon, once: what moves has moved. */
  draw(): void {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.paint();
    });
  }

  /** Draws soon, and paints anew what does not move by itself; `places`: it is at other places, too. */
  private renew(places = false): void {
    this.stale = true;
    if (places) {
      this.version += 1;
      this.near = null;
    }
    this.draw();
  }

  private recolour(): void {
    this.c = colours();
    this.sprites = new Sprites(this.c, this.camera.ratio);
    this.renew();
  }

  private measure(): void {
    const box = this.element.getBoundingClientRect();
    if (box.width === 0) return;
    this.enlarged = document.documentElement.hasAttribute("data-present") ? ENLARGED : 1;
    const [width, height, ratio] = [
      box.width / this.enlarged,
      box.height / this.enlarged,
      (window.devicePixelRatio || 1) * this.enlarged,
    ];
    if (ratio !== this.camera.ratio) this.sprites = new Sprites(this.c, ratio);
    [this.camera.width, this.camera.height, this.camera.ratio] = [width, height, ratio];
    for (const canvas of [this.canvas, this.still])
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (!this.moved) this.fitted = false;
    if (!this.fitted) this.fit();
    // Now, not in the next frame: a canvas with a new size is empty.
    this.stale = true;
    this.version += 1;
    this.paint();
  }

  private paint(): void {
    const { pen, camera } = this;
    if (camera.width === 0) return;
    if (this.stale) {
      this.stale = false;
      const keys = this.focused ? { spot: this.atLine < 0 ? this.at : -1, line: this.atLine } : { spot: -1, line: -1 };
      const marked = { ...this.chosen, ...keys, off: this.off };
      this.names = paintStill(this.stillPen, camera, this.looks, marked, this.c, this.sprites);
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(this.still, 0, 0);
    pen.setTransform(camera.ratio, 0, 0, camera.ratio, 0, 0);
    const again = this.options.over?.(this, pen, this.c) ?? null;
    paintNames(pen, this.names, camera.ratio);
    this.hand.paint(pen, this.c.link);
    this.frames += 1;
    clearTimeout(this.waiting);
    if (again === 0) this.draw();
    else if (again !== null) this.waiting = setTimeout(() => this.draw(), again);
    this.tell();
  }

  private told = -Infinity;

  /** Says in the page what is drawn, for those who look from outside; seldom, since an attribute costs more than a frame. */
  private tell(): void {
    const nodes = String(this.graph.spots.length);
    const now = performance.now();
    if (this.element.dataset.nodes === nodes && now - this.told < 250) return;
    this.told = now;
    this.element.dataset.nodes = nodes;
    this.element.dataset.frames = String(this.frames);
  }

  private find(x: number, y: number): { node?: string; link?: string } {
    this.near ??= new Near(this.graph);
    return this.near.find(...this.camera.under(x, y), {
      node: Math.max(this.nodeSize + 4, 8) / this.scale,
      line: 8 / this.scale,
    });
  }

  private makeHand(): Hand {
    const { canvas, camera, options, chosen } = this;
    return new Hand({
      canvas,
      tip: this.tip,
      camera,
      chosen,
      options,
      enlarged: () => this.enlarged,
      find: (x, y) => this.find(x, y),
      zoom: (factor, x, y) => this.zoom(factor, x, y),
      choose: (nodes, links, open) => this.choose(nodes, links, open),
      draw: () => this.draw(),
      moved: (isMap) => {
        this.moved ||= isMap;
        this.renew(true);
      },
    });
  }

  private listen(): void {
    const { element } = this;
    element.addEventListener("focus", () => {
      this.focused = element.matches(":focus-visible");
      this.renew();
    });
    element.addEventListener("blur", () => {
      this.focused = false;
      this.renew();
    });
    element.addEventListener("keydown", (event) => this.press(event));
  }

  private press(event: KeyboardEvent): void {
    if (this.options.key?.(event)) {
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const go = (dx: number, dy: number) => (): void => {
      this.atLine = -1;
      if (event.shiftKey)
        [this.camera.x, this.camera.y, this.moved] = [this.camera.x - dx * 60, this.camera.y - dy * 60, true];
      else this.at = toward(this.graph, this.at, dx, dy);
      this.say();
    };
    const acts: Record<string, () => void> = {
      ArrowLeft: go(-1, 0),
      ArrowRight: go(1, 0),
      ArrowUp: go(0, -1),
      ArrowDown: go(0, 1),
      "+": () => this.zoom(1.25),
      "=": () => this.zoom(1.25),
      "-": () => this.zoom(0.8),
      "0": () => this.fit(),
      l: () => this.beginLasso(),
      L: () => this.beginLasso(),
      Enter: () => this.take(true),
      " ": () => this.take(false),
    };
    if (event.key === "Escape" && (this.hand.lassoing || this.chosen.nodes.size + this.chosen.links.size > 0)) {
      this.hand.forgetLasso();
      this.choose([], []);
      return;
    }
    const act = event.key === "Tab" ? this.nextLink(event.shiftKey) : acts[event.key];
    if (!act) return;
    event.preventDefault();
    this.focused = true;
    act();
    this.renew(true);
  }

  /** Tab goes through the links of the node, and out of the map behind the last one. */
  private nextLink(back: boolean): (() => void) | undefined {
    const lines = this.graph.spots[this.at]?.links ?? [];
    const next = lines.indexOf(this.atLine) + (back ? -1 : 1);
    if (next < 0 || next >= lines.length) {
      if (back && this.atLine >= 0)
        return () => {
          this.atLine = -1;
          this.say();
        };
      this.atLine = -1;
      return undefined;
    }
    return () => {
      this.atLine = lines[next] ?? -1;
      this.say();
    };
  }

  private take(open: boolean): void {
    const line = this.graph.lines[this.atLine];
    const spot = this.graph.spots[this.at];
    if (line) this.choose([], [line.name], open);
    else if (spot) this.choose([spot.name], [], open);
  }

  private say(): void {
    const line = this.graph.lines[this.atLine];
    const spot = this.graph.spots[this.at];
    announce(this.options.words(line ? { link: line.name } : { node: spot?.name ?? "" }));
  }
}

const alike = (one: Look, other: Look | undefined): boolean =>
  other !== undefined &&
  one.grade === other.grade &&
  one.dropping === other.dropping &&
  one.down === other.down &&
  one.label === other.label &&
  one.queue[0] === other.queue[0] &&
  one.queue[1] === other.queue[1];
