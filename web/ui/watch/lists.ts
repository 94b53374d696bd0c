// What happened in a lab, and what its programs write.
import { bytes, rate, span } from "../../components/format";
import type { Happened } from "../control";
import type { Lab } from "../lab";
import { createEffect, createMemo, createSignal, each, el, press, type View } from "../view";

const instant = (event: Happened): string =>
  event.since_zero_ns === null ? "before 0" : `${(event.since_zero_ns / 1e9).toFixed(3)} s`;

/** Units that the names of details end with. */
const UNITS: readonly (readonly [string, (value: number) => string])[] = [
  ["_ns", (ns) => span(ns, 4)],
  ["_bytes", bytes],
  ["_bits_per_second", (bits) => rate(bits, 4)],
];

/** What is known of an event, as "lateness: 1.209 ms, command: flow". */
export function said(details: Record<string, unknown>): string {
  const one = ([key, value]: [string, unknown]): string => {
    const [end, write] = UNITS.find(([end]) => key.endsWith(end) && typeof value === "number") ?? ["", null];
    const text = write ? write(value as number) : typeof value === "object" ? JSON.stringify(value) : String(value);
    return `${key.slice(0, key.length - end.length).replaceAll("_", " ")}: ${text}`;
  };
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(one)
    .join(", ")
    .slice(0, 300);
}

export const eventRow = (event: Happened): View =>
  el(
    "li",
    {},
    el("time", {}, instant(event)),
    el("span", {}, event.what.replaceAll("_", " ")),
    el("small", {}, said(event.details)),
  );

export function eventsList(lab: Lab): View {
  const [most, setMost] = createSignal(100);
  const shown = createMemo(() => lab.events().slice(-most()).reverse());
  return [
    () => (lab.events().length === 0 ? el("p", { class: "none" }, "Nothing has happened yet.") : null),
    el("ol", { class: "events" }, each(shown, eventRow)),
    () => (lab.events().length > most() ? press("show more", () => setMost(most() + 400)) : null),
  ];
}

/** Lines that are in the page at a time. */
const LINES = 600;

export function logsList(lab: Lab): View {
  const [command, setCommand] = createSignal("");
  const [names, setNames] = createSignal<string[]>([]);
  const box = el("pre", { class: "log", tabindex: 0, "aria-label": "what programs wrote", role: "region" });
  createEffect(() => {
    lab.written();
    const all = [...new Set(lab.lines.map((line) => line.command))];
    if (all.join("\n") !== names().join("\n")) setNames(all);
    const wanted = command();
    const down = box.scrollHeight - box.scrollTop - box.clientHeight < 30;
    const lines = lab.lines.filter((line) => !wanted || line.command === wanted).slice(-LINES);
    box.textContent =
      lines.length === 0
        ? "nothing has been written"
        : lines.map((line) => `${wanted ? "" : `${line.command} │ `}${line.text.replace(/\n$/, "")}`).join("\n");
    if (down) box.scrollTop = box.scrollHeight;
  });
  lab.readLogs();
  return [
    el(
      "span",
      { class: "choice" },
      el("label", { for: "log-of" }, "of"),
      el(
        "select",
        { id: "log-of", onchange: (event: Event) => setCommand((event.target as HTMLSelectElement).value) },
        el("option", { value: "" }, "all programs"),
        () => names().map((name) => el("option", { value: name }, name)),
      ),
    ),
    box,
  ];
}
