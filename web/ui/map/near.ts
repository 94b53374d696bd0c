// What is near a point of the map: nodes and lines in cells of a grid, so that a pointer that moves does not ask all of them.
import { along, apart, type Graph } from "./model";

/** How many lines and nodes a cell has on average. */
const PER_CELL = 2;
/** Cells that a line is entered into, at most: a longer one is asked always. */
const LONG = 400;

export class Near {
  private readonly cells = new Map<number, { spots: number[]; lines: number[] }>();
  private readonly everywhere: number[] = [];
  private readonly size: number;
  private readonly left: number;
  private readonly top: number;

  constructor(private readonly graph: Graph) {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { x, y } of graph.spots)
      [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
    [this.left, this.top] = [Number.isFinite(left) ? left : 0, Number.isFinite(top) ? top : 0];
    const area = Math.max(right - left, 0.1) * Math.max(bottom - top, 0.1);
    this.size = Number.isFinite(area)
      ? Math.max(Math.sqrt((area * PER_CELL) / Math.max(graph.spots.length, 1)), 1e-3)
      : 1;
    graph.spots.forEach(({ x, y }, place) => {
      this.cell(this.column(x), this.row(y)).spots.push(place);
    });
    graph.lines.forEach((_, place) => {
      this.enter(place);
    });
  }

  /** The named node within `reach` of a point that is nearest, else the line; in places of the map. */
  find(x: number, y: number, reach: { node: number; line: number }): { node?: string; link?: string } {
    let [node, least] = ["", reach.node * reach.node];
    this.around(x, y, reach.node, ({ spots }) => {
      for (const place of spots) {
        const spot = this.graph.spots[place];
        if (!spot || spot.name === "") continue;
        const square = (spot.x - x) ** 2 + (spot.y - y) ** 2;
        if (square < least) [node, least] = [spot.name, square];
      }
    });
    if (node) return { node };
    let [link, near] = ["", reach.line * reach.line];
    const ask = (place: number): void => {
      const line = this.graph.lines[place];
      const [a, b] = [this.graph.spots[line?.a ?? -1], this.graph.spots[line?.b ?? -1]];
      if (!line || !a || !b) return;
      const steps = line.bend === 0 ? 1 : 8;
      const at = (step: number): [number, number] => along(a.x, a.y, b.x, b.y, line.bend, step / steps);
      for (let step = 0; step < steps; step += 1) {
        const square = apart(x, y, at(step), at(step + 1));
        if (square < near) [link, near] = [line.name, square];
      }
    };
    this.around(x, y, reach.line, ({ lines }) => lines.forEach(ask));
    this.everywhere.forEach(ask);
    return link ? { link } : {};
  }

  private column(x: number): number {
    return Math.floor((x - this.left) / this.size);
  }
  private row(y: number): number {
    return Math.floor((y - this.top) / this.size);
  }

  private cell(column: number, row: number): { spots: number[]; lines: number[] } {
    const key = column * 1_000_003 + row;
    const known = this.cells.get(key);
    if (known) return known;
    const made = { spots: [], lines: [] };
    this.cells.set(key, made);
    return made;
  }

  /** Enters a line into the cells that it goes through, in steps of half a cell. */
  private enter(place: number): void {
    const line = this.graph.lines[place];
    const [a, b] = [this.graph.spots[line?.a ?? -1], this.graph.spots[line?.b ?? -1]];
    if (!line || !a || !b) return;
    const steps = Math.ceil((Math.hypot(b.x - a.x, b.y - a.y) * (1 + Math.abs(line.bend) * 0.5)) / (this.size / 2)) + 1;
    if (!(steps <= LONG)) {
      this.everywhere.push(place);
      return;
    }
    for (let step = 0; step <= steps; step += 1) {
      const [x, y] = along(a.x, a.y, b.x, b.y, line.bend, step / steps);
      const { lines } = this.cell(this.column(x), this.row(y));
      if (lines[lines.length - 1] !== place) lines.push(place);
    }
  }

  private around(
    x: number,
    y: number,
    reach: number,
    each: (cell: { spots: number[]; lines: number[] }) => void,
  ): void {
    // A line may touch a cell between two of its steps: one more cell on each side.
    const [fromColumn, toColumn] = [this.column(x - reach) - 1, this.column(x + reach) + 1];
    const [fromRow, toRow] = [this.row(y - reach) - 1, this.row(y + reach) + 1];
    if ((toColumn - fromColumn + 1) * (toRow - fromRow + 1) > this.cells.size) {
      this.cells.forEach(each);
      return;
    }
    for (let column = fromColumn; column <= toColumn; column += 1) {
      for (let row = fromRow; row <= toRow; row += 1) {
        const cell = this.cells.get(column * 1_000_003 + row);
        if (cell) each(cell);
      }
    }
  }
}
