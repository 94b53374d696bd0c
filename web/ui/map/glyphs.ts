// The signs of nodes, drawn once for each kind and colour, and the colours of the map.
import { PAPER } from "../../components/chart";
import { colour } from "../../components/theme";
import type { Pen } from "./pen";

export interface Colours {
  paper: string;
  ground: string;
  ink: string;
  soft: string;
  edge: string;
  link: string;
  bad: string;
  caution: string;
  good: string;
  use: string[];
  series: string[];
}

export function colours(): Colours {
  const of = (name: string): string => colour(`--${name}`);
  return {
    paper: of("paper"),
    ground: of("ground"),
    ink: of("ink"),
    soft: of("soft"),
    edge: of("edge"),
    link: of("link"),
    bad: of("bad"),
    caution: of("caution"),
    good: of("good"),
    use: [0, 1, 2, 3, 4, 5].map((number) => of(`u${number}`)),
    series: [0, 1, 2, 3, 4, 5, 6, 7].map((number) => of(`s${number}`)),
  };
}

/** Those of pictures that are saved, which lie on paper whatever the page looks like. */
export const ON_PAPER: Colours = {
  paper: PAPER.paper,
  ground: "#f6f8fa",
  ink: PAPER.ink,
  soft: PAPER.soft,
  edge: PAPER.grid,
  link: PAPER.series[0] ?? PAPER.ink,
  bad: "#a61b1b",
  caution: PAPER.series[4] ?? PAPER.ink,
  good: PAPER.series[2] ?? PAPER.ink,
  use: ["#afb8c1", "#8fbbe0", "#4f96cf", "#1a70b8", "#b35900", "#b3261e"],
  series: [...PAPER.series],
};

/** Draws the sign of a kind of node around 0, 0; `size` is half of its width. */
export function drawNode(pen: Pen, kind: string, size: number, c: Colours): void {
  pen.lineWidth = Math.max(1, size / 7);
  pen.lineJoin = pen.lineCap = "round";
  pen.strokeStyle = c.ink;
  if (kind === "router" || kind === "transit" || kind === "internet") {
    const hollow = kind !== "router";
    pen.beginPath();
    pen.arc(0, 0, size, 0, 2 * Math.PI);
    pen.fillStyle = hollow ? c.paper : (c.series[0] ?? c.ink);
    pen.strokeStyle = c.series[0] ?? c.ink;
    pen.fill();
    pen.stroke();
    pen.strokeStyle = hollow ? (c.series[0] ?? c.ink) : c.paper;
    cross(pen, size * 0.58);
  } else if (kind === "switch" || kind === "openflow" || kind === "hub" || kind === "lan") {
    const ground = kind === "hub" ? c.soft : (c.series[2] ?? c.ink);
    pen.fillStyle = kind === "openflow" ? c.paper : ground;
    pen.strokeStyle = ground;
    box(pen, size, size * 0.86, size * 0.25);
    pen.fill();
    pen.stroke();
    pen.strokeStyle = kind === "openflow" ? ground : c.paper;
    lanes(pen, size * 0.6);
  } else if (kind === "medium") {
    pen.fillStyle = c.soft;
    pen.beginPath();
    pen.arc(0, 0, size * 0.3, 0, 2 * Math.PI);
    pen.fill();
  } else {
    pen.fillStyle = c.ground;
    if (kind === "external" || kind === "tunnel" || kind === "outside") pen.setLineDash([size / 4, size / 5]);
    pen.beginPath();
    pen.roundRect(-size, -size * 0.85, size * 2, size * 1.35, size * 0.2);
    pen.fill();
    pen.stroke();
    pen.setLineDash([]);
    pen.beginPath();
    pen.moveTo(0, size * 0.5);
    pen.lineTo(0, size * 0.85);
    pen.moveTo(-size * 0.5, size * 0.88);
    pen.lineTo(size * 0.5, size * 0.88);
    pen.stroke();
  }
}

/** Draws a cross over the sign of a node that does not run. */
export function drawOff(pen: Pen, size: number, c: Colours): void {
  pen.lineWidth = Math.max(1.5, size / 5);
  pen.lineCap = "round";
  pen.strokeStyle = c.bad;
  pen.beginPath();
  for (const side of [-1, 1]) {
    pen.moveTo(-size * 0.8, -size * 0.8 * side);
    pen.lineTo(size * 0.8, size * 0.8 * side);
  }
  pen.stroke();
}

/** How much of the sign of a node that does not run is seen. */
export const FAINT = 0.4;

function box(pen: Pen, width: number, height: number, round: number): void {
  pen.beginPath();
  pen.roundRect(-width, -height, width * 2, height * 2, round);
}

function cross(pen: Pen, size: number): void {
  pen.beginPath();
  for (const [x, y] of [
    [1, 1],
    [1, -1],
    [-1, 1],
    [-1, -1],
  ] as const) {
    pen.moveTo(x * size * 0.2, y * size * 0.2);
    pen.lineTo(x * size * 0.85, y * size * 0.85);
  }
  pen.stroke();
}

function lanes(pen: Pen, size: number): void {
  pen.beginPath();
  for (const side of [-1, 1]) {
    const y = side * size * 0.45;
    pen.moveTo(-size, y);
    pen.lineTo(size, y);
    pen.lineTo(size - size * 0.35, y - size * 0.3);
    pen.moveTo(-size, y);
    pen.lineTo(-size + size * 0.35, y + size * 0.3);
  }
  pen.stroke();
}

/** Pictures of texts and signs, so that a frame draws them by copying; as many as fit into a bound. */
export class Sprites {
  private readonly kept = new Map<string, HTMLCanvasElement>();
  private readonly ratio: number;

  constructor(
    private readonly c: Colours,
    ratio: number,
    private readonly most = 6_000,
  ) {
    this.ratio = ratio;
  }

  node(kind: string, size: number, isOff: boolean): HTMLCanvasElement {
    const half = Math.ceil(size * 1.3 + 2);
    return this.make(`${kind} ${size}${isOff ? " off" : ""}`, half * 2, half * 2, (pen) => {
      pen.translate(half, half);
      if (isOff) pen.globalAlpha = FAINT;
      drawNode(pen, kind, size, this.c);
      pen.globalAlpha = 1;
      if (isOff) drawOff(pen, size, this.c);
    });
  }

  text(text: string, strong = false): HTMLCanvasElement {
    const shown = text.length > 24 ? `${text.slice(0, 23)}…` : text;
    const font = `${strong ? "600 " : ""}11.5px system-ui, "Liberation Sans", Arial, sans-serif`;
    const width = Math.ceil(measure(font, shown)) + 8;
    return this.make(`t${strong ? 1 : 0}${shown}`, width, 17, (pen) => {
      pen.font = font;
      pen.textAlign = "center";
      pen.lineJoin = "round";
      pen.lineWidth = 3.5;
      pen.strokeStyle = this.c.paper;
      pen.strokeText(shown, width / 2, 12.5);
      pen.fillStyle = this.c.ink;
      pen.fillText(shown, width / 2, 12.5);
    });
  }

  /** Words on a link, in a frame of this width. */
  badge(words: string, width: number, strong: boolean, bad: boolean): HTMLCanvasElement {
    const [wide, high] = [Math.ceil(width) + 4, 21];
    return this.make(`b${strong ? 1 : 0}${bad ? 1 : 0}${words}`, wide, high, (pen) =>
      drawBadge(pen, this.c, words, wide / 2, high / 2, strong, bad),
    );
  }

  private make(
    key: string,
    width: number,
    height: number,
    draw: (pen: CanvasRenderingContext2D) => void,
  ): HTMLCanvasElement {
    const known = this.kept.get(key);
    if (known) return known;
    if (this.kept.size >= this.most) this.kept.clear();
    const made = document.createElement("canvas");
    made.width = Math.ceil(width * this.ratio);
    made.height = Math.ceil(height * this.ratio);
    const pen = made.getContext("2d");
    if (pen) {
      pen.scale(this.ratio, this.ratio);
      draw(pen);
    }
    this.kept.set(key, made);
    return made;
  }
}

let ruler: CanvasRenderingContext2D | null = null;

function measure(font: string, text: string): number {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return text.length * 7;
  ruler.font = font;
  return ruler.measureText(text).width;
}

const BADGE = '600 10.5px system-ui, "Liberation Sans", Arial, sans-serif';
const WIDTHS = new Map<string, number>();

/** Measuring is slow, and the words of links are often the same. */
export function widthOfBadge(pen: CanvasRenderingContext2D, words: string): number {
  const known = WIDTHS.get(words);
  if (known !== undefined) return known;
  if (WIDTHS.size > 4_000) WIDTHS.clear();
  pen.font = BADGE;
  const width = pen.measureText(words).width + 12;
  WIDTHS.set(words, width);
  return width;
}

/** Words on a link, in a frame. */
function drawBadge(
  pen: CanvasRenderingContext2D,
  c: Colours,
  words: string,
  x: number,
  y: number,
  strong: boolean,
  bad: boolean,
): void {
  const half = widthOfBadge(pen, words) / 2;
  pen.font = BADGE;
  pen.beginPath();
  pen.roundRect(x - half, y - 8.5, half * 2, 17, 8.5);
  pen.fillStyle = c.paper;
  pen.fill();
  pen.lineWidth = strong ? 2 : 1;
  pen.strokeStyle = bad ? c.bad : strong ? c.link : c.edge;
  pen.stroke();
  pen.fillStyle = bad ? c.bad : c.ink;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(words, x, y + 0.5);
  pen.textBaseline = "alphabetic";
}
