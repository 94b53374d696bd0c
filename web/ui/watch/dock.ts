// Terminals side by side in tabs, at the foot of the page.
import type { Setter } from "solid-js";
import { createSignal, each, el, onCleanup, press, type Accessor, type View } from "../view";
import { tell } from "../tell";
import type { NodeTerminal } from "./terminal";

interface Tab { number: number; node: string; state: () => string; setState: (text: string) => void; command: string[]; terminal: NodeTerminal | null; host: HTMLElement }

const MOST = 24;

export class Dock {
  private last = 0;
  private readonly tabs: Accessor<Tab[]>;
  private readonly setTabs: Setter<Tab[]>;
  private readonly at: Accessor<number>;
  private readonly setAt: Setter<number>;

  constructor(private readonly lab: string) {
    [this.tabs, this.setTabs] = createSignal<Tab[]>([]);
    [this.at, this.setAt] = createSignal(0);
    onCleanup(() => this.tabs().forEach((tab) => tab.terminal?.destroy()));
  }

  get isOpen(): boolean {
    return this.tabs().length > 0;
  }

  open(node: string, command: string[] = []): void {
    if (this.tabs().length >= MOST) {
      tell(`there are ${MOST} terminals already: close one`, true);
      return;
    }
    this.last += 1;
    const [state, setState] = createSignal("starting");
    const tab: Tab = { number: this.last, node, state, setState, command, terminal: null, host: el("div", { class: "termhost" }) };
    this.setTabs((all) => [...all, tab]);
    this.setAt(tab.number);
    import("./terminal").then(({ NodeTerminal }) => {
      if (!this.tabs().includes(tab)) return;
      tab.terminal = new NodeTerminal(this.lab, node, command, setState);
      tab.host.append(tab.terminal.element);
      if (this.at() === tab.number) tab.terminal.focus();
    }, (error: unknown) => tell(`the terminal could not be loaded: ${String(error)}`, true));
  }

  private close(tab: Tab): void {
    tab.terminal?.destroy();
    const left = this.tabs().filter((one) => one !== tab);
    this.setTabs(left);
    if (this.at() === tab.number) this.show(left[left.length - 1]);
  }

  private show(tab: Tab | undefined): void {
    this.setAt(tab?.number ?? 0);
    requestAnimationFrame(() => tab?.terminal?.focus());
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
    return () => (this.tabs().length === 0 ? null : this.body(move));
  }

  private body(move: (event: KeyboardEvent) => void): View {
    return el("section", { class: "dock", "aria-label": "terminals" },
      el("div", { class: "docktabs" },
        el("div", { class: "tabs", role: "tablist", "aria-label": "terminals", onkeydown: move }, each(this.tabs, (tab) =>
          el("button", { type: "button", role: "tab", id: `term-tab-${tab.number}`, "aria-controls": `term-${tab.number}`, "aria-selected": () => String(this.at() === tab.number), tabindex: () => (this.at() === tab.number ? 0 : -1), onclick: () => this.show(tab) },
            tab.node, tab.command.length > 0 ? el("small", {}, ` ${tab.command.join(" ").slice(0, 30)}`) : null, () => (tab.state() ? el("small", {}, ` (${tab.state()})`) : null)))),
        press("✕", () => { const tab = this.tabs().find(({ number }) => number === this.at()); if (tab) this.close(tab); }, { class: "plain", "aria-label": "close this terminal" })),
      each(this.tabs, (tab) => el("div", { role: "tabpanel", id: `term-${tab.number}`, "aria-labelledby": `term-tab-${tab.number}`, hidden: () => this.at() !== tab.number, class: "termpanel" }, tab.host)));
  }
}
