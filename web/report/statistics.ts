// Charts of a sweep's points: means with their intervals, box plots, distribution functions, heat maps.
import {
  type Axis,
  type Chart,
  chart,
  dash,
  line,
  PAPER,
  type Palette,
  seriesColour,
  shortened,
} from "../components/chart";
import { s } from "../components/dom";
import { plusMinus, quantity } from "../components/format";
import type { FigureName, Point } from "./data";

/** Points arranged: along the axis, and in groups that are lines of their own, each of one figure. Values with a scale rise. */
export interface Arranged {
  names: string[];
  axis: string;
  scale: Scale | null;
  groups: { label: string; figure: number; points: (Point | null)[] }[];
}
/** Where the values of an axis are, if they are numbers. */
export interface Scale {
  numbers: number[];
  format: (value: number) => string;
  log: boolean;
}

/** `figure`: the unit of all, and the words at the axis. */
export interface Drawing {
  figure: FigureName;
  title: string;
  palette: Palette;
  width: number;
  fromZero: boolean;
}

const format =
  (unit: string) =>
  (value: number): string =>
    quantity(value, unit, 4);

function range(values: number[], fromZero: boolean): [number, number] {
  const least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(least)) return [0, 1];
  const room = (most - least || Math.abs(most) || 1) * 0.06;
  if (fromZero) return [Math.min(0, least === 0 ? 0 : least - room), most <= 0 ? 1 : most + room];
  return [least - room, most + room];
}

/** The place of a group within its band. */
function offset(step: number, group: number, count: number): number {
  return (group - (count - 1) / 2) * Math.min(step / (count + 1), 26);
}

/** Where a value of the axis is. */
const across = (made: Chart, { scale }: Arranged, place: number): number =>
  made.x(scale ? (scale.numbers[place] ?? 0) : place);

/** How much room each value has, between its neighbours. */
function room(made: Chart, arranged: Arranged): number {
  const { scale } = arranged;
  if (!scale) return made.step;
  return scale.numbers
    .slice(1)
    .reduce(
      (least, number, place) => Math.min(least, made.x(number) - made.x(scale.numbers[place] ?? 0)),
      made.inner.right - made.inner.left,
    );
}

function xAxis({ names, axis, scale }: Arranged): Axis {
  if (!scale) return { kind: "band", names, name: axis };
  const [least, most] = [scale.numbers[0] ?? 0, scale.numbers[scale.numbers.length - 1] ?? 1];
  const part = 0.05;
  const edge = scale.log ? (most / least) ** part : (most - least) * part;
  return {
    kind: "linear",
    from: scale.log ? least / edge : least - edge,
    to: scale.log ? most * edge : most + edge,
    format: scale.format,
    name: axis,
    log: scale.log,
  };
}

function base(drawing: Drawing, arranged: Arranged, values: number[], about: string): Chart {
  const [from, to] = range(values, drawing.fromZero);
  return chart({
    title: drawing.palette === PAPER ? drawing.title : "",
    about,
    palette: drawing.palette,
    width: drawing.width,
    height: 340,
    keys: arranged.groups.length > 1 ? arranged.groups.map(({ label }, style) => ({ label, style })) : [],
    x: xAxis(arranged),
    y: { kind: "linear", from, to, format: format(drawing.figure.unit), name: shortened(drawing.figure.name, 44) },
  });
}

/** A shape per group, so that colours are not alone. */
function point(x: number, y: number, style: number, palette: Palette): SVGElement {
  const size = 4.6;
  const look = `fill:${palette.paper};stroke:${seriesColour(palette, style)};stroke-width:2`;
  const at = (...steps: [number, number][]): string =>
    steps.map(([dx, dy]) => `${(x + dx * size).toFixed(1)},${(y + dy * size).toFixed(1)}`).join(" ");
  switch (style % 4) {
    case 0:
      return s("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: size, style: look });
    case 1:
      return s("polygon", { points: at([-1, -1], [1, -1], [1, 1], [-1, 1]), style: look });
    case 2:
      return s("polygon", { points: at([0, -1.2], [1.1, 0.9], [-1.1, 0.9]), style: look });
    default:
      return s("polygon", { points: at([0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]), style: look });
  }
}

export function means(drawing: Drawing, arranged: Arranged): SVGSVGElement {
  const all = arranged.groups.flatMap(({ points, figure }) =>
    points.flatMap((one) => {
      const summary = one?.figures[figure];
      return summary?.mean == null ? [] : [summary.mean - (summary.ci95 ?? 0), summary.mean + (summary.ci95 ?? 0)];
    }),
  );
  const made = base(drawing, arranged, all, "means with 95 % confidence intervals (Student's t)");
  arranged.groups.forEach(({ label, points, figure }, style) => {
    // Along a scale, a mean stands where its value is.
    const shift = arranged.scale ? 0 : offset(made.step, style, arranged.groups.length);
    const colour = seriesColour(drawing.palette, style);
    let path = "";
    const marks: SVGElement[] = [];
    points.forEach((one, place) => {
      const summary = one?.figures[figure];
      if (summary?.mean == null) return;
      const [x, y] = [across(made, arranged, place) + shift, made.y(summary.mean)];
      path += `${path ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
      const title = s(
        "title",
        {},
        `${label ? `${label}, ` : ""}${arranged.names[place]}: ${plusMinus(summary.mean, summary.ci95, drawing.figure.unit)}, n = ${summary.n}`,
      );
      if (summary.ci95 !== null) {
        const [low, high] = [
          made.y(summary.mean - summary.ci95).toFixed(1),
          made.y(summary.mean + summary.ci95).toFixed(1),
        ];
        marks.push(
          s("path", {
            d: `M${(x - 5).toFixed(1)} ${low}h10M${(x - 5).toFixed(1)} ${high}h10M${x.toFixed(1)} ${low}V${high}`,
            style: `stroke:${colour};stroke-width:1.6;fill:none`,
          }),
        );
      }
      marks.push(s("g", {}, title, point(x, y, style, drawing.palette)));
    });
    made.add(
      s("path", {
        d: path,
        style: `stroke:${colour};fill:none;stroke-width:1.4;opacity:.75;stroke-dasharray:${dash(style).join(" ") || "none"}`,
      }),
      ...marks,
    );
  });
  return made.svg;
}

export function boxes(drawing: Drawing, arranged: Arranged): SVGSVGElement {
  const all = arranged.groups.flatMap(({ points, figure }) => points.flatMap((one) => one?.figures[figure]?.q ?? []));
  const made = base(drawing, arranged, all, "minimum, quartiles and maximum of the runs");
  const count = arranged.groups.length;
  const step = room(made, arranged);
  const half = Math.max(Math.min(step / (count + 1), 26) * 0.4, 1.5);
  arranged.groups.forEach(({ label, points, figure }, style) => {
    const colour = seriesColour(drawing.palette, style);
    points.forEach((one, place) => {
      const q = one?.figures[figure]?.q;
      if (!q) return;
      const x = across(made, arranged, place) + offset(step, style, count);
      const [least, low, middle, high, most] = q.map((value) => made.y(value)) as [
        number,
        number,
        number,
        number,
        number,
      ];
      const words = `${label ? `${label}, ` : ""}${arranged.names[place]}: ${["minimum", "lower quartile", "median", "upper quartile", "maximum"].map((name, part) => `${name} ${quantity(q[part], drawing.figure.unit)}`).join(", ")}`;
      made.add(
        s(
          "g",
          { style: `stroke:${colour};fill:none;stroke-width:1.6` },
          s("title", {}, words),
          s("path", {
            d: `M${x} ${least}V${low}M${x} ${high}V${most}M${x - half * 0.6} ${least}h${half * 1.2}M${x - half * 0.6} ${most}h${half * 1.2}`,
          }),
          s("rect", {
            x: x - half,
            y: high,
            width: half * 2,
            height: Math.max(low - high, 0.5),
            style: `fill:${colour};fill-opacity:.16;stroke-dasharray:${dash(style).join(" ") || "none"}`,
          }),
          s("path", { d: `M${x - half} ${middle}h${half * 2}`, style: "stroke-width:2.6" }),
        ),
      );
    });
  });
  return made.svg;
}

/** How many curves are drawn at once. */
export const MOST_CURVES = 8;

export function distributions(drawing: Drawing, curves: { label: string; values: number[] }[]): SVGSVGElement {
  const shown = curves.filter(({ values }) => values.length > 0).slice(0, MOST_CURVES);
  const all = shown.flatMap(({ values }) => [values[0] ?? 0, values[values.length - 1] ?? 0]);
  const [from, to] = range(all, false);
  const made = chart({
    title: drawing.palette === PAPER ? drawing.title : "",
    about: "the share of runs that do not exceed a value",
    palette: drawing.palette,
    width: drawing.width,
    height: 340,
    keys: shown.map(({ label }, style) => ({ label: shortened(label, 60), style })),
    x: { kind: "linear", from, to, format: format(drawing.figure.unit), name: drawing.figure.name },
    y: { kind: "linear", from: 0, to: 1, format: (value) => `${Math.round(value * 100)} %`, name: "share of runs" },
  });
  shown.forEach(({ label, values }, style) => {
    const corners: [number, number][] = [[from, 0]];
    values.forEach((value, place) => {
      corners.push([value, place / values.length], [value, (place + 1) / values.length]);
    });
    corners.push([to, 1]);
    made.add(line(made, corners, drawing.palette, { label, style }));
  });
  return made.svg;
}

export interface Cells {
  x: string;
  y: string;
  columns: string[];
  rows: string[];
  values: (number | null)[][];
}

/** From light to dark in both themes; the numbers stand in the cells, too. */
function shade(part: number): { fill: string; ink: string } {
  const [from, to] = [
    [236, 244, 251],
    [8, 62, 120],
  ] as const;
  const mix = from.map((value, place) => Math.round(value + ((to[place] ?? 0) - value) * part));
  return { fill: `rgb(${mix.join(",")})`, ink: part > 0.48 ? "#ffffff" : "#1f2328" };
}

export function heat(drawing: Drawing, cells: Cells): SVGSVGElement {
  const height = Math.min(70 + cells.rows.length * 34 + 60, 900);
  const made = chart({
    title: drawing.palette === PAPER ? `${drawing.title}, mean` : "",
    about: `the mean over ${cells.x} and ${cells.y}`,
    palette: drawing.palette,
    width: drawing.width,
    height,
    x: { kind: "band", names: cells.columns, name: cells.x },
    y: { kind: "band", names: cells.rows, name: cells.y },
  });
  const known = cells.values.flat().filter((value): value is number => value !== null);
  const [least, most] = [
    known.reduce((a, b) => Math.min(a, b), Infinity),
    known.reduce((a, b) => Math.max(a, b), -Infinity),
  ];
  const high = (made.inner.bottom - made.inner.top) / Math.max(cells.rows.length, 1);
  cells.values.forEach((row, number) => {
    row.forEach((value, place) => {
      if (value === null) return;
      const look = shade(most > least ? (value - least) / (most - least) : 0);
      const [x, y] = [made.x(place) - made.step / 2, made.y(number) - high / 2];
      const words = quantity(value, drawing.figure.unit, 3);
      const fits = made.step > words.length * 6.4 && high > 15;
      made.add(
        s(
          "g",
          {},
          s("title", {}, `${cells.columns[place]}, ${cells.rows[number]}: ${quantity(value, drawing.figure.unit)}`),
          s("rect", {
            x: (x + 1).toFixed(1),
            y: (y + 1).toFixed(1),
            width: (made.step - 2).toFixed(1),
            height: (high - 2).toFixed(1),
            rx: 3,
            style: `fill:${look.fill}`,
          }),
          fits
            ? s(
                "text",
                {
                  x: made.x(place).toFixed(1),
                  y: (made.y(number) + 4).toFixed(1),
                  "text-anchor": "middle",
                  style: `fill:${look.ink};font:12px system-ui,sans-serif`,
                },
                words,
              )
            : null,
        ),
      );
    });
  });
  return made.svg;
}
