// Everything over the same time: what links carried and what waited in them, drops, and TCP connections.
import { TimeAxis } from "../components/axis";
import { button, type Child, fresh, h, refill, section } from "../components/dom";
import { digits, rate, span, whole } from "../components/format";
import { before, type Line, sample, TimePlot } from "../components/plot";
import { drops, type PipeKey, pipeName, type Run, runLabel, type Series, samePipe, use } from "./data";
import { nodePlots } from "./nodes";
import { journalPlots, tcpPlots } from "./tcp";

/** What the map calls when a link is chosen. */
export interface Chosen {
  choose: (link: string) => void;
}

/** A described rate that is so many times higher than all that was carried would leave no room for the curve. */
const OUT_OF_SIGHT = 4;
const MOST_SHOWN = 8;
const CAUSES: Record<string, string> = { queue: "queue full", early: "dropped early", loss: "lost", down: "link down" };

/** A curve of a run: whose it is, and how it is drawn. */
interface Curve {
  run: Run;
  series: Series;
  label: string;
  style: number;
}

export function timeSection(runs: Run[], chosen: Chosen): HTMLElement | null {
  const [first] = runs;
  const hasTcp = runs.some((run) => run.tcp.length > 0);
  if (!first || (runs.every((run) => run.series.length === 0) && !hasTcp)) return null;
  const axis = new TimeAxis(
    Math.max(...runs.map((run) => run.end), 1e-6),
    runs.length === 1 ? first.marks : [],
    runs.length === 1 ? first.faults : [],
  );
  const plots = [
    new TimePlot(axis, {
      title: "Throughput",
      about: "delivered, mean of each interval",
      unit: "bit/s",
      format: (value) => rate(value),
      lines: [],
      height: 220,
    }),
    new TimePlot(axis, {
      title: "Queue",
      about: "packets that waited, the most of each interval",
      unit: "packets",
      format: (value) => whole(value),
      lines: [],
    }),
    new TimePlot(axis, {
      title: "Queueing delay",
      about: "what waits, at the described rate",
      unit: "ns",
      format: (value) => span(value),
      lines: [],
    }),
    new TimePlot(axis, {
      title: "One-way delay",
      about: "from arrival at the link to delivery: 99th percentile, and the median in the plain colour",
      unit: "ns",
      format: (value) => span(value),
      lines: [],
    }),
    new TimePlot(axis, {
      title: "Drops by cause",
      about: "packets per second",
      unit: "packets/s",
      format: (value) => digits(value),
      lines: [],
    }),
  ] as const;
  const show = (curves: Curve[]): void => {
    plots[0].update(throughput(curves));
    plots[1].update(
      curves
        .filter(({ series }) => series.queue_packets.some((count) => count > 0))
        .map((curve) => steps(curve, curve.series.queue_packets)),
    );
    plots[2].update(
      curves
        .map((curve) => steps(curve, delays(curve.series)))
        .filter((line) => line.y.some((value) => (value ?? 0) > 0)),
    );
    plots[3].update(curves.flatMap((curve) => oneWay(curve)));
    plots[4].update(dropLines(curves));
  };
  const picker = runs.length === 1 ? manyPipes(first, show, chosen) : pipesOfRuns(runs, show);
  return section(
    "time",
    "Over time",
    toolbar(axis),
    h(
      "p",
      { class: "about" },
      "All plots share this axis. Drag to zoom into a stretch, double-click for the whole run; with a plot in focus, arrows, + and −, Home.",
    ),
    runs.length === 1 ? [markList(first, axis), faultList(first, axis)] : runList(runs),
    runs.some((run) => run.series.length > 0) ? [picker, plots.map((plot) => plot.element)] : null,
    hasTcp ? tcpPlots(runs, axis) : null,
    runs.length === 1 ? journalPlots(first, axis) : null,
    nodePlots(runs, axis),
  );
}

function steps({ series, label, style }: Curve, y: (number | null)[]): Line {
  return { label, t: series.t, y, style, kind: "steps" };
}

/** As far as it was sampled. */
function oneWay(curve: Curve): Line[] {
  const { one_way_p50: half, one_way_p99: most } = curve.series;
  if (!half || !most) return [];
  return [
    { ...steps(curve, most), label: `99 %, ${curve.label}` },
    { ...steps(curve, half), label: `median, ${curve.label}`, plain: true },
  ];
}

function throughput(curves: Curve[]): Line[] {
  const lines = curves.map((curve) => steps(curve, curve.series.rate));
  const highest = Math.max(...curves.flatMap(({ series }) => series.rate), 0);
  const known = new Set<string>();
  for (const { series, label } of curves) {
    const last = series.t[series.t.length - 1] ?? 0;
    const seen = series.rates.filter(([at]) => at <= last);
    const rates = seen.map(([, bits]) => bits);
    const shape = JSON.stringify(seen);
    if (rates.some((bits) => bits !== null && bits <= highest * OUT_OF_SIGHT) && !known.has(shape)) {
      known.add(shape);
      const corners = seen.flatMap(
        ([at, bits], place) =>
          [
            [at, bits],
            [seen[place + 1]?.[0] ?? last, bits],
          ] as [number, number | null][],
      );
      lines.push({
        label: `described${curves.length > 1 ? `, ${label}` : ""}`,
        t: nudged(corners.map(([at]) => at)),
        y: corners.map(([, bits]) => (bits !== null && bits <= highest * OUT_OF_SIGHT ? bits : null)),
        style: 0,
        plain: true,
        dash: [6, 3],
      });
    }
  }
  return lines;
}

/** Instants that rise, as plots want them, where several are the same. */
function nudged(t: number[]): number[] {
  let last = -1;
  return t.map((at) => (last = at > last ? at : last + 1e-9));
}

/** How long what waited takes at the rate that was described then; null where there is none. */
export function delays(series: Series): (number | null)[] {
  const from = series.rates.map(([at]) => at);
  return series.t.map((at, place) => {
    const bits = series.rates[before(from, at - 1e-9)]?.[1] ?? null;
    return bits ? ((series.queue_bytes[place] ?? 0) * 8e9) / bits : null;
  });
}

function dropLines(curves: Curve[]): Line[] {
  let style = 0;
  return curves.flatMap(({ series, label }) =>
    Object.entries(series.drops).map(
      ([cause, counts]): Line => ({
        label: `${label}: ${CAUSES[cause] ?? cause}, ${whole(counts.reduce((sum, count) => sum + count, 0))} in all`,
        t: series.t,
        y: counts.map((count, place) => count / Math.max((series.t[place] ?? 0) - (series.t[place - 1] ?? 0), 1e-9)),
        style: style++,
        kind: "steps",
      }),
    ),
  );
}

/** Which links of a run are drawn: several, each with a colour and dash of its own. */
function manyPipes(run: Run, show: (curves: Curve[]) => void, chosen: Chosen): HTMLElement {
  const weight = (series: Series): number => {
    const row = run.pipes.find((row) => samePipe(row, series));
    return row ? (use(row) ?? 0) + (drops(row) > 0 ? 1 : 0) + (row.queue_peak_packets > 1 ? 0.1 : 0) : 0;
  };
  const ranked = [...run.series].sort((one, other) => weight(other) - weight(one));
  let picked = ranked.slice(0, Math.min(3, ranked.length));
  const styles = new Map<Series, number>();
  const restyle = (): void => {
    for (const series of styles.keys()) if (!picked.includes(series)) styles.delete(series);
    for (const series of picked) {
      if (styles.has(series)) continue;
      const taken = new Set(styles.values());
      let style = 0;
      while (taken.has(style)) style += 1;
      styles.set(series, style);
    }
  };
  const row = (series: Series): number => run.pipes.findIndex((row) => samePipe(row, series));
  const boxes = [...run.series]
    .sort((one, other) => row(one) - row(other))
    .map((series) => {
      const id = fresh("pipe");
      const box = h("input", {
        type: "checkbox",
        id,
        onchange: () => {
          picked = box.checked ? [...picked, series].slice(-MOST_SHOWN) : picked.filter((one) => one !== series);
          refresh();
        },
      });
      const swatch = h("span", { class: "swatch" });
      return {
        series,
        box,
        swatch,
        item: h("span", { class: "chip" }, box, h("label", { for: id }, swatch, pipeName(series))),
      };
    });
  const refresh = (): void => {
    restyle();
    for (const { series, box, swatch } of boxes) {
      box.checked = picked.includes(series);
      refill(swatch, box.checked ? sample({ style: styles.get(series) ?? 0 }) : null);
    }
    show(picked.map((series) => ({ run, series, label: pipeName(series), style: styles.get(series) ?? 0 })));
  };
  chosen.choose = (link) => {
    const of = run.series.filter((series) => series.link === link);
    if (of.length > 0) picked = of.slice(0, MOST_SHOWN);
    refresh();
    document.getElementById("time")?.scrollIntoView({ behavior: "auto" });
  };
  refresh();
  return h(
    "fieldset",
    { class: "chips" },
    h("legend", {}, `links, at most ${MOST_SHOWN} at once`),
    boxes.map(({ item }) => item),
  );
}

/** Which links are drawn, each of all runs: several in one plot, as far as their curves are told apart. */
function pipesOfRuns(runs: Run[], show: (curves: Curve[]) => void): HTMLElement {
  const keys: PipeKey[] = [];
  for (const series of runs.flatMap((run) => run.series))
    if (!keys.some((key) => samePipe(key, series))) keys.push(series);
  const lost = (key: PipeKey): number =>
    runs.reduce((sum, run) => {
      const row = run.pipes.find((row) => samePipe(row, key));
      return sum + (row ? drops(row) + (use(row) ?? 0) : 0);
    }, 0);
  keys.sort((one, other) => lost(other) - lost(one));
  let picked = keys.slice(0, 1);
  const curves = (): Curve[] =>
    picked
      .flatMap((key) =>
        runs.flatMap((run, place) => {
          const series = run.series.find((series) => samePipe(series, key));
          return series
            ? [
                {
                  run,
                  series,
                  label: picked.length > 1 ? `${runLabel(runs, place)}: ${pipeName(key)}` : runLabel(runs, place),
                },
              ]
            : [];
        }),
      )
      .map((curve, style) => ({ ...curve, style }));
  const boxes = keys.map((key) => {
    const id = fresh("link");
    const box = h("input", {
      type: "checkbox",
      id,
      onchange: () => {
        picked = box.checked ? [...picked, key] : picked.filter((one) => one !== key);
        // The first that were picked go where there is no room.
        while (picked.length > 1 && curves().length > MOST_SHOWN) picked = picked.slice(1);
        refresh();
      },
    });
    return { key, box, item: h("span", { class: "chip" }, box, h("label", { for: id }, pipeName(key))) };
  });
  const refresh = (): void => {
    for (const { key, box } of boxes) box.checked = picked.includes(key);
    show(curves());
  };
  refresh();
  return h(
    "fieldset",
    { class: "chips" },
    h("legend", {}, `links, at most ${MOST_SHOWN} curves at once`),
    boxes.map(({ item }) => item),
  );
}

function runList(runs: Run[]): HTMLElement {
  return h(
    "ul",
    { class: "legend" },
    runs.map((_, style) => h("li", {}, sample({ style }), runLabel(runs, style))),
  );
}

function toolbar(axis: TimeAxis): HTMLElement {
  const [fromId, toId] = [fresh("from"), fresh("to")];
  const field = (id: string, apply: (value: number) => void): HTMLInputElement => {
    const input = h("input", {
      type: "number",
      id,
      step: "any",
      min: 0,
      onchange: () => {
        const value = Number(input.value);
        if (input.value !== "" && Number.isFinite(value)) apply(value);
      },
    });
    return input;
  };
  const from = field(fromId, (value) => axis.set(value, Math.max(axis.to, value + axis.end * 1e-3)));
  const to = field(toId, (value) => axis.set(Math.min(axis.from, value - axis.end * 1e-3), value));
  const whole = button("whole run", () => axis.reset());
  const say = (): void => {
    from.value = digits(axis.from, 6);
    to.value = digits(axis.to, 6);
    whole.disabled = axis.isWhole;
  };
  axis.onChange(say);
  say();
  return h(
    "div",
    { class: "toolbar", role: "group", "aria-label": "what is in sight" },
    button("←", () => axis.pan(-0.5), { "aria-label": "earlier" }),
    button("−", () => axis.zoom(2), { "aria-label": "zoom out" }),
    button("+", () => axis.zoom(0.5), { "aria-label": "zoom in" }),
    button("→", () => axis.pan(0.5), { "aria-label": "later" }),
    whole,
    h("label", { for: fromId }, "from"),
    from,
    h("label", { for: toId }, "to"),
    to,
    h("span", {}, "s"),
  );
}

/** What the numbers at the dashed lines mean. */
function markList(run: Run, axis: TimeAxis): Child {
  if (run.marks.length === 0) return null;
  const signs: Record<string, string> = { mark: "◆", link: "⇄", program: "▶" };
  const items = run.marks.map((mark) =>
    h(
      "li",
      {},
      button(
        `${digits(mark.t)} s`,
        () => {
          const half = Math.min((axis.to - axis.from) / 2, axis.end / 20);
          axis.set(mark.t - half, mark.t + half);
          axis.point(mark.t);
        },
        { class: "plain", "aria-label": `zoom to ${digits(mark.t)} s: ${mark.text}` },
      ),
      ` ${signs[mark.kind] ?? ""} ${mark.text}`,
    ),
  );
  return h(
    "details",
    { class: "marks", open: run.marks.length <= 12 },
    h("summary", {}, "marks: dashed lines in all plots"),
    h("ol", {}, items),
    run.marks_left_out > 0 ? h("p", { class: "note" }, `${run.marks_left_out} more are in events.jsonl.`) : null,
  );
}

/** How many faults are listed. */
const MOST_FAULTS = 200;

/** What the shades say. */
function faultList(run: Run, axis: TimeAxis): Child {
  const faults = run.faults ?? [];
  if (faults.length === 0) return null;
  const items = faults.slice(0, MOST_FAULTS).map(({ from, to, text }) => {
    const until = to ?? axis.end;
    const when = to === null ? `from ${digits(from)} s` : `${digits(from)} s to ${digits(to)} s`;
    return h(
      "li",
      {},
      button(
        when,
        () => {
          const room = Math.max((until - from) / 2, axis.end / 100);
          axis.set(from - room, until + room);
        },
        { class: "plain", "aria-label": `zoom to ${when}: ${text}` },
      ),
      ` ${text}`,
    );
  });
  const more = faults.length - items.length;
  return h(
    "details",
    { class: "marks faults", open: faults.length <= 12 },
    h("summary", {}, "faults: shaded in all plots"),
    h("ol", {}, items),
    more > 0 ? h("p", { class: "note" }, `${more} more are in events.jsonl.`) : null,
  );
}
