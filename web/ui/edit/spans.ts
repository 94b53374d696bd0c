// Changes of a lab file by spans: what is not meant to change stays as it was written, with its comments and its order. The server says where each part stands.
import type { Span, Tree } from "../api";

export interface Change extends Span {
  insert: string;
}
type Entry = NonNullable<Tree["map"]>[number];
export type Path = readonly (string | number)[];

export function entryAt(tree: Tree | null, path: Path): Entry | null {
  const parent = path.length > 1 ? valueAt(tree, path.slice(0, -1)) : tree;
  return parent?.map?.find(({ name }) => name === path[path.length - 1]) ?? null;
}

export function valueAt(tree: Tree | null, path: Path): Tree | null {
  let at: Tree | null | undefined = tree;
  for (const part of path)
    at = typeof part === "number" ? at?.list?.[part] : at?.map?.find(({ name }) => name === part)?.value;
  return at ?? null;
}

const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;
const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
};
const isFlow = (text: string, tree: Tree): boolean => /^(?:&\S+ +)?[{[]/.test(text.slice(tree.from, tree.from + 80));

/** Where the last character of a value is: maps and lists may end behind line breaks. */
function endOf(text: string, tree: Tree): number {
  if (!isFlow(text, tree)) {
    const last = tree.map ? tree.map[tree.map.length - 1]?.value : tree.list ? tree.list[tree.list.length - 1] : null;
    if (last) return Math.max(endOf(text, last), tree.map?.[tree.map.length - 1]?.to ?? 0);
  }
  let end = Math.min(tree.to, text.length);
  while (end > tree.from && /\s/.test(text[end - 1] ?? "")) end -= 1;
  return end;
}

/** Gives a key another value, or adds it. Null if it cannot be: the text around it is no map. */
export function set(text: string, tree: Tree | null, path: Path, value: string): Change | null {
  const known = entryAt(tree, path);
  if (known) {
    if (known.value.empty) {
      const { insert, span } = afterColon(text, known.to);
      return { ...span, insert: insert + value };
    }
    const end = endOf(text, known.value);
    return { from: known.value.from, to: end, insert: value };
  }
  const name = String(path[path.length - 1] ?? "");
  if (path.length === 1) return add(text, tree, name, value);
  const parent = entryAt(tree, path.slice(0, -1));
  if (!parent) return set(text, tree, path.slice(0, -1), `{${name}: ${value}}`);
  if (parent.value.empty) return set(text, tree, path.slice(0, -1), `{${name}: ${value}}`);
  return add(text, parent.value, name, value);
}

/** Gives a section of the file an entry. A section that is missing, or has nothing in it, becomes a block with a line for each entry. */
export function put(
  text: string,
  tree: Tree | null,
  section: string,
  entries: readonly (readonly [string, string])[],
): (Change | null)[] {
  const known = entryAt(tree, [section]);
  const isBlock = !tree || !isFlow(text, tree);
  const isNew = !known || known.value.empty || (known.value.map?.length === 0 && isFlow(text, known.value));
  if (!isBlock || !isNew) return entries.map(([name, value]) => set(text, tree, [section, name], value));
  const lines = entries.map(([name, value]) => `\n  ${name}: ${value}`).join("");
  if (!known) {
    const added = add(text, tree, section, "");
    return [added && { ...added, insert: added.insert.replace(`${section}: `, `${section}:${lines}`) }];
  }
  const { from } = afterColon(text, known.to).span;
  return [{ from, to: known.value.empty ? from : endOf(text, known.value), insert: lines }];
}

/** Behind the colon of a key that has no value. */
function afterColon(text: string, at: number): { insert: string; span: Span } {
  let colon = at;
  while (colon < text.length && text[colon] !== ":" && text[colon] !== "\n") colon += 1;
  const to = text[colon] === ":" ? colon + 1 : at;
  return { insert: text[colon] === ":" ? " " : ": ", span: { from: to, to } };
}

function add(text: string, tree: Tree | null, name: string, value: string): Change | null {
  const entry = `${name}: ${value}`;
  if (!tree || (!tree.map && !tree.empty)) {
    if (tree) return null;
    return {
      from: text.length,
      to: text.length,
      insert: `${text === "" || text.endsWith("\n") ? "" : "\n"}${entry}\n`,
    };
  }
  const map = tree.map ?? [];
  if (isFlow(text, tree)) {
    const close = endOf(text, tree) - 1;
    let at = close;
    while (at > tree.from + 1 && /[\s,]/.test(text[at - 1] ?? "")) at -= 1;
    return { from: at, to: close, insert: map.length > 0 ? `, ${entry}` : entry };
  }
  const [first, last] = [map[0], map[map.length - 1]];
  if (!first || !last)
    return {
      from: text.length,
      to: text.length,
      insert: `${text.endsWith("\n") || text === "" ? "" : "\n"}${entry}\n`,
    };
  const indent = " ".repeat(first.from - lineStart(text, first.from));
  const at = lineEnd(text, Math.max(endOf(text, last.value), last.to));
  return { from: at, to: at, insert: `\n${indent}${entry}` };
}

/** Where the value of a key stands, the header of a block (`|`, `>`) included. */
function region(text: string, entry: Entry): Span {
  const between = text.slice(entry.to, entry.value.from);
  const header = /:[ \t]+(?:&\S+ +)?(?=[|>][^\n]*\n\s*$)/.exec(between);
  return { from: header ? entry.to + header.index + header[0].length : entry.value.from, to: endOf(text, entry.value) };
}

/** How far lines of a value are indented that a form shows without that. */
function indentOf(text: string, tree: Tree, { from, to }: Span): number {
  if ((tree.map || tree.list) && !isFlow(text, tree)) return from - lineStart(text, from);
  const indents = text
    .slice(from, to)
    .split("\n")
    .slice(1)
    .filter((line) => line.trim() !== "")
    .map((line) => line.search(/\S/));
  return indents.length > 0 ? Math.min(...indents) : 0;
}

/** The value of a key as a form shows it: as it is written, without what its lines are indented by. Empty if there is none. */
export function shown(text: string, tree: Tree | null, path: Path): string {
  const entry = entryAt(tree, path);
  if (!entry || entry.value.empty) return "";
  const span = region(text, entry);
  const indent = indentOf(text, entry.value, span);
  const [first = "", ...rest] = text.slice(span.from, span.to).split("\n");
  return [first, ...rest.map((line) => line.slice(Math.min(indent, Math.max(line.search(/\S/), 0))))]
    .map((line) => line.trimEnd())
    .join("\n");
}

/** Gives a key a value of several lines, or one of a single line in its place. Null if it cannot be: within braces there are no blocks. */
export function setLines(text: string, tree: Tree | null, path: Path, value: string): Change | null {
  const lines = value
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());
  const entry = entryAt(tree, path);
  const parent = valueAt(tree, path.slice(0, -1));
  // In brackets or quotes, and as a plain text, a value may have several lines wherever it stands; a block may not stand in brackets.
  const isBlock = lines.length > 1 && /^(?:#|- |-$|[^\s"'{[|>][^#]*:(?: |$))/.test(lines[0] ?? "");
  if ((isBlock || /^[|>]/.test(value)) && parent && isFlow(text, parent)) return null;
  if (!entry || entry.value.empty) return lines.length > 1 ? null : set(text, tree, path, value);
  const span = region(text, entry);
  const own =
    (entry.value.map || entry.value.list) && !isFlow(text, entry.value) ? indentOf(text, entry.value, span) : 0;
  const base = entry.from - lineStart(text, entry.from);
  const wrote = (indent: number): string =>
    lines.map((line, number) => (number === 0 || line === "" ? line : `${" ".repeat(indent)}${line}`)).join("\n");
  const colon = afterColon(text, entry.to).span.from;
  const isAlone = text.slice(colon, span.from).trim() === "";
  // A block stays where it was; what becomes one, or no longer is one, comes to another line.
  if (own > 0 && (lines.length > 1 || !isAlone)) return { ...span, insert: wrote(own) };
  if (!isAlone) return { ...span, insert: wrote(span.from - lineStart(text, span.from)) };
  if (isBlock) return { from: colon, to: span.to, insert: `\n${" ".repeat(base + 2)}${wrote(base + 2)}` };
  return {
    from: colon,
    to: span.to,
    insert: ` ${wrote((own === 0 && indentOf(text, entry.value, span)) || base + 2)}`,
  };
}

/** Adds an entry to a list. */
export function push(text: string, list: Tree, value: string): Change | null {
  const items = list.list;
  if (!items) return null;
  if (isFlow(text, list)) {
    const close = endOf(text, list) - 1;
    let at = close;
    while (at > list.from + 1 && /[\s,]/.test(text[at - 1] ?? "")) at -= 1;
    return { from: at, to: close, insert: items.length > 0 ? `, ${value}` : value };
  }
  const last = items[items.length - 1];
  if (!last) return null;
  const start = lineStart(text, items[0]?.from ?? 0);
  const dash = /^(\s*-\s*)/.exec(text.slice(start))?.[1] ?? "  - ";
  const at = lineEnd(text, endOf(text, last));
  return { from: at, to: at, insert: `\n${dash}${value}` };
}

/** Removes a key with its value, and the line with it if nothing else stands there. */
export function remove(text: string, tree: Tree | null, path: Path): Change | null {
  const parent = valueAt(tree, path.slice(0, -1));
  const last = path[path.length - 1];
  if (parent?.list) {
    const place = parent.list.findIndex((item, number) => item.text === last || number === last);
    const item = parent.list[place];
    return item ? removeSpan(text, parent, item.from, endOf(text, item), parent.list.length) : null;
  }
  const entry = entryAt(tree, path);
  if (!parent?.map || !entry) return null;
  // A map that would be empty stays a map.
  if (parent.map.length === 1 && path.length > 1 && !isFlow(text, parent))
    return { from: parent.from, to: endOf(text, parent), insert: "{}" };
  return removeSpan(
    text,
    parent,
    entry.from,
    Math.max(entry.value.empty ? entry.to : endOf(text, entry.value), entry.to),
    parent.map.length,
  );
}

function removeSpan(text: string, parent: Tree, start: number, end: number, count: number): Change {
  let [from, to] = [start, end];
  if (text[to] === ":") to += 1;
  if (isFlow(text, parent)) {
    const after = /^\s*,\s*/.exec(text.slice(to));
    const before = /,\s*$/.exec(text.slice(parent.from, from));
    if (after) to += after[0].length;
    else if (before && count > 1) from -= before[0].length;
    return { from, to, insert: "" };
  }
  from = lineStart(text, from);
  to = lineEnd(text, to);
  if (to < text.length) to += 1;
  else if (from > 0) from -= 1;
  return { from, to, insert: "" };
}

/** Keys of the timeline and of traffic that name nodes. */
const NODE_KEYS = new Set([
  "on",
  "node",
  "from",
  "to",
  "kill",
  "pause",
  "restart",
  "reboot",
  "nodes",
  "host",
  "ends",
  "between",
  "groups",
  "server",
  "partition",
]);
const LINK_KEYS = new Set(["link", "links", "cut", "heal", "journal", "capture"]);

/** Gives a node or link another name wherever the file names it as one; texts (commands, expectations) stay. */
export function rename(text: string, tree: Tree | null, kind: "nodes" | "links", from: string, to: string): Change[] {
  const changes: Change[] = [];
  const wanted = kind === "nodes" ? NODE_KEYS : LINK_KEYS;
  const visit = (part: Tree, key: string, depth: number, top: string): void => {
    for (const { name, from: start, to: end, value } of part.map ?? []) {
      if (name === from && depth === 1 && (top === kind || (kind === "nodes" && top === "layout")))
        changes.push(nameSpan(text, start, end, from, to));
      visit(value, name, depth + 1, depth === 0 ? name : top);
    }
    for (const item of part.list ?? []) visit(item, key, depth + 1, top);
    if (
      part.text === from &&
      part.plain !== undefined &&
      (wanted.has(key) || (depth >= 1 && top === kind && key === kind))
    )
      changes.push({ from: part.from, to: endOf(text, part), insert: to });
  };
  if (tree) visit(tree, "", 0, "");
  return changes
    .filter((change, place) => changes.findIndex((other) => other.from === change.from) === place)
    .sort((a, b) => a.from - b.from);
}

const nameSpan = (text: string, from: number, to: number, old: string, name: string): Change =>
  text.slice(from, from + old.length) === old
    ? { from, to: from + old.length, insert: name }
    : { from, to, insert: name };

/** Applies changes that do not overlap. */
export function apply(text: string, changes: Change[]): string {
  let made = text;
  for (const change of [...changes].sort((a, b) => b.from - a.from))
    made = made.slice(0, change.from) + change.insert + made.slice(change.to);
  return made;
}

/** A name that is not taken: the letters of `like` and the next number. */
export function freeName(taken: Iterable<string>, like: string): string {
  const known = new Set(taken);
  const stem = like.replace(/\d+$/, "") || "n";
  let number = 1;
  while (known.has(`${stem}${number}`)) number += 1;
  return `${stem}${number}`;
}
