// What can be done now, by name and by keys: the command palette and the keys themselves.
import { announce } from "../components/download";
import { counted } from "../components/format";
import { createMemo, createSignal, each, el, listen, onCleanup, press } from "./view";

export interface Command {
  name: string;
  /** As `event.key` has it, with `Mod+` before it for Control or the command key. */
  keys?: string;
  about?: string;
  act: () => void;
}

type Source = () => Command[];
const [sources, setSources] = createSignal<Source[]>([]);
const [open, setOpen] = createSignal(false);

/** Offers commands as long as the view that calls this is there. */
export function offer(source: Source): void {
  setSources((all) => [...all, source]);
  onCleanup(() => setSources((all) => all.filter((one) => one !== source)));
}

export const openPalette = (): void => void setOpen(true);

const all = (): Command[] =>
  sources()
    .slice()
    .reverse()
    .flatMap((source) => source());

/** Keys that stand for text belong to whoever takes text. */
function takesText(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
      target.closest(".xterm, .cm-editor, dialog") !== null)
  );
}

/** Whether the field that had the focus last is gone, while nobody has gone elsewhere: who types on means text, and no commands. */
let orphaned = (): boolean => false;

/** Follows where the focus is. A field that is removed, or hidden, loses it without an event; a press beside it, Tab and Escape leave it for good. */
function followFocus(): void {
  let last: EventTarget | null = null;
  const leave = (): void => {
    last = null;
  };
  listen("focusin", (event) => {
    const isPalette = event.target instanceof HTMLElement && event.target.closest(".palette") !== null;
    if (!isPalette) last = event.target;
  });
  listen(
    "pointerdown",
    (event) => {
      if (!takesText(event.target)) leave();
    },
    { capture: true },
  );
  orphaned = () => takesText(last) && (document.activeElement === document.body || document.activeElement === null);
  listen("keydown", (event) => {
    if ((event.key === "Escape" || event.key === "Tab") && orphaned()) leave();
  });
}

export function startKeys(): void {
  followFocus();
  listen("keydown", (event) => {
    const mod = event.ctrlKey || event.metaKey;
    const key = `${mod ? "Mod+" : ""}${event.shiftKey && event.key.length > 1 ? "Shift+" : ""}${mod ? event.key.toLowerCase() : event.key}`;
    if (key === "Mod+k" && !(event.target instanceof HTMLElement && event.target.closest(".xterm"))) {
      event.preventDefault();
      setOpen((is) => !is);
      return;
    }
    if (event.defaultPrevented || open() || event.altKey || (!mod && (takesText(event.target) || orphaned()))) return;
    const command = all().find((one) => one.keys === key);
    if (!command) return;
    event.preventDefault();
    command.act();
  });
}

/** How well a name has the letters in this order; null: it has not. */
export function rank(name: string, wanted: string): number | null {
  const text = name.toLowerCase();
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  let sum = 0;
  for (const word of words) {
    const at = text.indexOf(word);
    if (at < 0) return null;
    sum += at === 0 || text[at - 1] === " " ? at * 0.01 : 1 + at * 0.01;
  }
  return sum;
}

/** Rows that the list has at a time; it says how many more there are. */
const MOST = 200;

/** A row of the list: what it does may change while it stands there. */
interface Row {
  name: string;
  about: string | undefined;
  keys: string | undefined;
  act: () => void;
}

/** The list of all commands, narrowed by what is typed. */
export function palette(): HTMLElement {
  const [wanted, setWanted] = createSignal("");
  // A row stays what it is, and its element with it, though what is offered is found out anew all the time: who presses one would miss it else, and a list that is scrolled would begin anew.
  let rows = new Map<string, Row>();
  const [more, setMore] = createSignal(0);
  const found = createMemo(() => {
    const before = rows;
    rows = new Map();
    if (!open()) return [];
    let more = 0;
    const ranked = all()
      .map((command) => ({ command, rank: rank(command.name, wanted()) }))
      .filter((one): one is { command: Command; rank: number } => one.rank !== null);
    const sorted = wanted().trim() ? ranked.sort((a, b) => a.rank - b.rank) : ranked;
    for (const {
      command: { name, about, keys, act },
    } of sorted) {
      // Of two of one name, what is offered by what is in front counts.
      const key = [name, about ?? "", keys ?? ""].join("\n");
      if (rows.has(key)) continue;
      if (rows.size === MOST) {
        more += 1;
        continue;
      }
      const row = before.get(key) ?? { name, about, keys, act };
      row.act = act;
      rows.set(key, row);
    }
    setMore(more);
    return [...rows.values()];
  });
  /** The row that the keys have led to; none: the first one, whichever that is. */
  const [chosen, setChosen] = createSignal<Row | null>(null);
  const at = createMemo(() => {
    const row = chosen();
    return row ? Math.max(found().indexOf(row), 0) : 0;
  });
  const run = (row: Row | undefined): void => {
    if (!row) return;
    close();
    row.act();
  };
  const close = (): void => {
    setOpen(false);
    dialog.close();
    // Browsers take the focus off what is hidden at the next frame alone: a key before that would be lost in here.
    if (document.activeElement === input) input.blur();
  };
  const input = el("input", {
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    "aria-label": "what to do",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "What to do?",
    "aria-activedescendant": () => (found().length > 0 ? `palette-${at()}` : null),
    oninput: () => {
      setWanted(input.value);
      setChosen(null);
      announce(counted(found().length, "command"));
    },
    onkeydown: (event: KeyboardEvent) => {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
      if (step !== undefined) {
        event.preventDefault();
        setChosen(found()[Math.min(Math.max(at() + step, 0), Math.max(found().length - 1, 0))] ?? null);
        list.children[at()]?.scrollIntoView({ block: "nearest" });
      } else if (event.key === "Enter") {
        event.preventDefault();
        run(found()[at()]);
      } else if (event.key === "Escape") {
        // A browser would close it a moment later, and the next key would be lost in here.
        event.preventDefault();
        close();
      }
    },
  });
  const list = el(
    "ul",
    { id: "palette-list", role: "listbox", "aria-label": "commands" },
    each(found, (row, place) =>
      el(
        "li",
        {
          role: "option",
          id: () => `palette-${place()}`,
          "aria-selected": () => String(place() === at()),
          onclick: () => run(row),
          onmousemove: (event: MouseEvent) => {
            if (event.movementX !== 0 || event.movementY !== 0) setChosen(row);
          },
        },
        el("span", {}, row.name),
        row.about ? el("small", {}, row.about) : null,
        row.keys ? el("kbd", {}, shown(row.keys)) : null,
      ),
    ),
  );
  const dialog = el(
    "dialog",
    {
      class: "palette",
      "aria-label": "commands",
      // Browsers tell of it later, when it may be open again.
      onclose: () => {
        if (!dialog.open) setOpen(false);
      },
      onclick: (event: MouseEvent) => {
        if (event.target === dialog) close();
      },
    },
    input,
    list,
    () => (found().length === 0 ? el("p", { class: "none" }, "nothing is called so") : null),
    () => (more() > 0 ? el("p", { class: "none" }, `and ${more()} more: write a part of the name`) : null),
  );
  createMemo(() => {
    if (open() && !dialog.open) {
      input.value = "";
      setWanted("");
      setChosen(null);
      queueMicrotask(() => {
        if (!dialog.isConnected || dialog.open) return;
        dialog.showModal();
        list.scrollTop = 0;
      });
    } else if (!open() && dialog.open) dialog.close();
  });
  return dialog;
}

/** What has a key now, for help. */
export const withKeys = (): Command[] =>
  all().filter(
    (command, place, every) => command.keys && every.findIndex(({ keys }) => keys === command.keys) === place,
  );

export const shown = (keys: string): string =>
  keys
    .replace("Mod+", navigator.platform.startsWith("Mac") ? "⌘ " : "Ctrl ")
    .replace("Shift+", "Shift ")
    .replace(/^ $/, "space")
    .replace(/\b[a-z]$/, (letter) => letter.toUpperCase());

export const paletteButton = (): HTMLButtonElement =>
  press(["Commands ", el("kbd", {}, shown("Mod+k"))], openPalette, {
    class: "plain",
    "aria-keyshortcuts": "Control+K",
    "aria-label": `Commands ${shown("Mod+k")}: all commands`,
    title: "all commands",
  });
