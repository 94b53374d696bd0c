// What can be done to a lab on its map: each is a change of the text, and undone with it.

import type { Checked } from "../api";
import { tell } from "../tell";
import { CheckedText } from "./checked";
import type { Chosen } from "./chosen";
import { copying } from "./copying";
import { type Medium, type Metres, moved, placed, type Stand, unwalled, type Wall, walled } from "./metres";
import { freePlace } from "./places";
import type { Source } from "./source";
import { type Change, entryAt, freeName, type Path, put, remove, rename, set, setLines, shown } from "./spans";

type Kind = "nodes" | "links";
type Alignment = "row" | "column" | "circle";
type Select = (nodes: string[], links: string[]) => void;

export interface Actions {
  /** The text has been checked: does what waited for that. */
  checked: () => void;
  /** Resolves when nothing waits for the text to be checked. */
  idle: () => Promise<void>;
  addNode: (kind: string) => void;
  join: (a: string, b: string) => void;
  removeChosen: () => void;
  rename: (kind: Kind, from: string, to: string) => void;
  set: (path: Path, value: string) => void;
  unset: (path: Path) => void;
  place: (places: Map<string, [number, number]>) => void;
  forget: () => void;
  align: (how: Alignment) => void;
  /** Changes of a scene in metres. */
  stand: (stand: Stand, at: Metres) => void;
  putDown: (name: string, at: Metres) => void;
  addWall: (medium: Medium, wall: Omit<Wall, "link" | "place">) => void;
  removeWall: (wall: Wall) => void;
  copy: () => void;
  paste: () => void;
}

interface Given {
  source: Source;
  checked: () => Checked | null;
  /** The text that was checked: spans are of it. */
  fresh: () => string;
  chosen: () => Chosen;
  select: Select;
  /** Where on the map the middle of what is in sight is. */
  inSight: () => [number, number];
}

/** The letters that names of new nodes begin with. */
const STEMS: Record<string, string> = { host: "h", router: "r", switch: "s", hub: "hub", transit: "t" };

export function actions({ source, checked, fresh, chosen, select, inSight }: Given): Actions {
  const text = new CheckedText(source, checked, fresh);
  return {
    checked: text.renewed,
    idle: text.idle,
    ...drawing(text, chosen, select, inSight),
    ...writing(text, select),
    ...arranging(text, chosen),
    ...standing(text),
    ...copying(text, chosen, select),
  };
}

function drawing(
  text: CheckedText,
  chosen: () => Chosen,
  select: Select,
  inSight: () => [number, number],
): Pick<Actions, "addNode" | "join" | "removeChosen"> {
  return {
    addNode: text.soon((kind: string) => {
      const at = freePlace(text.nodes(), inSight());
      const name = freeName(text.nodeNames(), STEMS[kind] ?? "n");
      text.commit([
        text.newNode(name, kind === "host" ? "{}" : `{kind: ${kind}}`),
        ...text.places(new Map([[name, at]])),
      ]);
      select([name], []);
    }),
    join: text.soon((a: string, b: string) => {
      const name = freeName(text.linkNames(), "l");
      text.commit(put(text.fresh(), text.tree(), "links", [[name, `{ends: [${a}, ${b}]}`]]));
      select([], [name]);
    }),
    removeChosen: text.soon(() => {
      text.commit(removed(text, chosen()));
      select([], []);
    }),
  };
}

/** Takes nodes and links out, with the places of those and the links at them. */
function removed(text: CheckedText, { nodes, links }: Chosen): (Change | null)[] {
  const [fresh, tree] = [text.fresh(), text.tree()];
  const gone = new Set(nodes);
  const loose = text.links().filter(({ ends }) => ends.some((end) => gone.has(end)));
  const made: (Change | null)[] = [];
  for (const name of nodes) {
    made.push(remove(fresh, tree, ["nodes", name]));
    if (entryAt(tree, ["layout", name])) made.push(remove(fresh, tree, ["layout", name]));
  }
  for (const name of new Set([...links, ...loose.map((link) => link.name)]))
    made.push(remove(fresh, tree, ["links", name]));
  return made;
}

function writing(text: CheckedText, select: Select): Pick<Actions, "rename" | "set" | "unset"> {
  return {
    rename: text.soon((kind: Kind, from: string, to: string) => {
      if (from === to) return;
      if (!/^[a-zA-Z][a-zA-Z0-9_-]{0,30}$/.test(to))
        tell("a name is a letter and up to 30 letters, digits and -", true);
      else if ((kind === "nodes" ? text.nodeNames() : text.linkNames()).includes(to))
        tell(`there is a ${kind.slice(0, -1)} ${to} already`, true);
      else {
        text.commit(rename(text.fresh(), text.tree(), kind, from, to));
        select(kind === "nodes" ? [to] : [], kind === "links" ? [to] : []);
      }
    }),
    set: text.soon((path: Path, value: string) => {
      const [fresh, tree] = [text.fresh(), text.tree()];
      const hasLines = value.includes("\n") || shown(fresh, tree, path).includes("\n");
      text.commit([hasLines ? setLines(fresh, tree, path, value) : set(fresh, tree, path, value)]);
    }),
    unset: text.soon((path: Path) => text.commit([remove(text.fresh(), text.tree(), path)])),
  };
}

function arranging(text: CheckedText, chosen: () => Chosen): Pick<Actions, "place" | "forget" | "align"> {
  return {
    place: text.soon((wanted: Map<string, [number, number]>) => {
      if (wanted.size > 0) text.commit(text.places(wanted));
    }),
    forget: text.soon(() => {
      if (entryAt(text.tree(), ["layout"])) text.commit([remove(text.fresh(), text.tree(), ["layout"])]);
    }),
    align: text.soon((how: Alignment) => {
      const known = new Map(text.nodes().map((node) => [node.name, node]));
      const nodes = chosen()
        .nodes.map((name) => known.get(name))
        .filter((node) => node !== undefined);
      if (nodes.length < 2) tell("choose two nodes or more", true);
      else text.commit(text.places(aligned(nodes, how)));
    }),
  };
}

const standing = (text: CheckedText): Pick<Actions, "stand" | "putDown" | "addWall" | "removeWall"> => ({
  stand: text.soon((stand: Stand, at: Metres) => text.commit(moved(text.fresh(), text.tree(), stand, at))),
  putDown: text.soon((name: string, at: Metres) => text.commit(placed(text.fresh(), text.tree(), name, at))),
  addWall: text.soon((medium: Medium, wall: Omit<Wall, "link" | "place">) =>
    text.commit(walled(text.fresh(), text.tree(), medium, wall)),
  ),
  removeWall: text.soon((wall: Wall) => text.commit(unwalled(text.fresh(), text.tree(), wall))),
});

interface Spot {
  name: string;
  x: number;
  y: number;
}

/** New places around the middle of the old ones. */
function aligned(nodes: Spot[], how: Alignment): Map<string, [number, number]> {
  const x = nodes.reduce((sum, node) => sum + node.x, 0) / nodes.length;
  const y = nodes.reduce((sum, node) => sum + node.y, 0) / nodes.length;
  if (how === "row") return new Map(nodes.map((node) => [node.name, [node.x, y]]));
  if (how === "column") return new Map(nodes.map((node) => [node.name, [x, node.y]]));
  const around = [...nodes].sort((a, b) => Math.atan2(a.y - y, a.x - x) - Math.atan2(b.y - y, b.x - x));
  const size = Math.max(0.8, nodes.length / 6);
  return new Map(
    around.map((node, place) => {
      const turn = (place / nodes.length) * 2 * Math.PI - Math.PI;
      return [node.name, [x + Math.cos(turn) * size, y + Math.sin(turn) * size]];
    }),
  );
}
