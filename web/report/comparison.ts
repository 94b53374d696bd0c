// Several runs side by side.
import { type Child, h, section } from "../components/dom";
import { quantity, share, span } from "../components/format";
import { table } from "../components/table";
import { type Comparison, drops, pipeName, type Run, runLabel, use } from "./data";
import { delaySection } from "./delays";
import { frame } from "./frame";
import { clockWords } from "./run";
import { fileLink } from "./surroundings";
import { timeSection } from "./time";
import { ending } from "./verdict";

interface Row {
  name: string;
  unit: string;
  values: (number | null)[];
}

export function showComparison({ runs }: Comparison): HTMLElement {
  return frame({
    title: [...new Set(runs.map((run) => run.lab))].join(" and "),
    under: [`${runs.length} runs side by side`],
    notes: runs.flatMap((run, place) => run.notes.map((note) => `${runLabel(runs, place)}: ${note}`)),
    sections: [overview(runs), figureSection(runs), timeSection(runs, { choose: () => undefined }), delaySection(runs)],
  });
}

function overview(runs: Run[]): HTMLElement {
  const rows = runs.map((run, place) => ({ run, place }));
  return section(
    "runs",
    "Runs",
    table(
      "all runs, side by side",
      [
        {
          name: "run",
          show: ({ place }) => h("span", { class: "name" }, runLabel(runs, place)),
          value: ({ place }) => runLabel(runs, place),
        },
        { name: "result", show: ({ run }) => ending(run), value: ({ run }) => ending(run).textContent },
        { name: "clock", show: ({ run }) => clockWords(run), value: ({ run }) => clockWords(run) },
        { name: "lab time", numeric: true, show: ({ run }) => span(run.end * 1e9), value: ({ run }) => run.end },
        {
          name: "seed",
          numeric: true,
          show: ({ run }) => String(run.provenance?.seed ?? "–"),
          value: ({ run }) => String(run.provenance?.seed ?? ""),
        },
        { name: "expectations", show: ({ run }) => met(run), value: ({ run }) => met(run) },
        {
          name: "report",
          show: ({ run }): Child => (run.place ? fileLink(run.place, "report.html") : "–"),
          value: ({ run }) => run.place,
        },
      ],
      rows,
    ),
  );
}

function met(run: Run): string {
  const all = run.report?.expectations ?? [];
  return all.length === 0 ? "–" : `${all.filter((row) => row.met).length} of ${all.length} met`;
}

function figureSection(runs: Run[]): HTMLElement {
  const rows = figures(runs);
  const [a] = runs;
  const columns = runs.map((run, place) => ({
    name: runLabel(runs, place),
    numeric: true,
    show: (row: Row): Child => quantity(row.values[place], row.unit),
    value: (row: Row) => row.values[place],
    ...(run === a ? {} : {}),
  }));
  const differences = runs.slice(1).map((_, before) => {
    const place = before + 1;
    const letter = String.fromCharCode(65 + place);
    const value = (row: Row): number | null => {
      const [one, other] = [row.values[0], row.values[place]];
      return one == null || other == null ? null : other - one;
    };
    return {
      name: `${letter} − A`,
      numeric: true,
      show: (row: Row): Child => {
        const difference = value(row);
        if (difference === null) return "–";
        const first = row.values[0] ?? 0;
        const sign = difference > 0 ? "+" : difference < 0 ? "−" : "";
        return [
          `${sign}${quantity(Math.abs(difference), row.unit, 3)}`,
          first !== 0 && difference !== 0 ? h("small", {}, ` ${sign}${share(Math.abs(difference / first))}`) : null,
        ];
      },
      value,
    };
  });
  return section(
    "figures",
    "Figures",
    h(
      "p",
      { class: "about" },
      "One run each says nothing about chance: two sweeps with repetitions are compared with the interval of each difference.",
    ),
    table(
      "figures of the runs",
      [
        { name: "figure", show: (row: Row) => row.name, value: (row: Row) => row.name },
        { name: "unit", show: (row: Row) => row.unit || "–", value: (row: Row) => row.unit },
        ...columns,
        ...differences,
      ],
      rows,
      { most: 100 },
    ),
  );
}

/** Those that the lab files name, and of every pipe what it carried. */
function figures(runs: Run[]): Row[] {
  const rows = new Map<string, Row>();
  const put = (name: string, unit: string, place: number, value: number | null): void => {
    const row = rows.get(name) ?? { name, unit, values: runs.map(() => null) };
    row.values[place] = value;
    rows.set(name, row);
  };
  runs.forEach((run, place) => {
    (run.report?.figures ?? []).forEach((row) => {
      put(row.name, row.unit, place, row.value);
    });
  });
  runs.forEach((run, place) => {
    (run.report?.sources ?? []).forEach((row) => {
      put(`${row.source} goodput`, "bit/s", place, row.goodput_bits_per_second);
    });
  });
  runs.forEach((run, place) => {
    run.pipes
      .filter((row) => !row.joined_in_kernel && row.arrived_packets > 0)
      .forEach((row) => {
        put(`${pipeName(row)} throughput`, "bit/s", place, row.throughput_bits_per_second);
        put(`${pipeName(row)} use`, "share", place, use(row));
        put(`${pipeName(row)} drops`, "packets", place, drops(row));
        put(`${pipeName(row)} mean delay`, "ns", place, row.measured_delay_mean_ns);
        put(`${pipeName(row)} 99 % delay`, "ns", place, row.measured_delay_p99_ns);
        put(`${pipeName(row)} longest queue`, "packets", place, row.queue_peak_packets);
      });
  });
  return [...rows.values()].filter((row) => row.values.some((value) => value !== null));
}
