// Everything of a lab as lists: what the map shows, for those who read; what happened; what programs write.
import { bytes, counted, digits, rate, share, span } from "../../components/format";
import { grade } from "../../components/map";
import type { Happened } from "../control";
import type { Lab } from "../lab";
import { createEffect, createMemo, createSignal, each, el, press, type View } from "../view";

const MOST_ROWS = 200;
/** Links that are listed at first: each row is written anew with every sample. */
const FIRST_LINKS = 50;

/** A list to search in; the busiest links first if nothing is looked for. */
export function overview(lab: Lab, openNode: (name: string) => void, openLink: (name: string) => void): View {
  const [wanted, setWanted] = createSignal("");
  const [most, setMost] = createSignal(FIRST_LINKS);
  const has = (name: string): boolean => name.toLowerCase().includes(wanted().toLowerCase());
  const nodes = createMemo(() => lab.topology()?.nodes.filter(({ name }) => has(name)) ?? []);
  const links = createMemo(() => {
    const byLink = new Map<string, { use: number; drops: number; bits: number; down: boolean }>();
    for (const link of lab.topology()?.links ?? [])
      if (has(link.name) || link.ends.some(({ node }) => has(node)))
        byLink.set(link.name, { use: -1, drops: 0, bits: 0, down: false });
    for (const flow of lab.figures()) {
      const known = byLink.get(flow.total.link);
      if (!known || flow.total.pipe !== null) continue;
      known.use = Math.max(known.use, flow.use ?? -1);
      known.drops += flow.drops;
      known.bits = Math.max(known.bits, flow.bits);
      known.down ||= !flow.up;
    }
    return byLink;
  });
  const order = createMemo(() =>
    [...links().entries()]
      .sort(([, a], [, b]) => b.use - a.use || b.bits - a.bits)
      .slice(0, most())
      .map(([name]) => name)
      .join("\n"),
  );
  const names = createMemo(() => (order() ? order().split("\n") : []));
  const input = el("input", {
    type: "search",
    class: "search",
    "aria-label": "search nodes and links",
    placeholder: "search nodes and links",
    oninput: () => setWanted(input.value),
  });
  const cell =
    (name: string, of: (link: { use: number; drops: number; bits: number; down: boolean }) => View) => (): View => {
      const link = links().get(name);
      return link ? of(link) : "";
    };
  return [
    el("h2", { class: "away" }, "Overview"),
    input,
    el("h3", {}, () => counted(links().size, "link")),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "links" },
      el(
        "table",
        { class: "figures" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ["link", "carries", "use", "drops/s"].map((head, place) =>
              el("th", { scope: "col", class: place > 0 ? "number" : "" }, head),
            ),
          ),
        ),
        el(
          "tbody",
          {},
          each(names, (name) =>
            el(
              "tr",
              {},
              el(
                "th",
                { scope: "row" },
                press(name, () => openLink(name), { class: "plain" }),
                cell(name, ({ down }) => (down ? el("span", { class: "badge bad" }, "down") : null)),
              ),
              el(
                "td",
                { class: "number" },
                cell(name, ({ bits }) => rate(bits, 3)),
              ),
              el(
                "td",
                { class: "number" },
                cell(name, ({ use }) => (use < 0 ? "–" : share(use))),
                meter(() => links().get(name)?.use ?? -1),
              ),
              el(
                "td",
                { class: "number" },
                cell(name, ({ drops }) => (drops === 0 ? "0" : `▼ ${digits(drops, 2)}`)),
              ),
            ),
          ),
        ),
      ),
    ),
    () => (links().size > most() ? press(`show more of ${links().size}`, () => setMost(most() + MOST_ROWS)) : null),
    el("h3", {}, () => counted(nodes().length, "node")),
    el(
      "ul",
      { class: "names" },
      each(
        () => nodes().slice(0, MOST_ROWS),
        (node) =>
          el(
            "li",
            {},
            press(node.name, () => openNode(node.name), { class: "plain" }),
            el("small", {}, node.kind),
          ),
      ),
    ),
    () =>
      nodes().length > MOST_ROWS
        ? el("p", { class: "none" }, `and ${nodes().length - MOST_ROWS} more: search for them`)
        : null,
  ];
}

function meter(use: () => number): View {
  const style = createMemo(
    () => `width:${Math.min(100, Math.max(use(), 0) * 100).toFixed(0)}%;background:var(--u${grade(use())})`,
  );
  return el("span", { class: "meter", "aria-hidden": "true", hidden: () => use() < 0 }, el("span", { style }));
}

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
