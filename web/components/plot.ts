// A plot over the time axis: drawn by uPlot, zoomed and pointed at together with all others of the axis.
import uPlot from "uplot";
import type { Mark, Member, TimeAxis } from "./axis";
import { type Chart, chart, DASHES, dash, type Key, PAPER, line as svgLine, text as svgText } from "./chart";
import { h, refill, s } from "./dom";
import { announce, type Sheet, saves } from "./download";
import { digits } from "./format";
import { colour, onTheme } from "./theme";

export interface Line {
  label: string;
  t: readonly number[];
  y: readonly (number | null)[];
  /** Colour and dash. */
  style: number;
  /** `steps`: a value holds from the instant before to its own; `points`: no line. */
  kind?: "line" | "steps" | "points";
  /** In the colour of what stands behind: what was described. */
  plain?: boolean;
  dash?: readonly number[];
}

export interface PlotOptions {
  title: string;
  /** What is to be known of it. */
  about?: string;
  format: (value: number) => string;
  lines: Line[];
  /** Whether the axis begins at zero; otherwise with the least value in sight. */
  fromZero?: boolean;
  unit: string;
  height?: number;
}

const FONT = "12px system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif";
const HELP =
  "left and right move the cursor, with Shift what is in sight; plus and minus zoom, Home shows the whole run";

/** The place of the last instant that is not later; -1 if there is none. */
export function before(t: readonly number[], at: number): number {
  let [low, high] = [0, t.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((t[middle] ?? Infinity) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** What a line says of an instant. */
export function valueAt(line: Line, at: number): number | null {
  const place = before(line.t, at);
  // A value of an interval stands at its end.
  const wanted = line.kind === "steps" && line.t[place] !== at ? place + 1 : place;
  return line.y[wanted] ?? null;
}

/** In pixels, of the part with the curves and its axes. */
const HEIGHT = 190;

/** A colour of the page, which is another in the other theme. */
const ink = (name: string) => () => colour(name);

const LOOK: uPlot.Axis = {
  font: FONT,
  stroke: ink("--soft"),
  grid: { stroke: ink("--grid"), width: 1 },
  ticks: { show: false },
};

/** The lines over one axis of time, as uPlot wants them; steps begin at time zero. */
function dataOf(lines: Line[]): uPlot.AlignedData {
  const tables = lines.map((line) => {
    const steps = line.kind === "steps" && line.t.length > 0 && (line.t[0] ?? 0) > 0;
    return [
      steps ? [0, ...line.t] : [...line.t],
      steps ? [line.y[0] ?? null, ...line.y] : [...line.y],
    ] as uPlot.AlignedData;
  });
  return tables.length === 1 && tables[0] ? tables[0] : uPlot.join(tables);
}

function seriesOf(line: Line): uPlot.Series {
  const own = ink(`--s${line.style % 8}`);
  const circles = { show: true, size: 6, space: 0, stroke: own, fill: ink("--paper"), width: 1.6 };
  return {
    label: line.label,
    stroke: line.plain ? ink("--soft") : own,
    width: line.plain ? 1.4 : 1.8,
    dash: [...(line.dash ?? dash(line.style))],
    points: line.kind === "points" ? circles : { show: false },
    ...(line.kind === "steps" && uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: -1 }) } : {}),
    ...(line.kind === "points" ? { paths: () => null } : {}),
  };
}

export class TimePlot implements Member {
  readonly element: HTMLElement;
  private readonly host: HTMLElement;
  private readonly legend: HTMLElement;
  private readonly summary: HTMLElement;
  private plot: uPlot | null = null;
  private options: PlotOptions;
  private shown = false;

  constructor(
    private readonly axis: TimeAxis,
    options: PlotOptions,
  ) {
    this.options = options;
    this.host = h("div", {
      class: "plot",
      tabindex: 0,
      role: "group",
      "aria-roledescription": "plot over time",
      "aria-label": `${options.title}: ${HELP}`,
      onkeydown: (event: KeyboardEvent) => this.press(event),
    });
    // Its room is there before it is drawn: nothing moves under the reader.
    this.host.style.minHeight = `${this.height()}px`;
    this.legend = h("ul", { class: "legend" });
    this.summary = h("p", { class: "away" });
    const tools = saves(
      options.title,
      () => this.svg(),
      () => this.sheet(),
    );
    this.element = h(
      "figure",
      { class: "timeplot" },
      h(
        "figcaption",
        {},
        h("span", { class: "title" }, options.title),
        options.about ? h("span", { class: "about" }, options.about) : null,
        tools,
      ),
      this.legend,
      this.host,
      this.summary,
    );
    axis.join(this);
    onTheme(() => this.plot?.redraw(true, true));
    // Drawn when it comes near what is in sight: a page of a large lab opens at once.
    const seen = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) {
          seen.disconnect();
          this.draw();
        }
      },
      { rootMargin: "600px" },
    );
    seen.observe(this.element);
    window.addEventListener("beforeprint", () => this.draw());
    new ResizeObserver(() => this.fit()).observe(this.host);
    this.describe();
  }

  /** Other lines in the same place. */
  update(lines: Line[]): void {
    this.options = { ...this.options, lines };
    this.element.hidden = lines.length === 0;
    this.describe();
    if (this.shown) {
      this.plot?.destroy();
      this.plot = null;
      this.draw();
    }
  }

  show(from: number, to: number): void {
    this.plot?.setScale("x", { min: from, max: to });
  }

  point(at: number | null): void {
    this.values(at);
    const plot = this.plot;
    if (!plot) return;
    const left = at === null || at < this.axis.from || at > this.axis.to ? -10 : plot.valToPos(at, "x");
    if (Math.abs((plot.cursor.left ?? -10) - left) > 0.5) plot.setCursor({ left, top: left < 0 ? -10 : 4 }, false);
  }

  private describe(): void {
    const { lines, format } = this.options;
    refill(
      this.legend,
      lines.map((line) => h("li", {}, sample(line), h("span", {}, line.label), h("output", { "aria-live": "off" }))),
    );
    const words = lines.map((line) => {
      const known = line.y.filter((value): value is number => value !== null);
      if (known.length === 0) return `${line.label}: no values`;
      const most = known.reduce((a, b) => Math.max(a, b), -Infinity);
      return `${line.label}: at most ${format(most)}, in the end ${format(known[known.length - 1] ?? 0)}`;
    });
    refill(this.summary, words.join("; "));
  }

  private values(at: number | null): void {
    const { lines, format } = this.options;
    this.legend.querySelectorAll("output").forEach((output, place) => {
      const line = lines[place];
      const value = line && at !== null ? valueAt(line, at) : null;
      output.textContent = value === null ? "" : format(value);
    });
  }

  private height(): number {
    return this.options.height ?? HEIGHT;
  }

  private draw(): void {
    this.shown = true;
    if (this.plot || this.host.clientWidth === 0 || this.options.lines.length === 0) return;
    this.plot = new uPlot(this.uplotOptions(), dataOf(this.options.lines), this.host);
    // What the axis does by itself is no wish of the reader.
    this.plot.setScale("x", { min: this.axis.from, max: this.axis.to });
  }

  private uplotOptions(): uPlot.Options {
    const { axis, options } = this;
    return {
      width: this.host.clientWidth,
      height: this.height(),
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: true },
        bind: {
          dblclick: () => () => {
            axis.reset();
            return null;
          },
        },
      },
      scales: {
        x: { time: false, auto: false, min: axis.from, max: axis.to },
        y: { range: (_plot, least, most) => this.range(least, most) },
      },
      axes: [
        { ...LOOK, size: 30, values: (_plot, all) => all.map((value) => `${digits(value, 7)} s`), space: 80 },
        { ...LOOK, size: 86, values: (_plot, all) => all.map((value) => this.options.format(value)), space: 34 },
      ],
      series: [{}, ...options.lines.map(seriesOf)],
      hooks: {
        setScale: [
          (plot, key) => {
            const { min, max } = plot.scales[key] ?? {};
            if (key !== "x" || min == null || max == null) return;
            axis.set(min, max);
            Object.assign(this.host.dataset, { from: digits(min, 8), to: digits(max, 8) });
          },
        ],
        setCursor: [
          (plot) => {
            const left = plot.cursor.left ?? -1;
            axis.point(left < 0 ? null : plot.posToVal(left, "x"));
          },
        ],
        drawClear: [(plot) => drawFaults(plot, axis)],
        drawAxes: [(plot) => drawMarks(plot, axis.marks)],
      },
    };
  }

  private range(least: number | null, most: number | null): [number, number] {
    const high = most === null || !Number.isFinite(most) ? 1 : most;
    if (this.options.fromZero === false && least !== null && high > least) {
      const room = (high - least) * 0.06;
      return [least - room, high + room];
    }
    return [0, high <= 0 ? 1 : high * 1.08];
  }

  private fit(): void {
    const width = this.host.clientWidth;
    if (!this.plot) {
      if (this.shown) this.draw();
    } else if (width > 0 && width !== this.plot.width) {
      this.plot.setSize({ width, height: this.plot.height });
    }
  }

  private press(event: KeyboardEvent): void {
    const axis = this.axis;
    const step = (axis.to - axis.from) / 60;
    const move = (by: number): void => {
      const at = Math.min(Math.max((axis.cursor ?? (axis.from + axis.to) / 2) + by, axis.from), axis.to);
      axis.point(at);
      const words = this.options.lines.map((line) => {
        const value = valueAt(line, at);
        return `${line.label} ${value === null ? "none" : this.options.format(value)}`;
      });
      announce(`at ${digits(at)} s: ${words.join(", ")}`);
    };
    const acts: Record<string, () => void> = {
      ArrowLeft: () => (event.shiftKey ? axis.pan(-0.25) : move(-step)),
      ArrowRight: () => (event.shiftKey ? axis.pan(0.25) : move(step)),
      "+": () => axis.zoom(0.5),
      "=": () => axis.zoom(0.5),
      "-": () => axis.zoom(2),
      _: () => axis.zoom(2),
      Home: () => axis.reset(),
      "0": () => axis.reset(),
      Escape: () => axis.point(null),
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  /** What is in sight, as a picture for paper. */
  private svg(): string {
    const { lines, format, title, fromZero } = this.options;
    const { from, to } = this.axis;
    const seen = lines.flatMap((line) =>
      line.y.filter((value, place): value is number => {
        const at = line.t[place] ?? -1;
        return value !== null && at >= from && at <= to;
      }),
    );
    const [least, most] = [
      seen.reduce((a, b) => Math.min(a, b), Infinity),
      seen.reduce((a, b) => Math.max(a, b), -Infinity),
    ];
    const [low, high] = fromZero === false && most > least ? [least, most] : [0, most > 0 ? most * 1.08 : 1];
    const keys: (Key & { line: Line })[] = lines.map((line) => ({
      line,
      label: line.label,
      style: line.style,
      ...(line.plain ? { plain: true } : {}),
      ...(line.dash ? { dash: line.dash } : {}),
    }));
    const made = chart({
      title,
      about: "",
      palette: PAPER,
      width: 900,
      height: 300,
      keys,
      x: { kind: "linear", from, to, format: (value) => digits(value, 7), name: "time in s" },
      y: { kind: "linear", from: low, to: high, format, name: "" },
    });
    const clip = s(
      "clipPath",
      { id: "in" },
      s("rect", {
        x: made.inner.left,
        y: made.inner.top,
        width: made.inner.right - made.inner.left,
        height: made.inner.bottom - made.inner.top,
      }),
    );
    const group = s("g", { "clip-path": "url(#in)" });
    for (const { line, ...key } of keys) {
      const points = line.t.map((at, place) => [at, line.y[place] ?? null] as const);
      if (line.kind === "points") {
        for (const [at, value] of points) {
          if (value !== null)
            group.append(
              s("circle", {
                cx: made.x(at).toFixed(1),
                cy: made.y(value).toFixed(1),
                r: 2.6,
                style: `fill:none;stroke:${PAPER.series[line.style % 8]}`,
              }),
            );
        }
      } else {
        const first = points[0];
        group.append(svgLine(made, line.kind === "steps" && first ? stepped(points) : points, PAPER, key));
      }
    }
    for (const mark of this.axis.marks.filter((mark) => mark.t >= from && mark.t <= to)) {
      group.append(
        s(
          "path",
          {
            d: `M${made.x(mark.t).toFixed(1)} ${made.inner.top}V${made.inner.bottom}`,
            style: "stroke:#57606a;stroke-dasharray:3 3;fill:none",
          },
          s("title", {}, mark.text),
        ),
      );
    }
    group.prepend(...this.shades(made, from, to));
    made.add(clip, group);
    return svgText(made.svg);
  }

  /** The shades of a picture that is saved. */
  private shades(made: Chart, from: number, to: number): SVGElement[] {
    const { faults, end } = this.axis;
    const seen = faults.filter((fault) => fault.from <= to && (fault.to ?? end) >= from);
    return seen.map((fault) => {
      const [left, right] = [made.x(Math.max(fault.from, from)), made.x(Math.min(fault.to ?? end, to))];
      const { top, bottom } = made.inner;
      const place = { x: left.toFixed(1), y: top, width: Math.max(right - left, 1).toFixed(1), height: bottom - top };
      return s("rect", { ...place, style: "fill:#d1242f;fill-opacity:.12" }, s("title", {}, fault.text));
    });
  }

  /** All of its data. */
  private sheet(): Sheet {
    const { lines, unit } = this.options;
    const suffix = unit ? ` [${unit}]` : "";
    const only = lines[0];
    if (only && lines.every((line) => line.t === only.t)) {
      return {
        head: ["time_s", ...lines.map((line) => line.label + suffix)],
        rows: only.t.map((at, place) => [at, ...lines.map((line) => line.y[place])]),
      };
    }
    return {
      head: ["line", "time_s", `value${suffix}`],
      rows: lines.flatMap((line) => line.t.map((at, place) => [line.label, at, line.y[place]])),
    };
  }
}

/** The corners of steps whose values hold from the instant before. */
function stepped(points: readonly (readonly [number, number | null])[]): (readonly [number, number | null])[] {
  let from = 0;
  return points.flatMap(([at, value]) => {
    const corners = [
      [from, value],
      [at, value],
    ] as const;
    from = at;
    return corners;
  });
}

/** A piece of the line, for the legend. */
export function sample(line: Pick<Line, "style" | "plain" | "dash" | "kind">): SVGSVGElement {
  const style = `stroke:var(${line.plain ? "--soft" : `--s${line.style % 8}`});stroke-width:2.2;fill:none`;
  return s(
    "svg",
    { class: "sample", width: 30, height: 10, "aria-hidden": "true" },
    line.kind === "points"
      ? s("circle", { cx: 15, cy: 5, r: 3.4, style })
      : s("path", {
          d: "M0 5H30",
          style: `${style};stroke-dasharray:${(line.dash ?? DASHES[line.style % DASHES.length] ?? []).join(" ") || "none"}`,
        }),
  );
}

/** A shade over each span in which something was wrong. */
function drawFaults(plot: uPlot, { faults, end }: TimeAxis): void {
  const { ctx, bbox } = plot;
  const { min, max } = plot.scales.x ?? {};
  if (min == null || max == null) return;
  ctx.save();
  ctx.fillStyle = colour("--fault");
  for (const { from, to } of faults) {
    const [begin, until] = [Math.max(from, min), Math.min(to ?? end, max)];
    if (until < begin) continue;
    const left = plot.valToPos(begin, "x", true);
    // One that is over at once is seen, too.
    const width = Math.max(plot.valToPos(until, "x", true) - left, 1);
    ctx.fillRect(left, bbox.top, width, bbox.height);
  }
  ctx.restore();
}

/** A dashed line at each mark, and its number where there is room. */
function drawMarks(plot: uPlot, marks: readonly Mark[]): void {
  const { ctx, bbox } = plot;
  const { min, max } = plot.scales.x ?? {};
  const ratio = window.devicePixelRatio || 1;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colour("--mark");
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  ctx.font = `${10 * ratio}px system-ui,sans-serif`;
  ctx.textAlign = "center";
  let last = -Infinity;
  marks.forEach((mark, number) => {
    if (mark.t < (min ?? 0) || mark.t > (max ?? 0)) return;
    const x = Math.round(plot.valToPos(mark.t, "x", true)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (x - last > 20 * ratio) {
      ctx.fillText(String(number + 1), x, bbox.top - 4 * ratio);
      last = x;
    }
  });
  ctx.restore();
}
