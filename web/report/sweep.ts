// A sweep: what its runs show together.
import { PAPER, type Palette, SCREEN, text } from "../components/chart";
import { type Child, choice, fresh, h, refill, section } from "../components/dom";
import { type Sheet, saves } from "../components/download";
import { counted, whole } from "../components/format";
import { type Measured, measured } from "../components/measure";
import type { Point, Sweep } from "./data";
import { badge, fact, facts, frame } from "./frame";
import { tables } from "./points";
import { leftOut, runSection } from "./runs";
import { type Arranged, boxes, type Cells, type Drawing, distributions, heat, MOST_CURVES, means } from "./statistics";

export function showSweep(sweep: Sweep): HTMLElement {
  return frame({
    title: sweep.lab,
    under: [
      `sweep ${sweep.name}`,
      ` · ${counted(sweep.total, "run")} of ${counted(sweep.points.length, "point")}`,
      ` · clock: ${sweep.clock}`,
      ` · Netloom ${sweep.version}`,
    ],
    notes: sweep.notes,
    sections: [overview(sweep), statistics(sweep), tables(sweep), leftOut(sweep), runSection(sweep), labSection(sweep)],
  });
}

function overview(sweep: Sweep): HTMLElement {
  const missing = sweep.total - sweep.as_described - sweep.not_as_described - sweep.failed;
  const counts = sweep.as_described + (sweep.counts_all ? sweep.not_as_described : 0);
  const badges: Child[] = [
    badge(sweep.as_described > 0 ? "good" : "plain", `${whole(sweep.as_described)} as described`),
    " ",
    sweep.not_as_described > 0 ? [badge("bad", `${whole(sweep.not_as_described)} NOT as described`), " "] : null,
    sweep.failed > 0 ? [badge("bad", `${whole(sweep.failed)} failed`), " "] : null,
    missing > 0 ? [badge("caution", `${whole(missing)} have not ended`), " "] : null,
    sweep.unmet > 0 ? badge("caution", `${whole(sweep.unmet)} with unmet expectations`) : null,
  ];
  return section(
    "overview",
    "Overview",
    h("p", { class: "verdict" }, badges),
    h(
      "p",
      {},
      `The figures below are of ${counted(counts, "run")}. `,
      sweep.counts_all
        ? "The lab file counts runs that were not as described, too."
        : "Runs that were not as described or failed are left out of all figures, and are listed below.",
    ),
    facts(
      fact("points", whole(sweep.points.length)),
      fact("repetitions", whole(sweep.repetitions)),
      fact("parameters", sweep.parameters.join(", ") || "none"),
      fact("lab file", sweep.lab_file),
    ),
  );
}

/** How values of a parameter stand along the axis: evenly, or as the numbers that they are. */
type Spacing = "even" | "linear" | "log";
/** Values that are so many times as large as the least are told apart by their logarithms alone. */
const WIDE = 50;

/** What the reader has chosen to see: a figure, and others of its unit beside it. */
interface Chosen {
  figure: number;
  beside: Set<number>;
  along: number;
  by: number;
  filters: Map<number, string>;
  fromZero: boolean;
  spacing: Spacing | null;
}

const valuesOf = (sweep: Sweep, parameter: number): string[] => [
  ...new Set(sweep.points.map((point) => point.values[parameter] ?? "")),
];

function statistics(sweep: Sweep): HTMLElement | null {
  if (sweep.figures.length === 0 || sweep.points.length === 0) return null;
  const varied = sweep.parameters.map((_, place) => place).filter((place) => valuesOf(sweep, place).length > 1);
  // The longest list makes the best axis.
  const ranked = [...varied].sort((one, other) => valuesOf(sweep, other).length - valuesOf(sweep, one).length);
  const by = ranked.find((place) => place !== ranked[0] && valuesOf(sweep, place).length <= MOST_CURVES) ?? -1;
  const chosen: Chosen = {
    figure: 0,
    beside: new Set(),
    along: ranked[0] ?? -1,
    by,
    filters: new Map(),
    fromZero: true,
    spacing: null,
  };
  const place = h("div", { class: "charts" });
  const controls = h("div", { class: "controls" });
  const refresh = (): void => {
    refill(controls, controlsOf(sweep, varied, chosen, refresh));
    refill(place, charts(sweep, chosen));
  };
  refresh();
  return section("statistics", "Figures", controls, place);
}

function controlsOf(sweep: Sweep, varied: number[], chosen: Chosen, refresh: () => void): Child[] {
  const after = (change: () => void): void => {
    change();
    refresh();
  };
  const parameter = (place: number): { value: string; text: string } => ({
    value: String(place),
    text: sweep.parameters[place] ?? "",
  });
  const others = varied.filter((place) => place !== chosen.along && place !== chosen.by);
  return [
    choice(
      "figure",
      sweep.figures.map((figure, place) => ({ value: String(place), text: figure.name })),
      String(chosen.figure),
      (value) =>
        after(() => {
          chosen.figure = Number(value);
          chosen.beside.clear();
        }),
    ),
    varied.length > 0
      ? choice("along", varied.map(parameter), String(chosen.along), (value) =>
          after(() => {
            chosen.along = Number(value);
            chosen.spacing = null;
            if (chosen.by === chosen.along) chosen.by = -1;
          }),
        )
      : null,
    varied.length > 1
      ? choice(
          "lines",
          [{ value: "-1", text: "one" }, ...varied.filter((place) => place !== chosen.along).map(parameter)],
          String(chosen.by),
          (value) => after(() => (chosen.by = Number(value))),
        )
      : null,
    others.map((place) => {
      const values = valuesOf(sweep, place);
      if (!chosen.filters.has(place)) chosen.filters.set(place, values[0] ?? "");
      return choice(
        sweep.parameters[place] ?? "",
        values.map((value) => ({ value, text: value })),
        chosen.filters.get(place) ?? "",
        (value) => after(() => chosen.filters.set(place, value)),
      );
    }),
    scaleOf(sweep, chosen.along)
      ? choice(
          "spacing",
          [
            { value: "linear", text: "to scale" },
            ...(positive(sweep, chosen.along) ? [{ value: "log", text: "logarithmic" }] : []),
            { value: "even", text: "even" },
          ],
          spacing(sweep, chosen),
          (value) => after(() => (chosen.spacing = value as Spacing)),
        )
      : null,
    choice(
      "axis",
      [
        { value: "zero", text: "from zero" },
        { value: "fit", text: "fitted" },
      ],
      chosen.fromZero ? "zero" : "fit",
      (value) => after(() => (chosen.fromZero = value === "zero")),
    ),
    beside(sweep, chosen, after),
  ];
}

/** Other figures of the same unit, to be drawn in the same plots. */
function beside(sweep: Sweep, chosen: Chosen, after: (change: () => void) => void): Child {
  const unit = sweep.figures[chosen.figure]?.unit;
  const others = sweep.figures
    .map((figure, place) => ({ figure, place }))
    .filter(({ figure, place }) => place !== chosen.figure && figure.unit === unit)
    .slice(0, MOST_BESIDE);
  if (others.length === 0) return null;
  return h(
    "fieldset",
    { class: "chips" },
    h("legend", {}, "in the same plots"),
    others.map(({ figure, place }) => {
      const id = fresh("beside");
      const box = h("input", {
        type: "checkbox",
        id,
        checked: chosen.beside.has(place),
        onchange: () =>
          after(() => {
            if (box.checked) chosen.beside.add(place);
            else chosen.beside.delete(place);
          }),
      });
      return h("span", { class: "chip" }, box, h("label", { for: id }, figure.name));
    }),
  );
}

/** Figures that are offered beside another one, and curves that a plot has at most. */
const [MOST_BESIDE, MOST_GROUPS] = [40, 24];

const scaleOf = (sweep: Sweep, along: number): Measured | null => (along < 0 ? null : measured(valuesOf(sweep, along)));
const positive = (sweep: Sweep, along: number): boolean =>
  scaleOf(sweep, along)?.numbers.every((number) => number > 0) ?? false;

function spacing(sweep: Sweep, chosen: Chosen): Spacing {
  const scale = scaleOf(sweep, chosen.along);
  if (!scale) return "even";
  if (chosen.spacing) return chosen.spacing;
  return positive(sweep, chosen.along) && Math.max(...scale.numbers) / Math.min(...scale.numbers) >= WIDE
    ? "log"
    : "linear";
}

function arrange(sweep: Sweep, chosen: Chosen): Arranged {
  const fits = (point: Point): boolean =>
    sweep.parameters.every(
      (_, place) =>
        place === chosen.along ||
        place === chosen.by ||
        !chosen.filters.has(place) ||
        point.values[place] === chosen.filters.get(place),
    );
  const points = sweep.points.filter(fits);
  const how = spacing(sweep, chosen);
  const values = chosen.along < 0 ? ["all runs"] : valuesOf(sweep, chosen.along);
  const numbers = how === "even" ? null : scaleOf(sweep, chosen.along);
  const order = values
    .map((name, place) => ({ name, number: numbers?.numbers[place] ?? place }))
    .sort((one, other) => one.number - other.number);
  const names = order.map(({ name }) => name);
  const groups = chosen.by < 0 ? [""] : valuesOf(sweep, chosen.by);
  const at = new Map(
    points.map((point) => [`${point.values[chosen.along] ?? "all runs"}\n${point.values[chosen.by] ?? ""}`, point]),
  );
  return {
    names,
    axis: sweep.parameters[chosen.along] ?? "",
    scale: numbers && { numbers: order.map(({ number }) => number), format: numbers.format, log: how === "log" },
    groups: figuresOf(chosen)
      .flatMap((figure) =>
        groups.map((label) => ({
          figure,
          label: [
            chosen.beside.size > 0 ? (sweep.figures[figure]?.name ?? "") : "",
            label === "" ? "" : `${sweep.parameters[chosen.by]}: ${label}`,
          ]
            .filter(Boolean)
            .join(", "),
          points: names.map((name) => at.get(`${name}\n${label}`) ?? null),
        })),
      )
      .slice(0, MOST_GROUPS),
  };
}

const figuresOf = (chosen: Chosen): number[] => [chosen.figure, ...chosen.beside];

function charts(sweep: Sweep, chosen: Chosen): Child[] {
  const first = sweep.figures[chosen.figure];
  if (!first) return [];
  const figure = {
    unit: first.unit,
    name: figuresOf(chosen)
      .map((place) => sweep.figures[place]?.name ?? "")
      .join(", "),
  };
  const arranged = arrange(sweep, chosen);
  const fixed = [...chosen.filters]
    .filter(([place]) => place !== chosen.along && place !== chosen.by && valuesOf(sweep, place).length > 1)
    .map(([place, value]) => `${sweep.parameters[place]} ${value}`)
    .join(", ");
  const title = figure.name + (fixed ? `, ${fixed}` : "");
  const drawing = (palette: Palette, width: number): Drawing => ({
    figure,
    title,
    palette,
    width,
    fromZero: chosen.fromZero,
  });
  const summaries = arranged.groups.flatMap(({ label, points, figure: of }) =>
    points.map((point, number) => ({ label, name: arranged.names[number] ?? "", summary: point?.figures[of] ?? null })),
  );
  const head = [arranged.axis || "runs", "group"];
  const curves = summaries
    .map(({ label, name, summary }) => ({
      label: [arranged.axis && `${arranged.axis}: ${name}`, label].filter(Boolean).join(", ") || "all runs",
      values: summary?.values ?? [],
    }))
    .filter(({ values }) => values.length > 0);
  return [
    chartOf(
      `Means of ${title}`,
      "with 95 % confidence intervals, Student's t over repetitions",
      drawing,
      (how) => means(how, arranged),
      {
        head: [...head, "n", "mean", "ci95"],
        rows: summaries.map(({ label, name, summary }) => [name, label, summary?.n, summary?.mean, summary?.ci95]),
      },
    ),
    chartOf(`Box plots of ${title}`, "least, quartiles, most", drawing, (how) => boxes(how, arranged), {
      head: [...head, "n", "least", "q1", "median", "q3", "most"],
      rows: summaries.map(({ label, name, summary }) => [name, label, summary?.n, ...(summary?.q ?? [])]),
    }),
    chartOf(
      `Distribution of ${title}`,
      curves.length > MOST_CURVES
        ? `the first ${MOST_CURVES} of ${curves.length} points`
        : "empirical distribution functions",
      drawing,
      (how) => distributions(how, curves),
      {
        head: ["point", "value", "share"],
        rows: curves.flatMap(({ label, values }) =>
          values.map((value, place) => [label, value, (place + 1) / values.length]),
        ),
      },
    ),
    heatOf(sweep, chosen, drawing),
  ];
}

function chartOf(
  name: string,
  about: string,
  drawing: (palette: Palette, width: number) => Drawing,
  draw: (drawing: Drawing) => SVGSVGElement,
  sheet: Sheet,
): HTMLElement {
  const room = Math.min(Math.max(document.documentElement.clientWidth - 60, 320), 1100);
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("span", { class: "title" }, name),
      h("span", { class: "about" }, about),
      saves(
        name,
        () => text(draw(drawing(PAPER, 760))),
        () => sheet,
      ),
    ),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, draw(drawing(SCREEN, room))),
  );
}

function heatOf(sweep: Sweep, chosen: Chosen, drawing: (palette: Palette, width: number) => Drawing): Child {
  if (chosen.along < 0 || chosen.by < 0) return null;
  const rows = valuesOf(sweep, chosen.by);
  const arranged = arrange(sweep, { ...chosen, beside: new Set() });
  const cells: Cells = {
    x: sweep.parameters[chosen.along] ?? "",
    y: sweep.parameters[chosen.by] ?? "",
    columns: arranged.names,
    rows,
    values: rows.map((_, number) =>
      arranged.names.map((_, place) => arranged.groups[number]?.points[place]?.figures[chosen.figure]?.mean ?? null),
    ),
  };
  return chartOf(
    `Heat map of ${sweep.figures[chosen.figure]?.name}`,
    `the mean over ${cells.x} and ${cells.y}`,
    drawing,
    (how) => heat(how, cells),
    { head: [cells.y, ...arranged.names], rows: cells.values.map((row, number) => [rows[number], ...row]) },
  );
}

function labSection(sweep: Sweep): HTMLElement | null {
  if (!sweep.lab_text) return null;
  return section(
    "lab",
    "Lab file",
    h(
      "details",
      {},
      h("summary", {}, "lab.yaml"),
      h("pre", { class: "log", tabindex: 0, "aria-label": "the lab file" }, sweep.lab_text),
    ),
  );
}
