// What is about a lab, beside its map: one tab of it at a time.
import { counted } from "../../components/format";
import { type AirBelonging, api } from "../api";
import { tasksPanel } from "../teach/tasks";
import { createMemo, createSignal, el, keyed, press, type View } from "../view";
import { may } from "../world";
import { airMap } from "./air";
import { linkPanel, plots } from "./link";
import { eventsList, logsList } from "./lists";
import { nodePanel } from "./node";
import { overview } from "./overview";
import { partitionPanel } from "./partition";
import { stations } from "./stations";
import { sideTabs } from "./tabs";
import { allConnections } from "./tcp";
import { reportView, verdictSoFar } from "./verdict";
import type { Watching } from "./watching";

/** Between two looks at the map in metres, in ms. */
const MAP_MS = 500;

export function side(watching: Watching): View {
  const { tab, setTab, chosen } = watching;
  return el(
    "div",
    { class: "side" },
    sideTabs(tab, setTab),
    el(
      "div",
      { class: "panel", role: "tabpanel", id: "side-panel", "aria-labelledby": () => `side-${tab()}`, tabindex: 0 },
      keyed(
        createMemo(() => `${tab()}\n${tab() === "chosen" ? JSON.stringify(chosen()) : ""}`),
        () => panel(watching),
      ),
    ),
  );
}

function panel(watching: Watching): View {
  const { lab, book, report, openNode, openLink } = watching;
  switch (watching.tab()) {
    case "all":
      return [el("h2", { class: "away" }, "Overview"), onTheAir(watching), overview(lab, openNode, openLink)];
    case "events":
      return eventsList(lab);
    case "logs":
      return logsList(lab);
    case "tcp":
      return allConnections(lab, book);
    case "verdict":
      return () => (report() ? reportView(report()) : verdictSoFar(lab));
    case "tasks":
      return tasksPanel(lab);
    case "chosen":
      return chosenPanel(watching);
  }
}

/** The map in metres, and what each station does. */
function onTheAir({ name, lab, openNode }: Watching): View {
  const [belongs, setBelongs] = createSignal<readonly AirBelonging[]>([]);
  const map = airMap({
    name,
    id: async () => (await api.labs()).find((one) => one.name === name)?.results ?? null,
    at: () => lab.now()?.since_zero_ns ?? null,
    every: MAP_MS,
    heading: "h3",
    told: setBelongs,
  });
  return [map, stations(lab, belongs, openNode)];
}

function chosenPanel(watching: Watching): View {
  const { lab, dock, book, setTab, openNode, openLink } = watching;
  const { nodes, links } = watching.chosen();
  const [node] = nodes;
  const [link] = links;
  if (node !== undefined && nodes.length + links.length === 1)
    return [nodePanel(lab, node, dock, book, openLink), may("use") ? partitionPanel(lab, nodes) : null];
  if (link === undefined || nodes.length + links.length > 1) return several(watching, nodes, links);
  return linkPanel(lab, link, book, {
    node: openNode,
    connection: (ends) => {
      lab.tcp.pick(ends);
      setTab("tcp");
    },
  });
}

function several({ lab, cutAround, change }: Watching, nodes: string[], links: string[]): View {
  if (nodes.length + links.length === 0)
    return el(
      "p",
      { class: "none" },
      "Choose a node or a link on the map: press it, or go there with the arrow keys and press space. Shift chooses several, L draws around them.",
    );
  return [
    el(
      "h2",
      {},
      [nodes.length > 0 ? counted(nodes.length, "node") : "", links.length > 0 ? counted(links.length, "link") : ""]
        .filter(Boolean)
        .join(", "),
    ),
    el("p", {}, [...nodes, ...links].slice(0, 60).join(", "), nodes.length + links.length > 60 ? "…" : ""),
    may("use")
      ? el(
          "div",
          { class: "controls" },
          nodes.length > 0
            ? [press("Cut their links", () => cutAround("down")), press("Heal their links", () => cutAround("up"))]
            : null,
          links.length > 0
            ? [
                press("Cut these links", () => change("down", links)),
                press("Heal these links", () => change("up", links)),
              ]
            : null,
        )
      : null,
    may("use") && nodes.length > 0 ? partitionPanel(lab, nodes) : null,
    links.length > 0 ? plots(lab, links) : null,
  ];
}
