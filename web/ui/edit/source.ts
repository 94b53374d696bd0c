// The text of a lab file in CodeMirror: keys and words that may stand there, what they mean, and errors at their places.
import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory, redo, undo } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { h } from "../../components/dom";
import type { Checked, Keys } from "../api";
import { flow, kindWords, wordsOf } from "../forms";
import { contextAt, keysAt } from "./context";
import type { Change } from "./spans";

const LOOK = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", backgroundColor: "var(--paper)", color: "var(--ink)" },
  ".cm-scroller": {
    fontFamily: 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace',
    lineHeight: "1.55",
  },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": {
    backgroundColor: "var(--ground)",
    color: "var(--soft)",
    border: "0",
    borderRight: "1px solid var(--grid)",
  },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--link) 6%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--link) 22%, transparent) !important",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--paper)",
    color: "var(--ink)",
    border: "1px solid var(--edge)",
    borderRadius: "6px",
    maxWidth: "460px",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--link)", color: "var(--paper)" },
  ".cm-panels": { backgroundColor: "var(--ground)", color: "var(--ink)" },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--link)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--s2)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--s1)" },
  { tag: [tags.meta, tags.punctuation, tags.separator], color: "var(--soft)" },
]);

export interface Source {
  view: EditorView;
  text: () => string;
  change: (changes: Change[], select?: number) => void;
  replace: (text: string) => void;
  show: (checked: Checked) => void;
  goTo: (from: number, to?: number) => void;
  undo: () => void;
  redo: () => void;
  destroy: () => void;
}

export function makeSource(text: string, readOnly: boolean, keys: () => Keys | null, changed: () => void): Source {
  const complete = (context: CompletionContext): CompletionResult | null => {
    const known = keys();
    if (!known) return null;
    const at = contextAt(context.state.doc.toString(), context.pos);
    if (at.key === "#") return null;
    if (at.word === "" && !context.explicit && at.key === null) return null;
    if (at.key === null) {
      return {
        from: at.from,
        validFor: /^[\w-]*$/,
        options: keysAt(known, at.path).map((key) => ({
          label: key.name,
          apply: `${key.name}: `,
          type: "property",
          detail: kindWords(key.kind).slice(0, 40),
          info: () => about(key.doc, key.example),
          boost: key.required ? 2 : 0,
        })),
      };
    }
    const key = keysAt(known, at.path).find(({ name }) => name === at.key);
    const words = key
      ? [
          ...wordsOf(key.kind),
          ...(key.example !== undefined && key.example !== "" && !Array.isArray(key.example)
            ? [flow(key.example)]
            : []),
        ]
      : [];
    return words.length === 0
      ? null
      : {
          from: at.from,
          options: [...new Set(words)].map((word) => ({
            label: word,
            type: "constant",
            ...(key ? { info: key.doc } : {}),
          })),
        };
  };
  const hover = hoverTooltip((view, pos) => {
    const known = keys();
    if (!known) return null;
    const line = view.state.doc.lineAt(pos);
    const found = [...line.text.matchAll(/[\w-]+(?=\s*:(?:\s|$))/g)].find(
      (match) => line.from + match.index <= pos && pos <= line.from + match.index + match[0].length,
    );
    if (!found) return null;
    const from = line.from + found.index;
    const { path } = contextAt(view.state.doc.toString(), from);
    const key = keysAt(known, path).find(({ name }) => name === found[0]);
    return key
      ? {
          pos: from,
          end: from + found[0].length,
          above: true,
          create: () => ({ dom: about(key.doc, key.example, kindWords(key.kind)) }),
        }
      : null;
  });
  const view = new EditorView({
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        lintGutter(),
        yaml(),
        syntaxHighlighting(COLOURS),
        LOOK,
        hover,
        autocompletion({ override: [complete], activateOnTyping: true }),
        EditorState.readOnly.of(readOnly),
        EditorState.tabSize.of(2),
        EditorView.contentAttributes.of({ "aria-label": "text of the lab file" }),
        keymap.of([
          ...closeBracketsKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...completionKeymap,
          ...lintKeymap,
          ...defaultKeymap,
        ]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed();
        }),
      ],
    }),
  });
  // What scrolls is reached by keys.
  view.scrollDOM.tabIndex = 0;
  const own = (): string => view.state.doc.toString();
  return {
    view,
    text: own,
    change: (changes, select) => {
      view.dispatch({
        changes: changes.map(({ from, to, insert }) => ({ from, to, insert })),
        ...(select === undefined ? {} : { selection: { anchor: select }, scrollIntoView: true }),
        userEvent: "input.form",
      });
    },
    replace: (other) => {
      // From the first difference to the last: the cursor stays where it was meant to be.
      const now = own();
      let from = 0;
      while (from < now.length && from < other.length && now[from] === other[from]) from += 1;
      let [to, end] = [now.length, other.length];
      while (to > from && end > from && now[to - 1] === other[end - 1]) [to, end] = [to - 1, end - 1];
      // A change of the map is undone by itself, however soon it followed another one.
      view.dispatch({ changes: { from, to, insert: other.slice(from, end) }, annotations: isolateHistory.of("full") });
    },
    show: (checked) => {
      const length = view.state.doc.length;
      const errors = checked.errors.map((error) => ({
        from: Math.min(error.from ?? 0, length),
        to: Math.min(Math.max(error.to ?? 0, error.from ?? 0), length),
        severity: "error" as const,
        message: error.message,
      }));
      view.dispatch(setDiagnostics(view.state, errors));
    },
    goTo: (from, to = from) => {
      const length = view.state.doc.length;
      view.dispatch({
        selection: { anchor: Math.min(from, length), head: Math.min(to, length) },
        scrollIntoView: true,
      });
      view.focus();
    },
    undo: () => void undo(view),
    redo: () => void redo(view),
    destroy: () => view.destroy(),
  };
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
