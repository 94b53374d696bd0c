// A scene of radio media in metres, as the text of a lab file has it: who stands where, and walls; and changes of that text.
import type { Tree } from "../api";
import { type Change, type Path, push, remove, set, valueAt } from "./spans";

export type Metres = readonly [number, number];

/** Somebody at a place: a node, a station of a medium, or a cell of a base station. */
export interface Stand {
  name: string;
  /** Where its position is in the text. */
  path: Path;
  at: Metres;
  /** Its height as it is written; none: the usual one. */
  height: string | null;
}

export interface Wall {
  link: string;
  /** Its place in the list of walls. */
  place: number;
  from: Metres;
  to: Metres;
  loss: string;
}

/** A radio medium: a link of kind wifi or cell. */
export interface Medium {
  link: string;
  /** Where the list of walls is; none: the medium can have no walls yet. */
  walls: Path | null;
  /** Whether it has to be told that its signals depend on positions. */
  isFlat: boolean;
  ends: readonly string[];
}

export interface Ground {
  media: readonly Medium[];
  stands: readonly Stand[];
  walls: readonly Wall[];
  /** The ways of nodes that move, by waypoints. */
  ways: readonly { name: string; places: readonly Metres[] }[];
  /** Nodes at media that have no place yet. */
  loose: readonly string[];
}

const UNITS: Record<string, number> = { m: 1, km: 1_000, cm: 0.01 };

/** Metres, as a lab file has them; null if it is no length. */
export function metres(text: string | undefined): number | null {
  const [, number, unit = ""] = /^([+-]?\d+(?:\.\d+)?) *(m|km|cm)$/.exec(text?.trim() ?? "") ?? [];
  return number === undefined ? null : Number(number) * (UNITS[unit] ?? 1);
}

function placeOf(tree: Tree | null): Metres | null {
  const [x, y] = [metres(tree?.list?.[0]?.text), metres(tree?.list?.[1]?.text)];
  return x === null || y === null ? null : [x, y];
}

const textAt = (tree: Tree | null, path: Path): string | undefined => valueAt(tree, path)?.text;
const namesAt = (tree: Tree | null, path: Path): string[] => (valueAt(tree, path)?.map ?? []).map(({ name }) => name);

function mediaOf(tree: Tree | null): Medium[] {
  return namesAt(tree, ["links"]).flatMap((link) => {
    const medium: Path = ["links", link, "medium"];
    const kind = textAt(tree, [...medium, "kind"]);
    if (kind !== "wifi" && kind !== "cell") return [];
    const ends = (valueAt(tree, ["links", link, "ends"])?.list ?? []).flatMap(({ text }) => text ?? []);
    const signals = valueAt(tree, [...medium, "signals"]);
    const walls: Path | null =
      kind === "wifi" ? [...medium, "walls"] : signals?.map ? [...medium, "signals", "walls"] : null;
    return [{ link, walls, ends, isFlat: kind === "wifi" && textAt(tree, [...medium, "access"]) !== "radio" }];
  });
}

/** Whoever has a position at one of these paths. */
function standsAt(tree: Tree | null, paths: readonly (readonly [string, Path])[]): Stand[] {
  return paths.flatMap(([name, path]) => {
    const value = valueAt(tree, path);
    const at = placeOf(value);
    return at ? [{ name, path, at, height: value?.list?.[2]?.text ?? null }] : [];
  });
}

function wallsOf(tree: Tree | null, { link, walls }: Medium): Wall[] {
  return (walls ? (valueAt(tree, walls)?.list ?? []) : []).flatMap((wall, place) => {
    const [from, to] = [placeOf(valueAt(wall, ["from"])), placeOf(valueAt(wall, ["to"]))];
    return from && to ? [{ link, place, from, to, loss: textAt(wall, ["loss"]) ?? "" }] : [];
  });
}

/** The scene of a text. */
export function groundOf(tree: Tree | null): Ground {
  const media = mediaOf(tree);
  const nodes = [...new Set(media.flatMap(({ ends }) => ends))];
  const own = nodes.map((name) => [name, ["nodes", name, "position"]] as const);
  const within = media.flatMap(({ link }) =>
    ["stations", "cells"].flatMap((section) =>
      namesAt(tree, ["links", link, "medium", section]).map(
        (name) => [name, ["links", link, "medium", section, name, "position"]] as const,
      ),
    ),
  );
  const stands = standsAt(tree, [...own, ...within]);
  const ways = nodes.flatMap((name) => {
    const points = valueAt(tree, ["nodes", name, "path"])?.list ?? [];
    const places = points.map((point) => placeOf(valueAt(point, ["position"]))).filter((at) => at !== null);
    return places.length > 0 ? [{ name, places }] : [];
  });
  const placed = (name: string): boolean =>
    stands.some((stand) => stand.name === name) ||
    ["position", "path"].some((key) => valueAt(tree, ["nodes", name, key]) !== null);
  return {
    media,
    stands,
    walls: media.flatMap((medium) => wallsOf(tree, medium)),
    ways,
    loose: nodes.filter((name) => !placed(name)),
  };
}

const length = (value: number): string => `${Math.round(value * 100) / 100} m`;
const written = (at: Metres, height: string | null = null): string =>
  `[${[length(at[0]), length(at[1]), ...(height === null ? [] : [height])].join(", ")}]`;

/** Media without positions get them: these are no longer at no distance. */
const deepened = (text: string, tree: Tree | null, media: readonly Medium[]): (Change | null)[] =>
  media.filter(({ isFlat }) => isFlat).map(({ link }) => set(text, tree, ["links", link, "medium", "access"], "radio"));

/** Somebody who has a place gets another one. */
export const moved = (text: string, tree: Tree | null, { path, height }: Stand, at: Metres): (Change | null)[] => [
  set(text, tree, path, written(at, height)),
];

/** A node gets a place. */
export function placed(text: string, tree: Tree | null, name: string, at: Metres): (Change | null)[] {
  const nodes = valueAt(tree, ["nodes"]);
  const media = groundOf(tree).media.filter(({ ends }) => ends.includes(name));
  const rest = deepened(text, tree, media);
  if (!nodes?.list) return [set(text, tree, ["nodes", name, "position"], written(at)), ...rest];
  const names = nodes.list.map((item) => item.text);
  if (names.some((one) => one === undefined)) return [null];
  const entries = names.map((one) => `${one}: ${one === name ? `{position: ${written(at)}}` : "{}"}`);
  const end = text.slice(nodes.from, nodes.to).trimEnd().length + nodes.from;
  return [{ from: nodes.from, to: end, insert: `{${entries.join(", ")}}` }, ...rest];
}

/** A medium gets a wall. */
export function walled(
  text: string,
  tree: Tree | null,
  medium: Medium,
  wall: Omit<Wall, "link" | "place">,
): (Change | null)[] {
  if (!medium.walls) return [null];
  const value = `{from: ${written(wall.from)}, to: ${written(wall.to)}, loss: ${wall.loss}}`;
  const known = valueAt(tree, medium.walls);
  const change = known?.list?.length ? push(text, known, value) : set(text, tree, medium.walls, `[${value}]`);
  return [change, ...deepened(text, tree, [medium])];
}

/** A medium loses a wall, and the list with its last one. */
export function unwalled(text: string, tree: Tree | null, { link, place }: Wall): (Change | null)[] {
  const walls = mediaOf(tree).find((medium) => medium.link === link)?.walls;
  if (!walls) return [null];
  const isLast = valueAt(tree, walls)?.list?.length === 1;
  return [remove(text, tree, isLast ? walls : [...walls, place])];
}

/** The part of the ground that is shown, in metres. */
export interface Frame {
  left: number;
  bottom: number;
  width: number;
  height: number;
  /** The distance of the lines of the grid. */
  step: number;
}

/** Everything, with room around it, in the shape of what it is shown in. */
export function frameOf({ stands, walls, ways }: Ground, aspect: number): Frame {
  const all = [
    ...stands.map(({ at }) => at),
    ...walls.flatMap(({ from, to }) => [from, to]),
    ...ways.flatMap(({ places }) => places),
  ];
  const range = (axis: 0 | 1): [number, number] => {
    const values = all.map((at) => at[axis]);
    return values.length === 0 ? [-10, 10] : [Math.min(...values), Math.max(...values)];
  };
  const [[left, right], [bottom, top]] = [range(0), range(1)];
  const room = Math.max(right - left, top - bottom, 10) * 0.2;
  let [width, height] = [right - left + 2 * room, top - bottom + 2 * room];
  if (width < height * aspect) width = height * aspect;
  else height = width / aspect;
  const [x, y] = [(left + right - width) / 2, (bottom + top - height) / 2];
  const rough = Math.max(width, height) / 12;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = ten * ([1, 2, 5].find((factor) => ten * factor >= rough) ?? 10);
  return { left: x, bottom: y, width, height, step };
}

/** The nearest place in tenths of the grid. */
export const snapped = ([x, y]: Metres, step: number): Metres => {
  const on = (value: number): number => Math.round(Math.round((value * 10) / step) * step * 10) / 100;
  return [on(x), on(y)];
};
