// What can be done to a lab that is up, as commands with names and keys.
import { png, save } from "../../components/download";
import type { Command } from "../commands";
import { mapSvg } from "../map/export";
import { attempt } from "../tell";
import { createMemo } from "../view";
import { may } from "../world";
import { make, possible } from "./faults";
import { MODES } from "./looks";
import { runsPrograms } from "./node";
import { heal, inForce, part, partable } from "./partition";
import { changeOf } from "./states";
import { TABS } from "./tabs";
import { connectionName } from "./tcp";
import type { Watching } from "./watching";

/** How many nodes, links and connections have a command each. */
const [MOST_NODES, MOST_LINKS, MOST_CONNECTIONS] = [300, 600, 100];
const STEPS = [
  ["1 ms", 1e6],
  ["100 ms", 1e8],
  ["1 s", 1e9],
  ["10 s", 1e10],
] as const;

/** The commands, as they are whenever they are asked for. */
export function commandsOf(watching: Watching): () => Command[] {
  const { lab } = watching;
  // What is offered follows from these, and not from each sample.
  const isVirtual = createMemo(() => lab.now()?.clock === "virtual");
  const isPaused = createMemo(() => lab.now()?.paused ?? false);
  return () => [
    ...views(watching),
    ...pictures(watching),
    ...(may("use")
      ? [
          ...cuts(watching),
          ...changes(watching),
          ...faults(watching),
          ...(isVirtual() ? time(watching, isPaused()) : []),
          ...terminals(watching),
        ]
      : []),
    ...parts(watching),
    ...(may("edit") ? [{ name: `Take lab ${watching.name} down`, act: watching.takeDown }] : []),
  ];
}

const views = ({ map, setMode, showTab }: Watching): Command[] => [
  ...TABS.map((one) => ({
    name: `Show ${one.about ?? one.name.toLowerCase()}`,
    keys: one.keys,
    act: () => showTab(one.tab),
  })),
  ...MODES.map((one) => ({ name: `Colour links by ${one}`, act: () => setMode(one) })),
  { name: "Go to the map", keys: "m", act: () => map.element.focus() },
  { name: "Show all of the map", keys: "0", act: () => map.fit() },
  { name: "Choose nodes with a lasso", keys: "l", act: () => map.beginLasso() },
];

function pictures(watching: Watching): Command[] {
  const { name, map, moving, setMoving } = watching;
  const picture = (): string => mapSvg(map, watching.looks, `map of lab ${name}`);
  return [
    { name: "Save the map as SVG", act: () => save(`${name}.svg`, "image/svg+xml", picture()) },
    {
      name: "Save the map as PNG",
      act: () => attempt(async () => save(`${name}.png`, "image/png", await png(picture()))),
    },
    {
      name: moving() ? "Let nothing move on the map" : "Show packets that move on the map",
      act: () => setMoving(!moving()),
    },
  ];
}

function cuts(watching: Watching): Command[] {
  const { lab, change, cutAround } = watching;
  const { nodes, links } = watching.chosen();
  const [link] = links;
  return [
    ...(link === undefined
      ? []
      : [
          { name: `Cut link ${link}`, keys: "x", act: () => change("down", links) },
          { name: `Heal link ${link}`, keys: "h", act: () => change("up", links) },
        ]),
    ...(nodes.length === 0
      ? []
      : [
          {
            name: "Partition: part the chosen nodes from the others",
            keys: "p",
            act: () => part(lab, { nodes: partable(lab, nodes), fate: "drop", slow: "", side: "both", lasting: "" }),
          },
          { name: "Cut all links between the chosen nodes and others", act: () => cutAround("down") },
          { name: "Heal all links between the chosen nodes and others", act: () => cutAround("up") },
        ]),
    ...(inForce(lab).length === 0 ? [] : [{ name: "Heal partitions made by hand", act: () => heal(lab) }]),
    { name: "Heal all links", keys: "Shift+H", act: () => change("up", watching.cutLinks()) },
  ];
}

/** Stops or starts what is chosen. */
const changes = ({ lab, chosen, changeNode }: Watching): Command[] =>
  chosen().nodes.flatMap((name) => {
    const node = lab.topology()?.nodes.find((one) => one.name === name);
    const change = node ? changeOf(lab, node) : null;
    return change
      ? [{ name: `${change === "stop" ? "Stop" : "Start"} node ${name}`, act: () => changeNode(change, name) }]
      : [];
  });

/** The faults that the chosen nodes can have now, with the values that their forms begin with. */
const faults = ({ lab, chosen }: Watching): Command[] =>
  chosen().nodes.flatMap((name) => {
    const node = lab.topology()?.nodes.find((one) => one.name === name);
    return node
      ? possible(lab, node).map((fault) => ({ name: `${fault.name}: ${name}`, act: () => make(lab, name, fault) }))
      : [];
  });

const time = ({ lab, advance }: Watching, isPaused: boolean): Command[] => [
  {
    name: isPaused ? "Resume time" : "Pause time",
    keys: " ",
    act: () => attempt(() => lab.time(isPaused ? "resume" : "pause")),
  },
  ...STEPS.map(([text, by]) => ({ name: `Advance time by ${text}`, act: () => advance(by) })),
];

const terminals = ({ lab, dock, chosen }: Watching): Command[] =>
  (lab.topology()?.nodes ?? [])
    .filter((node) => runsPrograms(node.kind))
    .slice(0, MOST_NODES)
    .map((node) => ({
      name: `Open a terminal on ${node.name}`,
      act: () => dock.open(node.name),
      ...(chosen().nodes[0] === node.name ? { keys: "t" } : {}),
    }));

/** What the lab consists of, to be gone to by name. */
const parts = ({ lab, showTab, openNode, openLink }: Watching): Command[] => [
  ...lab.tcp
    .all()
    .slice(0, MOST_CONNECTIONS)
    .map((one) => ({
      name: `Show TCP connection ${connectionName(one, new Map())}`,
      act: () => {
        lab.tcp.pick(one.key);
        showTab("tcp");
      },
    })),
  ...(lab.topology()?.nodes ?? [])
    .slice(0, MOST_NODES)
    .map((node) => ({ name: `Show node ${node.name}`, act: () => openNode(node.name) })),
  ...(lab.topology()?.links ?? [])
    .slice(0, MOST_LINKS)
    .map((link) => ({ name: `Show link ${link.name}`, act: () => openLink(link.name) })),
];
