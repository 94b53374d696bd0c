// A run or a simulation.
import { type Child, h, section } from "../components/dom";
import { quantity, rate, share, span, whole } from "../components/format";
import { type LinkUse, map } from "../components/map";
import { table } from "../components/table";
import { airSection } from "./air";
import { drops, type PipeRow, type Run, use } from "./data";
import { delaySection } from "./delays";
import { badge, frame } from "./frame";
import { linkSection, zero } from "./links";
import { environmentSection, logSection } from "./surroundings";
import { type Chosen, timeSection } from "./time";
import { verdictSection } from "./verdict";

export function showRun(run: Run): HTMLElement {
  const chosen: Chosen = { choose: () => undefined };
  const time = timeSection([run], chosen);
  const sections = [
    verdictSection(run),
    mapSection(run, chosen),
    airSection(run),
    linkSection(run),
    time,
    delaySection([run]),
    sourceSection(run),
    expectationSection(run),
    exerciseSection(run),
    commandSection(run),
    logSection(run),
    environmentSection(run),
  ];
  return frame({ title: run.lab, under: under(run), sections, notes: run.notes });
}

export function clockWords(run: Run): string {
  const clock = String(run.provenance?.clock ?? (run.kind === "sim" ? "virtual" : "unknown"));
  const dilation = run.provenance?.dilation;
  return clock === "dilated" && typeof dilation === "number" ? `time slowed by ${dilation}` : `${clock} time`;
}

function under(run: Run): Child[] {
  const began = String(run.provenance?.started_utc ?? "")
    .replace("T", " ")
    .replace(/\.\d+Z$/, " UTC");
  const mode = run.kind === "sim" ? "simulation" : run.provenance?.mode === "up" ? "lab that was up" : "run";
  return [
    `${mode} ${run.name}`,
    began && ` · ${began}`,
    ` · ${clockWords(run)}`,
    ` · ${span(run.end * 1e9)} of lab time`,
  ];
}

function mapSection(run: Run, chosen: Chosen): HTMLElement | null {
  if (!run.map) return null;
  const rows = new Map<string, PipeRow[]>();
  for (const row of run.pipes) rows.set(row.link, [...(rows.get(row.link) ?? []), row]);
  const of = (link: string): LinkUse | null => {
    const all = rows.get(link);
    if (!all) return null;
    const uses = all.map(use).filter((one): one is number => one !== null);
    const lost = all.reduce((sum, row) => sum + drops(row), 0);
    const words = all
      .filter((row) => !row.pipe)
      .map((row) => {
        const part = use(row);
        return `${row.from} → ${row.to}: ${rate(row.throughput_bits_per_second)}${part === null ? "" : `, ${share(part)} of ${rate(row.rate_bits_per_second ?? 0)}`}, ${whole(drops(row))} dropped`;
      });
    return { use: uses.length > 0 ? Math.max(...uses) : null, drops: lost, words: `${link}. ${words.join("; ")}` };
  };
  const made = map(run.map, run.lab, of, (link) => chosen.choose(link));
  return (
    made &&
    section(
      "map",
      "Map",
      h(
        "p",
        { class: "about" },
        "Numbers are the mean use of the busier direction. Choose a link to see it over time.",
      ),
      made,
    )
  );
}

function sourceSection(run: Run): HTMLElement | null {
  const sources = run.report?.sources ?? [];
  if (sources.length === 0) return null;
  return section(
    "sources",
    "Sources",
    table(
      "sources of the simulation",
      [
        {
          name: "source",
          show: (row) => [row.source, h("br"), h("small", {}, `${row.from} → ${row.to}`)],
          value: (row) => row.source,
        },
        {
          name: "goodput",
          numeric: true,
          show: (row) => rate(row.goodput_bits_per_second),
          value: (row) => row.goodput_bits_per_second,
        },
        { name: "sent", numeric: true, show: (row) => whole(row.sent_packets), value: (row) => row.sent_packets },
        {
          name: "received",
          numeric: true,
          show: (row) => whole(row.received_packets),
          value: (row) => row.received_packets,
        },
        { name: "lost", numeric: true, show: (row) => zero(row.lost_packets), value: (row) => row.lost_packets },
        {
          name: "reordered",
          numeric: true,
          show: (row) => zero(row.reordered_packets),
          value: (row) => row.reordered_packets,
        },
        {
          name: "mean delay",
          numeric: true,
          show: (row) => quantity(row.delay_mean_ns, "ns"),
          value: (row) => row.delay_mean_ns,
        },
        {
          name: "99 % delay",
          numeric: true,
          show: (row) => quantity(row.delay_p99_ns, "ns"),
          value: (row) => row.delay_p99_ns,
        },
      ],
      sources,
    ),
  );
}

function expectationSection(run: Run): HTMLElement | null {
  const rows = run.report?.expectations ?? [];
  if (rows.length === 0) return null;
  return section(
    "expectations",
    "Expectations",
    table(
      "expectations of the lab file",
      [
        { name: "expectation", show: (row) => h("code", {}, row.text), value: (row) => row.text },
        {
          name: "result",
          show: (row) => badge(row.met ? "good" : "bad", row.met ? "met" : "NOT met"),
          value: (row) => (row.met ? "met" : "NOT met"),
        },
        { name: "measured", show: (row) => row.explanation, value: (row) => row.explanation },
        { name: "line", numeric: true, show: (row) => row.line, value: (row) => row.line },
      ],
      rows,
    ),
  );
}

function exerciseSection(run: Run): HTMLElement | null {
  const exercise = run.report?.exercise;
  if (!exercise) return null;
  const state = (met: number | null): string => (met === null ? "to do" : `met at ${span(met)}`);
  return section(
    "exercise",
    exercise.title,
    table(
      "tasks of the exercise",
      [
        { name: "task", show: (row) => row.title, value: (row) => row.title },
        {
          name: "state",
          show: (row) => badge(row.met_ns === null ? "caution" : "good", state(row.met_ns)),
          value: (row) => state(row.met_ns),
        },
        {
          name: "checks",
          show: (row) =>
            row.checks.flatMap((check) => [
              h("code", {}, check.text),
              h("br"),
              h("small", {}, check.explanation),
              h("br"),
            ]),
          value: (row) => row.checks.map((check) => check.text).join("; "),
        },
      ],
      exercise.tasks,
    ),
  );
}

function commandSection(run: Run): HTMLElement | null {
  const rows = run.report?.commands ?? [];
  if (rows.length === 0) return null;
  const at = (ns: number | null): string => (ns === null ? "–" : ns < 0 ? "before time zero" : span(ns));
  return section(
    "commands",
    "Commands",
    table(
      "commands of the timeline",
      [
        {
          name: "command",
          show: (row) => [h("span", { class: "name" }, row.name), h("br"), h("small", {}, h("code", {}, row.command))],
          value: (row) => row.name,
        },
        { name: "node", show: (row) => row.node, value: (row) => row.node },
        { name: "start", numeric: true, show: (row) => at(row.start_ns), value: (row) => row.start_ns },
        { name: "end", numeric: true, show: (row) => at(row.end_ns), value: (row) => row.end_ns },
        {
          name: "ending",
          show: (row) => [
            badge(row.failed ? "bad" : row.interrupted ? "caution" : "good", endingOf(row)),
            (row.stderr_tail?.length ?? 0) > 0 ? h("pre", { tabindex: 0 }, (row.stderr_tail ?? []).join("\n")) : null,
          ],
          value: endingOf,
        },
      ],
      rows,
      { most: 60 },
    ),
  );
}

function endingOf(row: NonNullable<NonNullable<Run["report"]>["commands"]>[number]): string {
  const how =
    row.start_ns === null
      ? row.kept_by
        ? `not started: ${row.kept_by} did not succeed`
        : "not started"
      : row.exit_code !== null
        ? `exit ${row.exit_code}`
        : row.signal !== null
          ? `signal ${row.signal}`
          : row.end_ns === null
            ? "did not end"
            : "ended";
  return row.interrupted ? `interrupted, ${how}` : row.stopped ? `stopped, ${how}` : how;
}
