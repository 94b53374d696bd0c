// Whether the network is as described: what is known while the lab is up, and the verdict when it has ended.
import { counted, span } from "../../components/format";
import type { Report } from "../api";
import type { Happened, SoFar } from "../control";
import { dropsOf, type Lab } from "../lab";
import { heads, number, scrolled } from "../tables";
import { tasksView } from "../teach/tasks";
import { createMemo, el, type View } from "../view";
import { eventRow } from "./lists";

/** Pipes with late packets that are listed. */
const MOST_LATE = 12;

/** Events that say that something did not go as it should. */
export function troubles(events: readonly Happened[], allowedNs = 10e6): Happened[] {
  return events.filter(({ what, details }) => {
    const code = details.exit_code ?? details.code;
    return (
      Number(details.lateness_ns ?? 0) > allowedNs ||
      what === "node_gone" ||
      /fail|not ready|gone|stalled/.test(what) ||
      (what === "ended" && typeof code === "number" && code !== 0 && details.stopped !== true)
    );
  });
}

/** What a verdict comes to; of a lab in which no link carried a packet, nothing was judged. */
function judged(asDescribed: boolean | null): string {
  return asDescribed === null ? "not judged" : asDescribed ? "as described" : "NOT as described";
}

/** What the lab itself would say if it ended now; what a lab of an older program has is told from its events. */
export function verdictSoFar(lab: Lab): View {
  lab.watchVerdict();
  const wrong = createMemo(() => troubles(lab.events()));
  const drops = createMemo(() => lab.flows().reduce((sum, { total }) => sum + dropsOf(total), 0));
  const known = createMemo(() => lab.soFar()?.verdict ?? null);
  return [
    el("h2", {}, "So far"),
    () => judgement(known()),
    () => checks(lab.soFar()?.expectations ?? []),
    el(
      "dl",
      { class: "list" },
      el("dt", {}, "dropped by the models"),
      el("dd", {}, () => counted(drops(), "packet")),
    ),
    () => lateness(lab.soFar()?.pipes ?? []),
    () =>
      wrong().length === 0
        ? null
        : [
            el("h3", {}, "Events to look at"),
            el("ol", { class: "events" }, wrong().slice(-50).reverse().map(eventRow)),
          ],
    el("p", { class: "about" }, "What happened inside nodes is judged when the lab ends."),
  ];
}

function judgement(verdict: SoFar["verdict"] | null): View {
  if (!verdict) return el("p", { class: "none" }, "there is no verdict yet: the lab has not begun");
  return [
    el(
      "p",
      {},
      el("span", { class: `badge ${verdict.as_described ? "good" : "caution"}` }, judged(verdict.as_described)),
    ),
    el(
      "ul",
      {},
      verdict.findings.slice(0, 20).map(({ subject, text }) => el("li", {}, el("strong", {}, subject), ": ", text)),
    ),
    el(
      "ul",
      {},
      (verdict.causes ?? []).map((cause) => el("li", {}, `likely: ${cause}`)),
    ),
  ];
}

/** Pipes whose packets were later than due, the worst first. */
function lateness(pipes: SoFar["pipes"]): View {
  const latest = pipes
    .filter((pipe) => pipe.packets > 0)
    .sort((a, b) => (b.p99_ns ?? 0) - (a.p99_ns ?? 0))
    .slice(0, MOST_LATE);
  if (latest.length === 0) return null;
  const row = (pipe: (typeof latest)[number]): View =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, `${pipe.link} ${pipe.direction}${pipe.pipe ? ` ${pipe.pipe}` : ""}`),
      number(String(pipe.packets)),
      number(span(pipe.p99_ns ?? 0, 3)),
      number(span(pipe.max_ns ?? 0, 3)),
    );
  return [
    el("h3", {}, "Packets later than due"),
    scrolled(
      "lateness",
      el(
        "table",
        {},
        heads(["pipe", "packets", "99 %", "most"], (place) => place > 0),
        el("tbody", {}, latest.map(row)),
      ),
    ),
  ];
}

function checks(found: NonNullable<Report["expectations"]>): View {
  return found.length === 0
    ? null
    : [
        el("h3", {}, "Expectations"),
        el(
          "ul",
          { class: "checks" },
          found.map((one) =>
            el(
              "li",
              { class: one.met ? "met" : "unmet" },
              el("span", { class: `badge ${one.met ? "good" : "caution"}` }, one.met ? "met" : "not met"),
              el("code", {}, one.text),
              el("small", {}, one.explanation),
            ),
          ),
        ),
      ];
}

export function reportView(report: Report | null): View {
  if (!report) return el("p", { class: "none" }, "no report was left");
  const verdict = report.verdict;
  const met = report.expectations ?? [];
  return [
    el("h2", {}, "Verdict"),
    report.error ? el("p", { class: "error" }, report.error) : null,
    verdict
      ? el(
          "p",
          { class: "verdict" },
          el(
            "span",
            { class: `badge ${verdict.as_described ? "good" : verdict.as_described === false ? "bad" : "caution"}` },
            judged(verdict.as_described),
          ),
        )
      : null,
    verdict && verdict.findings.length > 0
      ? el(
          "ul",
          {},
          verdict.findings.map(({ subject, text }) => el("li", {}, el("strong", {}, subject), ": ", text)),
        )
      : null,
    verdict && verdict.causes.length > 0
      ? [
          el("h3", {}, "Likely causes"),
          el(
            "ul",
            {},
            (verdict.causes ?? []).map((cause) => el("li", {}, cause)),
          ),
        ]
      : null,
    checks(met),
    report.exercise
      ? [el("h3", {}, report.exercise.title), tasksView(() => report.exercise ?? { title: "", text: "", tasks: [] })]
      : null,
    (report.warnings ?? []).map((text) => el("p", { class: "note" }, text)),
  ];
}
