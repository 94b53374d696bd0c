// The map on a canvas: places, lines and what moves on them; moved, enlarged and chosen from by pointer and keys.
import { h } from "../../components/dom";
import { announce } from "../../components/download";
import { onTheme } from "../../components/theme";
import { colours, drawBadge, Sprites, type Colours } from "./glyphs";
import { along, apart, control, toward, within, type Graph, type Line, type Look } from "./model";

export interface Chosen { nodes: Set<string>; links: Set<string> }
export interface MapOptions {
  label: string;
  choose: (chosen: Chosen, open: boolean) => void;
  /** What is said of a node or link under the pointer. */
  words: (what: { node?: string; link?: string }) => string;
  /** A node was moved to another place. */
  move?: (moved: Map<string, [number, number]>) => void;
  /** Draws what moves, above lines and below nodes; true: there is more to come. */
  over?: (map: MapCanvas, pen: CanvasRenderingContext2D, colours: Colours) => boolean;
  /** A press in the middle of nothing, or of what `over` drew; true: it was meant. */
  hit?: (x: number, y: number) => boolean;
  key?: (event: KeyboardEvent) => boolean;
}

const KEYS = "arrows go from node to node, Tab through the links of a node, Enter opens, space chooses, plus and minus enlarge, 0 shows all, L begins a lasso";
const PLAIN: Look = { grade: 0, dropping: false, down: false, label: "", queue: [0, 0], flow: [0, 0] };

export class MapCanvas {
  readonly element: HTMLElement;
  readonly chosen: Chosen = { nodes: new Set(), links: new Set() };
  graph: Graph = { spots: [], lines: [], byNode: new Map(), byLink: new Map(), links: [] };
  scale = 80;
  private readonly canvas = h("canvas", { "aria-hidden": "true" });
  private readonly tip = h("div", { class: "maptip", role: "presentation", hidden: true });
  private readonly pen = this.canvas.getContext("2d") as CanvasRenderingContext2D;
  private c: Colours = colours();
  private sprites = new Sprites(this.c, 1);
  private looks: Look[] = [];
  private x = 0;
  private y = 0;
  private width = 0;
  private height = 0;
  private asked = 0;
  private fitted = false;
  private at = 0;
  private atLine = -1;
  private focused = false;
  private lassoing = false;
  private lasso: [number, number][] = [];
  private readonly resize: ResizeObserver;
  private readonly forget: () => void;
  frames = 0;

  constructor(private readonly options: MapOptions) {
    this.element = h("div", { class: "mapcanvas", tabindex: 0, role: "group", "aria-roledescription": "map", "aria-label": `${options.label}: ${KEYS}` }, this.canvas, this.tip);
    this.resize = new ResizeObserver(() => this.measure());
    this.resize.observe(this.element);
    let alive = true;
    onTheme(() => alive && this.recolour());
    this.forget = () => { alive = false; };
    this.listen();
  }

  destroy(): void {
    this.resize.disconnect();
    cancelAnimationFrame(this.asked);
    this.forget();
  }

  show(graph: Graph): void {
    const names = (of: Graph): string => of.spots.map(({ name }) => name).join("\n");
    const other = names(graph) !== names(this.graph);
    this.graph = graph;
    this.looks = graph.links.map(() => PLAIN);
    this.at = Math.min(this.at, Math.max(0, graph.spots.length - 1));
    for (const name of this.chosen.nodes) if (!graph.byNode.has(name)) this.chosen.nodes.delete(name);
    for (const name of this.chosen.links) if (!graph.byLink.has(name)) this.chosen.links.delete(name);
    if (other && !this.moved) this.fitted = false;
    if (!this.fitted) this.fit();
    this.draw();
  }

  /** How each link looks, in the order of the graph's links. */
  look(looks: Look[]): void {
    this.looks = looks;
    this.draw();
  }

  private moved = false;

  /** Shows all of it. */
  fit(): void {
    const { spots } = this.graph;
    if (spots.length === 0 || this.width === 0) return;
    const of = (key: "x" | "y"): [number, number] => spots.reduce(([least, most], spot) => [Math.min(least, spot[key]), Math.max(most, spot[key])], [Infinity, -Infinity]);
    const [[left, right], [top, bottom]] = [of("x"), of("y")];
    this.scale = Math.max(2, Math.min((this.width - 110) / Math.max(right - left, 0.01), (this.height - 100) / Math.max(bottom - top, 0.01), Math.max(250, Math.min(this.width, this.height) * 0.35)));
    this.x = this.width / 2 - ((left + right) / 2) * this.scale;
    this.y = this.height / 2 - ((top + bottom) / 2) * this.scale;
    this.fitted = true;
    this.moved = false;
    this.draw();
  }

  zoom(factor: number, x = this.width / 2, y = this.height / 2): void {
    const scale = Math.min(Math.max(this.scale * factor, 2), 600);
    this.x = x - ((x - this.x) / this.scale) * scale;
    this.y = y - ((y - this.y) / this.scale) * scale;
    this.scale = scale;
    this.moved = true;
    this.draw();
  }

  choose(nodes: Iterable<string>, links: Iterable<string>, open = false): void {
    this.chosen.nodes.clear();
    this.chosen.links.clear();
    for (const name of nodes) this.chosen.nodes.add(name);
    for (const name of links) this.chosen.links.add(name);
    const [first] = this.chosen.nodes;
    const place = first === undefined ? undefined : this.graph.byNode.get(first);
    if (place !== undefined) this.at = place;
    this.draw();
    this.options.choose(this.chosen, open);
  }

  beginLasso(): void {
    this.lassoing = true;
    this.canvas.style.cursor = "crosshair";
    announce("lasso: draw around nodes; Escape ends it");
  }

  place(spot: { x: number; y: number }): [number, number] {
    return [spot.x * this.scale + this.x, spot.y * this.scale + this.y];
  }

  /** The place on the map of a point on the canvas. */
  under(x: number, y: number): [number, number] {
    return [(x - this.x) / this.scale, (y - this.y) / this.scale];
  }

  /** Where on a line something is; `aside` pixels to the right of the way from `a` to `b`. */
  on(line: Line, part: number, aside = 0): [number, number] {
    const [a, b] = [this.graph.spots[line.a], this.graph.spots[line.b]];
    if (!a || !b) return [0, 0];
    const [[ax, ay], [bx, by]] = [this.place(a), this.place(b)];
    const [px, py] = along(ax, ay, bx, by, line.bend, part);
    if (aside === 0) return [px, py];
    const length = Math.hypot(bx - ax, by - ay) || 1;
    return [px - ((by - ay) / length) * aside, py + ((bx - ax) / length) * aside];
  }

  get nodeSize(): number {
    return Math.round(Math.max(3, Math.min(13, this.scale * 0.19)));
  }

  /** Draws soon, once. */
  draw(): void {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.paint();
    });
  }

  private recolour(): void {
    this.c = colours();
    this.sprites = new Sprites(this.c, window.devicePixelRatio || 1);
    this.draw();
  }

  private measure(): void {
    const box = this.element.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    if (box.width === 0) return;
    [this.width, this.height] = [box.width, box.height];
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    this.sprites = new Sprites(this.c, ratio);
    if (!this.moved) this.fitted = false;
    if (!this.fitted) this.fit();
    this.draw();
  }

  private paint(): void {
    const { pen, c, graph } = this;
    const ratio = window.devicePixelRatio || 1;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = c.paper;
    pen.fillRect(0, 0, this.width, this.height);
    this.paintLines();
    const more = this.options.over?.(this, pen, c) ?? false;
    this.paintNodes(ratio);
    this.paintLabels(ratio);
    if (this.lasso.length > 1) {
      pen.beginPath();
      this.lasso.forEach(([x, y], place) => (place ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.closePath();
      pen.strokeStyle = c.link;
      pen.lineWidth = 1.5;
      pen.setLineDash([5, 4]);
      pen.stroke();
      pen.setLineDash([]);
    }
    this.frames += 1;
    this.element.dataset["frames"] = String(this.frames);
    this.element.dataset["nodes"] = String(graph.spots.length);
    if (more) this.draw();
  }

  /** Lines that look the same in one stroke. */
  private paintLines(): void {
    const { pen, c, graph } = this;
    const groups = new Map<string, { look: Look; lines: Line[] }>();
    const chosen: Line[] = [];
    for (const line of graph.lines) {
      const look = this.looks[line.link] ?? PLAIN;
      const key = `${look.down ? "d" : look.grade}${look.dropping ? "x" : ""}`;
      const group = groups.get(key);
      if (group) group.lines.push(line);
      else groups.set(key, { look, lines: [line] });
      if (this.chosen.links.has(line.name) || (this.focused && this.atLine >= 0 && graph.lines[this.atLine] === line)) chosen.push(line);
    }
    pen.lineCap = "round";
    if (chosen.length > 0) {
      pen.strokeStyle = c.link;
      pen.globalAlpha = 0.28;
      pen.lineWidth = 12;
      this.trace(chosen);
      pen.globalAlpha = 1;
    }
    for (const { look, lines } of groups.values()) {
      pen.strokeStyle = look.down ? c.bad : c.use[look.grade] ?? c.soft;
      pen.lineWidth = (look.down ? 1.8 : 1.8 + look.grade * 0.8) * (this.scale < 20 ? 0.6 : 1);
      pen.setLineDash(look.down ? [2, 6] : look.dropping ? [9, 5] : []);
      this.trace(lines);
    }
    pen.setLineDash([]);
  }

  private trace(lines: Line[]): void {
    const { pen, graph } = this;
    pen.beginPath();
    for (const line of lines) {
      const [a, b] = [graph.spots[line.a], graph.spots[line.b]];
      if (!a || !b) continue;
      const [[ax, ay], [bx, by]] = [this.place(a), this.place(b)];
      pen.moveTo(ax, ay);
      if (line.bend === 0) pen.lineTo(bx, by);
      else pen.quadraticCurveTo(...control(ax, ay, bx, by, line.bend), bx, by);
    }
    pen.stroke();
  }

  private paintNodes(ratio: number): void {
    const { pen, c, graph } = this;
    const size = this.nodeSize;
    graph.spots.forEach((spot, place) => {
      const [x, y] = this.place(spot);
      if (x < -40 || y < -40 || x > this.width + 40 || y > this.height + 40) return;
      const isChosen = this.chosen.nodes.has(spot.name);
      if (isChosen || (this.focused && place === this.at && this.atLine < 0)) {
        pen.beginPath();
        pen.arc(x, y, size + 6, 0, 2 * Math.PI);
        pen.globalAlpha = isChosen ? 0.3 : 0.12;
        pen.fillStyle = c.link;
        pen.fill();
        pen.globalAlpha = 1;
        pen.lineWidth = 2;
        pen.strokeStyle = c.link;
        pen.stroke();
      }
      const sprite = this.sprites.node(spot.kind, size);
      pen.drawImage(sprite, x - sprite.width / ratio / 2, y - sprite.height / ratio / 2, sprite.width / ratio, sprite.height / ratio);
    });
  }

  /** Names where there is room, and what is said of links. */
  private paintLabels(ratio: number): void {
    const { pen, graph } = this;
    const size = this.nodeSize;
    const room = this.scale > 34;
    graph.spots.forEach((spot, place) => {
      if (spot.name === "" || (!room && !this.chosen.nodes.has(spot.name) && !(this.focused && place === this.at))) return;
      const [x, y] = this.place(spot);
      if (x < -60 || y < -40 || x > this.width + 60 || y > this.height + 40) return;
      const sprite = this.sprites.text(spot.name, this.chosen.nodes.has(spot.name));
      pen.drawImage(sprite, x - sprite.width / ratio / 2, y + size + 1, sprite.width / ratio, sprite.height / ratio);
    });
    if (this.scale < 60 || graph.lines.length > 400) return;
    for (const [name, places] of graph.byLink) {
      const line = graph.lines[places[0] ?? -1];
      if (!line) continue;
      const look = this.looks[line.link] ?? PLAIN;
      const words = look.down ? "✕ down" : look.label;
      if (!words) continue;
      const [x, y] = this.on(line, places.length > 1 ? 0.9 : 0.5);
      drawBadge(this.pen, this.c, words, x, y, this.chosen.links.has(name), look.down);
    }
  }

  private find(x: number, y: number): { node?: string; link?: string } {
    const size = Math.max(this.nodeSize + 4, 8);
    let [node, least] = ["", size * size];
    for (const spot of this.graph.spots) {
      if (spot.name === "") continue;
      const [px, py] = this.place(spot);
      const square = (px - x) ** 2 + (py - y) ** 2;
      if (square < least) [node, least] = [spot.name, square];
    }
    if (node) return { node };
    let [link, near] = ["", 64];
    for (const line of this.graph.lines) {
      const [a, b] = [this.graph.spots[line.a], this.graph.spots[line.b]];
      if (!a || !b) continue;
      const steps = line.bend === 0 ? 1 : 8;
      for (let step = 0; step < steps; step += 1) {
        const square = apart(x, y, this.on(line, step / steps), this.on(line, (step + 1) / steps));
        if (square < near) [link, near] = [line.name, square];
      }
    }
    return link ? { link } : {};
  }

  private listen(): void {
    const at = (event: PointerEvent | WheelEvent | MouseEvent): [number, number] => {
      const box = this.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let from: { x: number; y: number; found: { node?: string; link?: string }; more: boolean; far: boolean; mapX: number; mapY: number; nodes: Map<string, [number, number]> } | null = null;
    const fingers = new Map<number, [number, number]>();
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      const [x, y] = at(event);
      fingers.set(event.pointerId, [x, y]);
      if (this.lassoing) {
        this.lasso = [[x, y]];
        return;
      }
      if (fingers.size > 1 || event.button > 1) return;
      const found = this.find(x, y);
      const held = found.node === undefined || !this.options.move ? [] : this.chosen.nodes.has(found.node) ? [...this.chosen.nodes] : [found.node];
      const nodes = new Map<string, [number, number]>();
      for (const name of held) {
        const spot = this.graph.spots[this.graph.byNode.get(name) ?? -1];
        if (spot) nodes.set(name, [spot.x, spot.y]);
      }
      from = { x, y, found, more: event.shiftKey || event.ctrlKey || event.metaKey, far: false, mapX: this.x, mapY: this.y, nodes };
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      const was = fingers.get(event.pointerId);
      if (was && fingers.size === 2) {
        const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1] ?? was;
        this.zoom(Math.hypot(x - other[0], y - other[1]) / (Math.hypot(was[0] - other[0], was[1] - other[1]) || 1), (x + other[0]) / 2, (y + other[1]) / 2);
        from = null;
      }
      if (was) fingers.set(event.pointerId, [x, y]);
      if (this.lassoing && this.lasso.length > 0) {
        this.lasso.push([x, y]);
        this.draw();
      } else if (from) {
        if (Math.hypot(x - from.x, y - from.y) > 4) from.far = true;
        if (!from.far) return;
        if (from.nodes.size > 0) this.carry(from.nodes, (x - from.x) / this.scale, (y - from.y) / this.scale);
        else {
          [this.x, this.y] = [from.mapX + x - from.x, from.mapY + y - from.y];
          this.moved = true;
        }
        this.draw();
      } else if (event.pointerType === "mouse") this.hover(x, y);
    });
    const end = (event: PointerEvent): void => {
      fingers.delete(event.pointerId);
      if (this.lassoing && this.lasso.length > 0) this.endLasso();
      else if (from?.far && from.nodes.size > 0) this.options.move?.(new Map([...from.nodes.keys()].map((name) => {
        const spot = this.graph.spots[this.graph.byNode.get(name) ?? -1];
        return [name, [spot?.x ?? 0, spot?.y ?? 0]] as const;
      })));
      else if (from && !from.far) this.pressed(from);
      from = null;
    };
    this.canvas.addEventListener("pointerup", end);
    this.canvas.addEventListener("pointercancel", (event) => { fingers.delete(event.pointerId); from = null; });
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    this.canvas.addEventListener("dblclick", (event) => {
      const found = this.find(...at(event));
      if (found.node !== undefined) this.choose([found.node], [], true);
      else if (found.link !== undefined) this.choose([], [found.link], true);
    });
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0016)), ...at(event));
    }, { passive: false });
    this.element.addEventListener("focus", () => { this.focused = this.element.matches(":focus-visible"); this.draw(); });
    this.element.addEventListener("blur", () => { this.focused = false; this.draw(); });
    this.element.addEventListener("keydown", (event) => this.press(event));
  }

  private carry(nodes: Map<string, [number, number]>, dx: number, dy: number): void {
    for (const [name, [x, y]] of nodes) {
      const spot = this.graph.spots[this.graph.byNode.get(name) ?? -1];
      if (spot) [spot.x, spot.y] = [x + dx, y + dy];
    }
  }

  private pressed(from: { x: number; y: number; found: { node?: string; link?: string }; more: boolean }): void {
    if (this.options.hit?.(from.x, from.y)) return;
    const { node, link } = from.found;
    const nodes = new Set(from.more ? this.chosen.nodes : []);
    const links = new Set(from.more ? this.chosen.links : []);
    if (node !== undefined && !nodes.delete(node)) nodes.add(node);
    if (link !== undefined && !links.delete(link)) links.add(link);
    this.choose(nodes, links);
  }

  private endLasso(): void {
    const inside = this.graph.spots.filter((spot) => spot.name !== "" && within(this.place(spot), this.lasso)).map(({ name }) => name);
    this.lasso = [];
    this.lassoing = false;
    this.canvas.style.cursor = "";
    announce(`${inside.length} nodes are chosen`);
    this.choose(inside, []);
  }

  private hover(x: number, y: number): void {
    const found = this.find(x, y);
    const is = found.node !== undefined || found.link !== undefined;
    this.canvas.style.cursor = this.lassoing ? "crosshair" : is ? "pointer" : "grab";
    this.tip.hidden = !is;
    if (!is) return;
    this.tip.textContent = this.options.words(found);
    this.tip.style.transform = `translate(${Math.min(x + 14, this.width - 230)}px, ${Math.min(y + 14, this.height - 60)}px)`;
  }

  private press(event: KeyboardEvent): void {
    if (this.options.key?.(event)) {
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const go = (dx: number, dy: number) => (): void => {
      this.atLine = -1;
      if (event.shiftKey) [this.x, this.y, this.moved] = [this.x - dx * 60, this.y - dy * 60, true];
      else this.at = toward(this.graph, this.at, dx, dy);
      this.say();
    };
    const acts: Record<string, () => void> = {
      ArrowLeft: go(-1, 0), ArrowRight: go(1, 0), ArrowUp: go(0, -1), ArrowDown: go(0, 1),
      "+": () => this.zoom(1.25), "=": () => this.zoom(1.25), "-": () => this.zoom(0.8), "0": () => this.fit(),
      l: () => this.beginLasso(), L: () => this.beginLasso(),
      Enter: () => this.take(true), " ": () => this.take(false),
    };
    if (event.key === "Escape" && (this.lassoing || this.chosen.nodes.size + this.chosen.links.size > 0)) {
      this.lassoing = false;
      this.lasso = [];
      this.choose([], []);
      return;
    }
    const act = event.key === "Tab" ? this.nextLink(event.shiftKey) : acts[event.key];
    if (!act) return;
    event.preventDefault();
    this.focused = true;
    act();
    this.draw();
  }

  /** Tab goes through the links of the node, and out of the map behind the last one. */
  private nextLink(back: boolean): (() => void) | undefined {
    const lines = this.graph.spots[this.at]?.links ?? [];
    const next = lines.indexOf(this.atLine) + (back ? -1 : 1);
    if (next < 0 || next >= lines.length) {
      if (back && this.atLine >= 0) return () => { this.atLine = -1; this.say(); };
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
