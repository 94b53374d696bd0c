// Where in a lab file a place is, and which keys and words may stand there: from the table of keys alone.
import type { Key, Keys, Kind } from "../api";

export interface Context {
  path: string[];
  /** The key whose value is being written; null: a key is. */
  key: string | null;
  from: number;
  word: string;
}

/** The keys around a place, by indentation and braces; the text need not be right. */
export function contextAt(text: string, at: number): Context {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const line = text.slice(start, at);
  const path: string[] = [];
  let indent = line.search(/\S/) < 0 ? line.length : line.search(/\S/);
  const dashes = /^(\s*)((?:-\s+)*)/.exec(line);
  if (dashes?.[2]) indent = (dashes[1] ?? "").length + 1;
  for (let end = start - 1, least = indent; end > 0 && least > 0; ) {
    const begin = text.lastIndexOf("\n", end - 1) + 1;
    const above = text.slice(begin, end);
    end = begin - 1;
    if (/^\s*(#|$)/.test(above)) continue;
    const found = /^(\s*)((?:-\s+)*)("[^"]*"|'[^']*'|[^\s:#{[][^:]*?)\s*:(?:\s|$)/.exec(above);
    if (!found) continue;
    const [, spaces = "", dash = "", name = ""] = found;
    if (dash && spaces.length + dash.length < least && spaces.length + dash.length <= indent) {
      path.unshift(name);
      least = spaces.length + dash.length;
    } else if (!dash && spaces.length < least) {
      path.unshift(name);
      least = spaces.length;
    }
    if (dash && spaces.length < least) least = spaces.length + 1;
  }
  return within(
    line.replace(/^(\s*)((?:-\s+)*)/, (whole) => " ".repeat(whole.length)),
    start,
    path,
    at,
  );
}

/** Braces of the line itself. */
function within(line: string, start: number, path: string[], at: number): Context {
  const stack: { key: string | null; list: boolean }[] = [{ key: null, list: false }];
  let word = "";
  let from = start + line.length;
  let quote = "";
  for (let place = 0; place < line.length; place += 1) {
    const sign = line[place] ?? "";
    const top = stack[stack.length - 1] as { key: string | null; list: boolean };
    if (quote) {
      if (sign === quote) quote = "";
      word += sign;
    } else if (sign === "#" && /\s/.test(line[place - 1] ?? " ")) return { path: [], key: "#", from: at, word: "" };
    else if (sign === '"' || sign === "'") {
      quote = sign;
      if (!word) from = start + place;
      word += sign;
    } else if (sign === "{" || sign === "[") {
      stack.push({ key: null, list: sign === "[" });
      word = "";
    } else if (sign === "}" || sign === "]") {
      if (stack.length > 1) stack.pop();
      word = "";
    } else if (sign === "," && stack.length > 1) {
      top.key = null;
      word = "";
    } else if (sign === ":" && /\s|$/.test(line[place + 1] ?? "") && top.key === null && !top.list) {
      top.key = word.trim();
      word = "";
    } else if (word || !/\s/.test(sign)) {
      if (!word) from = start + place;
      word += sign;
    }
  }
  const keys = stack
    .slice(0, -1)
    .map(({ key }) => key)
    .filter((key): key is string => key !== null);
  const last = stack[stack.length - 1];
  const isList = last?.list === true;
  const own = isList ? (keys[keys.length - 1] ?? path[path.length - 1] ?? null) : (last?.key ?? null);
  return { path: [...path, ...(isList ? keys.slice(0, -1) : keys)], key: own, from: word ? from : at, word };
}

/** What may stand at a path: keys of sections, kinds of values. */
export function sectionsAt(keys: Keys, path: readonly string[]): string[] {
  let kinds: Kind[] = [{ section: keys.top }];
  for (const name of path) kinds = kinds.flatMap((kind) => inside(keys, kind, name));
  return [...new Set(kinds.flatMap((kind) => sections(kind)))];
}

function sections(kind: Kind): string[] {
  const own = kind.section ?? kind.optional;
  return [
    ...(own ? [own] : []),
    ...(kind.one_of ?? []).flatMap(sections),
    ...(kind.list ? sections(kind.list.items) : []),
  ];
}

function inside(keys: Keys, kind: Kind, name: string): Kind[] {
  const own = kind.section ?? kind.optional;
  const found = own ? (keys.sections[own]?.keys ?? []).filter((key) => key.name === name).map((key) => key.kind) : [];
  return [
    ...found,
    ...(kind.map ? [kind.map.values] : []),
    ...(kind.one_of ?? []).flatMap((one) => inside(keys, one, name)),
    ...(kind.list ? inside(keys, kind.list.items, name) : []),
  ];
}

/** The keys that may stand at a path, each once. */
export function keysAt(keys: Keys, path: readonly string[]): Key[] {
  const all = new Map<string, Key>();
  for (const section of sectionsAt(keys, path))
    for (const key of keys.sections[section]?.keys ?? []) if (!all.has(key.name)) all.set(key.name, key);
  return [...all.values()];
}
