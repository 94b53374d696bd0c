// What a map shows: places of nodes, lines of links, and what is said of them.
import type { Scene } from "../api";

export interface Spot {
  name: string;
  kind: string;
  x: number;
  y: number;
  links: number[];
}
/** A line from one place to another, bent if several join the same two. */
export interface Line {
  link: number;
  name: string;
  a: number;
  b: number;
  bend: number;
  words: string;
}
export interface Graph {
  spots: Spot[];
  lines: Line[];
  byNode: Map<string, number>;
  byLink: Map<string, number[]>;
  links: string[];
}

/** How a link is drawn. */
export interface Look {
  grade: number;
  dropping: boolean;
  down: boolean;
  label: string;
  queue: [number, number];
}

/** Lines and places of a scene. A link with more than two ends is drawn from a small spot in its middle. */
export function graphOf(scene: Scene): Graph {
  const spots: Spot[] = scene.nodes.map(({ name, kind, x, y }) => ({
    name,
    kind,
    x: Number.isFinite(x) ? x : 0,
    y: Number.isFinite(y) ? y : 0,
    links: [],
  }));
  const byNode = new Map(spots.map((spot, place) => [spot.name, place]));
  const byLink = new Map<string, number[]>();
  const lines: Line[] = [];
  const between = new Map<string, number>();
  const links = scene.links.map(({ name }) => name);
  scene.links.forEach(({ name, ends, words = [] }, link) => {
    const places = ends.map((end) => byNode.get(end)).filter((place): place is number => place !== undefined);
    const add = (a: number, b: number): void => {
      const key = a < b ? `${a} ${b}` : `${b} ${a}`;
      const number = between.get(key) ?? 0;
      between.set(key, number + 1);
      const bend = number === 0 ? 0 : (number % 2 ? 1 : -1) * Math.ceil(number / 2) * (a < b ? 1 : -1);
      byLink.set(name, [...(byLink.get(name) ?? []), lines.length]);
      spots[a]?.links.push(lines.length);
      spots[b]?.links.push(lines.length);
      lines.push({ link, name, a, b, bend, words: words.join("; ") });
    };
    if (places.length === 2) add(places[0] ?? 0, places[1] ?? 0);
    else if (places.length > 2) {
      const at = places.map((place) => spots[place]).filter((spot): spot is Spot => spot !== undefined);
      const mean = (key: "x" | "y"): number => at.reduce((sum, spot) => sum + spot[key], 0) / at.length;
      spots.push({ name: "", kind: "medium", x: mean("x"), y: mean("y"), links: [] });
      const middle = spots.length - 1;
      for (const place of places) add(place, middle);
    }
  });
  return { spots, lines, byNode, byLink, links };
}

/** Places for a network that has none: around a circle, then pulled together by links and apart by all others; the same network gives the same places. */
export function arrange(nodes: { name: string; kind: string }[], links: { name: string; ends: string[] }[]): Scene {
  const number = nodes.length;
  const at = nodes.map((node, place) => ({
    ...node,
    x: Math.cos((place / number) * 2 * Math.PI) * Math.sqrt(number),
    y: Math.sin((place / number) * 2 * Math.PI) * Math.sqrt(number),
  }));
  const known = new Map(nodes.map((node, place) => [node.name, place]));
  const pairs = links.flatMap(({ ends }) =>
    ends.slice(1).map((end) => [known.get(ends[0] ?? "") ?? 0, known.get(end) ?? 0] as const),
  );
  const rounds = number > 600 ? 30 : 150;
  for (let round = 0; round < rounds; round += 1) {
    const heat = 0.5 * (1 - round / rounds);
    const moves = at.map(() => [0, 0] as [number, number]);
    const step = Math.max(1, Math.floor(number / 200));
    at.forEach((one, place) => {
      // Of a large network, a part of the others in turn.
      for (let other = (round + place) % step; other < number; other += step) {
        const far = at[other];
        if (!far || other === place) continue;
        const [dx, dy] = [one.x - far.x, one.y - far.y];
        const square = Math.max(dx * dx + dy * dy, 0.01);
        const move = moves[place] as [number, number];
        move[0] += (dx / square) * step * 0.6;
        move[1] += (dy / square) * step * 0.6;
      }
    });
    for (const [a, b] of pairs) {
      const [one, other] = [at[a], at[b]];
      if (!one || !other || a === b) continue;
      const [dx, dy] = [other.x - one.x, other.y - one.y];
      const length = Math.hypot(dx, dy) || 0.01;
      const pull = (length - 1) / length;
      const [left, right] = [moves[a] as [number, number], moves[b] as [number, number]];
      left[0] += dx * pull;
      left[1] += dy * pull;
      right[0] -= dx * pull;
      right[1] -= dy * pull;
    }
    at.forEach((one, place) => {
      const [dx, dy] = moves[place] as [number, number];
      const length = Math.hypot(dx, dy) || 1;
      const far = Math.min(length, heat);
      one.x += (dx / length) * far;
      one.y += (dy / length) * far;
    });
  }
  return { nodes: at, links };
}

/** A point of a line, `part` of the way; lines of the canvas in pixels. */
export function along(ax: number, ay: number, bx: number, by: number, bend: number, part: number): [number, number] {
  if (bend === 0) return [ax + (bx - ax) * part, ay + (by - ay) * part];
  const [cx, cy] = control(ax, ay, bx, by, bend);
  const other = 1 - part;
  return [
    other * other * ax + 2 * other * part * cx + part * part * bx,
    other * other * ay + 2 * other * part * cy + part * part * by,
  ];
}

/** Where a bent line is drawn to. */
export function control(ax: number, ay: number, bx: number, by: number, bend: number): [number, number] {
  return [(ax + bx) / 2 - (by - ay) * 0.22 * bend, (ay + by) / 2 + (bx - ax) * 0.22 * bend];
}

/** The node that is nearest in a direction, for arrow keys. */
export function toward(graph: Graph, from: number, dx: number, dy: number): number {
  const here = graph.spots[from];
  if (!here) return 0;
  let [best, least] = [from, Infinity];
  graph.spots.forEach((spot, place) => {
    if (place === from || spot.kind === "medium") return;
    const [x, y] = [spot.x - here.x, spot.y - here.y];
    const ahead = x * dx + y * dy;
    const aside = Math.abs(x * dy - y * dx);
    if (ahead <= 1e-6 || aside > ahead * 2) return;
    const cost = ahead + aside * 2;
    if (cost < least) [best, least] = [place, cost];
  });
  return best;
}

/** The square of the distance of a point from a stretch. */
export function apart(x: number, y: number, [ax, ay]: [number, number], [bx, by]: [number, number]): number {
  const [dx, dy] = [bx - ax, by - ay];
  const part = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return (ax + dx * part - x) ** 2 + (ay + dy * part - y) ** 2;
}

/** Whether a point is inside a drawn line. */
export function within([x, y]: [number, number], around: [number, number][]): boolean {
  let inside = false;
  around.forEach(([ax, ay], place) => {
    const [bx, by] = around[(place + around.length - 1) % around.length] ?? [0, 0];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  });
  return inside;
}
