// The runs of a sweep: those that are left out of its figures, and all.
import { type Child, h, section } from "../components/dom";
import { counted, digits, whole } from "../components/format";
import { table } from "../components/table";
import type { LeftOut, Sweep, SweepRun } from "./data";
import { badge } from "./frame";
import { fileLink } from "./surroundings";

const OUTCOMES: Record<string, { kind: "good" | "bad"; words: string }> = {
  as_described: { kind: "good", words: "as described" },
  not_as_described: { kind: "bad", words: "NOT as described" },
  failed: { kind: "bad", words: "failed" },
};

const outcome = (word: string): HTMLElement => badge(OUTCOMES[word]?.kind ?? "plain", OUTCOMES[word]?.words ?? word);

/** The way to a run's report, or the command that makes it. */
function reportLink(run: { place: string | null; has_page: boolean }): Child {
  if (run.place === null) return "–";
  return run.has_page
    ? fileLink("", `${run.place}report.html`)
    : h("code", {}, `netloom report ${run.place.replace(/\/$/, "")}`);
}

export function leftOut(sweep: Sweep): HTMLElement | null {
  if (sweep.left_out.length === 0) return null;
  return section(
    "left-out",
    "Runs that are left out",
    table(
      "runs that are left out of the figures, and why",
      [
        { name: "run", show: (run: LeftOut) => run.name, value: (run: LeftOut) => run.name },
        ...sweep.parameters.map((name, place) => ({
          name,
          show: (run: LeftOut): Child => run.values[place] ?? "",
          value: (run: LeftOut) => run.values[place],
        })),
        { name: "outcome", show: (run: LeftOut) => outcome(run.outcome), value: (run: LeftOut) => run.outcome },
        { name: "why", show: (run: LeftOut) => run.why || "–", value: (run: LeftOut) => run.why },
        { name: "report", show: reportLink, value: (run: LeftOut) => run.place },
      ],
      sweep.left_out,
      { most: 50 },
    ),
    sweep.left_out_more > 0
      ? h("p", { class: "note" }, `${whole(sweep.left_out_more)} more were left out: runs.csv has all.`)
      : null,
  );
}

export function runSection(sweep: Sweep): HTMLElement | null {
  if (sweep.runs.length === 0) return null;
  return section(
    "runs",
    "All runs",
    h(
      "details",
      { open: sweep.runs.length <= 12 },
      h("summary", {}, `${counted(sweep.runs.length, "run")}, with their seeds and reports`),
      table(
        "runs of the sweep",
        [
          { name: "run", show: (run: SweepRun) => run.name, value: (run: SweepRun) => run.name },
          { name: "point", numeric: true, show: (run: SweepRun) => run.point, value: (run: SweepRun) => run.point },
          {
            name: "repetition",
            numeric: true,
            show: (run: SweepRun) => run.repetition,
            value: (run: SweepRun) => run.repetition,
          },
          {
            name: "seed",
            numeric: true,
            show: (run: SweepRun) => String(run.seed),
            value: (run: SweepRun) => String(run.seed),
          },
          {
            name: "outcome",
            show: (run: SweepRun) => [
              outcome(run.outcome),
              run.unmet > 0 ? h("small", {}, ` ${run.unmet} unmet`) : null,
            ],
            value: (run: SweepRun) => run.outcome,
          },
          {
            name: "wall time",
            numeric: true,
            show: (run: SweepRun) => `${digits(run.wall_s, 3)} s`,
            value: (run: SweepRun) => run.wall_s,
          },
          { name: "report", show: reportLink, value: (run: SweepRun) => run.place },
        ],
        sweep.runs,
        { most: 100 },
      ),
    ),
    sweep.runs_more > 0 ? h("p", { class: "note" }, `${whole(sweep.runs_more)} more runs are in runs.csv.`) : null,
  );
}
