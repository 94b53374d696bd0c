// Which part of a map is in sight: from places of nodes to pixels and back.
import { along, type Graph, type Line } from "./model";

/** Room for the buttons of a map, in pixels. */
const BUTTONS = 44;

export class Camera {
  /** Pixels for a length of one. */
  scale = 80;
  x = 0;
  y = 0;
  width = 0;
  height = 0;
  /** Pixels of the screen for one of the page. */
  ratio = 1;
  graph: Graph = { spots: [], lines: [], byNode: new Map(), byLink: new Map(), links: [] };

  /** Whether it shows all of the map now: not if there is none. */
  fit(): boolean {
    const { spots } = this.graph;
    if (spots.length === 0 || this.width === 0) return false;
    const of = (key: "x" | "y"): [number, number] =>
      spots.reduce(
        ([least, most], spot) => [Math.min(least, spot[key]), Math.max(most, spot[key])],
        [Infinity, -Infinity],
      );
    const [[left, right], [top, bottom]] = [of("x"), of("y")];
    // Buttons stand at the right.
    const width = this.width - BUTTONS;
    this.scale = Math.max(
      2,
      Math.min(
        (width - 90) / Math.max(right - left, 0.01),
        (this.height - 100) / Math.max(bottom - top, 0.01),
        Math.max(250, Math.min(this.width, this.height) * 0.35),
      ),
    );
    this.x = width / 2 - ((left + right) / 2) * this.scale;
    this.y = this.height / 2 - ((top + bottom) / 2) * this.scale;
    return true;
  }

  /** Enlarges around a point that stays where it is. */
  zoom(factor: number, x: number, y: number): void {
    const scale = Math.min(Math.max(this.scale * factor, 2), 600);
    this.x = x - ((x - this.x) / this.scale) * scale;
    this.y = y - ((y - this.y) / this.scale) * scale;
    this.scale = scale;
  }

  place(spot: { x: number; y: number }): [number, number] {
    return [spot.x * this.scale + this.x, spot.y * this.scale + this.y];
  }

  under(x: number, y: number): [number, number] {
    return [(x - this.x) / this.scale, (y - this.y) / this.scale];
  }

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

  sees(x: number, y: number, margin: number): boolean {
    return x > -margin && y > -margin && x < this.width + margin && y < this.height + margin;
  }
}
