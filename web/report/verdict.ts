// What a run came to: its verdict, what explains it, and what is to be known before its figures are trusted.
import { type Child, h, section } from "../components/dom";
import { counted, quantity, share, span, whole } from "../components/format";
import { table } from "../components/table";
import { drops, type Effort, type Run } from "./data";
import { badge, fact, facts } from "./frame";

/** Findings that are shown at once. */
const FIRST_FINDINGS = 8;

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

export function verdictSection(run: Run): HTMLElement {
  const { report } = run;
  const verdict = report?.verdict;
  const findings = (verdict?.findings ?? []).map(
    (finding): Child => [h("strong", {}, finding.subject), ": ", finding.text],
  );
  const rest = findings.slice(FIRST_FINDINGS);
  return section(
    "verdict",
    run.kind === "sim" ? "Overview" : "Verdict",
    h("p", { class: "verdict" }, ending(run), " ", verdictWords(run)),
    report?.error ? h("p", { class: "error" }, report.error) : null,
    counts(run),
    lines("What was not as described", findings.slice(0, FIRST_FINDINGS), "findings"),
    rest.length > 0 ? h("details", {}, h("summary", {}, `${rest.length} more`), list(rest)) : null,
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
    figures(run),
  );
}

const list = (all: readonly Child[]): Child =>
  h(
    "ul",
    {},
    all.map((one) => h("li", {}, one)),
  );

const lines = (title: string, all: readonly Child[], kind = ""): Child =>
  all.length > 0 && h("div", { class: kind }, h("h3", {}, title), list(all));

function counts(run: Run): HTMLElement {
  const { report } = run;
  const total = run.pipes.reduce((sum, row) => sum + row.departed_packets, 0);
  const lost = run.pipes.reduce((sum, row) => sum + drops(row), 0);
  const expectations = report?.expectations ?? [];
  const met = expectations.filter((row) => row.met).length;
  const commands = report?.commands ?? [];
  const failed = commands.filter((row) => row.failed).length;
  const effort = report?.effort;
  const sent = effort?.scheduler?.packets ?? effort?.packets;
  return facts(
    expectations.length > 0 ? fact("expectations", `${met} of ${expectations.length} met`) : null,
    commands.length > 0
      ? fact("commands", failed > 0 ? `${failed} of ${commands.length} failed` : counted(commands.length, "command"))
      : null,
    sent === undefined
      ? null
      : fact("packets sent", whole(sent), "by nodes: each counts once, however many links it crosses"),
    run.pipes.length > 0
      ? fact("delivered by links", whole(total), "packets of all links: each link that one crosses counts it")
      : null,
    run.pipes.length > 0 ? fact("dropped by links", whole(lost)) : null,
    effort ? wallTime(effort) : null,
    effort?.engine_cpu_share != null ? fact("engine", `${share(effort.engine_cpu_share)} of a processor`) : null,
  );
}

/** How long it took, by phases if they are known; of older results, from time zero to the end. */
function wallTime({ wall_ns, phases }: Effort): HTMLElement {
  if (!phases) return fact("wall time", span(wall_ns));
  const { setup_ns, boot_ns, lab_ns, end_ns, results_ns } = phases;
  const all: [string, number][] = [
    ["set-up", setup_ns],
    ["boot", boot_ns],
    ["lab", lab_ns],
    ["end", end_ns],
    ["results", results_ns],
  ];
  const words = all.filter(([, ns]) => ns > 0).map(([name, ns]) => `${name} ${span(ns)}`);
  const total = span(all.reduce((sum, [, ns]) => sum + ns, 0));
  return fact("wall time", [total, h("br"), h("small", {}, words.join(", "))]);
}

/** The figures that the lab file asks for. */
function figures({ report }: Run): HTMLElement | null {
  const rows = report?.figures ?? [];
  if (rows.length === 0) return null;
  return table(
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
    rows,
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
      ? "The run was ended early. "
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
