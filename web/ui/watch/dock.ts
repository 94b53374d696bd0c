// Terminals side by side in tabs, at the foot of the page. They stay while somebody goes elsewhere on the page, and their shells wait on the server while it is loaded anew.
import type { Setter } from "solid-js";
import { api, type KeptShell } from "../api";
import { tell } from "../tell";
import { type Accessor, createRoot, createSignal, each, el, press, type View, when } from "../view";
import type { NodeTerminal, Wish } from "./terminal";

interface Tab {
  number: number;
  node: string;
  name: string;
  state: () => string;
  setState: (text: string) => void;
  command: readonly string[];
  terminal: NodeTerminal | null;
  host: HTMLElement;
}

const MOST = 24;
/** Where a browser's tab keeps what its terminals were, of each lab. */
const KEY = "netloom-terminals ";

const docks = new Map<string, Dock>();

/** The terminals of a lab, as long as the page is there. */
export function dockOf(lab: string): Dock {
  const known = docks.get(lab);
  if (known) return known;
  const made = createRoot(() => new Dock(lab));
  docks.set(lab, made);
  return made;
}

/** A shell that was open when the page was left, and what stood there last, for when it has ended meanwhile. */
interface Kept {
  node: string;
  shell: string;
  text: string;
}

function kept(lab: string): Kept[] {
  try {
    const all = JSON.parse(sessionStorage.getItem(KEY + lab) ?? "[]") as Kept[];
    return Array.isArray(all)
      ? all
          .filter(({ node, shell, text }) => [node, shell, text].every((one) => typeof one === "string"))
          .slice(0, MOST)
      : [];
  } catch {
    // A browser may have no storage, or somebody else's text in it.
    return [];
  }
}

export class Dock {
  private last = 0;
  private readonly tabs: Accessor<Tab[]>;
  private readonly setTabs: Setter<Tab[]>;
  private readonly at: Accessor<number>;
  private readonly setAt: Setter<number>;
  private restored = false;

  constructor(private readonly lab: string) {
    [this.tabs, this.setTabs] = createSignal<Tab[]>([]);
    [this.at, this.setAt] = createSignal(0);
    window.addEventListener("pagehide", () => this.keep());
  }

  private keep(): void {
    const shells = this.tabs().flatMap(({ node, terminal }) =>
      terminal?.shell && terminal.isAlive ? [{ node, shell: terminal.shell, text: terminal.text }] : [],
    );
    try {
      if (shells.length > 0) sessionStorage.setItem(KEY + this.lab, JSON.stringify(shells));
      else sessionStorage.removeItem(KEY + this.lab);
    } catch {
      // The server still knows which shells wait.
    }
  }

  /** Comes back to the shells that were open here when the page was loaded anew, and to those that wait for nobody else, of the nodes that there are. Terminals of a lab of this name that has ended
   * meanwhile go. */
  restore(nodes: readonly string[]): void {
    for (const tab of this.tabs()) if (tab.terminal && !tab.terminal.isAlive) this.close(tab, false);
    if (this.restored) return;
    this.restored = true;
    const here = kept(this.lab).filter(({ node }) => nodes.includes(node));
    const open = (there: readonly KeptShell[]): void => {
      for (const { node, shell, text } of here)
        this.open(node, there.some((one) => one.shell === shell) ? { shell } : { left: text }, false);
      for (const { node, shell, attached } of there)
        if (!attached && nodes.includes(node) && !here.some((one) => one.shell === shell))
          this.open(node, { shell }, false);
    };
    api.shells(this.lab).then(open, (error: Error) => {
      if (here.length > 0) tell(error.message, true);
    });
  }

  open(node: string, wish: Wish = {}, focus = true): void {
    if (this.tabs().length >= MOST) {
      tell(`there are ${MOST} terminals already: close one`, true);
      return;
    }
    this.last += 1;
    const [state, setState] = createSignal("starting");
    const tab: Tab = {
      number: this.last,
      node,
      name: this.freeName(node),
      state,
      setState,
      command: wish.command ?? [],
      terminal: null,
      host: el("div", { class: "termhost" }),
    };
    this.setTabs((all) => [...all, tab]);
    this.setAt(tab.number);
    import("./terminal").then(
      ({ NodeTerminal }) => {
        if (!this.tabs().includes(tab)) return;
        tab.terminal = new NodeTerminal(tab.host, this.lab, node, wish, setState);
        if (focus && this.at() === tab.number) tab.terminal.focus();
      },
      (error: unknown) => tell(`the terminal could not be loaded: ${String(error)}`, true),
    );
  }

  /** Two tabs have two names. */
  private freeName(node: string): string {
    const taken = new Set(this.tabs().map(({ name }) => name));
    let name = node;
    for (let number = 2; taken.has(name); number += 1) name = `${node} (${number})`;
    return name;
  }

  private close(tab: Tab, focus = true): void {
    tab.terminal?.destroy();
    const all = this.tabs();
    const left = all.filter((one) => one !== tab);
    this.setTabs(left);
    if (this.at() === tab.number) this.show(left[Math.min(all.indexOf(tab), left.length - 1)], focus);
    // Letters that were meant for it go nowhere else.
    if (focus && left.length === 0) document.querySelector<HTMLElement>(".mapcanvas")?.focus();
  }

  private show(tab: Tab | undefined, focus = true): void {
    this.setAt(tab?.number ?? 0);
    if (focus) requestAnimationFrame(() => tab?.terminal?.focus());
  }

  view(): View {
    const move = (event: KeyboardEvent): void => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const tab = this.tabs().find(({ number }) => number === this.at());
      if (event.key === "Delete" && tab) this.close(tab);
      else if (event.key === "F6") tab?.terminal?.focus();
      else if (step === undefined) return;
      else {
        const all = this.tabs();
        const next = all[(all.findIndex(({ number }) => number === this.at()) + step + all.length) % all.length];
        this.setAt(next?.number ?? 0);
        queueMicrotask(() => document.getElementById(`term-tab-${next?.number}`)?.focus());
      }
      event.preventDefault();
    };
    return when(
      () => this.tabs().length > 0,
      () => this.body(move),
    );
  }

  private body(move: (event: KeyboardEvent) => void): View {
    return el(
      "section",
      { class: "dock", "aria-label": "terminals" },
      el(
        "div",
        { class: "docktabs" },
        el(
          "div",
          { class: "tabs", role: "tablist", "aria-label": "terminals", onkeydown: move },
          each(this.tabs, (tab) =>
            el(
              "button",
              {
                type: "button",
                role: "tab",
                id: `term-tab-${tab.number}`,
                "aria-controls": `term-${tab.number}`,
                "aria-selected": () => String(this.at() === tab.number),
                tabindex: () => (this.at() === tab.number ? 0 : -1),
                onclick: () => this.show(tab),
              },
              tab.name,
              tab.command.length > 0 ? el("small", {}, ` ${tab.command.join(" ").slice(0, 30)}`) : null,
              () =>
                tab.state()
                  ? el("small", { title: tab.state() }, ` (${tab.state().startsWith("ended") ? "ended" : tab.state()})`)
                  : null,
            ),
          ),
        ),
        press(
          "✕",
          () => {
            const tab = this.tabs().find(({ number }) => number === this.at());
            if (tab) this.close(tab);
          },
          { class: "plain", "aria-label": "close this terminal", title: "close this terminal" },
        ),
      ),
      each(this.tabs, (tab) =>
        el(
          "div",
          {
            role: "tabpanel",
            id: `term-${tab.number}`,
            "aria-labelledby": `term-tab-${tab.number}`,
            hidden: () => this.at() !== tab.number,
            class: "termpanel",
          },
          tab.host,
        ),
      ),
    );
  }
}
