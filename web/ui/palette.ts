// The list of all commands, narrowed by what is typed.
import { announce } from "../components/download";
import { counted } from "../components/format";
import { all, type Command, paletteIsOpen, shown, showPalette } from "./commands";
import { createMemo, createSignal, each, el, press, type View } from "./view";

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

/** The commands that have what is typed in their names, the best first. */
class Found {
  readonly wanted: () => string;
  readonly setWanted: (wanted: string) => void;
  readonly list: () => Row[];
  /** How many more there are than the list has. */
  readonly more: () => number;
  private readonly setMore: (more: number) => void;
  // A row stays what it is, and its element with it, though what is offered is found out anew all the time: who presses one would miss it else, and a list that is scrolled would begin anew.
  private rows = new Map<string, Row>();

  constructor() {
    [this.wanted, this.setWanted] = createSignal("");
    [this.more, this.setMore] = createSignal(0);
    this.list = createMemo(() => this.find());
  }

  private find(): Row[] {
    const before = this.rows;
    this.rows = new Map();
    if (!paletteIsOpen()) return [];
    let more = 0;
    for (const { name, about, keys, act } of this.ranked()) {
      // Of two of one name, what is offered by what is in front counts.
      const key = [name, about ?? "", keys ?? ""].join("\n");
      if (this.rows.has(key)) continue;
      if (this.rows.size === MOST) {
        more += 1;
        continue;
      }
      const row = before.get(key) ?? { name, about, keys, act };
      row.act = act;
      this.rows.set(key, row);
    }
    this.setMore(more);
    return [...this.rows.values()];
  }

  private ranked(): Command[] {
    const wanted = this.wanted();
    const ranked = all()
      .map((command) => ({ command, rank: rank(command.name, wanted) }))
      .filter((one): one is { command: Command; rank: number } => one.rank !== null);
    if (wanted.trim()) ranked.sort((a, b) => a.rank - b.rank);
    return ranked.map(({ command }) => command);
  }
}

class Palette {
  readonly dialog: HTMLDialogElement;
  private readonly found = new Found();
  private readonly input: HTMLInputElement;
  private readonly list: HTMLElement;
  /** The row that the keys have led to; none: the first one, whichever that is. */
  private readonly chosen: () => Row | null;
  private readonly setChosen: (row: Row | null) => void;
  private readonly at: () => number;

  constructor() {
    [this.chosen, this.setChosen] = createSignal<Row | null>(null);
    this.at = createMemo(() => {
      const row = this.chosen();
      return row ? Math.max(this.found.list().indexOf(row), 0) : 0;
    });
    this.input = this.makeInput();
    this.list = el(
      "ul",
      { id: "palette-list", role: "listbox", "aria-label": "commands" },
      each(this.found.list, (row, place) => this.rowView(row, place)),
    );
    this.dialog = this.makeDialog();
    createMemo(() => this.follow(paletteIsOpen()));
  }

  private follow(isOpen: boolean): void {
    const { dialog, list, input } = this;
    if (isOpen && !dialog.open) {
      input.value = "";
      this.found.setWanted("");
      this.setChosen(null);
      queueMicrotask(() => {
        if (!dialog.isConnected || dialog.open) return;
        dialog.showModal();
        list.scrollTop = 0;
      });
    } else if (!isOpen && dialog.open) dialog.close();
  }

  private run(row: Row | undefined): void {
    if (!row) return;
    this.close();
    row.act();
  }

  private close(): void {
    showPalette(false);
    this.dialog.close();
    // Browsers take the focus off what is hidden at the next frame alone: a key before that would be lost in here.
    if (document.activeElement === this.input) this.input.blur();
  }

  private makeInput(): HTMLInputElement {
    const { found } = this;
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
      "aria-activedescendant": () => (found.list().length > 0 ? `palette-${this.at()}` : null),
      oninput: () => {
        found.setWanted(input.value);
        this.setChosen(null);
        announce(counted(found.list().length, "command"));
      },
      onkeydown: (event: KeyboardEvent) => this.press(event),
    });
    return input;
  }

  private press(event: KeyboardEvent): void {
    const rows = this.found.list();
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step !== undefined) {
      this.setChosen(rows[Math.min(Math.max(this.at() + step, 0), Math.max(rows.length - 1, 0))] ?? null);
      this.list.children[this.at()]?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") this.run(rows[this.at()]);
    // A browser would close it a moment later, and the next key would be lost in here.
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
  }

  private rowView(row: Row, place: () => number): View {
    return el(
      "li",
      {
        role: "option",
        id: () => `palette-${place()}`,
        "aria-selected": () => String(place() === this.at()),
        onclick: () => this.run(row),
        onmousemove: (event: MouseEvent) => {
          if (event.movementX !== 0 || event.movementY !== 0) this.setChosen(row);
        },
      },
      el("span", {}, row.name),
      row.about ? el("small", {}, row.about) : null,
      row.keys ? el("kbd", {}, shown(row.keys)) : null,
    );
  }

  private makeDialog(): HTMLDialogElement {
    const { found } = this;
    const dialog = el(
      "dialog",
      {
        class: "palette",
        "aria-label": "commands",
        // Browsers tell of it later, when it may be open again.
        onclose: () => {
          if (!dialog.open) showPalette(false);
        },
        onclick: (event: MouseEvent) => {
          if (event.target === dialog) this.close();
        },
      },
      this.input,
      this.list,
      () => (found.list().length === 0 ? el("p", { class: "none" }, "no command has this name") : null),
      () =>
        found.more() > 0 ? el("p", { class: "none" }, `and ${found.more()} more: write a part of the name`) : null,
    );
    return dialog;
  }
}

export const palette = (): HTMLElement => new Palette().dialog;

export const paletteButton = (): HTMLButtonElement =>
  press(["Commands ", el("kbd", {}, shown("Mod+k"))], () => showPalette(true), {
    class: "plain",
    "aria-keyshortcuts": "Control+K",
    "aria-label": `Commands ${shown("Mod+k")}: all commands`,
    title: "all commands",
  });
