// What one node is, and what can be done in it.
import { rate } from "../../components/format";
import type { Lab } from "../lab";
import { attempt } from "../tell";
import { createMemo, el, press, type View } from "../view";
import { may } from "../world";
import type { Dock } from "./dock";
import type { FlowBook } from "./flows";
import { nodeConnections } from "./tcp";

/** What kinds of node run no programs. */
const SILENT = new Set(["switch", "hub", "transit", "openflow", "outside", "lan", "internet", "external", "tunnel"]);
export const runsPrograms = (kind: string): boolean => !SILENT.has(kind);

/** Signals to all programs of a node: `kill -1` reaches all processes of its namespace but the first and the sender. */
export const SIGNALS = [
  { name: "Pause programs", signal: "STOP" }, { name: "Let programs go on", signal: "CONT" }, { name: "Kill programs", signal: "KILL" },
] as const;

export const signalAll = (signal: string): string[] => ["sh", "-c", `kill -${signal} -1 && echo "SIG${signal} was sent to all programs of this node"`];

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
        may("use") && runsPrograms(known.kind) ? el("div", { class: "controls" }, press("Open a terminal", () => dock.open(name), { class: "first" }), SIGNALS.map(({ name: text, signal }) => press(text, () => dock.open(name, signalAll(signal)))), press("Restart its services", () => attempt(() => lab.restart(name), `what runs on ${name} starts again`))) : null,
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
    () => (services().length === 0 ? null : [el("h3", {}, "Services"), el("ul", {}, services().map((service) => el("li", {}, `${service.name}: ${typeof service.state === "string" ? service.state.replaceAll("_", " ") : JSON.stringify(service.state)} `, may("use") ? press("restart", () => attempt(() => lab.restart(service.name), `${service.name} starts again`), { class: "plain", "aria-label": `restart ${service.name}` }) : null)))]),
    () => (runs() ? nodeConnections(lab, name, book) : null),
  ];
}
