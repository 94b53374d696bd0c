// What can be done to a lab on its map: each is a change of the text, and undone with it.

import { counted } from "../../components/format";
import type { Checked, Tree } from "../api";
import { tell } from "../tell";
import { freePlace } from "./places";
import type { Source } from "./source";
import {
  apply,
  type Change,
  entryAt,
  freeName,
  type Path,
  push,
  put,
  remove,
  rename,
  set,
  setLines,
  shown,
  valueAt,
} from "./spans";

export interface Actions {
  /** The text has been checked: does what waited for that. */
  checked: () => void;
  /** Resolves when nothing waits for the text to be checked. */
  idle: () => Promise<void>;
  addNode: (kind: string) => void;
  join: (a: string, b: string) => void;
  removeChosen: () => void;
  rename: (kind: "nodes" | "links", from: string, to: string) => void;
  set: (path: Path, value: string) => void;
  unset: (path: Path) => void;
  place: (places: Map<string, [number, number]>) => void;
  forget: () => void;
  align: (how: "row" | "column" | "circle") => void;
  copy: () => void;
  paste: () => void;
}

interface Given {
  source: Source;
  checked: () => Checked | null;
  /** The text that was checked: spans are of it. */
  fresh: () => string;
  chosen: () => { nodes: string[]; links: string[] };
  select: (nodes: string[], links: string[]) => void;
  /** Where on the map the middle of what is in sight is. */
  inSight: () => [number, number];
}

const round = (value: number): string => String(Math.round(value * 100) / 100);
const pair = ([x, y]: [number, number]): string => `[${round(x)}, ${round(y)}]`;
interface Copied {
  nodes: { name: string; text: string | null; at: [number, number] }[];
  links: { name: string; text: string; ends: string[] }[];
}

/** A file without anything but comments: what is added is the first of it. */
const isBlank = (text: string): boolean => text.split("\n").every((line) => /^\s*(#.*)?$/.test(line));

export function actions({ source, checked, fresh, chosen, select, inSight }: Given): Actions {
  let copied: Copied | null = null;
  const tree = (): Tree | null => checked()?.tree ?? null;
  const waiting: (() => void)[] = [];
  const idlers: (() => void)[] = [];
  /** Changes are worked out on what was checked; while the text is ahead of that, they would land elsewhere, and wait. */
  const soon =
    <A extends unknown[]>(act: (...given: A) => void) =>
    (...given: A): void => {
      if (fresh() !== source.text()) waiting.push(() => soon(act)(...given));
      else if (tree() || isBlank(fresh())) act(...given);
      else tell("the text is no YAML at the moment: repair it first", true);
    };
  /** Several changes that build on one another become one: the text is read anew in between by what they add. */
  const commit = (changes: (Change | null)[]): void => {
    const all = changes.filter((change): change is Change => change !== null);
    if (all.length < changes.length) tell("a part of this cannot be changed here: change it in the text", true);
    if (all.length > 0) source.replace(apply(fresh(), joined(all)));
  };
  const nodeNames = (): string[] => (checked()?.scene?.nodes ?? []).map(({ name }) => name);
  const linkNames = (): string[] => (checked()?.scene?.links ?? []).map(({ name }) => name);
  const newNode = (name: string, value: string): Change | null => {
    const list = valueAt(tree(), ["nodes"]);
    if (list?.list) return value === "{}" ? push(fresh(), list, name) : listToMap(fresh(), list, name, value);
    return put(fresh(), tree(), "nodes", [[name, value]])[0] ?? null;
  };
  const places = (wanted: Map<string, [number, number]>): (Change | null)[] =>
    put(
      fresh(),
      tree(),
      "layout",
      [...wanted].map(([name, at]) => [name, pair(at)] as const),
    );
  return {
    checked: () => {
      waiting.shift()?.();
      if (waiting.length === 0)
        idlers.splice(0).forEach((done) => {
          done();
        });
    },
    idle: () => (waiting.length === 0 ? Promise.resolve() : new Promise((done) => idlers.push(done))),
    addNode: soon((kind: string) => {
      const at = freePlace(checked()?.scene?.nodes ?? [], inSight());
      const name = freeName(
        nodeNames(),
        { host: "h", router: "r", switch: "s", hub: "hub", transit: "t" }[kind] ?? "n",
      );
      commit([newNode(name, kind === "host" ? "{}" : `{kind: ${kind}}`), ...places(new Map([[name, at]]))]);
      select([name], []);
    }),
    join: soon((a: string, b: string) => {
      const name = freeName(linkNames(), "l");
      commit(put(fresh(), tree(), "links", [[name, `{ends: [${a}, ${b}]}`]]));
      select([], [name]);
    }),
    removeChosen: soon(() => {
      const { nodes, links } = chosen();
      const gone = new Set(nodes);
      const all = new Set([
        ...links,
        ...(checked()?.scene?.links ?? [])
          .filter(({ ends }) => ends.some((end) => gone.has(end)))
          .map(({ name }) => name),
      ]);
      const made: (Change | null)[] = [];
      for (const name of nodes)
        made.push(
          remove(fresh(), tree(), ["nodes", name]),
          ...(entryAt(tree(), ["layout", name]) ? [remove(fresh(), tree(), ["layout", name])] : []),
        );
      for (const name of all) made.push(remove(fresh(), tree(), ["links", name]));
      commit(made);
      select([], []);
    }),
    rename: soon((kind: "nodes" | "links", from: string, to: string) => {
      if (from === to) return;
      if (!/^[a-zA-Z][a-zA-Z0-9_-]{0,30}$/.test(to))
        tell("a name is a letter and up to 30 letters, digits and -", true);
      else if ((kind === "nodes" ? nodeNames() : linkNames()).includes(to))
        tell(`there is a ${kind.slice(0, -1)} ${to} already`, true);
      else {
        commit(rename(fresh(), tree(), kind, from, to));
        select(kind === "nodes" ? [to] : [], kind === "links" ? [to] : []);
      }
    }),
    set: soon((path: Path, value: string) =>
      commit([
        value.includes("\n") || shown(fresh(), tree(), path).includes("\n")
          ? setLines(fresh(), tree(), path, value)
          : set(fresh(), tree(), path, value),
      ]),
    ),
    unset: soon((path: Path) => commit([remove(fresh(), tree(), path)])),
    place: soon((wanted: Map<string, [number, number]>) => {
      if (wanted.size > 0) commit(places(wanted));
    }),
    forget: soon(() => {
      if (entryAt(tree(), ["layout"])) commit([remove(fresh(), tree(), ["layout"])]);
    }),
    align: soon((how: "row" | "column" | "circle") => {
      const known = new Map((checked()?.scene?.nodes ?? []).map((node) => [node.name, node]));
      const nodes = chosen()
        .nodes.map((name) => known.get(name))
        .filter((node) => node !== undefined);
      if (nodes.length < 2) return tell("choose two nodes or more", true);
      const mean = (key: "x" | "y"): number => nodes.reduce((sum, node) => sum + node[key], 0) / nodes.length;
      const [x, y] = [mean("x"), mean("y")];
      const around = [...nodes].sort((a, b) => Math.atan2(a.y - y, a.x - x) - Math.atan2(b.y - y, b.x - x));
      const size = Math.max(0.8, nodes.length / 6);
      const made =
        how === "row"
          ? nodes.map((node) => [node.name, [node.x, y]] as const)
          : how === "column"
            ? nodes.map((node) => [node.name, [x, node.y]] as const)
            : around.map((node, place) => {
                const turn = (place / nodes.length) * 2 * Math.PI - Math.PI;
                return [node.name, [x + Math.cos(turn) * size, y + Math.sin(turn) * size]] as const;
              });
      commit(places(new Map(made.map(([name, at]) => [name, [at[0] ?? 0, at[1] ?? 0]]))));
    }),
    copy: () => {
      const { nodes } = chosen();
      const inside = new Set(nodes);
      const value = (path: Path): string | null => {
        const part = valueAt(tree(), path);
        return part && !part.empty ? fresh().slice(part.from, part.to).trimEnd() : null;
      };
      copied = {
        nodes: (checked()?.scene?.nodes ?? [])
          .filter(({ name }) => inside.has(name))
          .map(({ name, x, y }) => ({ name, text: value(["nodes", name]), at: [x, y] })),
        links: (checked()?.scene?.links ?? [])
          .filter(({ ends }) => ends.every((end) => inside.has(end)))
          .map(({ name, ends }) => ({ name, ends, text: value(["links", name]) ?? "" }))
          .filter(({ text }) => text.startsWith("{")),
      };
      tell(`copied ${counted(copied.nodes.length, "node")} and ${counted(copied.links.length, "link")}`);
    },
    paste: soon(() => {
      if (!copied) return;
      const names = new Map<string, string>();
      const taken = new Set(nodeNames());
      for (const { name } of copied.nodes) {
        const made = freeName(taken, name);
        taken.add(made);
        names.set(name, made);
      }
      const links = new Set(linkNames());
      const made: (Change | null)[] = copied.nodes.map(({ name, text }) =>
        newNode(names.get(name) ?? name, text?.startsWith("{") ? text : "{}"),
      );
      for (const { name, text, ends } of copied.links) {
        const other = freeName(links, name);
        links.add(other);
        made.push(
          set(
            fresh(),
            tree(),
            ["links", other],
            text.replace(/ends:\s*\[[^\]]*\]/, `ends: [${ends.map((end) => names.get(end) ?? end).join(", ")}]`),
          ),
        );
      }
      made.push(
        ...places(new Map(copied.nodes.map(({ name, at }) => [names.get(name) ?? name, [at[0] + 0.4, at[1] + 0.4]]))),
      );
      commit(made);
      select([...names.values()], []);
    }),
  };
}

/** Changes at the same place become one, in their order. */
function joined(changes: Change[]): Change[] {
  const made: Change[] = [];
  for (const change of [...changes].sort((a, b) => a.from - b.from || a.to - b.to)) {
    const last = made[made.length - 1];
    if (last && change.from === last.from && change.to === last.to) last.insert += joint(last.insert, change.insert);
    else if (last && change.from < last.to) continue;
    else made.push({ ...change });
  }
  return made;
}

/** What comes second into an empty map needs a comma, too. */
const joint = (first: string, second: string): string =>
  first !== "" &&
  !first.startsWith("\n") &&
  !first.startsWith(",") &&
  !second.startsWith("\n") &&
  !second.startsWith(",") &&
  !first.endsWith("\n")
    ? `, ${second}`
    : second;

/** A list of names becomes a map when one of them has settings. */
function listToMap(text: string, list: Tree, name: string, value: string): Change | null {
  const names = (list.list ?? []).map((item) => item.text);
  if (names.some((one) => one === undefined)) return null;
  const end = text.slice(list.from, list.to).trimEnd().length + list.from;
  return {
    from: list.from,
    to: end,
    insert: `{${[...names.map((one) => `${one}: {}`), `${name}: ${value}`].join(", ")}}`,
  };
}
