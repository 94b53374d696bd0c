// What one node is, and what can be done in it.
import { rate } from "../../components/format";
import type { Topology } from "../control";
import type { Lab } from "../lab";
import { attempt } from "../tell";
import { createMemo, el, keyed, press, type View } from "../view";
import { may } from "../world";
import { curves } from "./curves";
import type { Dock } from "./dock";
import { faultsPanel } from "./faults";
import type { FlowBook } from "./flows";
import { groups } from "./groups";
import type { LiveLine } from "./live";
import { changeOf, doneWords, stateOf, type TopologyNode } from "./states";
import { nodeConnections } from "./tcp";

/** What kinds of node run no programs. */
const SILENT = new Set(["switch", "hub", "transit", "openflow", "outside", "lan", "internet", "external", "tunnel"]);
export const runsPrograms = (kind: string): boolean => !SILENT.has(kind);

/** Signals to all programs of a node: `kill -1` reaches all processes of its namespace but the first and the sender. */
export const SIGNALS = [
  { name: "Pause programs", signal: "STOP" },
  { name: "Resume programs", signal: "CONT" },
  { name: "Kill programs", signal: "KILL" },
] as const;

export const signalAll = (signal: string): string[] => [
  "sh",
  "-c",
  `kill -${signal} -1 && echo "SIG${signal} was sent to all programs of this node"`,
];

/** Interfaces with a curve each; of more, there is one of all. */
const MOST_CURVES = 5;
/** What the node sends and receives over time, as far as the packet engine carries it; of a node with one link in one plot. */
function traffic(lab: Lab, name: string): View {
  const pipes = (end: "from" | "to") =>
    lab
      .flows()
      .map(({ total }, place) => ({ total, place }))
      .filter(({ total }) => total[end] === name && total.pipe === null && !total.joined_in_kernel);
  const known = createMemo(() => pipes("from").length + pipes("to").length > 0);
  const sum = (places: number[]) => {
    const [first, ...others] = places.map((place) => lab.history.of(place, "bits"));
    return {
      t: first?.t ?? [],
      y: (first?.y ?? []).map((value, at) => others.reduce((all, { y }) => all + (y[at] ?? 0), value ?? 0)),
    };
  };
  const lines = (end: "from" | "to"): LiveLine[] => {
    const own = pipes(end);
    return own.length <= MOST_CURVES
      ? own.map(({ total, place }, style) => ({ label: total.link, style, data: () => lab.history.of(place, "bits") }))
      : [{ label: `all ${own.length} links`, style: 0, data: () => sum(own.map(({ place }) => place)) }];
  };
  const bits = (value: number): string => rate(value, 3);
  return keyed(known, (is) =>
    is
      ? curves((LivePlot) => {
          const [sends, receives] = [lines("from"), lines("to")];
          const [out, into] = [sends[0], receives[0]];
          if (sends.length === 1 && receives.length === 1 && out && into)
            return [
              new LivePlot(
                "Throughput",
                [
                  { ...out, label: "sends" },
                  { ...into, label: "receives", style: 1 },
                ],
                bits,
              ),
            ];
          return [new LivePlot("Sends", sends, bits), new LivePlot("Receives", receives, bits)];
        }, lab.flows)
      : null,
  );
}

export function nodePanel(lab: Lab, name: string, dock: Dock, book: FlowBook, openLink: (link: string) => void): View {
  const node = createMemo(() => lab.topology()?.nodes.find((one) => one.name === name) ?? null);
  const runs = createMemo(() => runsPrograms(node()?.kind ?? "lan"));
  return [
    el("h2", {}, "Node ", el("span", { class: "what" }, name)),
    () => {
      const known = node();
      return known
        ? about(lab, known, dock, openLink)
        : el("p", { class: "none" }, "the lab has no such node any more");
    },
    groups(lab, name, openLink),
    traffic(lab, name),
    services(lab, name),
    () => (runs() ? nodeConnections(lab, name, book) : null),
    // What there is to see comes before what there is to break.
    may("use") ? faultsPanel(lab, name) : null,
  ];
}

const about = (lab: Lab, node: TopologyNode, dock: Dock, openLink: (link: string) => void): View => [
  el("p", { class: "under" }, `${node.kind}${node.stack && node.stack !== node.kind ? `, stack: ${node.stack}` : ""}`),
  stateOf(node) === "running" ? null : el("p", {}, stateBadge(node)),
  may("use") ? controls(lab, node, dock) : null,
  el("h3", {}, "Interfaces"),
  interfaces(lab, node, openLink),
];

/** The state of a node that does not run. */
export const stateBadge = (node: Pick<TopologyNode, "state">): View =>
  el("span", { class: `badge ${["stopped", "crashed"].includes(stateOf(node)) ? "bad" : "caution"}` }, stateOf(node));

function controls(lab: Lab, node: TopologyNode, dock: Dock): View {
  const change = changeOf(lab, node);
  const isProgrammable = runsPrograms(node.kind) && stateOf(node) === "running";
  if (!change && !isProgrammable) return null;
  return el(
    "div",
    { class: "controls" },
    isProgrammable ? programs(lab, node.name, dock) : null,
    change ? changeButton(lab, node.name, change) : null,
  );
}

const changeButton = (lab: Lab, name: string, change: "stop" | "start"): View =>
  press(
    change === "stop" ? "Stop the node" : "Start the node",
    () => attempt(() => lab.changeNode(change, name), doneWords(change, name)),
    {
      title:
        change === "stop"
          ? "its links are cut, its programs end, and its network goes"
          : "its network, setup and services come again",
    },
  );

const programs = (lab: Lab, name: string, dock: Dock): View => [
  press("Open a terminal", () => dock.open(name), { class: "first" }),
  SIGNALS.map(({ name: text, signal }) => press(text, () => dock.open(name, { command: signalAll(signal) }))),
  press("Restart its services", () => attempt(() => lab.restart(name), `what runs on ${name} starts again`)),
];

function interfaces(lab: Lab, node: TopologyNode, openLink: (link: string) => void): View {
  const hasAddresses = node.interfaces.some(({ addresses }) => addresses.length > 0);
  const sends = (link: string): string =>
    rate(
      lab
        .flows()
        .filter(({ total }) => total.link === link && total.from === node.name && total.pipe === null)
        .reduce((sum, flow) => sum + flow.bits, 0),
      3,
    );
  const row = ({ name, link, addresses }: TopologyNode["interfaces"][number]): View =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el(
        "td",
        {},
        press(link, () => openLink(link), { class: "plain" }),
      ),
      el("td", { class: "number" }, () => sends(link)),
      hasAddresses
        ? el(
            "td",
            {},
            addresses.map((address) => el("div", {}, address)),
          )
        : null,
    );
  const heads = ["interface", "link", "sends", ...(hasAddresses ? ["addresses"] : [])];
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "interfaces" },
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads.map((head) => el("th", { scope: "col", class: head === "sends" ? "number" : "" }, head)),
        ),
      ),
      el("tbody", {}, node.interfaces.map(row)),
    ),
  );
}

/** The services of a node. */
function services(lab: Lab, node: string): View {
  const own = createMemo(() => lab.topology()?.services.filter((service) => service.node === node) ?? []);
  const restart = (name: string): View =>
    press("restart", () => attempt(() => lab.restart(name), `${name} starts again`), {
      class: "plain",
      "aria-label": `restart ${name}`,
    });
  const item = ({ name, state }: Topology["services"][number]): View =>
    el(
      "li",
      {},
      `${name}: ${typeof state === "string" ? state.replaceAll("_", " ") : JSON.stringify(state)} `,
      may("use") ? restart(name) : null,
    );
  return () => (own().length === 0 ? null : [el("h3", {}, "Services"), el("ul", {}, own().map(item))]);
}
