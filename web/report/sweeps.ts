// Two sweeps side by side: each difference with its interval.
import { chart, PAPER, type Palette, SCREEN, seriesColour, shortened, text } from "../components/chart";
import { type Child, choice, h, refill, s, section } from "../components/dom";
import { type Sheet, saves } from "../components/download";
import { counted, plusMinus, quantity, share, whole } from "../components/format";
import { type Column, table } from "../components/table";
import type { FigureName, Sweep, Sweeps } from "./data";
import { badge, fact, facts, frame } from "./frame";

type Row = Sweeps["rows"][number];

export function showSweeps(page: Sweeps): HTMLElement {
  const [a, b] = page.sweeps;
  return frame({
    title: a.lab === b.lab ? `${a.lab}: two sweeps` : `${a.lab} and ${b.lab}`,
    under: [`A: ${a.name}`, ` · B: ${b.name}`, " · differences are B − A"],
    notes: [...a.notes.map((note) => `A: ${note}`), ...b.notes.map((note) => `B: ${note}`)],
    sections: [overview(page), differences(page)],
  });
}

function overview(page: Sweeps): HTMLElement {
  const one = (letter: string, sweep: Sweep): Child => [
    h("h3", {}, `${letter}: ${sweep.name}`),
    facts(
      fact("as described", whole(sweep.as_described)),
      fact("left out", whole((sweep.counts_all ? 0 : sweep.not_as_described) + sweep.failed)),
      fact("points", whole(sweep.points.length)),
      fact("repetitions", whole(sweep.repetitions)),
      fact("clock", sweep.clock),
      fact("lab file", sweep.lab_file),
    ),
  ];
  return section(
    "overview",
    "Overview",
    one("A", page.sweeps[0]),
    one("B", page.sweeps[1]),
    page.unmatched > 0
      ? h(
          "p",
          { class: "note" },
          `${counted(page.unmatched, "point")} without a partner of the same values in the other sweep: left out.`,
        )
      : null,
    page.left_out > 0
      ? h("p", { class: "note" }, `${whole(page.left_out)} more differences have no room on this page.`)
      : null,
  );
}

/** Whether the interval leaves zero out. */
function finding(row: Row): HTMLElement {
  const { difference } = row;
  if (!difference || difference.ci95 === null) return badge("plain", "not known: too few runs");
  if (Math.abs(difference.mean) <= difference.ci95) return badge("plain", "no difference shown");
  return badge("caution", difference.mean > 0 ? "B is larger" : "B is smaller");
}

function signed(value: number, unit: string, count?: number): string {
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${quantity(Math.abs(value), unit, count)}`;
}

const differenceWords = ({ mean, ci95 }: NonNullable<Row["difference"]>, unit: string): string =>
  plusMinus(mean, ci95, unit, { count: 3, signed: true });

function differences(page: Sweeps): HTMLElement {
  const place = h("div");
  const show = (number: number): void => {
    const figure = page.figures[number];
    if (!figure) return;
    const rows = page.rows.filter((row) => row.figure === number);
    refill(place, forestFigure(page, rows, number, figure), bothTable(page, rows, figure));
  };
  show(0);
  return section(
    "differences",
    "Differences",
    h(
      "p",
      { class: "controls" },
      choice(
        "figure",
        page.figures.map((figure, number) => ({ value: String(number), text: figure.name })),
        "0",
        (value) => show(Number(value)),
      ),
    ),
    place,
    h(
      "p",
      { class: "about" },
      "Each interval has the true difference with 95 % confidence by itself. Of twenty independent comparisons without a difference, one is expected to show one by chance.",
    ),
  );
}

/** Rows that the plot on the page has; what is saved has all. */
const MOST_ROWS = 60;

function forestFigure(page: Sweeps, rows: Row[], number: number, figure: FigureName): HTMLElement {
  const name = `difference of ${figure.name}`;
  const width = Math.min(Math.max(document.documentElement.clientWidth - 60, 320), 1100);
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("span", { class: "title" }, name),
      h("span", { class: "about" }, "B − A, with the 95 % confidence interval of Welch"),
      saves(
        name,
        () => text(forest(page, rows, number, PAPER, 760)),
        () => sheetOf(page, rows),
      ),
    ),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": name },
      forest(page, rows.slice(0, MOST_ROWS), number, SCREEN, width),
    ),
  );
}

const sheetOf = ({ parameters }: Sweeps, rows: Row[]): Sheet => ({
  head: [...parameters, "a_n", "a_mean", "a_ci95", "b_n", "b_mean", "b_ci95", "difference", "ci95"],
  rows: rows.map(({ values, a, b, difference }) => [
    ...values,
    a.n,
    a.mean,
    a.ci95,
    b.n,
    b.mean,
    b.ci95,
    difference?.mean,
    difference?.ci95,
  ]),
});

function bothTable(page: Sweeps, rows: Row[], { name, unit }: FigureName): HTMLElement {
  const side = (title: string, of: (row: Row) => Row["a"]): Column<Row> => ({
    name: title,
    numeric: true,
    show: (row) => [plusMinus(of(row).mean, of(row).ci95, unit), h("small", {}, ` n ${of(row).n}`)],
    value: (row) => plusMinus(of(row).mean, of(row).ci95, unit),
  });
  const points: Column<Row>[] =
    page.parameters.length > 0
      ? page.parameters.map((parameter, at) => ({
          name: parameter,
          show: (row): Child => row.values[at] ?? "",
          value: (row) => row.values[at],
        }))
      : [{ name: "point", show: (): Child => "all runs", value: () => "all runs" }];
  const difference: Column<Row> = {
    name: "B − A",
    numeric: true,
    show: (row) => (row.difference ? [differenceWords(row.difference, unit), relative(row)] : "–"),
    value: (row) => (row.difference ? differenceWords(row.difference, unit) : null),
  };
  return table(
    `${name} in both sweeps`,
    [
      ...points,
      side("A", (row) => row.a),
      side("B", (row) => row.b),
      difference,
      { name: "finding", show: finding, value: (row) => finding(row).textContent },
    ],
    rows,
  );
}

/** The difference as a part of A. */
function relative({ a, difference }: Row): Child {
  if (!difference || !a.mean) return null;
  return h("small", {}, ` ${difference.mean < 0 ? "−" : "+"}${share(Math.abs(difference.mean / a.mean))}`);
}

function forest(page: Sweeps, rows: Row[], number: number, palette: Palette, width: number): SVGSVGElement {
  const figure = page.figures[number] ?? { name: "", unit: "" };
  const known = rows.flatMap(({ difference }) =>
    difference ? [difference.mean - (difference.ci95 ?? 0), difference.mean + (difference.ci95 ?? 0)] : [],
  );
  const [least, most] = [Math.min(0, ...known), Math.max(0, ...known)];
  const room = (most - least || 1) * 0.06;
  const made = chart({
    title: palette === PAPER ? `difference of ${figure.name}, B − A` : "",
    about: "differences with their 95 % confidence intervals",
    palette,
    width,
    height: 90 + rows.length * 26,
    x: {
      kind: "linear",
      from: least - room,
      to: most + room,
      format: (value) => (value === 0 ? "0" : signed(value, figure.unit, 3)),
      name: `${figure.name}: B − A`,
    },
    y: {
      kind: "band",
      names: rows.map((row) => shortened(row.values.join(", ") || "all runs", 40)).reverse(),
      name: page.parameters.join(", "),
    },
  });
  made.add(
    s("path", {
      d: `M${made.x(0).toFixed(1)} ${made.inner.top}V${made.inner.bottom}`,
      style: `stroke:${palette.ink};stroke-width:1.4`,
    }),
  );
  rows.forEach(({ difference }, place) => {
    if (!difference) return;
    const y = made.y(rows.length - 1 - place);
    const shows = difference.ci95 !== null && Math.abs(difference.mean) > difference.ci95;
    const colour = shows ? seriesColour(palette, 1) : palette.soft;
    const [from, to] = [
      made.x(difference.mean - (difference.ci95 ?? 0)),
      made.x(difference.mean + (difference.ci95 ?? 0)),
    ];
    made.add(
      s("path", {
        d: `M${from.toFixed(1)} ${y.toFixed(1)}H${to.toFixed(1)}M${from.toFixed(1)} ${(y - 5).toFixed(1)}v10M${to.toFixed(1)} ${(y - 5).toFixed(1)}v10`,
        style: `stroke:${colour};stroke-width:2;fill:none;stroke-dasharray:none`,
      }),
      s("circle", {
        cx: made.x(difference.mean).toFixed(1),
        cy: y.toFixed(1),
        r: 4.4,
        style: `fill:${shows ? colour : palette.paper};stroke:${colour};stroke-width:2`,
      }),
    );
  });
  return made.svg;
}
