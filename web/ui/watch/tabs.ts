// The tabs of what is about a lab.
import { el, type View } from "../view";

export type Tab = "all" | "chosen" | "events" | "logs" | "tcp" | "verdict" | "tasks";
export const TABS: { tab: Tab; name: string; keys: string; about?: string }[] = [
  { tab: "all", name: "Overview", keys: "1" },
  { tab: "chosen", name: "Chosen", keys: "2" },
  { tab: "events", name: "Events", keys: "3" },
  { tab: "logs", name: "Logs", keys: "4" },
  { tab: "tcp", name: "TCP", keys: "5", about: "TCP connections" },
  { tab: "verdict", name: "Verdict", keys: "6" },
  { tab: "tasks", name: "Tasks", keys: "7" },
];

export function sideTabs(tab: () => Tab, setTab: (tab: Tab) => void): View {
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
