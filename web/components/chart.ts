// Charts as SVG: on the screen in the colours of the page, in a file in those of paper.
import { type Child, s } from "./dom";
import { ticks } from "./format";

export interface Palette {
  ink: string;
  soft: string;
  grid: string;
  paper: string;
  series: readonly string[];
}

/** Colours that people with any colour vision tell apart (after Okabe and Ito 2008), dark enough for white paper. */
export const PAPER: Palette = {
  ink: "#1f2328",
  soft: "#57606a",
  grid: "#d8dee4",
  paper: "#ffffff",
  series: ["#0072b2", "#c45200", "#00785a", "#a23b76", "#7a5c00", "#57606a", "#3d5bd9", "#1f2328"],
};

export const SCREEN: Palette = {
  ink: "var(--ink)",
  soft: "var(--soft)",
  grid: "var(--grid)",
  paper: "var(--paper)",
  series: PAPER.series.map((_, place) => `var(--s${place})`),
};

/** Lines differ in their dashes, too, and points in their shapes. */
export const DASHES: readonly (readonly number[])[] = [
  [],
  [9, 4],
  [2, 3],
  [10, 3, 2, 3],
  [5, 2],
  [14, 4, 4, 4],
  [3, 6],
  [7, 7],
];

export const seriesColour = (palette: Palette, style: number): string =>
  palette.series[style % palette.series.length] ?? palette.ink;
export const dash = (style: number): readonly number[] => DASHES[style % DASHES.length] ?? [];

export interface Linear {
  kind: "linear";
  from: number;
  to: number;
  format: (value: number) => string;
  name: string;
  log?: boolean;
}
export interface Band {
  kind: "band";
  names: string[];
  name: string;
}
export type Axis = Linear | Band;

export interface Key {
  label: string;
  style: number;
  plain?: boolean;
  dash?: readonly number[];
}
export interface ChartOptions {
  title: string;
  about: string;
  x: Axis;
  y: Axis;
  keys?: Key[];
  palette: Palette;
  width?: number;
  height?: number;
}

export interface Chart {
  svg: SVGSVGElement;
  x: (value: number) => number;
  y: (value: number) => number;
  /** The width of a band. */
  step: number;
  inner: { left: number; top: number; right: number; bottom: number };
  add: (...children: Child[]) => void;
}

const FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif";

/** About how wide a text is. */
const wide = (text: string, size = 12): number => text.length * size * 0.58;

function place(axis: Axis, from: number, to: number): (value: number) => number {
  if (axis.kind === "band") {
    const step = (to - from) / Math.max(axis.names.length, 1);
    return (value) => from + (value + 0.5) * step;
  }
  const scale = axis.log ? (value: number) => Math.log10(Math.max(value, Number.MIN_VALUE)) : (value: number) => value;
  const [low, high] = [scale(axis.from), scale(axis.to)];
  return (value) => from + ((scale(value) - low) / (high - low || 1)) * (to - from);
}

interface AxisMark {
  at: number;
  text: string;
}

function marksOf(axis: Axis, wanted: number): AxisMark[] {
  if (axis.kind === "band") return axis.names.map((text, at) => ({ at, text }));
  if (axis.log && axis.from > 0) {
    const all: AxisMark[] = [];
    for (let power = Math.ceil(Math.log10(axis.from) - 1e-9); 10 ** power <= axis.to * 1.0001; power += 1)
      all.push({ at: 10 ** power, text: axis.format(10 ** power) });
    if (all.length > 1) return all;
  }
  return ticks(axis.from, axis.to, wanted).map((at) => ({ at, text: axis.format(at) }));
}

/** Where the parts of a chart are. */
interface Layout {
  width: number;
  height: number;
  /** The area between the axes. */
  inner: Chart["inner"];
  rows: { key: Key; at: number }[][];
  /** Where rows of the legend begin. */
  legendTop: number;
  xMarks: AxisMark[];
  yMarks: AxisMark[];
  /** Whether words at the axis below are slanted, since they would touch. */
  slanted: boolean;
}

function layoutOf(options: ChartOptions): Layout {
  const { width = 720, height = 320 } = options;
  const yMarks = marksOf(options.y, 5);
  const widest = (marks: AxisMark[]): number => Math.max(...marks.map((mark) => wide(mark.text)));
  const left = Math.min(16 + Math.max(widest(yMarks), 20) + (options.y.name ? 16 : 0), width * 0.4);
  const rows = legendRows(options.keys ?? [], width - 16);
  const legendTop = options.title ? 26 : 10;
  const top = legendTop + rows.length * 18 + (rows.length > 0 ? 8 : 0);
  const xMarks = marksOf(options.x, Math.max(2, Math.floor((width - left) / 90)));
  const room = (width - left - 16) / Math.max(xMarks.length, 1);
  const slanted = options.x.kind === "band" && xMarks.some((mark) => wide(mark.text) > room);
  const deep = slanted ? Math.min(widest(xMarks) * 0.6 + 16, 110) : 20;
  const inner = { left, top, right: width - 16, bottom: height - deep - (options.x.name ? 20 : 6) };
  return { width, height, inner, rows, legendTop, xMarks, yMarks, slanted };
}

/** An empty chart with its axes, title and legend. */
export function chart(options: ChartOptions): Chart {
  const { palette } = options;
  const layout = layoutOf(options);
  const { width, height, inner } = layout;
  const [x, y] = [place(options.x, inner.left, inner.right), place(options.y, inner.bottom, inner.top)];
  const svg = s("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": `${options.title}. ${options.about}`,
  });
  if (palette === PAPER) svg.append(s("rect", { width, height, style: `fill:${palette.paper}` }));
  if (options.title)
    svg.append(label(palette, 8, 17, options.title, { style: `fill:${palette.ink};font:600 14px ${FONT}` }));
  svg.append(...legend(palette, layout), ...yAxis(palette, layout, y), ...xAxis(options, layout, x));
  svg.append(
    s("path", {
      d: `M${inner.left} ${inner.top}V${inner.bottom}H${inner.right}`,
      style: `stroke:${palette.soft};fill:none`,
    }),
    ...axisNames(options, layout),
  );
  const step = options.x.kind === "band" ? (inner.right - inner.left) / Math.max(options.x.names.length, 1) : 0;
  const add = (...children: Child[]): void => {
    for (const child of children.flat()) if (child instanceof Node) svg.append(child);
  };
  return { svg, x, y, step, inner, add };
}

type More = Record<string, string | number>;

const label = (palette: Palette, x: number, y: number, words: string, more: More = {}): SVGTextElement =>
  s("text", { x: x.toFixed(1), y: y.toFixed(1), style: `fill:${palette.soft};font:12px ${FONT}`, ...more }, words);

const legend = (palette: Palette, { rows, legendTop }: Layout): SVGElement[] =>
  rows.flatMap((row, number) =>
    row.flatMap(({ key, at }) => {
      const line = legendTop + number * 18 + 8;
      const dashes = (key.dash ?? dash(key.style)).join(" ");
      const colour = key.plain ? palette.soft : seriesColour(palette, key.style);
      return [
        s("path", {
          d: `M${at} ${line}h26`,
          style: `stroke:${colour};stroke-width:2.2;stroke-dasharray:${dashes || "none"}`,
        }),
        label(palette, at + 32, line + 4, key.label, { style: `fill:${palette.ink};font:12px ${FONT}` }),
      ];
    }),
  );

const yAxis = (palette: Palette, { inner, yMarks }: Layout, y: (value: number) => number): SVGElement[] =>
  yMarks.flatMap((mark) => {
    const at = y(mark.at);
    return [
      s("path", { d: `M${inner.left} ${at.toFixed(1)}H${inner.right}`, style: `stroke:${palette.grid};fill:none` }),
      label(palette, inner.left - 6, at + 4, mark.text, { "text-anchor": "end" }),
    ];
  });

function xAxis({ x: axis, palette }: ChartOptions, layout: Layout, x: (value: number) => number): SVGElement[] {
  const { inner, xMarks, slanted } = layout;
  // Of names that stand too close, some have none.
  const room = Math.max(1, Math.floor((inner.right - inner.left) / 14));
  const every = axis.kind === "band" ? Math.ceil(xMarks.length / room) : 1;
  const shown = xMarks.filter((_, number) => number % every === 0);
  return shown.flatMap((mark) => {
    const at = x(mark.at);
    const line = s("path", {
      d: `M${at.toFixed(1)} ${inner.top}V${inner.bottom}`,
      style: `stroke:${palette.grid};fill:none`,
    });
    const words = slanted
      ? label(palette, 0, 0, shortened(mark.text, 26), {
          "text-anchor": "end",
          transform: `translate(${at.toFixed(1)} ${inner.bottom + 14}) rotate(-32)`,
        })
      : label(palette, at, inner.bottom + 16, mark.text, { "text-anchor": "middle" });
    return axis.kind === "linear" ? [line, words] : [words];
  });
}

function axisNames({ x, y, palette }: ChartOptions, { inner, height }: Layout): SVGElement[] {
  const below = (name: string): SVGElement =>
    label(palette, (inner.left + inner.right) / 2, height - 6, name, { "text-anchor": "middle" });
  const beside = (name: string): SVGElement =>
    label(palette, 0, 0, name, {
      "text-anchor": "middle",
      transform: `translate(12 ${((inner.top + inner.bottom) / 2).toFixed(1)}) rotate(-90)`,
    });
  return [...(x.name ? [below(x.name)] : []), ...(y.name ? [beside(y.name)] : [])];
}

export const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** The legend, in as many rows as it needs. */
function legendRows(keys: Key[], room: number): { key: Key; at: number }[][] {
  const rows: { key: Key; at: number }[][] = [];
  let at = room;
  for (const key of keys) {
    const size = wide(key.label) + 48;
    if (at + size > room) {
      rows.push([]);
      at = 8;
    }
    rows[rows.length - 1]?.push({ key, at });
    at += size;
  }
  return rows;
}

/** A line through points; nothing where a value is missing. */
export function line(
  chart: Chart,
  points: readonly (readonly [number, number | null])[],
  palette: Palette,
  key: Key,
  steps = false,
): SVGPathElement {
  let path = "";
  let begun = false;
  let before = 0;
  for (const [at, value] of points) {
    if (value === null || !Number.isFinite(value)) {
      begun = false;
      continue;
    }
    const [x, y] = [chart.x(at).toFixed(1), chart.y(value).toFixed(1)];
    if (!begun) path += `M${x} ${y}`;
    else path += steps ? `H${chart.x(before).toFixed(1)}V${y}H${x}` : `L${x} ${y}`;
    begun = true;
    before = steps ? at : before;
  }
  const dashes = (key.dash ?? dash(key.style)).join(" ");
  const colour = key.plain ? palette.soft : seriesColour(palette, key.style);
  return s("path", {
    d: path,
    style: `stroke:${colour};fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-dasharray:${dashes || "none"}`,
  });
}

/** The text of a file. */
export function text(svg: SVGSVGElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
}
