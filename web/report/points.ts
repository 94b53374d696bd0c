// The figures of a sweep as tables: means of all, and all of one.
import { type Child, choice, h, refill, section } from "../components/dom";
import { plusMinus, quantity, whole } from "../components/format";
import { type Column, table } from "../components/table";
import type { FigureName, Point, Sweep } from "./data";

/** Up to so many figures are in the table of all. */
const MOST_FIGURES = 12;

export function tables(sweep: Sweep): HTMLElement | null {
  if (sweep.points.length === 0) return null;
  const place = h("div");
  const show = (number: number): void => {
    const figure = sweep.figures[number];
    if (figure) refill(place, tableOf(sweep, figure, number));
  };
  show(0);
  return section(
    "tables",
    "Tables",
    means(sweep),
    sweep.figures.length > MOST_FIGURES
      ? h(
          "p",
          { class: "note" },
          `${sweep.figures.length - MOST_FIGURES} more figures are in points.csv, and below one by one.`,
        )
      : null,
    sweep.figures.length > 0
      ? [
          h(
            "p",
            { class: "controls" },
            choice(
              "figure",
              sweep.figures.map((figure, number) => ({ value: String(number), text: figure.name })),
              "0",
              (value) => show(Number(value)),
            ),
          ),
          place,
        ]
      : null,
  );
}

/** What a point is: the values of parameters, or its number. */
const namesOf = (sweep: Sweep): Column<Point>[] =>
  sweep.parameters.length > 0
    ? sweep.parameters.map((name, place) => ({
        name,
        show: (point): Child => point.values[place] ?? "",
        value: (point) => point.values[place],
      }))
    : [{ name: "point", show: (point): Child => String(point.point), value: (point) => String(point.point) }];

function means(sweep: Sweep): HTMLElement {
  const figures = sweep.figures
    .slice(0, MOST_FIGURES)
    .map(
      (figure, place): Column<Point> => ({
        name: figure.name,
        numeric: true,
        show: (point) => mean(point, place, figure),
        value: (point) => mean(point, place, figure),
      }),
    );
  const runs: Column<Point> = {
    name: "runs",
    numeric: true,
    show: (point) => (point.left_out > 0 ? `${point.counted} (${point.left_out} left out)` : String(point.counted)),
    value: (point) => point.counted,
  };
  return table(
    "means of all figures, with 95 % confidence intervals",
    [...namesOf(sweep), runs, ...figures],
    sweep.points,
  );
}

const mean = (point: Point, place: number, figure: FigureName): string =>
  plusMinus(point.figures[place]?.mean, point.figures[place]?.ci95, figure.unit);

/** All that is known of one figure at each point. */
function tableOf(sweep: Sweep, figure: FigureName, number: number): HTMLElement {
  const cell = (name: string, of: (point: Point) => number | null | undefined): Column<Point> => ({
    name,
    numeric: true,
    show: (point) => quantity(of(point), figure.unit),
    value: of,
  });
  const count: Column<Point> = {
    name: "n",
    numeric: true,
    show: (point) => whole(point.figures[number]?.n ?? 0),
    value: (point) => point.figures[number]?.n,
  };
  return table(
    `${figure.name}${figure.unit ? ` [${figure.unit}]` : ""} at each point`,
    [
      ...namesOf(sweep),
      count,
      cell("mean", (point) => point.figures[number]?.mean),
      cell("± (95 %)", (point) => point.figures[number]?.ci95),
      cell("deviation", (point) => point.figures[number]?.deviation),
      cell("least", (point) => point.figures[number]?.q?.[0]),
      cell("median", (point) => point.figures[number]?.q?.[2]),
      cell("most", (point) => point.figures[number]?.q?.[4]),
    ],
    sweep.points,
  );
}
