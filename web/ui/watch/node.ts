// What one node is, and what can be done in it.
import { rate } from "../../components/format";
import type { Lab } from "../lab";
import { attempt } from "../tell";
import { createMemo, el, keyed, press, type View } from "../view";
import { may } from "../world";
import { curves } from "./curves";
import type { Dock } from "./dock";
import type { FlowBook } from "./flows";
import type { LiveLine } from "./live";
import { nodeConnections } from "./tcp";

/** What kinds of node run no programs. */
const SILENT = new Set(["switch", "hub", "transit", "openflow", "outside", "lan", "internet", "external", "tunnel"]);
export const runsPrograms = (kind: string): boolean => !SILENT.has(kind);

/** Signals to all programs of a node: `kill -1` reaches all processes of its namespace but the first and the sender. */
export const SIGNALS = [
  { name: "Pause programs", signal: "STOP" }, { name: "Let programs go on", signal: "CONT" }, { name: "Kill programs", signal: "KILL" },
] as const;

export const signalAll = (signal: string): string[] => ["sh", "-c", `kill -${signal} -1 && echo "SIG${signal} was sent to all programs of this node"`];

/** Interfaces with a curve each; of more, there is one of all. */
const MOST_CURVES = 5;

/** What the node sends and receives over time, as far as the packet engine carries it; of a node with one link in one plot. */
function traffic(lab: Lab, name: string): View {
  const pipes = (end: "from" | "to") => lab.flows().map(({ total }, place) => ({ total, place })).filter(({ total }) => total[end] === name && total.pipe === null && !total.joined_in_kernel);
  const known = createMemo(() => pipes("from").length + pipes("to").length > 0);
  const sum = (places: number[]) => {
    const [first, ...others] = places.map((place) => lab.history.of(place, "bits"));
    return { t: first?.t ?? [], y: (first?.y ?? []).map((value, at) => others.reduce((all, { y }) => all + (y[at] ?? 0), value ?? 0)) };
  };
  const lines = (end: "from" | "to"): LiveLine[] => {
    const own = pipes(end);
    return own.length <= MOST_CURVES ? own.map(({ total, place }, style) => ({ label: total.link, style, data: () => lab.history.of(place, "bits") }))
      : [{ label: `all ${own.length} links`, style: 0, data: () => sum(own.map(({ place }) => place)) }];
  };
  const bits = (value: number): string => rate(value, 3);
  return keyed(known, (is) => (is ? curves((LivePlot) => {
    const [sends, receives] = [lines("from"), lines("to")];
    const [out, into] = [sends[0], receives[0]];
    if (sends.length === 1 && receives.length === 1 && out && into) return [new LivePlot("Throughput", [{ ...out, label: "sends" }, { ...into, label: "receives", style: 1 }], bits)];
    return [new LivePlot("Sends", sends, bits), new LivePlot("Receives", receives, bits)];
  }, lab.flows) : null));
}

export function nodePanel(lab: Lab, name: string, dock: Dock, book: FlowBook, openLink: (link: string) => void): View {
  const node = createMemo(() => lab.topology()?.nodes.find((one) => one.name === name) ?? null);
  const runs = createMemo(() => runsPrograms(node()?.kind ?? "lan"));
  const services = createMemo(() => lab.topology()?.services.filter((service) => service.node === name) ?? []);
  return [
    el("h2", {}, "Node ", el("span", { class: "what" }, name)),
    () => {
      const known = node();
      if (!known) return el("p", { class: "none" }, "the lab has no such node any more");
      return [
        el("p", { class: "under" }, `${known.kind}${known.stack && known.stack !== known.kind ? `, stack: ${known.stack}` : ""}`),
        may("use") && runsPrograms(known.kind) ? el("div", { class: "controls" }, press("Open a terminal", () => dock.open(name), { class: "first" }), SIGNALS.map(({ name: text, signal }) => press(text, () => dock.open(name, { command: signalAll(signal) }))), press("Restart its services", () => attempt(() => lab.restart(name), `what runs on ${name} starts again`))) : null,
        el("h3", {}, "Interfaces"),
        el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "interfaces" }, el("table", {},
          el("thead", {}, el("tr", {}, ["interface", "link", "sends", "addresses"].map((head) => el("th", { scope: "col" }, head)))),
          el("tbody", {}, known.interfaces.map((face) => el("tr", {},
            el("th", { scope: "row" }, face.name),
            el("td", {}, press(face.link, () => openLink(face.link), { class: "plain" })),
            el("td", { class: "number" }, () => rate(lab.flows().filter(({ total }) => total.link === face.link && total.from === name && total.pipe === null).reduce((sum, flow) => sum + flow.bits, 0), 3)),
            el("td", {}, face.addresses.map((address) => el("div", {}, address)))))))),
      ];
    },
    traffic(lab, name),
    () => (services().length === 0 ? null : [el("h3", {}, "Services"), el("ul", {}, services().map((service) => el("li", {}, `${service.name}: ${typeof service.state === "string" ? service.state.replaceAll("_", " ") : JSON.stringify(service.state)} `, may("use") ? press("restart", () => attempt(() => lab.restart(service.name), `${service.name} starts again`), { class: "plain", "aria-label": `restart ${service.name}` }) : null)))]),
    () => (runs() ? nodeConnections(lab, name, book) : null),
  ];
}
