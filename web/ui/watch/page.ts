// A lab that is up: its map, what it carries, and everything that can be done to it.

import { png, save } from "../../components/download";
import { counted, digits } from "../../components/format";
import { api, controlUrl, type Report, type Scene } from "../api";
import { type Command, offer } from "../commands";
import { flowWords } from "../ends";
import { Lab } from "../lab";
import { MapCanvas } from "../map/canvas";
import { swatch } from "../map/dots";
import { mapSvg } from "../map/export";
import { arrange, graphOf, type Look } from "../map/model";
import { address } from "../route";
import { tasksPanel } from "../teach/tasks";
import { attempt, tell } from "../tell";
import {
  createEffect,
  createMemo,
  createSignal,
  each,
  el,
  keyed,
  on,
  onCleanup,
  press,
  untrack,
  type View,
} from "../view";
import { labs, may } from "../world";
import { dockOf } from "./dock";
import { FlowBook } from "./flows";
import { linkPanel, plots } from "./link";
import { eventsList, logsList, overview } from "./lists";
import { linkWords, looksOf, MODES, type Mode } from "./looks";
import { Moving } from "./moving";
import { nodePanel, runsPrograms } from "./node";
import { allConnections, connectionName, namesIn } from "./tcp";
import { reportView, verdictSoFar } from "./verdict";

type Tab = "all" | "chosen" | "events" | "logs" | "tcp" | "verdict" | "tasks";
const TABS: { tab: Tab; name: string; keys: string; about?: string }[] = [
  { tab: "all", name: "Overview", keys: "1" },
  { tab: "chosen", name: "Chosen", keys: "2" },
  { tab: "events", name: "Events", keys: "3" },
  { tab: "logs", name: "Logs", keys: "4" },
  { tab: "tcp", name: "TCP", keys: "5", about: "TCP connections" },
  { tab: "verdict", name: "Verdict", keys: "6" },
  { tab: "tasks", name: "Tasks", keys: "7" },
];

/** Where nodes are: as the lab's file or its results say, else found out here. */
async function sceneOf(name: string, lab: Lab): Promise<Scene> {
  const topology = lab.topology();
  const row = (await api.labs()).find((one) => one.name === name);
  const known = (scene: Scene | null): scene is Scene =>
    topology !== null &&
    scene !== null &&
    topology.nodes.every((node) => scene.nodes.some((one) => one.name === node.name));
  if (row?.path) {
    const { scene } = await api.check(row.path, null).catch(() => ({ scene: null }));
    if (known(scene)) return scene;
  }
  if (row?.results) {
    const { scene } = await api.result(row.results).catch(() => ({ scene: null }));
    if (known(scene)) return scene;
  }
  return arrange(
    topology?.nodes ?? [],
    (topology?.links ?? []).map((link) => ({ name: link.name, ends: link.ends.map(({ node }) => node) })),
  );
}

export function labPage(name: string): View {
  const lab = new Lab(name, controlUrl(name), async () => (await api.labs()).some((row) => row.name === name));
  onCleanup(() => lab.close());
  const dock = dockOf(name);
  const [tab, setTab] = createSignal<Tab>("all");
  const [mode, setMode] = createSignal<Mode>("use");
  const [chosen, setChosen] = createSignal<{ nodes: string[]; links: string[] }>({ nodes: [], links: [] });
  const [report, setReport] = createSignal<Report | null>(null);
  const [moving, setMoving] = createSignal(true);
  let looks: Look[] = [];
  const book = new FlowBook();
  const dots: Moving = new Moving(lab, () => map, book);
  const map: MapCanvas = new MapCanvas({
    label: `map of lab ${name}`,
    choose: ({ nodes, links }, open) => {
      setChosen({ nodes: [...nodes], links: [...links] });
      if (nodes.size + links.size > 0) setTab("chosen");
      const [node] = nodes;
      if (
        open &&
        node !== undefined &&
        may("use") &&
        runsPrograms(lab.topology()?.nodes.find((one) => one.name === node)?.kind ?? "")
      )
        dock.open(node);
      else if (open) document.querySelector<HTMLElement>(".side [role=tab][aria-selected=true]")?.focus();
    },
    words: ({ node, link }) => {
      const known = lab.topology()?.links.find((one) => one.name === link);
      if (known) return linkWords(known, lab.flows());
      const of = lab.topology()?.nodes.find((one) => one.name === node);
      return of
        ? `${of.kind} ${of.name}${
            of.interfaces.length > 0
              ? `, ${of.interfaces
                  .flatMap(({ addresses }) => addresses)
                  .slice(0, 3)
                  .join(", ")}`
              : ""
          }`
        : "";
    },
    over: (_map, pen, c): number | null => dots.draw(pen, c, performance.now()),
  });
  dots.follow(moving);
  onCleanup(() => map.destroy());
  lab.follow((error) => tell(error.message, true));
  // The map is placed anew when nodes come or go, not when settings change.
  const shape = createMemo(() => {
    const topology = lab.topology();
    return topology
      ? topology.nodes.map((node) => node.name).join("\n") + topology.links.map((link) => link.name).join("\n")
      : "";
  });
  createEffect(
    on(shape, (text) => {
      if (!text) return;
      sceneOf(name, lab).then(
        (scene) => {
          map.show(graphOf(scene));
          untrack(redraw);
          if (may("use"))
            untrack(() =>
              dock.restore(
                lab
                  .topology()
                  ?.nodes.filter(({ kind }) => runsPrograms(kind))
                  .map((node) => node.name) ?? [],
              ),
            );
        },
        (error: Error) => tell(error.message, true),
      );
    }),
  );
  const redraw = (): void => {
    const topology = lab.topology();
    if (!topology) return;
    looks = looksOf(map.graph, topology, lab.flows(), mode(), mode() === "lateness" ? lab.soFar() : null);
    map.look(looks);
  };
  createEffect(redraw);
  lab.watchVerdict(() => mode() === "lateness");
  const openNode = (node: string): void => {
    map.choose([node], []);
    reveal();
  };
  const openLink = (link: string): void => {
    map.choose([], [link]);
    reveal();
  };
  const showTab = (to: Tab): void => {
    setTab(to);
    reveal();
  };
  const cutAround = (state: "down" | "up"): void => {
    const inside = new Set(chosen().nodes);
    const border = (lab.topology()?.links ?? []).filter(
      (link) =>
        !link.joined_in_kernel &&
        link.ends.some(({ node }) => inside.has(node)) &&
        link.ends.some(({ node }) => !inside.has(node)),
    );
    attempt(
      () =>
        Promise.all(
          border.map((link) => lab.control.send({ request: "set", link: link.name, changes: [["state", state]] })),
        ).then(() => lab.refresh()),
      `${state === "down" ? "cut" : "healed"}: ${counted(border.length, "link")}`,
    );
  };
  const change = (state: "down" | "up", links: string[]): void =>
    attempt(() =>
      Promise.all(links.map((link) => lab.control.send({ request: "set", link, changes: [["state", state]] }))).then(
        () => lab.refresh(),
      ),
    );
  const cut = (): string[] => [
    ...new Set(
      lab
        .flows()
        .filter((flow) => !flow.up)
        .map((flow) => flow.total.link),
    ),
  ];
  const end = (): void => {
    if (!confirm(`Take lab ${name} down? Its programs end, and its verdict is shown.`)) return;
    attempt(async () => {
      const done = await api.takeDown(name);
      setReport(done.report);
      showTab("verdict");
    });
  };
  const advance = (by: number): void => attempt(() => lab.time("advance", by));
  offer(() => commands());
  // What is offered follows from these, and not from each sample.
  const isVirtual = createMemo(() => lab.now()?.clock === "virtual");
  const isPaused = createMemo(() => lab.now()?.paused ?? false);
  const commands = (): Command[] => [
    ...TABS.map((one) => ({
      name: `Show ${one.about ?? one.name.toLowerCase()}`,
      keys: one.keys,
      act: () => showTab(one.tab),
    })),
    ...MODES.map((one) => ({ name: `Colour links by ${one}`, act: () => setMode(one) })),
    { name: "Go to the map", keys: "m", act: () => map.element.focus() },
    { name: "Show all of the map", keys: "0", act: () => map.fit() },
    { name: "Choose nodes with a lasso", keys: "l", act: () => map.beginLasso() },
    {
      name: "Save the map as SVG",
      act: () => save(`${name}.svg`, "image/svg+xml", mapSvg(map, looks, `map of lab ${name}`)),
    },
    {
      name: "Save the map as PNG",
      act: () =>
        attempt(async () => save(`${name}.png`, "image/png", await png(mapSvg(map, looks, `map of lab ${name}`)))),
    },
    {
      name: moving() ? "Let nothing move on the map" : "Show packets that move on the map",
      act: () => {
        setMoving(!moving());
      },
    },
    ...(may("use")
      ? [
          ...chosen()
            .links.map((link) => ({ name: `Cut link ${link}`, keys: "x", act: () => change("down", chosen().links) }))
            .slice(0, 1),
          ...chosen()
            .links.map((link) => ({ name: `Heal link ${link}`, keys: "h", act: () => change("up", chosen().links) }))
            .slice(0, 1),
          ...(chosen().nodes.length > 0
            ? [
                { name: "Partition: cut the chosen nodes off", keys: "p", act: () => cutAround("down") },
                { name: "Heal the partition around the chosen nodes", act: () => cutAround("up") },
              ]
            : []),
          { name: "Heal all links", keys: "Shift+H", act: () => change("up", cut()) },
          ...(isVirtual()
            ? [
                {
                  name: isPaused() ? "Let time go on" : "Pause time",
                  keys: " ",
                  act: () => attempt(() => lab.time(isPaused() ? "resume" : "pause")),
                },
                ...(
                  [
                    ["1 ms", 1e6],
                    ["100 ms", 1e8],
                    ["1 s", 1e9],
                    ["10 s", 1e10],
                  ] as const
                ).map(([text, by]) => ({ name: `Advance time by ${text}`, act: () => advance(by) })),
              ]
            : []),
          ...(lab.topology()?.nodes ?? [])
            .filter((node) => runsPrograms(node.kind))
            .slice(0, 300)
            .map((node) => ({
              name: `Open a terminal on ${node.name}`,
              act: () => dock.open(node.name),
              ...(chosen().nodes[0] === node.name ? { keys: "t" } : {}),
            })),
        ]
      : []),
    ...lab.tcp
      .all()
      .slice(0, 100)
      .map((one) => ({
        name: `Show TCP connection ${connectionName(one, new Map())}`,
        act: () => {
          lab.tcp.pick(one.key);
          showTab("tcp");
        },
      })),
    ...(lab.topology()?.nodes ?? [])
      .slice(0, 300)
      .map((node) => ({ name: `Show node ${node.name}`, act: () => openNode(node.name) })),
    ...(lab.topology()?.links ?? [])
      .slice(0, 600)
      .map((link) => ({ name: `Show link ${link.name}`, act: () => openLink(link.name) })),
    ...(may("edit") ? [{ name: `Take lab ${name} down`, act: end }] : []),
  ];
  const row = createMemo(() => labs().find((one) => one.name === name));
  let results: string | null = null;
  createEffect(() => {
    results = row()?.results ?? results;
  });
  const tabs = sideTabs(tab, setTab);
  return el(
    "div",
    { class: "lab", "data-lab": name },
    el(
      "div",
      { class: "labbar" },
      el("h1", {}, name),
      () => stateBadge(lab.control.state(), lab.control.why()),
      clock(lab, advance),
      el(
        "span",
        { class: "choice" },
        el("label", { for: "mode" }, "links by"),
        el(
          "select",
          {
            id: "mode",
            value: mode,
            onchange: (event: Event) => setMode((event.target as HTMLSelectElement).value as Mode),
          },
          MODES.map((one) => el("option", { value: one }, one)),
        ),
      ),
      () =>
        lab.lost() > 0
          ? el(
              "small",
              { title: "this page was too slow to take every sample; the lab was not kept waiting" },
              `${counted(lab.lost(), "sample")} left out`,
            )
          : null,
      el("span", { class: "grow" }),
      () => (row()?.path ? el("a", { href: address("edit", row()?.path ?? "") }, "Lab file") : null),
      () => (may("edit") && lab.control.state() === "open" ? press("Take down", end, { class: "danger" }) : null),
    ),
    () =>
      lab.control.state() === "ended"
        ? el(
            "p",
            { class: "note strip", role: "status" },
            "This lab has ended. What it showed last stays here. ",
            results ? el("a", { href: address("replay", results) }, "Open its results") : null,
          )
        : null,
    el(
      "div",
      { class: "labmain" },
      el("div", { class: "mapside" }, map.element, legend(mode, lab, book), mapButtons(map)),
      el(
        "div",
        { class: "side" },
        tabs,
        el(
          "div",
          { class: "panel", role: "tabpanel", id: "side-panel", "aria-labelledby": () => `side-${tab()}`, tabindex: 0 },
          keyed(
            createMemo(() => `${tab()}\n${tab() === "chosen" ? JSON.stringify(chosen()) : ""}`),
            () => {
              const now = tab();
              if (now === "all") return overview(lab, openNode, openLink);
              if (now === "events") return eventsList(lab);
              if (now === "logs") return logsList(lab);
              if (now === "tcp") return allConnections(lab, book);
              if (now === "verdict") return () => (report() ? reportView(report()) : verdictSoFar(lab));
              if (now === "tasks") return tasksPanel(lab);
              const { nodes, links } = chosen();
              if (nodes.length === 1 && nodes[0] !== undefined && links.length === 0)
                return nodePanel(lab, nodes[0], dock, book, openLink);
              if (links.length === 1 && links[0] !== undefined && nodes.length === 0)
                return linkPanel(lab, links[0], book, {
                  node: openNode,
                  connection: (ends) => {
                    lab.tcp.pick(ends);
                    setTab("tcp");
                  },
                });
              return several(lab, nodes, links, { cutAround, change });
            },
          ),
        ),
      ),
    ),
    dock.view(),
  );
}

/** In a narrow window, what is about the lab is below its map, and may be behind its terminals: who asks for it by a command sees it. */
function reveal(): void {
  requestAnimationFrame(() => {
    const [side, dock] = [document.querySelector(".side"), document.querySelector(".dock")];
    if (!side || document.documentElement.scrollHeight <= innerHeight) return;
    const top = side.getBoundingClientRect().top;
    if (top > innerHeight - (dock?.clientHeight ?? 0) - LEAST_SEEN) scrollBy(0, top);
  });
}
/** Pixels of the list about a lab that are to be in sight, if it is asked for. */
const LEAST_SEEN = 200;

function several(
  lab: Lab,
  nodes: string[],
  links: string[],
  act: { cutAround: (state: "down" | "up") => void; change: (state: "down" | "up", links: string[]) => void },
): View {
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
            ? [press("Cut them off", () => act.cutAround("down")), press("Heal around them", () => act.cutAround("up"))]
            : null,
          links.length > 0
            ? [
                press("Cut these links", () => act.change("down", links)),
                press("Heal these links", () => act.change("up", links)),
              ]
            : null,
        )
      : null,
    links.length > 0 ? plots(lab, links) : null,
  ];
}

function stateBadge(state: string, why: string): View {
  if (state === "open") return el("span", { class: "badge good" }, "up");
  if (state === "ended") return el("span", { class: "badge" }, "ended");
  return el("span", { class: "badge caution", title: why }, "connecting…");
}

/** The lab's time, and in virtual time the hand on it. */
function clock(lab: Lab, advance: (by: number) => void): View {
  const text = createMemo(() => {
    const now = lab.now();
    return now
      ? now.since_zero_ns === null
        ? "before time zero"
        : `${digits(Math.round(now.since_zero_ns / 1e7) / 100, 8)} s`
      : "";
  });
  const paused = createMemo(() => lab.now()?.paused ?? false);
  const kind = createMemo(() => lab.now()?.clock ?? "");
  return el(
    "div",
    { class: "clock" },
    el("output", { class: "time", "aria-label": "lab time", "aria-live": "off" }, text),
    () =>
      kind() === "virtual"
        ? [
            el("span", { class: "badge" }, paused() ? "paused, virtual time" : "virtual time"),
            may("use")
              ? el(
                  "span",
                  { class: "controls", role: "group", "aria-label": "time" },
                  press(
                    () => (paused() ? "▶ go on" : "‖ pause"),
                    () => attempt(() => lab.time(paused() ? "resume" : "pause")),
                  ),
                  (
                    [
                      ["+1 ms", 1e6],
                      ["+100 ms", 1e8],
                      ["+1 s", 1e9],
                    ] as const
                  ).map(([name, by]) =>
                    press(name, () => advance(by), { "aria-label": `advance by ${name.slice(1)}` }),
                  ),
                )
              : null,
          ]
        : kind() === "dilated"
          ? el("span", { class: "badge" }, () => `time runs ${digits(lab.now()?.dilation ?? 1)} times slower`)
          : null,
    () =>
      lab.now()?.stalled ? el("span", { class: "badge caution" }, `time stands still: ${lab.now()?.stalled}`) : null,
  );
}

function sideTabs(tab: () => Tab, setTab: (tab: Tab) => void): View {
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = TABS[(TABS.findIndex((one) => one.tab === tab()) + step + TABS.length) % TABS.length];
    if (!next) return;
    setTab(next.tab);
    document.getElementById(`side-${next.tab}`)?.focus();
  };
  return el(
    "div",
    { class: "tabs", role: "tablist", "aria-label": "about the lab", onkeydown: move },
    TABS.map((one) =>
      el(
        "button",
        {
          type: "button",
          role: "tab",
          id: `side-${one.tab}`,
          "aria-controls": "side-panel",
          "aria-selected": () => String(tab() === one.tab),
          tabindex: () => (tab() === one.tab ? 0 : -1),
          onclick: () => setTab(one.tab),
        },
        one.name,
      ),
    ),
  );
}

const CLASSES: Record<Mode, string[]> = {
  use: ["nothing, or no rate", "below 25 %", "below 50 %", "below 80 %", "below 95 %", "95 % and more"],
  throughput: ["nothing, or no rate", "below 25 %", "below 50 %", "below 80 %", "below 95 %", "95 % and more"],
  drops: ["none", "", "", "below 1 per second", "below 50", "more"],
  queue: ["empty", "", "below 10 packets", "below 50", "below 200", "more"],
  lateness: ["none, or not measured", "99 % below 10 µs", "below 100 µs", "below 1 ms", "below 10 ms", "more"],
  delay: ["none", "below 1 ms", "below 10 ms", "below 50 ms", "below 200 ms", "more"],
};

function legend(mode: () => Mode, lab: Lab, book: FlowBook): View {
  const names = namesIn(lab);
  const line = (number: number, extra = ""): View => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    made.setAttribute("width", "26");
    made.setAttribute("height", "10");
    made.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", "M1 5H25");
    path.setAttribute(
      "style",
      `stroke:var(--u${number});stroke-width:${1.8 + number * 0.8};stroke-linecap:round;${extra}`,
    );
    made.append(path);
    return made;
  };
  return el(
    "details",
    { class: "maplegend" },
    el("summary", {}, "Legend"),
    el(
      "ul",
      { class: "legend" },
      () => CLASSES[mode()].map((words, number) => (words ? el("li", {}, line(number), words) : null)),
      el("li", {}, line(3, "stroke-dasharray:7 4;stroke-linecap:butt"), "dashed, ▼: drops now"),
      el("li", {}, line(0, "stroke:var(--bad);stroke-dasharray:1.5 5"), "dotted, ✕: down"),
      () =>
        book.size() > 0
          ? el("li", {}, "dots: some of the packets, by their flow; ✕ below a link: one that was dropped")
          : null,
      each(book.first, (one) => el("li", {}, swatch(one.flow), () => flowWords(one, names()))),
      () =>
        book.size() > book.first().length
          ? el("li", {}, `and ${counted(book.size() - book.first().length, "more flow")}`)
          : null,
    ),
  );
}

export function mapButtons(map: MapCanvas): View {
  return el(
    "div",
    { class: "mapbuttons", role: "group", "aria-label": "map" },
    press("+", () => map.zoom(1.3), { "aria-label": "enlarge" }),
    press("−", () => map.zoom(1 / 1.3), { "aria-label": "make smaller" }),
    press("⤢", () => map.fit(), { "aria-label": "show all", title: "show all (0)" }),
    press("◌", () => map.beginLasso(), { "aria-label": "lasso", title: "lasso (L)" }),
  );
}
