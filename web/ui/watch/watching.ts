// What the page of a lab consists of, and what can be done from it: its views and commands know it.
import { counted } from "../../components/format";
import { api, controlUrl, type LabRow, type Report } from "../api";
import { Lab } from "../lab";
import { MapCanvas } from "../map/canvas";
import { graphOf, type Look } from "../map/model";
import { attempt, tell } from "../tell";
import { createEffect, createMemo, createSignal, on, onCleanup, untrack } from "../view";
import { labs, may } from "../world";
import { type Dock, dockOf } from "./dock";
import { FlowBook } from "./flows";
import { linkWords, looksOf, type Mode } from "./looks";
import { Moving } from "./moving";
import { runsPrograms } from "./node";
import { sceneOf } from "./place";
import { doneWords, offIn, stateOf } from "./states";
import type { Tab } from "./tabs";

/** Pixels of the list about a lab that are to be in sight, if it is asked for. */
const LEAST_SEEN = 200;

type State = "down" | "up";

export class Watching {
  readonly lab: Lab;
  /** Its terminals. */
  readonly dock: Dock;
  readonly book = new FlowBook();
  readonly map: MapCanvas;
  /** How links look on the map now. */
  looks: Look[] = [];
  readonly tab: () => Tab;
  readonly setTab: (tab: Tab) => void;
  /** What links are coloured by. */
  readonly mode: () => Mode;
  readonly setMode: (mode: Mode) => void;
  readonly chosen: () => { nodes: string[]; links: string[] };
  private readonly setChosen: (chosen: { nodes: string[]; links: string[] }) => void;
  /** What the lab was judged when it was taken down from here. */
  readonly report: () => Report | null;
  private readonly setReport: (report: Report | null) => void;
  /** Whether packets move on the map. */
  readonly moving: () => boolean;
  readonly setMoving: (moving: boolean) => void;
  /** What the list of labs has of it. */
  readonly row: () => LabRow | undefined;
  /** Its results, also when it is in no list any more. */
  results: string | null = null;

  constructor(readonly name: string) {
    this.lab = new Lab(name, controlUrl(name), async () => (await api.labs()).some((row) => row.name === name));
    onCleanup(() => this.lab.close());
    this.dock = dockOf(name);
    [this.tab, this.setTab] = createSignal<Tab>("all");
    [this.mode, this.setMode] = createSignal<Mode>("use");
    [this.chosen, this.setChosen] = createSignal<{ nodes: string[]; links: string[] }>({ nodes: [], links: [] });
    [this.report, this.setReport] = createSignal<Report | null>(null);
    [this.moving, this.setMoving] = createSignal(true);
    const dots: Moving = new Moving(this.lab, () => this.map, this.book);
    this.map = this.makeMap(dots);
    dots.follow(this.moving);
    onCleanup(() => this.map.destroy());
    this.lab.follow((error) => tell(error.message, true));
    this.followShape();
    createEffect(() => this.redraw());
    createEffect(() => this.map.mark(offIn(this.lab.topology())));
    this.lab.watchVerdict(() => this.mode() === "lateness");
    this.row = createMemo(() => labs().find((one) => one.name === name));
    createEffect(() => {
      this.results = this.row()?.results ?? this.results;
    });
  }

  readonly openNode = (node: string): void => {
    this.map.choose([node], []);
    reveal();
  };

  readonly openLink = (link: string): void => {
    this.map.choose([], [link]);
    reveal();
  };

  readonly showTab = (to: Tab): void => {
    this.setTab(to);
    reveal();
  };

  /** The kind of a node; empty: the lab has no such node. */
  kindOf(node: string): string {
    return this.lab.topology()?.nodes.find((one) => one.name === node)?.kind ?? "";
  }

  /** Cuts or heals all links between the chosen nodes and others. */
  readonly cutAround = (state: State): void => {
    const inside = new Set(this.chosen().nodes);
    const border = (this.lab.topology()?.links ?? []).filter(
      (link) =>
        !link.joined_in_kernel &&
        link.ends.some(({ node }) => inside.has(node)) &&
        link.ends.some(({ node }) => !inside.has(node)),
    );
    const names = border.map((link) => link.name);
    attempt(
      () => this.setStates(state, names),
      `${state === "down" ? "cut" : "healed"}: ${counted(border.length, "link")}`,
    );
  };

  readonly change = (state: State, links: string[]): void => attempt(() => this.setStates(state, links));

  /** The names of links that are down. */
  cutLinks(): string[] {
    const down = this.lab.flows().filter((flow) => !flow.up);
    return [...new Set(down.map((flow) => flow.total.link))];
  }

  readonly takeDown = (): void => {
    if (!confirm(`Take lab ${this.name} down? Its programs end, and its verdict is shown.`)) return;
    attempt(async () => {
      const done = await api.takeDown(this.name);
      this.setReport(done.report);
      this.showTab("verdict");
    });
  };

  /** Stops a node, or starts it again. */
  readonly changeNode = (change: "stop" | "start", node: string): void =>
    attempt(() => this.lab.changeNode(change, node), doneWords(change, node));

  readonly advance = (by: number): void => attempt(() => this.lab.time("advance", by));

  private async setStates(state: State, links: string[]): Promise<void> {
    const { lab } = this;
    await Promise.all(links.map((link) => lab.control.send({ request: "set", link, changes: [["state", state]] })));
    lab.refresh();
  }

  private makeMap(dots: Moving): MapCanvas {
    return new MapCanvas({
      label: `map of lab ${this.name}`,
      choose: ({ nodes, links }, open) => {
        this.setChosen({ nodes: [...nodes], links: [...links] });
        if (nodes.size + links.size > 0) this.setTab("chosen");
        const [node] = nodes;
        if (open && node !== undefined && may("use") && runsPrograms(this.kindOf(node))) this.dock.open(node);
        else if (open) document.querySelector<HTMLElement>(".side [role=tab][aria-selected=true]")?.focus();
      },
      words: (what) => this.words(what),
      over: (_map, pen, colours): number | null => dots.draw(pen, colours, performance.now()),
    });
  }

  private words({ node, link }: { node?: string; link?: string }): string {
    const { lab } = this;
    const known = lab.topology()?.links.find((one) => one.name === link);
    if (known) return linkWords(known, lab.flows());
    const of = lab.topology()?.nodes.find((one) => one.name === node);
    if (!of) return "";
    const addresses = of.interfaces.flatMap((face) => face.addresses).slice(0, 3);
    const state = stateOf(of) === "running" ? "" : `, ${stateOf(of)}`;
    return `${of.kind} ${of.name}${state}${of.interfaces.length > 0 ? `, ${addresses.join(", ")}` : ""}`;
  }

  /** Places the map anew when nodes or links come or go, and not when settings change. */
  private followShape(): void {
    const { lab } = this;
    const shape = createMemo(() => {
      const topology = lab.topology();
      return topology
        ? topology.nodes.map((node) => node.name).join("\n") + topology.links.map((link) => link.name).join("\n")
        : "";
    });
    createEffect(
      on(shape, (text) => {
        if (!text) return;
        sceneOf(this.name, lab).then(
          (scene) => {
            this.map.show(graphOf(scene));
            untrack(() => this.redraw());
            if (may("use")) untrack(() => this.restoreTerminals());
          },
          (error: Error) => tell(error.message, true),
        );
      }),
    );
  }

  private redraw(): void {
    const { lab, map, mode } = this;
    const topology = lab.topology();
    if (!topology) return;
    this.looks = looksOf(map.graph, topology, lab.flows(), mode(), mode() === "lateness" ? lab.soFar() : null);
    map.look(this.looks);
  }

  private restoreTerminals(): void {
    const nodes = this.lab.topology()?.nodes ?? [];
    this.dock.restore(nodes.filter(({ kind }) => runsPrograms(kind)).map((node) => node.name));
  }
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
