// The text of a lab file in CodeMirror: keys and words that may stand there, what they mean, and errors at their places.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory, redo, undo } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Checked, Keys, Problem } from "../api";
import { completionFrom, hoverFrom } from "./completion";
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
  const view = new EditorView({
    state: EditorState.create({ doc: text, extensions: extensions(readOnly, keys, changed) }),
  });
  // What scrolls is reached by keys.
  view.scrollDOM.tabIndex = 0;
  return {
    view,
    text: () => view.state.doc.toString(),
    change: (changes, select) => {
      view.dispatch({
        changes: changes.map(({ from, to, insert }) => ({ from, to, insert })),
        ...(select === undefined ? {} : { selection: { anchor: select }, scrollIntoView: true }),
        userEvent: "input.form",
      });
    },
    replace: (other) => replace(view, other),
    show: (checked) => showErrors(view, checked.errors),
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

const extensions = (readOnly: boolean, keys: () => Keys | null, changed: () => void): Extension[] => [
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
  hoverFrom(keys),
  autocompletion({ override: [completionFrom(keys)], activateOnTyping: true }),
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
];

/** Changes the text from the first difference to the last: the cursor stays where it was meant to be. */
function replace(view: EditorView, other: string): void {
  const now = view.state.doc.toString();
  let from = 0;
  while (from < now.length && from < other.length && now[from] === other[from]) from += 1;
  let [to, end] = [now.length, other.length];
  while (to > from && end > from && now[to - 1] === other[end - 1]) [to, end] = [to - 1, end - 1];
  // A change of the map is undone by itself, however soon it followed another one.
  view.dispatch({ changes: { from, to, insert: other.slice(from, end) }, annotations: isolateHistory.of("full") });
}

function showErrors(view: EditorView, errors: readonly Problem[]): void {
  const length = view.state.doc.length;
  const shown = errors.map((error) => ({
    from: Math.min(error.from ?? 0, length),
    to: Math.min(Math.max(error.to ?? 0, error.from ?? 0), length),
    severity: "error" as const,
    message: error.message,
  }));
  view.dispatch(setDiagnostics(view.state, shown));
}
