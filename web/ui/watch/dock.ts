// Terminals side by side in tabs, at the foot of the page. They stay while somebody goes elsewhere on the page; what of them a page can keep is there again when it is loaded anew.
import type { Setter } from "solid-js";
import { createRoot, createSignal, each, el, press, when, type Accessor, type View } from "../view";
import { tell } from "../tell";
import type { NodeTerminal } from "./terminal";

interface Tab { number: number; node: string; name: string; state: () => string; setState: (text: string) => void; command: string[]; terminal: NodeTerminal | null; host: HTMLElement }

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

interface Kept { node: string; text: string }

/** Shells that were open when the page was left; programs that were begun by a press are not begun again. */
function kept(lab: string): Kept[] {
  try {
    const all = JSON.parse(sessionStorage.getItem(KEY + lab) ?? "[]") as Kept[];
    return Array.isArray(all) ? all.filter(({ node, text }) => typeof node === "string" && typeof text === "string").slice(0, MOST) : [];
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
    const shells = this.tabs().filter(({ command, state }) => command.length === 0 && (state() === "" || state() === "starting"));
    try {
      if (shells.length > 0) sessionStorage.setItem(KEY + this.lab, JSON.stringify(shells.map(({ node, terminal }) => ({ node, text: terminal?.text ?? "" }))));
      else sessionStorage.removeItem(KEY + this.lab);
    } catch {
      // It is then as before: a page that is loaded anew has no terminals.
    }
  }

  /** Opens what was open when the page was loaded anew, of the nodes that there are. Terminals of a lab of this name that has ended meanwhile go. */
  restore(nodes: readonly string[]): void {
    for (const tab of this.tabs()) if (tab.state() !== "" && tab.state() !== "starting") this.close(tab, false);
    if (this.restored) return;
    this.restored = true;
    const all = kept(this.lab).filter(({ node }) => nodes.includes(node));
    for (const { node, text } of all) this.open(node, [], text, false);
  }

  open(node: string, command: string[] = [], before = "", focus = true): void {
    if (this.tabs().length >= MOST) {
      tell(`there are ${MOST} terminals already: close one`, true);
      return;
    }
    this.last += 1;
    const [state, setState] = createSignal("starting");
    const tab: Tab = { number: this.last, node, name: this.freeName(node), state, setState, command, terminal: null, host: el("div", { class: "termhost" }) };
    this.setTabs((all) => [...all, tab]);
    this.setAt(tab.number);
    import("./terminal").then(({ NodeTerminal }) => {
      if (!this.tabs().includes(tab)) return;
      tab.terminal = new NodeTerminal(tab.host, this.lab, node, command, before, setState);
      if (focus && this.at() === tab.number) tab.terminal.focus();
    }, (error: unknown) => tell(`the terminal could not be loaded: ${String(error)}`, true));
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
    return when(() => this.tabs().length > 0, () => this.body(move));
  }

  private body(move: (event: KeyboardEvent) => void): View {
    return el("section", { class: "dock", "aria-label": "terminals" },
      el("div", { class: "docktabs" },
        el("div", { class: "tabs", role: "tablist", "aria-label": "terminals", onkeydown: move }, each(this.tabs, (tab) =>
          el("button", { type: "button", role: "tab", id: `term-tab-${tab.number}`, "aria-controls": `term-${tab.number}`, "aria-selected": () => String(this.at() === tab.number), tabindex: () => (this.at() === tab.number ? 0 : -1), onclick: () => this.show(tab) },
            tab.name, tab.command.length > 0 ? el("small", {}, ` ${tab.command.join(" ").slice(0, 30)}`) : null, () => (tab.state() ? el("small", {}, ` (${tab.state()})`) : null)))),
        press("✕", () => { const tab = this.tabs().find(({ number }) => number === this.at()); if (tab) this.close(tab); }, { class: "plain", "aria-label": "close this terminal", title: "close this terminal" })),
      each(this.tabs, (tab) => el("div", { role: "tabpanel", id: `term-${tab.number}`, "aria-labelledby": `term-tab-${tab.number}`, hidden: () => this.at() !== tab.number, class: "termpanel" }, tab.host)));
  }
}
