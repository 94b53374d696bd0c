// Forms made from the table of keys that the server gives: no key is written here. Values are texts as a lab file has them.
import { fresh } from "../components/dom";
import { api, type Key, type Keys, type Kind } from "./api";
import { createRenderEffect, createSignal, el, type View } from "./view";

const [table, setTable] = createSignal<Keys | null>(null);
let asked = false;

/** The table of keys, asked for once. */
export function keys(): Keys | null {
  if (!asked) {
    asked = true;
    api.keys().then(setTable, () => {
      asked = false;
    });
  }
  return table();
}

export const section = (name: string): Key[] => keys()?.sections[name]?.keys ?? [];

/** An example as a lab file has it, on one line. */
export function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .map(([name, one]) => `${name}: ${flow(one)}`)
      .join(", ")}}`;
  if (typeof value === "string")
    return /^[\w./%+-]+(?: [\w./%+-]+)*$/.test(value) && !/^(true|false|null|~|-?[\d.]+(e[+-]?\d+)?)$/i.test(value)
      ? value
      : JSON.stringify(value);
  return String(value);
}

/** An example as it is typed into a field; a text is one already. */
export const exampleOf = (key: { example: unknown }): string =>
  typeof key.example === "string" ? key.example : flow(key.example);

/** Words that a key takes, if it takes a few. */
export function wordsOf(kind: Kind): string[] {
  if (kind.words) return kind.words;
  if (kind.flag) return ["true", "false"];
  return (kind.one_of ?? []).flatMap(wordsOf);
}

/** What a kind wants, in words for the reader. */
export function kindWords(kind: Kind): string {
  if (kind.quantity) return `${kind.quantity}${kind.units ? ` in ${kind.units.slice(0, 6).join(", ")}` : ""}`;
  if (kind.words) return kind.words.join(", ");
  if (kind.integer)
    return `a whole number${kind.integer.least !== undefined ? ` from ${kind.integer.least}` : ""}${kind.integer.most !== undefined && kind.integer.most < 1e15 ? ` to ${kind.integer.most}` : ""}`;
  if (kind.number) return "a number";
  if (kind.flag) return "true or false";
  if (kind.section ?? kind.optional) return `{${kind.section ?? kind.optional}: …}`;
  if (kind.list) return `a list of ${kindWords(kind.list.items)}`;
  if (kind.map) return "names with values";
  if (kind.one_of) return [...new Set(kind.one_of.map(kindWords))].join(", or ");
  return "text";
}

export interface Field {
  key: Key;
  /** A function is followed; what is being typed stays. */
  value: string | (() => string);
  placeholder: string | (() => string);
  change: (value: string) => void;
  disabled?: boolean;
  /** The value has several lines. */
  lines?: boolean;
  /** Shows what the key means while the field has the focus; without it, that stands below the field. */
  help?: (words: string) => void;
}

/** Rows of a value with several lines that are seen at once. */
const MOST_ROWS = 12;

/** One key with its name, its value, and what it means. */
export function field({ key, value, placeholder, change, disabled = false, lines = false, help }: Field): View {
  const id = fresh("field");
  const meaning = `${key.doc}${lines ? " Ctrl Enter takes it into the text." : ""}`;
  const words = lines ? [] : wordsOf(key.kind).slice(0, 40);
  const list =
    words.length > 0
      ? el(
          "datalist",
          { id: `${id}-words` },
          words.map((word) => el("option", { value: word })),
        )
      : null;
  const now = typeof value === "function" ? value : () => value;
  let shown: string | null = null;
  // What was taken by a key is not taken again when the field is left.
  let given: string | null = null;
  const give = (): void => {
    if (input.value === given) return;
    given = input.value;
    change(lines ? input.value.trimEnd() : input.value.trim());
  };
  const common = {
    id,
    placeholder,
    spellcheck: "false",
    autocomplete: "off",
    disabled,
    "aria-describedby": `${id}-doc`,
    required: key.required,
    oninput: () => {
      given = null;
    },
    onfocus: () => help?.(meaning),
    onchange: give,
    onkeydown: (event: KeyboardEvent) => {
      if (event.key === "Escape") {
        input.value = now();
        event.stopPropagation();
      } else if (
        (event.ctrlKey || event.metaKey) &&
        (event.key === "Enter" || event.key === "s") &&
        input.value !== shown
      )
        give();
    },
  };
  const input = lines
    ? el("textarea", {
        ...common,
        class: "lines",
        wrap: "off",
        rows: Math.min(now().split("\n").length + 1, MOST_ROWS),
      })
    : el("input", { ...common, type: "text", list: list ? `${id}-words` : null });
  createRenderEffect(() => {
    const next = now();
    if (shown === null || input.value === shown || document.activeElement !== input) input.value = next;
    shown = next;
  });
  return el(
    "div",
    { class: "field" },
    el("label", { for: id }, key.name),
    input,
    list,
    el("p", { id: `${id}-doc`, class: help ? "away" : "doc" }, meaning),
  );
}
