// What is said beside the map of a replay: the way of a packet, flows, marks, and what is missing.
import { counted, digits, span } from "../../components/format";
import type { Run } from "../../report/data";
import type { Journal, Scene } from "../api";
import { endOf, endWords, namesOf } from "../ends";
import { NO_FLOW, swatch } from "../map/dots";
import { createMemo, each, el, press, type View } from "../view";
import type { Hop } from "./follow";
import { FATES } from "./packets";

export function notes(run: Run, journal: Journal): View {
  const said = [...(run.notes ?? [])];
  if (journal.state === "damaged")
    said.push(`The journal is damaged: ${journal.problem ?? ""}. What is before is shown.`);
  if (journal.state === "unfinished")
    said.push("The run was cut off or goes on: what is in the journal so far is shown.");
  if (journal.state === "too long")
    said.push("The journal is longer than can be replayed: its first packets are shown.");
  if (journal.state === "reading")
    said.push(`The journal is being read: ${counted(journal.packets, "packet")} so far.`);
  return said.map((text) => el("p", { class: "note strip" }, text));
}

/** The pipes of a packet, one after the other. */
export function way(hops: Hop[], journal: Journal, seek: (at: number) => void): View {
  const time = (from: number, to: number): string => (Number.isNaN(to - from) ? "–" : span(to - from, 6));
  const instant = (at: number): View =>
    Number.isNaN(at)
      ? "–"
      : press((at / 1e9).toFixed(9), () => seek(at), {
          class: "plain",
          "aria-label": `go to ${(at / 1e9).toFixed(9)} s`,
        });
  const [first, last] = [hops[0], hops[hops.length - 1]];
  return el(
    "section",
    { class: "way", "aria-labelledby": "way-heading" },
    el("h2", { id: "way-heading" }, "One packet"),
    el(
      "p",
      {},
      last && last.fate !== 0
        ? el("span", { class: "badge bad" }, FATES[last.fate])
        : el("span", { class: "badge good" }, "delivered"),
      ` after ${first && last ? time(first.arrived, last.ended) : "–"} in ${counted(hops.length, "pipe")}`,
    ),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "the way of a packet" },
      el(
        "table",
        { class: "figures" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ["pipe", "arrived at (s)", "waited", "transmitted", "travelled", "late", "ended at (s)"].map((head) =>
              el("th", { scope: "col" }, head),
            ),
          ),
        ),
        el(
          "tbody",
          {},
          hops.map((hop) => {
            const pipe = journal.pipes[hop.pipe];
            return el(
              "tr",
              {},
              el("th", { scope: "row" }, `${pipe?.link ?? "?"} ${pipe?.direction ?? ""} ${pipe?.pipe ?? ""}`),
              el("td", {}, instant(hop.arrived)),
              el("td", {}, time(hop.arrived, Number.isNaN(hop.started) ? hop.ended : hop.started)),
              el("td", {}, time(hop.started, hop.sent)),
              el("td", {}, time(hop.sent, hop.due)),
              el("td", {}, hop.fate === 0 ? time(hop.due, hop.ended) : "–"),
              el(
                "td",
                {},
                instant(hop.ended),
                hop.fate > 1 ? el("span", { class: "badge bad" }, FATES[hop.fate]) : null,
                Number.isNaN(hop.marked) ? null : el("span", { class: "badge caution" }, "marked"),
              ),
            );
          }),
        ),
      ),
    ),
  );
}

const NAMES: Record<number, string> = { 1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6", 132: "SCTP" };

/** Protocols whose numbers are no ports. */
const WITHOUT_PORTS = [1, 58];

export function flows(journal: () => Journal, scene: Scene): View {
  const shown = createMemo(() => journal().flows.slice(0, 40));
  const names = namesOf(scene.nodes.map(({ name, addresses }) => ({ name, addresses: addresses ?? [] })));
  const end = (address: string | null, port: number | null, protocol: number | null): string =>
    address === null
      ? "?"
      : port === null || WITHOUT_PORTS.includes(protocol ?? -1)
        ? (names.get(address) ?? address)
        : endWords(endOf(address, port), names);
  return el(
    "section",
    { "aria-labelledby": "flows-heading" },
    el("h2", { id: "flows-heading" }, "Flows"),
    el(
      "ul",
      { class: "flows" },
      each(shown, (flow) =>
        el(
          "li",
          {},
          swatch(flow.flow),
          el(
            "span",
            {},
            `${NAMES[flow.protocol ?? -1] ?? (flow.protocol === null ? "no IP" : `protocol ${flow.protocol}`)} ${end(flow.source, flow.source_port, flow.protocol)} →\u00a0${end(flow.destination, flow.destination_port, flow.protocol)}`,
          ),
          el("small", {}, counted(flow.packets, "packet")),
        ),
      ),
    ),
    () =>
      journal().flows_left_out + Math.max(journal().flows.length - 40, 0) > 0
        ? el(
            "p",
            { class: "none" },
            `and ${counted(journal().flows_left_out + Math.max(journal().flows.length - 40, 0), "smaller one")}`,
          )
        : null,
    el("p", { class: "about" }, `colour and shape tell flows apart; without one: `, swatch(NO_FLOW)),
  );
}

export function marks(run: Run, seek: (at: number) => void): View {
  if (!run.marks || run.marks.length === 0) return null;
  return el(
    "details",
    { open: run.marks.length <= 12 },
    el("summary", {}, "Timeline"),
    el(
      "ol",
      { class: "marklist" },
      run.marks.slice(0, 300).map((mark) =>
        el(
          "li",
          {},
          press(`${digits(mark.t, 6)} s`, () => seek(mark.t * 1e9), { class: "plain" }),
          " ",
          mark.text,
        ),
      ),
    ),
  );
}

/** How many faults are listed. */
const MOST_FAULTS = 200;

/** What was wrong in the run, and what of it at this instant. */
export function faults(run: Run, at: () => number, seek: (at: number) => void): View {
  const all = run.faults ?? [];
  if (all.length === 0) return null;
  return el(
    "details",
    { open: all.length <= 12 },
    el("summary", {}, "Faults"),
    el(
      "ol",
      { class: "marklist faults" },
      all.slice(0, MOST_FAULTS).map(({ from, to, text }) => {
        const isNow = createMemo(() => at() >= from * 1e9 && (to === null || at() <= to * 1e9));
        return el(
          "li",
          { "aria-current": () => (isNow() ? "time" : null) },
          press(
            to === null ? `from ${digits(from, 6)} s` : `${digits(from, 6)} to ${digits(to, 6)} s`,
            () => seek(from * 1e9),
            { class: "plain" },
          ),
          " ",
          text,
          () => (isNow() ? el("span", { class: "badge bad" }, "now") : null),
        );
      }),
    ),
    all.length > MOST_FAULTS
      ? el("p", { class: "none" }, `${all.length - MOST_FAULTS} more are in events.jsonl.`)
      : null,
  );
}
