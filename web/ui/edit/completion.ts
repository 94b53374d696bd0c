// Which keys and words may stand at a place of a lab file, and what they mean.
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { type EditorView, hoverTooltip, type Tooltip } from "@codemirror/view";
import { h } from "../../components/dom";
import type { Key, Keys } from "../api";
import { flow, kindWords, wordsOf } from "../forms";
import { contextAt, keysAt } from "./context";

/** Completes by the table of keys, as soon as that is known. */
export function completionFrom(keys: () => Keys | null): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const known = keys();
    if (!known) return null;
    const at = contextAt(context.state.doc.toString(), context.pos);
    if (at.key === "#" || (at.word === "" && !context.explicit && at.key === null)) return null;
    const inside = keysAt(known, at.path);
    if (at.key === null) return { from: at.from, validFor: /^[\w-]*$/, options: inside.map(keyOption) };
    const key = inside.find(({ name }) => name === at.key);
    const words = key ? valuesOf(key) : [];
    if (words.length === 0) return null;
    const info = key ? { info: key.doc } : {};
    return { from: at.from, options: words.map((label) => ({ label, type: "constant", ...info })) };
  };
}

const keyOption = (key: Key) => ({
  label: key.name,
  apply: `${key.name}: `,
  type: "property",
  detail: kindWords(key.kind).slice(0, 40),
  info: (): HTMLElement => about(key.doc, key.example),
  boost: key.required ? 2 : 0,
});

/** The words that a key takes, and its example. */
function valuesOf({ kind, example }: Key): string[] {
  const isOne = example !== undefined && example !== "" && !Array.isArray(example);
  return [...new Set([...wordsOf(kind), ...(isOne ? [flow(example)] : [])])];
}

/** Says what the key under the pointer means. */
export const hoverFrom = (keys: () => Keys | null): ReturnType<typeof hoverTooltip> =>
  hoverTooltip((view, pos) => {
    const known = keys();
    return known ? tooltipAt(known, view, pos) : null;
  });

function tooltipAt(known: Keys, view: EditorView, pos: number): Tooltip | null {
  const line = view.state.doc.lineAt(pos);
  const found = [...line.text.matchAll(/[\w-]+(?=\s*:(?:\s|$))/g)].find(
    (match) => line.from + match.index <= pos && pos <= line.from + match.index + match[0].length,
  );
  if (!found) return null;
  const from = line.from + found.index;
  const { path } = contextAt(view.state.doc.toString(), from);
  const key = keysAt(known, path).find(({ name }) => name === found[0]);
  if (!key) return null;
  const create = () => ({ dom: about(key.doc, key.example, kindWords(key.kind)) });
  return { pos: from, end: from + found[0].length, above: true, create };
}

function about(doc: string, example: unknown, kind = ""): HTMLElement {
  return h(
    "div",
    { class: "keydoc" },
    h("p", {}, doc),
    kind ? h("p", {}, h("small", {}, kind)) : null,
    example === undefined || example === ""
      ? null
      : h("p", {}, h("small", {}, "for example "), h("code", {}, flow(example))),
  );
}
