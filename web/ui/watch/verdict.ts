// Whether the network is as described: what is known while the lab is up, and the verdict when it has ended.
import { span } from "../../components/format";
import { api, type Report } from "../api";
import type { Happened } from "../control";
import { dropsOf, type Lab } from "../lab";
import { tasksView } from "../teach/tasks";
import { createEffect, createMemo, createSignal, el, type View } from "../view";
import { instant } from "./lists";

interface Expectation { text: string; line: number }

/** Events that say that something did not go as it should. */
export function troubles(events: readonly Happened[], allowedNs = 10e6): Happened[] {
  return events.filter(({ what, details }) => {
    const code = details["exit_code"] ?? details["code"];
    return Number(details["lateness_ns"] ?? 0) > allowedNs || what === "node_gone" || /fail|not ready|gone|stalled/.test(what) || (what === "ended" && typeof code === "number" && code !== 0 && details["stopped"] !== true);
  });
}

export function verdictSoFar(lab: Lab, path: string | null): View {
  const [expected, setExpected] = createSignal<Expectation[]>([]);
  const [allowed, setAllowed] = createSignal(10e6);
  createEffect(() => {
    if (path) api.check(path, null).then(({ plan }) => {
      setExpected((plan?.["expect"] as Expectation[] | undefined) ?? []);
      setAllowed(Number((plan?.["bounds"] as { events_ns?: number } | undefined)?.events_ns ?? 10e6));
    }, () => undefined);
  });
  const wrong = createMemo(() => troubles(lab.events(), allowed()));
  const late = createMemo(() => lab.events().reduce((most, { details }) => Math.max(most, Number(details["lateness_ns"] ?? 0)), 0));
  const drops = createMemo(() => lab.flows().reduce((sum, { total }) => sum + dropsOf(total), 0));
  return [
    el("h2", {}, "So far"),
    el("p", {}, () => (wrong().length === 0 ? el("span", { class: "badge good" }, "nothing speaks against it") : el("span", { class: "badge caution" }, `${wrong().length} things to look at`))),
    el("dl", { class: "list" },
      el("dt", {}, "events were late by at most"), el("dd", {}, () => span(late(), 3)),
      el("dt", {}, "dropped by the models"), el("dd", {}, () => `${drops()} packets`)),
    () => (wrong().length === 0 ? null : el("ol", { class: "events" }, wrong().slice(-50).reverse().map((event) => el("li", {}, el("time", {}, instant(event)), el("span", {}, event.what), el("small", {}, JSON.stringify(event.details).slice(0, 200)))))),
    () => (expected().length === 0 ? null : [el("h3", {}, "Expected, judged at the end"), el("ul", {}, expected().map(({ text }) => el("li", {}, el("code", {}, text))))]),
    el("p", { class: "about" }, "Whether packets were on time is measured all along and judged when the lab ends."),
  ];
}

export function reportView(report: Report | null): View {
  if (!report) return el("p", { class: "none" }, "no report was left");
  const verdict = report.verdict;
  const met = report.expectations ?? [];
  return [
    el("h2", {}, "Verdict"),
    report.error ? el("p", { class: "error" }, report.error) : null,
    verdict ? el("p", { class: "verdict" }, el("span", { class: `badge ${verdict.as_described ? "good" : "bad"}` }, verdict.as_described ? "as described" : "NOT as described")) : null,
    verdict && verdict.findings.length > 0 ? el("ul", {}, verdict.findings.map(({ subject, text }) => el("li", {}, el("strong", {}, subject), ": ", text))) : null,
    verdict && verdict.causes.length > 0 ? [el("h3", {}, "Likely causes"), el("ul", {}, verdict.causes.map((cause) => el("li", {}, cause)))] : null,
    met.length > 0 ? [el("h3", {}, "Expectations"), el("ul", { class: "checks" }, met.map((one) => el("li", { class: one.met ? "met" : "unmet" }, el("span", { class: `badge ${one.met ? "good" : "bad"}` }, one.met ? "met" : "not met"), el("code", {}, one.text), el("small", {}, one.explanation))))] : null,
    report.exercise ? [el("h3", {}, report.exercise.title), tasksView(() => report.exercise ?? { title: "", text: "", tasks: [] })] : null,
    (report.warnings ?? []).map((text) => el("p", { class: "note" }, text)),
  ];
}
