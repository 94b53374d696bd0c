// A run or a simulation.
import { type Child, h, section } from "../components/dom";
import { counted, quantity, rate, share, span, whole } from "../components/format";
import { type LinkUse, map } from "../components/map";
import { table } from "../components/table";
import { drops, type PipeRow, pipeName, type Run, use } from "./data";
import { delaySection } from "./delays";
import { badge, fact, facts, frame } from "./frame";
import { environmentSection, logSection } from "./surroundings";
import { type Chosen, timeSection } from "./time";

export function showRun(run: Run): HTMLElement {
  const chosen: Chosen = { choose: () => undefined };
  const time = timeSection([run], chosen);
  const sections = [
    verdictSection(run),
    mapSection(run, chosen),
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

/** How it ended, in a word and a colour. */
export function ending(run: Run): HTMLElement {
  const { report } = run;
  if (run.kind === "sim") return badge("good", "simulated");
  if (!report) return badge("bad", "cut off");
  if (report.error) return badge("bad", "failed");
  if (report.interrupted) return badge("caution", "interrupted");
  if (!report.verdict || (report.verdict.findings.length === 0 && !report.verdict.as_described))
    return badge("caution", "not judged");
  return report.verdict.as_described ? badge("good", "as described") : badge("bad", "NOT as described");
}

function verdictSection(run: Run): HTMLElement {
  const { report } = run;
  const verdict = report?.verdict;
  const lines = (title: string, all: readonly Child[], kind = ""): Child =>
    all.length > 0 &&
    h(
      "div",
      { class: kind },
      h("h3", {}, title),
      h(
        "ul",
        {},
        all.map((one) => h("li", {}, one)),
      ),
    );
  const findings = (verdict?.findings ?? []).map(
    (finding): Child => [h("strong", {}, finding.subject), ": ", finding.text],
  );
  const shown = findings.slice(0, 8);
  const rest = findings.slice(8);
  const total = run.pipes.reduce((sum, row) => sum + row.departed_packets, 0);
  const lost = run.pipes.reduce((sum, row) => sum + drops(row), 0);
  const expectations = report?.expectations ?? [];
  const met = expectations.filter((row) => row.met).length;
  const failed = (report?.commands ?? []).filter((row) => row.failed).length;
  const effort = report?.effort;
  return section(
    "verdict",
    run.kind === "sim" ? "Overview" : "Verdict",
    h("p", { class: "verdict" }, ending(run), " ", verdictWords(run)),
    report?.error ? h("p", { class: "error" }, report.error) : null,
    facts(
      expectations.length > 0 ? fact("expectations", `${met} of ${expectations.length} met`) : null,
      (report?.commands?.length ?? 0) > 0
        ? fact(
            "commands",
            failed > 0
              ? `${failed} of ${report?.commands?.length} failed`
              : counted(report?.commands?.length ?? 0, "command"),
          )
        : null,
      run.pipes.length > 0
        ? fact("packets delivered", whole(total), "over all links, so each counts once per link")
        : null,
      run.pipes.length > 0 ? fact("dropped by links", whole(lost)) : null,
      effort ? fact("wall time", span(effort.wall_ns)) : null,
      effort?.engine_cpu_share != null ? fact("engine", `${share(effort.engine_cpu_share)} of a processor`) : null,
    ),
    lines("What was not as described", shown, "findings"),
    rest.length > 0
      ? h(
          "details",
          {},
          h("summary", {}, `${rest.length} more`),
          h(
            "ul",
            {},
            rest.map((one) => h("li", {}, one)),
          ),
        )
      : null,
    lines("What explains it", [
      ...(verdict?.causes ?? []),
      ...(verdict?.machine ? [verdict.machine] : []),
      ...(verdict?.dilation
        ? [[`time slowed by ${verdict.dilation} would fit: `, h("code", {}, `--clock ${verdict.dilation}`)]]
        : []),
    ]),
    lines("What could not be judged", verdict?.notes ?? []),
    lines("To check before the figures are trusted", report?.warnings ?? []),
    lines("Left out of the simulation", report?.skipped ?? []),
    lines(
      "Lab time went on while programs computed",
      (report?.advanced ?? []).map((row) => `${row.node}: ${span(row.advanced_ns)}`),
    ),
    (report?.figures?.length ?? 0) > 0
      ? table(
          "figures of the lab file",
          [
            { name: "figure", show: (row) => row.name, value: (row) => row.name },
            {
              name: "value",
              show: (row) => (row.value === null ? (row.missing ?? "–") : quantity(row.value, row.unit)),
              value: (row) => row.value,
              numeric: true,
            },
            { name: "unit", show: (row) => row.unit || "–", value: (row) => row.unit },
          ],
          report?.figures ?? [],
        )
      : null,
  );
}

function verdictWords(run: Run): string {
  const { report } = run;
  if (run.kind === "sim") return "Links in virtual time: every packet left at its exact instant, and no programs ran.";
  if (!report) return "The run was cut off before it could write a report. Below is what its folder has.";
  if (report.error) return "The run did not come to an end that can be judged.";
  const early = report.wall_limit_reached
    ? "The run ended at its wall limit. "
    : report.interrupted
      ? "The run was ended before its time. "
      : "";
  if (!report.verdict || (report.verdict.findings.length === 0 && !report.verdict.as_described))
    return `${early}No link carried a packet, so that nothing was judged.`;
  return (
    early +
    (report.verdict.as_described
      ? "The network did what the lab file describes, within its bounds."
      : "The network did not do what the lab file describes: figures that depend on it are not to be trusted.")
  );
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

/** Described against achieved, with a bar. */
function meter(row: PipeRow): Child {
  const part = use(row);
  if (part === null) return null;
  const wide = Math.min(Math.max(part, 0), 1) * 100;
  return h("span", { class: "meter", "aria-hidden": "true" }, h("span", { style: `width:${wide.toFixed(1)}%` }));
}

function linkSection(run: Run): HTMLElement | null {
  if (run.pipes.length === 0) return null;
  const has = (name: keyof PipeRow): boolean => run.pipes.some((row) => Number(row[name] ?? 0) > 0);
  const cause = (name: string, key: keyof PipeRow) => ({
    name,
    numeric: true,
    show: (row: PipeRow): Child => zero(row[key]),
    value: (row: PipeRow) => Number(row[key] ?? 0),
  });
  const columns = [
    {
      name: "link",
      show: (row: PipeRow): Child => [
        h("span", { class: "name" }, row.pipe ? `${row.link} ${row.pipe}` : row.link),
        h("br"),
        h("small", {}, `${row.from} → ${row.to}`),
      ],
      value: pipeName,
    },
    {
      name: "described rate",
      numeric: true,
      show: (row: PipeRow): Child => (row.rate_bits_per_second === null ? "unlimited" : rate(row.rate_bits_per_second)),
      value: (row: PipeRow) => row.rate_bits_per_second,
    },
    {
      name: "achieved",
      numeric: true,
      about: "the rate while packets waited; judged from a second on",
      show: (row: PipeRow): Child =>
        row.achieved_bits_per_second === null
          ? "–"
          : [rate(row.achieved_bits_per_second), row.rate_judged ? null : h("small", {}, " not judged")],
      value: (row: PipeRow) => row.achieved_bits_per_second,
    },
    {
      name: "carried",
      numeric: true,
      about: "delivered over the whole run",
      show: (row: PipeRow): Child =>
        row.joined_in_kernel ? "not measured" : [rate(row.throughput_bits_per_second), meter(row)],
      value: (row: PipeRow) => (row.joined_in_kernel ? null : Math.round(row.throughput_bits_per_second)),
    },
    {
      name: "described delay",
      numeric: true,
      show: (row: PipeRow): Child => span(row.delay_ns),
      value: (row: PipeRow) => row.delay_ns,
    },
    {
      name: "mean delay",
      numeric: true,
      show: (row: PipeRow): Child => quantity(row.measured_delay_mean_ns, "ns"),
      value: (row: PipeRow) => row.measured_delay_mean_ns,
    },
    {
      name: "99 % delay",
      numeric: true,
      show: (row: PipeRow): Child => quantity(row.measured_delay_p99_ns, "ns"),
      value: (row: PipeRow) => row.measured_delay_p99_ns,
    },
    {
      name: "longest queue",
      numeric: true,
      about: "packets that waited at once",
      show: (row: PipeRow): Child => zero(row.queue_peak_packets),
      value: (row: PipeRow) => row.queue_peak_packets,
    },
    ...(has("dropped_queue_packets") ? [cause("queue full", "dropped_queue_packets")] : []),
    ...(has("dropped_early_packets") ? [cause("dropped early", "dropped_early_packets")] : []),
    ...(has("dropped_loss_packets") ? [cause("lost", "dropped_loss_packets")] : []),
    ...(has("dropped_down_packets") ? [cause("link down", "dropped_down_packets")] : []),
    ...(has("marked_packets") ? [cause("marked", "marked_packets")] : []),
    ...(has("duplicated_packets") ? [cause("duplicated", "duplicated_packets")] : []),
    ...(has("corrupted_packets") ? [cause("corrupted", "corrupted_packets")] : []),
    ...(has("reordered_packets") ? [cause("reordered", "reordered_packets")] : []),
    {
      name: "99 % lateness",
      numeric: true,
      about: "delivered later than due",
      show: (row: PipeRow): Child => quantity(row.lateness_p99_ns, "ns"),
      value: (row: PipeRow) => row.lateness_p99_ns,
    },
  ];
  return section(
    "links",
    "Links: described and achieved",
    table(`links of ${run.lab}`, columns, run.pipes, { most: 60 }),
    run.pipes_left_out > 0
      ? h(
          "p",
          { class: "note" },
          `${whole(run.pipes_left_out)} more pipes carried less: `,
          h("code", {}, "pipes.csv"),
          " has all.",
        )
      : null,
  );
}

const zero = (value: unknown): Child =>
  Number(value ?? 0) === 0 ? h("span", { class: "none" }, "0") : whole(Number(value));

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
